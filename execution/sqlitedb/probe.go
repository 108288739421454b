package sqlitedb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/sqlitedb/engine"
)

// Probe reads the engine's version, tries a write without the authorizer, and
// checks the permissions of the file. SQLite has no roles.
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
	if engine.Library == "C" {
		report.Server += " (C library)"
	}
	report.Findings = []execution.ProbeFinding{}
	add := func(level execution.ProbeLevel, topic execution.ProbeTopic, message, fix string) {
		report.Findings = append(report.Findings, execution.ProbeFinding{Level: level, Topic: topic, Message: message, Fix: fix})
	}
	passed, err := s.try()
	if err != nil {
		return report, err
	}
	if report.ReadOnly = len(passed) == 0; report.ReadOnly {
		add(execution.ProbeNote, execution.TopicSession, "tried, and refused by the engine: "+triedText(), "")
	} else {
		add(execution.ProbeWarning, execution.TopicSession, "the engine did not refuse "+strings.Join(passed, ", ")+"; it was undone", "report this: the session is not what it should be")
	}
	report.Findings = append(report.Findings, fileFindings(path)...)
	journal, err := s.askOwn(textJournal)
	if err != nil {
		return report, err
	}
	if strings.Join(journal, "") == "wal" {
		add(execution.ProbeNote, execution.TopicServer,
			"the database is in WAL mode: reading it makes the -wal and -shm files beside it where they are missing, owned by the user that reads",
			"run as the user that writes the database, or make the files readable to both")
	}
	old, err := s.askOwn(textOldSearch)
	if err != nil {
		return report, err
	}
	if len(old) > 0 {
		add(execution.ProbeNote, execution.TopicServer, fmt.Sprintf("FTS3 and FTS4 tables cannot be read: %s", strings.Join(old, ", ")), "FTS5 tables can be read")
	}
	return report, nil
}

func triedText() string {
	what := make([]string, len(tries))
	for i, t := range tries {
		what[i] = t.what
	}
	return strings.Join(what, ", ")
}

// toAll reports whether every user may write to a file. On Windows its mode does not say.
func toAll(info os.FileInfo) bool { return runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 }

// fileFindings reports who else could write to the file.
func fileFindings(path string) []execution.ProbeFinding {
	name, dir := filepath.Base(path), filepath.Dir(path)
	var findings []execution.ProbeFinding
	if info, err := os.Stat(path); err == nil && toAll(info) {
		findings = append(findings, execution.ProbeFinding{
			Level: execution.ProbeWarning, Topic: execution.TopicRole,
			Message: fmt.Sprintf("every user of this machine may write to %q", name),
			Fix:     "chmod o-w " + name,
		})
	}
	if info, err := os.Stat(dir); err == nil && toAll(info) && info.Mode()&os.ModeSticky == 0 {
		findings = append(findings, execution.ProbeFinding{
			Level: execution.ProbeWarning, Topic: execution.TopicRole,
			Message: fmt.Sprintf("every user of this machine may replace %q: its folder is writable to all", name),
			Fix:     "chmod o-w on the folder",
		})
	}
	if !engine.Writable(path) {
		return findings
	}
	return append(findings, execution.ProbeFinding{
		Level: execution.ProbeNote, Topic: execution.TopicRole,
		Message: fmt.Sprintf("%q is writable by the user that runs this program; connections open it read-only all the same", name),
		Fix:     "run as a user that may only read the file",
	})
}
