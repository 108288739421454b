// Package emit writes a plan as SQL of one engine.
//
// The text is made of identifiers of the model, always quoted, of literals, always
// written by this package, and of words of its own. The one exception is the body of a
// source with sql, which is emitted as it stands in its file and which the guard has
// passed when the file was read.
//
// # Shape
//
// Each leg of the plan is one SELECT over its base, with LEFT JOINs, that groups by the
// dimensions. One leg is the inner query. More legs are put together by UNION ALL and
// grouped once more, where MAX picks the one value of each aggregate. The outer query
// computes the outputs, keeps what the measure filters leave, orders, and limits.
//
// In the text, t0, t1, … are the sources of a leg, d0, d1, … the dimensions, and a0,
// a1, … the aggregates. Columns of the database and names of outputs are always quoted,
// and columns are always qualified, so that neither can be taken for the other.
//
// # Meaning
//
// An expression means the same on every engine. Where an engine's own word means
// something else, another word is written:
//
//   - Days, weeks, months, quarters, and years are dates, hours are timestamps. Weeks
//     begin on Monday, whatever DATEFIRST or the mode of WEEK says.
//   - LIKE has no escape character and, on SQLite, regards case as = does.
//   - a || b is NULL if one of them is. concat(a, b) takes NULL for the empty text.
//   - round takes halves away from zero. length counts characters.
//   - Over aggregates, a / b is never cut to an integer and is NULL if b is 0, and a % b
//     is NULL if b is 0 and has the sign of a. Over columns, / and % are the engine's own.
//   - A month added to 31 January gives the last day of February.
//   - min and max of booleans are the numbers 0 and 1.
//
// What stays the engine's own: how texts compare and sort, which characters beyond ASCII
// lower and upper know (SQLite: none), which names a result may have (BigQuery: of letters,
// digits and underscores), how a number with fractions becomes a text, and
// what a text that is no number becomes as a number (an error, 0 on MySQL and SQLite, or
// NULL on ClickHouse).
// On SQLite a time is a text that its date functions read. In comparisons times count to
// the millisecond there.
package emit

import (
	"fmt"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// SQL is a plan as text.
type SQL struct {
	Text    string
	Columns []Column
}

// Column is a column of the result: the dimensions in the order of the request, then the
// measures.
type Column struct {
	Name string
	Kind string // dimension or measure
}

// Dialect names an engine: postgres, mysql, sqlite, sqlserver, clickhouse, duckdb, or bigquery, as
// sqlguard names them.
type Dialect string

// The dialects. MySQL is written for MySQL 8.0.17 and MariaDB 10.6 and newer, SQLite for
// 3.39 and newer, SQLServer for 2019 and newer, ClickHouse for 24.3 and newer, DuckDB for
// 1.5. What is written for BigQuery was read by GoogleSQL's own parser, and by no service.
const (
	Postgres   Dialect = "postgres"
	MySQL      Dialect = "mysql"
	SQLite     Dialect = "sqlite"
	SQLServer  Dialect = "sqlserver"
	ClickHouse Dialect = "clickhouse"
	DuckDB     Dialect = "duckdb"
	BigQuery   Dialect = "bigquery"
)

func (d Dialect) known() bool {
	switch d {
	case Postgres, MySQL, SQLite, SQLServer, ClickHouse, DuckDB, BigQuery:
		return true
	default:
		return false
	}
}

// maxText bounds the text in bytes. It is twice what a guard may be told to read.
const maxText = 512 << 10

// Emit writes p as one SELECT of d. Equal plans give equal texts. The error says what
// the engine lacks, or what no engine could be asked.
func Emit(p *plan.Plan, d Dialect) (SQL, *expr.Error) {
	if !d.known() {
		return SQL{}, unsupported(fmt.Sprintf("no SQL can be written for the dialect %q", string(d)), "use a connection to PostgreSQL, MySQL, MariaDB, SQLite, SQL Server, ClickHouse, DuckDB, or BigQuery")
	}
	w := &writer{b: make([]byte, 0, 8192), dialect: d, plan: p, aliases: make([]int, len(p.Model.Nodes))}
	w.statement()
	if w.err != nil {
		return SQL{}, w.err
	}
	out := SQL{Text: string(w.b), Columns: make([]Column, 0, len(p.Dimensions)+len(p.Measures))}
	for i := range p.Dimensions {
		out.Columns = append(out.Columns, Column{p.Dimensions[i].Name, "dimension"})
	}
	for i := range p.Measures {
		out.Columns = append(out.Columns, Column{p.Measures[i].Name, "measure"})
	}
	return out, nil
}

// Supports returns an error of class unsupported_in_dialect if d lacks an aggregate of e.
func Supports(e *expr.Expr, d Dialect) *expr.Error {
	if e == nil {
		return nil
	}
	if e.Op == expr.OpAggregate {
		if err := lacks(e.Func, e.Distinct, d); err != nil {
			err.Pos = e.Pos
			return err
		}
	}
	for _, a := range e.Args {
		if err := Supports(a, d); err != nil {
			return err
		}
	}
	return Supports(e.Filter, d)
}

// lacks says what d lacks for an aggregate.
func lacks(name string, distinct bool, d Dialect) *expr.Error {
	switch name {
	case "median", "percentile":
		if d == MySQL || d == SQLite || d == SQLServer {
			return unsupported(fmt.Sprintf("%s has no aggregate %s", products[d], name), "use avg, min, or max")
		}
		if distinct {
			return unsupported(fmt.Sprintf("%s has no %s of DISTINCT values", products[d], name), "leave DISTINCT out")
		}
	}
	return nil
}

var products = map[Dialect]string{Postgres: "PostgreSQL", MySQL: "MySQL", SQLite: "SQLite", SQLServer: "SQL Server", ClickHouse: "ClickHouse", DuckDB: "DuckDB", BigQuery: "BigQuery"}

func unsupported(message, hint string) *expr.Error {
	return &expr.Error{Class: expr.UnsupportedInDialect, Message: message, Hint: hint, Pos: -1}
}
