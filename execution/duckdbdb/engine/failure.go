//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package engine

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
)

// failure is an error that a statement is answered with.
type failure wire.Failure

func (f *failure) Error() string { return f.Type + ": " + f.Message }

// refuse returns the error for a statement that is not one read.
func refuse(message string) error { return &failure{Type: wire.TypeRefused, Message: message} }

// fail returns the engine's error from its text: JSON when errors_as_json is set, which may
// stand behind the kind of error.
func fail(text string) error {
	if at := strings.IndexByte(text, '{'); at >= 0 {
		var said struct {
			Type     string `json:"exception_type"`
			Message  string `json:"exception_message"`
			Position string `json:"position"`
		}
		if json.Unmarshal([]byte(text[at:]), &said) == nil && said.Type != "" {
			f := &failure{Type: said.Type, Message: said.Message}
			if n, err := strconv.Atoi(said.Position); err == nil {
				f.Position = n + 1
			}
			return f
		}
	}
	if kind, message, found := strings.Cut(text, " Error: "); found && len(kind) < 40 {
		return &failure{Type: kind, Message: message}
	}
	return &failure{Type: "Unknown", Message: text}
}

// maxMessage bounds the message of an error.
const maxMessage = 4 << 10

// fail answers a statement with an error. An error of the pipe makes the process unfit.
func (e *engine) fail(err error) error {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return err
	}
	out := wire.Failure(*f)
	out.Message = strings.ToValidUTF8(out.Message[:min(len(out.Message), maxMessage)], "\uFFFD")
	return e.conn.Write(wire.Failed, out)
}
