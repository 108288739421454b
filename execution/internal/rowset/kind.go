package rowset

import "github.com/ktxhq/ktx/execution"

// Kind says how a text becomes a value. The zero Kind leaves it as it is.
type Kind uint8

// The kinds.
const (
	String  Kind = iota // numbers with a precision of their own too
	Bool                // in the server's own words
	Integer             // a Number where readers of JSON are exact
	Float               // a Number where it is one
	Bytes               // \x and hexadecimal digits
)

// Value returns the value of text. For [Bytes] it is the hexadecimal digits.
func (k Kind) Value(text string) execution.Value {
	switch k {
	case Bool:
		return execution.Value{Kind: execution.Bool, Text: text}
	case Integer:
		return execution.IntegerValue(text)
	case Float:
		return execution.FloatValue(text)
	case String, Bytes:
		return execution.Value{Kind: execution.String, Text: text}
	default:
		return execution.Value{Kind: execution.String, Text: text}
	}
}
