package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// The exit codes.
const (
	ExitOK       = 0
	ExitFindings = 1
	ExitUsage    = 2
	ExitFailed   = 3
)

// ExitError ends the command with an exit code. When Err is nil, nothing is
// printed.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the message of the cause.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// StatementError is the error of one statement. Text is the statement, in which
// [App.Report] shows the position of the error, and Name is what messages call it.
type StatementError struct {
	Err        error
	Name, Text string
}

// Error returns the message of the cause.
func (e *StatementError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StatementError) Unwrap() error { return e.Err }

// Report prints err and returns its exit code. Under --json it prints the error
// as JSON to standard output.
func (a *App) Report(err error) int {
	code := a.ExitCode(err)
	if e, ok := errors.AsType[*ExitError](err); ok && e.Err == nil {
		return code
	}
	if a.JSON {
		a.PrintJSON(a.ErrorJSON(err))
		return code
	}
	if a.explained(err) {
		return code
	}
	if cancelled(err) {
		a.Errorf("ktx: cancelled\n")
		return code
	}
	a.Errorf("ktx: %s\n", EscapeLines(err.Error()+stateOf(err)))
	if hint := HintOf(err); hint != "" {
		a.Errorf("  hint: %s\n", EscapeControls(hint))
	}
	return code
}

// cancelled reports whether an interrupt ended the command, and no other error
// came first.
func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) && execution.CodeOf(err) == ""
}

// explained prints the errors that have a format of their own, and reports
// whether err is one of them.
func (a *App) explained(err error) bool {
	if missing, ok := errors.AsType[*project.MissingError](err); ok {
		a.Errorf("ktx: %s\n", EscapeControls(missing.Error()))
		for _, hint := range missing.Hints() {
			a.Errorf("  %s\n", hint)
		}
		return true
	}
	if invalid, ok := errors.AsType[*project.InvalidError](err); ok {
		for _, p := range invalid.List {
			a.Errorf("%s\n", EscapeControls(p.In(invalid.File)))
		}
		a.Errorf("ktx: the configuration is not valid\n")
		return true
	}
	s, ok := errors.AsType[*StatementError](err)
	if !ok {
		return false
	}
	style := report.Style{Color: a.Colored(a.Err)}
	if r, ok := errors.AsType[*sqlguard.RejectedError](err); ok {
		report.Human(a.Err, []report.Result{{Name: s.Name, Text: s.Text, Findings: r.Verdict.Findings}}, style)
		return true
	}
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || e.Position <= 0 || e.Position > len(s.Text)+1 {
		return false
	}
	report.Human(a.Err, []report.Result{{Name: s.Name, Text: s.Text, Findings: []sqlguard.Finding{placed(e, s.Text)}}}, style)
	return true
}

// placed returns an error of the database as a finding at its position.
func placed(e *execution.Error, text string) sqlguard.Finding {
	at := e.Position - 1
	f := sqlguard.Finding{Code: e.Code, Message: e.Message, Hint: HintOf(e), Span: sqlguard.Span{Start: at, End: at}}
	f.Message += stateOf(e)
	f.Line, f.Column = sqlguard.Position(text, at)
	return f
}

// stateOf returns the database's own code of err, in parentheses for the end of
// a message, or "".
func stateOf(err error) string {
	e, ok := errors.AsType[*execution.Error](err)
	switch {
	case !ok || e.SQLState == "":
		return ""
	case strings.HasPrefix(e.SQLState, "SQLITE_"):
		return " (" + e.SQLState + ")"
	case len(e.SQLState) != 5: // the error number of SQL Server, which the message has
		return ""
	default:
		return " (SQLSTATE " + e.SQLState + ")"
	}
}

// HintOf returns what to do about err, or "".
func HintOf(err error) string {
	if refused, ok := errors.AsType[*expr.Error](err); ok {
		return refused.Hint
	}
	e, ok := errors.AsType[*execution.Error](err)
	if !ok {
		return ""
	}
	return cmp.Or(e.ServerHint, e.Hint, sqlguard.HintFor(e.Code))
}

// usageCodes are the codes of errors that other arguments or another
// configuration would avoid.
var usageCodes = []sqlguard.Code{
	sqlguard.CodeUnknownConnection, sqlguard.CodeInvalidArguments, sqlguard.CodeNotConfigured, sqlguard.CodeNoBackend,
	sqlguard.CodeNotFound,
}

// ExitCode returns the exit code for err.
func (a *App) ExitCode(err error) int {
	if e, ok := errors.AsType[*ExitError](err); ok {
		return e.Code
	}
	if _, ok := errors.AsType[*project.MissingError](err); ok {
		return ExitUsage
	}
	if _, ok := errors.AsType[*project.InvalidError](err); ok {
		return ExitUsage
	}
	if _, refused := errors.AsType[*sqlguard.RejectedError](err); refused {
		return ExitFindings
	}
	if _, refused := errors.AsType[*expr.Error](err); refused {
		return ExitFindings
	}
	if slices.Contains(usageCodes, execution.CodeOf(err)) {
		return ExitUsage
	}
	if !a.Started { // what cobra itself finds wrong with the arguments
		return ExitUsage
	}
	return ExitFailed
}

// ErrorJSON is what a command that fails prints under --json.
type ErrorJSON struct {
	Error        string            `json:"error"` // a code, or the kind of the error
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

// ErrorJSON returns the JSON document for err.
func (a *App) ErrorJSON(err error) ErrorJSON {
	out := ErrorJSON{Error: "failed", Message: err.Error()}
	if a.ExitCode(err) == ExitUsage {
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
		out.Hint, out.RetryAfterMS = HintOf(e), e.RetryAfter.Milliseconds()
		out.SQLState, out.Position = e.SQLState, e.Position
		if s, ok := errors.AsType[*StatementError](err); ok && e.Position > 0 {
			out.Line, out.Column = sqlguard.Position(s.Text, e.Position-1)
		}
	}
	if refused, ok := errors.AsType[*expr.Error](err); ok {
		out.Error, out.Message, out.Hint = string(refused.Class), refused.Message, refused.Hint
	}
	if r, ok := errors.AsType[*sqlguard.RejectedError](err); ok {
		out.Error, out.Verdict = string(r.Verdict.Code), &r.Verdict
	}
	return out
}

// Usage returns an error of wrong usage.
func Usage(format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// Failed returns an error with the exit code for something that could not be
// done.
func Failed(format string, args ...any) error {
	return &ExitError{Code: ExitFailed, Err: fmt.Errorf(format, args...)}
}

// AsUsage returns err with the exit code of wrong usage or configuration.
func AsUsage(err error) error {
	return &ExitError{Code: ExitUsage, Err: err}
}
