package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/ktxhq/ktx/sqlguard"
)

// CheckRequest asks whether a statement may run. The policy is that of a
// connection, or the project's policy in a dialect.
type CheckRequest struct {
	Dialect      string `json:"dialect"`
	ConnectionID string `json:"connectionId"`
	SQL          string `json:"sql"`
}

// Checker judges statements and runs none. The context carries the actor. An
// error that is a *[CheckError] is sent to the caller.
type Checker interface {
	Check(ctx context.Context, req CheckRequest) (sqlguard.Verdict, error)
}

// CheckError says what is wrong with a [CheckRequest].
type CheckError struct {
	Problem Problem
}

// Error returns the message.
func (e *CheckError) Error() string { return e.Problem.Message }

func (s *Server) check(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, Problem{Code: "unsupported_media_type", Message: "the Content-Type must be application/json"})
		return
	}
	req, problem := decodeCheck(r.Body)
	if problem != "" {
		refuse(w, http.StatusBadRequest, Problem{
			Code: string(sqlguard.CodeInvalidArguments), Message: problem,
			Hint: `send {"connectionId": "…", "sql": "…"} or {"dialect": "postgres", "sql": "…"}`,
		})
		return
	}
	verdict, err := s.config.Checker.Check(r.Context(), req)
	if known, ok := errors.AsType[*CheckError](err); ok {
		refuse(w, http.StatusBadRequest, known.Problem)
		return
	}
	if err != nil {
		s.config.Logger.ErrorContext(r.Context(), "a check met a fault", "error", err)
		refuse(w, http.StatusInternalServerError, Problem{Code: string(sqlguard.CodeInternalError), Message: "the check met a fault of its own"})
		return
	}
	respond(w, http.StatusOK, verdict)
}

// decodeCheck reads a request, or returns what is wrong with it.
func decodeCheck(body io.Reader) (req CheckRequest, problem string) {
	text, err := io.ReadAll(body) // bounded by limitBody
	if err != nil {
		return req, "the body cannot be read"
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&req); err != nil {
		return req, "the body is not the JSON object that is expected: " + err.Error()
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return req, "something follows the JSON object"
	}
	switch {
	case req.Dialect == "" && req.ConnectionID == "":
		return req, "dialect or connectionId is missing"
	case req.Dialect != "" && req.ConnectionID != "":
		return req, "give one of dialect and connectionId"
	case req.SQL == "":
		return req, "sql is missing"
	}
	return req, ""
}
