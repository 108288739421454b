package dialecttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
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

// JudgeHeld judges statements that others wrote by d and by an engine. engine returns why a
// text that the guard allows is wrong, or "", and whether the text is one read to it. Of the
// reads it counts those that are refused by their source and code, and shows those that are
// allowed where the source begins with "attack".
func JudgeHeld(t *testing.T, statements []HeldStatement, d sqlguard.Dialect, engine func(sql string) (fault string, read bool)) {
	t.Helper()
	g := NewGuard(t, d)
	reads, refused, others := map[string]int{}, map[string]int{}, map[string]int{}
	for _, s := range statements {
		v := g.CheckOnce(s.SQL)
		fault, read := engine(s.SQL)
		switch {
		case v.Allowed && fault != "":
			t.Errorf("allowed: %s: %q\nto the engine: %s", s.Source, s.SQL, fault)
		case v.Allowed:
			reads[s.Source]++
			if strings.HasPrefix(s.Source, "attack") {
				t.Logf("allowed\t%s\t%q", s.Source, s.SQL)
			}
		case read:
			reads[s.Source]++
			refused[fmt.Sprint(s.Source, " ", v.Code)]++
			t.Logf("refused\t%s\t%s\t%s\t%q", s.Source, v.Code, v.Findings[0].Message, s.SQL)
		default:
			others[s.Source]++
		}
	}
	for _, source := range slices.Sorted(maps.Keys(reads)) {
		t.Logf("%s: %d reads; %d texts that are none are refused", source, reads[source], others[source])
	}
	for _, k := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%d refused: %s", refused[k], k)
	}
}
