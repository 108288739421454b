package setup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestSkillNamesListedTools: every tool that the skill names is in tools/list. A
// name in code style with an underscore is a tool, a code of the guard, or the
// catalogue of SQLite.
func TestSkillNamesListedTools(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.FromSlash("../../../../research/testdata/tools.golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct{ Name string }
	if err := json.Unmarshal(text, &tools); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"sqlite_schema": true}
	for _, tool := range tools {
		known[tool.Name] = true
	}
	named := 0
	for _, m := range regexp.MustCompile("`([a-z]+_[a-z_]+)[^`]*`").FindAllStringSubmatch(setup.SkillBody(), -1) {
		name := m[1]
		if _, code := sqlguard.LookupCode(sqlguard.Code(name)); code || strings.HasPrefix(name, "information_schema") {
			continue
		}
		if !known[name] {
			t.Errorf("the skill names %s, which tools/list does not have", name)
		}
		named++
	}
	if named < len(tools) {
		t.Errorf("the skill names tools %d times, fewer than there are tools (%d)", named, len(tools))
	}
}

// TestSkillKnowsTheGuard: the guard has the codes that the skill explains, and
// allows the SQL that the skill shows.
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
