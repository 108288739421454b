// Package emit writes a plan as SQL of one engine.
//
// The text is made of identifiers of the model, always quoted, of literals, always
// written by this package, and of words of its own. The one exception is the body of a
// source with sql, which is emitted as it stands in its file and which the guard has
// passed when the file was read.
package emit

import "github.com/ktxhq/ktx/research/semantic/plan"

// SQL is a plan as text.
type SQL struct {
	Text    string
	Columns []Column
}

// Column is a column of the result: the dimensions in the order of the request, then the
// measures.
type Column struct {
	Name string
	Kind string // dimension or measure
}

// Dialect names an engine: postgres, mysql, sqlite, or sqlserver, as sqlguard names them.
type Dialect string

var _ = plan.Plan{}
