package dialecttest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// HeldStatement is a statement that others wrote.
type HeldStatement struct{ Source, SQL string }

// Held reads the file that an environment variable names, with a line
// {"source": …, "sql": …} for each statement. Without the variable there are none.
func Held(tb testing.TB, variable string) []HeldStatement {
	tb.Helper()
	path := os.Getenv(variable)
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // whoever runs the test names it
	if err != nil {
		tb.Fatal(err)
	}
	var out []HeldStatement
	for line := range bytes.Lines(data) {
		var s HeldStatement
		if err := json.Unmarshal(line, &s); err != nil {
			tb.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}
