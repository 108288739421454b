package semantic_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// rulesOf permits all but a table.
type rulesOf struct{ denied string }

func (r rulesOf) Relation(_, name string) bool        { return name != r.denied }
func (r rulesOf) Column(schema, table, _ string) bool { return r.Relation(schema, table) }
func (r rulesOf) DeniesColumns() bool                 { return false }
func (r rulesOf) ID() string                          { return "all but " + r.denied }

var allPermitted = semantic.Rules{Dialect: emit.SQLite, Access: rulesOf{}}

// project is a project's folder with the files of one connection, "a".
type project struct {
	t     testing.TB
	dir   string // of the connection's files
	store *semantic.Store
}

func newProject(tb testing.TB) *project {
	tb.Helper()
	dir := tb.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = root.Close() })
	return &project{tb, filepath.Join(dir, semantic.Folder, "a"), semantic.NewStore(root, time.Now)}
}

func (p *project) put(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) snapshot(rules semantic.Rules) *semantic.Snapshot {
	p.t.Helper()
	found, err := p.store.Snapshot(context.Background(), "a", rules)
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// age makes a file so old that its time says that it is the same.
func (p *project) age(names ...string) {
	p.t.Helper()
	old := time.Now().Add(-time.Hour)
	for _, name := range names {
		if err := os.Chtimes(filepath.Join(p.dir, name), old, old); err != nil {
			p.t.Fatal(err)
		}
	}
}

// sourceText is the file of a source with one measure.
func sourceText(name, measure string) string {
	return fmt.Sprintf("name: %s\ntable: main.%s\ngrain: [id]\ncolumns: [{name: id, type: number}]\nmeasures: [{name: %s, expr: count(*)}]\n", name, name, measure)
}

// holds returns the measures of a snapshot, and how many problems it has.
func holds(s *semantic.Snapshot) string {
	return fmt.Sprintf("%s, %d problems", strings.Join(s.Fields(true), " "), len(s.Model().Problems))
}

// TestSnapshotSeesChanges: what happened to a file before a call is in its answer,
// however short a time before it happened.
func TestSnapshotSeesChanges(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} { // whether the files are old before each step
		t.Run(fmt.Sprintf("old=%v", old), func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			for i, step := range []struct {
				do   func()
				want string
			}{
				{func() {}, ", 0 problems"},
				{func() { p.put("x.yaml", sourceText("x", "m1")) }, "x.m1, 0 problems"},
				{func() { p.put("x.yaml", sourceText("x", "m2")) }, "x.m2, 0 problems"}, // of equal size
				{func() { p.put("x.yaml", sourceText("x", "m3")) }, "x.m3, 0 problems"},
				{func() { p.put("y.yml", sourceText("y", "n")) }, "x.m3 y.n, 0 problems"},
				{func() { p.put("_schema/s.yaml", "tables: {z: {table: main.z, columns: [{name: id, type: int}]}}") }, "x.m3 y.n, 0 problems"},
				{func() { p.put("z.yaml", "name: z\nmeasures: [{name: o, expr: count(*)}]") }, "x.m3 y.n z.o, 0 problems"},
				{func() { p.put("y.yml", "name: y\n  table: [") }, "x.m3 z.o, 1 problems"},
				{func() { p.put("y.yml", sourceText("y", "n")) }, "x.m3 y.n z.o, 0 problems"},
				{func() { _ = os.Rename(filepath.Join(p.dir, "y.yml"), filepath.Join(p.dir, "y.off")) }, "x.m3 z.o, 0 problems"},
				{func() { _ = os.Remove(filepath.Join(p.dir, "z.yaml")) }, "x.m3, 0 problems"},
				{func() { p.put("notes.txt", "x"); p.put(".hidden.yaml", "x"); p.put("more/x.yaml", "x") }, "x.m3, 0 problems"},
				{func() { _ = os.RemoveAll(p.dir) }, ", 0 problems"},
				{func() { p.put("x.yaml", sourceText("x", "m4")) }, "x.m4, 0 problems"},
			} {
				step.do()
				if got := holds(p.snapshot(allPermitted)); got != step.want {
					t.Errorf("step %d: %s, want %s", i, got, step.want)
				}
				if old {
					for _, name := range []string{"x.yaml", "y.yml", "z.yaml", "_schema/s.yaml"} {
						if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
							p.age(name)
						}
					}
					p.snapshot(allPermitted)
				}
			}
		})
	}
}

// TestSnapshotIsKept: files with equal content keep the snapshot, and other rules do not.
func TestSnapshotIsKept(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.put("x.yaml", sourceText("x", "m"))
	p.put("y.yaml", sourceText("y", "n"))
	first := p.snapshot(allPermitted)
	if p.snapshot(allPermitted) != first {
		t.Error("a second call builds another snapshot")
	}
	p.put("x.yaml", sourceText("x", "m"))
	p.age("x.yaml", "y.yaml")
	for range 2 {
		if p.snapshot(allPermitted) != first {
			t.Error("equal content builds another snapshot")
		}
	}
	judged := allPermitted
	judged.JudgeID = "other"
	for name, rules := range map[string]semantic.Rules{
		"another judge": judged, "another access": {Dialect: emit.SQLite, Access: rulesOf{"y"}}, "another dialect": {Dialect: emit.Postgres, Access: rulesOf{}},
	} {
		before := p.snapshot(allPermitted)
		after := p.snapshot(rules)
		if after == before {
			t.Errorf("%s keeps the snapshot", name)
		}
		if after.Hash() != before.Hash() {
			t.Errorf("%s changes the hash of the files", name)
		}
		if got := p.snapshot(rules); got != after {
			t.Errorf("%s builds a snapshot at each call", name)
		}
	}
	if got := holds(p.snapshot(semantic.Rules{Dialect: emit.SQLite, Access: rulesOf{"y"}})); got != "x.m, 0 problems" {
		t.Errorf("the denied source is there: %s", got)
	}
	if got := holds(p.snapshot(allPermitted)); got != "x.m y.n, 0 problems" {
		t.Errorf("the source is gone: %s", got)
	}
}

// TestSnapshotStaysInTheProject: a link that leads out of the project is not followed.
func TestSnapshotStaysInTheProject(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	outside := t.TempDir()
	for _, name := range []string{"out.yaml", "_schema/s.yaml", "b/in.yaml"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(outside, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, name), []byte(sourceText("zq7", "secret")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.put("x.yaml", sourceText("x", "m"))
	p.put("target.txt", sourceText("y", "n"))
	for name, target := range map[string]string{
		"out.yaml": filepath.Join(outside, "out.yaml"), "_schema": filepath.Join(outside, "_schema"), "up.yaml": "../../../" + filepath.Base(outside) + "/out.yaml",
		"none.yaml": "nowhere.yaml", "loop.yaml": "loop.yaml", "folder.yaml": ".",
	} {
		if err := os.Symlink(target, filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := p.store.Snapshot(t.Context(), "a", allPermitted)
	// An error would also do; what lies outside must not be told.
	if err == nil && holds(found) != "x.m, 0 problems" || err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("%v %v", found, err)
	}
	if err := os.Remove(filepath.Join(p.dir, "_schema")); err != nil {
		t.Fatal(err)
	}
	if got := holds(p.snapshot(allPermitted)); got != "x.m, 0 problems" {
		t.Errorf("without a link for a folder: %s", got)
	}
	// A link within the project is a file like any other.
	if err := os.Symlink("target.txt", filepath.Join(p.dir, "y.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := holds(p.snapshot(allPermitted)); got != "x.m y.n, 0 problems" {
		t.Errorf("a link within the project: %s", got)
	}
	p.put("target.txt", sourceText("y", "o"))
	if got := holds(p.snapshot(allPermitted)); got != "x.m y.o, 0 problems" {
		t.Errorf("the target of a link has changed: %s", got)
	}
	if err := os.Symlink(filepath.Join(outside, "b"), filepath.Join(filepath.Dir(p.dir), "b")); err != nil {
		t.Fatal(err)
	}
	if found, err := p.store.Snapshot(t.Context(), "b", allPermitted); err == nil {
		t.Errorf("the folder of a connection outside: %s", holds(found))
	}
	for _, id := range []string{"", ".", "..", "../a", "a/../a", "a/b", "_x", "a b", "a\x00"} {
		if _, err := p.store.Snapshot(t.Context(), id, allPermitted); err == nil {
			t.Errorf("%q is the id of a connection", id)
		}
		if err := p.store.Add(id, "x.yaml", nil); err == nil {
			t.Errorf("a file is added to %q", id)
		}
	}
}

// TestSnapshotBounds: files beyond a limit are told of, and the others stay.
func TestSnapshotBounds(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.put("x.yaml", sourceText("x", "m"))
	large := func(name string, size int64) {
		t.Helper()
		p.put(name, "#")
		if err := os.Truncate(filepath.Join(p.dir, name), size); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"large.yaml", "_schema/large.yaml"} {
		large(name, 1<<30) // it takes no room on the disk
		found := p.snapshot(allPermitted)
		if !slices.ContainsFunc(found.Model().Problems, func(p model.Problem) bool {
			return p.File == name && !p.Warning && strings.Contains(p.Message, "larger than")
		}) || !slices.Contains(found.Fields(true), "x.m") {
			t.Errorf("%s: %s %+v", name, holds(found), found.Model().Problems)
		}
		if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20_001 {
		p.put(fmt.Sprintf("n%05d.yaml", i), "")
		if i == 10_000 {
			found := p.snapshot(allPermitted)
			if !slices.ContainsFunc(found.Model().Problems, func(p model.Problem) bool {
				return strings.Contains(p.Message, "10,000") || strings.Contains(p.Message, "10000")
			}) {
				t.Errorf("10,002 files: %d problems, the first %+v", len(found.Model().Problems), found.Model().Problems[:1])
			}
		}
	}
	if _, err := p.store.Snapshot(t.Context(), "a", allPermitted); err == nil || !strings.Contains(err.Error(), "semantic-layer/a: there are more than 20,000 files") {
		t.Errorf("20,002 files: %v", err)
	}
	for i := range 20_001 {
		if err := os.Remove(filepath.Join(p.dir, fmt.Sprintf("n%05d.yaml", i))); err != nil {
			t.Fatal(err)
		}
	}
	if got := holds(p.snapshot(allPermitted)); got != "x.m, 0 problems" {
		t.Errorf("afterwards: %s", got)
	}
}

// TestSnapshotWhileFilesChange: while two files are replaced one after the other, each
// answer is a state that was on disk during the call: never the second file of a round
// with the first of an earlier one, and never older than what was complete before.
func TestSnapshotWhileFilesChange(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	text := func(name string, round int) string { return sourceText(name, fmt.Sprintf("m%06d", round)) } // all of equal size
	replace := func(name string, round int) {
		path := filepath.Join(p.dir, name+".yaml")
		if err := errors.Join(os.WriteFile(path+".new", []byte(text(name, round)), 0o600), os.Rename(path+".new", path)); err != nil {
			t.Error(err)
		}
	}
	p.put("x.yaml", text("x", 0))
	p.put("y.yaml", text("y", 0))
	for i := range 20 { // files that do not change make reading longer
		p.put(fmt.Sprintf("xx%d.yaml", i), sourceText(fmt.Sprintf("xx%d", i), "m"))
	}
	var written, ended, answers, changes atomic.Int64
	var writers, readers sync.WaitGroup
	writers.Go(func() {
		defer ended.Store(1)
		// On a slow machine the readers need more rounds to see enough of them.
		for round, start := 0, time.Now(); round < 300 || changes.Load() < 20 && time.Since(start) < 2*time.Minute; round++ {
			replace("x", round+1)
			if round%3 == 0 {
				time.Sleep(time.Millisecond)
			}
			replace("y", round+1)
			written.Store(int64(round + 1))
			if round%7 == 0 {
				time.Sleep(3 * time.Millisecond)
			}
		}
	})
	for range 4 {
		readers.Go(func() {
			last := ""
			for ended.Load() == 0 {
				least := written.Load()
				found, err := p.store.Snapshot(t.Context(), "a", allPermitted)
				if err != nil {
					t.Error(err)
					return
				}
				most := written.Load() + 1
				rounds := map[string]int64{}
				for _, field := range found.Fields(true) {
					var round int64
					if name, m, _ := strings.Cut(field, "."); name == "x" || name == "y" {
						if _, err := fmt.Sscanf(m, "m%d", &round); err != nil {
							t.Error(err)
						}
						rounds[name] = round
					}
				}
				x, y := rounds["x"], rounds["y"]
				if len(rounds) != 2 || x != y && x != y+1 || y < least || x > most || len(found.Model().Problems) > 0 || len(found.Model().Sources) != 22 {
					t.Errorf("x of round %d with y of round %d, while rounds %d to %d were written; %s", x, y, least, most, holds(found))
				}
				answers.Add(1)
				if found.Hash() != last {
					last = found.Hash()
					changes.Add(1)
				}
			}
		})
	}
	writers.Wait()
	readers.Wait()
	t.Logf("%d answers, %d of them new to their reader", answers.Load(), changes.Load())
	if changes.Load() < 20 {
		t.Error("too few answers differ for a comparison")
	}
}

// TestSnapshotCancelled: a call that waits for another one to read ends with its context.
func TestSnapshotCancelled(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.put("x.yaml", sourceText("x", "m"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.store.Snapshot(ctx, "a", allPermitted); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := holds(p.snapshot(allPermitted)); got != "x.m, 0 problems" {
		t.Errorf("afterwards: %s", got)
	}
}

// TestDamageStaysInItsFile: whatever happens to the bytes of a file, reading does not
// fail, and the sources of the other files stay as they were.
func TestDamageStaysInItsFile(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for _, name := range []string{"x", "y", "z"} {
		p.put(name+".yaml", sourceText(name, "m"))
	}
	p.put("_schema/s.yaml", "tables:\n  w:\n    table: main.w\n    columns: [{name: id, type: int, pk: true}]\n")
	victim := "name: v\ntable: main.v\ndescriptions: {user: All that there is}\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n  - {name: net, type: number, expr: \"id * 2 - 1\"}\njoins:\n  - {to: x, on: v.id = x.id, relationship: many_to_one, alias: other}\nmeasures:\n  - {name: total, expr: sum(net), filter: \"id > 1\"}\nsegments:\n  - {name: big, expr: id > 100}\n"
	p.put("v.yaml", victim)
	if got := holds(p.snapshot(allPermitted)); got != "v.total x.m y.m z.m, 0 problems" {
		t.Fatal(got)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(victim)
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := rapid.IntRange(from, len(text)).Draw(t, "to")
			switch rapid.SampledFrom([]string{"flip", "cut", "twice", "leave out", "insert", "swap"}).Draw(t, "damage") {
			case "flip":
				if from < len(text) {
					text[from] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
				}
			case "cut":
				text = text[:from]
			case "twice":
				text = slices.Concat(text[:to], text[from:to], text[to:])
			case "leave out":
				text = slices.Concat(text[:from], text[to:])
			case "insert":
				text = slices.Concat(text[:from], rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "bytes"), text[from:])
			case "swap":
				text = slices.Concat(text[to:], text[from:to], text[:from])
			}
		}
		p.put("v.yaml", string(text))
		found, err := p.store.Snapshot(context.Background(), "a", allPermitted)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		m := found.Model()
		for _, name := range []string{"x", "y", "z", "w"} {
			// A file may also claim the name of a sibling, which is told of both, or that of
			// the source that is looked for. A file that cannot be read makes the source that
			// it names invalid, because a condition could be lost with it.
			at, ok := m.Source(name)
			if ok && m.Sources[at].File == "v.yaml" || slices.ContainsFunc(m.Problems, func(p model.Problem) bool { return p.Source == name && p.File == "v.yaml" }) {
				continue
			}
			if !ok || m.Sources[at].Invalid && !slices.ContainsFunc(m.Problems, func(p model.Problem) bool { return p.Class == "duplicate_name" }) {
				t.Fatalf("%q: %s is gone or invalid: %+v", text, name, m.Problems)
			}
		}
	})
}
