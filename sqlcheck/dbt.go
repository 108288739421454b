package sqlcheck

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlcheck/source"
	"github.com/ktxhq/ktx/sqlguard"
)

// Known is what a dbt project says about the database of its models. Both
// fields are empty for other files.
type Known struct {
	Adapter  string // of dbt, such as postgres
	Database string // the database of most of its models
}

// dbtFile is a file of SQL with Jinja.
type dbtFile struct {
	project  *dbtProject
	path     string // in the project, with slashes
	manifest *dbtManifest
	problem  string // why the file cannot be judged
}

// dbtFile returns what is known about a file that dbt reads, or nil for any
// other file.
func (c *Checker) dbtFile(file string) *dbtFile {
	if !strings.EqualFold(filepath.Ext(file), ".sql") {
		return nil
	}
	project := c.projects.of(filepath.Dir(file))
	if project == nil {
		return nil
	}
	f := &dbtFile{project: project, problem: project.problem}
	if f.problem != "" {
		return f
	}
	rel, ok := project.within(file)
	if !ok || !project.reads(rel) {
		return nil
	}
	f.path = rel
	manifest, err := project.manifest()
	if err != nil {
		f.problem = fmt.Sprintf("%s of its dbt project cannot be read: %s", filepath.ToSlash(project.manifestPath()), reason(err))
	}
	f.manifest = manifest
	return f
}

func (f *dbtFile) known() Known {
	if f == nil || f.manifest == nil {
		return Known{}
	}
	return Known{f.manifest.adapter, f.manifest.database}
}

// kind returns everything that the verdict on the file depends on apart from
// its content.
func (f *dbtFile) kind() string {
	var nodes []*dbtNode
	disabled, macros := false, false
	if f.manifest != nil {
		nodes, disabled, macros = f.manifest.nodes[f.path], f.manifest.disabled[f.path], f.manifest.files[f.path]
	}
	said, err := json.Marshal([]any{f.path, f.manifest != nil, nodes, disabled, macros, f.project.manifestPath()})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(said)
	return "dbt " + hex.EncodeToString(sum[:])
}

const (
	dbtCompile    = "run dbt compile first: the check judges the queries in target/manifest.json"
	dbtUnknown    = "ktx does not know what dbt replaces this with, so the statement can be anything"
	dbtHidden     = "this runs SQL while dbt compiles the file, and the compiled query does not contain that SQL"
	dbtHook       = "dbt runs this hook with the query, and it is a hole that is filled elsewhere, so it can be anything"
	dbtPlainHooks = "write hooks as plain strings"
	dbtDefinition = "ktx judges a macro only in the models that use it"
)

// dbtPart is a text that dbt sends to the database on its own, or the reason
// why it cannot be judged.
type dbtPart struct {
	span     sqlguard.Span // in the file
	text     *source.Text
	problem  string
	unproved []dbtUnproved
	// prefix, if set, says which other file the text is from. Its findings are
	// then all at the start of span.
	prefix string
	// guessed reports whether text has placeholders for unknown values.
	guessed bool
}

type dbtUnproved struct {
	span     sqlguard.Span
	message  string
	hint     string
	severity report.Severity
}

// template judges a file with Jinja, and returns the suppressions in it.
func (c *Checker) template(ctx context.Context, guard *sqlguard.Guard, model *dbtFile, body string, shift int, file *report.File) []allow {
	r := c.reading(file, body, shift)
	parsed, err := source.ParseTemplate(body)
	if syntax, ok := errors.AsType[*source.SyntaxError](err); ok {
		r.add(notChecked("the Jinja of the file cannot be read: "+syntax.Message).Finding, sqlguard.Span{Start: syntax.Offset, End: syntax.Offset}, -1, "")
		return nil
	}
	r.templateComments(guard.Dialect(), parsed)
	for _, part := range model.parts(guard.Dialect(), parsed, body) {
		if ctx.Err() != nil {
			return nil
		}
		if part.problem != "" {
			found := notChecked(part.problem).Finding
			found.Hint = "run dbt compile"
			r.add(found, sqlguard.Span{Start: part.span.Start, End: part.span.Start}, -1, "")
			continue
		}
		r.part(guard, part)
	}
	r.suppressions(sqlguard.Span{Start: len(body), End: len(body)}, true)
	slices.SortStableFunc(file.Findings, func(x, y report.Finding) int { return x.Span.Start - y.Span.Start })
	return r.allows
}

// templateComments collects the suppressions in comments of SQL and of Jinja.
func (r *reading) templateComments(d sqlguard.Dialect, t *source.Template) {
	if !strings.Contains(r.text, allowMark) {
		return
	}
	spans := t.Comments()
	all := []*source.Template{t}
	for _, s := range t.Snapshots() {
		all = append(all, s.Body)
	}
	for _, one := range all {
		text, _ := one.Plain(d, "x", quoter(d))
		for _, token := range d.Lex(text.SQL()).List {
			if token.Kind == sqlguard.TokenComment {
				spans = append(spans, text.Exact().Place(sqlguard.Span{Start: token.Start, End: token.End}))
			}
		}
	}
	slices.SortFunc(spans, func(x, y sqlguard.Span) int { return x.Start - y.Start })
	for _, span := range spans {
		if comment := r.text[span.Start:span.End]; strings.HasPrefix(comment, "{#") {
			if a, ok := parseAllow(strings.Trim(comment[2:len(comment)-2], "-+ \t\r\n")); ok {
				a.Span = span
				r.comments = append(r.comments, a)
			}
			continue
		}
		r.comment(span)
	}
}

// quoter returns a function that quotes a name for the dialect.
func quoter(d sqlguard.Dialect) func(string) string {
	switch d.Name() {
	case "mysql":
		return func(name string) string { return "`" + name + "`" }
	case "sqlserver":
		return func(name string) string { return "[" + name + "]" }
	default:
		return func(name string) string { return `"` + name + `"` }
	}
}

// parts returns the texts of the file that dbt sends, in order.
func (f *dbtFile) parts(d sqlguard.Dialect, t *source.Template, body string) []dbtPart {
	if snapshots := t.Snapshots(); len(snapshots) > 0 { // dbt reads nothing else of a file with snapshots
		var parts []dbtPart
		for _, s := range snapshots {
			parts = append(parts, f.query(d, s.Body, s.Name, s.Body.Source())...)
		}
		return parts
	}
	if !t.Empty() {
		return f.query(d, t, "", body)
	}
	if definitions := t.Definitions(); len(definitions) > 0 {
		return []dbtPart{{span: definitions[0], text: &source.Text{Span: definitions[0]}, unproved: noted(definitions[:1], dbtDefinition, "", report.SeverityNote)}}
	}
	return nil
}

func noted(spans []sqlguard.Span, message, hint string, severity report.Severity) []dbtUnproved {
	var all []dbtUnproved
	for _, span := range spans {
		all = append(all, dbtUnproved{span, message, hint, severity})
	}
	return all
}

// plainPart returns the text of a template that dbt does not read.
func plainPart(d sqlguard.Dialect, t *source.Template, name string) dbtPart {
	text, unproved := t.Plain(d, name, quoter(d))
	return dbtPart{span: t.Span, text: text, unproved: noted(unproved, dbtUnknown, dbtCompile, report.SeverityError), guessed: len(unproved) > 0}
}

// query returns the parts of one query of the file, whose text is raw: its
// hooks, and the query. The query is the compiled one if dbt has compiled it.
func (f *dbtFile) query(d sqlguard.Dialect, t *source.Template, snapshot, raw string) []dbtPart {
	name := cmp.Or(snapshot, strings.TrimSuffix(path.Base(f.path), path.Ext(f.path)))
	plain := plainPart(d, t, name)
	hooks, unproved := t.Hooks()
	unproved = slices.DeleteFunc(unproved, func(span sqlguard.Span) bool { // the finding covers all of config(…)
		return slices.ContainsFunc(plain.unproved, func(u dbtUnproved) bool { return u.span.Start <= span.Start && span.End <= u.span.End })
	})
	var parts []dbtPart
	known := map[string]bool{}
	for _, hook := range hooks {
		known[dbtText(hook.Source())] = true
		parts = append(parts, plainPart(d, hook, name))
	}
	if len(unproved) > 0 {
		parts = append(parts, dbtPart{span: unproved[0], text: &source.Text{Span: unproved[0]}, unproved: noted(unproved, dbtHook, dbtPlainHooks, report.SeverityError)})
	}
	if f.manifest == nil {
		return append(parts, plain)
	}
	manifest := filepath.ToSlash(f.project.manifestPath())
	found := false
	for _, n := range f.manifest.nodes[f.path] {
		if snapshot != "" && n.Name != snapshot {
			continue
		}
		found = true
		for _, hook := range n.Hooks {
			if hook != "" && !known[dbtText(hook)] {
				parts = append(parts, hookPart(d, t, hook, name))
			}
		}
		switch {
		case !n.current(raw):
			parts = append(parts, dbtPart{span: t.Span, problem: manifest + " is stale: dbt compiled another text than this file has now"})
		case n.Compiled == nil:
			parts = append(parts, plain)
		default:
			parts = append(parts, n.compiled(t, manifest))
		}
	}
	switch {
	case found:
	case f.manifest.disabled[f.path]:
		parts = append(parts, plain)
	default:
		parts = append(parts, dbtPart{span: t.Span, problem: manifest + " has no such query: it is older than the file, or dbt does not read the file"})
	}
	return parts
}

// hookPart returns a hook that another file of the project sets.
func hookPart(d sqlguard.Dialect, t *source.Template, hook, name string) dbtPart {
	part := dbtPart{span: sqlguard.Span{Start: t.Span.Start, End: t.Span.Start}, prefix: "a hook that the project sets for it: "}
	parsed, err := source.ParseTemplate(hook)
	if err != nil {
		part.problem = "a hook that the project sets for it cannot be read: " + reason(err)
		return part
	}
	text, unproved := parsed.Plain(d, name, quoter(d))
	part.text, part.guessed = text, len(unproved) > 0
	for range unproved { // their positions are in another file
		part.unproved = append(part.unproved, noted([]sqlguard.Span{part.span}, part.prefix+dbtUnknown, dbtPlainHooks, report.SeverityError)...)
	}
	return part
}

// compiled returns the query that dbt compiled from a template, with positions
// in the file.
func (n *dbtNode) compiled(t *source.Template, manifest string) dbtPart {
	part := dbtPart{span: t.Span}
	sql := strings.ReplaceAll(*n.Compiled, "\r\n", "\n")
	sql = strings.TrimPrefix(sql, report.ByteOrderMark)
	rest, at, inserted := n.withoutCTEs(sql)
	text, ok := t.Align(rest)
	if !ok {
		part.problem = manifest + " has a compiled text that cannot come from this file"
		return part
	}
	if inserted != "" {
		text = text.Inject(at, inserted, t.Reference(n.ephemeral()))
	}
	part.text = text
	part.unproved = noted(t.Hidden(), dbtHidden, "read the data in the model itself", report.SeverityError)
	if n.RunsSQL != "" && len(part.unproved) == 0 {
		part.unproved = noted([]sqlguard.Span{{Start: t.Span.Start, End: t.Span.Start}}, fmt.Sprintf("%s, which it uses, runs SQL while dbt compiles; that SQL is not judged", n.RunsSQL), "", report.SeverityNote)
	}
	return part
}

// withoutCTEs removes the ephemeral models that dbt inserted: as a WITH of
// their own, or before the first name of an existing WITH. It returns the rest,
// what was removed, and the offset at which it was.
func (n *dbtNode) withoutCTEs(sql string) (rest string, at int, inserted string) {
	if len(n.CTEs) == 0 {
		return sql, 0, ""
	}
	space := func(i int) int { // the offset behind white space
		return len(sql) - len(strings.TrimLeft(sql[i:], " \t\r\n"))
	}
	end := 0
	for i, c := range n.CTEs {
		text := strings.TrimSpace(strings.ReplaceAll(c.SQL, "\r\n", "\n"))
		if i == 0 {
			if at = strings.Index(sql, text); at < 0 || text == "" {
				return sql, 0, ""
			}
			end = at
		} else if end = space(end); !strings.HasPrefix(sql[end:], ",") {
			return sql, 0, ""
		} else {
			end = space(end + 1)
		}
		if !strings.HasPrefix(sql[end:], text) {
			return sql, 0, ""
		}
		end += len(text)
	}
	at = len(strings.TrimRight(sql[:at], " \t\r\n")) // dbt puts one space there or several
	switch next := space(end); {
	case strings.HasPrefix(sql[next:], ","):
		end = next + 1
	case at >= len("with") && strings.EqualFold(sql[at-len("with"):at], "with"):
		at -= len("with")
	default:
		return sql, 0, ""
	}
	return sql[:at] + sql[end:], at, sql[at:end]
}

// ephemeral returns the name of the first ephemeral model in the query.
func (n *dbtNode) ephemeral() string {
	id := n.CTEs[0].ID
	return id[strings.LastIndexByte(id, '.')+1:]
}

// part judges the statements of one text.
func (r *reading) part(guard *sqlguard.Guard, part dbtPart) {
	filled := part.text.Exact()
	place := func(span sqlguard.Span) sqlguard.Span {
		if part.prefix != "" {
			return part.span
		}
		return filled.Place(span)
	}
	unproved := part.unproved
	sum := sha256.Sum256([]byte(filled.SQL))
	fingerprint := hex.EncodeToString(sum[:])
	// add assigns the unproved spans up to an offset to a statement. It reports
	// whether one of them can be any SQL.
	add := func(number, to int) (anything bool) {
		for len(unproved) > 0 && unproved[0].span.Start < to {
			u := unproved[0]
			r.add(sqlguard.Finding{Code: sqlguard.CodeDynamicSQLUnprovable, Message: u.message, Hint: u.hint, Retryable: true}, u.span, number, fingerprint)
			r.file.Findings[len(r.file.Findings)-1].Severity = u.severity
			unproved = unproved[1:]
			anything = anything || u.severity == report.SeverityError
		}
		return anything
	}
	spans := sqlguard.Split(guard.Dialect(), filled.SQL)
	for i, span := range spans {
		at := place(span)
		// The text before a statement belongs to it. The text behind the last
		// statement belongs to that.
		own := sqlguard.Span{Start: max(at.Start, r.last.End), End: max(at.End, r.last.End)}
		r.attach(own)
		to := own.End
		if i == len(spans)-1 {
			to = len(r.text) + 1
		}
		v := guard.Check(filled.SQL[span.Start:span.End])
		number := r.file.Judged
		r.file.Judged++
		before := len(r.file.Findings)
		for _, f := range v.Findings {
			if f.Code == sqlguard.CodeParseError && part.guessed {
				continue // the finding is about a placeholder
			}
			f.Message = part.prefix + f.Message
			r.add(f, place(sqlguard.Span{Start: f.Span.Start + span.Start, End: f.Span.End + span.Start}), number, cmp.Or(v.Fingerprint, fingerprint))
		}
		if add(number, to) {
			v.Allowed, v.Code = false, cmp.Or(v.Code, sqlguard.CodeDynamicSQLUnprovable)
		}
		if !v.Allowed {
			r.file.Refused++
		}
		r.keep(v, at, before)
	}
	if len(unproved) > 0 { // there is no statement to which they belong
		r.attach(sqlguard.Span{Start: max(part.span.Start, r.last.End), End: max(part.span.End, r.last.End)})
		add(r.file.Judged, len(r.text)+1)
	}
}
