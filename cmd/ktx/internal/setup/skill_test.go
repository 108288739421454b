package setup_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestSkillKnowsTheGuard: the codes that the skill explains are the guard's, and
// the SQL that it shows passes.
func TestSkillKnowsTheGuard(t *testing.T) {
	t.Parallel()
	body := setup.SkillBody()
	_, table, _ := strings.Cut(body, "## When a statement is refused")
	table, _, _ = strings.Cut(table, "## ")
	rows := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 4 {
			continue
		}
		for _, code := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
			rows++
			if _, ok := sqlguard.LookupCode(sqlguard.Code(code[1])); !ok {
				t.Errorf("there is no code %s", code[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("only %d codes were found", rows)
	}
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(body, -1)
	if len(blocks) == 0 {
		t.Error("there is no SQL")
	}
	for _, name := range []string{"postgres", "mysql"} {
		dialect, ok := dialects.Lookup(name)
		if !ok {
			t.Fatalf("no dialect %s", name)
		}
		guard, err := sqlguard.New(dialect, sqlguard.Policy{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks {
			if v := guard.Check(block[1]); !v.Allowed {
				t.Errorf("%s refuses the skill's SQL: %v\n%s", name, v.Findings, block[1])
			}
		}
	}
}
