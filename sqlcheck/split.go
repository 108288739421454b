package sqlcheck

import (
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Bounds of splitting.
const (
	// window is how much of a text is split at a time. The tokens of a text
	// take many times its size in memory.
	window = 1 << 20
	// maxStatement bounds one statement, far beyond what the guard reads.
	maxStatement = 8 << 20
)

// splitter splits a text as [sqlguard.Split] does, one window after the other.
type splitter struct {
	dialect sqlguard.Dialect
	window  int
	limit   int // of one statement
}

// split calls yield with the span of each statement, until that returns false,
// and before them, when comment is set, comment with that of each comment of
// the same part of the text. It returns how much of the text
// was split: less than all of it when a statement is longer than the limit.
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
			default: // one long statement: look at more of it
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
			spans = tokens.Statements()
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

// divider is a Dialect whose statements need no terminator between them. Divide
// returns the spans of those in a text without terminators, which are all of it
// but comments.
type divider interface {
	Divide(text string) []sqlguard.Span
}

// statements is split that divides further what a text of a file need not
// separate. Each statement is judged by itself, so that a suppression of one is
// none of the next.
func (s splitter) statements(text string, yield func(sqlguard.Span) bool, comment func(sqlguard.Span)) (done int) {
	d, ok := s.dialect.(divider)
	if !ok {
		return s.split(text, yield, comment)
	}
	return s.split(text, func(whole sqlguard.Span) bool {
		for _, span := range d.Divide(text[whole.Start:whole.End]) {
			if !yield(sqlguard.Span{Start: span.Start + whole.Start, End: span.End + whole.Start}) {
				return false
			}
		}
		return true
	}, comment)
}

// resume returns the last place of a part at which reading can begin anew, 0
// when there is none: the token behind a terminator. A reader's state there is
// that of the start of a text, and nothing before it depends on what comes
// after the part.
func resume(d sqlguard.Dialect, part string) int {
	tokens := d.Lex(part).List
	for i := len(tokens) - 2; i >= 0; i-- { // the last token may go on behind the part
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
// and is no statement, since clients do not send it: in a file for SQL Server
// GO, with how often the batch is to run, and nothing else on the line; in one
// for MySQL the client's command DELIMITER. In a text for the gateway both are
// client commands.
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

// withinLine is a span without the first half of a CR LF at its end, which some
// readers take for part of a command of a client.
func withinLine(text string, span sqlguard.Span) sqlguard.Span {
	if strings.HasSuffix(text[span.Start:span.End], "\r") && strings.HasPrefix(text[span.End:], "\n") {
		span.End--
	}
	return span
}

// newSplitter returns what splits a text. The command DELIMITER holds for all
// that follows, so that a text with one is split at once.
func newSplitter(d sqlguard.Dialect, text string) splitter {
	s := splitter{d, window, maxStatement}
	if len(text) > window && d.Name() == "mysql" && namesDelimiter(text) {
		s.window = len(text)
	}
	return s
}

// namesDelimiter reports whether the word DELIMITER is anywhere in a text.
func namesDelimiter(text string) bool {
	const word = "delimiter"
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}
