package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki/glove"
	"github.com/ktxhq/ktx/research/wiki/wordnet"
	"github.com/ktxhq/ktx/tools/wordnet/database"
)

// A pair is two texts that mean about the same, as numbers of stems.
type pair struct{ a, b []int }

// How vectors are moved.
const (
	passes       = 5
	batch        = 256  // pairs, each of which has the others as examples of what differs
	temperature  = 0.1  // of the choice of the right one
	learningRate = 0.01 // at the beginning; it falls to 0
	loyalty      = 0.1  // how strongly vectors are held where they were
	forgetting   = 0.15 // the share of words that a pass over a pair leaves out
	mostStems    = 12   // of a text
)

// texts returns the pairs of WordNet and of the lists: a word and its explanation, a word
// and an example of its use, two words of one meaning, of related meanings, or of one
// line.
func texts(stems []vector, d *database.Database, lists string) []pair {
	numbers := map[string]int{}
	for i, s := range stems {
		numbers[s.word] = i
	}
	read := func(text string, not []int) []int {
		var out []int
		for _, s := range rank.Stems(strings.ReplaceAll(text, "_", " ")) {
			if i, ok := numbers[s]; ok && !slices.Contains(out, i) && !slices.Contains(not, i) && len(out) < mostStems {
				out = append(out, i)
			}
		}
		return out
	}
	var out []pair
	add := func(a, b []int, least int) {
		if len(a) >= least && len(b) > 0 && !slices.Equal(a, b) {
			out = append(out, pair{a, b})
		}
	}
	names := map[string][]int{}
	for id, m := range d.Meanings {
		names[id] = read(strings.Join(m.Words, " "), nil)
	}
	for _, id := range slices.Sorted(keys(d.Meanings)) {
		m := d.Meanings[id]
		explanation, example, _ := strings.Cut(m.Gloss, `"`)
		add(read(explanation, names[id]), names[id], 2)
		add(read(example, names[id]), names[id], 3)
		for i, word := range m.Words {
			for _, other := range m.Words[:i] {
				add(read(word, nil), read(other, nil), 1)
			}
		}
		for _, other := range m.Related {
			if other > id { // the relation of the other one is the same
				add(names[id], names[other], 1)
			}
		}
	}
	for line := range strings.Lines(lists) {
		terms := strings.Fields(line)
		for i, term := range terms {
			for _, other := range terms[:i] {
				add(read(term, nil), read(other, nil), 1)
				add(read(other, nil), read(term, nil), 1)
			}
		}
	}
	return out
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// learn moves the vectors so that texts of a pair point in one direction, and in another
// than the texts of other pairs: each text has to choose its partner among those of a
// batch. The words of a text count by how rare they are.
func learn(list []vector, pairs []pair) {
	random := rand.New(rand.NewPCG(6, 6)) //nolint:gosec // equal runs make equal tables
	l := newLearner(list)
	steps := passes * (len(pairs) / batch)
	step := 0
	for range passes {
		random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for from := 0; from+batch <= len(pairs); from += batch {
			l.step(pairs[from:from+batch], random, learningRate*(1-float64(step)/float64(steps)))
			step++
		}
	}
	for _, v := range list {
		unit(v.values)
	}
}

// A learner has the state of learn: Adam's, by stem.
type learner struct {
	list          []vector
	start         [][]float64
	rarity        []float64
	first, second [][]float64
	gradient      [][]float64
	touched       []int
}

func newLearner(list []vector) *learner {
	l := &learner{list: list}
	for _, v := range list {
		l.start = append(l.start, slices.Clone(v.values))
		l.rarity = append(l.rarity, wordnet.Rarity(v.word))
		l.first = append(l.first, make([]float64, len(v.values)))
		l.second = append(l.second, make([]float64, len(v.values)))
		l.gradient = append(l.gradient, nil)
	}
	return l
}

// A side is one text of a pair in a step.
type side struct {
	stems     []int
	direction []float64
	length    float64
	gradient  []float64
}

func (l *learner) side(stems []int, random *rand.Rand) side {
	width := len(l.list[0].values)
	s := side{direction: make([]float64, width), gradient: make([]float64, width)}
	for _, stem := range stems {
		if random.Float64() < forgetting {
			continue
		}
		s.stems = append(s.stems, stem)
		for d, x := range l.list[stem].values {
			s.direction[d] += float64(l.rarity[stem] * x)
		}
	}
	s.length = math.Sqrt(dot(s.direction, s.direction)) + 1e-6
	for d := range s.direction {
		s.direction[d] /= s.length
	}
	return s
}

// step learns from some pairs.
func (l *learner) step(pairs []pair, random *rand.Rand, rate float64) {
	a, b := make([]side, len(pairs)), make([]side, len(pairs))
	for i, p := range pairs {
		a[i], b[i] = l.side(p.a, random), l.side(p.b, random)
	}
	near := make([][]float64, len(pairs))
	for i := range near {
		near[i] = make([]float64, len(pairs))
		for j := range near[i] {
			near[i][j] = math.Exp((dot(a[i].direction, b[j].direction) - 1) / temperature)
		}
	}
	rows, columns := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i := range near {
		for j, x := range near[i] {
			rows[i] += x
			columns[j] += x
		}
	}
	for i := range near {
		for j, x := range near[i] {
			pull := float64(x/rows[i]/2) + float64(x/columns[j]/2)
			if i == j {
				pull--
			}
			pull /= temperature * float64(len(pairs))
			for d := range a[i].gradient {
				a[i].gradient[d] += float64(pull * b[j].direction[d])
				b[j].gradient[d] += float64(pull * a[i].direction[d])
			}
		}
	}
	for i := range a {
		l.collect(&a[i])
		l.collect(&b[i])
	}
	l.move(rate, float64(len(pairs)))
}

// collect adds what a text asks of its words.
func (l *learner) collect(s *side) {
	along := dot(s.gradient, s.direction)
	for _, stem := range s.stems {
		if l.gradient[stem] == nil {
			l.gradient[stem] = make([]float64, len(s.gradient))
			l.touched = append(l.touched, stem)
		}
		for d := range s.gradient {
			l.gradient[stem][d] += l.rarity[stem] * (s.gradient[d] - float64(along*s.direction[d])) / s.length
		}
	}
}

// move changes the vectors of the words that a step touched.
func (l *learner) move(rate, pairs float64) {
	for _, stem := range l.touched {
		v, first, second := l.list[stem].values, l.first[stem], l.second[stem]
		for d, g := range l.gradient[stem] {
			g += loyalty * (v[d] - l.start[stem][d]) / pairs
			first[d] = float64(0.9*first[d]) + float64(0.1*g)
			second[d] = float64(0.99*second[d]) + float64(0.01*g*g)
			v[d] -= rate * first[d] / (math.Sqrt(second[d]) + 1e-5)
		}
		l.gradient[stem] = nil
	}
	l.touched = l.touched[:0]
}

// explain replaces the vectors by ones that are near where GloVe's are near and where
// those are that learned of the pairs, in the same number of dimensions.
func explain(list []vector, pairs []pair) {
	if len(pairs) < batch {
		return
	}
	learned := make([]vector, len(list))
	for i, v := range list {
		learned[i] = vector{v.word, v.number, slices.Clone(v.values)}
	}
	learn(learned, pairs)
	for i := range list {
		list[i].values = append(list[i].values, learned[i].values...)
	}
	center(list)
	project(list, 0, glove.Dimensions)
}
