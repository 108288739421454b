package duckdbdb

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/probe"
)

// Probe tries writes, and ways to files, past the check that a statement reads, and looks
// at the permissions of the files. DuckDB has no roles.
func (d *DB) Probe(ctx context.Context) (execution.ProbeReport, error) {
	p := prober{db: d}
	err := p.report.Run(ctx, p.identity, p.tried, p.files)
	return p.report.ProbeReport, err
}

type prober struct {
	db     *DB
	report probe.Report
}

func (p *prober) identity(ctx context.Context) error {
	lease, err := p.db.pool.Acquire(ctx, catalogLimits.Timeout)
	if err != nil {
		return err
	}
	p.report.Server = "DuckDB " + strings.TrimPrefix(lease.Conn.version, "v")
	p.db.pool.Release(lease)
	return nil
}

func (p *prober) tried(ctx context.Context) error {
	passed, err := p.db.try(ctx)
	if err != nil {
		return err
	}
	if p.report.ReadOnly = len(passed) == 0; p.report.ReadOnly {
		p.report.Note(execution.TopicSession, "", "tried, and refused by the engine: %s", triedText())
		return nil
	}
	p.report.Warn(execution.TopicSession, "report this: the session is not what it should be", "the engine did not refuse %s; it was undone", strings.Join(passed, ", "))
	return nil
}

// files reports who else could write to the files.
func (p *prober) files(context.Context) error {
	at, what := p.db.source.database, "the file"
	if at == "" {
		at, what = p.db.source.folder, "the folder"
	}
	name := filepath.Base(at)
	if info, err := os.Stat(at); err == nil && info.Mode().Perm()&0o002 != 0 {
		p.report.Warn(execution.TopicRole, "chmod o-w "+name, "every user of this machine may write to %s %q", what, name)
	}
	if info, err := os.Stat(filepath.Dir(at)); err == nil && info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
		p.report.Warn(execution.TopicRole, "chmod o-w on the folder around it", "every user of this machine may replace %s %q", what, name)
	}
	return nil
}
