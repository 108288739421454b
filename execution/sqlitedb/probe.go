package sqlitedb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ktxhq/ktx/execution"
)

// Probe reads the engine's version, tries a write with the authorizer out of
// the way, and looks at the file's rights. SQLite has no roles.
func (db *DB) Probe(ctx context.Context) (execution.ProbeReport, error) {
	run, end := context.WithCancel(ctx)
	defer end()
	s, err := db.pool.acquire(run, db.path, execution.Limits{}.WithDefaults(), end)
	if err != nil {
		return execution.ProbeReport{}, err
	}
	report, err := s.probe(db.path)
	if err != nil || !report.ReadOnly {
		db.pool.discard(s)
	} else {
		db.pool.release(s)
	}
	return report, err
}

func (s *session) probe(path string) (report execution.ProbeReport, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = broken(r)
		}
	}()
	if err := s.checkPins(); err != nil {
		return report, err
	}
	version, err := s.askOwn(textVersion)
	if err != nil {
		return report, err
	}
	report.Server = "SQLite " + strings.Join(version, "")
	refused, err := s.tryWrite()
	if err != nil {
		return report, err
	}
	report.Findings = []execution.ProbeFinding{}
	if report.ReadOnly = refused != nil; !report.ReadOnly {
		report.Findings = append(report.Findings, execution.ProbeFinding{
			Level:   "warning",
			Message: "SQLite did not refuse a write on a connection that is opened read-only; it was undone",
		})
	}
	report.Findings = append(report.Findings, fileFindings(path)...)
	journal, err := s.askOwn(textJournal)
	if err != nil {
		return report, err
	}
	if strings.Join(journal, "") == "wal" {
		report.Findings = append(report.Findings, execution.ProbeFinding{
			Level:   "note",
			Message: "the database is in WAL mode: reading it makes the -wal and -shm files beside it where they are missing, owned by the user that reads",
			Fix:     "run as the user that writes the database, or make the files readable to both",
		})
	}
	old, err := s.askOwn(textOldSearch)
	if err != nil {
		return report, err
	}
	if len(old) > 0 {
		report.Findings = append(report.Findings, execution.ProbeFinding{
			Level:   "note",
			Message: fmt.Sprintf("FTS3 and FTS4 tables cannot be read: %s", strings.Join(old, ", ")),
			Fix:     "FTS5 tables can be read",
		})
	}
	return report, nil
}

// fileFindings says who else could write to the file.
func fileFindings(path string) []execution.ProbeFinding {
	name := filepath.Base(path)
	var findings []execution.ProbeFinding
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o002 != 0 {
		findings = append(findings, execution.ProbeFinding{
			Level:   "warning",
			Message: fmt.Sprintf("every user of this machine may write to %q", name),
			Fix:     "chmod o-w " + name,
		})
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // the operator's own path; nothing is written, and nothing made
	if err != nil {
		return findings
	}
	_ = file.Close()
	return append(findings, execution.ProbeFinding{
		Level:   "note",
		Message: fmt.Sprintf("%q is writable by the user that runs this program; connections open it read-only all the same", name),
		Fix:     "run as a user that may only read the file",
	})
}
