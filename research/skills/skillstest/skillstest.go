// Package skillstest has the contract suite of the stores of skills. It is for tests.
package skillstest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/skills"
)

// Model is the model of the suite. Its dimensions are those that every store takes.
var Model = skills.Model{Name: "nomic-embed-text", Dimensions: 768}

// transcript is what every store answers to the calls of [RunState]. Two stores that
// answer it give byte-equal answers.
//
//go:embed transcript.txt
var transcript string

// recorder makes calls, and writes their answers down.
type recorder struct {
	tb    testing.TB
	lines []string
}

func (r *recorder) keep(call string, answer any, err error) {
	r.tb.Helper()
	text, failed := json.Marshal(answer)
	if failed != nil {
		r.tb.Fatal(failed)
	}
	line := call + " = " + string(text)
	if err != nil {
		line = call + " fails: " + err.Error()
	}
	r.lines = append(r.lines, line)
}

// vectors returns vectors that are the same in each run.
func vectors(n int) []skills.Vector {
	source := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the vectors are the same each time
	list := make([]skills.Vector, n)
	for i := range list {
		v := make([]float32, Model.Dimensions)
		for k := range v {
			v[k] = float32(source.NormFloat64())
		}
		list[i] = skills.Vector{Text: fmt.Sprintf("t%03d", i), Values: v}
	}
	return list
}

// RunState is the contract of a [skills.State]. open returns the same state at each call,
// as another process has it; the suite closes what it opens.
func RunState(t *testing.T, open func(t *testing.T, tenant string) skills.State) {
	t.Helper()
	t.Run("transcript", func(t *testing.T) {
		got := record(t, open)
		if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" { // in the tests of litestore
			_, file, _, _ := runtime.Caller(0)
			if err := os.WriteFile(filepath.Join(filepath.Dir(file), "transcript.txt"), []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
		want := strings.Split(transcript, "\n")
		for i, line := range strings.Split(got, "\n") {
			if i >= len(want) || line != want[i] {
				t.Fatalf("line %d:\n%s\nwant\n%s", i+1, line, append(want, "")[min(i, len(want))])
			}
		}
		if got != transcript {
			t.Errorf("%d lines, want %d", strings.Count(got, "\n"), len(want)-1)
		}
	})
	t.Run("uses at once", func(t *testing.T) {
		state := open(t, "at once")
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for range 5 {
					if err := state.Use(t.Context(), "a"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if counts, err := state.Counts(t.Context(), nil); err != nil || counts["a"].Uses != 40 {
			t.Errorf("%v, %v", counts, err)
		}
	})
	t.Run("a caller that has gone", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		state := open(t, "gone")
		if err := state.Use(ctx, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if counts, err := state.Counts(t.Context(), nil); err != nil || len(counts) != 0 {
			t.Errorf("%v, %v", counts, err)
		}
	})
}

// record makes the calls of the transcript.
func record(t *testing.T, open func(t *testing.T, tenant string) skills.State) string {
	t.Helper()
	ctx := t.Context()
	r := &recorder{tb: t}
	state := open(t, "one")
	counts := func(names ...string) {
		c, err := state.Counts(ctx, names)
		r.keep(fmt.Sprintf("Counts(%q)", names), c, err)
	}
	ratings := func(name string, limit int) {
		list, err := state.Ratings(ctx, name, limit)
		r.keep(fmt.Sprintf("Ratings(%s, %d)", name, limit), list, err)
	}
	counts()
	ratings("a", 5)
	for i, name := range []string{"a", "a", "b", "c-long-name", "a"} {
		r.keep(fmt.Sprint("Use ", i), nil, state.Use(ctx, name))
	}
	at := time.Unix(1_800_000_000, 999).UTC()
	for i, rating := range []skills.Rating{
		{Skill: "a", Rater: "Zoë", Stars: 5, Comment: "Good; it's \"fine\" \\ 100%.\nYes."},
		{Skill: "a", Rater: "ada", Stars: 1},
		{Skill: "a", Rater: "Bob", Stars: 3, Comment: "日本語"},
		{Skill: "a", Rater: "ada", Stars: 4, Comment: "Now it works."},
		{Skill: "b", Rater: "ada", Stars: 2},
		{Skill: "a", Rater: "ada", Stars: 6},
		{Skill: "a", Rater: "ada", Stars: 0},
		{Skill: "A b", Rater: "ada", Stars: 1},
		{Skill: "a", Rater: "", Stars: 1},
		{Skill: "a", Rater: "ada", Stars: 1, Comment: "\x1b[31m"},
	} {
		rating.Time = at.Add(time.Duration(i/2) * time.Hour)
		r.keep(fmt.Sprint("Rate ", i), nil, state.Rate(ctx, rating))
	}
	counts()
	counts("a", "zz")
	counts("b")
	ratings("a", 2)
	ratings("a", 10)
	ratings("zz", 10)

	list := vectors(60)
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = v.Text
	}
	missing := func(model skills.Model, asked ...string) {
		some, err := state.Missing(ctx, model, asked)
		r.keep(fmt.Sprintf("Missing(%s, %d)", model, len(asked)), some, err)
	}
	nearest := func(model skills.Model, v []float32, limit int) {
		near, err := state.Nearest(ctx, model, v, limit)
		r.keep(fmt.Sprintf("Nearest(%s, %d)", model, limit), near, err)
	}
	number := func(model skills.Model) {
		n, err := state.Vectors(ctx, model)
		r.keep(fmt.Sprintf("Vectors(%s)", model), n, err)
	}
	missing(Model, "t001", "zz", "t000")
	nearest(Model, list[0].Values, 5)
	number(Model)
	r.keep("Put", nil, state.Put(ctx, Model, list[:50]))
	r.keep("Put again", nil, state.Put(ctx, Model, list[:1]))
	missing(Model, "t001", "zz", "t000", "t055")
	nearest(Model, list[0].Values, 5)
	nearest(Model, list[55].Values, 3)
	number(Model)
	v, err := state.Vector(ctx, Model, "t003")
	r.keep("Vector", slices.Equal(v, list[3].Values), err)
	v, err = state.Vector(ctx, Model, "zz")
	r.keep("Vector of none", v, err)
	// Equal vectors are in the order of their texts.
	r.keep("Put equal ones", nil, state.Put(ctx, Model, []skills.Vector{{Text: "z2", Values: list[0].Values}, {Text: "z1", Values: list[0].Values}}))
	nearest(Model, list[0].Values, 4)
	// What is not published is not found, and keeps its vector.
	r.keep("Publish", nil, state.Publish(ctx, Model, texts[1:40]))
	nearest(Model, list[0].Values, 3)
	number(Model)
	missing(Model, "t000", "t045")
	r.keep("Publish", nil, state.Publish(ctx, Model, texts))
	number(Model)
	r.keep("Publish none", nil, state.Publish(ctx, Model, nil))
	number(Model)
	r.keep("Publish", nil, state.Publish(ctx, Model, texts))
	// Models are never mixed.
	other := skills.Model{Name: "other", Dimensions: Model.Dimensions}
	nearest(other, list[0].Values, 3)
	missing(other, "t000")
	r.keep("Put other", nil, state.Put(ctx, other, []skills.Vector{{Text: "t000", Values: list[9].Values}}))
	nearest(other, list[0].Values, 3)
	nearest(Model, list[0].Values, 1)
	// Vectors that cannot be compared are refused.
	nearest(Model, make([]float32, Model.Dimensions), 1)
	nearest(Model, list[0].Values[:5], 1)
	r.keep("Put zeros", nil, state.Put(ctx, Model, []skills.Vector{{Text: "t059", Values: make([]float32, Model.Dimensions)}}))
	r.keep("Put a short one", nil, state.Put(ctx, Model, []skills.Vector{list[58], {Text: "t059", Values: []float32{1}}}))
	missing(Model, "t058", "t059")

	// Another tenant has nothing of this one; another process has everything.
	state = open(t, "two")
	counts()
	ratings("a", 5)
	number(Model)
	nearest(Model, list[0].Values, 3)
	state = open(t, "one")
	counts()
	nearest(Model, list[1].Values, 2)
	return strings.Join(r.lines, "\n") + "\n"
}
