package research

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// toolCall is one call of a tool.
type toolCall struct {
	tool    *tool
	request *mcp.CallToolRequest
	sql     string   // the statement of the call, in which an error is located
	notes   []string // sent with the answer, in it and as ktx/notes
	noted   bool     // the answer already has the notes
	logger  *slog.Logger
	notices *notices // nil until the first progress notification
}

// decode reads the arguments into target by the tool's schema.
func (c *toolCall) decode(target any) error {
	notes, err := decodeArguments(c.request.Params.Arguments, c.tool.schema, c.tool.aliases, target)
	c.notes = append(c.notes, notes...)
	return err
}

// progress notifies the client of how far the call is, if the request has a
// progress token. It never waits for the client to read: the statement of the
// call may hold a slot that other statements wait for.
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

// close returns when every notification is sent, so that none follows the
// answer.
func (c *toolCall) close() {
	if c.notices != nil {
		c.notices.close()
	}
}

// notices sends the progress notifications of one call, in order, from a
// goroutine of its own.
type notices struct {
	list chan *mcp.ProgressNotificationParams
	sent chan struct{} // closed when all are sent
}

// maxNotices is how many notifications of a call may wait for a slow client.
// Further ones are dropped.
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

// handle wraps the handler of a tool: it adds the client to the actor in the
// context, and it turns errors and panics into in-band answers. The SDK does
// not recover a handler that panics.
func (s *Service) handle(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, _ error) {
		defer func() {
			if r := recover(); r != nil {
				id := rand.Text()
				s.logger.ErrorContext(ctx, "a tool panicked", "tool", t.name, "request", id, "panic", r, "stack", string(debug.Stack()))
				res = errorResult(execution.NewError(sqlguard.CodeInternalError, "the tool met a fault of its own; request "+id, nil), "", nil)
			}
		}()
		call := &toolCall{tool: t, request: req, logger: s.logger}
		defer call.close()
		if s.draining.Load() {
			return errorResult(stoppingError("the server is stopping and takes no new calls", nil), "", nil), nil
		}
		ctx = withClient(ctx, req)
		out, err := t.handler(s, ctx, call)
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
			return errorResult(err, call.sql, call.notes), nil
		}
		if passed, ok := ctx.Value(passOnKey{}).(*passOn); ok && t.verbatim {
			passed.result = out
			return &mcp.CallToolResult{Meta: notesMeta(call.notes)}, nil
		}
		if !call.noted {
			out = withNotes(out, call.notes)
		}
		return &mcp.CallToolResult{
			Meta:              notesMeta(call.notes),
			Content:           []mcp.Content{&mcp.TextContent{Text: string(out)}},
			StructuredContent: out,
		}, nil
	}
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
func withClient(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	info := req.ClientInfo()
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
