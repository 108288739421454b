package semantic_test

import (
	"slices"
	"testing"

	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/emit"
)

// TestChecksNameTheirRows: both sides of a one_to_one join are asked for duplicates, and
// each question says whose rows it counts and where the join stands.
func TestChecksNameTheirRows(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.put("people.yaml", "name: people\ntable: people\ngrain: [id]\ncolumns: [{name: id, type: number}]\njoins:\n  - {to: cards, on: id = cards.person, relationship: one_to_one}\n")
	p.put("cards.yaml", "name: cards\ntable: cards\ngrain: [person]\ncolumns: [{name: person, type: number}]\n")
	found := p.snapshot(allPermitted)
	at, ok := found.Model().Source("people")
	if !ok {
		t.Fatal(found.Model().Problems)
	}
	checks, err := found.Checks(at, emit.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	var duplicates []string
	for _, c := range checks {
		if c.Kind == semantic.KeyDuplicates {
			duplicates = append(duplicates, c.Of)
		}
		if c.Join == 0 && (c.Place.File != "people.yaml" || c.Place.Path != "joins[0]" || c.Place.Line != 6) {
			t.Errorf("%s of %s stands at %+v", c.Kind, c.Of, c.Place)
		}
	}
	if slices.Sort(duplicates); !slices.Equal(duplicates, []string{"cards", "people"}) {
		t.Errorf("duplicates are counted of %q", duplicates)
	}
}
