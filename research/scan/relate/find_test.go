package relate_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const shop = "customers(id*, name text); orders(id*, customer_id)"

// TestCounts lists what becomes of a good name by what the data say.
func TestCounts(t *testing.T) {
	unique, twice := true, false
	const ends = "orders.customer_id > customers.id"
	for _, c := range []struct {
		name    string
		tables  string
		overlap relate.Overlap
		want    string
	}{
		{"all have a target", shop, share(100), "accepted"},
		{"nearly all", shop, relate.Overlap{Rows: 2000, Distinct: 1000, Found: 992, TargetRows: 10, TargetUnique: &unique}, "accepted"},
		{"dirty data", shop, share(95), "review"},
		{"few have a target", shop, share(60), "rejected"},
		{"none has a target", shop, share(0), "rejected"},
		{"one of few is missing", shop, relate.Overlap{Rows: 20, Distinct: 6, Found: 5, TargetRows: 10, TargetUnique: &unique}, "review"},
		{"no row to compare", shop, relate.Overlap{TargetRows: 10, TargetUnique: &unique}, "accepted"},
		{"only nulls", shop, relate.Overlap{Rows: 50, NullRows: 50, TargetRows: 10, TargetUnique: &unique}, "accepted"},
		{"an empty target", shop, relate.Overlap{Rows: 50, Distinct: 7, TargetUnique: &unique}, "review"},
		{"a key twice", shop, relate.Overlap{Rows: 50, Distinct: 50, Found: 50, TargetRows: 70, TargetUnique: &twice}, "review"},
		{"a key twice, and few have a target", shop, relate.Overlap{Rows: 50, Distinct: 50, Found: 5, TargetRows: 70, TargetUnique: &twice}, "rejected"},
		{"not measured", shop, relate.Overlap{Rows: 50, Distinct: 50, Found: 50, TargetRows: 70}, "accepted"},
		{"types differ", "customers(id*); orders(id*, customer_id text)", share(100), "review"},
		{"types differ, and no value is equal", "customers(id*); orders(id*, customer_id text)", share(0), "review"},
		{"counts that contradict each other", shop, relate.Overlap{Rows: -1, NullRows: 9, Distinct: 5, Found: 50, TargetRows: 1}, "accepted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &counts{answers: map[string]relate.Overlap{ends: c.overlap}}
			got := find(t, relate.Input{Tables: tables(t, c.tables)}, p)
			for name, list := range map[string][]catalog.Relationship{"accepted": got.Accepted, "review": got.Review, "rejected": got.Rejected, "skipped": got.Skipped} {
				if has := slices.Contains(arrows(list), ends); has != (name == c.want) {
					t.Errorf("want it in %s, got\n%s", c.want, lists(got))
					break
				}
				for _, r := range list {
					if r.Confidence < 0 || r.Confidence > 1 || r.Validation.Coverage != nil && *r.Validation.Coverage > 1 {
						t.Errorf("confidence %v, coverage %v", r.Confidence, *r.Validation.Coverage)
					}
				}
			}
		})
	}
}

func TestAnEmptyChildHasNoCoverage(t *testing.T) {
	p := &counts{other: relate.Overlap{TargetRows: 10}}
	got := find(t, relate.Input{Tables: tables(t, shop)}, p)
	if len(got.Accepted) != 1 || got.Accepted[0].Validation.Coverage != nil {
		t.Errorf("got\n%s", encode(t, got))
	}
}

// TestTheNextTargetIsTried shows that a refuted target makes room for a worse name.
func TestTheNextTargetIsTried(t *testing.T) {
	in := relate.Input{Tables: tables(t, "employees(id*); users(id*); notes(id*, created_by)")}
	p := &counts{answers: map[string]relate.Overlap{"notes.created_by > users.id": share(20)}, other: share(100)}
	got := find(t, in, p)
	if !equal(arrows(got.Accepted), []string{"notes.created_by > employees.id"}) || !equal(arrows(got.Rejected), []string{"notes.created_by > users.id"}) {
		t.Errorf("got\n%s", lists(got))
	}
}

// TestDeclaredKeys shows that declared keys are accepted as they are, and asked about
// never.
func TestDeclaredKeys(t *testing.T) {
	list := tables(t, "a.orders(id*, tenant); b.lines(order_no, tenant, parent); b.notes(order_id)")
	name, other, self := "lines_orders", "a", "lines_self"
	list[1].ForeignKeys = []catalog.ForeignKey{
		{FromColumn: "order_no", ToDB: &other, ToTable: "orders", ToColumn: "id", ConstraintName: &name},
		{FromColumn: "tenant", ToDB: &other, ToTable: "orders", ToColumn: "tenant", ConstraintName: &name},
		{FromColumn: "parent", ToTable: "lines", ToColumn: "order_no", ConstraintName: &self},
	}
	list[2].ForeignKeys = []catalog.ForeignKey{
		{FromColumn: "order_id", ToDB: &other, ToTable: "gone", ToColumn: "id"},
	}
	p := &counts{other: share(0)}
	got := find(t, relate.Input{ConnectionID: "c", Tables: list}, p)
	want := []string{
		"b.lines.order_no+tenant > a.orders.id+tenant",
		"b.lines.parent > b.lines.order_no",
		"b.notes.order_id > a.gone.id",
	}
	if !equal(arrows(got.Accepted), want) || len(p.asked) > 0 || got.ConnectionID != "c" {
		t.Errorf("asked %q, got\n%s", p.asked, lists(got))
	}
	for _, r := range got.Accepted {
		if r.Source != "formal" || r.Confidence != 1 {
			t.Errorf("%s: source %q, confidence %v", end(r.From), r.Source, r.Confidence)
		}
	}
}

// TestProbesAreLimited shows that the number of probes is capped, that the better names
// are asked about first, and that the rest is listed.
func TestProbesAreLimited(t *testing.T) {
	in := relate.Input{Tables: tables(t, "customers(id*); departments(id*); orders(id*, dept_id, customer_id, buyer_customer_id)"), MaxProbes: 2}
	p := &counts{other: share(100)}
	got := find(t, in, p)
	if want := []string{"orders.customer_id > customers.id", "orders.buyer_customer_id > customers.id"}; !equal(p.asked, want) {
		t.Errorf("asked %q", p.asked)
	}
	if !equal(arrows(got.Skipped), []string{"orders.dept_id > departments.id"}) {
		t.Errorf("got\n%s", lists(got))
	}
}

func TestProbesThatFail(t *testing.T) {
	in := relate.Input{Tables: tables(t, "customers(id*); products(id*); orders(id*, customer_id, product_id)")}
	p := &counts{other: share(100), errs: map[string]error{"orders.customer_id > customers.id": errors.New("password=secret")}}
	got := find(t, in, p)
	if !equal(arrows(got.Review), []string{"orders.customer_id > customers.id"}) || len(got.Accepted) != 1 {
		t.Errorf("got\n%s", lists(got))
	}
	if text := encode(t, got); len(text) == 0 || slices.Contains(got.Review[0].Evidence, "password=secret") {
		t.Errorf("the text of an error is in the evidence: %s", text)
	}

	p = &counts{other: share(100), errs: map[string]error{"orders.customer_id > customers.id": fmt.Errorf("stop: %w", relate.ErrStopped)}}
	if got = find(t, in, p); len(got.Skipped) != 2 || len(p.asked) != 1 {
		t.Errorf("asked %q, got\n%s", p.asked, lists(got))
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := relate.Find(ctx, in, p); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestUsage shows that columns that statements join are looked at, whatever their names.
func TestUsage(t *testing.T) {
	in := relate.Input{Tables: tables(t, "customers(id*); orders(id*, buyer)")}
	orders, customers := in.Tables[1].Ref(), in.Tables[0].Ref()
	pair := relate.Pair{From: catalog.EndPoint{Table: customers, Columns: []string{"id"}}, To: catalog.EndPoint{Table: orders, Columns: []string{"buyer"}}, Statements: 5}
	in.Extra = []relate.Pair{pair}
	if got := find(t, in, &counts{other: share(100)}); !equal(arrows(got.Accepted), []string{"orders.buyer > customers.id"}) {
		t.Errorf("got\n%s", lists(got))
	}
	if got := find(t, in, nil); !equal(arrows(got.Review), []string{"orders.buyer > customers.id"}) {
		t.Errorf("without data, got\n%s", lists(got))
	}
	in.Extra[0].Statements = 4
	if got := find(t, in, &counts{other: share(100)}); len(got.Accepted)+len(got.Review) > 0 {
		t.Errorf("four statements are too few, got\n%s", lists(got))
	}
}

// TestEqualInputGivesEqualBytes passes the tables in another order.
func TestEqualInputGivesEqualBytes(t *testing.T) {
	sample := relatetest.Generate(relatetest.Habits()[12], 3)
	in := relate.Input{Tables: sample.Tables, Profile: sample.Profile()}
	want := encode(t, find(t, in, &relatetest.Memory{Sample: sample}))
	in.Tables = slices.Clone(in.Tables)
	slices.Reverse(in.Tables)
	if got := encode(t, find(t, in, &relatetest.Memory{Sample: sample})); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// TestGolden shows a whole result, to be read in review.
func TestGolden(t *testing.T) {
	for _, name := range []string{"dirty", "russian"} {
		t.Run(name, func(t *testing.T) {
			habits := relatetest.Habits()
			sample := relatetest.Generate(habits[slices.IndexFunc(habits, func(h relatetest.Habit) bool { return h.Name == name })], 1)
			got := encode(t, find(t, relate.Input{ConnectionID: "demo", Tables: sample.Tables, Profile: sample.Profile()}, &relatetest.Memory{Sample: sample}))
			path := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Error(cmp.Diff(string(want), got))
			}
		})
	}
}
