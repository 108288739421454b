package research_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// discover returns the answer of discover_data for a query.
func (c *client) discover(arguments string) research.DiscoverData {
	c.t.Helper()
	r := c.tool("discover_data", arguments)
	var out research.DiscoverData
	if err := json.Unmarshal(r.StructuredContent, &out); err != nil || r.IsError {
		c.t.Fatalf("%s: %s, %v", arguments, r.text(), err)
	}
	validate(c.t, "discover_data", r.StructuredContent)
	return out
}

// ids returns the kinds and ids of what was found.
func ids(out research.DiscoverData) string {
	var list []string
	for _, r := range out.Refs {
		list = append(list, fmt.Sprintf("%s %s", r.Kind, r.ID))
	}
	return strings.Join(list, "; ")
}

func put(t *testing.T, text string, path ...string) {
	t.Helper()
	catalogtest.PutText(t, filepath.Join(path...), text)
}

func TestDiscoverData(t *testing.T) {
	dir := t.TempDir()
	warehouse(t, dir, "w")
	put(t, "---\nsummary: How refunds count.\ntags: [money]\n---\n# Refunds\n"+strings.Repeat("Filler words stand here. ", 20)+"A chargeback lowers the amount.\n", dir, "wiki", "global", "refunds.md")
	c := connectIn(t, dir, artifactOnly("w", sqlguard.Policy{}), artifactOnly("empty", sqlguard.Policy{}))
	one := func(arguments string, kind research.Kind, id string) research.DiscoverRef {
		t.Helper()
		out := c.discover(arguments)
		for _, r := range out.Refs {
			if r.Kind == kind && r.ID == id {
				return r
			}
		}
		t.Fatalf("%s: %s %s is not in %s", arguments, kind, id, ids(out))
		return research.DiscoverRef{}
	}
	text := func(s string) *string { return &s }
	orders := &catalog.Ref{DB: "public", Name: "orders"}
	for _, test := range []struct {
		name, arguments string
		want            research.DiscoverRef
	}{
		{"a table by its name", `{"query":"public.orders","connectionId":"w","kinds":["table"]}`, research.DiscoverRef{
			Kind: "table", ID: "public.orders", Score: 1, Summary: text("One row for each order."), Snippet: text("id, customer_id, net_amount, status"), MatchedOn: "name", ConnectionID: "w", TableRef: orders,
		}},
		{"a column by its name", `{"query":"net amount","connectionId":"w","kinds":["column"]}`, research.DiscoverRef{
			Kind: "column", ID: "public.orders.net_amount", Score: 1, Summary: text("Without tax"), Snippet: text("numeric(10,2)"), MatchedOn: "name", ConnectionID: "w", TableRef: orders, ColumnName: "net_amount",
		}},
		{"a column by its comment", `{"query":"tax","connectionId":"w","kinds":"column"}`, research.DiscoverRef{
			Kind: "column", ID: "public.orders.net_amount", Score: 1, Summary: text("Without tax"), Snippet: text("Without tax"), MatchedOn: "comment", ConnectionID: "w", TableRef: orders, ColumnName: "net_amount",
		}},
		{"a column by a value", `{"query":"delivered","connectionId":"w","kinds":["column"]}`, research.DiscoverRef{
			Kind: "column", ID: "public.orders.status", Score: 1, Snippet: text("text · samples: paid, delivered"), MatchedOn: "sample_value", ConnectionID: "w", TableRef: orders, ColumnName: "status",
		}},
		{"a page by its body", `{"query":"chargeback","kinds":["wiki"]}`, research.DiscoverRef{
			Kind: "wiki", ID: "refunds", Score: 1, Summary: text("How refunds count."), MatchedOn: "body",
			Snippet: text("d here. Filler words stand here. Filler words stand here. A chargeback lowers the amount."),
		}},
		{"a page by its key", `{"query":"refunds","kinds":["wiki"]}`, research.DiscoverRef{
			Kind: "wiki", ID: "refunds", Score: 1, Summary: text("How refunds count."), MatchedOn: "name",
			Snippet: text(("# Refunds " + strings.Repeat("Filler words stand here. ", 20))[:200]),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.t = t
			if diff := cmp.Diff(test.want, one(test.arguments, test.want.Kind, test.want.ID)); diff != "" {
				t.Error(diff)
			}
		})
	}
	c.t = t
	t.Run("bytes", func(t *testing.T) {
		r := c.tool("discover_data", `{"query":"net_amount","connectionId":"w","kinds":["column"],"limit":1}`)
		want := `{"refs":[{"kind":"column","id":"public.orders.net_amount","score":1,"summary":"Without tax","snippet":"numeric(10,2)","matchedOn":"name","connectionId":"w","tableRef":{"catalog":null,"db":"public","name":"orders"},"columnName":"net_amount"}]}`
		if r.text() != want {
			t.Errorf("got %s", r.text())
		}
	})
	t.Run("blank", func(t *testing.T) {
		for _, query := range []string{"", "  ", "\u0000\n", "?!"} {
			if r := c.tool("discover_data", `{"query":`+jsonText(t, query)+`}`); r.text() != `{"refs":[]}` {
				t.Errorf("%q: %s", query, r.text())
			}
		}
	})
	t.Run("kinds of a semantic layer that is not there", func(t *testing.T) {
		if r := c.tool("discover_data", `{"query":"orders","kinds":["sl_source","sl_measure","sl_dimension"]}`); r.text() != `{"refs":[]}` {
			t.Errorf("got %s", r.text())
		}
	})
	t.Run("a question that matches nothing", func(t *testing.T) {
		out := c.discover(`{"query":"wolkenbruch","connectionId":"w","kinds":["table"]}`)
		if want := "nothing has a word of the question: ask with other words, or in the language that the names are in; of tables, w has "; len(out.Refs) != 0 || len(out.Notes) != 1 ||
			!strings.HasPrefix(out.Notes[0], want) || !strings.Contains(out.Notes[0], "public.orders") {
			t.Errorf("%s, notes %q", ids(out), out.Notes)
		}
		if out = c.discover(`{"query":"wolkenbruch","connectionId":"w","kinds":["wiki"]}`); len(out.Notes) != 1 || strings.Contains(out.Notes[0], "tables") {
			t.Errorf("of pages alone: notes %q", out.Notes)
		}
	})
	t.Run("all kinds", func(t *testing.T) {
		out := c.discover(`{"query":"refunds of orders"}`)
		kinds := map[research.Kind]bool{}
		last := 1.0
		for _, r := range out.Refs {
			kinds[r.Kind] = true
			if r.Score > last || r.Score <= 0 {
				t.Errorf("score %v after %v", r.Score, last)
			}
			last = r.Score
		}
		if !kinds["wiki"] || !kinds["table"] || len(out.Refs) > 15 || out.Refs[0].Score != 1 {
			t.Errorf("got %s", ids(out))
		}
		if len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "run: ktx scan empty") {
			t.Errorf("notes %q", out.Notes)
		}
	})
	t.Run("limit", func(t *testing.T) {
		if out := c.discover(`{"query":"c0001 c0002 c0003 wide","limit":"2"}`); len(out.Refs) != 2 {
			t.Errorf("got %s", ids(out))
		}
		if r := c.tool("discover_data", `{"query":"x","limit":51}`); !r.IsError {
			t.Errorf("got %s", r.text())
		}
	})
	t.Run("without a scan", func(t *testing.T) {
		out := c.discover(`{"query":"orders","connectionId":"empty"}`)
		if len(out.Notes) != 1 || out.Notes[0] != "connection empty has no scan, so its tables are not found; ask the operator to run: ktx scan empty" {
			t.Errorf("notes %q", out.Notes)
		}
		if r := c.tool("discover_data", `{"query":"orders","connectionId":"emty"}`); !r.IsError || !strings.HasPrefix(r.text(), "unknown_connection: ") || !strings.Contains(r.text(), "empty, w") {
			t.Errorf("got %s", r.text())
		}
	})
	t.Run("a page that names a column lends it its words", func(t *testing.T) {
		if out := c.discover(`{"query":"turnover","kinds":["column"]}`); len(out.Refs) != 0 {
			t.Fatalf("before: %s", ids(out))
		}
		put(t, "---\nsummary: Turnover of the shop.\n---\nTurnover is the sum of `orders.net_amount` in `public.orders`.\n", dir, "wiki", "global", "turnover.md")
		put(t, "Turnover is not in `public.orders.net_amount`, which some ask.\n", dir, "wiki", "global", "other.md")
		one(`{"query":"turnover","kinds":["column"]}`, "column", "public.orders.net_amount")
	})
}

// TestDiscoverDataHidesWhatIsDenied asks for what access rules deny, and for what
// another principal has, in every way.
func TestDiscoverDataHidesWhatIsDenied(t *testing.T) {
	dir := t.TempDir()
	warehouse(t, dir, "w")
	catalogtest.Write(t, dir, "other", catalogtest.Scan{Tables: []catalog.Table{catalogtest.Table("public.payroll", "orders_secret integer")}})
	put(t, "The salary is in `public.payroll.orders_secret` and `public.customers`.\n", dir, "wiki", "global", "pay.md")
	policy := sqlguard.Policy{
		Schemas: sqlguard.Names{Deny: []string{"sales"}}, Tables: sqlguard.Names{Deny: []string{"public.customers"}},
		Columns: []sqlguard.ColumnRule{{Match: "public.orders.net_amount"}, {Match: "public.orders.status"}},
	}
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, artifactOnly("w", policy), artifactOnly("other", sqlguard.Policy{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	s := research.New(gateway, slog.New(slog.DiscardHandler), storesIn(t, dir))
	alone, err := execution.NewGateway(t.Context(), &audittest.Log{}, artifactOnly("w", policy))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := alone.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	without := research.New(alone, slog.New(slog.DiscardHandler), storesIn(t, dir))
	ctx := audit.WithActor(t.Context(), audit.Actor{Principal: "analyst", Connections: []string{"w"}})
	for _, query := range []string{"orders", "payroll", "orders_secret", "net_amount", "net amount without tax", "customers", "api_key", "delivered", "sales", "salary", "public.customers", "what the customer is called", "wide c0001"} {
		for _, kinds := range [][]research.Kind{nil, {research.KindTable, research.KindColumn}} {
			out, err := s.DiscoverData(ctx, research.DiscoverDataInput{Query: query, Kinds: kinds, Limit: 50})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range out.Refs {
				if r.Kind == research.KindWiki {
					continue
				}
				text := strings.ReplaceAll(jsonOf(t, r), "customer_id", "")
				for _, denied := range []string{"other", "payroll", "secret", "net_amount", "tax", "status", "paid", "delivered", "customer", "api_key", "sales"} {
					if strings.Contains(text, denied) {
						t.Errorf("%s: %s", query, text)
					}
				}
			}
			// The ranking is that of a project without the other connection.
			same, err := without.DiscoverData(t.Context(), research.DiscoverDataInput{Query: query, Kinds: kinds, Limit: 50})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(jsonOf(t, same), jsonOf(t, out)); diff != "" {
				t.Errorf("%s: another connection shows in the answer: %s", query, diff)
			}
		}
	}
	if _, err := s.DiscoverData(ctx, research.DiscoverDataInput{Query: "x", ConnectionID: "other"}); execution.CodeOf(err) != sqlguard.CodeUnknownConnection {
		t.Errorf("a connection of another principal: %v", err)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDiscoveredIDsAreEntities wants every id and reference of discover_data to be the
// same object for entity_details, whatever characters the names have.
func TestDiscoveredIDsAreEntities(t *testing.T) {
	dir := t.TempDir()
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, artifactOnly("w", sqlguard.Policy{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	s := research.New(gateway, slog.New(slog.DiscardHandler), storesIn(t, dir))
	part := rapid.SampledFrom([]string{"", "alpha", "Alpha", "ALPHA", "alpha.beta", "beta", `al"pha`, "alpha`s", "[alpha]", "alpha beta", "{alpha}", "ålpha", "alpha."})
	names := part.Filter(func(s string) bool { return s != "" })
	rapid.Check(t, func(r *rapid.T) {
		scan := catalogtest.Scan{SyncID: "s", Driver: rapid.SampledFrom([]string{"postgres", "mysql", "sqlserver", "sqlite", "bigquery"}).Draw(r, "driver")}
		for range 4 {
			table := catalogtest.Table("x")
			table.Name = names.Draw(r, "table")
			db, in := part.Draw(r, "db"), part.Draw(r, "catalog")
			table.DB, table.Catalog = &db, &in
			for range 2 {
				table.Columns = append(table.Columns, catalog.Column{Name: names.Draw(r, "column")})
			}
			scan.Tables = append(scan.Tables, table)
		}
		catalogtest.Write(t, dir, "w", scan)
		out, err := s.DiscoverData(t.Context(), research.DiscoverDataInput{Query: "alpha beta", Limit: 50})
		if err != nil {
			r.Fatal(err)
		}
		if len(out.Refs) == 0 {
			r.Fatal("nothing was found")
		}
		for _, ref := range out.Refs {
			for _, name := range []string{ref.ID, jsonOf(t, ref.TableRef)} {
				got, err := s.EntityDetails(t.Context(), research.EntityDetailsInput{ConnectionID: ref.ConnectionID, Entities: []research.EntityInput{{Table: name}}})
				if err != nil {
					r.Fatal(err)
				}
				e := got.Results[0].Entity
				if e == nil || e.TableRef != *ref.TableRef {
					r.Fatalf("%s: %s is %s", scan.Driver, name, jsonOf(t, got))
				}
				if name == ref.ID && ref.Kind == research.KindColumn && (len(e.Columns) == 0 || e.Columns[0].Name != ref.ColumnName) {
					r.Fatalf("%s: %s has the columns %+v", scan.Driver, name, e.Columns)
				}
			}
		}
	})
}

// TestSnippetsFit wants summaries and snippets of at most 200 UTF-16 units that are
// whole characters.
func TestSnippetsFit(t *testing.T) {
	dir := t.TempDir()
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, artifactOnly("w", sqlguard.Policy{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	s := research.New(gateway, slog.New(slog.DiscardHandler), storesIn(t, dir))
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("a 𝄞é\n\t漢.")), 0, 400, -1)
		filled := func(name string) string { return text.Draw(r, name) + " needle " + text.Draw(r, name) }
		table := catalogtest.Table("public.t", "c text")
		comment := filled("comment")
		table.Comment = &comment
		table.Descriptions = map[string]string{"ai": filled("description")}
		table.Columns[0].Comment = &comment
		table.Columns[0].SampleValues = []string{text.Draw(r, "value"), filled("value")}
		catalogtest.Write(t, dir, "w", catalogtest.Scan{SyncID: "s", Tables: []catalog.Table{table}})
		put(t, "---\nsummary: "+jsonText(t, filled("summary"))+"\n---\n"+filled("body"), dir, "wiki", "global", "page.md")
		out, err := s.DiscoverData(t.Context(), research.DiscoverDataInput{Query: "needle"})
		if err != nil {
			r.Fatal(err)
		}
		for _, ref := range out.Refs {
			for _, shown := range []*string{ref.Summary, ref.Snippet} {
				if shown == nil {
					r.Fatalf("%s has no text: %+v", ref.ID, ref)
				}
				if n := len(utf16.Encode([]rune(*shown))); n > 200 || strings.ToValidUTF8(*shown, "") != *shown || strings.ContainsAny(*shown, "\n\t") || strings.TrimSpace(*shown) != *shown {
					r.Fatalf("%d units: %q", n, *shown)
				}
			}
			if ref.MatchedOn != "name" && !strings.Contains(*ref.Snippet, "needle") {
				r.Fatalf("%s matched on %s: %q", ref.ID, ref.MatchedOn, *ref.Snippet)
			}
		}
	})
}

// TestDiscoverDataSeesChanges changes scans and pages while callers ask all the time.
// What was complete before a call is in its answer.
func TestDiscoverDataSeesChanges(t *testing.T) {
	dir := t.TempDir()
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, artifactOnly("w", sqlguard.Policy{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	s := research.New(gateway, slog.New(slog.DiscardHandler), storesIn(t, dir))
	write := func(n int) {
		scan := catalogtest.Scan{SyncID: fmt.Sprintf("s%d", n)}
		for i := range 5 {
			scan.Tables = append(scan.Tables, catalogtest.Table(fmt.Sprintf("public.needle_g%d_%s", n, string(rune('a'+i)))))
		}
		catalogtest.Write(t, dir, "w", scan)
		put(t, fmt.Sprintf("---\nsummary: generation %d\n---\nneedle\n", n), dir, "wiki", "global", "page.md")
	}
	write(0)
	var latest atomic.Int64
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				least := int(latest.Load())
				out, err := s.DiscoverData(t.Context(), research.DiscoverDataInput{Query: "needle"})
				if err != nil {
					t.Error(err)
					return
				}
				generations := map[int]int{}
				for _, ref := range out.Refs {
					n := -1
					if ref.Kind == research.KindWiki {
						_, err = fmt.Sscanf(*ref.Summary, "generation %d", &n)
					} else {
						_, err = fmt.Sscanf(ref.ID, "public.needle_g%d_", &n)
						generations[n]++
					}
					if err != nil || n < least {
						t.Errorf("after generation %d: %s", least, ids(out))
						return
					}
				}
				if len(generations) != 1 || len(out.Refs) != 6 {
					t.Errorf("a torn answer: %s", ids(out))
					return
				}
			}
		})
	}
	for n := 1; n <= 10; n++ {
		write(n)
		latest.Store(int64(n))
	}
	close(stop)
	readers.Wait()
	if err := os.RemoveAll(catalogtest.Folder(dir, "w")); err != nil {
		t.Fatal(err)
	}
	out, err := s.DiscoverData(t.Context(), research.DiscoverDataInput{Query: "needle"})
	if err != nil || len(out.Refs) != 1 || len(out.Notes) != 1 {
		t.Errorf("after the scans were deleted: %s, %v", ids(out), err)
	}
}
