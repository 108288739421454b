package main

import (
	"regexp"
	"slices"

	"github.com/goccy/go-googlesql"
)

// tables are the tables of the catalogue: name, and columns with their types.
var tables = []struct {
	name    string
	columns [][2]string
}{
	{"users", [][2]string{
		{"id", "INT64"}, {"name", "STRING"}, {"email", "STRING"}, {"born", "DATE"}, {"tags", "ARRAY<STRING>"},
		{"address", "STRUCT<street STRING, email STRING, parts ARRAY<STRUCT<name STRING, email STRING>>>"}, {"data", "JSON"},
	}},
	{"orders", [][2]string{
		{"id", "INT64"}, {"user_id", "INT64"}, {"amount", "NUMERIC"}, {"day", "DATE"}, {"note", "STRING"}, {"items", "ARRAY<STRUCT<name STRING, price FLOAT64>>"},
	}},
	{"people", [][2]string{{"id", "INT64"}, {"name", "STRING"}, {"email", "STRING"}}},
}

// analyzer says which columns a query reads.
type analyzer struct {
	options *googlesql.AnalyzerOptions
	catalog *googlesql.SimpleCatalog
	types   *googlesql.TypeFactory
	keep    []any // what the catalogue points to
}

func newAnalyzer() (*analyzer, error) {
	types, err := googlesql.NewTypeFactory()
	if err != nil {
		return nil, err
	}
	catalog, err := googlesql.NewSimpleCatalog("catalog", types)
	if err != nil {
		return nil, err
	}
	language, err := newLanguage()
	if err != nil {
		return nil, err
	}
	if err := catalog.AddBuiltinFunctionsAndTypes(&googlesql.BuiltinFunctionOptions{LanguageOptions: language}); err != nil {
		return nil, err
	}
	if language, err = newLanguage(); err != nil {
		return nil, err
	}
	options, err := googlesql.NewAnalyzerOptions(language)
	if err != nil {
		return nil, err
	}
	if err := options.SetPruneUnusedColumns(true); err != nil {
		return nil, err
	}
	a := &analyzer{options: options, catalog: catalog, types: types}
	for i, t := range tables {
		table, err := googlesql.NewSimpleTable(t.name, int64(i))
		if err != nil {
			return nil, err
		}
		for _, c := range t.columns {
			typ, err := googlesql.AnalyzeType(c[1], options, catalog, types)
			if err != nil {
				return nil, err
			}
			column, err := googlesql.NewSimpleColumn(t.name, c[0], typ, false, true)
			if err != nil {
				return nil, err
			}
			if err := table.AddColumn2(column, false); err != nil {
				return nil, err
			}
			a.keep = append(a.keep, typ, column)
		}
		if err := catalog.AddTable(table); err != nil {
			return nil, err
		}
		a.keep = append(a.keep, table)
	}
	return a, nil
}

// scanned is a scan of a table in the analyzer's own spelling of a query.
var (
	scanned = regexp.MustCompile(`TableScan\(column_list=\[?([^\n]*?)\]?, table=(\w+)`)
	column  = regexp.MustCompile(`(\w+)#\d+`)
)

func (x *analyzer) analyze(text string) answer {
	output, err := googlesql.AnalyzeStatement(text, x.options, x.catalog, x.types)
	if err != nil {
		return answer{Error: err.Error()}
	}
	statement, err := output.ResolvedStatement()
	if err != nil {
		return answer{Error: err.Error()}
	}
	kind, err := statement.NodeKindString()
	if err != nil {
		return answer{Error: err.Error()}
	}
	spelling, err := statement.DebugString()
	if err != nil {
		return answer{Error: err.Error()}
	}
	a := answer{Statements: []string{kind}}
	for _, scan := range scanned.FindAllStringSubmatch(spelling, -1) {
		for _, c := range column.FindAllStringSubmatch(scan[1], -1) {
			if name := scan[2] + "." + c[1]; !slices.Contains(a.Columns, name) {
				a.Columns = append(a.Columns, name)
			}
		}
	}
	return a
}
