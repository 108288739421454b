package semantictest

import (
	"fmt"
	"strconv"
	"strings"
)

// files writes the model, one file for each source.
func (g *gen) files() map[string]string {
	files := map[string]string{}
	for i := range g.sources {
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
	g.joinLines(p, i, line)
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
	return b.String()
}

func (g *gen) joinLines(p *printer, i int, line func(string, ...any)) {
	s := g.sources[i]
	if len(s.joins) > 0 {
		line("joins:")
	}
	for _, j := range s.joins {
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
		list = append(list, "CREATE TABLE "+d.name(s.table)+" ("+strings.Join(columns, ", ")+")")
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
	if d == MariaDB {
		return "`" + s + "`"
	}
	return `"` + s + `"`
}

func (d Dialect) typeOf(c column) string {
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
