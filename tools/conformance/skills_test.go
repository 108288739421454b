package conformance_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// skillScenarios are the scenarios of the suite for servers with skills (SEP-2640). They
// belong to no revision, so the suite runs them only with --force.
var skillScenarios = []string{"sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"}

// TestSkills serves two skills with the shipped server. The suite's scenarios must pass
// without a warning, and the inspector must read every file with its digest.
func TestSkills(t *testing.T) {
	p := installed(t)
	dir := p.project(t)
	config := filepath.Join(dir, "ktx.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		// The suite looks at the first skill by name, which must have a folder.
		"ktx.yaml":                              string(text) + "\nskills: {}\n",
		"skills/data-review/SKILL.md":           "---\nname: data-review\ndescription: Reviews <a> change.\nlicense: MIT\nmetadata: {version: \"1.10\"}\n---\n\nRead references/list.md.\n",
		"skills/data-review/references/list.md": "# List\n",
		"skills/data-review/logo.png":           "\x89PNG\x00",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := p.serve(t, dir, "")
	for _, r := range revisions {
		t.Run(r.name, func(t *testing.T) {
			checks := 0
			for _, scenario := range skillScenarios {
				out, text := suite(t, p, url, "--scenario", scenario, "--spec-version", r.name, "--force")
				passed := 0
				for _, c := range out.checks[scenario] {
					// Before 2026-07-28 results have no members for caches.
					skipped := c.Status == "SKIPPED" && strings.HasSuffix(c.ID, "-cache-attributes") && r.name < "2026-07-28"
					if c.Status != "SUCCESS" && !skipped {
						t.Errorf("%s: %s %s: %s", scenario, c.ID, c.Status, c.ErrorMessage)
					}
					passed++
				}
				if passed == 0 || out.code != 0 {
					t.Errorf("%s: %d checks, exit code %d\n%s", scenario, passed, out.code, text)
				}
				checks += passed
			}
			t.Logf("%d scenarios, %d checks", len(skillScenarios), checks)
		})
	}
	for _, era := range []string{"legacy", "auto", "modern"} {
		t.Run("inspector/"+era, func(t *testing.T) {
			out, errs, code := p.node(t, slices.Concat(
				[]string{p.script("@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli", url, "--transport", "http"},
				[]string{"--method", "skills/list", "--verify", "--protocol-era", era})...)
			if code != 0 || !strings.Contains(out+errs, "Verified 2 skills and 4 files: no conformance errors.") {
				t.Errorf("exit code %d\n%s%s", code, out, errs)
			}
			t.Log("2 skills and 4 files verified")
		})
	}
}
