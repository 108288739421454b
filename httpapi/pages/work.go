package pages

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/httpapi/markup"
	"github.com/ktxhq/ktx/sqlguard"
)

// Table is a table of the latest scan.
type Table struct {
	Schema, Name, Kind string
	Columns            int
	Rows               *int64 // an estimate
	References         []string
}

// clientName is what the audit log names as the client of calls that pages make.
const clientName = "pages"

// acting is a page that calls tools: it wants the rights to open pages and to query.
func (p *Pages) acting(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := httpapi.AccessFrom(r.Context())
		if !a.Has(httpapi.RightQuery) {
			p.show(w, r, http.StatusForbidden, "The principal "+a.Principal+" may not use this page", nil, problemPage("It needs query in server.tokens[].may of ktx.yaml."))
			return
		}
		actor, _ := audit.ActorFrom(r.Context())
		actor.Client.Name, actor.Client.Version = clientName, p.config.Version
		h(w, r.WithContext(audit.WithActor(r.Context(), actor)))
	}
}

// ask calls a tool and reads its answer.
func (p *Pages) ask(ctx context.Context, tool string, arguments object) (members, *ToolError) {
	data, err := json.Marshal(arguments)
	if err != nil {
		return nil, &ToolError{Code: sqlguard.CodeInvalidArguments, Message: err.Error()}
	}
	answer, failed := p.config.Tools.Call(ctx, tool, data, nil)
	if failed != nil {
		return nil, failed
	}
	v, err := readValue(answer)
	m, ok := v.(members)
	if err != nil || !ok {
		return nil, &ToolError{Code: sqlguard.CodeInternalError, Message: "the tool's answer cannot be shown"}
	}
	return m, nil
}

// has reports whether a tool is listed. A page without its tools is not in the menu.
func (p *Pages) has(tool string) bool {
	return slices.ContainsFunc(p.tools(), func(t Tool) bool { return t.Name == tool })
}

// failure writes why a call has no answer.
func (d *document) failure(f *ToolError) {
	d.Put(`<div class="broken" role="alert"><p><strong><code>%s</code></strong> %s</p>`, f.Code, f.Message)
	markup.PutIf(d.Document, `<p>%s</p>`, f.Hint)
	d.Put(`</div>`)
}

// explore shows what agents find: the search of discover_data, tables, wiki pages and
// semantic sources.
func (p *Pages) explore(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ctx := r.Context()
	title, status := "Explore", http.StatusOK
	var body content
	answer := func(tool string, arguments object, write func(d *document, m members)) {
		m, failed := p.ask(ctx, tool, arguments)
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
		answer("wiki_read", object{"key": q.Get("page")}, func(d *document, m members) { d.wikiPage(m) })
	case q.Get("source") != "":
		title = "Source " + q.Get("source")
		answer("sl_read_source", object{"connectionId": connection, "sourceName": q.Get("source")}, writeFacts)
	case q.Get("table") != "":
		title = "Table " + q.Get("table")
		answer("entity_details", object{"connectionId": connection, "entities": []object{{"table": q.Get("table")}}}, func(d *document, m members) {
			for _, v := range m.list("results") {
				one, _ := v.(members)
				d.entity(connection, one)
			}
			if tables, _, err := p.config.Tables(ctx, connection); err == nil {
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
		tables, scanned, err := p.config.Tables(ctx, connection)
		if err != nil {
			status, body = http.StatusNotFound, func(d *document) {
				d.Put(`<p class="empty">There is no connection of that name.</p>`)
			}
			break
		}
		body = func(d *document) { d.tables(connection, q.Get("schema"), q.Get("after"), tables, scanned) }
	default:
		body = func(d *document) {
			d.table("Connections", []string{"connection", "engine"}, func(row func(...any)) {
				for _, c := range p.config.Connections(ctx) {
					row(anchor{c.ID, "/explore?connection=" + url.QueryEscape(c.ID)}, c.Engine)
				}
			})
		}
	}
	p.show(w, r, status, title, nil, func(d *document) {
		d.Put(`<form method="get" action="/explore" class="filter one" role="search" aria-label="Data"><label>Search tables, columns, measures and pages <input name="q" value="%s" dir="auto"></label><button type="submit">Search</button></form>
<p>This is what agents of your rights find.</p>`, q.Get("q"))
		body(d)
	})
}

func writeFacts(d *document, m members) { d.facts(m) }

// wikiPage writes a page of the wiki: its text, and what else is known of it.
func (d *document) wikiPage(m members) {
	d.markdown(m.text("content"))
	d.Put(`<h2>About this page</h2>`)
	d.facts(slices.DeleteFunc(slices.Clone(m), func(one member) bool { return one.Name == "content" }))
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

// entity writes a table: its columns, and the tables that its keys lead to.
func (d *document) entity(connection string, m members) {
	rest := members{}
	for _, one := range m {
		switch one.Name {
		case "columns", "foreignKeys", "tableRef", "ok":
		default:
			rest = append(rest, one)
		}
	}
	d.facts(rest)
	if columns := m.list("columns"); len(columns) > 0 {
		d.Put(`<h2>Columns</h2>`)
		d.values(columns)
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
	d.Put(`<p>%s tables that the access rules permit, scanned %s.</p>`, len(tables), scanned)
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

// query shows the form for a statement or a semantic question, and runs it when it was
// sent.
func (p *Pages) query(w http.ResponseWriter, r *http.Request) {
	form := queryForm{Connections: p.config.Connections(r.Context()), Semantic: p.has("sl_query")}
	var answer content
	if r.Method == http.MethodPost {
		form.Connection, form.SQL = r.PostFormValue("connection"), r.PostFormValue("sql")
		form.Measures, form.Dimensions = r.PostFormValue("measures"), r.PostFormValue("dimensions")
		tool, arguments := "sql_execution", object{"connectionId": form.Connection, "sql": form.SQL}
		if strings.TrimSpace(form.SQL) == "" && form.Semantic {
			tool, arguments = "sl_query", object{"connectionId": form.Connection, "measures": words(form.Measures), "dimensions": words(form.Dimensions)}
		}
		m, failed := p.ask(r.Context(), tool, arguments)
		switch {
		case failed != nil:
			answer = func(d *document) {
				d.failure(failed)
				if failed.Verdict != nil && form.SQL != "" {
					d.marked(form.SQL, failed.Verdict.Findings)
				}
			}
		case r.PostFormValue("as") == "csv":
			writeCSV(w, m)
			return
		default:
			answer = func(d *document) { d.result(m) }
		}
	}
	p.show(w, r, http.StatusOK, "Query", nil, func(d *document) {
		d.query(form)
		d.Put(`<div id="result" aria-live="polite">`)
		if answer != nil {
			answer(d)
		}
		d.Put(`</div>`)
	})
}

// words splits a list that a person wrote, with commas between.
func words(text string) []string {
	list := []string{}
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, word)
		}
	}
	return list
}

// queryForm is the content of the form.
type queryForm struct {
	Connections                           []Connection
	Semantic                              bool
	Connection, SQL, Measures, Dimensions string
}

func (d *document) query(f queryForm) {
	d.Put(`<form method="post" action="/query" class="ask" data-live="result"><label>Connection `)
	d.connections(f.Connections, f.Connection)
	d.Put(`</label><label>Statement <textarea name="sql" rows="8" spellcheck="false" autocomplete="off" dir="auto">%s</textarea></label>`, f.SQL)
	if f.Semantic {
		d.Put(`<p>Or, with no statement, a question to the semantic layer:</p><label>Measures, with commas between <input name="measures" value="%s" autocomplete="off"></label><label>By dimensions <input name="dimensions" value="%s" autocomplete="off"></label>`, f.Measures, f.Dimensions)
	}
	d.Put(`<p><button type="submit">Run</button> <button type="submit" name="as" value="csv">Run, and save as CSV</button></p></form>
<p>It runs under the same rules and limits as an agent's statement, and the audit log has it.</p>`)
}

func (d *document) connections(all []Connection, chosen string) {
	d.Put(`<select name="connection">`)
	for _, c := range all {
		d.Put(`<option value="%s"`, c.ID)
		if c.ID == chosen {
			d.Put(` selected`)
		}
		d.Put(`>%s (%s)</option>`, c.ID, c.Engine)
	}
	d.Put(`</select>`)
}

// result writes rows with what the tool says of them.
func (d *document) result(m members) {
	rest := members{}
	for _, one := range m {
		switch one.Name {
		case "headers", "headerTypes", "rows":
		default:
			rest = append(rest, one)
		}
	}
	var headers []string
	for _, h := range m.list("headers") {
		headers = append(headers, fmt.Sprint(h))
	}
	d.Put(`<h2>Rows</h2>`)
	d.table("Rows", headers, func(row func(...any)) {
		for _, v := range m.list("rows") {
			cells, _ := v.([]any)
			row(cells...)
		}
	})
	d.facts(rest)
}

// writeCSV answers with rows as a file.
func writeCSV(w http.ResponseWriter, m members) {
	secureHeaders(w.Header())
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="rows.csv"`)
	out := csv.NewWriter(w)
	write := func(cells []any) error {
		line := make([]string, len(cells))
		for i, c := range cells {
			if c != nil {
				line[i] = fmt.Sprint(c)
			}
			if text, ok := c.(string); ok {
				line[i] = plainCell(text)
			}
		}
		return out.Write(line)
	}
	err := write(m.list("headers"))
	for _, v := range m.list("rows") {
		cells, _ := v.([]any)
		err = errors.Join(err, write(cells))
	}
	out.Flush()
	_ = errors.Join(err, out.Error()) // the browser may have left
}

// listTools shows other servers, and the tools of one.
func (p *Pages) listTools(w http.ResponseWriter, r *http.Request) {
	server := r.URL.Query().Get("server")
	tool, arguments, list, name, title := "server_list", object{}, "servers", "name", "Other MCP servers"
	if server != "" {
		tool, arguments, list, name, title = "tool_list", object{"server": server, "includeDisabled": true}, "tools", "tool", "Tools of "+server
		if cursor := r.URL.Query().Get("after"); cursor != "" {
			arguments["cursor"] = cursor
		}
	}
	p.listed(w, r, title, tool, arguments, list, func(m members) anchor {
		if server != "" {
			return anchor{Text: m.text(name)}
		}
		return anchor{m.text(name), "/tools?server=" + url.QueryEscape(m.text(name))}
	}, func(next string) string { return "/tools?" + url.Values{"server": {server}, "after": {next}}.Encode() }, func(*document) {})
}

// listSkills shows the skills, and one of them.
func (p *Pages) listSkills(w http.ResponseWriter, r *http.Request) {
	if name := r.URL.Query().Get("name"); name != "" {
		m, failed := p.ask(r.Context(), "describe_skill", object{"name": name})
		if failed != nil {
			p.show(w, r, failed.status(), "Skill "+name, nil, func(d *document) { d.failure(failed) })
			return
		}
		p.show(w, r, http.StatusOK, "Skill "+name, nil, func(d *document) { d.facts(m) })
		return
	}
	asked := r.URL.Query().Get("q")
	p.listed(w, r, "Skills", "search_skills", object{"limit": 50, "query": asked}, "skills", func(m members) anchor {
		return anchor{m.text("name"), "/skills?name=" + url.QueryEscape(m.text("name"))}
	}, nil, func(d *document) {
		d.Put(`<form method="get" action="/skills" class="filter one" role="search" aria-label="Skills"><label>Search skills <input name="q" value="%s" dir="auto"></label><button type="submit">Search</button></form>`, asked)
	})
}

// listed shows a list that a tool answers with. The first column is a link.
func (p *Pages) listed(w http.ResponseWriter, r *http.Request, title, tool string, arguments object, list string, link func(members) anchor, more func(next string) string, form content) {
	m, failed := p.ask(r.Context(), tool, arguments)
	if failed != nil {
		p.show(w, r, failed.status(), title, nil, func(d *document) { d.failure(failed) })
		return
	}
	rows := m.list(list)
	p.show(w, r, http.StatusOK, title, nil, func(d *document) {
		form(d)
		if len(rows) == 0 {
			d.Put(`<p class="empty">There are none.</p>`)
			return
		}
		columns := []string{"name"}
		seen := map[string]bool{"name": true, "tool": true}
		for _, v := range rows {
			one, _ := v.(members)
			for _, field := range one {
				if !seen[field.Name] {
					seen[field.Name] = true
					columns = append(columns, field.Name)
				}
			}
		}
		d.table(title, columns, func(row func(...any)) {
			for _, v := range rows {
				one, _ := v.(members)
				var first any = link(one).Text
				if link(one).Href != "" {
					first = link(one)
				}
				cells := []any{first}
				for _, c := range columns[1:] {
					cells = append(cells, one.get(c))
				}
				row(cells...)
			}
		})
		if left, ok := m.get("omitted").(json.Number); ok && left != "0" {
			d.Put(`<p>%s more are not listed. Search for words of their names or descriptions.</p>`, left)
		}
		if next := m.text("nextCursor"); next != "" && more != nil {
			d.Put(`<p><a rel="next" href="%s">More</a></p>`, more(next))
		}
	})
}
