package upstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution/audit"
)

// Request is a call of a tool.
type Request struct {
	Server, Tool string
	Arguments    json.RawMessage // an object; "" is {}
	// Write permits a tool that is not read-only.
	Write bool
	// Progress is called for each progress notification of the server, never at the same
	// time as another one, and not after the call has returned. It may be nil.
	Progress func(progress float64, message string)
}

// Answer is what a tool returned.
type Answer struct {
	Server, Tool string
	// Result is the result as the server sent it.
	Result json.RawMessage
	// Failed says that the tool reported an error in its result.
	Failed bool
}

// call is one call on its way.
type call struct {
	manager *Manager
	setup   *setup
	link    *link
	request Request
	server  string // as it is configured
	name    string // as the tool is listed
	found   bool   // the server has a tool of the name
	id      string
	start   time.Time
	judged  Judgement
}

// Call calls a tool. The error is an [*Error], or that of the context, or wraps
// [audit.ErrUnavailable] when the call cannot be recorded and was not sent.
func (m *Manager) Call(ctx context.Context, r Request) (Answer, error) {
	c := &call{manager: m, setup: m.current.Load().of(ctx), request: r, id: rand.Text(), start: time.Now()}
	c.server, c.name = clean(r.Server, maxName), clean(r.Tool, maxName)
	c.request.Arguments = arguments(r.Arguments)
	answer, sent, err := c.run(ctx)
	if err == nil || sent {
		return answer, err
	}
	if errors.Is(err, audit.ErrUnavailable) {
		return Answer{}, err
	}
	if shared, ok := errors.AsType[*Error](err); ok {
		own := *shared // all calls that wait for one attempt to connect get the same error
		if own.Server == "" {
			own.Server = c.server
		}
		own.Tool, err = c.name, &own
	}
	if unrecorded := c.record(ctx, c.ending(err, 0), audit.VerdictReject); unrecorded != nil {
		return Answer{}, unrecorded
	}
	c.observe(err, 0)
	return Answer{}, err
}

// arguments returns an object for arguments that are missing.
func arguments(raw json.RawMessage) json.RawMessage {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return json.RawMessage(`{}`)
	}
	return raw
}

// run reports whether the call was recorded as sent. It then is recorded as ended too.
func (c *call) run(ctx context.Context) (answer Answer, sent bool, err error) {
	if c.link, err = c.setup.link(c.request.Server); err != nil {
		return answer, false, err
	}
	c.server = c.link.name()
	// A tool that is known and may not be called is refused without a connection.
	if listed := c.link.known(); listed != nil {
		if t := listed.byName[c.request.Tool]; t != nil {
			if err := c.permitted(t); err != nil && !c.manager.changed(t) {
				return answer, false, err
			}
		}
	}
	c.link.use()
	if err := waitFor(ctx, c.link, c.link.fresh); err != nil {
		return answer, false, err
	}
	t, err := c.setup.find(c.link.known(), c.link, c.request.Tool)
	if err != nil {
		return answer, false, err
	}
	c.name, c.found = t.Name, true
	if c.manager.changed(t) {
		return answer, false, &Error{
			Code: CodeToolChanged, Message: "the server has changed the definition of this tool since it was trusted, so it is not called",
			Hint: "ask a person to compare and approve it: ktx upstream approve " + c.server + " " + t.Name,
		}
	}
	if err := c.permitted(t); err != nil {
		return answer, false, err
	}
	if wait := c.link.admit(time.Now(), c.setup.config.CallsPerMinute); wait > 0 {
		return answer, false, &Error{
			Code: CodeRateLimited, Message: fmt.Sprintf("more than %d calls to this server within a minute", c.setup.config.CallsPerMinute), Retryable: true, RetryAfter: wait,
			Hint: fmt.Sprintf("call again in %s", max(wait.Round(time.Second), time.Second)),
		}
	}
	if err := c.valid(t); err != nil {
		return answer, false, err
	}
	if err := c.judge(ctx, t); err != nil {
		return answer, false, err
	}
	if err := c.record(ctx, audit.Result{}, audit.VerdictAllow); err != nil {
		return answer, false, err
	}
	answer, err = c.send(ctx, t)
	bytes := int64(len(answer.Result))
	// The call has been sent: whoever asked gets the answer even if its end cannot be
	// recorded. The next call is then refused.
	if unrecorded := c.record(ctx, c.ending(err, bytes, answer.Failed), ""); unrecorded != nil {
		c.manager.logger.ErrorContext(ctx, "the end of a call could not be recorded", "server", c.server, "tool", c.name, "error", unrecorded)
	}
	if answer.Failed {
		c.observe(&Error{Code: CodeExecution}, bytes)
	} else {
		c.observe(err, bytes)
	}
	return answer, true, err
}

// permitted applies the rules.
func (c *call) permitted(t *Tool) error {
	st := c.setup.standing(t)
	switch {
	case !st.Enabled:
		return &Error{Code: CodeToolDisabled, Tool: t.Name, Message: "the tool is not enabled: " + st.Reason, Hint: "find another one with tool_search, or ask a person to enable it with a rule in ktx.yaml"}
	case !readOnly(t, &st) && !c.request.Write:
		return &Error{Code: CodeToolDisabled, Tool: t.Name, Message: "the tool is not read-only, and tool_call calls read-only tools only", Hint: "call it with tool_call_write, if the user wants the change"}
	}
	return nil
}

// valid checks the arguments by the schema of the tool.
func (c *call) valid(t *Tool) error {
	v, err := t.checker()
	var problems []string
	if err == nil {
		problems, err = v.validate(c.request.Arguments)
	}
	if err != nil {
		return &Error{Code: CodeValidation, Message: "the tool cannot be called: " + err.Error(), Hint: "use another tool; its server has to mend this one"}
	}
	if len(problems) > 0 {
		return &Error{Code: CodeValidation, Message: strings.Join(problems, "\n"), Hint: "tool_details shows the schema and an example", Retryable: true}
	}
	return nil
}

// judge asks the guard about the arguments that are SQL.
func (c *call) judge(ctx context.Context, t *Tool) error {
	st := c.setup.standing(t)
	if len(st.SQL) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(c.request.Arguments, &members); err != nil {
		return &Error{Code: CodeValidation, Message: "arguments: expected an object", Retryable: true}
	}
	if duplicated(c.request.Arguments) {
		// The server may take another one of them than the guard does.
		return &Error{Code: CodeValidation, Message: "arguments: a member is given twice", Hint: "give each argument once", Retryable: true}
	}
	for _, rule := range st.SQL {
		for _, name := range sortedKeys(members) {
			if name != rule.Argument && fold(name) == fold(rule.Argument) { // some servers ignore case
				return &Error{Code: CodeValidation, Message: fmt.Sprintf("arguments: %s is spelt %s", clean(name, maxName), rule.Argument), Retryable: true}
			}
		}
		raw, ok := members[rule.Argument]
		if !ok {
			return &Error{Code: CodeValidation, Message: fmt.Sprintf("arguments: missing %s, which is the SQL that ktx judges", rule.Argument), Hint: "give it as a text", Retryable: true}
		}
		var sql string
		if err := json.Unmarshal(raw, &sql); err != nil {
			return &Error{Code: CodeValidation, Message: fmt.Sprintf("arguments.%s: expected a text with one SQL statement, which ktx judges", rule.Argument), Retryable: true}
		}
		if !faithful(raw) {
			return &Error{Code: CodeValidation, Message: fmt.Sprintf("arguments.%s: a character that is not Unicode", rule.Argument), Retryable: true}
		}
		judged, err := c.manager.options.Judge.Judge(ctx, rule, sql)
		c.judged = judged
		if err != nil {
			return &Error{Code: CodeSQLRejected, Message: "the argument " + rule.Argument + " was not sent: " + err.Error(), Err: err}
		}
	}
	return nil
}

// duplicated reports whether a JSON object has a name twice.
func duplicated(raw json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return true
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return true
		}
		text, _ := name.(string)
		if seen[text] {
			return true
		}
		seen[text] = true
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return true
		}
	}
	return false
}

// faithful reports whether a decoder reads the same text from a JSON string as any other
// one: half a surrogate pair and bytes that are not UTF-8 are replaced by some.
func faithful(raw json.RawMessage) bool {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return false
	}
	return !strings.ContainsRune(text, '�')
}

// record appends the event of the call. Verdict is "" for the end of a call that was
// sent.
func (c *call) record(ctx context.Context, result audit.Result, verdict string) error {
	e := audit.Event{
		Type: audit.ToolCall, QueryID: c.id, Result: result,
		Tool: audit.Tool{Server: c.server, Name: c.name, ArgumentHash: c.manager.options.Log.HMAC(string(c.request.Arguments))},
	}
	if verdict != "" {
		e.Connection, e.SQL, e.Decision = c.judged.Connection, c.judged.SQL, c.judged.Decision
		e.Decision.Verdict = verdict
		if verdict == audit.VerdictReject && len(e.Decision.Codes) == 0 && result.Code != "" {
			e.Decision.Codes = []string{result.Code}
		}
	}
	if err := c.manager.options.Log.Append(ctx, e); err != nil {
		return fmt.Errorf("record the call: %w", err)
	}
	return nil
}

// ending returns how the call ended.
func (c *call) ending(err error, bytes int64, failed ...bool) audit.Result {
	r := audit.Result{Status: audit.StatusOK, Bytes: bytes, ExecMS: float64(time.Since(c.start).Microseconds()) / 1000}
	switch {
	case errors.Is(err, context.Canceled):
		r.Status = audit.StatusCancelled
	case err != nil:
		r.Status, r.Code = audit.StatusError, codeOf(err)
	case slices.Contains(failed, true):
		r.Status, r.Code = audit.StatusError, CodeExecution
	}
	return r
}

// codeOf returns the code of an error, for the log and the figures.
func codeOf(err error) string {
	var own *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &own):
		return own.Code
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	case errors.Is(err, context.Canceled):
		return "cancelled"
	default:
		return CodeExecution
	}
}

func (c *call) observe(err error, bytes int64) {
	if f := c.manager.options.Observe; f != nil && c.link != nil {
		tool := ""
		if c.found { // a name that a client made up would make a figure of its own
			tool = c.name
		}
		f(c.server, tool, codeOf(err), time.Since(c.start), bytes)
	}
}

// send sends the call, and once more if the connection broke before the server can have
// done anything, or if the tool can be called twice.
func (c *call) send(ctx context.Context, t *Tool) (Answer, error) {
	server := c.link.settings()
	limit, cancel := context.WithTimeout(ctx, timeoutOf(&server))
	defer cancel()
	for again := false; ; again = true {
		raw, safe, err := c.try(limit, t)
		switch {
		case err == nil:
			return c.answer(t, raw)
		case ctx.Err() != nil:
			return Answer{}, ctx.Err()
		case limit.Err() != nil:
			return Answer{}, &Error{
				Code: CodeTimeout, Server: c.server, Tool: t.Name, Message: fmt.Sprintf("no answer within %s; the server was told to stop", timeoutOf(&server)),
				Hint: "ask for less, or raise timeout of the server in ktx.yaml", Retryable: t.ReadOnly || t.Idempotent,
			}
		}
		var own *Error
		if errors.As(err, &own) && own.Code != CodeServerConnection {
			return Answer{}, err
		}
		if again || !safe {
			return Answer{}, err
		}
	}
}

// envelope is how long an answer may be beside the result in it, in bytes.
const envelope = 64 << 10

// try sends the call once. It reports whether it can be sent again.
func (c *call) try(ctx context.Context, t *Tool) (raw json.RawMessage, safe bool, err error) {
	s, release, err := c.link.acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	if s.keeper != nil {
		if err := s.keeper.ready(ctx); err != nil {
			release()
			return nil, false, err
		}
	}
	params := &mcp.CallToolParams{Name: t.raw, Arguments: c.request.Arguments}
	stop := func() {}
	if c.request.Progress != nil {
		var token string
		token, stop = s.watch(c.request.Progress)
		params.SetProgressToken(token)
	}
	defer stop()
	with, x := withExchange(ctx, c.setup.resultBytes()+envelope)
	done := make(chan error, 1)
	go func() {
		defer release()
		defer c.link.use()
		defer s.forget(x)
		_, err := s.client.CallTool(with, params)
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		// A server that does not read its input keeps the call from ending.
		return nil, false, ctx.Err()
	}
	raw = x.raw()
	if err == nil || raw != nil && ctx.Err() == nil {
		if raw == nil {
			return nil, false, &Error{Code: CodeExecution, Server: c.server, Tool: t.Name, Message: "the answer of the server could not be read"}
		}
		return raw, false, nil
	}
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if s.overrun() {
		c.link.breakOff(s)
		x.over.Store(true)
	}
	if x.over.Load() {
		return nil, false, c.tooLarge(t, 0)
	}
	return nil, !x.sent.Load() || t.ReadOnly || t.Idempotent, c.failure(s, t, err)
}

// failure explains why a call that was sent has no answer.
func (c *call) failure(s *session, t *Tool, err error) error {
	server := c.link.settings()
	if e := s.refusedLogin(&server); e != nil {
		c.link.breakOff(s)
		e.Tool = t.Name
		return e
	}
	if rpc, ok := answered(err); ok {
		if rpc.Code == codeTooLong {
			return c.tooLarge(t, 0)
		}
		return &Error{Code: CodeExecution, Server: c.server, Tool: t.Name, Message: "the server reports an error: " + s.redact(rpc.Message), Hint: "check the arguments against tool_details", Err: err}
	}
	if errors.Is(err, errTooLarge) || strings.Contains(err.Error(), errTooLarge.Error()) || strings.Contains(err.Error(), "exceeds") && strings.Contains(err.Error(), "maximum") {
		c.link.breakOff(s)
		return c.tooLarge(t, 0)
	}
	out := s.explain(&server, err)
	if status := s.failedStatus(err); status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return out // the session goes on
	}
	c.link.breakOff(s)
	if own, ok := errors.AsType[*Error](out); ok {
		own.Message = "the connection broke during the call: " + strings.TrimPrefix(own.Message, "no connection: ")
		if s.process != nil {
			own.Message = "the server ended during the call"
			if said := s.process.said(); said != "" {
				own.Message += "; it wrote: " + said
			}
		}
		own.Tool = t.Name
		own.Hint = "call again; if the tool changes something, first see whether it has"
		if t.ReadOnly || t.Idempotent {
			own.Hint = "call again later"
		}
	}
	return out
}

func (c *call) tooLarge(t *Tool, bytes int) error {
	e := &Error{
		Code: CodeResultTooLarge, Server: c.server, Tool: t.Name, Message: fmt.Sprintf("the result is larger than %d bytes", c.setup.resultBytes()),
		Hint: "ask for less: a smaller range, fewer items, a filter; limits.resultBytes of upstreams in ktx.yaml is the limit",
	}
	if bytes > 0 {
		e.Message = fmt.Sprintf("the result has %d bytes, and at most %d are passed on", bytes, c.setup.resultBytes())
	}
	return e
}

// answer checks a result, and passes it on as it is.
func (c *call) answer(t *Tool, raw json.RawMessage) (Answer, error) {
	if int64(len(raw)) > c.setup.resultBytes() {
		return Answer{}, c.tooLarge(t, len(raw))
	}
	var head struct {
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"isError"`
	}
	if json.Unmarshal(raw, &head) != nil {
		return Answer{}, &Error{Code: CodeExecution, Server: c.server, Tool: t.Name, Message: "the answer of the server is not the result of a tool"}
	}
	return Answer{Server: c.server, Tool: t.Name, Result: raw, Failed: head.IsError}, nil
}
