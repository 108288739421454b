package research_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki"
	"github.com/ktxhq/ktx/research/wiki/wordnet"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestMatchedOnIsTrue: the field that matchedOn names holds a word of the question. Of
// a table, body is the names of its columns, a page that names it, or a table that a
// key connects with it; of a column, it is such a page. A page may have a related word.
func TestMatchedOnIsTrue(t *testing.T) {
	dir := t.TempDir()
	demoScan(t, dir, "demo")
	warehouse(t, dir, "w")
	put(t, "---\nsummary: Churn is the share of customers who left.\ntags: [retention]\n---\n# Losing people\nA person with `customers.joined_at` before last year and no invoice has churned. `products.stock` is the inventory.\n", dir, "wiki", "global", "churn.md")
	stores := storesIn(t, dir)
	pages, err := stores.Wiki.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][]*catalog.Table{}
	for _, id := range []string{"demo", "w"} {
		found, err := stores.Catalog.Snapshot(t.Context(), id, catalogtest.All{})
		if err != nil {
			t.Fatal(err)
		}
		tables[id] = found.Tables()
	}
	s := usedService(t, dir, false, &lockedBuffer{}, artifactOnly("demo", sqlguard.Policy{}), artifactOnly("w", sqlguard.Policy{}))
	seen := map[string]int{}
	for _, query := range []string{
		"orders", "customer", "city", "joined", "churn rate", "churned people", "retention", "inventory", "delivered", "kitchen", "revenue", "qty", "without tax", "api key", "each order", "w", "public", "wide c0007",
		"product categories", "invoice", "losing", "which customers left", "country", "odd name", "main", "row",
	} {
		for _, kinds := range [][]research.Kind{nil, {research.KindTable}, {research.KindColumn}, {research.KindTable, research.KindColumn}} {
			out, err := s.DiscoverData(t.Context(), research.DiscoverDataInput{Query: query, Kinds: kinds, Limit: 50})
			if err != nil {
				t.Fatal(err)
			}
			q := stores.Analyzer.Query(query)
			for _, r := range out.Refs {
				seen[string(r.Kind)+" "+r.MatchedOn]++
				texts, lent := fieldOf(t, r, tables[r.ConnectionID], pages, stores.Wiki)
				related := r.Kind == research.KindWiki && holds(stores.Analyzer.Query(relatives(query)), texts)
				if !holds(q, texts) && !holds(q, lent) && !related {
					t.Errorf("%q: %s %s matched on %s, which is %q %q", query, r.Kind, r.ID, r.MatchedOn, texts, lent)
				}
			}
		}
	}
	for _, want := range []string{"wiki name", "wiki description", "wiki body", "wiki display", "table name", "table body", "table description", "table display", "table sample_value", "column name", "column comment", "column display", "column sample_value", "column body"} {
		if seen[want] == 0 {
			t.Errorf("no query of the test has %s: %v", want, seen)
		}
	}
}

// relatives are the words that are related to those of a question.
func relatives(query string) string {
	var out []string
	for word := range strings.FieldsSeq(query) {
		for _, r := range wordnet.Related(word) {
			out = append(out, r.Word)
		}
	}
	return strings.Join(out, " ")
}

func holds(q *rank.Query, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		_, _, ok := q.Find(text)
		return ok
	})
}

// fieldOf returns the texts of the field that matchedOn names, and those of what lends
// its words to body.
func fieldOf(t *testing.T, r research.DiscoverRef, tables []*catalog.Table, pages *wiki.Snapshot, store *wiki.Store) (texts, lent []string) {
	t.Helper()
	if r.Kind == research.KindWiki {
		p, err := store.Read(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		return map[string][]string{"name": {p.Key, p.Title}, "description": {p.Summary}, "display": p.Tags, "body": {p.Body}}[r.MatchedOn], nil
	}
	at := slices.IndexFunc(tables, func(table *catalog.Table) bool { return table.Ref() == *r.TableRef })
	table := tables[at]
	var columns, samples []string
	for _, c := range table.Columns {
		columns = append(columns, c.Name)
		if r.ColumnName == "" || r.ColumnName == c.Name {
			samples = append(samples, c.SampleValues...)
		}
	}
	described, comment := table.Descriptions, table.Comment
	switch {
	case r.MatchedOn == "sample_value":
		return samples, nil
	case r.MatchedOn == "display" && r.ColumnName != "":
		return []string{table.Name}, nil
	case r.MatchedOn == "display":
		return []string{r.ConnectionID, "Shop " + r.ConnectionID, r.TableRef.Catalog, r.TableRef.DB}, nil
	case r.MatchedOn == "name" && r.ColumnName != "":
		return []string{r.ColumnName}, nil
	case r.MatchedOn == "name":
		return []string{table.Name}, nil
	case r.ColumnName != "":
		c := table.Column(r.ColumnName)
		described, comment = c.Descriptions, c.Comment
		columns = nil
	}
	switch r.MatchedOn {
	case "description":
		return []string{catalog.Describe(described, nil)}, nil
	case "comment":
		return []string{*comment}, nil
	case "body":
	default:
		t.Fatalf("matchedOn is %q", r.MatchedOn)
	}
	name := table.Name
	if r.ColumnName != "" {
		name += "." + r.ColumnName
	}
	for _, m := range pages.Mentions() {
		if strings.HasSuffix(m.Identifier, name) {
			lent = append(lent, m.Text)
		}
	}
	if r.ColumnName != "" {
		return nil, lent
	}
	for _, other := range tables {
		joined := slices.ContainsFunc(other.ForeignKeys, func(k catalog.ForeignKey) bool { return k.ToTable == table.Name }) ||
			slices.ContainsFunc(table.ForeignKeys, func(k catalog.ForeignKey) bool { return k.ToTable == other.Name })
		if !joined {
			continue
		}
		lent = append(lent, other.Name, catalog.Describe(other.Descriptions, other.Comment))
		for _, c := range other.Columns {
			lent = append(append(lent, c.Name, catalog.Describe(c.Descriptions, c.Comment)), c.SampleValues...)
		}
	}
	return columns, lent
}
