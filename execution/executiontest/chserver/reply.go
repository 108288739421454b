package chserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Reply is the answer to one statement.
type Reply struct {
	SQL     string
	Params  url.Values
	Context context.Context //nolint:containedctx // it is that of the one request

	w     http.ResponseWriter
	r     *http.Request
	old   bool
	begun bool
	ended bool
}

// Text writes a value as a string of JSON, in which bytes above ASCII stand for themselves.
func Text(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// Columns begins the rows. The arguments are names and types in turn.
func (r *Reply) Columns(pairs ...string) {
	var names, types []string
	for i := 0; i+1 < len(pairs); i += 2 {
		names, types = append(names, Text(pairs[i])), append(types, Text(pairs[i+1]))
	}
	r.w.Header().Set("Content-Type", "application/x-ndjson; charset=UTF-8")
	r.begun = true
	r.Write("[" + strings.Join(names, ", ") + "]\n[" + strings.Join(types, ", ") + "]\n")
}

// Row writes a row of values in JSON. It is false when the statement was ended.
func (r *Reply) Row(values ...string) bool {
	if r.Context != nil && r.Context.Err() != nil {
		r.cancelled()
		return false
	}
	r.Write("[" + strings.Join(values, ", ") + "]\n")
	return !r.ended
}

// Write writes text as it is.
func (r *Reply) Write(text string) {
	if _, err := io.WriteString(r.w, text); err != nil {
		r.ended = true
	}
}

// Flush sends what was written.
func (r *Reply) Flush() { _ = http.NewResponseController(r.w).Flush() }

// Hang waits until the statement is ended, and fails as a statement then does.
func (r *Reply) Hang() {
	<-r.Context.Done()
	r.cancelled()
}

// Deaf waits until the client leaves; a KILL does not end the statement.
func (r *Reply) Deaf() { <-r.r.Context().Done() }

func (r *Reply) cancelled() {
	if errors.Is(context.Cause(r.Context), errKilled) {
		r.Fail("394", "Query was cancelled. (QUERY_WAS_CANCELLED)")
	} else {
		r.Abort()
	}
}

// Abort breaks the connection.
func (r *Reply) Abort() { panic(http.ErrAbortHandler) }

// Fail ends the statement with an error: with a status before the rows, and otherwise as
// text behind them.
func (r *Reply) Fail(code, message string) {
	if r.ended {
		return
	}
	r.ended = true
	text := fmt.Sprintf("Code: %s. DB::Exception: %s (version 26.5.3.1)\n", code, message)
	if r.old {
		text = fmt.Sprintf("Code: %s, e.displayText() = DB::Exception: %s, e.what() = DB::Exception\n", code, message)
	}
	if !r.begun {
		r.w.Header().Set("X-ClickHouse-Exception-Code", code)
		r.w.WriteHeader(http.StatusInternalServerError)
		r.Write(text)
		return
	}
	r.Flush()
	if r.old {
		r.Write(text)
		return
	}
	r.Write("__exception__\r\nabcdefghijklmnop\r\n" + text + fmt.Sprintf("%d abcdefghijklmnop\r\n__exception__\r\n", len(text)))
	r.Flush()
	r.Abort() // such an answer has no last chunk
}

// One answers with one value of a type.
func (r *Reply) One(name, typ, value string) {
	r.Columns(name, typ)
	r.Row(value)
}
