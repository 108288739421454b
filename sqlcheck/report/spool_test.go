package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestSpoolChangesNothing: the document of a check whose statements were kept on
// disk is, byte for byte, the one of a check that kept them in memory.
func TestSpoolChangesNothing(t *testing.T) {
	t.Parallel()
	spool := &report.Spool{Temp: func() (report.Disk, error) { return os.Create(filepath.Join(t.TempDir(), "spool")) }}
	defer spool.Close()
	var inMemory, onDisk []report.File
	for i := range 5 {
		held := report.File{Path: fmt.Sprint(i, "<&>.sql"), Dialect: "postgres", Statements: []report.Statement{}, Findings: []report.Finding{}}
		kept := held
		for j := range 1500 * i {
			s := report.Statement{Span: sqlguard.Span{Start: j, End: j + 1}, Verdict: sqlguard.Verdict{
				Normalized: fmt.Sprint("SELECT '##vso[x] ", j, "\u202e' < 1 -- ", string(bytes.Repeat([]byte("x"), 900))), Findings: []sqlguard.Finding{},
			}}
			held.Statements = append(held.Statements, s)
			spool.Add(&kept, s)
		}
		spool.Flush(&kept)
		inMemory, onDisk = append(inMemory, held), append(onDisk, kept)
	}
	var want, got bytes.Buffer
	if err := report.Write(&want, report.FormatJSON, &report.Check{Files: inMemory}); err != nil {
		t.Fatal(err)
	}
	if err := report.Write(&got, report.FormatJSON, &report.Check{Files: onDisk, Spool: spool}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Error(diff[:1000])
	}
	if !json.Valid(got.Bytes()) || bytes.Contains(got.Bytes(), []byte("##")) {
		t.Error("the document is not as it must be")
	}
}

// largest is the most bytes that were written at once.
type largest int

func (l *largest) Write(p []byte) (int, error) {
	*l = max(*l, largest(len(p)))
	return len(p), nil
}

// TestFindingsAreStreamed: the document of a file with many findings is never in memory as
// a whole.
func TestFindingsAreStreamed(t *testing.T) {
	t.Parallel()
	file := report.File{Path: "a.sql", Statements: []report.Statement{}}
	for i := range 10_000 {
		file.Findings = append(file.Findings, report.Finding{Finding: sqlguard.Finding{Code: sqlguard.CodeDDLStatement, Message: fmt.Sprint("finding ", i)}})
	}
	var at largest
	if err := report.Write(&at, report.FormatJSON, &report.Check{Files: []report.File{file}}); err != nil {
		t.Fatal(err)
	}
	if at > 1<<18 {
		t.Errorf("%d bytes were written at once", at)
	}
}
