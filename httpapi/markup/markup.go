// Package markup writes HTML in which every value is escaped.
//
// Markup is written as constants, and values stand where a constant has a verb. A test of
// the module holds that nothing but constants becomes [Markup], so no text of a user can.
// The templates of the standard library call methods by name; the linker then keeps every
// method of ktx, which is an eighth of the program.
package markup

import (
	"fmt"
	"html"
	"strings"
)

// Markup is HTML of this module, with %s for each value and %% for a percent sign. Values
// are text between tags, or a part of an attribute in double quotes. A verb must not stand
// in any other place: outside of quotes, at the begin of an address, in a script, or in a
// style.
type Markup string

// Document collects HTML. The zero value is ready to use.
type Document struct{ strings.Builder }

// Put writes markup with its values, escaped.
func (d *Document) Put(m Markup, values ...any) {
	escaped := make([]any, len(values))
	for i, v := range values {
		escaped[i] = html.EscapeString(strings.ToValidUTF8(strings.ReplaceAll(fmt.Sprint(v), "\x00", "\uFFFD"), "\uFFFD")) // HTML has neither
	}
	_, _ = fmt.Fprintf(d, string(m), escaped...)
}

// PutIf writes markup with a value unless the value is its zero value.
func PutIf[T comparable](d *Document, m Markup, value T) {
	var zero T
	if value != zero {
		d.Put(m, value)
	}
}
