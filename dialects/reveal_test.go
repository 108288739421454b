package dialects_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite docs/evidence/reveal.md")

// revealer is a dialect whose servers tell about themselves.
type revealer interface{ Reveals() []sqlguard.Revealed }

// TestGroupsAreDocumented compares the lists of the groups with the document.
func TestGroupsAreDocumented(t *testing.T) {
	path := filepath.Join("..", "docs", "evidence", "reveal.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- groups: begin, written by a test -->\n", "<!-- groups: end, written by a test -->"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no part for the groups", path)
	}
	want := before + begin + groupLists() + end + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date; run make golden", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

// groupLists renders the members of the groups, by group and dialect.
func groupLists() string {
	var out strings.Builder
	for _, group := range sqlguard.Groups() {
		fmt.Fprintf(&out, "## %s\n\n", group)
		for _, d := range dialects.All() {
			r, ok := d.(revealer)
			if !ok {
				continue
			}
			var lines []string
			for _, part := range []struct {
				title           string
				always, samples bool
			}{{"Always", true, false}, {"With the group", false, false}, {"Samples", false, true}} {
				var names []string
				for _, member := range r.Reveals() {
					if member.Group == group && member.Always == part.always && member.Samples == part.samples {
						name := member.Name
						if member.Kind == "function" {
							name += "()"
						}
						names = append(names, "`"+name+"`")
					}
				}
				slices.Sort(names)
				if names = slices.Compact(names); len(names) > 0 {
					lines = append(lines, fmt.Sprintf("- %s: %s", part.title, strings.Join(names, ", ")))
				}
			}
			if len(lines) > 0 {
				fmt.Fprintf(&out, "%s:\n\n%s\n\n", d.Name(), strings.Join(lines, "\n"))
			}
		}
	}
	return out.String()
}

// TestGroupsHaveMembers checks that every member belongs to a known group, once.
func TestGroupsHaveMembers(t *testing.T) {
	for _, d := range dialects.All() {
		r, ok := d.(revealer)
		if !ok {
			continue
		}
		seen := map[string]sqlguard.Group{}
		for _, member := range r.Reveals() {
			key := member.Kind + " " + member.Name
			if other, twice := seen[key]; twice || !slices.Contains(sqlguard.Groups(), member.Group) {
				t.Errorf("%s: %s is in the groups %q and %q", d.Name(), key, other, member.Group)
			}
			seen[key] = member.Group
		}
	}
}
