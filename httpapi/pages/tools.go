package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/sqlguard"
)

// Tools are the tools of the project's MCP server. The actor of the context is the
// caller, so everyone gets what they would get over MCP.
type Tools interface {
	// Tools returns the tools that are listed.
	Tools() []Tool
	// Call calls a tool with the arguments that an MCP client would send. The answer is
	// the structured content that the client would get. Progress may be nil.
	Call(ctx context.Context, name string, arguments json.RawMessage, progress func(float64, string)) (json.RawMessage, *ToolError)
}

// Tool is a tool as MCP announces it. The schemas are JSON; Output may be nil.
type Tool struct {
	Name, Title, Description string
	Input, Output            json.RawMessage
}

// ToolError says why a call has no answer. JSON is the body of a REST answer.
type ToolError struct {
	Code         sqlguard.Code
	Message      string
	Hint         string
	Retryable    bool
	RetryAfterMs int64
	Verdict      *sqlguard.Verdict
	// JSON is the error with all its members.
	JSON json.RawMessage
}

// statuses are the HTTP statuses of errors of tools. Everything else is 422: the server
// understood the call, and the guard or a database refused what it asks for.
var statuses = map[sqlguard.Code]int{
	sqlguard.CodeInvalidArguments:  http.StatusBadRequest,
	sqlguard.CodeNotFound:          http.StatusNotFound,
	sqlguard.CodeUnknownConnection: http.StatusNotFound,
	sqlguard.CodeNotConfigured:     http.StatusConflict,
	sqlguard.CodeInternalError:     http.StatusInternalServerError,
	sqlguard.CodeNoBackend:         http.StatusNotImplemented,
	sqlguard.CodeConnectionLost:    http.StatusBadGateway,
	sqlguard.CodeServerRestarted:   http.StatusBadGateway,
	sqlguard.CodeAuditUnavailable:  http.StatusServiceUnavailable,
	sqlguard.CodeBusy:              http.StatusServiceUnavailable,
	sqlguard.CodeDraining:          http.StatusServiceUnavailable,
	sqlguard.CodeCancelled:         http.StatusServiceUnavailable,
	sqlguard.CodeTimeout:           http.StatusGatewayTimeout,
}

func (e *ToolError) status() int {
	if status := statuses[e.Code]; status != 0 {
		return status
	}
	return http.StatusUnprocessableEntity
}

// callTool answers POST /v1/tools/{name}. A client that accepts events and not JSON
// gets progress while the tool runs, and at the end result or error. An error before the first event
// has a status of its own.
func (p *Pages) callTool(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		httpapi.Refuse(w, http.StatusUnsupportedMediaType, httpapi.Problem{Code: "unsupported_media_type", Message: "the Content-Type must be application/json"})
		return
	}
	arguments, err := io.ReadAll(r.Body) // bounded by the server
	if err != nil {
		httpapi.Refuse(w, http.StatusBadRequest, httpapi.Problem{Code: string(sqlguard.CodeInvalidArguments), Message: "the body cannot be read"})
		return
	}
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = []byte("{}")
	}
	if !json.Valid(arguments) {
		httpapi.Refuse(w, http.StatusBadRequest, httpapi.Problem{Code: string(sqlguard.CodeInvalidArguments), Message: "the body is not JSON", Hint: "send the arguments of the tool as one JSON object"})
		return
	}
	name := chi.URLParam(r, "name")
	var events *eventStream // nil until the first event
	var progress func(float64, string)
	accept := r.Header.Get("Accept")
	streamed := strings.Contains(accept, "text/event-stream") && !strings.Contains(accept, "application/json") // generated clients accept all that is described
	if streamed {
		progress = func(progress float64, message string) {
			data, err := json.Marshal(struct {
				Progress float64 `json:"progress"`
				Message  string  `json:"message,omitempty"`
			}{progress, message})
			if err != nil {
				return // progress that is no number
			}
			if events == nil {
				events = startEvents(w)
			}
			events.send("progress", data)
		}
	}
	answer, failed := p.config.Tools.Call(r.Context(), name, arguments, progress)
	switch {
	case failed != nil && events != nil: // the status was sent with the first event
		events.send("error", failed.JSON)
	case failed != nil:
		if failed.RetryAfterMs > 0 {
			w.Header().Set("Retry-After", strconv.FormatInt((failed.RetryAfterMs+999)/1000, 10))
		}
		answerJSON(w, failed.status(), failed.JSON)
	case streamed:
		if events == nil {
			events = startEvents(w)
		}
		events.send("result", answer)
	default:
		answerJSON(w, http.StatusOK, answer)
	}
}

func answerJSON(w http.ResponseWriter, status int, data json.RawMessage) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, string(data)+"\n") // the client may have left
}

// eventStream sends server-sent events. The data of each is JSON on one line.
type eventStream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
}

func startEvents(w http.ResponseWriter) *eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for nginx
	e := &eventStream{w, http.NewResponseController(w)}
	_ = e.flush.Flush() // a client that left is noticed by its context
	return e
}

// place says where the stream goes on for a client whose connection broke.
func (e *eventStream) place(n int64) {
	_, _ = io.WriteString(e.w, "id: "+strconv.FormatInt(n, 10)+"\n") // it belongs to the event that follows
}

func (e *eventStream) send(event string, data []byte) {
	_, _ = io.WriteString(e.w, "event: "+event+"\ndata: "+string(bytes.ReplaceAll(data, []byte("\n"), nil))+"\n\n") // the client may have left
	_ = e.flush.Flush()
}
