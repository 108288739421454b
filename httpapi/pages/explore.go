package pages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/httpapi/markup"
)

// Artifacts are what the project knows of its data, as far as the actor may read it.
type Artifacts interface {
	// Tables returns the tables of a connection, and when the scan read them.
	Tables(ctx context.Context, connection string) (tables []Table, scanned string, err error)
	// Profile returns what the scan counted in the columns of a table.
	Profile(ctx context.Context, connection, table string) ([]ColumnProfile, error)
	// Sources returns the sources of the semantic layer.
	Sources(ctx context.Context) ([]Source, error)
	// WikiPages returns the pages of the wiki.
	WikiPages() ([]WikiPage, error)
}

// Table is a table of the latest scan.
type Table struct {
	Schema, Name, Kind string
	Columns            int
	Rows               *int64 // an estimate
	References         []string
}

// ColumnProfile is what the scan counted in a column, and some of its values.
type ColumnProfile struct {
	Name                  string
	Rows, Nulls, Distinct int64
	Values                []string
}

// Source is a source of the semantic layer.
type Source struct {
	Connection, Name, Origin, Description string
	Valid                                 bool
	Columns, Measures                     int
	Joins                                 []string // the sources that its joins lead to
}

// WikiPage is a page of the wiki.
type WikiPage struct{ Key, Scope, Summary string }

// explore shows what agents find: the search of discover_data, tables, wiki pages and
// semantic sources.
func (p *Pages) explore(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ctx := r.Context()
	title, status := "Explore", http.StatusOK
	var body content
	above := []link{{Label: "Explore", Href: "/explore"}}
	answer := func(tool string, arguments object, write func(d *document, m members)) {
		m, failed := p.ask(ctx, tool, arguments, nil)
		if failed != nil {
			status, body = failed.status(), func(d *document) { d.failure(failed) }
			return
		}
		body = func(d *document) { write(d, m) }
	}
	connection := q.Get("connection")
	switch {
	case q.Get("page") != "":
		title = "Wiki page " + q.Get("page")
		above = append(above, link{Label: "Wiki pages", Href: "/explore?list=pages"})
		answer("wiki_read", object{"key": q.Get("page")}, func(d *document, m members) { d.wikiPage(m) })
	case q.Get("source") != "":
		title = "Source " + q.Get("source")
		above = append(above, link{Label: "Semantic sources", Href: "/explore?list=sources"})
		answer("sl_read_source", object{"connectionId": connection, "sourceName": q.Get("source")}, func(d *document, m members) {
			sources, _ := p.config.Artifacts.Sources(ctx) // the answer says what is wrong
			d.source(connection, m, sources)
		})
	case q.Get("table") != "":
		title = "Table " + q.Get("table")
		above = append(above, link{Label: connection, Href: schemaAddress(connection, "", "")})
		tables, _, err := p.config.Artifacts.Tables(ctx, connection)
		if i := slices.IndexFunc(tables, func(t Table) bool { return qualified(t.Schema, t.Name) == q.Get("table") }); i >= 0 && tables[i].Schema != "" {
			above = append(above, link{Label: tables[i].Schema, Href: schemaAddress(connection, tables[i].Schema, "")})
		}
		answer("entity_details", object{"connectionId": connection, "entities": []object{{"table": q.Get("table")}}}, func(d *document, m members) {
			profile, _ := p.config.Artifacts.Profile(ctx, connection, q.Get("table")) // the answer says what is wrong
			for _, v := range m.list("results") {
				one, _ := v.(members)
				d.entity(connection, one, profile, q.Get("after"))
			}
			if err == nil && q.Get("after") == "" {
				d.diagram(connection, around(tables, q.Get("table")), q.Get("table"))
			}
		})
	case strings.TrimSpace(q.Get("q")) != "":
		title = "Found for " + q.Get("q")
		arguments := object{"query": q.Get("q"), "limit": 50}
		if connection != "" {
			arguments["connectionId"] = connection
		}
		answer("discover_data", arguments, func(d *document, m members) { d.found(m.list("refs")) })
	case connection != "":
		title = "Tables of " + connection
		tables, scanned, err := p.config.Artifacts.Tables(ctx, connection)
		if err != nil {
			status, body = http.StatusNotFound, func(d *document) {
				d.Put(`<p class="empty">There is no connection of that name.</p>`)
			}
			break
		}
		if q.Get("schema") != "" {
			above = append(above, link{Label: connection, Href: schemaAddress(connection, "", "")})
		}
		body = func(d *document) { d.tables(connection, q.Get("schema"), q.Get("after"), tables, scanned) }
	default:
		if q.Get("list") == "" {
			above = nil
		}
		body = func(d *document) { p.contents(ctx, d, q.Get("list"), q.Get("after")) }
	}
	p.show(w, r, status, title, nil, func(d *document) {
		if above != nil {
			d.trail(above...)
		}
		d.Put(`<form method="get" action="/explore" class="filter one" role="search" aria-label="Data"><label>Search tables, columns, measures and pages <input name="q" value="%s" dir="auto"></label><button type="submit">Search</button></form>
<p>This is what agents of your rights find.</p>`, q.Get("q"))
		body(d)
	})
}

// contents lists what there is to explore: connections, sources of the semantic layer and
// pages of the wiki. A list that is asked for stands alone, from the entry after on.
func (p *Pages) contents(ctx context.Context, d *document, list, after string) {
	from, _ := strconv.Atoi(after) // anything else begins the list
	part := func(name, heading string, columns []string, rows [][]any) {
		if len(rows) == 0 || list != "" && list != name {
			return
		}
		most, first := 20, 0
		if list == name {
			most, first = maxTables, min(max(from, 0), len(rows))
		}
		last := min(first+most, len(rows))
		d.Put(`<h2>%s</h2>`, heading)
		d.table(heading, columns, func(row func(...any)) {
			for _, cells := range rows[first:last] {
				row(cells...)
			}
		})
		if last < len(rows) {
			next := url.Values{"list": {name}}
			if list == name {
				next.Set("after", strconv.Itoa(last))
			}
			d.Put(`<p><a rel="next" href="/explore?%s">%s more</a></p>`, next.Encode(), group(int64(len(rows)-last)))
		}
	}
	var rows [][]any
	for _, c := range p.config.Connections(ctx) {
		rows = append(rows, []any{anchor{c.ID, "/explore?connection=" + url.QueryEscape(c.ID)}, c.Name, c.Engine})
	}
	part("connections", "Connections", []string{"connection", "name", "engine"}, rows)
	sources, _ := p.config.Artifacts.Sources(ctx) // without a semantic layer there are none
	rows = nil
	for _, s := range sources {
		if s.Origin != "scan" { // those are tables
			rows = append(rows, []any{anchor{s.Name, sourceAddress(s.Connection, s.Name)}, s.Connection, s.Description, int64(s.Columns), int64(s.Measures), strings.Join(s.Joins, ", ")})
		}
	}
	part("sources", "Semantic sources", []string{"source", "connection", "about", "columns", "measures", "joins lead to"}, rows)
	pages, _ := p.config.Artifacts.WikiPages() // without a wiki there are none
	rows = nil
	for _, page := range pages {
		rows = append(rows, []any{anchor{page.Key, "/explore?page=" + url.QueryEscape(page.Key)}, page.Scope, page.Summary})
	}
	part("pages", "Wiki pages", []string{"page", "scope", "about"}, rows)
}

func sourceAddress(connection, name string) string {
	return "/explore?" + url.Values{"connection": {connection}, "source": {name}}.Encode()
}

// source writes a source of the semantic layer: where its joins lead, its measures, and
// its file.
func (d *document) source(connection string, m members, all []Source) {
	for _, s := range all {
		if s.Connection != connection || s.Name != m.text("sourceName") {
			continue
		}
		markup.PutIf(d.Document, `<p>%s</p>`, s.Description)
		if len(s.Joins) > 0 {
			d.Put(`<h2>Joins</h2><p>To `)
			for _, to := range s.Joins {
				d.Put(`<a href="%s"><bdi>%s</bdi></a> `, sourceAddress(connection, to), to)
			}
			d.Put(`</p>`)
		}
	}
	if measures := m.list("measures"); len(measures) > 0 {
		d.Put(`<h2>Measures</h2>`)
		d.values(measures)
	}
	d.Put(`<h2>Definition</h2>`)
	d.value(m.text("yaml"))
	d.facts(m.but("yaml", "measures", "sourceName"))
}

// wikiPage writes a page of the wiki: its text, and what else is known of it.
func (d *document) wikiPage(m members) {
	d.markdown(m.text("content"))
	d.Put(`<h2>About this page</h2>`)
	d.facts(m.but("content"))
}

// found writes the hits of discover_data, with links to what they are.
func (d *document) found(refs []any) {
	if len(refs) == 0 {
		d.Put(`<p class="empty">Nothing has these words. Try others, or <code>ktx scan</code> to read the tables.</p>`)
		return
	}
	d.table("Results", []string{"kind", "name", "about", "matched on", "score", "connection"}, func(row func(...any)) {
		for _, v := range refs {
			m, _ := v.(members)
			about := m.text("summary")
			if about == "" {
				about = m.text("snippet")
			}
			row(m.text("kind"), anchor{m.text("id"), refAddress(m)}, short(about), m.text("matchedOn"), m.get("score"), m.text("connectionId"))
		}
	})
}

// refAddress returns the address of what a hit is.
func refAddress(m members) string {
	q := url.Values{}
	if c := m.text("connectionId"); c != "" {
		q.Set("connection", c)
	}
	switch m.text("kind") {
	case "wiki":
		q.Set("page", m.text("id"))
	case "table", "column":
		ref, _ := m.get("tableRef").(members)
		q.Set("table", qualified(ref.text("db"), ref.text("name")))
	default:
		source, _, _ := strings.Cut(m.text("id"), ".")
		q.Set("source", source)
	}
	return "/explore?" + q.Encode()
}

func qualified(schema, name string) string {
	if schema == "" {
		return name
	}
	return schema + "." + name
}

// entity writes a table: its columns with what the scan counted in them, and the tables
// that its keys lead to. The columns begin after the one that is named.
func (d *document) entity(connection string, m members, profile []ColumnProfile, after string) {
	d.facts(m.but("columns", "foreignKeys", "tableRef", "ok"))
	if columns := m.list("columns"); len(columns) > 0 {
		d.columns(columns, profile, after, func(last string) string {
			return tableAddress(connection, m.text("display")) + "&after=" + url.QueryEscape(last)
		})
	}
	if keys := m.list("foreignKeys"); len(keys) > 0 {
		d.Put(`<h2>Joins</h2>`)
		d.table("Joins", []string{"column", "leads to", "column there"}, func(row func(...any)) {
			for _, v := range keys {
				key, _ := v.(members)
				to := qualified(key.text("toDb"), key.text("toTable"))
				row(key.text("fromColumn"), anchor{to, tableAddress(connection, to)}, key.text("toColumn"))
			}
		})
	}
}

// columnNames are shorter names for what is known of a column.
var columnNames = map[string]string{"nativeType": "type", "normalizedType": "read as", "dimensionType": "dimension", "primaryKey": "key"}

// columns writes the columns of a table, and what the scan counted in the rows that it
// read: how many there were, how many had no value, and some of the values. What no column has is left out.
func (d *document) columns(list []any, profile []ColumnProfile, after string, next func(last string) string) {
	first := 1 + slices.IndexFunc(list, func(v any) bool { m, _ := v.(members); return after != "" && m.text("name") == after })
	last := min(first+maxTables, len(list))
	d.Put(`<h2>%s</h2>`, count(len(list), "column"))
	rows := make([]any, 0, last-first)
	given := map[string]bool{}
	for _, v := range list[first:last] {
		m, _ := v.(members)
		m = slices.Clone(m)
		for i := range m {
			m[i].Name = cmp.Or(columnNames[m[i].Name], m[i].Name)
		}
		if i := slices.IndexFunc(profile, func(c ColumnProfile) bool { return c.Name == m.text("name") }); i >= 0 {
			c := profile[i]
			m = append(m, member{"rows", c.Rows}, member{"null", c.Nulls}, member{"distinct", c.Distinct}, member{"values", short(strings.Join(c.Values, ", "))})
		}
		for _, one := range m {
			given[one.Name] = given[one.Name] || one.Value != nil && one.Value != ""
		}
		rows = append(rows, m)
	}
	for i, v := range rows {
		m, _ := v.(members)
		rows[i] = slices.DeleteFunc(m, func(one member) bool { return !given[one.Name] })
	}
	d.values(rows)
	if last < len(list) {
		m, _ := list[last-1].(members)
		d.Put(`<p><a rel="next" href="%s">%s more</a></p>`, next(m.text("name")), group(int64(len(list)-last)))
	}
}

func tableAddress(connection, table string) string {
	return "/explore?" + url.Values{"connection": {connection}, "table": {table}}.Encode()
}

// maxTables bounds a page of the list of tables.
const maxTables = 200

// tables writes the tables of a schema, or of all schemas when it is blank. The list
// begins after a table.
func (d *document) tables(connection, schema, after string, tables []Table, scanned string) {
	if len(tables) == 0 {
		d.Put(`<p class="empty">There is no scan of this connection, or nothing in it that you may read. <code>ktx scan</code> reads the tables.</p>`)
		return
	}
	d.Put(`<p>%s that the access rules permit, scanned `, count(len(tables), "table"))
	if at, err := time.Parse(time.RFC3339, scanned); err == nil {
		d.time(at)
	} else {
		d.Put(`%s`, scanned)
	}
	d.Put(`.</p>`)
	var schemas []string
	for _, t := range tables {
		schemas = append(schemas, t.Schema)
	}
	slices.Sort(schemas)
	if schemas = slices.Compact(schemas); len(schemas) > 1 {
		d.Put(`<nav aria-label="Schemas"><ul class="choices">`)
		d.choice(link{Label: "all schemas", Href: schemaAddress(connection, "", ""), Current: schema == ""}, "true")
		for _, name := range schemas {
			d.choice(link{Label: cmp.Or(name, "(no schema)"), Href: schemaAddress(connection, name, ""), Current: schema == name && name != ""}, "true")
		}
		d.Put(`</ul></nav>`)
	}
	if schema != "" {
		tables = slices.DeleteFunc(tables, func(t Table) bool { return t.Schema != schema })
	}
	if after == "" {
		d.diagram(connection, tables, "")
	}
	slices.SortStableFunc(tables, func(a, b Table) int { return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name)) })
	if first := slices.IndexFunc(tables, func(t Table) bool { return qualified(t.Schema, t.Name) == after }); first >= 0 {
		tables = tables[first+1:]
	}
	d.Put(`<h2>Tables</h2>`)
	next := ""
	if len(tables) > maxTables {
		tables = tables[:maxTables]
		next = qualified(tables[maxTables-1].Schema, tables[maxTables-1].Name)
	}
	d.table("Tables", []string{"schema", "table", "kind", "columns", "rows, about", "keys lead to"}, func(row func(...any)) {
		for _, t := range tables {
			var rows any
			if t.Rows != nil {
				rows = *t.Rows
			}
			row(t.Schema, anchor{t.Name, tableAddress(connection, qualified(t.Schema, t.Name))}, t.Kind, int64(t.Columns), rows, strings.Join(t.References, ", "))
		}
	})
	if next != "" {
		d.Put(`<p><a rel="next" href="%s">More</a></p>`, schemaAddress(connection, schema, next))
	}
}

func schemaAddress(connection, schema, after string) string {
	v := url.Values{"connection": {connection}}
	for name, value := range map[string]string{"schema": schema, "after": after} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return "/explore?" + v.Encode()
}
