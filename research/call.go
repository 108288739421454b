package research

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// toolCall is one call of a tool.
type toolCall struct {
	tool      *tool
	arguments json.RawMessage
	sql       string   // the statement of the call, in which an error is located
	notes     []string // sent with the answer, in it and as ktx/notes
	noted     bool     // the answer already has the notes
	direct    bool     // the transport writes the text from the structured content
	// notify sends one notification of progress. It is nil if the client wants none.
	notify  func(progress float64, message string)
	notices *notices // nil until the first notification
}

// decode reads the arguments into target by the tool's schema.
func (c *toolCall) decode(target any) error {
	notes, err := decodeArguments(c.arguments, c.tool.schema, c.tool.aliases, target)
	c.notes = append(c.notes, notes...)
	return err
}

// nameConnections adds the connections of the caller to an error about arguments that lack
// one. The example in it is of no connection that is configured.
func (s *Service) nameConnections(ctx context.Context, err error) error {
	var e *execution.Error
	if !errors.As(err, &e) || !slices.ContainsFunc(strings.Split(e.Message, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "connectionId: missing")
	}) {
		return err
	}
	if ids := idsOf(s.gateway.Connections(ctx)); len(ids) > 0 {
		e.Hint = sqlguard.HintFor(sqlguard.CodeInvalidArguments) + "; configured connections: " + strings.Join(ids, ", ")
	}
	return e
}

// idsOf returns the ids of connections.
func idsOf(list []execution.ConnectionInfo) (ids []string) {
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

// progress notifies the client of how far the call is. It never waits for the client
// to read: the statement of the call may hold a slot that other statements wait for.
func (c *toolCall) progress(_ context.Context, progress float64, message string) {
	if c.notify == nil {
		return
	}
	if c.notices == nil {
		c.notices = newNotices(c.notify)
	}
	c.notices.add(notice{progress, message})
}

// close returns when every notification is sent, so that none follows the
// answer.
func (c *toolCall) close() {
	if c.notices != nil {
		c.notices.close()
	}
}

// notice is one notification of progress.
type notice struct {
	progress float64
	message  string
}

// notices sends the progress notifications of one call, in order, from a
// goroutine of its own.
type notices struct {
	list chan notice
	sent chan struct{} // closed when all are sent
}

// maxNotices is how many notifications of a call may wait for a slow client.
// Further ones are dropped.
const maxNotices = 8

func newNotices(send func(float64, string)) *notices {
	n := &notices{list: make(chan notice, maxNotices), sent: make(chan struct{})}
	go func() {
		defer close(n.sent)
		for p := range n.list {
			send(p.progress, p.message)
		}
	}()
	return n
}

func (n *notices) add(p notice) {
	select {
	case n.list <- p:
	default:
	}
}

func (n *notices) close() {
	close(n.list)
	<-n.sent
}

// run calls the handler of a tool. It turns panics into errors, because neither the
// SDK nor the HTTP server answers for a handler that panics.
func (s *Service) run(ctx context.Context, call *toolCall) (out json.RawMessage, err error) {
	t := call.tool
	defer func() {
		if r := recover(); r != nil {
			id := rand.Text()
			s.logger.ErrorContext(ctx, "a tool panicked", "tool", t.name, "request", id, "panic", r, "stack", string(debug.Stack()))
			out, err = nil, execution.NewError(sqlguard.CodeInternalError, "the tool met a fault of its own; request "+id, nil)
		}
	}()
	defer call.close()
	if s.draining.Load() {
		s.gateway.Refused(ctx, execution.Refusal{Code: sqlguard.CodeDraining, Tool: t.name})
		return nil, stoppingError("the server is stopping and takes no new calls", nil)
	}
	out, err = t.handler(s, ctx, call)
	execution.ShareFrom(ctx).Keep(int64(len(out)))
	if s.draining.Load() && execution.CodeOf(err) == sqlguard.CodeCancelled {
		err = stoppingError("the server is stopping and has ended the call before its answer was there", err)
	}
	if err != nil {
		if execution.CodeOf(err) == sqlguard.CodeInvalidArguments {
			s.gateway.Refused(ctx, execution.Refusal{Code: sqlguard.CodeInvalidArguments, Tool: t.name})
		}
		if describe(err, "").Code == sqlguard.CodeInternalError { // the client is not told what it is
			s.logger.ErrorContext(ctx, "a tool failed", "tool", t.name, "error", err)
		}
		return nil, err
	}
	if !call.noted && !t.verbatim {
		out = withNotes(out, call.notes)
	}
	return out, nil
}

// handle wraps the handler of a tool for MCP: it adds the client to the actor in the
// context, and it turns errors into in-band answers.
func (s *Service) handle(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx = withClient(ctx, req.ClientInfo())
		call := &toolCall{tool: t, arguments: req.Params.Arguments}
		if token := req.Params.GetProgressToken(); token != nil && req.Session != nil {
			call.notify = func(progress float64, message string) {
				err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: progress, Message: message})
				if err != nil && ctx.Err() == nil {
					s.logger.WarnContext(ctx, "progress was not sent", "tool", t.name, "error", err)
				}
			}
		}
		return s.answer(ctx, call), nil
	}
}

// answer runs a call and returns its answer, which says so if the call failed.
func (s *Service) answer(ctx context.Context, call *toolCall) *mcp.CallToolResult {
	out, err := s.run(ctx, call)
	if err != nil {
		return errorResult(err, call.sql, call.notes)
	}
	if passed, ok := ctx.Value(passOnKey{}).(*passOn); ok && call.tool.verbatim {
		passed.result = out
		return &mcp.CallToolResult{Meta: notesMeta(call.notes)}
	}
	var text mcp.TextContent
	if !call.direct {
		text.Text = string(out)
	}
	return &mcp.CallToolResult{Meta: notesMeta(call.notes), Content: []mcp.Content{&text}, StructuredContent: out}
}

// ToolInfo is a tool as MCP announces it. The schemas are JSON; Output may be nil.
type ToolInfo struct {
	Name, Title, Description string
	Input, Output            json.RawMessage
}

// Tools returns the tools that are listed.
func (s *Service) Tools() ([]ToolInfo, error) {
	list, err := s.tools()
	if err != nil {
		return nil, err
	}
	out := make([]ToolInfo, len(list))
	for i, t := range list {
		out[i] = ToolInfo{t.name, t.title, t.description, t.input, t.output}
	}
	return out, nil
}

// Call calls a tool by its name, with arguments as an MCP client sends them. The answer
// is the structured content that an MCP client gets. failed is nil if the call has an
// answer. Progress may be nil; it is not called after Call returns.
func (s *Service) Call(ctx context.Context, name string, arguments json.RawMessage, progress func(float64, string)) (answer json.RawMessage, failed *ToolError) {
	all := registry()
	i := slices.IndexFunc(all, func(t *tool) bool { return t.name == name && t.listed(s) })
	if i < 0 {
		s.gateway.Refused(ctx, execution.Refusal{Code: execution.ReasonUnknownTool, Tool: name})
		return nil, &ToolError{Code: sqlguard.CodeNotFound, Message: "there is no tool of that name", Hint: "GET /v1/openapi.json lists the tools"}
	}
	if err := all[i].load(); err != nil {
		s.logger.ErrorContext(ctx, "a tool cannot be loaded", "tool", name, "error", err)
		e := describe(err, "")
		return nil, &e
	}
	call := &toolCall{tool: all[i], arguments: arguments, notify: progress}
	out, err := s.run(ctx, call)
	if err != nil {
		e := describe(err, call.sql)
		return nil, &e
	}
	return out, nil
}

// stoppingError returns the error for a call that the server does not answer because
// it stops.
func stoppingError(message string, cause error) error {
	e := execution.NewError(sqlguard.CodeDraining, message, cause)
	e.Hint = "call again when the server has started again"
	return e
}

// Drain makes every further call fail as draining, and every call that is cancelled
// from now on. The server is about to stop.
func (s *Service) Drain() { s.draining.Store(true) }

// withClient adds the name and version that the client gave itself to the
// actor of ctx.
func withClient(ctx context.Context, info *mcp.Implementation) context.Context {
	if info == nil {
		return ctx
	}
	actor, _ := audit.ActorFrom(ctx)
	actor.Client.Name, actor.Client.Version = info.Name, info.Version
	return audit.WithActor(ctx, actor)
}

// withNotes returns an answer, which is a JSON object, with the notes as its last member.
// A model reads the answer, and does not see _meta.
func withNotes(answer json.RawMessage, notes []string) json.RawMessage {
	body, ok := bytes.CutSuffix(answer, []byte("}"))
	if len(notes) == 0 || !ok {
		return answer
	}
	b := slices.Clone(body)
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(appendStrings(append(b, `"notes":`...), notes), '}')
}

func notesMeta(notes []string) mcp.Meta {
	if len(notes) == 0 {
		return nil
	}
	return mcp.Meta{"ktx/notes": notes}
}
