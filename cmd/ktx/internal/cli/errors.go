package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// The exit codes.
const (
	exitOK       = 0
	exitFindings = 1
	exitUsage    = 2
	exitFailed   = 3
)

// exitError ends the run with a code. A nil err prints nothing more.
type exitError struct {
	code int
	err  error
}

// Error returns the text of the cause.
func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// statementError is the failure of one statement, with the text in which its
// place can be shown.
type statementError struct {
	err        error
	name, text string
}

// Error returns the text of the cause.
func (e *statementError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *statementError) Unwrap() error { return e.err }

// report prints err and returns its exit code.
func (a *app) report(err error) int {
	code := a.exitCode(err)
	if e, ok := errors.AsType[*exitError](err); ok && e.err == nil {
		return code
	}
	if a.json {
		a.printJSON(a.errorJSON(err))
		return code
	}
	if a.explained(err) {
		return code
	}
	if cancelled(err) {
		a.errorf("ktx: cancelled\n")
		return code
	}
	a.errorf("ktx: %s\n", escapeLines(err.Error()+stateOf(err)))
	if hint := hintOf(err); hint != "" {
		a.errorf("  hint: %s\n", escapeControls(hint))
	}
	return code
}

// cancelled reports whether the command was interrupted before it met anything
// that has a code of its own.
func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) && execution.CodeOf(err) == ""
}

// explained prints the errors that have a form of their own.
func (a *app) explained(err error) bool {
	if missing, ok := errors.AsType[*project.MissingError](err); ok {
		a.errorf("ktx: %s\n", escapeControls(missing.Error()))
		for _, hint := range missing.Hints() {
			a.errorf("  %s\n", hint)
		}
		return true
	}
	if invalid, ok := errors.AsType[*project.InvalidError](err); ok {
		for _, p := range invalid.List {
			a.errorf("%s\n", escapeControls(p.In(invalid.File)))
		}
		a.errorf("ktx: the configuration is not valid\n")
		return true
	}
	s, ok := errors.AsType[*statementError](err)
	if !ok {
		return false
	}
	style := report.Style{Color: a.colored(a.err)}
	if r, ok := errors.AsType[*sqlguard.RejectedError](err); ok {
		report.Human(a.err, []report.Result{{Name: s.name, Text: s.text, Findings: r.Verdict.Findings}}, style)
		return true
	}
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || e.Position <= 0 || e.Position > len(s.text)+1 {
		return false
	}
	report.Human(a.err, []report.Result{{Name: s.name, Text: s.text, Findings: []sqlguard.Finding{placed(e, s.text)}}}, style)
	return true
}

// placed is an error of the server in the form of a finding.
func placed(e *execution.Error, text string) sqlguard.Finding {
	at := e.Position - 1
	f := sqlguard.Finding{Code: e.Code, Message: e.Message, Hint: hintOf(e), Span: sqlguard.Span{Start: at, End: at}}
	f.Message += stateOf(e)
	f.Line, f.Column = sqlguard.Position(text, at)
	return f
}

// stateOf is the server's code of err, in the form in which it ends a message.
func stateOf(err error) string {
	e, ok := errors.AsType[*execution.Error](err)
	switch {
	case !ok || e.SQLState == "":
		return ""
	case strings.HasPrefix(e.SQLState, "SQLITE_"):
		return " (" + e.SQLState + ")"
	default:
		return " (SQLSTATE " + e.SQLState + ")"
	}
}

// hintOf says what to do about err, "" when nothing is known to help.
func hintOf(err error) string {
	e, ok := errors.AsType[*execution.Error](err)
	if !ok {
		return ""
	}
	return cmp.Or(e.ServerHint, e.Hint, sqlguard.HintFor(e.Code))
}

// usageCodes are the codes that a change of arguments or configuration mends.
var usageCodes = []sqlguard.Code{
	sqlguard.CodeUnknownConnection, sqlguard.CodeInvalidArguments, sqlguard.CodeNotConfigured, sqlguard.CodeNoBackend,
}

func (a *app) exitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[*project.MissingError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*project.InvalidError](err); ok {
		return exitUsage
	}
	if _, refused := errors.AsType[*sqlguard.RejectedError](err); refused {
		return exitFindings
	}
	if slices.Contains(usageCodes, execution.CodeOf(err)) {
		return exitUsage
	}
	if !a.started { // what cobra itself finds wrong with the arguments
		return exitUsage
	}
	return exitFailed
}

// errorJSON is the shape of a failed command under --json.
type errorJSON struct {
	Error        string            `json:"error"` // a code, or a word for the kind of failure
	Message      string            `json:"message"`
	Hint         string            `json:"hint,omitempty"`
	Retryable    *bool             `json:"retryable,omitempty"`
	RetryAfterMS int64             `json:"retryAfterMs,omitempty"`
	SQLState     string            `json:"sqlstate,omitempty"`
	Position     int               `json:"position,omitempty"` // byte, from 1
	Line         int               `json:"line,omitempty"`
	Column       int               `json:"column,omitempty"`
	ProjectDir   string            `json:"projectDir,omitempty"`
	File         string            `json:"file,omitempty"`
	Problems     []project.Problem `json:"problems,omitempty"`
	Verdict      *sqlguard.Verdict `json:"verdict,omitempty"`
}

func (a *app) errorJSON(err error) errorJSON {
	out := errorJSON{Error: "failed", Message: err.Error()}
	if a.exitCode(err) == exitUsage {
		out.Error = "usage"
	}
	if cancelled(err) {
		out.Error, out.Message = string(sqlguard.CodeCancelled), "cancelled"
	}
	if missing, ok := errors.AsType[*project.MissingError](err); ok {
		out.Error, out.ProjectDir = "missing_project", missing.Dir
	}
	if invalid, ok := errors.AsType[*project.InvalidError](err); ok {
		out.Error, out.File, out.Problems = "invalid_config", invalid.File, invalid.List
	}
	if e, ok := errors.AsType[*execution.Error](err); ok {
		out.Error, out.Message, out.Retryable = string(e.Code), e.Message, &e.Retryable
		out.Hint, out.RetryAfterMS = hintOf(e), e.RetryAfter.Milliseconds()
		out.SQLState, out.Position = e.SQLState, e.Position
		if s, ok := errors.AsType[*statementError](err); ok && e.Position > 0 {
			out.Line, out.Column = sqlguard.Position(s.text, e.Position-1)
		}
	}
	if r, ok := errors.AsType[*sqlguard.RejectedError](err); ok {
		out.Error, out.Verdict = string(r.Verdict.Code), &r.Verdict
	}
	return out
}

// didYouMean ends a message about an unknown name.
func didYouMean(name string, known []string) string {
	if near := execution.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	if len(known) == 0 || len(known) > 30 {
		return ""
	}
	return "; known: " + strings.Join(known, ", ")
}

// usage returns an error of wrong usage.
func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// failed returns an error of something that could not be done.
func failed(format string, args ...any) error {
	return &exitError{code: exitFailed, err: fmt.Errorf(format, args...)}
}
