package sqlcheck

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// The limits of splitting.
const (
	// window is how many bytes of a text are split at a time. The tokens of a
	// text need many times its size in memory.
	window = 1 << 20
	// maxStatement is the most bytes that a statement may have, far more than
	// the guard accepts.
	maxStatement = 8 << 20
)

// splitter splits a text as [sqlguard.Split] does, one window after the other.
type splitter struct {
	dialect sqlguard.Dialect
	window  int
	limit   int // bytes of one statement
	// named says that a comment with the name of a query ends the query before
	// it, as tools read files that need no terminator.
	named bool
	// routines says that the body of a routine of MySQL is part of the statement that
	// creates it.
	routines bool
}

// migrationPart is the comment with which goose, sql-migrate and dbmate divide a
// file: the statement before it needs no terminator.
var migrationPart = regexp.MustCompile(`^--\s*(?:\+(?i:goose|migrate)\s+(?i:up|down|statementbegin|statementend)\b|migrate:(?:up|down)\b)`)

// breakpoint is the line with which Drizzle divides a migration, or the end of one. It
// is a comment but for MySQL, which has none without a space behind --.
var breakpoint = regexp.MustCompile(`--> statement-breakpoint[ \t]*\r?(?:\n|$)`)

// withoutBreakpoints returns a text of MySQL with spaces where Drizzle divides it, and
// with comments of MySQL for those of Liquibase.
func withoutBreakpoints(text string) string {
	if liquibase.MatchString(text) { // it removes its comments, which need no space behind the dashes
		text = liquibaseComment.ReplaceAllString(text, "${1}# ${2}")
	}
	if !strings.Contains(text, "--> statement-breakpoint") {
		return text
	}
	return breakpoint.ReplaceAllStringFunc(text, func(line string) string {
		return ";" + strings.Repeat(" ", len("--> statement-breakpoint")-1) + line[len("--> statement-breakpoint"):]
	})
}

// liquibase is how a file of formatted SQL for Liquibase begins, and liquibaseComment a
// comment that MySQL would read as operators.
var (
	liquibase        = regexp.MustCompile(`(?i)^\s*--\s*liquibase\s+formatted\s+sql\b`)
	liquibaseComment = regexp.MustCompile(`(?m)^([ \t]*)--([^\s-])`)
)

// queryName is the comment that names a query: for goyesql, sqlc and aiosql, and
// for HugSQL.
var queryName = regexp.MustCompile(`^(?:--|#|/\*)\s*(?:name:|:name\s)`)

// split calls yield with the span of each statement until yield returns false.
// If comment is set, split first calls it with each comment of the same part of
// the text. It returns how many bytes were split, which is less than all if a
// statement is longer than the limit.
func (s splitter) split(text string, yield func(sqlguard.Span) bool, comment func(sqlguard.Span)) (done int) {
	from, size := 0, s.window
	for from < len(text) {
		part := text[from:min(from+size, len(text))]
		if from+size < len(text) {
			n := resume(s.dialect, part)
			switch {
			case n > 0:
				part = part[:n]
			case size >= s.limit:
				return from
			default: // one long statement: read more of it
				size *= 2
				continue
			}
		}
		var spans []sqlguard.Span
		sqlguard.WithTokens(s.dialect, part, func(tokens sqlguard.Tokens) {
			if comment != nil {
				for _, t := range tokens.List {
					if t.Kind == sqlguard.TokenComment {
						comment(sqlguard.Span{Start: t.Start + from, End: t.End + from})
					}
				}
			}
			named, divided := s.named && strings.Contains(part, "name"), strings.Contains(part, "migrate") || strings.Contains(part, "+goose")
			if named || divided {
				tokens.List = slices.Clone(tokens.List)
				for i, t := range tokens.List {
					if t.Kind == sqlguard.TokenComment && (named && queryName.MatchString(t.Text(part)) || divided && migrationPart.MatchString(t.Text(part))) {
						tokens.List[i].Kind = sqlguard.TokenTerminator
					}
				}
			}
			spans = tokens.Statements()
			if s.routines {
				spans = routines(part, tokens.List, spans)
			}
		})
		for _, span := range spans {
			if !yield(sqlguard.Span{Start: span.Start + from, End: span.End + from}) {
				return len(text)
			}
		}
		from, size = from+len(part), s.window
	}
	return len(text)
}

// routines joins the spans of a CREATE PROCEDURE, FUNCTION, TRIGGER or EVENT of
// MySQL, whose body has statements between BEGIN and END. A server that gets the
// text as a whole reads it so; only the client mysql needs another delimiter.
func routines(text string, tokens []sqlguard.Token, spans []sqlguard.Span) []sqlguard.Span {
	tokens = withoutComments(tokens)
	var out []sqlguard.Span
	at := 0 // the first token of the span
	for n := 0; n < len(spans); n++ {
		for at < len(tokens) && tokens[at].Start < spans[n].Start {
			at++
		}
		if end := routineEnd(text, tokens[at:]); end > spans[n].End {
			whole := sqlguard.Span{Start: spans[n].Start, End: end}
			for n+1 < len(spans) && spans[n+1].Start < end {
				n++
			}
			out = append(out, whole)
			continue
		}
		out = append(out, spans[n])
	}
	return out
}

func withoutComments(tokens []sqlguard.Token) []sqlguard.Token {
	return slices.DeleteFunc(slices.Clone(tokens), func(t sqlguard.Token) bool { return t.Kind == sqlguard.TokenComment })
}

// routineEnd returns the offset behind the END of the routine that the tokens, which
// have no comments, begin to create, or 0 if they create none, or one whose body has
// no BEGIN.
func routineEnd(text string, tokens []sqlguard.Token) int {
	word := func(i int) string {
		if i < len(tokens) && tokens[i].Kind == sqlguard.TokenWord {
			return strings.ToLower(tokens[i].Text(text))
		}
		return ""
	}
	if word(0) != "create" {
		return 0
	}
	depth, creates := 0, false
	for i := 1; i < len(tokens); i++ {
		switch w := word(i); {
		case tokens[i].Kind == sqlguard.TokenClientCommand, tokens[i].Kind == sqlguard.TokenTerminator && depth == 0:
			return 0
		case depth == 0 && (w == "procedure" || w == "function" || w == "trigger" || w == "event"):
			creates = true
		case !creates && (tokens[i].Kind == sqlguard.TokenOpen || w == "as" || w == "select"):
			return 0
		case creates && (w == "begin" || strings.EqualFold(tokens[i].Text(text), ":begin") || depth > 0 && w == "case"): // label:BEGIN
			depth++
		case depth > 0 && w == "end":
			switch next := word(i + 1); next {
			case "if", "loop", "while", "repeat": // their begin does not count either
				i++
				continue
			case "case", "":
			default:
				if depth == 1 {
					return tokens[i+1].End // its label
				}
			}
			if depth--; depth == 0 {
				return tokens[i].End
			}
			if word(i+1) == "case" {
				i++
			}
		}
	}
	return 0
}

// head returns a statement of a file as it is judged. Of one that creates a routine
// of MySQL, that is what stands before the first terminator in its body.
func head(d sqlguard.Dialect, statement string) string {
	if d.Name() != "mysql" || !strings.Contains(statement, ";") || len(statement) < len("create") || !strings.EqualFold(statement[:len("create")], "create") {
		return statement
	}
	tokens := withoutComments(d.Lex(statement).List)
	end := routineEnd(statement, tokens)
	if end == 0 || strings.Trim(statement[end:], "; \t\r\n") != "" { // a terminator may stand before another delimiter
		return statement
	}
	for _, t := range tokens {
		if t.Kind == sqlguard.TokenTerminator {
			return statement[:t.Start]
		}
	}
	return statement
}

// divider is a Dialect whose statements need no terminator between them. Divide
// returns the spans of the statements in a text without terminators. They cover
// all of it except comments.
type divider interface {
	Divide(text string) []sqlguard.Span
}

// statements is split for files. Statements of dialects that need no terminator
// are judged each on its own, so that a suppression of one does not apply to the
// next. The data behind a COPY of PostgreSQL is split too: data says that a span
// is of it, and most such spans are no SQL.
func (s splitter) statements(text string, yield func(span sqlguard.Span, data bool) bool, comment func(sqlguard.Span)) (done int) {
	sql := func(span sqlguard.Span) bool { return yield(span, false) }
	if s.dialect.Name() == "postgres" {
		return s.dump(text, sql, func(span sqlguard.Span) bool { return yield(span, true) }, comment)
	}
	d, ok := s.dialect.(divider)
	if !ok {
		return s.split(text, sql, comment)
	}
	return s.split(text, func(whole sqlguard.Span) bool {
		for _, span := range d.Divide(text[whole.Start:whole.End]) {
			if !sql(sqlguard.Span{Start: span.Start + whole.Start, End: span.End + whole.Start}) {
				return false
			}
		}
		return true
	}, comment)
}

// copyData is a line that tells psql to send the lines behind it as data, as
// pg_dump writes it. The name, the list of columns and the options are on it, and
// it ends with the terminator.
var copyData = regexp.MustCompile(`(?im)^COPY\s+(?:(?:"[^"\n]*"|[\w$]+)\s*\.\s*)?(?:"[^"\n]*"|[\w$]+)\s*(?:\([^()';\n]*\)\s*)?FROM\s+STDIN\b[^;\n]*;[ \t]*\r?$`)

// dataEnd is the line behind which psql reads statements again.
var dataEnd = regexp.MustCompile(`(?m)^\\\.\r?$`)

// dump is split for a script of psql: what stands between a COPY FROM STDIN and
// the line \. is data, and the text behind it is read as from its start. data is
// called with the statements in the data, which psql would read if the COPY
// failed. Where no such line follows, nothing is data.
func (s splitter) dump(text string, yield, data func(sqlguard.Span) bool, comment func(sqlguard.Span)) (done int) {
	from := 0
	part := func(end int, yield func(sqlguard.Span) bool, comment func(sqlguard.Span)) (done int, more bool) {
		start, more := from, true
		moved := comment
		if comment != nil {
			moved = func(c sqlguard.Span) { comment(sqlguard.Span{Start: c.Start + start, End: c.End + start}) }
		}
		done = s.split(text[start:end], func(span sqlguard.Span) bool {
			more = yield(sqlguard.Span{Start: span.Start + start, End: span.End + start})
			return more
		}, moved)
		return start + done, more
	}
	for strings.Contains(text[from:], "\n\\.") {
		command := copyData.FindStringIndex(text[from:])
		if command == nil {
			break
		}
		start, end := from+command[0], from+command[1]
		closes := dataEnd.FindStringIndex(text[min(end+1, len(text)):])
		if closes == nil {
			break
		}
		var spans []sqlguard.Span
		var comments []sqlguard.Span
		done, _ := part(end, func(span sqlguard.Span) bool { spans = append(spans, span); return true }, func(c sqlguard.Span) { comments = append(comments, c) })
		if done < end || len(spans) == 0 || spans[len(spans)-1].Start != start || strings.TrimSpace(text[spans[len(spans)-1].End:end]) != ";" {
			break // it is within a string, a comment or another statement
		}
		if comment != nil {
			for _, c := range comments {
				comment(c)
			}
		}
		for _, span := range spans {
			if !yield(span) {
				return len(text)
			}
		}
		from = end + 1
		if _, more := part(from+closes[0], data, nil); !more {
			return len(text)
		}
		from += closes[1]
	}
	done, _ = part(len(text), yield, comment)
	return done
}

// resume returns the last offset of a part at which reading can start again, or
// 0 if there is none: the token behind a terminator. There the state of a
// reader is that at the start of a text, and nothing before it depends on what
// comes after the part.
func resume(d sqlguard.Dialect, part string) int {
	tokens := d.Lex(part).List
	for i := len(tokens) - 2; i >= 0; i-- { // the last token may continue behind the part
		if tokens[i].Kind == sqlguard.TokenTerminator {
			return tokens[i+1].Start
		}
	}
	return 0
}

var (
	goLine        = regexp.MustCompile(`(?i)^GO([ \t]+[0-9]+)?$`)
	delimiterLine = regexp.MustCompile(`(?i)^delimiter[ \t]+\S+[^\n]*$`)
)

// separator reports whether span is a line that separates statements in files
// and that clients do not send. For SQL Server this is GO, with an optional
// count, alone on its line. For MySQL it is DELIMITER, a command of the client.
// In a statement that is sent to the gateway, both are client commands.
func separator(dialect, text string, span sqlguard.Span) bool {
	switch dialect {
	case "sqlserver":
		if !goLine.MatchString(strings.TrimSpace(text[span.Start:span.End])) {
			return false
		}
		before := strings.TrimRight(text[:span.Start], " \t\r")
		after := strings.TrimLeft(text[span.End:], " \t\r")
		return (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || strings.HasPrefix(after, "\n"))
	case "mysql":
		return delimiterLine.MatchString(text[span.Start:span.End])
	default:
		return false
	}
}

// withinLine returns span without a CR at its end that is followed by LF. Some
// readers count it as part of a client command.
func withinLine(text string, span sqlguard.Span) sqlguard.Span {
	if strings.HasSuffix(text[span.Start:span.End], "\r") && strings.HasPrefix(text[span.End:], "\n") {
		span.End--
	}
	return span
}

// newSplitter returns the splitter for a text, in which the names of queries end
// statements if named is set. The command DELIMITER changes how the rest of the
// text is split, and a routine must not be cut, so a text with one of them is split
// as a whole.
func newSplitter(d sqlguard.Dialect, text string, named bool) splitter {
	s := splitter{dialect: d, window: window, limit: maxStatement, named: named, routines: d.Name() == "mysql"}
	if len(text) > window && s.routines && (namesDelimiter(text) || routineHead.MatchString(text)) {
		s.window = len(text)
	}
	return s
}

// routineHead is how statements begin that create a routine.
var routineHead = regexp.MustCompile(`(?i)\bcreate\s+(?:or\s+replace\s+)?(?:definer\s*=\s*\S+\s+)?(?:aggregate\s+)?(?:procedure|function|trigger|event)\b`)

// namesDelimiter reports whether the word DELIMITER occurs in a text.
func namesDelimiter(text string) bool {
	const word = "delimiter"
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}
