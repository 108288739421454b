// Package plan turns a request over a model into a plan: which rows are aggregated, over
// which joins, and how the parts become one answer. It knows no SQL dialect.
//
// The rules R1 to R20 that its comments name stand in docs/semantic-layer.md.
package plan

import (
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Request is what a caller asks, in its canonical form.
type Request struct {
	Measures   []MeasureRequest
	Dimensions []DimensionRequest
	Filters    []string
	Segments   []string // source.segment
	OrderBy    []OrderRequest
	Limit      int // -1: none
	NoEmpty    bool
}

// MeasureRequest is a measure by name, or an expression over aggregates and measures.
type MeasureRequest struct {
	Expr string
	Name string // of the output; empty: derived from Expr (R11)
}

// DimensionRequest is a column by name, with a granularity if it is a time.
type DimensionRequest struct {
	Field       string
	Granularity string // empty: none
}

// OrderRequest is one key of the order.
type OrderRequest struct {
	Field string
	Desc  bool
}

// Grain is a granularity of time.
type Grain uint8

// The granularities.
const (
	NoGrain Grain = iota
	Hour
	Day
	Week
	Month
	Quarter
	Year
)

// Plan is the whole of an answer before it is written in SQL.
//
// Each leg yields every tuple of the dimensions at most once. The legs are put together
// by UNION ALL and one more GROUP BY, so that an atom, which one leg alone computes, is
// the MAX of one value and NULLs.
type Plan struct {
	Model      *model.Model
	Dimensions []Dimension  // in request order, duplicates collapsed
	Measures   []Output     // in request order
	Atoms      []Atom       // deduplicated; what Output.Expr and Having name by OpAtom
	Legs       []Leg        // one for each base, more where semi-additive measures need their own, the spines last
	Having     []*expr.Expr // measure filters, joined by AND; they hold OpAtom and no OpField
	Order      []OrderKey   // explicit keys, then the remaining dimensions ascending; NULL last always
	Limit      int          // -1: none
	Notes      []string     // for the caller, sorted by their cause
	Longer     []string     // alternatives of paths that were not taken

	rows   []condition  // the row filters, for Describe
	having []*expr.Expr // the measure filters as the request writes them, for Describe
	spines []string     // the sources whose members are added
}

// Dimension is a column of the answer that groups.
type Dimension struct {
	Name  string     // of the output
	Expr  *expr.Expr // bound, no Self left, computed columns expanded
	Grain Grain
	Field expr.Field // the column that was asked for
	Type  expr.Type
}

// Output is a measure of the answer.
type Output struct {
	Name string
	Expr *expr.Expr // over OpAtom and constants, measures expanded; R5, R6, and R10 are already in it
	Type expr.Type
	From []expr.Measure // the named measures it came from
}

// Atom is one aggregate over the rows of one base.
type Atom struct {
	Func     string // count, sum, avg, min, max, median, percentile
	Distinct bool
	Args     []*expr.Expr // none: count(*)
	Filter   *expr.Expr   // filters of the measure and segments, all joined by AND; nil: all rows
	Base     int          // node
	Leg      int          // the leg that computes it
	Type     expr.Type    // of its value
	Semi     *Semi
}

// Semi is R20 of an atom, with columns bound to the base.
type Semi struct {
	Over  *expr.Expr
	First bool
	Per   []*expr.Expr
}

// Leg is one SELECT … GROUP BY over one base and the joins it needs.
type Leg struct {
	Base  int
	Joins []Join // in an order in which each From is there before its To
	Where []*expr.Expr
	Atoms []int // none: a spine, which only adds tuples (R5)
	Semi  *Semi // set: every atom of this leg has it and the leg computes no others
	Spine bool
}

// Join is one step of a leg's tree. It is always a LEFT JOIN (R4).
type Join struct{ Edge int } // index in model.Model.Edges

// OrderKey is one key of the order: a dimension or a measure of the answer.
type OrderKey struct {
	Dimension int // index, or -1
	Measure   int // index, or -1
	Desc      bool
}
