package relate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate"
)

// tables reads "orders(id*, customer_id, note text)". A star marks the primary key,
// and a column without a type is an integer. The schema may precede the name.
func tables(tb testing.TB, text string) []*catalog.Table {
	tb.Helper()
	var list []*catalog.Table
	for part := range strings.SplitSeq(text, ";") {
		name, columns, ok := strings.Cut(strings.TrimSpace(part), "(")
		if !ok {
			tb.Fatalf("%q is no table", part)
		}
		schema := "main"
		if before, after, ok := strings.Cut(name, "."); ok {
			schema, name = before, after
		}
		table := &catalog.Table{DB: &schema, Name: name, Kind: catalog.KindTable}
		for column := range strings.SplitSeq(strings.TrimSuffix(columns, ")"), ",") {
			column, kind, ok := strings.Cut(strings.TrimSpace(column), " ")
			if !ok {
				kind = "integer"
			}
			plain := strings.TrimSuffix(column, "*")
			table.Columns = append(table.Columns, catalog.Column{Name: plain, NativeType: kind, PrimaryKey: plain != column})
		}
		list = append(list, table)
	}
	return list
}

// arrows returns the relationships as "orders.customer_id > customers.id".
func arrows(list []catalog.Relationship) []string {
	texts := []string{}
	for _, r := range list {
		texts = append(texts, end(r.From)+" > "+end(r.To))
	}
	return texts
}

func end(e catalog.EndPoint) string {
	name := e.Table.Name
	if e.Table.DB != "main" {
		name = e.Table.DB + "." + name
	}
	return name + "." + strings.Join(e.Columns, "+")
}

func find(tb testing.TB, in relate.Input, p relate.Prober) catalog.Relationships {
	tb.Helper()
	got, err := relate.Find(tb.Context(), in, p)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// counts is a Prober with an answer for each pair of ends, and one for all others.
type counts struct {
	answers map[string]relate.Overlap
	errs    map[string]error
	other   relate.Overlap
	asked   []string
}

func (c *counts) Overlap(_ context.Context, from, to catalog.EndPoint) (relate.Overlap, error) {
	key := end(from) + " > " + end(to)
	c.asked = append(c.asked, key)
	if err := c.errs[key]; err != nil {
		return relate.Overlap{}, err
	}
	if o, ok := c.answers[key]; ok {
		return o, nil
	}
	return c.other, nil
}

// share returns the counts of a sample of 100 different keys, of which so many have a
// target.
func share(found int64) relate.Overlap {
	unique := true
	return relate.Overlap{Rows: 500, Distinct: 100, Found: found, TargetRows: 1000, TargetUnique: &unique}
}

func encode(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		tb.Fatal(err)
	}
	return string(b) + "\n"
}

// lists returns the four lists with their names, for messages.
func lists(r catalog.Relationships) string {
	return fmt.Sprintf("accepted %q\nreview %q\nrejected %q\nskipped %q", arrows(r.Accepted), arrows(r.Review), arrows(r.Rejected), arrows(r.Skipped))
}

func equal(a, b []string) bool { return slices.Equal(a, b) }
