package research

import (
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/sqlguard"
)

// ToolError is what a caller is told about a failed call: the member ktx/error of the
// _meta over MCP, and the body over REST.
type ToolError struct {
	Code         sqlguard.Code     `json:"code"`
	Message      string            `json:"message"`
	Retryable    bool              `json:"retryable"` // the same call may succeed later
	Hint         string            `json:"hint,omitempty"`
	RetryAfterMs int64             `json:"retryAfterMs,omitempty"`
	Server       string            `json:"server,omitempty"` // another MCP server
	Tool         string            `json:"tool,omitempty"`   // of that server
	SQLState     string            `json:"sqlstate,omitempty"`
	Position     int               `json:"position,omitempty"`
	Verdict      *sqlguard.Verdict `json:"verdict,omitempty"`
}

// errorResult returns the in-band answer of a call that failed. Its text begins
// with the code and says what is wrong, where, why, and what to do next.
func errorResult(err error, sql string, notes []string) *mcp.CallToolResult {
	e := describe(err, sql)
	text := fmt.Sprintf("%s: %s", e.Code, e.Message)
	if e.Hint != "" {
		text += "\nHint: " + e.Hint
	}
	meta := mcp.Meta{"ktx/error": e}
	if len(notes) > 0 {
		text += "\nNote: " + strings.Join(notes, "; ")
		meta["ktx/notes"] = notes
	}
	return &mcp.CallToolResult{Meta: meta, IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// The limits of what an error repeats of a statement.
const (
	maxMessages   = 10      // findings whose message is in the text
	maxNormalized = 4 << 10 // bytes of the normalized statement in the verdict
)

// describe returns what the client is told of err. An error that is neither a
// refusal nor an error of the gateway is internal, and its text is withheld.
func describe(err error, sql string) ToolError {
	if x, ok := errors.AsType[*upstream.Error](err); ok {
		return describeUpstream(x)
	}
	if r, ok := errors.AsType[*sqlguard.RejectedError](err); ok {
		v := r.Verdict
		if len(v.Normalized) > maxNormalized {
			v.Normalized = ""
		}
		e := ToolError{Code: v.Code, Verdict: &v} // the same statement would be refused again
		var messages, hints []string
		for i, f := range v.Findings {
			if i == maxMessages {
				messages = append(messages, fmt.Sprintf("and %d more", len(v.Findings)-i))
				break
			}
			messages = append(messages, fmt.Sprintf("%s (line %d, column %d)", f.Message, f.Line, f.Column))
			if f.Hint != "" && !strings.Contains(strings.Join(hints, "; "), f.Hint) {
				hints = append(hints, f.Hint)
			}
		}
		e.Message, e.Hint = strings.Join(messages, "; "), strings.Join(hints, "; ")
		return e
	}
	if x, ok := errors.AsType[*execution.Error](err); ok {
		e := ToolError{
			Code: x.Code, Message: x.Message, Retryable: x.Retryable, RetryAfterMs: x.RetryAfter.Milliseconds(),
			SQLState: x.SQLState, Position: x.Position, Hint: x.Hint,
		}
		e.Message += place(x, sql)
		if x.ServerHint != "" {
			e.Hint = strings.TrimSuffix(x.ServerHint+"; "+e.Hint, "; ")
		}
		if e.Hint == "" {
			e.Hint = sqlguard.HintFor(x.Code)
		}
		return e
	}
	if x, ok := errors.AsType[*expr.Error](err); ok {
		return ToolError{Code: sqlguard.Code(x.Class), Message: x.Message, Hint: x.Hint}
	}
	return ToolError{Code: sqlguard.CodeInternalError, Message: "the tool met a fault of its own"}
}

// place returns the code that the database gave the error and its position in
// the statement, in parentheses, as far as they are known.
func place(x *execution.Error, sql string) string {
	var parts []string
	switch {
	case strings.HasPrefix(x.SQLState, "SQLITE_"):
		parts = append(parts, x.SQLState)
	case len(x.SQLState) != 5: // the error number of SQL Server, which the message has
	case x.SQLState != "":
		parts = append(parts, "SQLSTATE "+x.SQLState)
	}
	if x.Position > 0 && sql != "" {
		line, column := sqlguard.Position(sql, x.Position-1)
		parts = append(parts, fmt.Sprintf("line %d, column %d", line, column))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
