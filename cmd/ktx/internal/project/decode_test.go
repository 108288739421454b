package project_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// anyPattern accepts every pattern.
func anyPattern(string) bool { return true }

// parse reads a ktx.yaml that must be valid.
func parse(t *testing.T, text string) project.Config {
	t.Helper()
	config, problems := project.Parse([]byte(text), anyPattern)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	return config
}

const full = `
connections:
  warehouse:
    driver: postgres
    host: db.example
    port: 5433
    database: main
    user: 0123
    password: env:P
    tls: off
    name: The warehouse
    description: |
      Two
      lines
    schemas: [public, "a b"]
    maxConnections: 7
    limits: {rows: 10, bytes: 8MiB, cellBytes: 256 KiB, columns: 5, timeout: 1m30s, lockTimeout: 500ms, concurrency: 2}
    access:
      schemas: {allow: [public], deny: [hr]}
      tables: {deny: [public.api_keys, public.tmp*]}
      columns: [{match: public.users.email, action: deny}]
    functions: {allow: [public.haversine, {function: "public.score(integer, text)", trust: true}], deny: [public.f]}
    guard: {explainAnalyze: true, catalog: true}
  demo: &demo
    driver: sqlite
    path: demo.db
  again: *demo
guard: {maxBytes: 65536, explainAnalyze: false, types: refuse, role: refuse}
audit: {path: logs, sql: full, onFailure: degrade, sync: always, rotateBytes: 4096}
check:
  overrides:
    - paths: ["**/*.sql"]
      dialect: mysql
`

func TestParse(t *testing.T) {
	t.Parallel()
	config := parse(t, strings.Replace(full, "tls: off", `tls: "off"`, 1))
	c := config.Connections["warehouse"]
	yes, no := true, false
	want := project.Connection{
		Driver: "postgres", Host: "db.example", Port: 5433, Database: "main", User: "0123", Password: c.Password, TLS: "off",
		Name: "The warehouse", Description: "Two\nlines\n", Schemas: []string{"public", "a b"}, MaxConnections: 7,
		Limits: project.Limits{
			Rows: 10, Bytes: 8 << 20, CellBytes: 256 << 10, Columns: 5, Timeout: project.Duration(90 * time.Second),
			LockTimeout: project.Duration(500 * time.Millisecond), Concurrency: 2,
		},
		Access: project.Access{
			Schemas: project.Names{Allow: []string{"public"}, Deny: []string{"hr"}},
			Tables:  project.Names{Deny: []string{"public.api_keys", "public.tmp*"}},
			Columns: []project.ColumnRule{{Match: "public.users.email", Action: "deny"}},
		},
		Functions: project.Functions{Allow: []project.AllowedFunction{{Function: "public.haversine"}, {Function: "public.score(integer, text)", Trust: true}}, Deny: []string{"public.f"}},
		Guard:     project.Guard{ExplainAnalyze: &yes, Catalog: &yes},
	}
	equalSecrets := cmp.Comparer(func(a, b project.Secret) bool { return a == b })
	if diff := cmp.Diff(want, c, equalSecrets); diff != "" {
		t.Error(diff)
	}
	if value, err := c.Password.Resolve(func(string) (string, bool) { return "x", true }); value != "x" || err != nil {
		t.Errorf("password: %q, %v", value, err)
	}
	if diff := cmp.Diff(config.Connections["demo"], config.Connections["again"], equalSecrets); diff != "" {
		t.Error(diff)
	}
	wantAudit := audit.Config{Path: "logs", SQL: audit.SQLFull, OnFailure: audit.FailDegrade, Sync: audit.SyncAlways, RotateBytes: 4096}
	if diff := cmp.Diff(wantAudit, config.Audit); diff != "" {
		t.Error(diff)
	}
	// The guard block of the file gives the values that the connection leaves unset.
	if diff := cmp.Diff(project.Guard{MaxBytes: 64 << 10, ExplainAnalyze: &yes, Catalog: &yes, Types: "refuse", Role: "refuse"}, config.GuardOf("warehouse")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(project.Guard{MaxBytes: 64 << 10, ExplainAnalyze: &no, Types: "refuse", Role: "refuse"}, config.GuardOf("demo")); diff != "" {
		t.Error(diff)
	}
	wantPolicy := sqlguard.Policy{
		MaxBytes: 64 << 10, AllowExplainAnalyze: true,
		Functions:  sqlguard.Names{Allow: []string{"public.haversine"}, Deny: []string{"public.f"}},
		Trusted:    []string{"public.score(integer, text)"},
		Schemas:    sqlguard.Names{Allow: []string{"public"}, Deny: []string{"hr"}},
		Tables:     sqlguard.Names{Deny: []string{"public.api_keys", "public.tmp*"}},
		Columns:    []sqlguard.ColumnRule{{Match: "public.users.email"}},
		SearchPath: []string{"public", "a b"},
	}
	if diff := cmp.Diff(wantPolicy, c.Policy(config.GuardOf("warehouse"))); diff != "" {
		t.Error(diff)
	}
}

// TestAnEmptyConfigurationIsTheDefaultPolicy: a file without settings gives the
// default policy of the guard.
func TestAnEmptyConfigurationIsTheDefaultPolicy(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "# nothing\n", "connections:\n", "connections: {}\nguard:\naudit: ~\n", "{}"} {
		config := parse(t, text)
		if diff := cmp.Diff(sqlguard.DefaultPolicy(), config.Connections["none"].Policy(config.GuardOf("none"))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// TestOneProblem has the one problem of each file.
func TestOneProblem(t *testing.T) {
	t.Parallel()
	connection := func(text string) string { return "connections:\n  a:\n    driver: sqlite\n    " + text + "\n" }
	for _, test := range []struct{ text, want string }{
		{"guard: {maxBytes: 0}", `ktx.yaml:1: guard.maxBytes: "0" is not a size; expected a number with KiB, MiB or GiB, such as 8MiB`},
		{"guard: {explainAnalyze: !!bool yes}", `ktx.yaml:1: guard.explainAnalyze: "yes" is not true or false`},
		{"guard: {explainAnalyze: 1}", `ktx.yaml:1: guard.explainAnalyze: "1" is not true or false`},
		{"guard: {explainAnalyze: [true]}", `ktx.yaml:1: guard.explainAnalyze: expected true or false`},
		{"guard: []", `ktx.yaml:1: guard: expected keys with values`},
		{"guard: yes", `ktx.yaml:1: guard: expected keys with values`},
		{"- guard", `ktx.yaml:1: expected keys with values`},
		{"guard: {<<: {types: refuse}}", `ktx.yaml:1: guard: expected a plain key`},
		{"guard: {[a]: b}", `ktx.yaml:1: guard: expected a plain key`},
		{"guard: {types: !!binary YQ==}", `ktx.yaml:1: guard.types: YAML tags (!…) are not supported; put a value that begins with ! in quotes`},
		{"Guard: {types: refuse}", `ktx.yaml:1: Guard: unknown key, did you mean guard?`},
		{"guards: {}", `ktx.yaml:1: guards: unknown key, did you mean guard?`},
		{"gaurd: {}", `ktx.yaml:1: gaurd: unknown key, did you mean guard?`},
		{"guardrails: {}", `ktx.yaml:1: guardrails: unknown key, did you mean guard?`},
		{"audit: {sycn: off}", `ktx.yaml:1: audit.sycn: unknown key, did you mean sync?`},
		{"serber: {}", `ktx.yaml:1: serber: unknown key, did you mean server?`},
		{connection("funtcions: {allow: []}"), `ktx.yaml:4: connections.a.funtcions: unknown key, did you mean functions?`},
		{connection("access: {columns: [{match: a.b.c, action: deny, reason: x}]}"), `ktx.yaml:4: connections.a.access.columns[0].reason: unknown key; known here: action, match`},
		{connection("access: {columns: [{match: a.b.c}]}"), `ktx.yaml:4: connections.a.access.columns[0]: action is missing`},
		{connection("access: {tables: {deny: [~]}}"), `ktx.yaml:4: connections.a.access.tables.deny[0]: "" is not of the form schema.name`},
		{connection("schemas: [a, '']"), `ktx.yaml:4: connections.a.schemas[1]: the name is empty`},
		{connection("maxConnections: 010"), `ktx.yaml:4: connections.a.maxConnections: "010" is not an integer from 1 to 1000`},
		{connection("maxConnections: 1e2"), `ktx.yaml:4: connections.a.maxConnections: "1e2" is not an integer from 1 to 1000`},
		{connection("url: ['env:X']"), `ktx.yaml:4: connections.a.url: expected a string`},
		{connection("url: 'env:'"), `ktx.yaml:4: connections.a.url: expected a name or path after env:`},
		{connection("port: 5432"), `ktx.yaml:4: connections.a.port: it needs host; with url, write it into the url`},
		{"connections:\n  a:\n    path: x\n", `ktx.yaml:2: connections.a: driver is missing`},
		{"connections:\n  a: {driver: ''}\n", `ktx.yaml:2: connections.a.driver: it is empty`},
		{"connections:\n  a.b: {driver: sqlite}\n", `ktx.yaml:2: connections.a.b: an id is letters, digits, _ and -, and begins with a letter or digit`},
		{"connections: [a]", `ktx.yaml:1: connections: expected keys with values`},
		{"check: {overrides: [{dialect: sqlite, paths: []}, ~]}", "ktx.yaml:1: check.overrides[1]: dialect is missing; an entry sets dialect, connection or severity\nktx.yaml:1: check.overrides[1]: paths is missing"},
		{"a: b: c", "ktx.yaml:1: mapping values are not allowed in this context"},
		{"guard:\n\ttypes: refuse\n", "ktx.yaml:2: found character that cannot start any token"},
		{"guard: 'x\n", "ktx.yaml:2: found unexpected end of stream"},
		{"x: [1,\ny: 2\n", "ktx.yaml:3: did not find expected ',' or ']'"},
		{"guard: {}\n---\nguard: {}\n", "ktx.yaml:2: the file holds more than one document"},
		{"guard: {}\n---\n: [\n", "ktx.yaml:1: the file holds more than one document"},
		{"audit: {rotateBytes: 1, path: x}", "ktx.yaml:1: audit.rotateBytes: 1 is less than 4096"},
	} {
		_, problems := project.Parse([]byte(test.text), anyPattern)
		var got []string
		for _, p := range problems {
			if !p.Warning {
				got = append(got, p.String())
			}
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, strings.Join(got, "\n"), test.want)
		}
	}
}

// TestWarnings: a problem that does not affect safety is a warning.
func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"conections: {}", "ktx.yaml:1: warning: conections: unknown key, did you mean connections?"},
		{"connections:\n  a: {driver: postgress}", `ktx.yaml:2: warning: connections.a.driver: "postgress" is not a known engine; no statements run on it, did you mean postgres?`},
		{"connections:\n  guard: {driver: sqlite, nmae: x}", "ktx.yaml:2: warning: connections.guard.nmae: unknown key, did you mean name?"},
	} {
		_, problems := project.Parse([]byte(test.text), anyPattern)
		if len(problems) != 1 || problems[0].String() != test.want || !problems[0].Warning {
			t.Errorf("%s: %v, want %s", test.text, problems, test.want)
		}
	}
}

// TestManyProblems: Parse reports only the first of very many problems, and does not
// hang.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	start := time.Now()
	_, problems := project.Parse([]byte(b.String()), anyPattern)
	if len(problems) > 101 || len(problems) < 100 {
		t.Errorf("%d problems", len(problems))
	}
	if took := time.Since(start); took > 5*time.Minute { // a bound on hanging
		t.Errorf("took %s", took)
	}
}

// TestHostileShapes: Parse does not hang on extreme nesting, aliases and lists.
func TestHostileShapes(t *testing.T) {
	t.Parallel()
	repeated := func(unit string) string { return strings.Repeat(unit, project.MaxFile/len(unit)/8) }
	texts := []string{
		"guard: &a\n  types: refuse\n" + strings.Repeat("x: *a\n", 100_000),
		"connections: {a: {driver: sqlite, schemas: [" + repeated("a, ") + "]}}",
		"connections: {a: {driver: sqlite, access: {columns: [" + repeated("{}, ") + "]}}}",
		"l: &l [" + repeated("a, ") + "]\nconnections: {a: {driver: sqlite, schemas: *l}, b: {driver: sqlite, schemas: *l}, c: {driver: sqlite, schemas: *l}}",
		"connections: {a: {driver: &s [*s]}}", "connections: &c {a: {driver: x}, b: *c}",
	}
	for _, unit := range []string{"[", "{a: ", "- ", "? ", "a: ", "&a ", "!a ", "*a ", "\"", "'", "|\n", "? - ", "%a\n", "---\n", "...\n", "#\n", "a:\n ", ": ", "[]", "{}", "a\n", "&a [*a]\n", "\x00", "\ufeff"} {
		texts = append(texts, repeated(unit))
	}
	for _, text := range texts {
		start := time.Now()
		project.Parse([]byte(text), anyPattern)
		if took := time.Since(start); took > 5*time.Minute { // a bound on hanging
			t.Errorf("%.20q took %s", text, took)
		}
	}
}
