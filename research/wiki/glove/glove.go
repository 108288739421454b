// Package glove says how near common English words are in meaning: by vectors that are
// near each other for words that occur in the same contexts, and for words and what
// explains them. They come from GloVe 6B, and learned of the explanations of WordNet 3.0
// and of the thesaurus of package wiki, by tools/glove. The table is unpacked at the first
// use. LICENSE has the licences of the npm package and of WordNet.
package glove

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/research/rank/packed"
)

// Dimensions is the number of dimensions of a vector.
const Dimensions = 48

// Levels are the values that a dimension has in the table, in units of its standard
// deviation: those with the least error for a normal distribution (Max, Quantizing for
// Minimum Distortion, 1960).
var Levels = [...]float64{-2.152, -1.344, -0.756, -0.2451, 0.2451, 0.756, 1.344, 2.152}

//go:embed glove.txt.gz
var table []byte

// A Vector is the direction of a meaning. Its length is 1, or 0 if it has no meaning.
type Vector [Dimensions]float32

// Table returns the table as tools/glove wrote it.
func Table() []byte { return packed.Unpack(table) }

var vectors = sync.OnceValue(func() map[string]Vector {
	lines := strings.Split(strings.TrimSpace(string(Table())), "\n")
	for strings.HasPrefix(lines[0], "#") {
		lines = lines[1:]
	}
	stems, scales, rows := strings.Fields(lines[0]), strings.Fields(lines[1]), lines[2:]
	var values [Dimensions][len(Levels)]float32
	for d := range values {
		scale, err := strconv.ParseFloat(scales[d], 32)
		if err != nil {
			panic(fmt.Sprintf("glove: %v", err))
		}
		for l, level := range Levels {
			values[d][l] = float32(level * scale)
		}
	}
	out := make(map[string]Vector, len(stems))
	for i, stem := range stems {
		var v Vector
		for d := range v {
			v[d] = values[d][rows[i][d]-'0']
		}
		v.Normalize()
		out[stem] = v
	}
	return out
})

// Of returns the vector of a stem, as [github.com/ktxhq/ktx/research/rank.Stems] makes
// it.
func Of(stem string) (Vector, bool) {
	v, ok := vectors()[stem]
	return v, ok
}

// Add adds another vector, with a weight.
func (v *Vector) Add(other Vector, weight float64) {
	for d := range v {
		v[d] += float32(weight * float64(other[d]))
	}
}

// Normalize makes the length of the vector 1, unless it is 0.
func (v *Vector) Normalize() {
	if length := float32(math.Sqrt(v.Dot(*v))); length > 0 {
		for d := range v {
			v[d] /= length
		}
	}
}

// Dot is how near two vectors of length 1 are: 1 for equal ones.
func (v *Vector) Dot(other Vector) float64 {
	sum := float32(0)
	for d := range v {
		sum += float32(v[d] * other[d])
	}
	return float64(sum)
}
