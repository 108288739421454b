package duckdb

import (
	"path"
	"strings"

	"github.com/sqlc-dev/darkwing/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// Files knows the files of a folder that statements may name. It must be comparable.
type Files interface {
	// Tables returns the tables that a path reads: the one that a file is, or is a part of,
	// or those of all files that a pattern stands for. path is as a statement has it. There
	// are none unless path is canonical, lies below the folder and names nothing but files
	// that may be read, and no table has the name path.
	Tables(path string) []sqlguard.CatalogName
}

// readers are the table functions that read files.
var readers = lexical.Set("read_csv read_csv_auto read_parquet parquet_scan read_json read_json_auto read_ndjson read_ndjson_auto")

// readerOptions are the named arguments of readers that say how a file is read. Others
// write tables, show paths, or take keys.
var readerOptions = lexical.Set(`all_varchar allow_quoted_nulls auto_detect binary_as_string columns comment compression convert_strings_to_integers date_format dateformat decimal_separator
	delim delimiter dtypes encoding escape field_appearance_threshold file_row_number format header hive_partitioning hive_types hive_types_autocast ignore_errors
	map_inference_threshold max_line_size maximum_depth maximum_sample_files names new_line normalize_names null_padding nullstr quote records sample_size sep skip
	strict_mode thousands timestamp_format timestampformat types union_by_name`)

// refusedFile is the ruling on a file that may not be read.
func (w *walker) refusedFile() sqlguard.Ruling {
	r := sqlguard.Ruling{Code: sqlguard.CodeFunctionFileAccess, Reason: "a text in FROM is the name of a file"}
	if w.files != nil {
		r.Reason = "it is no file that may be read here; write the path of one file below the connection's folder, without .. and addresses, a pattern such as raw/*.csv for a folder in which it stands for nothing but such files, or the name of a table"
	}
	return r
}

// file returns the relation that a file is, as the table that it belongs to, so that rules
// on tables hold for it. The further tables of a pattern are added to the statement. All
// columns count as read, because how a file is read can rename them.
func (w *walker) file(path, alias string) sqlguard.Relation {
	r := sqlguard.Relation{Name: path, Alias: alias, Access: sqlguard.AccessRead, Span: w.at, Ruling: w.refusedFile()}
	if w.files == nil {
		return r
	}
	for i, table := range w.files.Tables(path) {
		if i > 0 {
			w.stmt.Relations = append(w.stmt.Relations, r)
		}
		r.Schema, r.Name, r.Ruling = table.Schema, table.Name, sqlguard.Ruling{Allowed: true}
	}
	if r.Ruling.Allowed {
		w.column(sqlguard.ColumnRef{Star: true})
	}
	return r
}

// fileName returns the name of the file that DuckDB reads when there is no relation of a
// name: its parts, joined by dots. A name that could not be one of a file is none.
func fileName(catalog, schema, name string) (file string, ok bool) {
	file = name
	for _, part := range []string{schema, catalog} {
		if part != "" {
			file = part + "." + file
		}
	}
	if strings.ContainsAny(file, `/\:*?[`) {
		return file, true
	}
	return file, fileEnds[strings.TrimPrefix(path.Ext(lexical.Lower(file)), ".")]
}

// fileEnds are the ends of names that DuckDB takes for files.
var fileEnds = lexical.Set("csv tsv txt json jsonl ndjson geojson parquet gz zst db duckdb ddb arrow arrows avro xlsx shp gpkg fgb")

// reader states what a function reads that reads files. It returns false for other
// functions, and where no file may be read.
func (w *walker) reader(n *ast.TableFunctionRef, f *ast.FunctionExpression) bool {
	name := lexical.Lower(f.FunctionName)
	if w.files == nil || !readers[name] || f.Catalog != "" || f.Schema != "" || len(f.Qualification) > 0 {
		return false
	}
	w.functionName("", "", f.FunctionName, nil)
	given := 0
	for _, a := range f.Arguments {
		switch option := optionOf(a); {
		case option == "":
			if given++; given > 1 {
				w.effect(sqlguard.Finding{Code: sqlguard.CodeFunctionFileAccess, Object: name, Span: w.at, Message: name + " has two lists of files; write one text, or one list of texts"})
			}
			w.filesOf(a.Expr, n.Alias, name)
		case !readerOptions[option]:
			w.effect(sqlguard.Finding{
				Code: sqlguard.CodeFunctionFileAccess, Object: name, Span: w.at,
				Message: "the option " + option + " of " + name + " is not on the list of those that say how a file is read; leave it out",
			})
		}
	}
	if given == 0 {
		w.effect(sqlguard.Finding{Code: sqlguard.CodeFunctionFileAccess, Object: name, Span: w.at, Message: name + " names no file; write the path of one as a text"})
	}
	w.arguments(f)
	return true
}

// optionOf returns the name of a named argument, which a comparison is too, or "".
func optionOf(a ast.FunctionArgument) string {
	if a.Name != "" {
		return lexical.Lower(a.Name)
	}
	if c, ok := a.Expr.(*ast.ComparisonExpression); ok && c.Type == ast.CompareEqual {
		if column, ok := c.Left.(*ast.ColumnRefExpression); ok && len(column.ColumnNames) == 1 {
			return lexical.Lower(column.ColumnNames[0])
		}
	}
	return ""
}

// filesOf states the files that the argument of a reader names: a text, or a list of texts.
func (w *walker) filesOf(e ast.Expr, alias, function string) {
	texts := []ast.Expr{e}
	if list, ok := e.(*ast.FunctionExpression); ok && list.FunctionName == "list_value" && list.Schema == "" {
		texts = nil
		for _, a := range list.Arguments {
			texts = append(texts, a.Expr)
		}
	}
	for _, text := range texts {
		c, ok := text.(*ast.ConstantExpression)
		if !ok || c.Literal.Kind != ast.LiteralString {
			w.effect(sqlguard.Finding{
				Code: sqlguard.CodeFunctionFileAccess, Object: function, Span: w.at,
				Message: function + " names a file that the guard cannot see; write its path as a text, or a list of texts",
			})
			return
		}
		w.stmt.Relations = append(w.stmt.Relations, w.file(c.Literal.Text, alias))
	}
	if len(texts) == 0 {
		w.effect(sqlguard.Finding{Code: sqlguard.CodeFunctionFileAccess, Object: function, Span: w.at, Message: function + " names no file; write the path of one as a text"})
	}
}
