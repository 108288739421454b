package duckdbdb

import (
	"cmp"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
	"github.com/ktxhq/ktx/sqlguard"
)

// retryAfter is the time to wait that a busy error suggests.
const retryAfter = 5 * time.Second

// hints say what to do about an error, by the engine's name of its kind.
var hints = map[string]string{
	"Out of Memory": "read, sort or group fewer rows or columns, or aggregate first",
	"Permission":    "a statement reads the tables of the connection and nothing else",
	"IO":            "a file may have been removed or replaced meanwhile; try again",
}

// suggestions begin the part of a message that names other objects of the database.
var suggestions = []string{"\nDid you mean", "\nCandidate", " Candidate bindings:", "\nCandidates"}

// queryError turns an error of the engine into an error for the caller.
func (c *conn) queryError(f *wire.Failure) *execution.Error {
	message := c.hide(f.Message)
	if c.rules { // what DuckDB suggests may be the name of a table or column that a rule denies
		for _, suggestion := range suggestions {
			message, _, _ = strings.Cut(message, suggestion)
		}
	}
	e := execution.NewError(sqlguard.CodeDatabaseError, cmp.Or(strings.TrimSpace(message), "DuckDB refused the statement"), nil)
	e.SQLState, e.Position, e.Hint = f.Type, max(f.Position, 0), cmp.Or(hints[f.Type], e.Hint)
	switch {
	case strings.Contains(f.Message, "Table with name "):
		e.Hint = "SHOW TABLES lists the tables"
	case strings.Contains(f.Message, "Referenced column "):
		e.Hint = "DESCRIBE name lists the columns of a table"
	}
	e.Retryable = f.Type == "IO"
	switch f.Type {
	case wire.TypeRefused:
		e.SQLState = ""
	case wire.TypeSession:
		e.Code, e.SQLState = sqlguard.CodeSessionModeMismatch, ""
	}
	return e
}

// NoEngine returns the error of a build without DuckDB.
func NoEngine() *execution.Error {
	e := execution.NewError(sqlguard.CodeNoBackend, "this build of ktx has no DuckDB", nil)
	e.Hint = "the operator needs a build with it: CGO_ENABLED=1 go install -tags duckdb github.com/ktxhq/ktx/cmd/ktx@latest, with a C compiler"
	return e
}

// notOpened returns the error of a process that could not open its source.
func (c *conn) notOpened(f *wire.Failure) *execution.Error {
	message := c.hide(f.Message)
	switch {
	case f.Type == wire.TypeNoEngine:
		return NoEngine()
	case f.Type == wire.TypeSession:
		return execution.NewError(sqlguard.CodeSessionModeMismatch, "the DuckDB session is not as it should be: "+message, nil)
	case f.Type == "IO" && strings.Contains(f.Message, "lock"):
		e := execution.NewError(sqlguard.CodeBusy, "another program has the DuckDB file open for writing", nil)
		e.Hint, e.RetryAfter = "try again when that program has closed the file", retryAfter
		return e
	}
	e := execution.NewError(sqlguard.CodeNotConfigured, "DuckDB cannot open "+c.source.name()+": "+message, nil)
	e.SQLState = f.Type
	return e
}

// lost returns the error for a process that ended, or that said something else than an
// answer.
func (c *conn) lost(err error) *execution.Error {
	e := execution.NewError(sqlguard.CodeConnectionLost, "the process that runs DuckDB ended before its answer did", err)
	e.Hint = "the statement may need more memory than a process may use; read or group less"
	if said := c.said.String(); said != "" {
		e.Err = &complained{said, err}
	}
	return e
}

// complained is what a process wrote to its standard error. It is for logs.
type complained struct {
	text  string
	cause error
}

func (e *complained) Error() string { return e.text }

func (e *complained) Unwrap() error { return e.cause }

// hide removes the folder of the source from a message.
func (c *conn) hide(message string) string {
	return strings.ReplaceAll(strings.ReplaceAll(message, c.found.root+"/", ""), c.found.root, "")
}
