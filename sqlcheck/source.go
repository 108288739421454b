package sqlcheck

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlcheck/source"
	"github.com/ktxhq/ktx/sqlguard"
)

// source judges the SQL in a file of another language, and returns the
// suppressions in it. Without a guard, [elsewhere] holds for the file.
func (c *Checker) source(ctx context.Context, guard *sqlguard.Guard, in Input, found *source.Source, body string, shift int, file *report.File) []allow {
	r := c.reading(file, body, shift)
	c.schemaCalls(in, body, shift, file)
	allows, stands := besides(found, body)
	if in.partly {
		before := strings.TrimPrefix(string(in.before), report.ByteOrderMark)
		var known []string
		was := in
		was.Path = cmp.Or(in.Was, in.Path) // from where it refers to others
		if old, err := source.Find(was.Path, before, c.options(was)); err == nil {
			known = standingTexts(old, before)
		}
		r.touched = compare(before, body, known, standingTexts(found, body))
	}
	judge := func(sql string) sqlguard.Verdict { return newer(guard.Dialect(), sql, guard.Check) }
	back := func(*source.Text) {}
	migrates := false
	if o, ok := c.migrates(in.Path); ok && guard != nil {
		migrates = true
		var takesBack func(bool)
		judge, takesBack, _ = migrator(guard, o, body)
		back = r.direction(body, takesBack)
	}
	lines := newLineTable(body)
	group := &alternatives{}
	for i, t := range found.Texts {
		if ctx.Err() != nil {
			return nil
		}
		if first, last := lines.of(min(t.Call, t.Span.Start)), lines.of(t.Span.End); r.touched != nil && !r.touched.statement(i, first, last) {
			if migrates && t.SQL() != "" { // what follows can depend on it: it may create the table
				back(t)
				sql := t.Fill(guard.Dialect()).SQL
				for _, span := range sqlguard.Split(guard.Dialect(), sql) {
					judge(sql[span.Start:span.End])
				}
			}
			continue
		}
		from := file.Judged
		group = group.of(t, found.Texts[i:])
		back(t)
		if t.SQL() == "" {
			r.filledElsewhere(t, group, wholeHole+i)
			for _, a := range stands[i] {
				allows[a].Holes = append(allows[a].Holes, wholeHole+i)
			}
			continue
		}
		r.embedded(guard, judge, t, group)
		for _, a := range stands[i] {
			if allows[a].Statement < 0 {
				allows[a].Statement = from
			}
			allows[a].Last = file.Judged - 1
		}
	}
	for _, a := range allows {
		if r.touched == nil || a.Statement >= 0 || len(a.Holes) > 0 { // on a statement that is judged
			r.permit(a)
		}
	}
	slices.SortStableFunc(file.Findings, func(x, y report.Finding) int { return x.Span.Start - y.Span.Start })
	return r.allows
}

// elsewhere reports whether each text of a file is filled in elsewhere as a whole, and may
// be no SQL at all. Then no dialect is needed to say so.
func elsewhere(found *source.Source) bool {
	return !slices.ContainsFunc(found.Texts, func(t *source.Text) bool { return t.SQL() != "" || t.Configured })
}

// besides returns the suppressions in comments of the file's own language, and
// for each text of SQL those that apply to it. A suppression applies to a text
// if it is on a line of its own before the call, or on a line between the start
// of the call and the end of the text.
func besides(found *source.Source, body string) (allows []allow, stands [][]int) {
	stands = make([][]int, len(found.Texts))
	for i, span := range found.Comments {
		if a, ok := parseAllow(found.Comment(i, body)); ok {
			a.Span = span
			allows = append(allows, a)
		}
	}
	if len(allows) == 0 {
		return nil, stands
	}
	lines := newLineTable(body)
	for i, t := range found.Texts {
		first, last := lines.of(min(t.Call, t.Span.Start)), lines.of(t.Span.End)
		for j := range allows {
			line := lines.of(allows[j].Span.Start)
			if line >= first && line <= last || line == first-1 && alone(body, allows[j].Span.Start) {
				stands[i] = append(stands[i], j)
			}
		}
	}
	return allows, stands
}

// standingTexts returns each text of SQL in a file with the suppressions on it.
func standingTexts(found *source.Source, body string) []string {
	allows, stands := besides(found, body)
	texts := make([]string, len(found.Texts))
	for i, t := range found.Texts {
		texts[i] = unixLines(t.SQL())
		for _, j := range stands[i] {
			texts[i] += "\x00" + unixLines(body[allows[j].Span.Start:allows[j].Span.End])
		}
	}
	return texts
}

// alternatives are the texts that one expression can have. A finding about all
// of them is reported once.
type alternatives struct {
	call  int
	span  sqlguard.Span
	texts []*source.Text
	found map[string]bool
}

// of returns the alternatives to which the first of some texts belongs.
func (a *alternatives) of(t *source.Text, texts []*source.Text) *alternatives {
	if a.found != nil && a.call == t.Call && a.span == t.Span {
		return a
	}
	n := slices.IndexFunc(texts, func(other *source.Text) bool { return other.Call != t.Call || other.Span != t.Span })
	if n < 0 {
		n = len(texts)
	}
	return &alternatives{call: t.Call, span: t.Span, texts: texts[:n], found: map[string]bool{}}
}

// otherReads reports whether the guard can read another of the alternatives. Then one that
// it cannot read may be made of branches of the program that never meet.
func (a *alternatives) otherReads(guard *sqlguard.Guard, t *source.Text) bool {
	return slices.ContainsFunc(a.texts, func(other *source.Text) bool {
		return other != t && other.SQL() != "" && reads(guard, other.Fill(guard.Dialect()))
	})
}

// first reports whether a finding at a span of the file is the first of its
// kind.
func (a *alternatives) first(f *sqlguard.Finding, span sqlguard.Span) bool {
	key := fmt.Sprintf("%s %d %d %s", f.Code, span.Start, span.End, f.Message)
	seen := a.found[key]
	a.found[key] = true
	return !seen
}

const (
	holeMessage = "the program fills this hole with something that is not a value, so the statement can be anything"
	holeHint    = "choose between whole statements, and insert values only"

	templateMessage = "a program fills in this template, and ktx judges the rest of the statement"
	templateUnread  = "a program fills in this template, and ktx cannot read the statement without it"
	templateHint    = "check the files that the program makes of the templates"
)

// aboutName are the codes of findings about a name in a statement.
var aboutName = map[sqlguard.Code]bool{
	sqlguard.CodeExternalRelation: true, sqlguard.CodeRelationNotAllowed: true, sqlguard.CodeFunctionNotAllowed: true, sqlguard.CodeColumnNotAllowed: true,
	sqlguard.CodeSettingNotAllowed: true, sqlguard.CodePragmaNotAllowed: true, sqlguard.CodeUnresolvedObject: true,
}

// wholeHole is the number of the first text of a file that is filled in elsewhere as a
// whole. Such a text has no number of a statement.
const wholeHole = 1 << 30

// filledElsewhere reports a text that is filled in elsewhere as a whole: an error if the
// configuration of the project says that it is SQL. Otherwise it may be judged in the other
// file, or be no SQL at all.
func (r *reading) filledElsewhere(t *source.Text, group *alternatives, number int) {
	sum := sha256.Sum256(nil)
	for _, h := range t.Holes {
		f := sqlguard.Finding{
			Code: sqlguard.CodeDynamicSQLUnprovable, Message: "the whole statement is a hole that is filled elsewhere, so it can be anything",
			Hint: "pass a constant; if this is a function of yours, list it under check.sinks in ktx.yaml, and its callers are judged", Retryable: true,
		}
		if !group.first(&f, h.Span) {
			continue
		}
		r.add(f, h.Span, number, hex.EncodeToString(sum[:]))
		if !t.Configured || t.Quotes(h.Span) {
			r.file.Findings[len(r.file.Findings)-1].Severity = report.SeverityNote
		}
	}
}

// embedded judges the statements of one text.
func (r *reading) embedded(guard *sqlguard.Guard, judge func(string) sqlguard.Verdict, t *source.Text, group *alternatives) {
	filled := t.Fill(guard.Dialect())
	if strings.Contains(t.SQL(), "?") && !reads(guard, filled) {
		if names := t.FillNames(guard.Dialect()); reads(guard, names) {
			filled = names
		}
	}
	severity := report.SeverityError
	if !t.Configured && !t.Certain { // it may be no SQL at all
		severity = report.SeverityNote
	}
	number := r.file.Judged
	sum := sha256.Sum256([]byte(t.SQL()))
	fingerprint := hex.EncodeToString(sum[:])
	for _, span := range filled.Unproved {
		f := sqlguard.Finding{
			Code: sqlguard.CodeDynamicSQLUnprovable, Message: holeMessage,
			Hint: holeHint, Retryable: true,
		}
		if !group.first(&f, span) {
			continue
		}
		r.add(f, span, number, fingerprint)
		r.file.Findings[len(r.file.Findings)-1].Severity = severity
		if filled.Names || t.Quotes(span) || t.Tagged && !t.Configured && quotes(r.text[span.Start:span.End]) {
			r.file.Findings[len(r.file.Findings)-1].Severity = report.SeverityNote // the library quotes it
		}
	}
	tokens := guard.Dialect().Lex(filled.SQL)
	statements := tokens.Statements()
	if guard.Dialect().Name() == "mysql" {
		statements = routines(filled.SQL, tokens.List, statements)
	}
	r.within(filled, tokens, statements)
	for _, span := range statements {
		v := ofScript(guard.Dialect(), filled.SQL[span.Start:span.End], judge(head(guard.Dialect(), filled.SQL[span.Start:span.End])))
		number := r.file.Judged
		r.file.Judged++
		before := len(r.file.Findings)
		for _, f := range v.Findings {
			if f.Code == sqlguard.CodeParseError && len(filled.Unproved) > 0 {
				continue // the finding is about a placeholder
			}
			at := filled.Place(sqlguard.Span{Start: f.Span.Start + span.Start, End: f.Span.End + span.Start})
			if aboutName[f.Code] && filled.Guesses(sqlguard.Span{Start: f.Span.Start + span.Start, End: f.Span.End + span.Start}) {
				continue // so is this one
			}
			if !group.first(&f, at) {
				continue
			}
			r.add(f, at, number, v.Fingerprint)
			if (aboutName[f.Code] || f.Code == sqlguard.CodeParseError) && ofOther(guard.Dialect(), t.Receiver) {
				r.file.Findings[len(r.file.Findings)-1].Severity = report.SeverityNote
			} else if f.Code == sqlguard.CodeParseError {
				r.file.Findings[len(r.file.Findings)-1].Severity = severity
				text := filled.SQL[span.Start:span.End]
				part := clause.MatchString(text) || t.Tagged && !strings.HasPrefix(t.Sink, "$") && !writes.MatchString(text) // of which the library makes a statement
				if t.Emptied || !t.Configured && part || group.otherReads(guard, t) {                                        // the program may never send it, or puts it behind a statement
					r.file.Findings[len(r.file.Findings)-1].Severity = report.SeverityNote
				}
			}
		}
		if !v.Allowed {
			r.file.Refused++
		}
		r.keep(v, filled.Place(span), before)
	}
}

// engines are words in the names of connections, and their dialects.
var engines = map[string]string{
	"clickhouse": "clickhouse", "bigquery": "bigquery", "duckdb": "duckdb", "sqlite": "sqlite", "mysql": "mysql", "mariadb": "mysql",
	"postgres": "postgres", "postgresql": "postgres", "mssql": "sqlserver", "sqlserver": "sqlserver", "snowflake": "snowflake", "redshift": "redshift", "oracle": "oracle",
}

// ofOther reports whether the name of what a text is sent to, such as
// db.ClickhouseReader, is that of another dialect than the file's.
func ofOther(d sqlguard.Dialect, receiver string) bool {
	receiver = strings.ToLower(receiver)
	for word, dialect := range engines {
		if dialect != d.Name() && strings.Contains(receiver, word) {
			return true
		}
	}
	return false
}

// writes is how a statement begins that writes.
var writes = regexp.MustCompile(`^(?i:insert|update|delete|merge|replace|create|alter|drop|truncate|grant|revoke|call|copy|do|exec|execute)\b`)

// clause is how a part of a statement begins that some functions take, such as the
// condition of a query that they make.
var clause = regexp.MustCompile(`^(?i:where|and|or|order\s+by|group\s+by|having|limit|offset|(?:(?:left|right|inner|full|cross)\s+(?:outer\s+)?)?join)\b`)

// separators is a call that makes what stands between values, such as sql.raw(', ').
var separators = regexp.MustCompile("\\b(?:raw|unsafe|literal)\\(\\s*(?:'[\\s,]*'|\"[\\s,]*\"|`[\\s,]*`)\\s*\\)")

// quotes reports whether the library of a tag quotes or binds what fills a hole of
// a template. It fills in a text as it is only where the program says so, as in
// sql`SELECT * FROM ${ sql.unsafe(name) }`.
func quotes(hole string) bool {
	hole = separators.ReplaceAllString(strings.ToLower(hole), "")
	return !strings.Contains(hole, "raw") && !strings.Contains(hole, "unsafe") && !strings.Contains(hole, "literal")
}

// reads reports whether the guard can read every statement of a text.
func reads(guard *sqlguard.Guard, filled *source.Filled) bool {
	for _, span := range sqlguard.Split(guard.Dialect(), filled.SQL) {
		if guard.CheckOnce(filled.SQL[span.Start:span.End]).Code == sqlguard.CodeParseError {
			return false
		}
	}
	return true
}

// within assigns the suppressions in the SQL of a text to the statements that
// are judged next: to the statement that contains the comment, else to the
// statement that ends before the comment on its line, else to the next
// statement.
func (r *reading) within(filled *source.Filled, tokens sqlguard.Tokens, statements []sqlguard.Span) {
	if !strings.Contains(filled.SQL, allowMark) {
		return
	}
	for _, token := range tokens.List {
		if token.Kind != sqlguard.TokenComment {
			continue
		}
		a, ok := parseAllow(filled.SQL[token.Start:token.End])
		if !ok {
			continue
		}
		next := slices.IndexFunc(statements, func(s sqlguard.Span) bool { return s.End > token.Start })
		if next < 0 {
			next = len(statements)
		}
		inside := next < len(statements) && statements[next].Start <= token.Start
		if !inside && next > 0 && !strings.ContainsAny(filled.SQL[statements[next-1].End:token.Start], "\r\n") {
			next--
		}
		if next < len(statements) {
			a.Statement, a.Last = r.file.Judged+next, r.file.Judged+next
		}
		a.Span = filled.Place(sqlguard.Span{Start: token.Start, End: token.End})
		r.permit(a)
	}
}

// permit adds a suppression at its position in the text.
func (r *reading) permit(a allow) {
	a.Line, a.Column = r.allowLines.position(a.Span.Start)
	a.EndLine, a.EndColumn = r.end(a.Line, a.Column, a.Span)
	a.Span = sqlguard.Span{Start: a.Span.Start + r.shift, End: a.Span.End + r.shift}
	r.allows = append(r.allows, a)
}

// alone reports whether a line has nothing but white space before an offset, or
// the quote that begins a line of a notebook cell. A comment behind code
// belongs to its own line.
func alone(text string, offset int) bool {
	line := text[:offset]
	line = line[strings.LastIndexAny(line, "\r\n")+1:]
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), `"`)) == ""
}

// lineTable has the offsets at which the lines of a text begin.
type lineTable []int

func newLineTable(text string) lineTable {
	t := lineTable{0}
	for i := range len(text) {
		if text[i] == '\n' || text[i] == '\r' && !strings.HasPrefix(text[i+1:], "\n") {
			t = append(t, i+1)
		}
	}
	return t
}

// of returns the line of an offset, counted from 1.
func (t lineTable) of(offset int) int {
	i, found := slices.BinarySearch(t, offset)
	if found {
		i++
	}
	return i
}
