package interchange

import (
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/model"
)

// Options are what an import knows of the connection.
type Options struct {
	// Load returns the model of the connection as it would be with further files. It is
	// called with nothing first.
	Load func(added map[string][]byte) *model.Model
	// Has reports whether the folder of the connection has a file.
	Has func(name string) bool
	// Dialect is the connection's, as postgres, or empty.
	Dialect string
}

// Result is what an import makes.
type Result struct {
	Files  []File   `json:"files"`   // to be written, in the order of the input
	Exists []Exists `json:"exists"`  // sources that the connection has already
	Left   []Loss   `json:"leftOut"` // what was not carried over
	Notes  []Note   `json:"notes"`   // what was carried over and differs, or was assumed
}

// File is the file of one source.
type File struct {
	Source   string   `json:"source"`
	Name     string   `json:"file"` // in the folder of the connection
	Measures []string `json:"measures"`
	Content  []byte   `json:"-"`
}

// Exists is a source that was left as it is, with its file.
type Exists struct {
	Source string `json:"source"`
	Name   string `json:"file"`
}

// Loss is an item that was not carried over.
type Loss struct {
	Kind   string `json:"kind"` // as the input calls it: metric, measure, dimension, …
	Name   string `json:"name"`
	Source string `json:"source,omitempty"` // semantic model or dataset that it stands in
	Reason string `json:"reason"`
}

// Note is something that a person should look at.
type Note struct {
	Source string `json:"source,omitempty"`
	Name   string `json:"name,omitempty"`
	Text   string `json:"text"`
}

// InputError is an input that cannot be read at all.
type InputError struct{ Message, Hint string }

func (e *InputError) Error() string { return e.Message }

func unreadable(hint, format string, args ...any) error {
	return &InputError{fmt.Sprintf(format, args...), hint}
}

// shorten cuts a text of the input for a message.
func shorten(text string) string {
	const most = 120
	text = strings.ToValidUTF8(text, "�")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
