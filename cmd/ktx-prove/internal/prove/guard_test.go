package prove_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
	"github.com/ktxhq/ktx/execution/executiontest/executable"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestMain lets the test binary be the MCP server of its own tests, and the
// program ktx-prove that ktx starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "be-ktx-prove" && os.Args[2] == "guard" {
		os.Exit(prove.GuardMain(os.Args[3:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) == 4 && os.Args[1] == "be-an-mcp-server" {
		be := beMCPServer
		if os.Args[2] == "mysql" || os.Args[2] == "sqlite" {
			be = beAnotherServer
		}
		if err := be(os.Args[2], os.Args[3]); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(executable.Run(m.Run))
}

// beMCPServer is an MCP server that runs every statement on a database. manner
// says how it misbehaves:
//
//	liar    it refuses a text that does not begin with SELECT, and reports success;
//	        for a statement that runs, it reports an error
//	splits  it sends each statement of a text separately
//	crash   it exits when it should run DELETE
//	hang    it does not answer when it should run DELETE
//	wraps   it runs each text in a transaction, which it ends after it has answered
//	two     it has two tools that take SQL
//	away    it does not use the database that it is given
func beMCPServer(manner, url string) error {
	ctx := context.Background()
	server := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "7"}, nil)
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		return err
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	type input struct {
		SQL string `json:"sql"`
	}
	say := func(failed bool, format string, args ...any) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{IsError: failed, Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil, nil
	}
	var busy sync.Mutex
	run := func(ctx context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		if manner == "away" {
			return say(false, "1")
		}
		if strings.HasPrefix(in.SQL, "DELETE") {
			switch manner {
			case "crash":
				_, _ = fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(3)
			case "hang":
				<-ctx.Done()
				select {}
			}
		}
		if manner == "liar" && !strings.HasPrefix(in.SQL, "SELECT") {
			return say(false, "refused")
		}
		if manner == "wraps" {
			busy.Lock()
			if _, err := conn.Exec(ctx, "BEGIN READ ONLY; SET LOCAL statement_timeout = '1h'").ReadAll(); err != nil {
				return say(true, "%v", err)
			}
			defer func() {
				go func() {
					defer busy.Unlock()
					time.Sleep(20 * time.Millisecond)
					_, _ = conn.Exec(context.Background(), "ROLLBACK").ReadAll()
				}()
			}()
		}
		texts := []string{in.SQL}
		if manner == "splits" {
			texts = strings.Split(in.SQL, "; ")
		}
		for _, text := range texts {
			results, err := conn.Exec(ctx, text).ReadAll()
			if err != nil {
				return say(true, "%v", err)
			}
			if len(results) > 1 {
				return say(false, "%d results", len(results))
			}
		}
		return say(manner == "liar", "done")
	}
	mcp.AddTool(server, &mcp.Tool{Name: "run"}, run)
	if manner == "two" {
		mcp.AddTool(server, &mcp.Tool{Name: "explain"}, run)
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}

// beAnotherServer is an MCP server for MariaDB or SQLite, which refuses what begins
// with DELETE. It does not mark its failures as errors.
func beAnotherServer(dialect, url string) error {
	db, err := sql.Open("sqlite3", "file:"+url)
	if dialect == "mysql" {
		db, err = testdb.OpenMariaDB(url)
	}
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	server := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "7"}, nil)
	type input struct {
		SQL string `json:"sql"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "run"}, func(ctx context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		say := func(format string, args ...any) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil, nil
		}
		if strings.HasPrefix(in.SQL, "DELETE") {
			return say("Error: refused")
		}
		rows, err := db.QueryContext(ctx, in.SQL)
		if err != nil {
			return say("Error: %v", err)
		}
		defer func() { _ = rows.Close() }()
		var found []string
		for rows.Next() {
			var cell sql.NullString
			if err := rows.Scan(&cell); err != nil {
				return say("Error: %v", err)
			}
			found = append(found, cell.String)
		}
		if err := rows.Err(); err != nil {
			return say("Error: %v", err)
		}
		return say("%q", found)
	})
	return server.Run(context.Background(), &mcp.StdioTransport{})
}

// TestGuardOnOtherDatabases checks decisions on MariaDB, whose sessions are seen on
// their way, and on SQLite, where only the file and the answer are.
func TestGuardOnOtherDatabases(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a server many times")
	}
	executed, changed, refused := verdict{"allow", "executed", ""}, verdict{"allow", "executed_changed", ""}, verdict{"reject", "refused_by_server", ""}
	for _, test := range []struct {
		dialect, role string
		texts         []string
		want          []verdict
	}{
		{"mysql", "superuser", []string{
			"SELECT count(*) FROM orders", "UPDATE orders SET total = 0", "DELETE FROM orders", "SELECT total FROM orders WHERE total = 10",
			"SET SESSION sql_mode = 'ANSI_QUOTES'", "SELECT @v := 5", "SELECT SLEEP(60)", "SELECT nothing_of_that_name", "START TRANSACTION",
			"KILL CONNECTION_ID()", "SELECT 1",
		}, []verdict{
			executed, changed, refused, executed, changed, changed,
			{"allow", "executed_until_limit", ""},
			{"reject", "fails_anyway_42S22_1054", ""},
			executed, changed, executed,
		}},
		{"mysql", "select_only", []string{"SELECT 1", "UPDATE orders SET total = 0", "DELETE FROM orders"}, []verdict{
			executed, {"reject", "fails_anyway_42000_1142", ""}, refused,
		}},
		{"sqlite", "superuser", []string{
			"SELECT count(*) FROM orders", "UPDATE orders SET total = 0", "DELETE FROM orders", "SELECT total FROM orders WHERE total = 10",
			"SELECT nothing_of_that_name", "ATTACH 'other.db' AS other", "PRAGMA user_version = 7", "SELECT 1",
		}, []verdict{
			executed, changed, refused, executed, {"reject", "fails_anyway_sqlite_1", ""}, changed, changed, executed,
		}},
	} {
		t.Run(test.dialect+" "+test.role, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, putToOther(t, test.dialect, test.role, test.texts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// putToOther is putTo for another dialect. The guard is a process of its own, because
// it enters the folder of an SQLite file.
func putToOther(t *testing.T, dialect, role string, texts []string) (got []verdict) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]string{"mysql": "{url}", "sqlite": "{file}"}[dialect]
	cmd := exec.CommandContext(t.Context(), self, "be-ktx-prove", "guard", "--dialect", dialect, "--role", role, "--", self, "be-an-mcp-server", dialect, place)
	cmd.Stdin = questions(t, dialect, texts)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	return verdicts(t, string(out))
}

// verdict is one answer of the guard.
type verdict struct{ Decision, Code, Fault string }

// putTo puts statements to the test binary as an MCP server.
func putTo(t *testing.T, manner string, flags, texts []string) []verdict {
	t.Helper()
	code, out, errs := guardMain(t, manner, flags, texts)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	return verdicts(t, out)
}

// verdicts reads the answers of the guard.
func verdicts(t *testing.T, out string) (got []verdict) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if !strings.Contains(lines[0], `"proto":"ktx-guard/1","name":"fixture","version":"7"`) {
		t.Errorf("the greeting is %s", lines[0])
	}
	for i, line := range lines[1:] {
		var answer struct {
			ID string
			verdict
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.ID != fmt.Sprint(i) {
			t.Fatalf("line %d: %v: %s", i, err, line)
		}
		got = append(got, answer.verdict)
	}
	return got
}

func guardMain(t *testing.T, manner string, flags, texts []string) (code int, out, errs string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := slices.Concat(flags, []string{"--", self, "be-an-mcp-server", manner, "{url}"})
	code = prove.GuardMain(args, questions(t, "postgres", texts), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// questions returns the lines that ask a guard about statements.
func questions(t *testing.T, dialect string, texts []string) *bytes.Buffer {
	t.Helper()
	in := bytes.NewBufferString(`{"proto":"ktx-guard/1"}` + "\n")
	for i, text := range texts {
		line, err := json.Marshal(map[string]string{"id": fmt.Sprint(i), "dialect": dialect, "sql": text})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	return in
}

// TestGuardJudgesByTheDatabase checks that a decision is what happened at the
// database, and that each statement finds the database in its original state.
func TestGuardJudgesByTheDatabase(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a server many times")
	}
	texts := []string{
		"SELECT count(*) FROM orders",
		"DELETE FROM orders",
		"SELECT 1 / count(*) FROM orders", // fails if the rows are gone
		"SET search_path = hr",
		"SELECT id FROM orders", // is not found if the setting is still in force
		"SELECT pg_advisory_lock(7)",
		"SELECT nextval('orders_id_seq')",
		"SELECT pg_sleep(60)",
		"SELECT nothing_of_that_name",
		"BEGIN READ ONLY; DELETE FROM orders",
		"DO $$ BEGIN ASSERT true; END $$", // loads a library
		"SELECT pg_terminate_backend(pg_backend_pid())",
		"SELECT 1",
	}
	executed, changed := verdict{"allow", "executed", ""}, verdict{"allow", "executed_changed", ""}
	for _, test := range []struct {
		manner string
		flags  []string
		want   []verdict
	}{
		{"everything", nil, []verdict{
			executed, changed, executed, changed, executed, changed, changed,
			{"allow", "executed_until_limit", ""},
			{"reject", "fails_anyway_42703", ""},
			{"reject", "refused_by_database_25006", ""},
			executed, changed, executed,
		}},
		{"everything", []string{"--role", "select_only"}, []verdict{
			executed,
			{"reject", "fails_anyway_42501", ""},
			executed, changed, executed, changed,
			{"reject", "fails_anyway_42501", ""},
			{"allow", "executed_until_limit", ""},
			{"reject", "fails_anyway_42703", ""},
			{"reject", "refused_by_database_25006", ""},
			executed, changed, executed,
		}},
		{"liar", nil, []verdict{
			executed,
			{"reject", "refused_by_server", ""},
			executed,
			{"reject", "refused_by_server", ""},
			executed, changed, changed,
			{"allow", "executed_until_limit", ""},
			{"reject", "fails_anyway_42703", ""},
			{"reject", "refused_by_server", ""},
			{"reject", "refused_by_server", ""},
			changed, executed,
		}},
	} {
		t.Run(test.manner+strings.Join(test.flags, ""), func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, putTo(t, test.manner, test.flags, texts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestGuardFaults checks that a crash and a missing answer are results, that
// the server is restarted for the next statement, and that what the server did
// before it crashed counts more.
func TestGuardFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a server many times")
	}
	executed := verdict{"allow", "executed", ""}
	for manner, fault := range map[string]string{"crash": "crash", "hang": "timeout"} {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()
			got := putTo(t, manner, nil, []string{"SELECT 1", "DELETE FROM orders", "SELECT 1"})
			if diff := cmp.Diff([]verdict{executed, {"error", "", fault}, executed}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("wraps", func(t *testing.T) {
		t.Parallel()
		got := putTo(t, "wraps", nil, []string{"ROLLBACK", "SELECT 1", "DELETE FROM orders", "SELECT pg_sleep(3600)", "SELECT 1"})
		want := []verdict{executed, executed, {"reject", "refused_by_database_25006", ""}, {"allow", "executed_until_limit", ""}, executed}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("splits", func(t *testing.T) {
		t.Parallel()
		got := putTo(t, "splits", nil, []string{"SELECT 1; SELECT 2", "SELECT 1; DELETE FROM orders", "SELECT 1; SELECT nothing", "COMMIT"})
		want := []verdict{executed, {"allow", "executed_changed", ""}, {"reject", "fails_anyway_42703", ""}, executed}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestGuardRefusesToStart checks which command lines and servers are refused,
// and that the message says why.
func TestGuardRefusesToStart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flags []string
		says  string
	}{
		{[]string{"--", "sh", "postgres://user@127.0.0.1/db"}, "an address of a server is refused"},
		{[]string{"--", "env", "PGHOST=db.example.com", "sh"}, "an address of a server is refused"},
		{[]string{"--with", "x", "--", "sh"}, "NAME=VALUE"},
		{[]string{"--role", "owner", "--", "sh"}, "superuser or select_only"},
		{[]string{"--dialect", "oracle", "--", "sh"}, "postgres, mysql or sqlite"},
		{[]string{"--dialect", "sqlite", "--role", "select_only", "--", "sh"}, "SQLite has no roles"},
		{[]string{"--limit", "1s", "--timeout", "1s", "--", "sh"}, "--timeout must be more"},
		{[]string{"--", "no-such-program-of-ktx"}, "find the MCP server"},
		{nil, "no MCP server is named"},
	} {
		var out, errs bytes.Buffer
		if code := prove.GuardMain(test.flags, strings.NewReader(""), &out, &errs); code != 2 || !strings.Contains(errs.String(), test.says) {
			t.Errorf("%q: exit code %d: %s", test.flags, code, &errs)
		}
	}
	if testing.Short() {
		t.Skip("starts servers")
	}
	for manner, says := range map[string]string{
		"two":  "several tools take SQL: explain, run; name one with --tool; the tools are:\n  explain(sql)\n  run(sql)",
		"away": "the tool run did not run \"SELECT count(*) AS ktx_marker FROM orders\" on the database that it was given; its answer: \"1\"",
	} {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()
			if code, _, errs := guardMain(t, manner, nil, nil); code != 3 || !strings.Contains(errs, says) {
				t.Errorf("exit code %d: %s", code, errs)
			}
		})
	}
	t.Run("two tools, one named", func(t *testing.T) {
		t.Parallel()
		if code, _, errs := guardMain(t, "two", []string{"--tool", "run"}, nil); code != 0 {
			t.Errorf("exit code %d: %s", code, errs)
		}
	})
	t.Run("an argument that no tool has", func(t *testing.T) {
		t.Parallel()
		if code, _, errs := guardMain(t, "two", []string{"--argument", "text"}, nil); code != 3 || !strings.Contains(errs, "no tool takes SQL") {
			t.Errorf("exit code %d: %s", code, errs)
		}
	})
}

// TestCorpusRunOverMCP runs the whole chain: ktx corpus run starts ktx-prove,
// which starts a database and ktx itself as an MCP server.
func TestCorpusRunOverMCP(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	adapter, err := filepath.Abs("../../../../corpus/adapters/ktx.sh")
	if err != nil {
		t.Fatal(err)
	}
	ktx := executable.KTX(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nexec '" + self + "' be-ktx-prove \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "ktx-prove"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cases := filepath.Join(dir, "cases.jsonl")
	const text = `{"id":"read","dialect":"postgres","sql":"SELECT count(*) FROM orders","expect":"allow"}
{"id":"write","dialect":"postgres","sql":"DELETE FROM orders","expect":"reject"}
{"id":"two","dialect":"postgres","sql":"COMMIT; DROP TABLE orders","expect":"reject"}
{"id":"file","dialect":"postgres","sql":"SELECT pg_read_file('PG_VERSION')","expect":"reject"}
{"id":"other","dialect":"sqlite","sql":"SELECT 1","expect":"allow"}
`
	if err := os.WriteFile(cases, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := "mcp:--with connectionId=shop -- '" + adapter + "' '" + ktx + "' postgres"
	cmd := exec.CommandContext(t.Context(), ktx, "corpus", "run", "--corpus", cases, "--guard", command, "--json", "-")
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ended.ExitCode() != 3 { // one dialect is not supported
		t.Fatalf("%v: %s%s", err, out, &errs)
	}
	var run struct {
		Guard   map[string]string
		Results []struct{ ID, Decision, Code string }
	}
	if err := json.Unmarshal(out, &run); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	if run.Guard["name"] != "ktx" || run.Guard["role"] != "superuser" || run.Guard["tool"] != "sql_execution" || run.Guard["command"] != "ktx-prove" {
		t.Errorf("the guard is %v", run.Guard)
	}
	var got []string
	for _, r := range run.Results {
		got = append(got, r.ID+" "+r.Decision+" "+r.Code)
	}
	want := []string{
		"read allow executed", "write reject refused_by_server", "two reject refused_by_server", "file reject refused_by_server",
		"other error unsupported_dialect",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOwnExchanges checks which exchanges with the database ran the text.
func TestOwnExchanges(t *testing.T) {
	for _, test := range []struct {
		sql   string
		sent  [][]string
		own   int
		whole bool
	}{
		{"SELECT 1;", [][]string{{"SELECT 1"}}, 1, true},
		{"SELECT 1", [][]string{{"EXPLAIN SELECT 1"}}, 0, false},
		{"SELECT 1", [][]string{{"EXPLAIN SELECT 1"}, {"SELECT * FROM (SELECT 1) AS t"}}, 1, true},
		{"EXPLAIN SELECT 1", [][]string{{"EXPLAIN SELECT 1"}}, 1, true},
		{"SELECT 1", [][]string{{"EXPLAIN ANALYZE SELECT 1"}}, 1, true},
		{"SELECT  1", [][]string{{"SELECT 1"}}, 1, false},
		{";", [][]string{{";"}}, 1, false},
		{"SELECT 1", nil, 0, false},
	} {
		if own, whole := prove.OwnExchanges(test.sql, test.sent); own != test.own || whole != test.whole {
			t.Errorf("%q in %q: %d, %t", test.sql, test.sent, own, whole)
		}
	}
}
