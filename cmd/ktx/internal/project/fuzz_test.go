package project_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// FuzzParse: for every input Parse returns in time, gives every problem a line and a
// path, and finds as many problems in a second run. A file without errors gives
// policies that a guard accepts.
func FuzzParse(f *testing.F) {
	f.Add(full)
	for _, seed := range []string{
		"", "{}", "[]", "a", "\x00", "\xff\xfe", "\xef\xbb\xbf", "---\n---\n", "? a\n: b", "*a", "&a [*a]", "a: &a {b: *a}", "%YAML 9\n---\n",
		"connections: {a: {driver: x, schemas: &s [*s]}}", "connections: &c {a: {driver: x}, b: *c}", "guard: {<<: *a}",
		strings.Repeat("[", 50), strings.Repeat("{a: ", 50), strings.Repeat("- ", 50), strings.Repeat("? ", 50),
		"connections: {a: {driver: x, access: {columns: [{}, ~, {match: a.b.c, action: deny}]}}}", "check: {overrides: [~, {paths: [a, ~]}]}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		config, problems := project.Parse([]byte(text), anyPattern)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("took %s", took)
		}
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029") + 2
		faulty := false
		for _, p := range problems {
			faulty = faulty || !p.Warning
			if p.Line < 1 || p.Line > lines || p.Path == "" || p.Message == "" {
				t.Errorf("problem %+v in %d lines", p, lines)
			}
		}
		_, again := project.Parse([]byte(text), anyPattern)
		if len(problems) != len(again) {
			t.Errorf("%d problems, then %d", len(problems), len(again))
		}
		if faulty {
			return
		}
		for id, c := range config.Connections {
			if err := c.Policy(config.GuardOf(id)).Validate(); err != nil {
				t.Errorf("accepted, and then: %v", err)
			}
		}
		if err := config.Audit.Validate(); err != nil {
			t.Errorf("accepted, and then: %v", err)
		}
	})
}
