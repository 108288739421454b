package prove_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
	"github.com/ktxhq/ktx/corpus"
)

// corpusDir returns the folder of the class files.
func corpusDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../../corpus")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAddressesAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"postgres://user@127.0.0.1/db"},
		{"--corpus", "mysql://root@localhost:3306/"},
		{"--bin", "host=127.0.0.1 dbname=shop", "--dialect", "postgres"},
		{"root@tcp(127.0.0.1:3306)/shop"},
		{"--case", "file:shop.db"},
		{"shop.db"},
		{"--dsn", "x"},
		{"--dialect", "sqlserver"},
		{"--bin", "x"},
		{"--limit", "0s"},
	} {
		var out, errs bytes.Buffer
		if code := prove.Main(args, &out, &errs); code != 2 || out.Len() > 0 {
			t.Errorf("%v: exit code %d, output %q, %s", args, code, &out, &errs)
		}
	}
	t.Setenv("KTX_TEST_POSTGRES_URL", "x")
	var out, errs bytes.Buffer
	if code := prove.Main([]string{"--dialect", "sqlite"}, &out, &errs); code != 2 || !strings.Contains(errs.String(), "KTX_TEST_POSTGRES_URL") {
		t.Errorf("with a server of the user's own: exit code %d, %s", code, &errs)
	}
}

// TestNeverRunCasesExist checks that the cases on the list exist, and that the
// document has the same list.
func TestNeverRunCasesExist(t *testing.T) {
	known := map[string]bool{}
	for _, c := range corpus.Cases() {
		known[c.ID] = true
	}
	doc, err := os.ReadFile("../../../../docs/evidence/ktx-prove.md")
	if err != nil {
		t.Fatal(err)
	}
	for id, reason := range prove.Never() {
		if !known[id] || reason == "" || !strings.Contains(string(doc), "| "+id+" | "+reason+" |") {
			t.Errorf("%s: known: %t, reason: %q, or the document says otherwise", id, known[id], reason)
		}
	}
	if rows := strings.Count(string(doc), "\n| KTX-"); rows != len(prove.Never()) {
		t.Errorf("the document lists %d cases", rows)
	}
}

// outcomes returns the outcomes of a report in the order of the attempts: the
// administrator without and with a read-only transaction, then the role that
// may only read.
func outcomes(r prove.Report) []string {
	var all []string
	for _, o := range r.Observations {
		text := o.Outcome.Text()
		if probe := o.Outcome.Probe(); probe != "" {
			text += " | " + probe
		}
		all = append(all, text)
	}
	return all
}

func compare(t *testing.T, reports map[string]prove.Report, want map[string][]string) {
	t.Helper()
	for id, lines := range want {
		if diff := cmp.Diff(lines, outcomes(reports[id])); diff != "" {
			t.Errorf("%s: %.100s (-want +got):\n%s", id, reports[id].Case.SQL, diff)
		}
	}
}

func ids(want map[string][]string) []string {
	var list []string
	for id := range want {
		list = append(list, id)
	}
	return list
}

func TestSQLite(t *testing.T) {
	dir := corpusDir(t)
	t.Chdir(t.TempDir())
	deleted := "executed | changed: rows orders"
	refused := "failed sqlite 8"
	reports, err := prove.RunCases(
		t.Context(), dir, "sqlite",
		corpus.Case{ID: "delete", SQL: "DELETE FROM orders"},
		corpus.Case{ID: "read", SQL: "SELECT * FROM orders"},
		corpus.Case{ID: "attach", SQL: "ATTACH 'other.db' AS other; CREATE TABLE other.t (a)"},
		corpus.Case{ID: "setting", SQL: "PRAGMA query_only = OFF"},
		corpus.Case{ID: "begin", SQL: "BEGIN"},
		corpus.Case{ID: "syntax", SQL: "SELEC 1"},
		corpus.Case{ID: "other", SQL: "SELECT 1", Engine: &corpus.Engine{Name: "postgresql"}},
		corpus.Case{ID: "newer", SQL: "SELECT 2", Engine: &corpus.Engine{Name: "sqlite", Min: "3.999"}},
		corpus.Case{ID: "older", SQL: "SELECT 3", Engine: &corpus.Engine{Name: "sqlite", Max: "3.9"}},
		corpus.Case{ID: "this", SQL: "SELECT 4", Engine: &corpus.Engine{Name: "sqlite", Min: "3.9", Max: "3"}},
		corpus.Case{ID: "again", SQL: "DELETE FROM orders"},
	)
	if err != nil {
		t.Fatal(err)
	}
	endless, err := prove.RunCasesWithin(
		t.Context(), time.Second, dir, "sqlite",
		corpus.Case{ID: "endless", SQL: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"},
	)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, r := range append(reports, endless...) {
		got[r.Case.ID] = outcomes(r)
	}
	row := "executed | returned_rows"
	want := map[string][]string{
		"delete":  {deleted, refused, refused, refused},
		"read":    {row, row, row, row},
		"attach":  {"executed | changed: file other.db, session databases", refused + " | changed: file other.db, session databases", "failed sqlite 14", "failed sqlite 14"},
		"setting": {"executed", "executed | changed: session setting query_only", "executed", "executed | changed: session setting query_only"},
		"begin":   {"executed | changed: transaction", "executed | changed: transaction", "executed | changed: transaction", "executed | changed: transaction"},
		"endless": {"timed_out", "timed_out", "timed_out", "timed_out"},
		"syntax":  {"failed sqlite 1", "failed sqlite 1", "failed sqlite 1", "failed sqlite 1"},
		"other":   nil,
		"newer":   nil,
		"older":   nil,
		"this":    {row, row, row, row},
		"again":   {deleted, refused, refused, refused},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSQLiteShell runs cases that the engine of ktx cannot run, on the command line
// shell of the machine.
func TestSQLiteShell(t *testing.T) {
	dir := corpusDir(t)
	program, err := exec.LookPath("sqlite3")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("no sqlite3: scripts/test-deps installs it")
	}
	if err != nil {
		t.Skip("no sqlite3: scripts/test-deps installs it")
	}
	t.Chdir(t.TempDir())
	row, loaded := "executed | returned_rows", "executed | returned_rows; changed: file loaded"
	want := map[string][]string{
		"KTX-LITE-CLI-0001": {row, row, row, row}, // .shell
		"KTX-LITE-FN-0001":  {loaded, loaded, loaded, loaded},
		"KTX-LITE-FN-0002":  {row, row, row, row}, // readfile
		"KTX-LITE-DML-0001": nil,                  // needs no shell
		"KTX-LITE-FN-0008":  {"failed sqlite 1", "failed sqlite 1", "failed sqlite 1", "failed sqlite 1"},
	}
	reports, err := prove.Prove(t.Context(), dir, "sqlite", filepath.Dir(program), ids(want)...)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, reports, want)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a server many times")
	}
	row, refused, denied, slow := "executed | returned_rows", "failed 25006", "failed 42501", "timed_out | took_a_second"
	want := map[string][]string{
		"KTX-PG-FN-0001":  {row, row, denied, denied},
		"KTX-PG-FN-0001B": {row, row, row, row},
		"KTX-PG-FN-0012":  {row + "; changed: sequence public.orders_id_seq", refused, denied, denied},
		"KTX-PG-FN-0014":  {row + "; changed: lock advisory ExclusiveLock", row + "; changed: lock advisory ExclusiveLock", row + "; changed: lock advisory ExclusiveLock", row + "; changed: lock advisory ExclusiveLock"},
		"KTX-PG-FN-0010":  {slow, slow, slow, slow},
		"KTX-PG-TXN-0008": {"executed", "executed | changed: session setting transaction_read_only", "executed", "executed | changed: session setting transaction_read_only"},
		"KTX-PG-CPY-0001": {"executed | changed: row locks public.orders, rows public.orders", refused, denied, denied},
		"KTX-PG-LCK-0004": {row + "; changed: row locks public.orders", refused, denied, refused},
		"KTX-PG-TXN-0007": {"failed 25P01", "executed | changed: savepoint s", "failed 25P01", "executed | changed: savepoint s"},
		"KTX-PG-TXN-0004": {"failed 25P01", "executed | changed: transaction", "failed 25P01", "executed | changed: transaction"},
		"KTX-PG-CPY-0005": {"executed | changed: output of a program", "executed | changed: output of a program", denied, denied},
	}
	reports, err := prove.Prove(t.Context(), corpusDir(t), "postgres", "", ids(want)...)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, reports, want)
}

// TestCrash checks that a crash is reported, and that the server runs again for
// the next case.
func TestCrash(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a server many times")
	}
	reports, err := prove.RunCases(
		t.Context(), corpusDir(t), "postgres",
		corpus.Case{ID: "crash", SQL: "COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'"},
		corpus.Case{ID: "next", SQL: "SELECT count(*) FROM orders"},
	)
	if err != nil {
		t.Fatal(err)
	}
	row, gone := "executed | returned_rows", "crashed | changed: server"
	want := [][]string{{gone, gone, "failed 42501", "failed 42501"}, {row, row, row, row}}
	if diff := cmp.Diff(want, [][]string{outcomes(reports[0]), outcomes(reports[1])}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a server many times")
	}
	row := "executed | returned_rows"
	want := map[string][]string{
		"KTX-MY-FN-0016":  {row + "; changed: sequence shop.order_numbers", "failed 25006 1792", "failed 42000 1142", "failed 25006 1792"},
		"KTX-MY-FN-0016B": {row, row, row, row},
		"KTX-MY-MNT-0012": {"executed | changed: server", "executed | changed: server", "failed 42000 1227", "failed 42000 1227"},
	}
	reports, err := prove.Prove(t.Context(), corpusDir(t), "mysql", "", ids(want)...)
	if err != nil {
		t.Fatal(err)
	}
	if reports["KTX-MY-FN-0016"].Skipped != "" {
		t.Fatalf("not run: %s", reports["KTX-MY-FN-0016"].Skipped)
	}
	compare(t, reports, want)
}

// TestWrite checks that --write adds evidence to a class file and changes no
// other byte, also when it runs twice.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"sqlite", "fixtures"} {
		if err := os.CopyFS(filepath.Join(dir, sub), os.DirFS(filepath.Join(corpusDir(t), sub))); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "sqlite", "write-statement.yaml")
	shipped, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := withoutEvidence(string(shipped))
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("KTX_PROVE_SHARED", "1")
	for range 2 {
		var out, errs bytes.Buffer
		if code := prove.Main([]string{"--dialect", "sqlite", "--case", "KTX-LITE-DML-0001", "--corpus", dir, "--write"}, &out, &errs); code != 0 || out.Len() > 0 {
			t.Fatalf("exit code %d, output %q: %s", code, &out, &errs)
		}
		after, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// Two keys, three lines for the case, and one for its twin. The
		// attempts at the case end differently, those at the twin do not.
		kept, added := withoutEvidence(string(after))
		if diff := cmp.Diff(before, kept); diff != "" || added != 6 {
			t.Errorf("%d lines added (-before +after):\n%s", added, diff)
		}
	}
}

// withoutEvidence returns a class file without its lines of evidence, and the
// number of those lines.
func withoutEvidence(text string) (kept string, lines int) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    evidence:") || strings.HasPrefix(line, "      - {engine: ") {
			lines++
			continue
		}
		b.WriteString(line)
	}
	return b.String(), lines
}

func TestOutput(t *testing.T) {
	dir := corpusDir(t)
	t.Chdir(t.TempDir())
	t.Setenv("KTX_PROVE_SHARED", "1")
	var out, errs bytes.Buffer
	if code := prove.Main([]string{"--dialect", "sqlite", "--case", "KTX-LITE-DML-0001", "--corpus", dir}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	d := json.NewDecoder(&out)
	for _, id := range []string{"KTX-LITE-DML-0001", "KTX-LITE-DML-0001B"} {
		var line struct {
			ID       string
			Evidence []corpus.Evidence
		}
		if err := d.Decode(&line); err != nil || line.ID != id || len(line.Evidence) != 4 || line.Evidence[0].Version == "" {
			t.Errorf("%v: %+v", err, line)
		}
	}
	if !strings.Contains(errs.String(), "1 cases ran, 0 were not run") {
		t.Errorf("no summary: %s", &errs)
	}
}
