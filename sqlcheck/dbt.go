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
	said, err := json.Marshal([]any{f.path, f.manifest != nil, nodes, disabled, macros, f.project.manifestPath(), f.project.enabled(f.path)})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(said)
	return "dbt " + hex.EncodeToString(sum[:])
}

const (
	dbtCompile    = "run dbt compile first: the check judges the queries in target/manifest.json"
	dbtUnknown    = "ktx does not know what dbt replaces this with, and judges the rest of the statement"
	dbtUnread     = "ktx cannot read this statement before dbt compiles it, and has not judged it"
	dbtHidden     = "this runs SQL while dbt compiles the file, and the compiled query does not contain that SQL"
	dbtHook       = "dbt runs this hook with the query, and a macro makes it, so ktx does not judge it"
	dbtPlainHooks = "write hooks as plain strings"
	dbtDisabled   = "dbt does not build this model on a database of this dialect, so ktx does not judge it"
	dbtDefinition = "ktx judges a macro only in the models that use it"
)

// dbtPart is a text that dbt sends to the database on its own, or the reason
// why it cannot be judged.
type dbtPart struct {
	span sqlguard.Span // in the file
	// texts are what dbt can send; it sends one of them.
	texts    []*source.Text
	problem  string
	unproved []dbtUnproved
	// prefix, if set, says which other file the text is from. Its findings are
	// then all at the start of span.
	prefix string
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
		for _, text := range one.Render(d, "x", quoter(d)).Texts {
			guess := text.Guesses(d)[0]
			for _, token := range d.Lex(guess.Text.SQL()).List {
				if token.Kind == sqlguard.TokenComment {
					spans = append(spans, guess.Text.Exact().Place(sqlguard.Span{Start: token.Start, End: token.End}))
				}
			}
		}
	}
	slices.SortFunc(spans, func(x, y sqlguard.Span) int { return x.Start - y.Start })
	spans = slices.Compact(spans)
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
	case "mysql", "bigquery": // in BigQuery, double quotes are those of strings
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
			parts = append(parts, f.query(d, s.Body, s.Name, s.Body.Source(), body)...)
		}
		return parts
	}
	if !t.Empty() && !below(f.path, f.project.macros) {
		return f.query(d, t, "", body, body)
	}
	if definitions := t.Definitions(); len(definitions) > 0 {
		return []dbtPart{{span: definitions[0], unproved: noted(definitions[:1], dbtDefinition, "", report.SeverityNote)}}
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

// plainPart returns the part of a template that dbt has not compiled, or of a
// statement that stands in one. prefix is that of a part.
func plainPart(rendered *source.Rendered, span sqlguard.Span, prefix string) dbtPart {
	part := dbtPart{span: span, texts: rendered.Texts, prefix: prefix}
	part.unproved = append(noted(rendered.Unknown, prefix+dbtUnknown, dbtCompile, report.SeverityNote), noted(rendered.UnknownRuns, prefix+dbtHidden, dbtCompile, report.SeverityError)...)
	return part
}

// besidesParts returns the statements that dbt runs besides the query of a template,
// in the order of their places.
func besidesParts(d sqlguard.Dialect, rendered *source.Rendered, body, name string) []dbtPart {
	var parts []dbtPart
	if len(rendered.UnknownHooks) > 0 {
		parts = append(parts, dbtPart{span: rendered.UnknownHooks[0], unproved: noted(rendered.UnknownHooks, dbtHook, dbtPlainHooks, report.SeverityNote)})
	}
	for _, hook := range rendered.Hooks {
		inner, err := hook.Render(d, body, name, quoter(d))
		if err != nil {
			parts = append(parts, dbtPart{span: hook.Call, problem: "a hook cannot be read: " + reason(err)})
			continue
		}
		parts = append(parts, plainPart(inner, hook.Text.Span, ""))
		for _, run := range inner.Runs {
			parts = append(parts, dbtPart{span: run.Call, texts: []*source.Text{run.Text}})
		}
	}
	for _, run := range rendered.Runs {
		parts = append(parts, dbtPart{span: run.Text.Span, texts: []*source.Text{run.Text}})
	}
	slices.SortStableFunc(parts, func(x, y dbtPart) int { return x.span.Start - y.span.Start })
	return parts
}

// query returns the parts of one query of the file, whose text is raw: its
// hooks, what runs while dbt compiles, and the query. The query is the compiled
// one if dbt has compiled it.
func (f *dbtFile) query(d sqlguard.Dialect, t *source.Template, snapshot, raw, body string) []dbtPart {
	name := cmp.Or(snapshot, strings.TrimSuffix(path.Base(f.path), path.Ext(f.path)))
	rendered := t.Render(d, name, quoter(d))
	if f.manifest == nil && (rendered.Disabled || f.turnedOff(d)) {
		start := sqlguard.Span{Start: t.Span.Start, End: t.Span.Start}
		return []dbtPart{{span: start, unproved: noted([]sqlguard.Span{start}, dbtDisabled, "", report.SeverityNote)}}
	}
	parts := besidesParts(d, rendered, body, name)
	if f.manifest == nil {
		return append(parts, plainPart(rendered, t.Span, ""))
	}
	known := map[string]bool{}
	for _, hook := range rendered.Hooks {
		known[dbtText(hook.Text.SQL())] = true
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
				parts = append(parts, hookParts(d, t, hook, name)...)
			}
		}
		switch {
		case !n.current(raw):
			parts = append(parts, dbtPart{span: t.Span, problem: manifest + " is stale: dbt compiled another text than this file has now"})
		case n.Compiled == nil:
			parts = append(parts, plainPart(rendered, t.Span, ""))
		default:
			parts = append(parts, n.compiled(t, rendered, manifest))
		}
	}
	switch {
	case found:
	case f.manifest.disabled[f.path]:
		parts = append(parts, plainPart(rendered, t.Span, ""))
	default:
		parts = append(parts, dbtPart{span: t.Span, problem: manifest + " has no such query: it is older than the file, or dbt does not read the file"})
	}
	return parts
}

// turnedOff reports whether the project's file certainly turns the model off.
func (f *dbtFile) turnedOff(d sqlguard.Dialect) bool {
	said := f.project.enabled(f.path)
	if strings.Contains(said, "{") {
		parsed, err := source.ParseTemplate(said)
		if err != nil {
			return false
		}
		texts := parsed.Render(d, "", quoter(d)).Texts
		if len(texts) != 1 || len(texts[0].Holes) > 0 {
			return false
		}
		said = texts[0].SQL()
	}
	return strings.EqualFold(strings.TrimSpace(said), "false")
}

// hookParts returns a hook that another file of the project sets.
func hookParts(d sqlguard.Dialect, t *source.Template, hook, name string) []dbtPart {
	const prefix = "a hook that the project sets for it: "
	start := sqlguard.Span{Start: t.Span.Start, End: t.Span.Start}
	parsed, err := source.ParseTemplate(hook)
	if err != nil {
		return []dbtPart{{span: start, problem: "a hook that the project sets for it cannot be read: " + reason(err)}}
	}
	rendered := parsed.Render(d, name, quoter(d)).At(start)
	parts := []dbtPart{plainPart(rendered, start, prefix)}
	for _, run := range rendered.Runs {
		parts = append(parts, dbtPart{span: start, texts: []*source.Text{run.Text}, prefix: prefix})
	}
	return parts
}

// compiled returns the query that dbt compiled from a template, with positions
// in the file.
func (n *dbtNode) compiled(t *source.Template, rendered *source.Rendered, manifest string) dbtPart {
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
	part.texts = []*source.Text{text}
	hidden := slices.DeleteFunc(t.Hidden(), func(span sqlguard.Span) bool { // what it runs is judged
		return slices.ContainsFunc(rendered.Runs, func(run source.Run) bool { return run.Call == span }) && !slices.Contains(rendered.UnknownRuns, span)
	})
	part.unproved = noted(hidden, dbtHidden, "read the data in the model itself", report.SeverityError)
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

// dbtStatement is a statement in a text that dbt can send.
type dbtStatement struct {
	at       sqlguard.Span // in the file
	verdict  sqlguard.Verdict
	findings []sqlguard.Finding // spans are in the file
	unread   bool
}

// statements judges the statements of a text. Where holes can be read in several
// ways, it takes the first way in which the most statements can be read.
func (p dbtPart) statements(guard *sqlguard.Guard, text *source.Text) (best []dbtStatement, unproved []sqlguard.Span) {
	unread := -1
	for _, guess := range text.Guesses(guard.Dialect()) {
		filled := guess.Text.Exact()
		place := func(span sqlguard.Span) sqlguard.Span {
			if p.prefix != "" {
				return p.span
			}
			return filled.Place(span)
		}
		var all []dbtStatement
		failed := 0
		for _, span := range sqlguard.Split(guard.Dialect(), filled.SQL) {
			s := dbtStatement{at: place(span), verdict: guard.Check(filled.SQL[span.Start:span.End])}
			for _, f := range s.verdict.Findings {
				f.Span = sqlguard.Span{Start: f.Span.Start + span.Start, End: f.Span.End + span.Start}
				switch {
				case f.Code == sqlguard.CodeParseError && (len(text.Holes) > 0 || len(p.texts) > 1):
					s.unread = true // dbt may send another text
					failed++
					continue
				case (aboutName[f.Code] || f.Code == sqlguard.CodeTypeNotAllowed) && guess.Touches(f.Span):
					continue // the finding is about a word that stands for a hole
				}
				f.Message, f.Span = p.prefix+f.Message, place(f.Span)
				s.findings = append(s.findings, f)
			}
			all = append(all, s)
		}
		if unread < 0 || failed < unread {
			best, unproved, unread = all, guess.Unproved, failed
		}
		if unread == 0 {
			break
		}
	}
	return best, unproved
}

// part judges what dbt can send of one query or hook. The statements are those
// of the first text. A finding about another text belongs to the statement at
// its place, and is reported once.
func (r *reading) part(guard *sqlguard.Guard, part dbtPart) {
	var (
		statements []dbtStatement
		others     []sqlguard.Finding
		unproved   = part.unproved
		seen       = map[string]bool{}
	)
	first := func(f *sqlguard.Finding) bool {
		key := fmt.Sprintf("%s %d %d", f.Code, f.Span.Start, f.Span.End)
		again := seen[key]
		seen[key] = true
		return !again
	}
	fingerprint := ""
	for i, text := range part.texts {
		found, holes := part.statements(guard, text)
		if i == 0 {
			statements = found
			sum := sha256.Sum256([]byte(text.SQL()))
			fingerprint = hex.EncodeToString(sum[:])
			for _, s := range statements {
				for k := range s.findings {
					first(&s.findings[k])
				}
			}
		}
		for _, span := range holes {
			if part.prefix != "" {
				span = part.span
			}
			unproved = append(unproved, dbtUnproved{span, part.prefix + dbtUnknown, dbtCompile, report.SeverityNote})
		}
		for _, s := range found {
			if s.unread {
				unproved = append(unproved, dbtUnproved{sqlguard.Span{Start: s.at.Start, End: s.at.Start}, part.prefix + dbtUnread, dbtCompile, report.SeverityNote})
			}
			for k := range s.findings {
				if i > 0 && first(&s.findings[k]) {
					others = append(others, s.findings[k])
				}
			}
		}
	}
	slices.SortStableFunc(unproved, func(x, y dbtUnproved) int { return x.span.Start - y.span.Start })
	slices.SortStableFunc(others, func(x, y sqlguard.Finding) int { return x.Span.Start - y.Span.Start })
	// add adds what lies before an offset to a statement. It returns a code of
	// what it added.
	add := func(number, to int) (code sqlguard.Code) {
		for ; len(others) > 0 && others[0].Span.Start < to; others = others[1:] {
			r.add(others[0], others[0].Span, number, fingerprint)
			code = cmp.Or(code, others[0].Code)
		}
		end := 0
		for end < len(unproved) && unproved[end].span.Start < to {
			end++
		}
		if end > 0 { // nobody knows what the statement is
			code = cmp.Or(code, sqlguard.CodeDynamicSQLUnprovable)
		}
		r.unproved(unproved[:end], number, fingerprint)
		unproved = unproved[end:]
		return code
	}
	for i, s := range statements {
		// The text before a statement belongs to it. The text behind the last
		// statement belongs to that.
		own := sqlguard.Span{Start: max(s.at.Start, r.last.End), End: max(s.at.End, r.last.End)}
		r.attach(own)
		to := own.End
		if i == len(statements)-1 {
			to = len(r.text) + 1
		}
		number := r.file.Judged
		r.file.Judged++
		before := len(r.file.Findings)
		v := s.verdict
		for _, f := range s.findings {
			r.add(f, f.Span, number, cmp.Or(v.Fingerprint, fingerprint))
		}
		v.Allowed, v.Code = true, ""
		if len(s.findings) > 0 {
			v.Allowed, v.Code = false, s.verdict.Code
		}
		if code := add(number, to); code != "" {
			v.Allowed, v.Code = false, cmp.Or(v.Code, code)
		}
		if !v.Allowed {
			r.file.Refused++
		}
		r.keep(v, s.at, before)
	}
	if len(unproved)+len(others) > 0 { // there is no statement to which they belong
		r.attach(sqlguard.Span{Start: max(part.span.Start, r.last.End), End: max(part.span.End, r.last.End)})
		add(r.file.Judged, len(r.text)+1)
	}
}

// unproved adds findings about what is not known of a statement: one for each
// error, and one note for all other places.
func (r *reading) unproved(all []dbtUnproved, number int, fingerprint string) {
	add := func(u dbtUnproved) {
		r.add(sqlguard.Finding{Code: sqlguard.CodeDynamicSQLUnprovable, Message: u.message, Hint: u.hint, Retryable: true}, u.span, number, fingerprint)
		r.file.Findings[len(r.file.Findings)-1].Severity = u.severity
	}
	var note *dbtUnproved
	places := map[sqlguard.Span]bool{}
	for i := range all {
		switch u := all[i]; {
		case u.severity == report.SeverityError:
			add(u)
		case note == nil || u.message == dbtUnread && note.message != dbtUnread:
			note = &all[i]
			places[u.span] = true
		default:
			places[u.span] = true
		}
	}
	if note != nil {
		if n := len(places) - 1; n > 0 {
			note.message += fmt.Sprintf(" (and %d more places in it)", n)
		}
		add(*note)
	}
}
