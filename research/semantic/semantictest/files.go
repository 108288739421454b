package semantictest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// files writes the model: one file for each source, and one of the manifest for each that
// a scan has found.
func (g *gen) files() map[string]string {
	files := map[string]string{}
	for i, s := range g.sources {
		if s.scanned {
			files["_schema/scan"+itoa(i)+".yaml"], files["source"+itoa(i)+".yaml"] = g.overlaid(i)
			continue
		}
		files["source"+itoa(i)+".yaml"] = g.file(i)
	}
	return files
}

var kindNames = map[kind]string{text: "string", number: "number", moment: "time", boolean: "boolean"}

func (g *gen) file(i int) string {
	s := g.sources[i]
	p := &printer{world: g.world, rng: g.rng, source: i}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("name: %s", quoted(s.name))
	switch {
	case s.sql:
		var names []string
		for _, c := range s.columns {
			if c.expr == nil {
				names = append(names, c.name)
			}
		}
		line("sql: %s", quoted("select "+strings.Join(names, ", ")+" from "+s.table))
	case s.plainTable:
		line("table: %s", s.table)
	default:
		line("table: %s", quoted(`"`+s.table+`"`))
	}
	line("grain: %s", g.list(i, s.grain))
	line("columns:")
	for _, c := range s.columns {
		columnLines(p, c, line)
	}
	g.joinLines(p, i, s.joins, "", line)
	g.parts(p, i, line)
	return b.String()
}

// overlaid writes a source as an entry of the manifest and an overlay. Each of the parts
// that may stand in either stands in one by chance, and what the overlay takes away is
// added to the entry first.
func (g *gen) overlaid(i int) (manifest, overlay string) {
	s := g.sources[i]
	p := &printer{world: g.world, rng: g.rng, source: i}
	var m, o strings.Builder
	table := func(format string, args ...any) { fmt.Fprintf(&m, "    "+format+"\n", args...) }
	line := func(format string, args ...any) { fmt.Fprintf(&o, format+"\n", args...) }
	m.WriteString("tables:\n  " + quoted(s.name) + ":\n")
	line("name: %s", quoted(s.name))
	if s.plainTable {
		table("table: %s", s.table)
	} else {
		table("table: %s", quoted(`"`+s.table+`"`))
	}
	keyed := g.chance(60)
	if !keyed || g.chance(20) {
		line("grain: %s", g.list(i, s.grain))
	}
	table("columns:")
	var overrides []string
	for k, c := range s.columns {
		if c.expr != nil {
			continue
		}
		table("  - name: %s", quoted(c.name))
		table("    type: %s", c.native())
		if keyed && slices.Contains(s.grain, k) {
			table("    pk: true")
		}
		if c.hidden {
			overrides = append(overrides, fmt.Sprintf("{name: %s, visibility: hidden}", quoted(c.name)))
		} else if c.internal {
			overrides = append(overrides, fmt.Sprintf("{name: %s, visibility: internal}", quoted(c.name)))
		}
	}
	if keyed && g.chance(40) {
		table("  - {name: gone, type: text}")
		line("exclude_columns: [gone]")
	}
	if len(overrides) > 0 {
		line("column_overrides: [%s]", strings.Join(overrides, ", "))
	}
	var here, there []join
	for _, j := range s.joins {
		if j.alias == "" && g.chance(60) {
			there = append(there, j)
		} else {
			here = append(here, j)
		}
	}
	g.joinLines(p, i, there, "formal", table)
	if other := g.sources[g.rng.IntN(len(g.sources))]; other != s && !slices.ContainsFunc(s.joins, func(j join) bool { return g.sources[j.to] == other }) {
		if len(there) == 0 {
			table("joins:")
		}
		on := p.ident(s.name) + ".id = " + p.ident(other.name) + ".id"
		table("  - {to: %s, on: %s, relationship: many_to_one, source: inferred}", quoted(other.name), quoted(on))
		line("disable_joins: [%s]", quoted(strings.ToUpper(on)))
	}
	titled := false
	for _, c := range s.columns {
		if c.expr == nil {
			continue
		}
		if !titled {
			line("columns:")
			titled = true
		}
		columnLines(p, c, line)
	}
	g.joinLines(p, i, here, "", line)
	g.parts(p, i, line)
	return m.String(), o.String()
}

// native is a type of the column as a database names it.
func (c column) native() string {
	switch {
	case c.kind == number && c.whole:
		return "bigint"
	case c.kind == number:
		return "numeric(12,2)"
	case c.kind == moment && c.date:
		return "date"
	case c.kind == moment:
		return "timestamp without time zone"
	case c.kind == boolean:
		return "boolean"
	}
	return "text"
}

func columnLines(p *printer, c column, line func(string, ...any)) {
	line("  - name: %s", quoted(c.name))
	line("    type: %s", kindNames[c.kind])
	if c.hidden {
		line("    visibility: hidden")
	} else if c.internal {
		line("    visibility: internal")
	}
	if c.expr != nil {
		line("    expr: %s", quoted(p.text(c.expr)))
	}
}

// parts writes segments and measures.
func (g *gen) parts(p *printer, i int, line func(string, ...any)) {
	s := g.sources[i]
	if len(s.segments) > 0 {
		line("segments:")
	}
	for _, x := range s.segments {
		line("  - name: %s", quoted(x.name))
		line("    expr: %s", quoted(p.text(x.expr)))
	}
	if len(s.measures) > 0 {
		line("measures:")
	}
	for _, m := range s.measures {
		line("  - name: %s", quoted(m.name))
		line("    expr: %s", quoted(p.text(m.expr)))
		if m.filter != nil {
			line("    filter: %s", quoted(p.text(m.filter)))
		}
		if len(m.segments) > 0 {
			var names []string
			for _, k := range m.segments {
				names = append(names, quoted(s.segments[k].name))
			}
			line("    segments: [%s]", strings.Join(names, ", "))
		}
		if m.semi != nil {
			take := "last"
			if m.semi.first {
				take = "first"
			}
			line("    semi_additive: {over: %s, take: %s, per: %s}", quoted(s.columns[m.semi.over].name), take, g.list(i, m.semi.per))
		}
	}
}

func (g *gen) joinLines(p *printer, i int, joins []join, origin string, line func(string, ...any)) {
	s := g.sources[i]
	if len(joins) > 0 {
		line("joins:")
	}
	for _, j := range joins {
		target := g.sources[j.to].name
		if j.alias != "" {
			target = j.alias
		}
		var pairs []string
		for k := range j.own {
			own := p.ident(s.columns[j.own[k]].name)
			if g.chance(40) {
				own = p.ident(s.name) + "." + own
			}
			other := p.ident(target) + "." + p.ident(g.sources[j.to].columns[j.other[k]].name)
			if g.chance(30) && strings.Contains(own, ".") {
				own, other = other, own
			}
			pairs = append(pairs, own+" = "+other)
		}
		line("  - to: %s", quoted(g.sources[j.to].name))
		line("    on: %s", quoted(strings.Join(pairs, " AND ")))
		line("    relationship: %s", j.relation)
		if origin != "" {
			line("    source: %s", origin)
		}
		if j.alias != "" {
			line("    alias: %s", quoted(j.alias))
		}
	}
}

func (g *gen) list(i int, columns []int) string {
	var names []string
	for _, c := range columns {
		names = append(names, quoted(g.sources[i].columns[c].name))
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// quoted writes a text as YAML in double quotes.
func quoted(s string) string { return strconv.Quote(s) }

// Dialect is an engine that tables can be made for.
type Dialect string

// The engines.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
	MariaDB  Dialect = "mysql"

	ClickHouse Dialect = "clickhouse"
	DuckDB     Dialect = "duckdb"
	BigQuery   Dialect = "bigquery"
)

// DDL is the statements that make the tables and their rows. Cases of different seeds
// have tables of different names.
func (c Case) DDL(d Dialect) []string {
	var list []string
	for _, s := range c.world.sources {
		var columns []string
		for _, col := range s.columns {
			if col.expr == nil {
				columns = append(columns, d.name(col.name)+" "+d.typeOf(col))
			}
		}
		create := "CREATE TABLE " + d.name(s.table) + " (" + strings.Join(columns, ", ") + ")"
		if d == ClickHouse {
			create += " ENGINE = Memory"
		}
		list = append(list, create)
		var rows []string
		for _, r := range s.rows {
			var values []string
			for k, v := range r {
				if s.columns[k].expr == nil {
					values = append(values, d.literal(v, s.columns[k]))
				}
			}
			rows = append(rows, "("+strings.Join(values, ", ")+")")
		}
		if len(rows) > 0 {
			list = append(list, "INSERT INTO "+d.name(s.table)+" VALUES "+strings.Join(rows, ", "))
		}
	}
	return list
}

func (d Dialect) name(s string) string {
	if d == MariaDB || d == BigQuery {
		return "`" + s + "`"
	}
	return `"` + s + `"`
}

func (d Dialect) typeOf(c column) string {
	if d == ClickHouse {
		return "Nullable(" + clickHouseTypes[c.native()] + ")"
	}
	if d == BigQuery {
		return bigQueryTypes[c.native()]
	}
	switch c.kind {
	case number:
		if c.whole {
			return "INTEGER"
		}
		return "DECIMAL(12,2)"
	case moment:
		switch {
		case c.date:
			return "DATE"
		case d == MariaDB:
			return "DATETIME"
		}
		return "TIMESTAMP"
	case boolean:
		return "BOOLEAN"
	case text, null:
	}
	if d == MariaDB {
		return "VARCHAR(40) CHARACTER SET utf8mb4"
	}
	return "TEXT"
}

// clickHouseTypes are the types of columns by those of [column.native].
var clickHouseTypes = map[string]string{
	"bigint": "Int32", "numeric(12,2)": "Decimal(12, 2)", "date": "Date", "timestamp without time zone": "DateTime", "boolean": "Bool", "text": "String",
}

// bigQueryTypes are the same for BigQuery.
var bigQueryTypes = map[string]string{
	"bigint": "INT64", "numeric(12,2)": "NUMERIC", "date": "DATE", "timestamp without time zone": "DATETIME", "boolean": "BOOL", "text": "STRING",
}

func (d Dialect) literal(v value, c column) string {
	switch v.kind {
	case number:
		return v.canonical().Text
	case boolean:
		if d == SQLite {
			return map[bool]string{true: "1", false: "0"}[v.b]
		}
		return v.key()
	case moment:
		if c.date {
			return "'" + v.s[:10] + "'"
		}
		return "'" + v.s + "'"
	case text:
		return "'" + v.s + "'"
	case null:
	}
	return "NULL"
}
