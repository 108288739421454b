package bigquery

import (
	"cmp"
	"slices"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// leaf notes that the walk met the names or the literal at a span.
func (w *walker) leaf(start, end int) {
	w.leaves = append(w.leaves, sqlguard.Span{Start: start, End: end})
}

// complete checks that every name and literal of the statement lies in a leaf of the tree
// that the walk met. Only words of the grammar may have none.
func (w *walker) complete(tokens []sqlguard.Token) error {
	slices.SortFunc(w.leaves, func(a, b sqlguard.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	next, end := 0, 0
	for _, t := range tokens {
		for next < len(w.leaves) && w.leaves[next].Start <= t.Start {
			end = max(end, w.leaves[next].End)
			next++
		}
		if t.Start < end {
			continue
		}
		switch t.Kind { //nolint:exhaustive // the others are signs
		case sqlguard.TokenWord:
			if word := lexical.Lower(t.Text(w.sql)); reserved[word] || grammarWords[word] {
				continue
			}
		case sqlguard.TokenQuotedName, sqlguard.TokenString, sqlguard.TokenNumber, sqlguard.TokenParameter:
		default:
			continue
		}
		return &sqlguard.SyntaxError{Message: "the parser skipped this part of the statement", Offset: t.Start}
	}
	return nil
}

// reserved are the reserved words of GoogleSQL. Reference: Reserved keywords.
var reserved = lexical.Set(`all and any array as asc assert_rows_modified at between by case cast collate contains create cross cube current default define desc distinct
	else end enum escape except exclude exists extract false fetch following for from full graph_table group grouping groups hash having if ignore in inner intersect interval
	into is join lateral left like limit lookup merge natural new no not null nulls of on or order outer over partition preceding proto qualify range recursive
	respect right rollup rows select set some struct tablesample then to treat true unbounded union unnest using when where window with within`)

// grammarWords are other words that queries may have in their grammar.
var grammarWords = lexical.Set(`after aggregate assert bigdecimal bignumeric by call corresponding decimal depth descriptor drop extend first input json last match_recognize max measures min
	name numeric offset options pattern percent pivot rename repeatable replace row safe_cast skip strict system system_time table time unpivot value weight past next date
	datetime timestamp match zone format sets include`)
