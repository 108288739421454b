package rowset

import "github.com/ktxhq/ktx/execution"

// Kind says how a text becomes a value. The zero Kind leaves the text
// unchanged.
type Kind uint8

// The kinds.
const (
	String  Kind = iota // also for numbers that a float64 may round
	Bool                // in the server's own spelling
	Integer             // a Number when every JSON reader reads it exactly
	Float               // a Number when it is finite
	Bytes               // \x and hexadecimal digits
)

// Value returns the value of text. For [Bytes], text is the hexadecimal digits.
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
