package mysql

import (
	"errors"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// unreadError says that a parser could not read a statement.
type unreadError struct{ cause error }

func (e *unreadError) Error() string { return e.cause.Error() }

func (e *unreadError) Unwrap() error { return e.cause }

// errDivided says that a parser sees no statement, or more than one, where the
// server's rules see one.
var errDivided = errors.New("the parser divides the text into other statements")

// errReserved says that a reader is skipped because the server reserves some words.
var errReserved = errors.New("the server reserves the names of window functions")

// errEffort says that a parser would read parts of a statement too often.
var errEffort = errors.New("the text nests too much for this parser")

// rest returns how many bytes of the text the parser had not read, or -1 when it
// does not report that. Its message repeats up to 2,048 of them.
func (e *unreadError) rest() int {
	message := e.Error()
	_, near, ok := strings.Cut(message, ` near "`)
	if !ok {
		return -1
	}
	if _, total, ok := strings.Cut(near, `(total length `); ok && len(near) > 2048 {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(total), ")"))
		if err == nil {
			return n
		}
	}
	return strings.LastIndexByte(near, '"')
}

// syntaxError returns the position at which a text does not parse. The parser
// read the text from the offset from. The error leaves out the parser's message,
// because that repeats the text.
func (w *walker) syntaxError(from int, fault *unreadError) error {
	at := from
	if rest := fault.rest(); rest >= 0 && rest <= w.st.Span.End-from {
		at = w.st.Span.End - rest
	}
	i := 0
	for i < len(w.items)-1 && w.items[i].End <= at {
		i++
	}
	it := &w.items[i]
	message := "syntax error"
	switch {
	case i > 1 && w.kind(i-1) == sqlguard.TokenOpen && w.items[i-2].class&classAny != 0 && w.dialect.adherent(w.items[i-2].text) && w.apart(i-2):
		at = w.items[i-2].Start
		message += " near " + strconv.Quote(w.items[i-2].text) + "; no space may stand between it and its bracket"
	case at >= w.st.Span.End:
		at, message = max(w.st.Span.End-1, 0), "syntax error: the statement ends where more is expected"
	case it.Kind == sqlguard.TokenUnterminated:
		at, message = it.Start, "a literal, quoted name or comment that starts here never ends"
	case it.class&classAny != 0:
		at = max(at, it.Start)
		message += " near " + strconv.Quote(it.text)
	case it.class == classMark:
		at = max(at, it.Start)
		message += " near " + strconv.Quote(it.Text(w.sql))
	case it.class == classString:
		message += " near '…'"
	}
	return &sqlguard.SyntaxError{Message: message, Offset: at}
}
