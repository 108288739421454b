package research_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/sqlguard"
)

// scanned is a connection with artifacts only.
func scanned(id string, policy sqlguard.Policy) execution.Connection {
	return execution.Connection{
		ID: id, Name: id, Engine: "BIGQUERY", Policy: policy,
		Unavailable: execution.NewError(sqlguard.CodeNoBackend, "no backend", nil),
	}
}

// serviceIn returns a service over the project in dir.
func serviceIn(t *testing.T, dir string, conns ...execution.Connection) *research.Service {
	t.Helper()
	return research.New(gatewayTo(t, conns...), slog.New(slog.DiscardHandler), storesIn(t, dir))
}

// connectIn returns a client of the tools over the project in dir.
func connectIn(t *testing.T, dir string, conns ...execution.Connection) *client {
	t.Helper()
	c := serveStores(t, gatewayTo(t, conns...), storesIn(t, dir))
	c.shakeHands()
	return c
}

func gatewayTo(t *testing.T, conns ...execution.Connection) *execution.Gateway {
	t.Helper()
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, conns...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return gateway
}

// writeValues writes the values of columns, given as "schema.table.column".
func writeValues(t *testing.T, dir, id string, columns map[string][]string) {
	t.Helper()
	w, err := dictionary.NewWriter(catalogtest.Open(t, dir), id, "2026-01-02-030405-r1")
	if err != nil {
		t.Fatal(err)
	}
	for name, texts := range columns {
		parts := strings.Split(name, ".")
		var list []dictionary.Value
		for _, text := range texts {
			list = append(list, dictionary.Value{Text: text, Count: 1})
		}
		if err := w.Column(catalog.Ref{DB: parts[0], Name: parts[1]}, parts[2], list, int64(len(list)), true); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// shopProject writes a project with two scanned connections and one that is not.
func shopProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	users := catalogtest.Table("s.users", "id integer key", "name text", "email text")
	orders := catalogtest.Table("s.orders", "id integer key", "status text", "city text")
	pay := catalogtest.Table("s.pay", "grade text")
	view := catalogtest.Table("s.contacts", "mail text")
	view.Kind = catalog.KindView
	catalogtest.Write(t, dir, "shop", catalogtest.Scan{Tables: []catalog.Table{users, orders, pay, view}})
	writeValues(t, dir, "shop", map[string][]string{
		"s.users.name": {"Ana", "secret admirer"}, "s.users.email": {"ana@example.org", "secret@example.org"},
		"s.orders.status": {"Paid", "open"}, "s.orders.city": {"Köln", "St. Gallen"}, "s.pay.grade": {"secret"}, "s.contacts.mail": {"secret@example.org"},
	})
	bills := catalogtest.Table("d.bills", "state text")
	bills.Columns[0].SampleValues = []string{"paid", "void"}
	catalogtest.Write(t, dir, "bills", catalogtest.Scan{Tables: []catalog.Table{bills}})
	return dir
}

// TestDictionarySearch calls the tool as an agent does, and compares the whole
// answer.
func TestDictionarySearch(t *testing.T) {
	t.Parallel()
	dir := shopProject(t)
	c := connectIn(t, dir, scanned("shop", sqlguard.Policy{}), scanned("bills", sqlguard.Policy{}), scanned("new", sqlguard.Policy{}))
	r := c.tool("dictionary_search", `{"values":["PAID","koln","nowhere"]}`)
	want := `{"searched":[` +
		`{"connectionId":"bills","coverage":{"sampledRows":null,"valuesPerColumn":null,"profiledColumns":1,"complete":false,"syncId":"2026-01-02-030405-r1","profiledAt":null},"status":"ready"},` +
		`{"connectionId":"new","coverage":{"sampledRows":null,"valuesPerColumn":null,"profiledColumns":0,"complete":false,"syncId":null,"profiledAt":null},"status":"no_profile_artifact","hint":"no values of it are known; run: ktx scan new"},` +
		`{"connectionId":"shop","coverage":{"sampledRows":null,"valuesPerColumn":50000,"profiledColumns":6,"complete":true,"syncId":"2026-01-02-030405-r1","profiledAt":null},"status":"ready"}],` +
		`"results":[{"value":"PAID","matches":[` +
		`{"connectionId":"shop","sourceName":"orders","tableRef":{"catalog":null,"db":"s","name":"orders"},"columnName":"status","matchedValue":"Paid","matchType":"exact","cardinality":2},` +
		`{"connectionId":"bills","sourceName":"bills","tableRef":{"catalog":null,"db":"d","name":"bills"},"columnName":"state","matchedValue":"paid","matchType":"exact","cardinality":null}],` +
		`"misses":[{"connectionId":"new","reason":"no_profile_artifact"}]},` +
		`{"value":"koln","matches":[` +
		`{"connectionId":"shop","sourceName":"orders","tableRef":{"catalog":null,"db":"s","name":"orders"},"columnName":"city","matchedValue":"Köln","matchType":"exact","cardinality":2}],` +
		`"misses":[{"connectionId":"bills","reason":"value_not_in_sample"},{"connectionId":"new","reason":"no_profile_artifact"}]},` +
		`{"value":"nowhere","matches":[],"misses":[{"connectionId":"bills","reason":"value_not_in_sample"},{"connectionId":"new","reason":"no_profile_artifact"},{"connectionId":"shop","reason":"value_not_in_sample"}]}]}`
	if d := cmp.Diff(want, r.text()); d != "" || string(r.StructuredContent) != want || r.IsError {
		t.Error(d)
	}
	validAnswer(t, "dictionary_search", r.StructuredContent)
	if r := c.tool("dictionary_search", `{"values":["paid"],"connectionId":"shp"}`); !r.IsError || !strings.HasPrefix(r.text(), "unknown_connection: ") || !strings.Contains(r.text(), "shop") {
		t.Errorf("an unknown connection: %s", r.text())
	}
	for _, arguments := range []string{`{"values":[]}`, `{"values":"paid"}`, `{}`, `{"values":[` + strings.Repeat(`"a",`, 20) + `"a"]}`} {
		if r := c.tool("dictionary_search", arguments); !r.IsError || !strings.HasPrefix(r.text(), "invalid_arguments: ") {
			t.Errorf("%s: %s", arguments, r.text())
		}
	}
	long := c.tool("dictionary_search", `{"values":["`+strings.Repeat("é ", 30_000)+`",""," \u0000"],"connectionId":"shop"}`)
	validAnswer(t, "dictionary_search", long.StructuredContent)
	if n := len(long.StructuredContent); long.IsError || n > 4096 {
		t.Errorf("a long value has an answer of %d bytes", n)
	}
}

// validAnswer checks an answer against the output schema of its tool.
func validAnswer(t *testing.T, name string, answer json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("schemas", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var tool struct{ OutputSchema json.RawMessage }
	if err := json.Unmarshal(text, &tool); err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(tool.OutputSchema)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("tool.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("tool.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(answer)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// TestDictionarySearchKeepsToTheRules: what rules deny is in no match, no count and no
// list, and a principal sees its connections only.
func TestDictionarySearchKeepsToTheRules(t *testing.T) {
	t.Parallel()
	dir := shopProject(t)
	search := func(ctx context.Context, s *research.Service, value, id string) (research.DictionarySearch, string) {
		t.Helper()
		out, err := s.DictionarySearch(ctx, research.DictionarySearchInput{Values: []string{value}, ConnectionID: id})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, m := range out.Results[0].Matches {
			text += m.SourceName + "." + m.ColumnName + " "
		}
		return out, strings.TrimSpace(text)
	}
	for _, c := range []struct {
		name    string
		policy  sqlguard.Policy
		want    string
		columns int
	}{
		{"all", sqlguard.Policy{}, "pay.grade users.name contacts.mail users.email", 6},
		{"a table", sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"s.pay"}}}, "users.name contacts.mail users.email", 5},
		{"a column", sqlguard.Policy{Columns: []sqlguard.ColumnRule{{Match: "s.users.email"}}}, "pay.grade users.name", 4},
		{"the schema", sqlguard.Policy{Schemas: sqlguard.Names{Deny: []string{"s"}}}, "", 0},
	} {
		s := serviceIn(t, dir, scanned("shop", c.policy), scanned("bills", sqlguard.Policy{}))
		out, got := search(t.Context(), s, "secret", "shop")
		if got != c.want || out.Searched[0].Coverage.ProfiledColumns != c.columns {
			t.Errorf("%s denied: %q in %d columns, want %q in %d", c.name, got, out.Searched[0].Coverage.ProfiledColumns, c.want, c.columns)
		}
	}
	s := serviceIn(t, dir, scanned("shop", sqlguard.Policy{}), scanned("bills", sqlguard.Policy{}))
	ctx := audit.WithActor(t.Context(), audit.Actor{Principal: "p", Connections: []string{"bills"}})
	out, got := search(ctx, s, "paid", "")
	if got != "bills.state" || len(out.Searched) != 1 || len(out.Results[0].Misses) != 0 {
		t.Errorf("a principal of bills gets %+v", out)
	}
	if _, err := s.DictionarySearch(ctx, research.DictionarySearchInput{Values: []string{"paid"}, ConnectionID: "shop"}); execution.CodeOf(err) != sqlguard.CodeUnknownConnection || strings.Contains(err.Error(), "shop,") {
		t.Errorf("another connection: %v", err)
	}
}

// TestDictionarySearchIsShort: an answer with many matches is about 4 KiB, each value
// has its best matches, and what is left out is counted.
func TestDictionarySearchIsShort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var tables []catalog.Table
	columns := map[string][]string{}
	for i := range 40 {
		name := fmt.Sprintf("a_rather_long_schema_name.a_rather_long_table_name_%02d", i)
		tables = append(tables, catalogtest.Table(name, "some_column text"))
		for n := range 10 {
			columns[name+".some_column"] = append(columns[name+".some_column"], fmt.Sprintf("common value %d", n))
		}
	}
	catalogtest.Write(t, dir, "wide", catalogtest.Scan{Tables: tables})
	writeValues(t, dir, "wide", columns)
	s := serviceIn(t, dir, scanned("wide", sqlguard.Policy{}))
	for _, values := range [][]string{{"common"}, {"common", "nothing", "value 3"}} {
		out, err := s.DictionarySearch(t.Context(), research.DictionarySearchInput{Values: values})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 4<<10 || len(text) < 3<<10 {
			t.Errorf("%q: %d bytes", values, len(text))
		}
		if r := out.Results[0]; len(r.Matches)+r.Omitted != 400 || len(r.Matches) < 3 {
			t.Errorf("%d matches, %d omitted", len(r.Matches), r.Omitted)
		}
	}
	out, err := s.DictionarySearch(t.Context(), research.DictionarySearchInput{Values: []string{"common"}, MaxBytes: 1 << 20})
	if err != nil || len(out.Results[0].Matches) != dictionary.MaxMatches {
		t.Errorf("a longer answer has %d matches: %v", len(out.Results[0].Matches), err)
	}
}

// TestDictionarySearchOfManyConnections: the lists of connections are cut, and those
// with a match stay.
func TestDictionarySearchOfManyConnections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var conns []execution.Connection
	for i := range 60 {
		id := fmt.Sprintf("c%02d", i)
		conns = append(conns, scanned(id, sqlguard.Policy{}))
		table := catalogtest.Table("s.t", "a text")
		table.Columns[0].SampleValues = []string{"value of " + id}
		catalogtest.Write(t, dir, id, catalogtest.Scan{Tables: []catalog.Table{table}})
	}
	out, err := serviceIn(t, dir, conns...).DictionarySearch(t.Context(), research.DictionarySearchInput{Values: []string{"c57"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Searched) != 50 || out.OmittedConnections != 10 || len(out.Results[0].Misses) != 50 || len(out.Results[0].Matches) != 1 {
		t.Errorf("%d connections are listed, %d omitted, %d misses", len(out.Searched), out.OmittedConnections, len(out.Results[0].Misses))
	}
	if last := out.Searched[49].ConnectionID; last != "c57" {
		t.Errorf("the connection with the match is not listed; the last is %s", last)
	}
}

// TestDictionarySearchWithADamagedFile: the caller is told, and the samples of the
// scan are searched.
func TestDictionarySearchWithADamagedFile(t *testing.T) {
	t.Parallel()
	dir := shopProject(t)
	if err := os.WriteFile(filepath.Join(dir, ".ktx/values/shop/2026-01-02-030405-r1/values"), []byte("noise"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := connectIn(t, dir, scanned("shop", sqlguard.Policy{})).tool("dictionary_search", `{"values":["paid"]}`)
	if r.IsError || !strings.Contains(string(r.Meta["ktx/notes"]), "run ktx scan shop") || !strings.Contains(r.text(), `"hint"`) {
		t.Errorf("%s, notes %s", r.text(), r.Meta["ktx/notes"])
	}
}
