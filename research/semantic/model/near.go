package model

import (
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// maxNear is how many near names a message has.
const maxNear = 3

// didYouMean writes near names as a hint; empty if there are none.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}

// search bounds what loading a model with very many mistakes costs.
type search struct {
	near  int             // searches for near names so far
	paths map[[2]int]bool // pairs of nodes that have a path
}

// near returns up to three near names. While a model is loaded, only the first mistakes
// get them.
func (m *Model) near(word string, among func() []string) []string {
	const most = 200
	if m.search != nil {
		if m.search.near++; m.search.near > most {
			return nil
		}
	}
	return expr.Near(word, among())
}

// hasPath returns the refusal of a path between two nodes, or nil.
func (m *Model) hasPath(from, to int) *expr.Error {
	if m.search != nil && m.search.paths[[2]int{from, to}] {
		return nil
	}
	_, err := m.path(from, to)
	if err == nil && m.search != nil {
		m.search.paths[[2]int{from, to}] = true
	}
	return err
}
