package research_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// nastyName draws a name that has the word alpha, so that a search finds it, among
// characters that dialects, paths and JSON use for something.
func nastyName() *rapid.Generator[string] {
	pieces := []string{"", "alpha", "Alpha", "beta", ".", "..", `"`, `""`, "'", "`", "``", "[", "]", "]]", "{", "}", `{"name":"alpha"}`, "/", `\`, "\t", "\n", "\u00a0", " ", "-", "--", "$", "#", "%", "ß", "İ", "ø", "é", "e\u0301", "日本", "\u202e", "\u200b", "😀", "null", "*", "0"}
	return rapid.Custom(func(r *rapid.T) string {
		before, after := rapid.SampledFrom(pieces).Draw(r, "before"), rapid.SampledFrom(pieces).Draw(r, "after")
		return before + rapid.SampledFrom([]string{"alpha", "Alpha", "ALPHA", "alpha beta", "alpha.beta"}).Draw(r, "word") + after
	})
}

// TestEveryReferenceRoundTrips: entity_details takes every id and every reference of
// discover_data as the same table and the same column, for every dialect and whatever
// characters the names have.
func TestEveryReferenceRoundTrips(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ask := callerOf(t, serviceOver(t, dir, artifactOnly("w", sqlguard.Policy{})), analyst("ana", "w"))
	names := nastyName()
	upper := rapid.OneOf(rapid.Just(""), rapid.Just("alpha"), names)
	drivers := []string{"postgres", "mysql", "mariadb", "sqlserver", "sqlite", "bigquery", "snowflake", "clickhouse", "redshift", ""}
	scans := 0
	rapid.Check(t, func(r *rapid.T) {
		scans++
		scan := catalogtest.Scan{SyncID: fmt.Sprintf("s%d", scans%2), CreatedAt: fmt.Sprintf("2026-01-02T03:04:05.%06dZ", scans), Driver: rapid.SampledFrom(drivers).Draw(r, "driver")}
		schema := upper.Draw(r, "one db")
		for range rapid.IntRange(1, 5).Draw(r, "tables") {
			table := catalogtest.Table("x")
			table.Name = names.Draw(r, "table")
			db, in := rapid.OneOf(rapid.Just(schema), upper).Draw(r, "db"), rapid.OneOf(rapid.Just(""), upper).Draw(r, "catalog")
			table.DB, table.Catalog = &db, &in
			for range rapid.IntRange(1, 3).Draw(r, "columns") {
				// A column may be named as a table, and differ from another in its case only.
				table.Columns = append(table.Columns, catalog.Column{Name: rapid.OneOf(names, rapid.Just(table.Name)).Draw(r, "column")})
			}
			scan.Tables = append(scan.Tables, table)
		}
		catalogtest.Write(t, dir, "w", scan)
		found := decoded[research.DiscoverData](t, ask.must("discover_data", `{"query":"alpha","limit":50,"kinds":["table","column"]}`))
		if len(found.Refs) == 0 {
			r.Fatal("nothing is found")
		}
		for _, ref := range found.Refs {
			r.Logf("%s %s: %q is %s column %q", scan.Driver, ref.Kind, ref.ID, jsonOf(t, ref.TableRef), ref.ColumnName)
			asked := []string{jsonOf(t, ref.ID), `{"table":` + jsonOf(t, ref.TableRef) + `}`, `{"table":` + jsonOf(t, jsonOf(t, ref.TableRef)) + `}`}
			if ref.Kind == research.KindColumn {
				asked = append(asked, `{"table":`+jsonOf(t, ref.TableRef)+`,"columns":[`+jsonOf(t, ref.ColumnName)+`]}`)
			}
			for i, entity := range asked {
				text := ask.must("entity_details", `{"connectionId":"w","entities":[`+entity+`]}`)
				got := decoded[struct {
					Results []struct {
						OK       bool
						TableRef catalog.Ref
						Display  string
						Columns  []research.EntityColumn
					}
				}](t, text).Results[0]
				if !got.OK || got.TableRef != *ref.TableRef {
					r.Fatalf("%s is %s", entity, text)
				}
				if ref.Kind == research.KindTable && got.Display != ref.ID {
					r.Fatalf("%s is displayed as %q", entity, got.Display)
				}
				if ref.Kind == research.KindColumn && (i == 0 || i == 3) && (len(got.Columns) != 1 || got.Columns[0].Name != ref.ColumnName) {
					r.Fatalf("%s has the columns of %s", entity, text)
				}
			}
		}
	})
}
