package skills_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/skills/litestore"
)

// concepts is an embedder that knows what some words have in common. It stands for a
// model: it proves how vectors are used, and nothing about their quality.
type concepts struct {
	model   skills.Model
	fails   error // of every call
	after   int   // documents after which every call fails; 0 is never
	made    int
	queries int
}

var meanings = [][]string{
	{"invoice", "bill", "supplier", "payment"},
	{"picture", "image", "photo", "drawing"},
	{"deploy", "release", "ship", "rollout"},
}

func (c *concepts) Model() skills.Model { return c.model }

func (c *concepts) vector(text string) []float32 {
	v := make([]float32, c.model.Dimensions)
	for i, words := range meanings {
		for _, w := range words {
			if strings.Contains(strings.ToLower(text), w) {
				v[i]++
			}
		}
	}
	if slices.Max(v) == 0 {
		v[3] = 1
	}
	return v
}

func (c *concepts) Documents(_ context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for _, t := range texts {
		if c.fails != nil || c.after > 0 && c.made >= c.after {
			return nil, errors.Join(c.fails, errors.New("the server is gone"))
		}
		c.made++
		out = append(out, c.vector(t))
	}
	return out, nil
}

func (c *concepts) Query(_ context.Context, text string) ([]float32, error) {
	c.queries++
	if c.fails != nil {
		return nil, c.fails
	}
	return c.vector(text), nil
}

func newConcepts(name string) *concepts {
	return &concepts{model: skills.Model{Name: name, Dimensions: 4}}
}

// store returns a store over the skills of a project.
func store(t *testing.T, dir string, e skills.Embedder) *skills.Store {
	t.Helper()
	state := litestore.New(filepath.Join(dir, "state.db"))
	t.Cleanup(func() {
		if err := state.Close(); err != nil {
			t.Error(err)
		}
	})
	return skills.NewStore(skills.Options{Catalog: catalog(t, dir), State: state, Embedder: e})
}

// found renders what a search finds: the method, the names, and the notes.
func found(t *testing.T, s *skills.Store, query string) string {
	t.Helper()
	f, err := s.Search(t.Context(), query, skills.Filter{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	out := string(f.Method) + ":"
	for _, h := range f.Hits {
		out += " " + h.Skill.Name
		if h.Similarity > 0 {
			out += fmt.Sprintf("(%.2f)", h.Similarity)
		}
	}
	return strings.Join(append([]string{out}, f.Notes...), "; ")
}

func fill(t *testing.T, s *skills.Store, dry bool) (skills.Backfill, error) {
	t.Helper()
	return s.Backfill(t.Context(), dry, func(int) {}, func(int) {})
}

func TestMethods(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"skills/check-bills/SKILL.md":  head("check-bills", "Checks a bill of a supplier."),
		"skills/edit-photos/SKILL.md":  head("edit-photos", "Edits a photo."),
		"skills/ship-it/SKILL.md":      head("ship-it", "Ships a version."),
		"skills/secret-bills/SKILL.md": head("secret-bills", "Pays a bill.", "metadata: {status: draft}\n"),
	})
	e := newConcepts("one")
	s := store(t, dir, e)
	want := func(query, want string) {
		t.Helper()
		if got := found(t, s, query); got != want {
			t.Errorf("%s:\n%s, want\n%s", query, got, want)
		}
	}
	want("payment", "text:; searched by words only: no skill has a vector of one yet; ktx skills backfill makes them")
	if e.queries != 0 {
		t.Error("without vectors the server is asked")
	}
	if out, err := fill(t, s, true); err != nil || out.Missing != 3 || out.Made != 0 || e.made != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := fill(t, s, false); err != nil || out.Missing != 3 || out.Made != 3 {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := fill(t, s, false); err != nil || out.Missing != 0 || out.Made != 0 || e.made != 3 {
		t.Errorf("again: %+v, %v", out, err)
	}
	const dropped = "; skills with a similarity below 0.35 were left out"
	want("payment", "semantic: check-bills(1.00)"+dropped)
	want("a drawing of a version", "hybrid: ship-it edit-photos(1.00)"+dropped)
	want("xyzzyq", "text:"+dropped)
	// A server that fails keeps no search from answering.
	e.fails = errors.New("the embedding server x: no answer within 5s")
	want("photo", "text: edit-photos; searched by words only: the embedding server x: no answer within 5s")
	e.fails = nil
	// A skill that changes needs a new vector, and until then it is found by its words.
	write(t, dir, map[string]string{"skills/edit-photos/SKILL.md": head("edit-photos", "Edits a picture.")})
	want("image", "text:"+dropped)
	want("picture", "text: edit-photos"+dropped)
	if out, err := fill(t, s, false); err != nil || out.Missing != 1 || out.Made != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	want("image", "semantic: edit-photos(1.00)"+dropped)
	// A skill that becomes a draft is not found, although its vector is there.
	write(t, dir, map[string]string{"skills/edit-photos/SKILL.md": head("edit-photos", "Edits a picture.", "metadata: {status: draft}\n")})
	want("image", "text:"+dropped)
	// Vectors of another model are never compared.
	other := newConcepts("two")
	s = store(t, dir, other)
	want("payment", "text:; searched by words only: no skill has a vector of two yet; ktx skills backfill makes them")
	if out, err := fill(t, s, false); err != nil || out.Missing != 2 || out.Made != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	want("payment", "semantic: check-bills(1.00)"+dropped)
	if _, err := fill(t, store(t, dir, nil), false); err == nil || !strings.Contains(err.Error(), "embeddings: {provider: ollama}") {
		t.Errorf("without a server: %v", err)
	}
}

// angles is an embedder to which each text says its similarity to every question, after
// an @.
type angles struct{ concepts }

func (a *angles) Documents(_ context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for _, t := range texts {
		_, number, _ := strings.Cut(t, "@")
		cosine, err := strconv.ParseFloat(strings.Fields(number)[0], 64)
		if err != nil {
			return nil, err
		}
		out = append(out, []float32{float32(cosine), float32(math.Sqrt(1 - cosine*cosine)), 0, 0})
	}
	return out, nil
}

func (a *angles) Query(context.Context, string) ([]float32, error) {
	return []float32{1, 0, 0, 0}, nil
}

// TestVectorThatStandsOut: a vector comes before better words only if it is much nearer
// than those of the other skills.
func TestVectorThatStandsOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		others  float64 // the similarity of the first of the other skills
		step    float64 // how much nearer each of the next is
		nearest float64
		first   string
	}{
		{0.40, 0, 0.80, "nearest"},
		{0.79, 0, 0.80, "nearest"}, // models differ in how similar unrelated texts are
		{0.40, 0.02, 0.80, "words"},
		{0.80, 0, 0.80, "words"},
	} {
		dir := t.TempDir()
		files := map[string]string{
			"skills/words/SKILL.md":   head("words", fmt.Sprintf("Closes a ledger. @%f", c.others)) + "The ledger of a month.\n",
			"skills/nearest/SKILL.md": head("nearest", fmt.Sprintf("Reconciles the accounts of a ledger. @%f", c.nearest)),
		}
		for i := range 20 {
			name := fmt.Sprintf("other-%02d", i)
			files["skills/"+name+"/SKILL.md"] = head(name, fmt.Sprintf("Tunes a zither. @%f", c.others+c.step*float64(i)))
		}
		write(t, dir, files)
		s := store(t, dir, &angles{*newConcepts("one")})
		if _, err := fill(t, s, false); err != nil {
			t.Fatal(err)
		}
		f, err := s.Search(t.Context(), "ledger", skills.Filter{}, 1)
		if err != nil || f.Hits[0].Skill.Name != c.first {
			t.Errorf("%+v: %+v, %v", c, f.Hits, err)
		}
	}
}

// TestBackfillGoesOn: a back-fill that ends anywhere keeps what it has made.
func TestBackfillGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 40 {
		name := fmt.Sprintf("s%02d", i)
		files["skills/"+name+"/SKILL.md"] = head(name, "Pays a bill.")
	}
	write(t, dir, files)
	e := newConcepts("one")
	left := 40
	for _, after := range []int{5, 17, 33, 100} {
		e.after, e.made = after, 0
		s := store(t, dir, e) // another process
		out, err := fill(t, s, false)
		if (err == nil) != (after > left) || out.Missing != left || out.Made != min(after/16*16, left) {
			t.Errorf("it ends after %d of %d: %+v, %v", after, left, out, err)
		}
		left -= out.Made
	}
	if left != 0 {
		t.Errorf("%d vectors are missing", left)
	}
}

// TestSimilar: by vectors, else by words, else by category.
func TestSimilar(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"skills/a/SKILL.md": head("a", "Pays a bill."),
		"skills/b/SKILL.md": head("b", "Handles suppliers, an invoice at a time."),
		"skills/c/SKILL.md": head("c", "Pays a visit to museums."),
		"skills/d/SKILL.md": head("d", "Xylophone.", "metadata: {category: Music}\n"),
		"skills/e/SKILL.md": head("e", "Trombone.", "metadata: {category: music}\n"),
		"skills/f/SKILL.md": head("f", "Zither.", "metadata: {category: music, status: draft}\n"),
	})
	similar := func(s *skills.Store, name string) string {
		t.Helper()
		snapshot, err := s.Catalog().Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, k := range s.Similar(t.Context(), snapshot, snapshot.Skill(name)) {
			list = append(list, k.Name)
		}
		return strings.Join(list, " ")
	}
	s := store(t, dir, nil)
	for name, want := range map[string]string{"a": "c", "d": "e"} {
		if got := similar(s, name); got != want {
			t.Errorf("like %s: %q, want %q", name, got, want)
		}
	}
	s = store(t, dir, newConcepts("one"))
	if _, err := fill(t, s, false); err != nil {
		t.Fatal(err)
	}
	if got := similar(s, "a"); got != "b" {
		t.Errorf("by vectors, like a: %q", got)
	}
}

// TestTiers: the quality of a skill, at each border.
func TestTiers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		uses    int
		stars   [5]int
		average string
		tier    skills.Tier
	}{
		{100, [5]int{}, "0.0", skills.TierNone},
		{10, [5]int{0, 0, 0, 1, 0}, "4.0", skills.TierGold},
		{9, [5]int{0, 0, 0, 1, 0}, "4.0", skills.TierSilver},
		{10, [5]int{0, 0, 1, 0, 1}, "4.0", skills.TierGold},
		{10, [5]int{0, 0, 1, 1, 0}, "3.5", skills.TierSilver},
		{10, [5]int{0, 0, 4, 96, 0}, "3.96", skills.TierSilver},
		{4, [5]int{0, 0, 1, 0, 0}, "3.0", skills.TierBronze},
		{5, [5]int{0, 0, 1, 0, 0}, "3.0", skills.TierSilver},
		{0, [5]int{0, 1, 0, 0, 0}, "2.0", skills.TierBronze},
		{50, [5]int{1, 1, 0, 0, 0}, "1.5", skills.TierNone},
		{50, [5]int{0, 0, 0, 2, 1}, "4.33", skills.TierGold},
	} {
		n := skills.Counts{Uses: c.uses, Stars: c.stars}
		if got := skills.ShowAverage(n.Average()); got != c.average || n.Tier() != c.tier {
			t.Errorf("%+v: %s and %q, want %s and %q", n, got, n.Tier(), c.average, c.tier)
		}
	}
}
