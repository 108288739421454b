package run

import (
	"cmp"
	"slices"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/sqlguard"
)

// ChangeKind says how a case differs between two runs.
type ChangeKind string

// The kinds of change, the most serious first. If several apply to a case, it
// has the first.
const (
	NewBypass ChangeKind = "new_bypass" // a reject case that is allowed now and was not before
	Regressed ChangeKind = "regressed"  // met the expectation before, and does not now
	Fixed     ChangeKind = "fixed"      // meets the expectation now, and did not before
	Demand    ChangeKind = "demand"     // the expectation of the case changed
	Answered  ChangeKind = "answer"     // another decision or fault, as right or wrong as before
	Coded     ChangeKind = "code"       // the same decision with another code
	Added     ChangeKind = "added"      // only in the second run
	Removed   ChangeKind = "removed"    // only in the first run
)

// ChangeKinds returns the kinds, the most serious first.
func ChangeKinds() []ChangeKind {
	return []ChangeKind{NewBypass, Regressed, Fixed, Demand, Answered, Coded, Added, Removed}
}

// Change is one case that differs. Before is nil for an added case, and After
// is nil for a removed one.
type Change struct {
	ID      string     `json:"id"`
	Dialect string     `json:"dialect"`
	Class   string     `json:"class,omitempty"`
	Kind    ChangeKind `json:"kind"`
	Before  *Side      `json:"before,omitempty"`
	After   *Side      `json:"after,omitempty"`
}

// Side is the part of a result that is compared. Latency is not compared,
// because it differs between any two runs.
type Side struct {
	Decision Decision      `json:"decision"`
	Code     sqlguard.Code `json:"code,omitempty"`
	Fault    Fault         `json:"fault,omitempty"`
	Expect   corpus.Expect `json:"expect"`
	Met      bool          `json:"met"`
}

// Compare returns the differences between two runs, ordered by kind and then by
// id. It matches cases by their ids.
func Compare(before, after []Result) []Change {
	old := map[string]Result{}
	for _, r := range before {
		old[r.ID] = r
	}
	changes := []Change{}
	for _, r := range after {
		b, both := old[r.ID]
		delete(old, r.ID)
		c := Change{ID: r.ID, Dialect: r.Dialect, Class: r.Class, After: side(r), Kind: Added}
		if both {
			c.Before = side(b)
			if *c.Before == *c.After {
				continue
			}
			c.Kind = kindOf(*c.Before, *c.After)
		}
		changes = append(changes, c)
	}
	for _, r := range old {
		changes = append(changes, Change{ID: r.ID, Dialect: r.Dialect, Class: r.Class, Before: side(r), Kind: Removed})
	}
	kinds := ChangeKinds()
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.ID, b.ID))
	})
	return changes
}

func side(r Result) *Side {
	return &Side{Decision: r.Decision, Code: r.Code, Fault: r.Fault, Expect: r.Expect, Met: r.Met}
}

func kindOf(before, after Side) ChangeKind {
	bypass := func(s Side) bool { return s.Expect == corpus.Reject && s.Decision == Allow }
	switch {
	case bypass(after) && !bypass(before):
		return NewBypass
	case before.Met && !after.Met:
		return Regressed
	case !before.Met && after.Met:
		return Fixed
	case before.Expect != after.Expect:
		return Demand
	case before.Decision != after.Decision || before.Fault != after.Fault:
		return Answered
	default:
		return Coded
	}
}
