package pages

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/httpapi/markup"
	"github.com/ktxhq/ktx/sqlguard"
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
	// Find returns what discover_data finds, the best first: at most so many hits after the
	// first ones. A blank connection is all of them.
	Find(ctx context.Context, query, connection string, after, most int) (Found, error)
	// Skills returns what search_skills finds, in the same way. A blank query lists all.
	Skills(ctx context.Context, query string, after, most int) (Skills, error)
}

// Found are hits of a search. More says that others follow, and Notes what could not be
// searched.
type Found struct {
	Hits  []Hit
	More  bool
	Notes []string
}

// Hit is something that a search found. Table is the one that the hit is, or is in.
type Hit struct {
	Kind, ID, About, MatchedOn, Connection, Table string
	Score                                         float64
}

// Skills are skills of a list. More is how many follow.
type Skills struct {
	Skills []Skill
	More   int
	Notes  []string
}

// Skill is a skill as a list shows it. Texts are blank, and the similarity is 0, where
// there is none.
type Skill struct {
	Name, Description, Category, Tier, Rating string
	Uses                                      int
	Similarity                                float64
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
			d.source(pagingOf(r), connection, m, sources)
		})
	case q.Get("table") != "":
		title = "Table " + q.Get("table")
		above = append(above, link{Label: connection, Href: schemaAddress(connection, "")})
		tables, _, err := p.config.Artifacts.Tables(ctx, connection)
		if i := slices.IndexFunc(tables, func(t Table) bool { return qualified(t.Schema, t.Name) == q.Get("table") }); i >= 0 && tables[i].Schema != "" {
			above = append(above, link{Label: tables[i].Schema, Href: schemaAddress(connection, tables[i].Schema)})
		}
		answer("entity_details", object{"connectionId": connection, "entities": []object{{"table": q.Get("table")}}}, func(d *document, m members) {
			profile, _ := p.config.Artifacts.Profile(ctx, connection, q.Get("table")) // the answer says what is wrong
			for _, v := range m.list("results") {
				one, _ := v.(members)
				d.entity(pagingOf(r), connection, one, profile)
			}
			if err == nil && q.Get("columns") == "" {
				d.diagram(connection, around(tables, q.Get("table")), q.Get("table"))
			}
		})
	case strings.TrimSpace(q.Get("q")) != "":
		title = "Found for " + q.Get("q")
		if connection != "" && !slices.ContainsFunc(p.config.Connections(ctx), func(c Connection) bool { return c.ID == connection }) {
			status, body = http.StatusNotFound, noConnection
			break
		}
		lists := pagingOf(r)
		after := min(lists.place(mainList), maxFound)
		found, err := p.config.Artifacts.Find(ctx, q.Get("q"), connection, after, foundShown)
		if err != nil {
			status, body = p.fault(r, err)
			break
		}
		found.More = found.More && after+foundShown < maxFound
		body = func(d *document) { d.found(lists, found, after) }
	case connection != "":
		title = "Tables of " + connection
		tables, scanned, err := p.config.Artifacts.Tables(ctx, connection)
		if err != nil {
			status, body = http.StatusNotFound, noConnection
			break
		}
		if q.Get("schema") != "" {
			above = append(above, link{Label: connection, Href: schemaAddress(connection, "")})
		}
		body = func(d *document) { d.tables(pagingOf(r), connection, q.Get("schema"), tables, scanned) }
	default:
		if q.Get("list") == "" {
			above = nil
		}
		body = func(d *document) { p.contents(ctx, d, pagingOf(r), q.Get("list")) }
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

// noConnection says that the reader may use no connection of the name in the address.
func noConnection(d *document) {
	d.Put(`<p class="empty">There is no connection of that name.</p>`)
}

// fault is the answer when something of the project cannot be read.
func (p *Pages) fault(r *http.Request, err error) (int, content) {
	p.config.Logger.ErrorContext(r.Context(), "a page cannot be shown", "path", r.URL.Path, "error", err)
	failed := &ToolError{Code: sqlguard.CodeInternalError, Message: "the project's files could not be read", Hint: "the server's log says why"}
	return failed.status(), func(d *document) { d.failure(failed) }
}

// contentsShown is how many entries a list has that stands among others.
const contentsShown = 20

// contents lists what there is to explore: connections, sources of the semantic layer and
// pages of the wiki. A list that is asked for stands alone.
func (p *Pages) contents(ctx context.Context, d *document, lists paging, list string) {
	show := func(name, heading string, columns []string, rows [][]any) {
		if len(rows) == 0 || list != "" && list != name {
			return
		}
		key := func(cells []any) string {
			first, _ := cells[0].(anchor)
			return first.Href
		}
		most := contentsShown
		if list == name {
			most = maxTables
		}
		shown, more := part(lists, mainList, rows, most, key)
		d.Put(`<h2 id="%s">%s</h2>`, name, heading)
		d.table(heading, columns, func(row func(...any)) {
			for _, cells := range shown {
				row(cells...)
			}
		})
		if list == name {
			d.turn(lists, mainList, key(shown[len(shown)-1]), more)
		} else if more > 0 {
			d.turnTo("", "/explore?"+url.Values{"list": {name}, mainList: {key(shown[len(shown)-1])}}.Encode(), group(int64(more))+" more")
		}
	}
	var rows [][]any
	for _, c := range p.config.Connections(ctx) {
		rows = append(rows, []any{anchor{c.ID, "/explore?connection=" + url.QueryEscape(c.ID)}, c.Name, c.Engine})
	}
	show("connections", "Connections", []string{"connection", "name", "engine"}, rows)
	sources, _ := p.config.Artifacts.Sources(ctx) // without a semantic layer there are none
	rows = nil
	for _, s := range sources {
		if s.Origin != "scan" { // those are tables
			rows = append(rows, []any{anchor{s.Name, sourceAddress(s.Connection, s.Name)}, s.Connection, s.Description, int64(s.Columns), int64(s.Measures), strings.Join(s.Joins, ", ")})
		}
	}
	show("sources", "Semantic sources", []string{"source", "connection", "about", "columns", "measures", "joins lead to"}, rows)
	pages, _ := p.config.Artifacts.WikiPages() // without a wiki there are none
	rows = nil
	for _, page := range pages {
		rows = append(rows, []any{anchor{page.Key, "/explore?page=" + url.QueryEscape(page.Key)}, page.Scope, page.Summary})
	}
	show("pages", "Wiki pages", []string{"page", "scope", "about"}, rows)
}

func sourceAddress(connection, name string) string {
	return "/explore?" + url.Values{"connection": {connection}, "source": {name}}.Encode()
}

// source writes a source of the semantic layer: where its joins lead, its measures, and
// its file.
func (d *document) source(lists paging, connection string, m members, all []Source) {
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
		d.Put(`<h2 id="measures">Measures</h2>`)
		name := func(v any) string { m, _ := v.(members); return m.text("name") }
		shown, more := part(lists, "measures", measures, maxTables, name)
		d.values(shown)
		if len(shown) > 0 {
			d.turn(lists, "measures", name(shown[len(shown)-1]), more)
		}
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

// foundShown bounds a part of the hits of a search, and maxFound all of them.
const (
	foundShown = 50
	maxFound   = 1000
)

// found writes the hits of discover_data, with links to what they are.
func (d *document) found(lists paging, found Found, after int) {
	for _, note := range found.Notes {
		d.Put(`<p class="quiet">%s</p>`, note)
	}
	if len(found.Hits) == 0 && after == 0 {
		d.Put(`<p class="empty">Nothing has these words. Try others, or <code>ktx scan</code> to read the tables.</p>`)
		return
	}
	d.table("Results", []string{"kind", "name", "about", "matched on", "score", "connection"}, func(row func(...any)) {
		for _, h := range found.Hits {
			row(h.Kind, anchor{h.ID, h.address()}, short(h.About), h.MatchedOn, json.Number(strconv.FormatFloat(h.Score, 'f', 3, 64)), h.Connection)
		}
	})
	d.ranked(lists, after+len(found.Hits), found.More)
}

// address returns the address of what a hit is.
func (h *Hit) address() string {
	q := url.Values{}
	if h.Connection != "" {
		q.Set("connection", h.Connection)
	}
	switch {
	case h.Kind == "wiki":
		q.Set("page", h.ID)
	case h.Table != "":
		q.Set("table", h.Table)
	default:
		source, _, _ := strings.Cut(h.ID, ".")
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
// that its keys lead to.
func (d *document) entity(lists paging, connection string, m members, profile []ColumnProfile) {
	d.facts(m.but("columns", "foreignKeys", "tableRef", "ok"))
	if columns := m.list("columns"); len(columns) > 0 {
		d.columns(lists, columns, profile)
	}
	if keys := m.list("foreignKeys"); len(keys) > 0 {
		d.Put(`<h2 id="joins">Joins</h2>`)
		name := func(v any) string {
			key, _ := v.(members)
			return key.text("fromColumn") + " " + qualified(key.text("toDb"), key.text("toTable")) + " " + key.text("toColumn")
		}
		shown, more := part(lists, "joins", keys, maxTables, name)
		d.table("Joins", []string{"column", "leads to", "column there"}, func(row func(...any)) {
			for _, v := range shown {
				key, _ := v.(members)
				to := qualified(key.text("toDb"), key.text("toTable"))
				row(key.text("fromColumn"), anchor{to, tableAddress(connection, to)}, key.text("toColumn"))
			}
		})
		d.turn(lists, "joins", name(shown[len(shown)-1]), more)
	}
}

// columnNames are shorter names for what is known of a column.
var columnNames = map[string]string{"nativeType": "type", "normalizedType": "read as", "dimensionType": "dimension", "primaryKey": "key"}

// columns writes the columns of a table, and what the scan counted in the rows that it
// read: how many there were, how many had no value, and some of the values. What no column has is left out.
func (d *document) columns(lists paging, list []any, profile []ColumnProfile) {
	name := func(v any) string { m, _ := v.(members); return m.text("name") }
	shown, more := part(lists, "columns", list, maxTables, name)
	d.Put(`<h2 id="columns">%s</h2>`, count(len(list), "column"))
	rows := make([]any, 0, len(shown))
	given := map[string]bool{}
	for _, v := range shown {
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
	if len(shown) > 0 {
		d.turn(lists, "columns", name(shown[len(shown)-1]), more)
	}
}

func tableAddress(connection, table string) string {
	return "/explore?" + url.Values{"connection": {connection}, "table": {table}}.Encode()
}

// maxTables bounds a part of a list of tables, or of what is in one, and maxSchemas of the
// list of schemas.
const (
	maxTables  = 200
	maxSchemas = 50
)

// tables writes the tables of a schema, or of all schemas when it is blank.
func (d *document) tables(lists paging, connection, schema string, tables []Table, scanned string) {
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
		shown, more := part(lists, "schemas", schemas, maxSchemas, func(name string) string { return name })
		d.Put(`<nav aria-label="Schemas" id="schemas"><ul class="choices">`)
		d.choice(link{Label: "all schemas", Href: schemaAddress(connection, ""), Current: schema == ""}, "true")
		for _, name := range shown {
			d.choice(link{Label: cmp.Or(name, "(no schema)"), Href: schemaAddress(connection, name), Current: schema == name && name != ""}, "true")
		}
		d.Put(`</ul>`)
		if len(shown) > 0 {
			d.turn(lists, "schemas", shown[len(shown)-1], more)
		}
		d.Put(`</nav>`)
	}
	if schema != "" {
		tables = slices.DeleteFunc(tables, func(t Table) bool { return t.Schema != schema })
	}
	if lists.at("tables") == "" {
		d.diagram(connection, tables, "")
	}
	slices.SortStableFunc(tables, func(a, b Table) int { return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name)) })
	d.Put(`<h2 id="tables">Tables</h2>`)
	name := func(t Table) string { return qualified(t.Schema, t.Name) }
	shown, more := part(lists, "tables", tables, maxTables, name)
	d.table("Tables", []string{"schema", "table", "kind", "columns", "rows, about", "keys lead to"}, func(row func(...any)) {
		for _, t := range shown {
			var rows any
			if t.Rows != nil {
				rows = *t.Rows
			}
			row(t.Schema, anchor{t.Name, tableAddress(connection, qualified(t.Schema, t.Name))}, t.Kind, int64(t.Columns), rows, strings.Join(t.References, ", "))
		}
	})
	if len(shown) > 0 {
		d.turn(lists, "tables", name(shown[len(shown)-1]), more)
	}
}

func schemaAddress(connection, schema string) string {
	v := url.Values{"connection": {connection}}
	if schema != "" {
		v.Set("schema", schema)
	}
	return "/explore?" + v.Encode()
}
