package postgres

import (
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// Dialect reads PostgreSQL and, with a [Profile], a relative of it. The zero value is
// ready to use.
type Dialect struct{ profile *profile }

var _ sqlguard.Dialect = Dialect{}

// Name returns "postgres".
func (Dialect) Name() string { return "postgres" }

// Version names the parser of this build, its version and its grammar, and the relative
// of PostgreSQL.
func (d Dialect) Version() string {
	if d.profile == nil {
		return parserVersion
	}
	return parserVersion + "; " + d.profile.title
}

// SystemSchema returns the schema of system relations whose name has no schema.
func (Dialect) SystemSchema() string { return "pg_catalog" }

// Analyze parses sql and states what each of its statements does. Comments alone are no
// statement. The error is a *sqlguard.SyntaxError when sql does not parse, is not UTF-8
// or contains a NUL character.
//
// The parser recurses once per nesting level. Untrusted SQL needs a bound on its depth
// before it reaches Analyze; a Guard checks that.
func (d Dialect) Analyze(sql string) ([]sqlguard.Statement, error) {
	return analyze(sql, walker{profile: d.profile})
}

// analyze walks every statement of a text with a copy of the walker.
func analyze(sql string, with walker) ([]sqlguard.Statement, error) {
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return nil, &sqlguard.SyntaxError{Message: "the text holds a NUL character", Offset: i}
	}
	if !utf8.ValidString(sql) {
		return nil, &sqlguard.SyntaxError{Message: "the text is not valid UTF-8"}
	}
	tree, err := parseTree(sql)
	if err != nil {
		if plain, changed := withoutComments(sql); changed {
			tree, err = parseTree(plain)
		}
	}
	if err != nil {
		return nil, syntaxError(sql, err)
	}
	statements := make([]sqlguard.Statement, len(tree.Stmts))
	for i, raw := range tree.Stmts {
		st := &statements[i]
		st.Span = statementSpan(sql, int(raw.StmtLocation), int(raw.StmtLen))
		w := with
		w.sql, w.st, w.near = sql, st, st.Span.Start
		if raw.Stmt == nil {
			w.unreadable()
			continue
		}
		w.noteBares(raw.Stmt.GetSelectStmt())
		if !w.part {
			w.settle(raw.Stmt.GetSelectStmt())
		}
		w.node(raw.Stmt)
		w.describe(raw.Stmt)
	}
	return statements, nil
}

// lookahead are the words that the parser reads together with the next one. The parsers of
// both builds do not look behind a comment there, which the server does.
var lookahead = lexical.Set("with without not nulls format")

// withoutComments returns sql with spaces in place of the comments behind such words, and
// whether there are any. A comment counts only if nothing in it could end it, or a text around
// it, so that it is one however a server reads what stands before.
func withoutComments(sql string) (plain string, changed bool) {
	var text []byte
	behind := false
	for _, t := range (Dialect{}).Lex(sql).List {
		body := t.Text(sql)
		switch {
		case t.Kind == sqlguard.TokenComment && behind:
			inner := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(body, "/*"), "*/"), "--")
			if strings.Trim(lexical.Lower(inner), "abcdefghijklmnopqrstuvwxyz0123456789_,. ") != "" {
				continue
			}
			if text == nil {
				text = []byte(sql)
			}
			for i := t.Start; i < t.End; i++ {
				text[i] = ' '
			}
		default:
			behind = t.Kind == sqlguard.TokenWord && lookahead[lexical.Lower(body)]
		}
	}
	return string(text), text != nil
}

// describe adds the facts about the result of the statement.
func (w *walker) describe(n *node) {
	if s := n.GetSelectStmt(); s != nil {
		w.st.Columns = w.outputNames(s)
		switch {
		case s.Op != setopNone:
		case len(s.ValuesLists) > 0:
			w.st.Verb = sqlguard.VerbValues
		case w.tableKeyword():
			w.st.Verb = sqlguard.VerbTable
		}
		return
	}
	if n.GetExplainStmt() != nil {
		w.st.Columns = []string{"QUERY PLAN"}
	} else if show := n.GetVariableShowStmt(); show != nil && !strings.EqualFold(show.Name, "all") {
		w.st.Columns = []string{show.Name}
	}
}

// statementSpan trims the range that the parser gives for a statement. It removes white
// space, comments and the terminator around it. A length of 0 means the range ends where
// sql ends.
func statementSpan(sql string, start, length int) sqlguard.Span {
	end := len(sql)
	if length > 0 {
		end = min(start+length, len(sql))
	}
	l := lexer{sql: sql[:end], pos: start}
	first, ok := l.code()
	if !ok {
		return sqlguard.Span{Start: start, End: end}
	}
	span := sqlguard.Span{Start: first.Start, End: end}
	if rest := sql[first.Start:end]; strings.Contains(rest, "--") || strings.Contains(rest, "*/") {
		// The text may end in a comment, which only the lexer recognises.
		for t := first; ok; t, ok = l.code() {
			if t.Kind != sqlguard.TokenTerminator {
				span.End = t.End
			}
		}
		return span
	}
	for span.End > span.Start && (byteClass[sql[span.End-1]] == byteSpace || sql[span.End-1] == ';') {
		span.End--
	}
	return span
}

// parserError is the error of a parser for SQL that it cannot read.
type parserError struct {
	message   string
	character int // 1-based; 0 when unknown
}

func (e *parserError) Error() string { return e.message }

// syntaxError turns the parser's error into one with a byte offset. It removes literals
// from the message, because the parser quotes them.
func syntaxError(sql string, err error) error {
	failure, ok := err.(*parserError) //nolint:errorlint // parseTree returns it without wrapping
	if !ok {
		return err
	}
	offset := len(sql)
	if failure.character > 0 {
		offset = 0
		for range failure.character - 1 {
			if offset >= len(sql) {
				break
			}
			_, n := utf8.DecodeRuneInString(sql[offset:])
			offset += n
		}
	}
	message := failure.message
	if before, _, quoted := strings.Cut(message, ` at or near "`); quoted {
		message = before
		l := lexer{sql: sql, pos: offset}
		if t, ok := l.next(); ok {
			message += " at or near " + shown(sql, t)
			offset = t.Start
		}
	}
	return &sqlguard.SyntaxError{Message: message, Offset: offset}
}

// shown returns a token as a message shows it: literals without their content.
func shown(sql string, t sqlguard.Token) string {
	const most = 64
	text := t.Text(sql)
	if t.Kind == sqlguard.TokenString || t.Kind == sqlguard.TokenUnterminated {
		return "'…'"
	}
	if t.Kind == sqlguard.TokenNumber {
		return "a number"
	}
	if len(text) > most {
		return "a long name"
	}
	return `"` + text + `"`
}
