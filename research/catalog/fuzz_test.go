package catalog_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/catalog"
)

// FuzzDecodeScan wants a scan or an error for every body of a cache, and equal bytes
// when a scan is written again.
func FuzzDecodeScan(f *testing.F) {
	name, rows := "n", int64(3)
	body := catalog.CacheBody(&catalog.Table{
		DB: &name, Name: "t", Kind: catalog.KindView, Comment: &name, EstimatedRows: &rows, Descriptions: map[string]string{"a": "b"},
		Columns:     []catalog.Column{{Name: "c", SampleValues: []string{"v"}, Generated: "stored", EnumValues: []string{"", "e"}, Stats: &catalog.Stats{Rows: 5, MinLength: -1}}},
		ForeignKeys: []catalog.ForeignKey{{FromColumn: "c", ToTable: "t", ToColumn: "c", ConstraintName: &name}},
	})
	if again, err := catalog.Recode(body); err != nil || again != body {
		f.Fatalf("%q is written as %q: %v", body, again, err)
	}
	for n := 0; n < len(body); n += 7 {
		f.Add(body[:n])
	}
	f.Add(body)
	f.Add(body + "\x00")
	f.Add(strings.Replace(body, "t", "\xff", 1))
	f.Fuzz(func(t *testing.T, body string) {
		once, err := catalog.Recode(body)
		if err != nil {
			return
		}
		if twice, err := catalog.Recode(once); err != nil || twice != once {
			t.Errorf("%q is written as %q and then %q: %v", body, once, twice, err)
		}
	})
}

// FuzzReadTable wants a table within the limits or an error for every file.
func FuzzReadTable(f *testing.F) {
	f.Add([]byte(`{"name":"t","db":"s","kind":"view","estimatedRows":1e3,"columns":[{"name":"c","sampleValues":[1,null,"x"]}],"foreignKeys":[{"fromColumn":"c"}]}`))
	f.Add([]byte(`{"name":"t","descriptions":{"a":"b"},"columns":null}`))
	f.Add([]byte(`{"name":"t","columns":[{"name":"c","generated":7,"enumValues":["a",""]},{"name":"d","generated":"stored","enumValues":[1]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := catalog.ReadTable(text)
		if err != nil {
			return
		}
		if table.Name == "" || table.Kind == "" || table.Columns == nil || table.EstimatedRows != nil && *table.EstimatedRows < 0 {
			t.Errorf("%q is %+v", text, table)
		}
		for _, c := range table.Columns {
			if c.Name == "" || c.DimensionType == "" || len(c.SampleValues) > catalog.MaxSamples {
				t.Errorf("%q has the column %+v", text, c)
			}
		}
	})
}

// FuzzReadProfile wants an end for every profile.
func FuzzReadProfile(f *testing.F) {
	f.Add([]byte(`{"profiledAt":"x","columns":{"a.b.c":{"table":{"db":"a","name":"b"},"column":"c","rowCount":1e400},"d.e":{}},"more":[{}]}`))
	f.Add([]byte(`{"columns":{"a":{"minTextLength":-1,"sampleValues":[[]]}}}{}`))
	f.Fuzz(func(_ *testing.T, text []byte) { catalog.ReadProfile(text) })
}
