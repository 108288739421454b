package relate

import (
	"context"
	"errors"

	"github.com/ktxhq/ktx/research/catalog"
)

// DefaultMaxProbes is the number of probes of one call of [Find] if
// Input.MaxProbes is 0.
const DefaultMaxProbes = 20_000

// ErrStopped is what a [Prober] returns, bare or wrapped, when the budget of the scan
// is used up. Find then sends no further probe and puts what it could not validate
// into Skipped.
var ErrStopped = errors.New("the budget of the scan is used up")

// Input is what a scan knows before relationships are looked for.
type Input struct {
	ConnectionID string           // copied into the result
	Tables       []*catalog.Table // not changed
	Profile      *catalog.Profile // nil if the columns have not been profiled
	Extra        []Pair           // column pairs that statements of the audit log joined
	MaxProbes    int              // 0 means DefaultMaxProbes
}

// Pair is a pair of end points that accepted statements joined.
type Pair struct {
	From, To   catalog.EndPoint
	Statements int64 // how many statements joined them
}

// Overlap says what a bounded query found about the keys of two end points. A key
// is the tuple of the values of the end point's columns. A key with a null in it is
// not counted as a key.
type Overlap struct {
	Rows         int64 // rows of from in the sample
	NullRows     int64 // those of them with a null in the key
	Distinct     int64 // distinct keys in the sample
	Found        int64 // those of them that to has, in any of its rows
	TargetRows   int64 // rows of to that were counted; 0 means that to is empty
	TargetUnique *bool // whether no key of to occurs twice; nil if it was not measured
	// TargetMax is the greatest key of to if it is one column of integers, else nil.
	TargetMax *int64
}

// Prober counts values in the database. The scanner implements it with bounded
// statements through the gateway.
type Prober interface {
	// Overlap compares a bounded sample of the keys of from with all keys of to. The
	// columns correspond by position. Values of different types are compared by their
	// text.
	//
	// An error that wraps ErrStopped ends probing. The error of ctx ends Find. After
	// any other error, the pair is reviewed by a person.
	Overlap(ctx context.Context, from, to catalog.EndPoint) (Overlap, error)
}

// Find returns the relationships of the tables:
//
//   - Accepted are declared keys (source "formal") and proposals that are certain
//     enough to join by.
//   - Review are proposals that a person should look at, such as those where 90 to
//     99 percent of the values have a target, or where the types differ.
//   - Rejected are proposals that the data refuted, or that another proposal for the
//     same columns displaced.
//   - Skipped are proposals that were not probed because the number of probes
//     (Input.MaxProbes) or the budget of the scan was used up.
//
// A target that no name and no statement tells of is in none of the lists unless the
// values fit it, and no other table as well. Then it is in Review, or in Accepted if such
// a fit can be no accident and the column has a key word or is a part of the primary key.
//
// If p is nil, names alone decide. Find fails only with the error of ctx.
func Find(ctx context.Context, in Input, p Prober) (catalog.Relationships, error) {
	f := newFinder(in)
	f.declared()
	if err := f.infer(ctx, in, p); err != nil {
		return catalog.Relationships{}, err
	}
	return f.result(), nil
}
