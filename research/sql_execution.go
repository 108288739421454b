package research

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/execution"
)

// SQLExecutionInput is the input of sql_execution.
type SQLExecutionInput struct {
	ConnectionID string `json:"connectionId"`
	SQL          string `json:"sql"`
	// MaxRows is the most rows to return. 0 means DefaultMaxRows.
	MaxRows int `json:"maxRows"`
	// MaxBytes is the most bytes of the answer as JSON. 0 means
	// DefaultMaxBytes.
	MaxBytes int64 `json:"maxBytes"`

	// OnStage is called at each stage of the statement. It may be nil.
	OnStage func(execution.Stage) `json:"-"`

	notes []string // about the arguments; they come before the notes of the answer
}

// The defaults of [SQLExecutionInput].
const (
	DefaultMaxRows  = 1000
	DefaultMaxBytes = 256 << 10
)

// SQLExecutionOutput is the answer of sql_execution. Rows are positional.
type SQLExecutionOutput struct {
	Headers     []string
	HeaderTypes []string // nil if the driver does not know them
	Rows        [][]execution.Value
	Truncated   bool
	TruncatedBy execution.TruncatedBy
	ElapsedMs   int64
	// Notes are for the reader of the answer: which arguments were ignored, which limits
	// were lowered, and what to do about a truncated result. They count as bytes of the
	// answer.
	Notes []string

	size int // of the answer as JSON, when it was measured
}

// SQLExecution runs one read-only statement. Errors are those of
// [execution.Gateway.Query]. An error about an unknown table or column names the
// nearest ones of the last scan.
func (s *Service) SQLExecution(ctx context.Context, in SQLExecutionInput) (*SQLExecutionOutput, error) {
	info, err := s.gateway.Connection(ctx, in.ConnectionID)
	if err != nil {
		return nil, err
	}
	notes := slices.Clone(in.notes)
	rows, note := capped("maxRows", int64(in.MaxRows), DefaultMaxRows, int64(info.Limits.Rows))
	notes = append(notes, note...)
	size, note := capped("maxBytes", in.MaxBytes, DefaultMaxBytes, info.Limits.Bytes)
	notes = append(notes, note...)
	res, err := s.gateway.Query(ctx, execution.Request{
		ConnectionID: in.ConnectionID, SQL: in.SQL, OnStage: in.OnStage,
		Limits: execution.Limits{Rows: int(rows), Bytes: size},
	})
	if err != nil {
		return nil, s.withNearNames(ctx, in.ConnectionID, in.SQL, err)
	}
	out := tableOf(res)
	describe := func(note []string) {
		switch {
		case out.TruncatedBy == execution.TruncatedByRows && rows < int64(info.Limits.Rows):
			note = append(note, fmt.Sprintf("maxRows may be up to %d", info.Limits.Rows))
		case out.TruncatedBy == execution.TruncatedByBytes && size < info.Limits.Bytes:
			note = append(note, fmt.Sprintf("maxBytes may be up to %d", info.Limits.Bytes))
		}
		out.Notes = slices.Clip(notes)
		if len(note) > 0 {
			out.Notes = append(out.Notes, strings.Join(note, "; "))
		}
	}
	out.Notes = notes
	describe(out.fit(res, size))
	for range 2 { // a note takes bytes too, and a shorter answer has another note
		if out.fitting(size) == len(out.Rows) {
			break
		}
		describe(out.fit(res, size))
	}
	return out, nil
}

// tableOf returns a result as an answer.
func tableOf(res *execution.Result) *SQLExecutionOutput {
	out := &SQLExecutionOutput{
		Headers: make([]string, len(res.Columns)), Rows: res.Rows,
		Truncated: res.Truncated, TruncatedBy: res.TruncatedBy, ElapsedMs: res.Elapsed.Milliseconds(),
	}
	known := len(res.Columns) > 0
	types := make([]string, len(res.Columns))
	for i, c := range res.Columns {
		out.Headers[i], types[i] = c.Name, c.Type
		known = known && c.Type != ""
	}
	if known {
		out.HeaderTypes = types
	}
	return out
}

// capped returns the limit to use: asked, or standard if asked is not set, but
// at most ceiling. It returns a note if ceiling is less than asked.
func capped(name string, asked, standard, ceiling int64) (int64, []string) {
	switch {
	case asked <= 0:
		return min(standard, ceiling), nil
	case asked > ceiling:
		return ceiling, []string{fmt.Sprintf("%s was lowered from %d to this connection's limit of %d", name, asked, ceiling)}
	default:
		return asked, nil
	}
}

// fit removes rows from the end until the answer as JSON has at most size
// bytes. It returns notes about what is missing.
func (o *SQLExecutionOutput) fit(res *execution.Result, size int64) (note []string) {
	if n := o.fitting(size); n < len(o.Rows) {
		short := *res
		short.CutBytes(size)
		o.Truncated, o.TruncatedBy = true, short.TruncatedBy
		short.Rows = res.Rows[:o.fitting(size)] // the answer now also says that it was cut
		short.CutBytes(size)
		res, o.Rows = &short, short.Rows
	}
	if res.Note != "" {
		note = append(note, res.Note)
	}
	return note
}

// fitting returns how many of the rows fit into an answer of at most size
// bytes.
func (o *SQLExecutionOutput) fitting(size int64) int {
	total := int64(len(o.appendHead(nil)) + len(o.appendTail(nil)))
	var row []byte
	for i, values := range o.Rows {
		row = appendRow(row[:0], values)
		if i > 0 {
			total++ // the comma
		}
		if total += int64(len(row)); total > size {
			return i
		}
	}
	o.size = int(total)
	return len(o.Rows)
}

var _ appender = (*SQLExecutionOutput)(nil)

// AppendJSON appends the answer as one JSON object, with numbers as the server
// wrote them.
func (o *SQLExecutionOutput) AppendJSON(b []byte) []byte {
	b = o.appendHead(slices.Grow(b, o.size))
	for i, row := range o.Rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRow(b, row)
	}
	return o.appendTail(b)
}

func (o *SQLExecutionOutput) appendHead(b []byte) []byte {
	b = append(b, `{"headers":`...)
	b = appendStrings(b, o.Headers)
	if o.HeaderTypes != nil {
		b = append(b, `,"headerTypes":`...)
		b = appendStrings(b, o.HeaderTypes)
	}
	return append(b, `,"rows":[`...)
}

func (o *SQLExecutionOutput) appendTail(b []byte) []byte {
	b = append(b, `],"rowCount":`...)
	b = strconv.AppendInt(b, int64(len(o.Rows)), 10)
	b = append(b, `,"truncated":`...)
	b = strconv.AppendBool(b, o.Truncated)
	if o.Truncated {
		b = append(b, `,"truncatedBy":`...)
		b = execution.Value{Kind: execution.String, Text: string(o.TruncatedBy)}.AppendJSON(b)
	}
	if len(o.Notes) > 0 {
		b = appendStrings(append(b, `,"notes":`...), o.Notes)
	}
	b = append(b, `,"elapsedMs":`...)
	return append(strconv.AppendInt(b, o.ElapsedMs, 10), '}')
}

func appendRow(b []byte, row []execution.Value) []byte {
	b = append(b, '[')
	for i, v := range row {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.AppendJSON(b)
	}
	return append(b, ']')
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = execution.Value{Kind: execution.String, Text: s}.AppendJSON(b)
	}
	return append(b, ']')
}

// handleSQLExecution is [Service.SQLExecution] with progress notifications.
func (s *Service) handleSQLExecution(ctx context.Context, c *toolCall, in SQLExecutionInput) (*SQLExecutionOutput, error) {
	c.sql, in.notes = in.SQL, c.notes
	in.OnStage = func(stage execution.Stage) {
		switch stage {
		case execution.StageValidating:
			c.progress(ctx, 0, "Validating SQL")
		case execution.StageExecuting:
			c.progress(ctx, 0.3, "Executing")
		}
	}
	out, err := s.SQLExecution(ctx, in)
	if err != nil {
		return nil, err
	}
	c.progress(ctx, 1, fmt.Sprintf("Fetched %d rows", len(out.Rows)))
	c.notes, c.noted = out.Notes, true
	return out, nil
}
