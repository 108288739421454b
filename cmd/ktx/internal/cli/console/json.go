package console

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ktxhq/ktx/sqlcheck/report"
)

// PrintJSON writes v to standard output as one indented JSON document.
func (a *App) PrintJSON(v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		a.Out.Fail(err)
		return
	}
	a.PrintRawJSON(b.Bytes())
}

// Document is a JSON object whose members keep their order, so that the name of
// its schema comes first.
type Document []member

type member struct {
	key   string
	value any
}

// NewDocument returns a document whose first member, schema, is the name of its
// schema.
func NewDocument(schema string) Document { return Document{}.With("schema", schema) }

// With returns the document with one more member at its end.
func (d Document) With(key string, value any) Document {
	return append(slices.Clip(d), member{key, value})
}

// MarshalJSON writes the members in order.
func (d Document) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, m := range d {
		b.WriteByte("{,"[min(i, 1)])
		if err := e.Encode(m.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// PrintRawJSON writes a JSON text to standard output. It escapes the characters
// that a terminal would act on, which changes no value.
func (a *App) PrintRawJSON(text []byte) { _, _ = a.Out.Write(report.EscapeJSON(text)) }
