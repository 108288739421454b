package report_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlcheck/report"
)

// TestHelp: the help of every code that a check can find says what it is, why,
// what to write instead, and whether a comment can suppress it.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, rule := range report.Rules() {
		help := report.Help(rule)
		for _, want := range []string{"# " + string(rule.Code) + "\n", "\n## Why\n", "\n## To permit it in a check\n"} {
			if !strings.Contains(help, want) {
				t.Errorf("%s: no %q in its help", rule.Code, want)
			}
		}
		if !strings.Contains(help, "\n## Instead\n") && !strings.Contains(help, "\n## What to do\n") {
			t.Errorf("%s: its help does not say what to do", rule.Code)
		}
		permit := strings.Contains(help, "\n-- ktx:allow "+string(rule.Code)+" until=")
		if permit != report.Suppressible(rule) || permit == strings.Contains(help, "cannot be permitted") {
			t.Errorf("%s: its help is wrong on comments", rule.Code)
		}
		engines, example := "\nEngines: ", "\n## Refused\n\n```"
		if rule.Family == migration.Family { // it names the engines with the sections of their manuals
			engines, example = "\n## Sources\n\n", "\n## Found\n\n```"
		}
		if report.Suppressible(rule) && (!strings.Contains(help, engines) || !strings.Contains(help, example)) {
			t.Errorf("%s: its help names no engines or shows no example", rule.Code)
		}
		if len(report.Cases(rule.Code)) > 0 != strings.Contains(help, "\n## Cases\n") {
			t.Errorf("%s: its help leaves out cases", rule.Code)
		}
	}
}
