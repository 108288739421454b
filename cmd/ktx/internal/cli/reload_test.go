package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// configure replaces a project's ktx.yaml as a whole, as editors do.
func configure(t *testing.T, dir, text string) {
	t.Helper()
	file := filepath.Join(dir, "ktx.yaml")
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// hangUp sends SIGHUP and waits until the log has the reload.
func hangUp(t *testing.T, p *process, dir string) {
	t.Helper()
	reloads := func() int { // without reading every event: the log grows fast
		text, err := os.ReadFile(filepath.Join(dir, audit.DefaultPath, "audit-000001.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte(`"event":"config.reload"`))
	}
	before := reloads()
	p.signal(t, syscall.SIGHUP)
	waitFor(t, func() bool { return reloads() > before })
}

// call is a request of sql_execution.
func call(id int, connection, sql string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sql_execution","arguments":{"connectionId":%q,"sql":%q}}}`, id, connection, sql)
}

// TestHangupReloads changes the configuration of a running server.
func TestHangupReloads(t *testing.T) {
	dir := shop(t)
	p := run(t, dir, "mcp", "stdio")
	p.send(t, initialize, ready, call(2, "demo", "SELECT count(*) FROM orders"))
	if r := fmt.Sprint(p.answer(t, 2)); !strings.Contains(r, "900") {
		t.Errorf("answered %s", r)
	}
	// Another limit, another rule and another connection.
	configure(t, dir, `connections:
  demo: {driver: sqlite, path: shop.db, schemas: [main], limits: {rows: 3}, access: {tables: {deny: [main.customers]}}}
  again: {driver: sqlite, path: shop.db}
audit: {sync: always}
`)
	hangUp(t, p, dir)
	p.send(t, call(3, "demo", "SELECT * FROM orders"))
	if r := fmt.Sprint(p.answer(t, 3)); !strings.Contains(r, "rowCount:3 ") || !strings.Contains(r, "truncated:true") {
		t.Errorf("answered %s", r)
	}
	p.send(t, call(4, "demo", "SELECT * FROM customers"))
	if r := fmt.Sprint(p.answer(t, 4)); !strings.Contains(r, "relation_not_allowed") {
		t.Errorf("answered %s", r)
	}
	p.send(t, call(5, "again", "SELECT count(*) FROM customers"))
	if r := fmt.Sprint(p.answer(t, 5)); strings.Contains(r, "isError") {
		t.Errorf("answered %s", r)
	}
	// A file that is not valid changes nothing, and is reported like in ktx config
	// validate.
	configure(t, dir, "connections:\n  demo: {driver: sqlite, path: shop.db, limits: {rows: many}}\nguard: {role: never}\n")
	hangUp(t, p, dir)
	told, _ := exec.CommandContext(t.Context(), "ktx", "config", "validate", "--project-dir", dir).Output()
	p.send(t, call(6, "demo", "SELECT * FROM customers"), call(7, "again", "SELECT 1"))
	if r := fmt.Sprint(p.answer(t, 6)); !strings.Contains(r, "relation_not_allowed") {
		t.Errorf("answered %s", r)
	}
	// A file without connections is valid, and refused as well.
	configure(t, dir, "")
	hangUp(t, p, dir)
	p.send(t, call(9, "again", "SELECT 1"))
	if r := fmt.Sprint(p.answer(t, 9)); strings.Contains(r, "unknown_connection") {
		t.Errorf("answered %s", r)
	}
	// A connection that is gone.
	configure(t, dir, "connections:\n  again: {driver: sqlite, path: shop.db}\n")
	hangUp(t, p, dir)
	p.send(t, call(8, "demo", "SELECT 1"))
	if r := fmt.Sprint(p.answer(t, 8)); !strings.Contains(r, "unknown_connection") {
		t.Errorf("answered %s", r)
	}
	if err := os.Remove(filepath.Join(dir, "ktx.yaml")); err != nil {
		t.Fatal(err)
	}
	hangUp(t, p, dir)
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	p.ends(t, 0)

	stderr := p.stderr.String()
	lines := strings.Split(strings.TrimSpace(string(told)), "\n")
	for _, line := range lines {
		_, message, _ := strings.Cut(line, ":") // the path is seen from another folder
		if !strings.Contains(stderr, "ktx.yaml:"+message+"\n") {
			t.Errorf("standard error does not have %q:\n%s", message, stderr)
		}
	}
	for _, want := range []string{
		"ktx: the configuration is reloaded: added again; changed demo; 0 connections as before\n",
		"ktx: audit.sync changed, which takes effect at the next start\n",
		"ktx: the configuration is not valid; the present one stays in force\n",
		"ktx: the configuration is reloaded: removed demo; 1 connection as before\n",
		"no such file", "takes the flag --allow-empty",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("standard error does not have %q:\n%s", want, stderr)
		}
	}
	if len(lines) < 2 || strings.Contains(stderr, "audit.path") {
		t.Errorf("%d problems reported; standard error: %s", len(lines), stderr)
	}
	var reasons []string
	configs := map[string]bool{}
	for _, e := range recorded(t, dir) {
		if e.Type == audit.ConfigReload {
			reasons = append(reasons, e.Reason)
			configs[e.Process.Config] = true
		}
	}
	if want := []string{"reloaded", "refused", "refused", "reloaded", "refused"}; !slices.Equal(reasons, want) || len(configs) != 2 {
		t.Errorf("reloads %q with %d configurations", reasons, len(configs))
	}
}

// recorded returns the events of a project's log, which must be whole.
func recorded(t *testing.T, dir string) []audit.Event {
	t.Helper()
	events(t, dir)
	return recordedNow(t, dir)
}

// recordedNow returns the events of the log of a process that may still run.
func recordedNow(t *testing.T, dir string) []audit.Event {
	t.Helper()
	r, err := audit.OpenReader(filepath.Join(dir, audit.DefaultPath))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var all []audit.Event
	for rec, err := range r.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec.Event)
	}
	return all
}

// TestHangupUnderLoad alternates between two policies while sixteen callers send
// statements. Every call is answered by one policy or the other. Afterwards the server
// has no more connections than one configuration permits. A connection that does not
// change keeps its guard.
func TestHangupUnderLoad(t *testing.T) {
	const callers, most = 16, 3
	reloads := 50
	if testing.Short() {
		reloads = 10
	}
	server := testdb.Postgres(t)
	reader := server.NewRole(t)
	owner := server.NewDatabase(t, "CREATE TABLE orders (id int)", "INSERT INTO orders SELECT generate_series(1, 10)", "GRANT SELECT ON orders TO "+reader, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	conn, err := pgx.Connect(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	connected := func() (n int) {
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1", reader).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Setenv("KTX_SCRIPT_URL", server.URL(conn.Config().Database, reader))
	dir := t.TempDir()
	policy := func(deny string) string {
		return fmt.Sprintf(`connections:
  pg: {driver: postgres, url: env:KTX_SCRIPT_URL, schemas: [public], maxConnections: %d, access: {tables: {deny: [%s]}}}
  steady: {driver: postgres, url: env:KTX_SCRIPT_URL, maxConnections: %[1]d}
`, most, deny)
	}
	configure(t, dir, policy("public.other"))
	p := run(t, dir, "mcp", "stdio")
	p.send(t, initialize, ready)
	p.answer(t, 1)

	const statement = "SELECT count(*) FROM orders"
	var mu sync.Mutex
	waiting := map[float64]chan string{}
	next := 1
	go func() {
		for {
			line, err := p.out.ReadBytes('\n')
			if err != nil {
				mu.Lock()
				for id, c := range waiting {
					delete(waiting, id)
					close(c)
				}
				mu.Unlock()
				return
			}
			var m struct{ ID float64 }
			if json.Unmarshal(line, &m) == nil && m.ID > 1 {
				mu.Lock()
				if c := waiting[m.ID]; c != nil {
					delete(waiting, m.ID)
					c <- string(bytes.TrimSpace(line))
				}
				mu.Unlock()
			}
		}
	}()
	ask := func(connection string) (string, bool) {
		mu.Lock()
		next++
		id, c := next, make(chan string, 1)
		waiting[float64(id)] = c
		_, err := fmt.Fprintln(p.in, call(id, connection, statement))
		mu.Unlock()
		if err != nil {
			return err.Error(), false
		}
		answer, ok := <-c
		return answer, ok
	}
	over := make(chan struct{})
	var wait sync.WaitGroup
	var answered, refused, other []string
	for range callers {
		wait.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				answer, ok := ask([]string{"pg", "steady", "steady"}[i%3])
				mu.Lock()
				switch {
				case ok && strings.Contains(answer, "[[10]]"):
					answered = append(answered, answer)
				case ok && strings.Contains(answer, "relation_not_allowed"):
					refused = append(refused, answer)
				default:
					other = append(other, answer)
				}
				mu.Unlock()
				if !ok {
					return
				}
			}
		})
	}
	total := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(answered) + len(refused) + len(other)
	}
	for i := range reloads {
		configure(t, dir, policy([]string{"public.orders", "public.other"}[i%2]))
		hangUp(t, p, dir)
		before := total()
		waitFor(t, func() bool { return total() >= before+callers/2 })
	}
	close(over)
	wait.Wait()
	waitFor(t, func() bool { return connected() <= 2*most })
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	p.ends(t, 0)
	waitFor(t, func() bool { return connected() == 0 })
	if len(other) > 0 || len(answered) == 0 || len(refused) == 0 {
		t.Errorf("%d answered, %d refused, and %d like %.2000s", len(answered), len(refused), len(other), strings.Join(other, "\n"))
	}

	// Each guard gives the statement one verdict, and every statement that ran was
	// allowed.
	allowed, ended := map[string]bool{}, map[string]int{}
	decided := 0
	verdicts, steady := map[string]map[string]bool{}, map[string]bool{}
	for _, e := range recorded(t, dir) {
		switch e.Type { //nolint:exhaustive // the others are no statements
		case audit.QueryDecision:
			decided++
			if e.Connection.ID == "steady" {
				steady[e.Decision.Policy] = true
			}
			if verdicts[e.Decision.Policy] == nil {
				verdicts[e.Decision.Policy] = map[string]bool{}
			}
			verdicts[e.Decision.Policy][e.Decision.Verdict] = true
			allowed[e.QueryID] = e.Decision.Verdict == audit.VerdictAllow
		case audit.QueryFinished:
			ended[e.QueryID]++
			if !allowed[e.QueryID] {
				t.Errorf("a statement ran that was not allowed: %+v", e)
			}
		}
	}
	for policy, v := range verdicts {
		if len(v) != 1 {
			t.Errorf("the guard %s gave one statement the verdicts %v", policy, v)
		}
	}
	if len(steady) != 1 {
		t.Errorf("the connection that did not change had %d guards", len(steady))
	}
	if decided != len(answered)+len(refused) || len(ended) != len(answered) {
		t.Errorf("%d decisions, %d ends; %d answered, %d refused", decided, len(ended), len(answered), len(refused))
	}
	t.Logf("%d answered, %d refused, %d reloads, %d guards", len(answered), len(refused), reloads, len(verdicts))
}
