package execution

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a string that no print verb, logger or encoder shows.
type Secret struct{ text *string }

// NewSecret returns text as a Secret.
func NewSecret(text string) Secret { return Secret{&text} }

// String returns a fixed mark.
func (Secret) String() string { return "***" }

// Format prints a fixed mark for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "***") }

// LogValue logs a fixed mark.
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

// MarshalText returns a fixed mark.
func (Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }

// Reveal returns the text. Only code that connects to a database needs it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}
