package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/cmd/ktx/internal/report"
	"github.com/ktxhq/ktx/execution"
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
	a.errorf("ktx: %s\n", escapeLines(err.Error()))
	if hint := hintOf(err); hint != "" {
		a.errorf("  hint: %s\n", escapeControls(hint))
	}
	return code
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
	if problems, ok := errors.AsType[*project.InvalidError](err); ok {
		for _, p := range problems.List {
			a.errorf("%s\n", escapeControls(p.In(problems.File)))
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
		report.Human(a.err, []report.Result{{Name: s.name, Text: s.text, Verdict: r.Verdict}}, style)
		return true
	}
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || e.Position <= 0 || e.Position > len(s.text)+1 {
		return false
	}
	report.Human(a.err, []report.Result{{Name: s.name, Text: s.text, Verdict: sqlguard.Verdict{Findings: []sqlguard.Finding{placed(e, s.text)}}}}, style)
	return true
}

// placed is an error of the server in the form of a finding.
func placed(e *execution.Error, text string) sqlguard.Finding {
	at := e.Position - 1
	f := sqlguard.Finding{Code: e.Code, Message: e.Message, Hint: hintOf(e), Span: sqlguard.Span{Start: at, End: at}}
	if e.SQLState != "" {
		f.Message += " (" + e.SQLState + ")"
	}
	f.Line, f.Column = sqlguard.Position(text, at)
	return f
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
func (a *app) errorJSON(err error) map[string]any {
	out := map[string]any{"error": "failed", "message": err.Error()}
	if a.exitCode(err) == exitUsage {
		out["error"] = "usage"
	}
	if missing, ok := errors.AsType[*project.MissingError](err); ok {
		out["error"], out["projectDir"] = "missing_project", missing.Dir
	}
	if problems, ok := errors.AsType[*project.InvalidError](err); ok {
		out["error"], out["file"], out["problems"] = "invalid_config", problems.File, problems.List
	}
	if e, ok := errors.AsType[*execution.Error](err); ok {
		out["error"], out["message"], out["retryable"] = e.Code, e.Message, e.Retryable
		if e.SQLState != "" {
			out["sqlstate"] = e.SQLState
		}
		if hint := hintOf(e); hint != "" {
			out["hint"] = hint
		}
		if e.RetryAfter > 0 {
			out["retryAfterMs"] = e.RetryAfter.Milliseconds()
		}
		if e.Position > 0 {
			out["position"] = e.Position
			if s, ok := errors.AsType[*statementError](err); ok {
				out["line"], out["column"] = sqlguard.Position(s.text, e.Position-1)
			}
		}
	}
	if r, ok := errors.AsType[*sqlguard.RejectedError](err); ok {
		out["error"], out["verdict"] = r.Verdict.Code, r.Verdict
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
