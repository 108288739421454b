package mysqldb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

// ownEngines are the storage engines that keep the rows of a table in the database itself.
// Tables of all other engines are foreign: their rows come from files, other servers or
// programs.
var ownEngines = []string{"innodb", "myisam", "aria", "memory", "heap", "archive", "blackhole", "csv", "rocksdb", "tokudb", "columnstore", "ndbcluster", "ndb", "mroonga"}

// mergedEngine shows the rows of other tables, which information_schema does not name.
const mergedEngine = "mrg_myisam"

// objectsOf makes the objects of a catalogue from the answers to relationsSQL, columnsSQL,
// viewsSQL, routinesSQL and parametersSQL.
func objectsOf(relations, columns, views, routines, parameters [][]string) (*sqlguard.Objects, error) {
	out := &sqlguard.Objects{
		Functions: []sqlguard.CatalogFunction{}, Operators: []sqlguard.CatalogOperator{}, Casts: []sqlguard.CatalogCast{},
		Types: []sqlguard.CatalogType{}, Relations: []sqlguard.CatalogRelation{},
	}
	at := make(map[sqlguard.CatalogName]int, len(relations))
	for _, row := range relations {
		n := sqlguard.CatalogName{Schema: row[0], Name: row[1]}
		kind, err := kindOfRelation(row[relationType], row[relationEngine])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		at[n] = len(out.Relations)
		out.Relations = append(out.Relations, sqlguard.CatalogRelation{CatalogName: n, Kind: kind, Columns: []sqlguard.CatalogColumn{}})
	}
	for _, row := range columns {
		if i, ok := at[sqlguard.CatalogName{Schema: row[0], Name: row[1]}]; ok {
			r := &out.Relations[i]
			r.Columns = append(r.Columns, sqlguard.CatalogColumn{Name: row[2], Type: typeNamed(row[3])})
		}
	}
	for _, row := range views {
		if i, ok := at[sqlguard.CatalogName{Schema: row[0], Name: row[1]}]; ok {
			out.Relations[i].Definition = row[2]
		}
	}
	type signature struct{ arguments, results []sqlguard.CatalogName }
	signatures := map[[3]string]*signature{}
	for _, row := range parameters {
		key := [3]string{row[0], row[1], row[2]}
		if signatures[key] == nil {
			signatures[key] = &signature{arguments: []sqlguard.CatalogName{}}
		}
		if row[3] == "0" {
			signatures[key].results = append(signatures[key].results, typeNamed(row[4]))
		} else {
			signatures[key].arguments = append(signatures[key].arguments, typeNamed(row[4]))
		}
	}
	for _, row := range routines {
		f := sqlguard.CatalogFunction{
			// The servers ignore the case of these names.
			CatalogName: sqlguard.CatalogName{Schema: row[0], Name: strings.ToLower(row[1])},
			Kind:        sqlguard.FunctionPlain, Volatility: sqlguard.VolatilityStable, Arguments: []sqlguard.CatalogName{},
			Language: strings.ToLower(row[3]), Body: row[4], SecurityDefiner: row[6] != "INVOKER",
		}
		switch row[2] {
		case "FUNCTION":
		case "PROCEDURE":
			f.Kind, f.Body = sqlguard.FunctionProcedure, ""
		default:
			continue // a package: no statement that passes calls it
		}
		if row[5] == "MODIFIES SQL DATA" {
			f.Volatility = sqlguard.VolatilityVolatile
		}
		if !plainMode(row[7]) {
			f.Body = ""
		}
		if s := signatures[[3]string{row[0], row[1], row[2]}]; s != nil {
			f.Arguments, f.Results = s.arguments, s.results
		}
		out.Functions = append(out.Functions, f)
	}
	return out, nil
}

// plainMode reports whether a routine's sql_mode reads its body as the guard does. A
// routine keeps the mode in which it was made.
func plainMode(mode string) bool {
	return !slices.ContainsFunc(modes(mode), func(m string) bool {
		switch m {
		case "ANSI", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "PIPES_AS_CONCAT", "IGNORE_SPACE", "ORACLE", "MSSQL", "DB2", "POSTGRESQL", "MAXDB":
			return true
		default:
			return false
		}
	})
}

// typeNamed names a type of the server's own, in the schema in which the guard looks for
// these.
func typeNamed(name string) sqlguard.CatalogName {
	return sqlguard.CatalogName{Schema: "mysql", Name: strings.ToLower(name)}
}

// kindOfRelation returns the kind of a relation.
func kindOfRelation(kind, engine string) (sqlguard.RelationKind, error) {
	switch kind {
	case "VIEW", "SYSTEM VIEW":
		return sqlguard.RelationView, nil
	case "SEQUENCE":
		return sqlguard.RelationSequence, nil
	case "BASE TABLE", "SYSTEM VERSIONED", "TEMPORARY", "TEMPORARY SEQUENCE", "LOCAL TEMPORARY":
	default:
		return "", fmt.Errorf("it is of the kind %q", kind)
	}
	switch engine = strings.ToLower(engine); {
	case engine == mergedEngine:
		return sqlguard.RelationMerged, nil
	case slices.Contains(ownEngines, engine):
		return sqlguard.RelationTable, nil
	default: // also a table whose engine is not loaded
		return sqlguard.RelationForeign, nil
	}
}

// derivedOf returns the generated columns among columns, which are sorted by table, with
// the columns whose names stand in their expressions.
func derivedOf(columns [][]string) []sqlguard.DerivedColumn {
	var out []sqlguard.DerivedColumn
	for start := 0; start < len(columns); {
		end := start + 1
		for end < len(columns) && columns[end][0] == columns[start][0] && columns[end][1] == columns[start][1] {
			end++
		}
		for _, row := range columns[start:end] {
			if row[4] == "" {
				continue
			}
			d := sqlguard.DerivedColumn{Table: sqlguard.CatalogName{Schema: row[0], Name: row[1]}, Column: row[2]}
			for _, other := range columns[start:end] {
				if other[2] != row[2] && sqlguard.MentionsName(row[4], other[2]) {
					d.From = append(d.From, other[2])
				}
			}
			if d.From != nil {
				out = append(out, d)
			}
		}
		start = end
	}
	return out
}

// textsOf returns the rows of a result as strings; NULL is "".
func textsOf(res *execution.Result) ([][]string, error) {
	if res.Truncated {
		return nil, execution.NewError(sqlguard.CodeDatabaseError, "the catalogue of the database is too large: "+res.Note, nil)
	}
	return rowset.Texts(res.Rows), nil
}
