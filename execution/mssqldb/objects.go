package mssqldb

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// The queries about the objects of the database. sys.objects and sys.columns show a user
// only what it has a permission on, and sql_modules has no text without VIEW DEFINITION.
const (
	// computedSQL returns each computed column with each column of its table.
	computedSQL = `SELECT s.name AS schemaname, o.name AS tablename, k.name AS computed, k.definition AS definition, c.name AS columnname
FROM sys.computed_columns AS k JOIN sys.objects AS o ON o.object_id = k.object_id JOIN sys.schemas AS s ON s.schema_id = o.schema_id
JOIN sys.columns AS c ON c.object_id = k.object_id
ORDER BY schemaname, tablename, computed, columnname`

	// foldsSQL compares two literals, which have the collation of the database.
	foldsSQL = `SELECT CASE WHEN N'a' = N'A' THEN 1 ELSE 0 END AS folds`

	relationsSQL = `SELECT s.name AS schemaname, o.name AS objectname, o.type AS kind, o.object_id AS id, n.base_object_name AS target
FROM sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id LEFT JOIN sys.synonyms AS n ON n.object_id = o.object_id
WHERE o.is_ms_shipped = 0 AND o.type IN ('U', 'V', 'SN', 'SO', 'ET', 'FN', 'IF', 'TF', 'FS', 'FT', 'AF')
ORDER BY schemaname, objectname`

	columnsSQL = `SELECT c.object_id AS id, c.name AS columnname, c.column_id AS position FROM sys.columns AS c JOIN sys.objects AS o ON o.object_id = c.object_id
WHERE o.is_ms_shipped = 0 ORDER BY id, position`

	modulesSQL = `SELECT m.object_id AS id, m.definition AS definition, m.uses_quoted_identifier AS quoted, ISNULL(m.execute_as_principal_id, 0) AS runas
FROM sys.sql_modules AS m JOIN sys.objects AS o ON o.object_id = m.object_id WHERE o.is_ms_shipped = 0 ORDER BY id`
)

// catalogLimits bound each query about the objects of the database. A longer answer is an
// error, because a partial catalogue must not be used.
var catalogLimits = execution.Limits{
	Rows: 2_000_000, Bytes: 512 << 20, CellBytes: 16 << 20, Columns: 32,
	Timeout: time.Minute, LockTimeout: 5 * time.Second,
}

// catalogTries is how often the backend reads a catalogue that changes all the time,
// before it gives up.
const catalogTries = 5

// catalogMemo is the last catalogue, and a hash of the answers that it was made from.
type catalogMemo struct {
	mu      sync.Mutex
	made    [sha256.Size]byte
	catalog *sqlguard.Catalog
}

// describe adds what the server tells about the objects of the database to a catalogue,
// or returns the last catalogue when nothing changed. It asks until two rounds of answers
// are equal, because the server answers each question at another time.
func (d *DB) describe(ctx context.Context, c *sqlguard.Catalog, objects bool, memo *catalogMemo) (*sqlguard.Catalog, error) {
	questions := []string{computedSQL}
	if objects {
		questions = append(questions, foldsSQL, relationsSQL, columnsSQL, modulesSQL)
	}
	var before [sha256.Size]byte
	for n := range catalogTries {
		h := sha256.New()
		_, _ = fmt.Fprintf(h, "%q %q %q\n", c.Version, c.Database, c.SearchPath)
		var answers [][][]string
		for _, question := range questions {
			rows, err := d.askAll(ctx, question)
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				_, _ = fmt.Fprintf(h, "%q\n", row)
			}
			_, _ = fmt.Fprintln(h)
			answers = append(answers, rows)
		}
		made := [sha256.Size]byte(h.Sum(nil))
		memo.mu.Lock()
		last, known := memo.catalog, memo.catalog != nil && memo.made == made
		memo.mu.Unlock()
		switch {
		case known:
			return last, nil
		case objects && (n == 0 || made != before):
			before = made
			continue
		}
		c.Derived = derivedOf(answers[0])
		if objects {
			c.Objects = objectsOf(answers[2], answers[3], answers[4], c.Database)
			c.Objects.FoldsNames = len(answers[1]) == 1 && answers[1][0][0] == "1"
		}
		memo.mu.Lock()
		memo.made, memo.catalog = made, c
		memo.mu.Unlock()
		return c, nil
	}
	e := execution.NewError(sqlguard.CodeDatabaseError, fmt.Sprintf("the catalogue of the database changed each of %d times that it was read", catalogTries), nil)
	e.Retryable = true
	e.Hint = "try again when fewer tables are being created and dropped"
	return nil, e
}

// objectsOf makes the objects of a catalogue from the answers to relationsSQL, columnsSQL
// and modulesSQL.
func objectsOf(relations, columns, modules [][]string, database string) *sqlguard.Objects {
	out := &sqlguard.Objects{
		Functions: []sqlguard.CatalogFunction{}, Operators: []sqlguard.CatalogOperator{}, Casts: []sqlguard.CatalogCast{},
		Types: []sqlguard.CatalogType{}, Relations: []sqlguard.CatalogRelation{},
	}
	at, functions := map[string]int{}, map[string]int{}
	for _, row := range relations {
		n := sqlguard.CatalogName{Schema: row[0], Name: row[1]}
		r := sqlguard.CatalogRelation{CatalogName: n, Columns: []sqlguard.CatalogColumn{}}
		f := sqlguard.CatalogFunction{CatalogName: n, Kind: sqlguard.FunctionPlain, Language: "sql", Volatility: sqlguard.VolatilityStable, Arguments: []sqlguard.CatalogName{}}
		switch strings.TrimSpace(row[2]) {
		case "U":
			r.Kind = sqlguard.RelationTable
		case "V":
			r.Kind = sqlguard.RelationView
		case "SO":
			r.Kind = sqlguard.RelationSequence
		case "SN":
			r.Kind, r.Target = sqlguard.RelationSynonym, targetOf(row[4], database)
		case "ET":
			r.Kind = sqlguard.RelationForeign
		case "FS", "FT":
			f.Language = "clr"
		case "AF":
			f.Language, f.Kind = "clr", sqlguard.FunctionAggregate
		}
		if r.Kind == "" {
			functions[row[3]] = len(out.Functions)
			out.Functions = append(out.Functions, f)
			continue
		}
		at[row[3]] = len(out.Relations)
		out.Relations = append(out.Relations, r)
	}
	for _, row := range columns {
		if i, ok := at[row[0]]; ok {
			r := &out.Relations[i]
			r.Columns = append(r.Columns, sqlguard.CatalogColumn{Name: row[1]})
		}
	}
	for _, row := range modules {
		text := row[1]
		if !isOn(row[2]) { // a text in double quotes is a literal there, and the guard reads a name
			text = ""
		}
		if i, ok := at[row[0]]; ok && out.Relations[i].Kind == sqlguard.RelationView {
			out.Relations[i].Definition = text
		}
		if i, ok := functions[row[0]]; ok && out.Functions[i].Language == "sql" {
			out.Functions[i].Body, out.Functions[i].SecurityDefiner = text, row[3] != "0"
		}
	}
	return out
}

func isOn(bit string) bool { return bit == "1" || strings.EqualFold(bit, "true") }

// targetOf reads the name of a synonym's object. A name that is not one of a schema of the
// database keeps all its parts, so that no relation has it.
func targetOf(base, database string) sqlguard.CatalogName {
	parts := nameParts(base)
	if len(parts) == 3 && strings.EqualFold(parts[0], database) {
		parts = parts[1:]
	}
	if len(parts) == 2 && parts[0] != "" {
		return sqlguard.CatalogName{Schema: parts[0], Name: parts[1]}
	}
	return sqlguard.CatalogName{Name: base}
}

// nameParts splits a name of several parts, each in brackets or not.
func nameParts(name string) []string {
	var parts []string
	for {
		part, rest := name, ""
		if strings.HasPrefix(name, "[") {
			var b strings.Builder
			i := 1
			for ; i < len(name); i++ {
				if name[i] == ']' {
					if i+1 == len(name) || name[i+1] != ']' {
						break
					}
					i++
				}
				b.WriteByte(name[i])
			}
			part, rest = b.String(), name[min(i+1, len(name)):]
		} else if dot := strings.IndexByte(name, '.'); dot >= 0 {
			part, rest = name[:dot], name[dot:]
		}
		parts = append(parts, part)
		if !strings.HasPrefix(rest, ".") {
			return parts
		}
		name = rest[1:]
	}
}

// derivedOf returns the computed columns with the columns whose names stand in their
// definitions. A definition that the user may not see can have any column.
func derivedOf(rows [][]string) []sqlguard.DerivedColumn {
	var out []sqlguard.DerivedColumn
	for _, row := range rows {
		table, column, definition, other := sqlguard.CatalogName{Schema: row[0], Name: row[1]}, row[2], row[3], row[4]
		if other == column || definition != "" && !sqlguard.MentionsName(definition, other) {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Table == table && out[last].Column == column {
			out[last].From = append(out[last].From, other)
			continue
		}
		out = append(out, sqlguard.DerivedColumn{Table: table, Column: column, From: []string{other}})
	}
	return out
}

// askAll runs one constant query whose answer may be long.
func (d *DB) askAll(ctx context.Context, sql string) ([][]string, error) {
	res, err := d.run(ctx, statement{text: sql}, catalogLimits)
	switch {
	case err != nil:
		return nil, err
	case res.Truncated:
		return nil, execution.NewError(sqlguard.CodeDatabaseError, "the catalogue of the database is too large: "+res.Note, nil)
	}
	return textsOf(res), nil
}
