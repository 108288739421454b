// Package model holds the semantic model of one connection: sources with their columns,
// joins, measures, and segments, read from files and checked.
//
// A [Model] is immutable. Everything in it is sorted or keeps the order of its file, so
// that equal files give equal models. Its texts are parsed and bound when it is loaded:
// a request parses only its own strings.
package model

import "github.com/ktxhq/ktx/research/semantic/expr"

// Model is the checked model of one connection.
type Model struct {
	Connection string
	Sources    []*Source // sorted by name
	Nodes      []Node    // what a path leads over: the sources in their order, then the aliases sorted by name
	Edges      []Edge    // the safe joins, sorted by From, To, and text of On
	Problems   []Problem // sorted by file, line, path, class
	Hash       string    // SHA-256 of the files it was read from, in hexadecimal

	graph    graph
	names    names
	search   *search       // while the model is loaded; else nil
	computed [][]*computed // by source and column; nil for a source without computed columns
	refusals []*expr.Error
	broken   map[string]Problem // files that could not be read, by the name that they were to define, in lower case
}

// Node is a source, or a source under an alias that a join gives it. An alias has the
// outgoing joins of its source.
type Node struct {
	Name   string // the source's name, or the alias
	Source int    // index in Model.Sources
	Alias  bool
}

// Kind is how many rows of the two sides of a join belong together.
type Kind uint8

// The kinds. OneToMany stands in files only: an Edge of it points the other way and is ManyToOne.
const (
	ManyToOne Kind = iota + 1
	OneToMany
	OneToOne
)

// Edge leads from one node to another without ever multiplying rows: each row of From
// has at most one partner in To. A one_to_one join makes two edges.
type Edge struct {
	From, To int    // indexes in Model.Nodes
	Pairs    []Pair // equalities, all of which must hold
	Kind     Kind   // ManyToOne or OneToOne
	Source   int    // the source whose file declares the join
	Join     int    // index in its Joins
	Reverse  bool   // the file declares the join in the other direction
}

// Pair is the equality of a column of an edge's From and a column of its To.
type Pair struct{ From, To int }

// Form says which kind of file a source comes from.
type Form uint8

// The forms.
const (
	Standalone Form = iota + 1 // a file with table or sql
	Manifest                   // an entry of _schema, untouched
	Overlaid                   // an entry of _schema with an overlay on it
)

// Source is a table or a read-only query with what may be asked of it.
type Source struct {
	Name         string
	Form         Form
	File         string            // relative to the folder of the semantic layer, with slashes
	Description  string            // by precedence user, ai, dbt, db, first non-empty
	Descriptions map[string]string // as they stand in the files
	Table        []Ident           // one to three parts; nil if SQL is set
	SQL          string            // the body as it stands in the file
	Grain        []int             // columns
	Columns      []*Column
	Joins        []*Join
	Measures     []*Measure
	Segments     []*Segment
	DefaultTime  int // column, or -1
	Tags         []string
	Draft        bool // drafted by ktx sl init and not looked at by a person
	Denied       bool // by the rules of the connection: it has nothing but its name
	Restricted   bool // a join that its file declares leads to a denied source and is left out
	Invalid      bool // some problem of this source is an error: requests that touch it are refused

	problems int // found after its file was read
	grainAt  origin
}

// Place is where something stands in a file.
type Place struct {
	File string // relative to the folder of the semantic layer, with slashes
	Path string // as joins[0]
	Line int    // from 1; 0 if unknown
}

// GrainPlace says where the grain is given.
func (s *Source) GrainPlace() Place { return s.grainAt.place() }

// Place says where the join is given: in the file of the source, or in the manifest.
func (j *Join) Place() Place { return j.at.place() }

// Ident is an identifier as it stands in a file. A plain one means what it means in the
// engine's SQL (PostgreSQL folds it to lower case); a quoted one is exact.
type Ident struct {
	Name   string
	Quoted bool
}

// Visibility says who may name a column.
type Visibility uint8

// The visibilities. A hidden column is refused in requests and never shown; an internal
// one is usable and not offered.
const (
	Public Visibility = iota
	Internal
	Hidden
)

// Column is a column of a source. Its name is exact.
type Column struct {
	Name               string
	Type               expr.Type
	NativeType         string // of the manifest; else empty
	Time               bool   // role time or default of a time column
	Visibility         Visibility
	Expr               *expr.Expr // bound; nil for a column of the table
	Text               string     // of Expr
	NaturalGranularity string
	Description        string
	Descriptions       map[string]string
	Enum               []string
	Nullable           bool // manifest only
	PrimaryKey         bool // manifest only
}

// Join is a join as its file declares it.
type Join struct {
	To       string
	Alias    string // empty: none
	On       string // text
	Pairs    []Pair // From is a column of this source, To one of the target
	Kind     Kind
	Origin   string // formal, inferred, manual; empty for authored ones
	Target   int    // source, or -1 if unknown
	Node     int    // node that it leads to, or -1
	Disabled bool   // by disable_joins of an overlay

	unsafe string // why a join of the manifest gives no edge; empty: it gives one
	at     origin
}

// Measure is an aggregate over a source's rows, or arithmetic over other measures.
type Measure struct {
	Name         string
	Text         string     // of Expr
	Expr         *expr.Expr // bound, in measure scope: OpAggregate, OpMeasure, constants, scalar functions over them
	FilterText   string
	Filter       *expr.Expr // bound, in row scope; nil if there is none. Segments are not in it
	Segments     []int      // of the same source
	Description  string
	SemiAdditive *SemiAdditive
	Draft        bool
}

// SemiAdditive keeps of each key's rows those with the last or first value of Over,
// within a group of the answer and after its filters (R20).
type SemiAdditive struct {
	Over  int // column
	First bool
	Per   []int // columns; empty: the last value of all rows
}

// Segment is a named condition on a source's rows.
type Segment struct {
	Name        string
	Text        string
	Expr        *expr.Expr // bound, in row scope
	Description string
}

// Problem is something wrong in a file. Unless it is a warning, it makes its source
// invalid.
type Problem struct {
	Source  string     `json:"source"`
	File    string     `json:"file"`
	Path    string     `json:"path"` // as measures[2].expr
	Line    int        `json:"line"` // from 1; 0 if unknown
	Class   expr.Class `json:"class"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
	Warning bool       `json:"warning,omitempty"` // the source stays valid: only what the message names is left out
}

// Judge asks the guard of a connection about one SQL text: the relations that it reads
// and the columns of its result. Columns is nil if they cannot be seen. An error means
// that the guard refuses the text.
type Judge func(sql string) (relations, columns []string, err error)
