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
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/httpapi/markup"
	"github.com/ktxhq/ktx/sqlguard"
)

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

// ask calls a tool and reads its answer. Progress may be nil.
func (p *Pages) ask(ctx context.Context, tool string, arguments object, progress func(float64, string)) (members, *ToolError) {
	data, err := json.Marshal(arguments)
	if err != nil {
		return nil, &ToolError{Code: sqlguard.CodeInvalidArguments, Message: err.Error()}
	}
	answer, failed := p.config.Tools.Call(ctx, tool, data, progress)
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

// query shows the form for a statement or a semantic question, and runs it when it was
// sent. A script that accepts events gets progress, and at the end the page.
func (p *Pages) query(w http.ResponseWriter, r *http.Request) {
	form := queryForm{Connections: p.config.Connections(r.Context()), Semantic: p.has("sl_query")}
	if r.Method != http.MethodPost {
		p.show(w, r, http.StatusOK, "Query", nil, form.write)
		return
	}
	form.read(r)
	var events *eventStream
	var progress func(float64, string)
	as := r.PostFormValue("as")
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") && as != "csv" {
		events = startEvents(w)
		progress = func(_ float64, message string) {
			if data, err := json.Marshal(message); err == nil {
				events.send("progress", data)
			}
		}
	}
	m, failed := form.ask(r.Context(), p, as == "plan", progress)
	switch {
	case failed != nil:
		form.answer = func(d *document) {
			d.failure(failed)
			if failed.Verdict != nil && form.SQL != "" {
				d.marked(form.SQL, failed.Verdict.Findings)
			}
		}
	case as == "csv":
		writeCSV(w, m)
		return
	default:
		form.answer = func(d *document) { d.result(m) }
	}
	if events == nil {
		p.show(w, r, http.StatusOK, "Query", nil, form.write)
		return
	}
	if data, err := json.Marshal(p.render(r, "Query", nil, form.write)); err == nil {
		events.send("page", data)
	}
}

// split splits what a person wrote at a separator.
func split(text, separator string) []string {
	parts := []string{}
	for part := range strings.SplitSeq(text, separator) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// queryForm is the content of the form.
type queryForm struct {
	Connections                           []Connection
	Semantic                              bool
	Connection, SQL, Measures, Dimensions string
	Filters, Order, Limit                 string
	answer                                content // nil before something was asked
}

func (f *queryForm) read(r *http.Request) {
	for name, to := range map[string]*string{
		"connection": &f.Connection, "sql": &f.SQL, "measures": &f.Measures, "dimensions": &f.Dimensions, "filters": &f.Filters, "order": &f.Order, "limit": &f.Limit,
	} {
		*to = r.PostFormValue(name)
	}
}

// explains are the words that ask for the plan of a statement, by dialect.
var explains = map[string]string{"postgres": "EXPLAIN ", "mysql": "EXPLAIN ", "clickhouse": "EXPLAIN ", "duckdb": "EXPLAIN ", "sqlite": "EXPLAIN QUERY PLAN "}

// ask runs the statement, or the question when there is no statement, or asks for its plan.
func (f *queryForm) ask(ctx context.Context, p *Pages, plan bool, progress func(float64, string)) (members, *ToolError) {
	if strings.TrimSpace(f.SQL) != "" || !f.Semantic {
		sql := f.SQL
		if plan {
			i := slices.IndexFunc(f.Connections, func(c Connection) bool { return c.ID == f.Connection })
			if i >= 0 && explains[f.Connections[i].Dialect] == "" {
				return nil, &ToolError{Code: sqlguard.CodeInvalidArguments, Message: "no statement of this database returns a plan"}
			}
			if i >= 0 {
				sql = explains[f.Connections[i].Dialect] + sql
			}
		}
		return p.ask(ctx, "sql_execution", object{"connectionId": f.Connection, "sql": sql}, progress)
	}
	arguments := object{
		"connectionId": f.Connection, "measures": split(f.Measures, ","), "dimensions": split(f.Dimensions, ","), "filters": split(f.Filters, "\n"),
		"order_by": split(f.Order, ","), "include": []string{"sql"},
	}
	if n, err := strconv.Atoi(strings.TrimSpace(f.Limit)); err == nil {
		arguments["limit"] = n
	}
	if plan {
		arguments["limit"], arguments["include"] = 0, []string{"sql", "plan"}
	}
	return p.ask(ctx, "sl_query", arguments, progress)
}

func (f *queryForm) write(d *document) {
	d.Put(`<form method="post" action="/query" class="ask" data-live="result"><label>Connection `)
	d.connections(f.Connections, f.Connection)
	d.Put(`</label><label>Statement <textarea name="sql" rows="8" spellcheck="false" autocomplete="off" dir="auto">%s</textarea></label>`, "\n"+f.SQL)
	if f.Semantic {
		if f.Measures != "" || f.Dimensions != "" {
			d.Put(`<details open>`)
		} else {
			d.Put(`<details>`)
		}
		d.Put(`<summary>Or, with no statement, a question to the semantic layer</summary><div class="ask">`)
		for _, field := range []struct{ name, label, value string }{
			{"measures", "Measures, with commas between", f.Measures},
			{"dimensions", "By dimensions, with commas between", f.Dimensions},
			{"order", "Order by, with commas between", f.Order},
			{"limit", "Most rows", f.Limit},
		} {
			d.Put(`<label>%s <input name="%s" value="%s" autocomplete="off"></label>`, field.label, field.name, field.value)
		}
		d.Put(`<label>Filters, one on each line <textarea name="filters" rows="3" spellcheck="false" autocomplete="off">%s</textarea></label></div></details>`, "\n"+f.Filters)
	}
	d.Put(`<p><button type="submit">Run</button> <button type="submit" name="as" value="plan">Show the plan</button> <button type="submit" name="as" value="csv">Run, and save as CSV</button></p></form>
<p>It runs under the same rules and limits as an agent's statement, and the audit log has it.</p><div id="result" aria-live="polite">`)
	if f.answer != nil {
		f.answer(d)
	}
	d.Put(`</div>`)
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
	d.facts(m.but("headers", "headerTypes", "rows"))
}

// writeCSV answers with rows as a file.
func writeCSV(w http.ResponseWriter, m members) {
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

// Trust is why a tool of another server may be called or not.
type Trust struct {
	Rule  string // what decided
	Pin   string // the hash of the definition that is trusted
	Since time.Time
}

// listTools shows other servers, and the tools of one.
func (p *Pages) listTools(w http.ResponseWriter, r *http.Request) {
	if server := r.URL.Query().Get("server"); server != "" {
		p.listToolsOf(w, r, server)
		return
	}
	m, failed := p.ask(r.Context(), "server_list", object{}, nil)
	if failed != nil {
		p.show(w, r, failed.status(), "Other MCP servers", nil, func(d *document) { d.failure(failed) })
		return
	}
	name := func(v any) string { one, _ := v.(members); return one.text("name") }
	lists := pagingOf(r)
	servers, more := part(lists, mainList, m.list("servers"), maxTables, name)
	p.show(w, r, http.StatusOK, "Other MCP servers", nil, func(d *document) {
		if len(servers) == 0 {
			d.Put(`<p class="empty">There is no server that you may use. <code>upstreams</code> in ktx.yaml names them.</p>`)
			return
		}
		d.records("Servers", servers, func(one members) any {
			return anchor{one.text("name"), "/tools?server=" + url.QueryEscape(one.text("name"))}
		})
		d.turn(lists, mainList, name(servers[len(servers)-1]), more)
	})
}

// listToolsOf shows the tools of a server, with what decided about each.
func (p *Pages) listToolsOf(w http.ResponseWriter, r *http.Request, server string) {
	lists := pagingOf(r)
	arguments := object{"server": server, "includeDisabled": true}
	if cursor := lists.at(mainList); cursor != "" {
		arguments["cursor"] = cursor
	}
	m, failed := p.ask(r.Context(), "tool_list", arguments, nil)
	status, body := http.StatusOK, func(d *document) {
		tools := m.list("tools")
		if len(tools) == 0 {
			d.Put(`<p class="empty">This server has no tools.</p>`)
			return
		}
		trusts := p.config.Trust(r.Context(), server)
		for i, v := range tools {
			one, _ := v.(members)
			t := trusts[one.text("tool")]
			one = append(one.but("state"), member{"state", cmp.Or(one.text("state"), "enabled")}, member{"decided by", t.Rule})
			if t.Pin != "" {
				one = append(one, member{"pin", t.Pin[:min(len(t.Pin), 12)]}, member{"trusted since", t.Since})
			}
			tools[i] = one
		}
		d.records("Tools", tools, func(one members) any { return one.text("tool") })
		first, next := "", ""
		if lists.at(mainList) != "" {
			first = lists.address(mainList, "")
		}
		if cursor := m.text("nextCursor"); cursor != "" {
			next = lists.address(mainList, cursor)
		}
		d.turnTo(first, next, "More")
	}
	if failed != nil {
		status, body = failed.status(), func(d *document) { d.failure(failed) }
	}
	p.show(w, r, status, "Tools of "+server, nil, func(d *document) {
		d.trail(link{Label: "Tools", Href: "/tools"})
		body(d)
	})
}

// records writes objects as a table, whose first column, the name, is what name returns.
func (d *document) records(label string, rows []any, name func(members) any) {
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
	headings := make([]string, len(columns))
	for i, c := range columns {
		headings[i] = spaced(c)
	}
	d.table(label, headings, func(row func(...any)) {
		for _, v := range rows {
			one, _ := v.(members)
			cells := []any{name(one)}
			for _, c := range columns[1:] {
				cells = append(cells, one.get(c))
			}
			row(cells...)
		}
	})
}

// listSkills shows the skills, and one of them.
func (p *Pages) listSkills(w http.ResponseWriter, r *http.Request) {
	if name := r.URL.Query().Get("name"); name != "" {
		m, failed := p.ask(r.Context(), "describe_skill", object{"name": name}, nil)
		status, body := http.StatusOK, func(d *document) { d.facts(m) }
		if failed != nil {
			status, body = failed.status(), func(d *document) { d.failure(failed) }
		}
		p.show(w, r, status, "Skill "+name, nil, func(d *document) {
			d.trail(link{Label: "Skills", Href: "/skills"})
			body(d)
		})
		return
	}
	if !p.has("search_skills") {
		failed := &ToolError{Code: sqlguard.CodeNotConfigured, Message: "no folder of skills is configured", Hint: "name one with the key skills of ktx.yaml"}
		p.show(w, r, failed.status(), "Skills", nil, func(d *document) { d.failure(failed) })
		return
	}
	asked, lists := r.URL.Query().Get("q"), pagingOf(r)
	after := lists.place(mainList)
	found, err := p.config.Artifacts.Skills(r.Context(), asked, after, skillsShown)
	status, body := http.StatusOK, func(d *document) { d.skills(lists, found, asked, after) }
	if err != nil {
		status, body = p.fault(r, err)
	}
	p.show(w, r, status, "Skills", nil, func(d *document) {
		d.Put(`<form method="get" action="/skills" class="filter one" role="search" aria-label="Skills"><label>Search skills <input name="q" value="%s" dir="auto"></label><button type="submit">Search</button></form>`, asked)
		body(d)
	})
}

// skillsShown bounds a part of the list of skills.
const skillsShown = 50

// skills writes the skills of a list, with what is known of their use.
func (d *document) skills(lists paging, found Skills, asked string, after int) {
	for _, note := range found.Notes {
		d.Put(`<p class="quiet">%s</p>`, note)
	}
	switch {
	case len(found.Skills) > 0 || after > 0:
	case asked != "":
		d.Put(`<p class="empty">No skill has these words. <a href="/skills">Show all</a></p>`)
		return
	default:
		d.Put(`<p class="empty">There is no skill that you may use. <code>ktx skills new</code> writes the first one.</p>`)
		return
	}
	blank := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	d.table("Skills", []string{"name", "description", "category", "tier", "rating", "uses"}, func(row func(...any)) {
		for _, s := range found.Skills {
			row(anchor{s.Name, "/skills?name=" + url.QueryEscape(s.Name)}, s.Description, blank(s.Category), blank(s.Tier), blank(s.Rating), int64(s.Uses))
		}
	})
	d.ranked(lists, after+len(found.Skills), found.More > 0)
}
