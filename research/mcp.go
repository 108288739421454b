package research

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// instructions is what the server tells a client about its work flow.
const instructions = `ktx runs read-only SQL on the configured databases. Work in this order:
1. connection_list: pick the connection and note its engine, which decides the SQL dialect.
2. Find the tables with sql_execution: sqlite_schema and PRAGMA table_info(name) (SQLite), information_schema.tables and information_schema.columns (all others).
3. Look at a few rows and at the distinct values of the columns you filter by, before you write literals.
4. sql_execution: one SELECT a call. Aggregate in SQL; do not fetch rows to count them.
A refusal begins with its code and says where and why; mend the statement as its hint says and call again. A result with truncated: true is not complete.`

// Server returns an MCP server with the tools of s. The caller brings the
// transport and runs it. version is the product's.
func (s *Service) Server(version string) (*mcp.Server, error) {
	list, err := tools()
	if err != nil {
		return nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "ktx", Title: "ktx", Version: version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       s.logger,
		// The SDK answers prompts/list, with none, and who answers it must
		// declare it.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
	})
	for _, t := range list {
		server.AddTool(&mcp.Tool{
			Name: t.name, Title: t.title, Description: t.description, InputSchema: t.input, OutputSchema: t.output,
		}, s.handle(t))
	}
	array := toolsArray(list)
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if listed, ok := res.(*mcp.ListToolsResult); ok && err == nil {
				return &toolsResult{ListToolsResult: listed, array: array}, nil
			}
			return res, err
		}
	})
	return server, nil
}

// toolsResult is the SDK's answer to tools/list with our own bytes as its
// tools: the SDK sorts them and adds hints that we leave out.
type toolsResult struct {
	*mcp.ListToolsResult
	array json.RawMessage
}

// MarshalJSON keeps the SDK's envelope and replaces its tools member.
func (r *toolsResult) MarshalJSON() ([]byte, error) {
	envelope, err := json.Marshal(r.ListToolsResult)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(envelope, &members); err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	members["tools"] = r.array
	return json.Marshal(members)
}

// toolCall is one call of a tool.
type toolCall struct {
	tool    *tool
	request *mcp.CallToolRequest
	sql     string // the statement of the call, for the place of an error
	notes   []string
	logger  *slog.Logger
	notices *notices // nil before the first
}

// decode reads the arguments into target by the tool's schema.
func (c *toolCall) decode(target any) error {
	notes, err := decodeArguments(c.request.Params.Arguments, c.tool.schema, target)
	c.notes = append(c.notes, notes...)
	return err
}

// progress tells how far the call is, when the caller asked for it. It never
// waits for the client to read: a statement, which may hold the slot of others,
// must not wait for it either.
func (c *toolCall) progress(ctx context.Context, progress float64, message string) {
	token := c.request.Params.GetProgressToken()
	if token == nil || c.request.Session == nil {
		return
	}
	if c.notices == nil {
		c.notices = newNotices(func(p *mcp.ProgressNotificationParams) {
			if err := c.request.Session.NotifyProgress(ctx, p); err != nil && ctx.Err() == nil {
				c.logger.WarnContext(ctx, "progress was not sent", "tool", c.tool.name, "error", err)
			}
		})
	}
	c.notices.add(&mcp.ProgressNotificationParams{ProgressToken: token, Progress: progress, Message: message})
}

// close returns when every notice is sent, so that none follows the answer.
func (c *toolCall) close() {
	if c.notices != nil {
		c.notices.close()
	}
}

// notices are sent in order by a goroutine of their own.
type notices struct {
	list chan *mcp.ProgressNotificationParams
	sent chan struct{} // closed when all are
}

// maxNotices is how many may wait for a slow client; what comes on top of them
// is left out.
const maxNotices = 8

func newNotices(send func(*mcp.ProgressNotificationParams)) *notices {
	n := &notices{list: make(chan *mcp.ProgressNotificationParams, maxNotices), sent: make(chan struct{})}
	go func() {
		defer close(n.sent)
		for p := range n.list {
			send(p)
		}
	}()
	return n
}

func (n *notices) add(p *mcp.ProgressNotificationParams) {
	select {
	case n.list <- p:
	default:
	}
}

func (n *notices) close() {
	close(n.list)
	<-n.sent
}

// handle wraps a tool's handler: who asks goes into the context, panics and
// errors become in-band answers.
func (s *Service) handle(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, _ error) {
		defer func() {
			if r := recover(); r != nil {
				id := rand.Text()
				s.logger.ErrorContext(ctx, "a tool met a fault", "tool", t.name, "request", id, "panic", r, "stack", string(debug.Stack()))
				res = errorResult(execution.NewError(sqlguard.CodeInternalError, "the tool met a fault of its own; request "+id, nil), "", nil)
			}
		}()
		call := &toolCall{tool: t, request: req, logger: s.logger}
		defer call.close()
		out, err := t.handler(s, withClient(ctx, req), call)
		if err != nil {
			return errorResult(err, call.sql, call.notes), nil
		}
		return &mcp.CallToolResult{
			Meta:              notesMeta(call.notes),
			Content:           []mcp.Content{&mcp.TextContent{Text: string(out)}},
			StructuredContent: out,
		}, nil
	}
}

// withClient adds the client's name for itself to the actor of ctx.
func withClient(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	info := req.ClientInfo()
	if info == nil {
		return ctx
	}
	actor, _ := audit.ActorFrom(ctx)
	actor.Client.Name, actor.Client.Version = info.Name, info.Version
	return audit.WithActor(ctx, actor)
}

func notesMeta(notes []string) mcp.Meta {
	if len(notes) == 0 {
		return nil
	}
	return mcp.Meta{"ktx/notes": notes}
}

// toolError is the member ktx/error of a failed call's _meta.
type toolError struct {
	Code         sqlguard.Code     `json:"code"`
	Message      string            `json:"message"`
	Retryable    bool              `json:"retryable"`
	Hint         string            `json:"hint,omitempty"`
	RetryAfterMs int64             `json:"retryAfterMs,omitempty"`
	SQLState     string            `json:"sqlstate,omitempty"`
	Position     int               `json:"position,omitempty"`
	Verdict      *sqlguard.Verdict `json:"verdict,omitempty"`
}

// errorResult tells a failure in-band: a text that begins with the code and
// says what, where, why and what to do next.
func errorResult(err error, sql string, notes []string) *mcp.CallToolResult {
	e := describe(err, sql)
	text := fmt.Sprintf("%s: %s", e.Code, e.Message)
	if e.Hint != "" {
		text += "\nHint: " + e.Hint
	}
	meta := mcp.Meta{"ktx/error": e}
	if len(notes) > 0 {
		meta["ktx/notes"] = notes
	}
	return &mcp.CallToolResult{Meta: meta, IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// What a refusal repeats in its text and its verdict is bounded.
const (
	maxMessages   = 10
	maxNormalized = 4 << 10
)

func describe(err error, sql string) toolError {
	if r, ok := errors.AsType[*sqlguard.RejectedError](err); ok {
		v := r.Verdict
		if len(v.Normalized) > maxNormalized {
			v.Normalized = ""
		}
		e := toolError{Code: v.Code, Verdict: &v}
		info, _ := sqlguard.LookupCode(v.Code)
		e.Retryable = info.Retryable
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
		e := toolError{
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
	return toolError{Code: sqlguard.CodeInternalError, Message: "the tool met a fault of its own"}
}

// place says which error of the server it is, and where in the statement.
func place(x *execution.Error, sql string) string {
	var parts []string
	switch {
	case strings.HasPrefix(x.SQLState, "SQLITE_"):
		parts = append(parts, x.SQLState)
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

// compactJSON encodes v without escaping <, > and &.
func compactJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
