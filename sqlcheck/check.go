package sqlcheck

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlcheck/source"
	"github.com/ktxhq/ktx/sqlguard"
)

// maxFile is the most bytes that a file may have.
const maxFile = 64 << 20

// large and largeSource are the sizes in bytes from which files are judged one at a time,
// which bounds the memory for their tokens, and for the trees of source files.
const (
	large       = 4 << 20
	largeSource = 256 << 10
)

// Chooser returns the guard that judges a file. text is the file without its
// byte order mark. known is what the file's dbt project says about its
// database. If there is no guard, the finding says why. The Object of a finding
// dialect_unknown is the engine whose dialect nobody can read here, if that is
// known.
type Chooser func(path, text string, known Known) (*sqlguard.Guard, *sqlguard.Finding)

// Checker judges files. Choose is required.
type Checker struct {
	Stdin  io.Reader
	Choose Chooser
	// Says, if set, returns a short text of which Choose says the same as of the text of a
	// file, so that a file that did not change need not be read again. Otherwise that
	// is a first line that can name the dialect.
	Says func(path, text string) string
	// Whole keeps every verdict. Otherwise a Checker counts the statements and
	// keeps the findings of those that may not run.
	Whole bool
	// Spool, if set, keeps these verdicts outside of memory.
	Spool *report.Spool
	// Sources, if set, returns the options for a file of another language than
	// SQL.
	Sources func(path string) source.Options
	// Migrations, if set, says whether an SQL file is a migration, which is judged
	// by what it does to a running system instead of whether it only reads.
	Migrations func(path string) (migration.Options, bool)
	// Parameters, if set, reports for a file of SQL whether its parameters ($1, ?,
	// :name, @name, sqlc.arg(name)) stand for values that a program sends. They
	// do if it is not set.
	Parameters func(path string) bool
	// Severities, if set, returns the severities that codes have in a file, where
	// they are not the usual ones.
	Severities func(path string) map[sqlguard.Code]report.Severity
	// Strict reports files of engines that nobody can read here. Otherwise they
	// are skipped.
	Strict bool
	// Today is the day on which suppressions must be valid.
	Today time.Time
	// Jobs is how many files are judged at a time. 0 means one for each
	// processor.
	Jobs int
	// Cache, if set, is asked before the guard. It is not used with Whole.
	Cache *Cache
	// OnFile, if set, is called after each file, from several goroutines.
	OnFile func()

	alone    sync.Mutex // held for a large file
	projects dbtProjects
	library  *source.Library // what the files say about one another
	near     *neighbours
	folder   string // the current one
	compared *comparison
	learning sync.Mutex
	learned  map[string]knownFile // for the cache, by absolute path with slashes
	opened   func(path string)    // a test's
}

// Run judges the inputs, several at a time, and returns the results in their
// order. The only error is that of ctx.
func (c *Checker) Run(ctx context.Context, inputs []Input) ([]report.File, error) {
	near := newNeighbours()
	defer near.close()
	c.library, c.near = source.NewLibrary(near), near
	c.folder, _ = os.Getwd()
	c.compared, c.learned = newComparison(), map[string]knownFile{}
	files := make([]report.File, len(inputs))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(cmp.Or(c.Jobs, runtime.GOMAXPROCS(0)), len(inputs)) {
		wg.Go(func() {
			for i := range next {
				files[i] = c.one(ctx, inputs[i])
				if c.OnFile != nil {
					c.OnFile()
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer wg.Wait()
		defer close(next)
		for i := range inputs {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	select {
	case <-done:
	case <-ctx.Done(): // a read from a pipe may block
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("check files: %w", err)
	}
	if len(c.learned) > 0 {
		c.Cache.learn(c.learned, c.library.Uses(), near.was, c.compared.same)
	}
	return files, nil
}

// one judges one file. If the file cannot be judged, or a reader of files
// panics, the file gets a finding.
func (c *Checker) one(ctx context.Context, in Input) (file report.File) {
	blank := report.File{Path: filepath.ToSlash(in.Path), Statements: []report.Statement{}, Findings: []report.Finding{}}
	if in.Stdin {
		blank.Path = in.Path
	}
	file = blank
	defer func() {
		if r := recover(); r != nil {
			file = blank
			file.Findings = append(file.Findings, notChecked("the parser of this dialect failed with an internal error"))
		}
	}()
	if in.Problem != "" {
		file.Findings = append(file.Findings, notChecked(in.Problem))
		return file
	}
	path, remembers := c.remembers(in)
	var at identity
	since := time.Now()
	if remembers {
		at = identityOf(openedPath(in))
		if allows, ok := c.remember(in, path, at, &file); ok {
			c.settle(in, &file, allows)
			return file
		}
	}
	text, err := c.read(in)
	if err != nil {
		file.Findings = append(file.Findings, notChecked(err.Error()))
		return file
	}
	if in.Was != "" && !c.alike(in, strings.TrimPrefix(text, report.ByteOrderMark)) {
		in = in.AsNew()
	}
	if len(text) >= large || len(text) >= largeSource && source.Reads(in.Path) {
		c.alone.Lock()
		defer c.alone.Unlock()
	}
	allows, found := c.judge(ctx, in, text, &file)
	if remembers && found.cached {
		c.learn(in, path, at, since, found)
	}
	c.settle(in, &file, allows)
	if c.Spool != nil {
		c.Spool.Flush(&file)
	}
	if len(file.Findings) > 0 {
		file.Text = text
		for i := range file.Findings {
			file.Findings[i].Quoted = nil // of the cache
		}
	}
	return file
}

// settle applies the suppressions in a file, and the severities that its project
// sets.
func (c *Checker) settle(in Input, file *report.File, allows []allow) {
	settle(file, allows, c.Today)
	if c.Severities != nil && len(file.Findings) > 0 {
		severities := c.Severities(in.Path)
		for i := range file.Findings {
			if severity, ok := severities[file.Findings[i].Code]; ok {
				file.Findings[i].Severity = severity
			}
		}
	}
	file.Findings = once(file.Findings)
}

// once returns the findings without those that say the same about the same place,
// as when several statements share a text. What counts is kept, and the more severe.
func once(findings []report.Finding) []report.Finding {
	type place struct {
		code sqlguard.Code
		span sqlguard.Span
	}
	weight := func(f *report.Finding) int {
		heavy := map[report.Severity]int{report.SeverityError: 3, report.SeverityWarning: 2, report.SeverityNote: 1}[f.Severity]
		if f.Counts() {
			heavy += 3
		}
		return heavy
	}
	kept := map[place]int{}
	out := findings[:0]
	for i := range findings {
		f := &findings[i]
		key := place{f.Code, f.Span}
		if at, seen := kept[key]; !seen {
			kept[key] = len(out)
			out = append(out, *f)
		} else if weight(f) > weight(&out[at]) {
			out[at] = *f
		}
	}
	return out
}

// judge asks the guard about every statement of text, and returns the
// suppressions in it. All offsets are in the file as it is. A byte order mark
// counts in spans but not in columns.
func (c *Checker) judge(ctx context.Context, in Input, text string, file *report.File) ([]allow, judged) {
	body := strings.TrimPrefix(text, report.ByteOrderMark) // the mark is encoding, not SQL
	shift := len(text) - len(body)
	var found *source.Source
	if source.Reads(in.Path) {
		texts, err := source.Find(in.Path, body, c.options(in))
		if syntax, ok := errors.AsType[*source.SyntaxError](err); ok {
			r := reading{file: file, text: body, shift: shift, lines: lineIndex{text: body}}
			r.add(notChecked("the file cannot be read: "+syntax.Message).Finding, sqlguard.Span{Start: syntax.Offset, End: syntax.Offset}, -1, "")
			return nil, judged{}
		}
		if len(texts.Texts) == 0 {
			if c.schemaCalls(in, body, shift, file); len(file.Findings) > 0 {
				return nil, judged{} // the cache knows no findings of a file without a dialect
			}
			return nil, judged{cached: true} // the file is not for any dialect
		}
		found = texts
	}
	model := c.dbtFile(in.Path)
	if model != nil && model.problem != "" {
		file.Findings = append(file.Findings, notChecked(model.problem))
		return nil, judged{}
	}
	guard, problem := c.Choose(in.Path, body, model.known())
	cached := c.Cache != nil && !c.Whole && !in.partly && !c.readsTree(in.Path)
	if problem != nil && problem.Code == sqlguard.CodeDialectUnknown && problem.Object == "" && found != nil && elsewhere(found) {
		return c.source(ctx, nil, in, found, body, shift, file), judged{}
	}
	if problem != nil {
		found := fileFinding(*problem)
		found.Span = sqlguard.Span{Start: shift, End: shift}
		file.Findings = append(file.Findings, found)
		how := judged{}
		if cached { // so that the file need not be read again to say the same
			key := c.Cache.unread(text)
			how = judged{cached: c.Cache.put(key, file, text, nil), said: c.said(in.Path, body), guard: noGuard, key: string(key[:])}
		}
		c.unread(file, *problem)
		return nil, how
	}
	file.Dialect = guard.Dialect().Name()
	if !cached {
		return c.statements(ctx, guard, in, found, model, body, shift, file), judged{}
	}
	key := c.Cache.key(guard, c.kind(in, model, found), text)
	id := guard.ID()
	how := judged{cached: true, said: c.said(in.Path, body), guard: string(id[:]), key: string(key[:])}
	if e, ok := c.Cache.get(key); ok {
		file.Judged, file.Refused, file.Findings = e.Judged, e.Refused, append([]report.Finding{}, e.Findings...)
		return e.Allows, how
	}
	allows := c.statements(ctx, guard, in, found, model, body, shift, file)
	how.cached = ctx.Err() == nil && c.Cache.put(key, file, text, allows)
	return allows, how
}

// unread says that there is no guard for a file, whose only finding is about that.
func (c *Checker) unread(file *report.File, problem sqlguard.Finding) {
	if problem.Code == sqlguard.CodeDialectUnknown && problem.Object != "" && !c.Strict {
		file.Skipped, file.Findings = problem.Object, []report.Finding{}
		return
	}
	for i := range file.Findings {
		f := &file.Findings[i]
		problem.Span, problem.Line, problem.Column = f.Span, f.Line, f.Column
		f.Finding = problem
	}
}

// reading returns a reading of the text that begins at the offset shift of a
// file.
func (c *Checker) reading(file *report.File, body string, shift int) reading {
	r := reading{file: file, text: body, shift: shift, lines: lineIndex{text: body}, allowLines: lineIndex{text: body}}
	switch {
	case c.Whole && c.Spool != nil:
		r.keeps = func(s report.Statement) { c.Spool.Add(file, s) }
	case c.Whole:
		r.keeps = func(s report.Statement) { file.Statements = append(file.Statements, s) }
	}
	return r
}

func (c *Checker) options(in Input) source.Options {
	o := source.Options{}
	if c.Sources != nil {
		o = c.Sources(in.Path)
	}
	if path, ok := c.absolute(in.Path); ok && !in.Stdin {
		o.Path, o.Library = path, c.library
	}
	return o
}

// kind says as what the file is read. It is part of the cache key.
func (c *Checker) kind(in Input, model *dbtFile, found *source.Source) string {
	if model != nil {
		return model.kind()
	}
	if !source.Reads(in.Path) {
		if kind := c.migrationKind(in); kind != "" {
			return kind
		}
		return "sql" + map[bool]string{true: " with parameters"}[c.parameters(in)]
	}
	return strings.ToLower(filepath.Ext(in.Path)) + " " + found.Sum() + c.migrationKind(in)
}

// migrationKind says as which migration a file is read, or nothing.
func (c *Checker) migrationKind(in Input) string {
	if o, ok := c.migrates(in.Path); ok {
		return fmt.Sprint("migration ", o.Transaction)
	}
	return ""
}

// statements asks the guard about every statement of body, which begins at the
// offset shift in the file.
func (c *Checker) statements(ctx context.Context, guard *sqlguard.Guard, in Input, found *source.Source, model *dbtFile, body string, shift int, file *report.File) []allow {
	switch {
	case found != nil:
		return c.source(ctx, guard, in, found, body, shift, file)
	case model != nil:
		return c.template(ctx, guard, model, body, shift, file)
	}
	r := c.reading(file, body, shift)
	if guard.Dialect().Name() == "mysql" {
		body = withoutBreakpoints(body)
	}
	parameters := c.parameters(in)
	all := newSplitter(guard.Dialect(), body, parameters)
	expressions := parameters && strings.Contains(body, "-- :name ") && (strings.Contains(body, "--~") || strings.Contains(body, "/*~"))
	var comment func(sqlguard.Span)
	if expressions || strings.Contains(body, allowMark) {
		comment = func(span sqlguard.Span) {
			if text := body[span.Start:span.End]; expressions && (strings.HasPrefix(text, "--~") || strings.HasPrefix(text, "/*~")) { // code of HugSQL that makes SQL
				r.add(hole(span), span, -1, "")
			}
			r.comment(span)
		}
	}
	if in.partly {
		before := strings.TrimPrefix(string(in.before), report.ByteOrderMark)
		r.touched = compare(before, body, standing(before, guard.Dialect(), parameters), standing(body, guard.Dialect(), parameters))
	}
	judge := guard.CheckOnce
	if c.Whole {
		judge = guard.Check
	}
	migrates, down, takesBack := false, len(body), func(bool) {}
	if o, ok := c.migrates(in.Path); ok {
		migrates = true
		judge, takesBack, down = migrator(guard, o, body)
	} else {
		reads := judge
		judge = func(sql string) sqlguard.Verdict { return newer(guard.Dialect(), sql, reads) }
	}
	done := all.statements(body, func(span sqlguard.Span, data bool) bool {
		if separator(file.Dialect, body, span) {
			return ctx.Err() == nil
		}
		span = withinLine(body, span)
		if span.Start > down {
			down = len(body)
			takesBack(true)
		}
		if !r.attach(span) {
			if migrates { // what follows can depend on it: it may create the table
				judge(body[span.Start:span.End])
			}
			return ctx.Err() == nil
		}
		v := ofScript(guard.Dialect(), body[span.Start:span.End], judge(head(guard.Dialect(), body[span.Start:span.End])))
		if parameters && (!v.Allowed && slices.ContainsFunc(v.Findings, func(f sqlguard.Finding) bool {
			return f.Code == sqlguard.CodeParameterNotAllowed || f.Code == sqlguard.CodeParseError || f.Code == sqlguard.CodeOperatorNotAllowed || strings.HasPrefix(f.Object, "sqlc.")
		}) || source.HasTemplateInName(guard.Dialect(), body[span.Start:span.End])) {
			v = withParameters(guard, judge, body, span, v)
		}
		if file.Dialect == "mysql" && v.Code == sqlguard.CodeParseError && sourced.MatchString(body[span.Start:span.End]) {
			v.Code = sqlguard.CodeClientCommand
			v.Findings = []sqlguard.Finding{{Code: v.Code, Message: "source is a command of the mysql client, not SQL", Hint: sqlguard.HintFor(v.Code), Span: sqlguard.Span{End: span.End - span.Start}, Retryable: true}}
		}
		if expressions && unparsed(v) {
			if at := expression(body[span.Start:span.End]); at.End > 0 { // alternatives that are never sent together
				f := hole(at)
				v.Code, v.Findings = f.Code, []sqlguard.Finding{f}
			}
		}
		if !data || runs(v, body[span.Start:span.End]) {
			r.statement(span, v)
		}
		return ctx.Err() == nil
	}, comment)
	r.suppressions(sqlguard.Span{Start: len(body), End: len(body)}, r.touched == nil)
	if done < len(body) {
		r.add(notChecked("a statement longer than 8 MiB begins here; it and the rest of the file were not checked").Finding, sqlguard.Span{Start: done, End: done}, -1, "")
	}
	return r.allows
}

// expression returns the first comment with code of HugSQL in a statement.
func expression(sql string) sqlguard.Span {
	at := codeComment.FindStringIndex(sql)
	if at == nil {
		return sqlguard.Span{}
	}
	return sqlguard.Span{Start: at[0], End: at[1]}
}

var codeComment = regexp.MustCompile(`(?s)--~[^\r\n]*|/\*~.*?\*/`)

// scriptPart is how the parts of a script of BigQuery begin that are no statements of
// their own, when a file is split at its terminators.
var scriptPart = regexp.MustCompile(`^(?i:end(?:\s+(?:if|loop|while|for|repeat|case))?\s*(?:[A-Za-z_]\w*\s*)?$|exception\s+when\b|elseif\b|else\b|until\b)`)

// ofScript returns the verdict on a part of a script of BigQuery: it does not parse
// by itself.
func ofScript(d sqlguard.Dialect, text string, v sqlguard.Verdict) sqlguard.Verdict {
	if d.Name() == "bigquery" && v.Code == sqlguard.CodeParseError && scriptPart.MatchString(text) {
		v.Code = sqlguard.CodeProceduralBlock
		v.Findings = []sqlguard.Finding{{
			Code: v.Code, Message: "this is a part of a script, which runs other statements", Hint: sqlguard.HintFor(v.Code),
			Span: sqlguard.Span{End: len(text)}, Retryable: true,
		}}
	}
	return v
}

// sourced is the command of the mysql client that runs a file.
var sourced = regexp.MustCompile(`^(?i:source)[ \t]+\S`)

// runs reports whether a part of the data of a COPY is a statement that may not
// run. psql reads data as statements when the COPY fails.
func runs(v sqlguard.Verdict, text string) bool {
	switch {
	case v.Allowed, v.Code == sqlguard.CodeParseError, v.Code == sqlguard.CodeClientCommand:
		return false
	case v.Verb == "": // it was not parsed
		return source.LooksLikeSQL(text)
	default:
		return true
	}
}

// parameters reports whether parameters in a file of SQL stand for values. In
// standard input without the name of a file they do not: that is a statement as
// it is sent.
func (c *Checker) parameters(in Input) bool {
	if in.Stdin && filepath.Ext(in.Path) == "" {
		return false
	}
	return c.Parameters == nil || c.Parameters(in.Path)
}

// withParameters judges a statement with a value for each parameter, as a
// program sends it. Its positions are those in the statement as it stands in
// the file.
func withParameters(guard *sqlguard.Guard, judge func(string) sqlguard.Verdict, body string, span sqlguard.Span, as sqlguard.Verdict) sqlguard.Verdict {
	filled := source.Parameters(guard.Dialect(), body[span.Start:span.End], 0, false)
	if filled == nil {
		return as
	}
	v := judge(head(guard.Dialect(), filled.SQL))
	if unparsed(v) {
		tables := source.Parameters(guard.Dialect(), body[span.Start:span.End], 0, true)
		if w := judge(head(guard.Dialect(), tables.SQL)); !unparsed(w) {
			filled, v = tables, w
		}
	}
	if unparsed(v) && !unparsed(as) && len(filled.Unproved) == 0 {
		return as // no value can stand there
	}
	var findings []sqlguard.Finding // the guard keeps its own slice
	unread := unparsed(v)
	template := false // one finding for all templates of the statement
	for _, at := range filled.Unproved {
		f := hole(at)
		if source.IsTemplate(guard.Dialect(), body[span.Start+at.Start:span.Start+at.End]) {
			if template {
				continue
			}
			template = true
			f.Message, f.Hint = templateMessage, templateHint
			if unread {
				f.Message = templateUnread
			}
		}
		findings = append(findings, f)
	}
	for _, f := range v.Findings {
		if aboutName[f.Code] && filled.Guesses(f.Span) {
			continue // it is about what stands for the hole
		}
		if f.Code != sqlguard.CodeParseError || len(filled.Unproved) == 0 { // else it is about what stands for the hole
			f.Span = filled.Place(f.Span)
			findings = append(findings, f)
		}
	}
	if v.Findings = findings; len(filled.Unproved) > 0 {
		v.Allowed, v.Code = false, findings[0].Code
	}
	return v
}

// unparsed reports whether a statement could not be read.
func unparsed(v sqlguard.Verdict) bool {
	return slices.ContainsFunc(v.Findings, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeParseError })
}

// hole returns the finding about a part of a statement that can be any SQL.
func hole(span sqlguard.Span) sqlguard.Finding {
	return sqlguard.Finding{Code: sqlguard.CodeDynamicSQLUnprovable, Message: holeMessage, Hint: holeHint, Retryable: true, Span: span}
}

// notChecked returns the finding of a file that is not judged.
func notChecked(reason string) report.Finding {
	return fileFinding(sqlguard.Finding{Code: sqlguard.CodeNotChecked, Message: reason})
}

// fileFinding returns a finding about a file as a whole.
func fileFinding(f sqlguard.Finding) report.Finding {
	f.Line, f.Column = 1, 1
	return report.Finding{Finding: f, Severity: report.SeverityError, EndLine: 1, EndColumn: 1, Statement: -1}
}

var errTooLarge = errors.New("the file is larger than 64 MiB")

func (c *Checker) read(in Input) (string, error) {
	if in.content != nil {
		return decode(in.content)
	}
	r, size := c.Stdin, int64(0)
	if !in.Stdin {
		if c.opened != nil {
			c.opened(in.Path)
		}
		f, err := in.open()
		if err != nil {
			return "", errors.New(unreadable(err))
		}
		defer func() { _ = f.Close() }()
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			if size = info.Size(); size > maxFile {
				return "", errTooLarge
			}
		}
		r = f
	}
	var text bytes.Buffer
	text.Grow(int(size) + bytes.MinRead) // so that the last read needs no larger buffer
	_, err := text.ReadFrom(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return "", errors.New(unreadable(err))
	case text.Len() > maxFile:
		return "", errTooLarge
	}
	return decode(text.Bytes())
}

// open opens the file. It fails if the file is no longer a regular file:
// opening a pipe could block.
func (in Input) open() (*os.File, error) {
	if in.Named {
		return os.Open(in.Path) //nolint:wrapcheck // the reader says what it did
	}
	f, err := os.OpenFile(cmp.Or(in.target, in.Path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err //nolint:wrapcheck // as above
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeType&^os.ModeDir != 0 {
		_ = f.Close()
		return nil, errors.Join(err, errNotRegular)
	}
	return f, nil
}

var errNotRegular = errors.New("it is not a regular file any more")

// decode returns the content of a file, which must be UTF-8.
func decode(text []byte) (string, error) {
	switch {
	case utf8.Valid(text):
		return string(text), nil
	case len(text) > 1 && (text[0] == 0xff && text[1] == 0xfe || text[0] == 0xfe && text[1] == 0xff):
		return "", errors.New("the file is UTF-16, not UTF-8")
	default:
		return "", fmt.Errorf("the file is not UTF-8: byte %d does not begin a character", invalidAt(text))
	}
}

// invalidAt returns the offset of the first byte that is not valid UTF-8.
func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}
