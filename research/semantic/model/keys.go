package model

import (
	"slices"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// shape is what the value of a key looks like.
type shape uint8

const (
	shapeText   shape = iota + 1 // a scalar; what stands in the file is the text
	shapeFlag                    // true or false
	shapeTexts                   // a list of scalars
	shapeObject                  // keys of an object
	shapeList                    // a list of objects
	shapeNamed                   // a list of objects with name, or the objects by name
	shapeMap                     // objects by name
	shapeLabels                  // texts by name
	shapeAny                     // anything; ktx does not read it
)

// key is a key that a file may have. The loader and the JSON Schema both read these
// tables, so that an editor knows exactly what ktx reads.
type key struct {
	name     string
	shape    shape
	of       *object
	enum     []string
	required bool
	blank    bool // may be empty, which is the same as left out
	doc      string

	expression bool // the text is an expression
}

// object is a kind of mapping.
type object struct {
	name  string
	class expr.Class // of problems with the shape of its values
	keys  []key
}

func (o *object) key(name string) *key {
	for i := range o.keys {
		if o.keys[i].name == name {
			return &o.keys[i]
		}
	}
	return nil
}

func (o *object) names() []string {
	out := make([]string, len(o.keys))
	for i := range o.keys {
		out[i] = o.keys[i].name
	}
	return out
}

// withoutName is an object whose name stands before it.
func withoutName(o *object) *object {
	out := *o
	out.keys = slices.DeleteFunc(slices.Clone(o.keys), func(k key) bool { return k.name == "name" })
	return &out
}

const (
	descriptionDoc  = "What it is, for people and agents."
	descriptionsDoc = "What it is, by origin. The first of user, ai, dbt and db that is there counts, then any other."
	onDoc           = "Equalities between columns of this source and the other one, joined by AND, as in customer_id = customers.id."
)

var semiObject = &object{name: "semi_additive", class: expr.InvalidMeasure, keys: []key{
	{name: "over", shape: shapeText, required: true, doc: "The column of this source that orders its rows, as a date of a balance."},
	{name: "take", shape: shapeText, enum: []string{"last", "first"}, required: true, doc: "Which rows count within a group of the answer: those with the last or with the first value of over."},
	{name: "per", shape: shapeTexts, required: true, doc: "Columns of this source; the last or first value is found for each of their values. An empty list: one for all rows."},
}}

var measureObject = &object{name: "measure", class: expr.InvalidMeasure, keys: []key{
	{name: "name", shape: shapeText, required: true, doc: "The name, unique among the measures of the source."},
	{name: "expr", shape: shapeText, expression: true, required: true, doc: "An aggregate as sum(amount), or arithmetic over aggregates and measures as revenue / count(*)."},
	{name: "filter", shape: shapeText, expression: true, doc: "A condition on rows; only rows that meet it are aggregated."},
	{name: "segments", shape: shapeTexts, doc: "Segments of this source that are added to the filter."},
	{name: "description", shape: shapeText, blank: true, doc: descriptionDoc},
	{name: "descriptions", shape: shapeLabels, blank: true, doc: descriptionsDoc},
	{name: "semi_additive", shape: shapeObject, of: semiObject, doc: "For values that must not be added up over time, as balances."},
	{name: "draft", shape: shapeFlag, doc: "Whether a program drafted it and nobody has looked at it yet."},
}}

var segmentObject = &object{name: "segment", class: expr.InvalidSegment, keys: []key{
	{name: "name", shape: shapeText, required: true, doc: "The name, unique among the segments of the source."},
	{name: "expr", shape: shapeText, expression: true, required: true, doc: "A condition on rows of the source."},
	{name: "description", shape: shapeText, blank: true, doc: descriptionDoc},
	{name: "descriptions", shape: shapeLabels, blank: true, doc: descriptionsDoc},
}}

var relationships = []string{"many_to_one", "one_to_many", "one_to_one"}

var joinObject = &object{name: "join", class: expr.InvalidJoin, keys: []key{
	{name: "to", shape: shapeText, required: true, doc: "The other source."},
	{name: "on", shape: shapeText, expression: true, required: true, doc: onDoc},
	{name: "relationship", shape: shapeText, enum: relationships, required: true, doc: "How many rows of this source and of the other one belong together, in this order."},
	{name: "alias", shape: shapeText, doc: "Another name for the other source as it is reached over this join. Needed for a join to itself, and for a second join to the same source."},
	{name: "description", shape: shapeText, blank: true, doc: descriptionDoc},
}}

var typeNames = []string{"string", "number", "time", "boolean"}

// metadata are the keys of a column that change nothing of what it computes.
var metadata = []key{
	{name: "role", shape: shapeText, enum: []string{"time", "default"}, doc: "Whether a time column is offered for granularities; default: not."},
	{name: "visibility", shape: shapeText, enum: []string{"public", "internal", "hidden"}, doc: "internal: usable and not offered. hidden: refused in requests and never shown."},
	{name: "natural_granularity", shape: shapeText, enum: granularities, doc: "The finest granularity that the values have."},
	{name: "description", shape: shapeText, blank: true, doc: descriptionDoc},
	{name: "descriptions", shape: shapeLabels, blank: true, doc: descriptionsDoc},
	{name: "constraints", shape: shapeAny, blank: true, doc: "Accepted; ktx does not read it."},
	{name: "enum_values", shape: shapeTexts, blank: true, doc: "The values that the column can have."},
	{name: "tests", shape: shapeAny, blank: true, doc: "Accepted; ktx does not read it."},
}

var granularities = []string{"hour", "day", "week", "month", "quarter", "year"}

var columnObject = &object{name: "column", class: expr.InvalidColumn, keys: append([]key{
	{name: "name", shape: shapeText, required: true, doc: "The name of the column in the database, or of the computed column. It has no point."},
	{name: "type", shape: shapeText, enum: typeNames, required: true, doc: "What the values are."},
	{name: "expr", shape: shapeText, expression: true, doc: "For a computed column: an expression over columns of this source and of those that it reaches over safe joins."},
}, metadata...)}

var overrideObject = &object{name: "column override", class: expr.InvalidColumn, keys: append([]key{
	{name: "name", shape: shapeText, required: true, doc: "A column of the manifest."},
}, metadata...)}

// overlayKeys are the keys that only an overlay may have.
var overlayKeys = []string{"column_overrides", "exclude_columns", "disable_joins"}

// sourceObject is a file of a source or of an overlay.
var sourceObject = &object{name: "source", class: expr.InvalidSource, keys: []key{
	{name: "name", shape: shapeText, required: true, doc: "The name of the source. An overlay has the name of a table of the manifest."},
	{name: "table", shape: shapeText, doc: "The table or view: one to three identifiers with points between them, as public.orders. Never SQL."},
	{name: "sql", shape: shapeText, doc: "A query that only reads; its result is the source. Use table where a table will do."},
	{name: "description", shape: shapeText, blank: true, doc: descriptionDoc},
	{name: "descriptions", shape: shapeLabels, blank: true, doc: descriptionsDoc},
	{name: "grain", shape: shapeTexts, doc: "Columns whose values together are unique, as a primary key."},
	{name: "columns", shape: shapeList, of: columnObject, blank: true, doc: "The columns. In an overlay: further, computed columns."},
	{name: "joins", shape: shapeList, of: joinObject, blank: true, doc: "Joins to other sources."},
	{name: "measures", shape: shapeList, of: measureObject, blank: true, doc: "Named aggregates."},
	{name: "segments", shape: shapeList, of: segmentObject, blank: true, doc: "Named conditions on rows."},
	{name: "column_overrides", shape: shapeNamed, of: overrideObject, blank: true, doc: "In an overlay: what is different about columns of the manifest, apart from what they compute."},
	{name: "exclude_columns", shape: shapeTexts, blank: true, doc: "In an overlay: columns of the manifest that the source does not have."},
	{name: "disable_joins", shape: shapeTexts, blank: true, doc: "In an overlay: joins of the manifest that the source does not have, by the text of their on."},
	{name: "default_time_dimension", shape: shapeText, blank: true, doc: "The time column that is meant when none is named."},
	{name: "tags", shape: shapeTexts, blank: true, doc: "Words to find it by."},
	{name: "freshness", shape: shapeAny, blank: true, doc: "Accepted; ktx does not read it."},
	{name: "usage", shape: shapeAny, blank: true, doc: "Accepted; ktx does not read it."},
	{name: "source_type", shape: shapeAny, blank: true, doc: "Accepted; ktx does not read it."},
	{name: "inherits_columns_from", shape: shapeAny, blank: true, doc: "Accepted; ktx does not read it."},
	{name: "draft", shape: shapeFlag, doc: "Whether a program drafted it and nobody has looked at it yet."},
}}

var manifestColumn = &object{name: "column", class: expr.InvalidColumn, keys: []key{
	{name: "name", shape: shapeText, required: true, doc: "The name of the column in the database."},
	{name: "type", shape: shapeText, required: true, blank: true, doc: "Its type as the database names it."},
	{name: "pk", shape: shapeFlag, doc: "Whether it is part of the primary key."},
	{name: "nullable", shape: shapeFlag, doc: "Whether it can be NULL."},
	{name: "description", shape: shapeText, blank: true, doc: descriptionDoc},
	{name: "descriptions", shape: shapeLabels, blank: true, doc: descriptionsDoc},
	{name: "constraints", shape: shapeAny, blank: true, doc: "Accepted; ktx does not read it."},
	{name: "enum_values", shape: shapeTexts, blank: true, doc: "The values that the column can have."},
	{name: "tests", shape: shapeAny, blank: true, doc: "Accepted; ktx does not read it."},
}}

var manifestJoin = &object{name: "join", class: expr.InvalidJoin, keys: []key{
	{name: "to", shape: shapeText, required: true, doc: "The other source."},
	{name: "on", shape: shapeText, expression: true, required: true, doc: onDoc},
	{name: "relationship", shape: shapeText, enum: relationships, required: true, doc: "How many rows of the two belong together."},
	{name: "source", shape: shapeText, enum: []string{"formal", "inferred", "manual"}, doc: "Where the join is known from."},
}}

var manifestSource = &object{name: "table", class: expr.InvalidSource, keys: []key{
	{name: "table", shape: shapeText, required: true, doc: "The table or view."},
	{name: "description", shape: shapeText, blank: true, doc: descriptionDoc},
	{name: "descriptions", shape: shapeLabels, blank: true, doc: descriptionsDoc},
	{name: "columns", shape: shapeList, of: manifestColumn, blank: true, doc: "The columns."},
	{name: "joins", shape: shapeList, of: manifestJoin, blank: true, doc: "Foreign keys and found relationships."},
	{name: "usage", shape: shapeAny, blank: true, doc: "Accepted; ktx does not read it."},
}}

var manifestObject = &object{name: "manifest", class: expr.InvalidSource, keys: []key{
	{name: "tables", shape: shapeMap, of: manifestSource, blank: true, doc: "The tables by the name of their source."},
}}
