package postgres

import (
	"slices"

	"github.com/ktxhq/ktx/sqlguard"
)

// This file has the facts about columns when the guard reads SQL with a catalogue. A
// name that is certainly a column is not a call. The guard assumes nothing about any
// other name.

// Bounds of the search for the columns of a star. Statements can have deep nesting and
// many joins, and the search of each level looks into the levels below.
const (
	maxStarDepth   = 4
	maxStarItems   = 32
	maxStarColumns = 2048
	maxNaturals    = 64 // NATURAL joins of a statement
	maxSameName    = 8  // items of one name
)

// certainColumn reports whether x.name is certainly a column: everything in scope that x
// could mean has a column of that name. It does not search when the name cannot be a
// call.
func (w *walker) certainColumn(qualifier []string, name string) bool {
	if !w.names.Callable(name) && (!mayBeDenied(name) || !oneArgumentDenied(name)) && !w.profile.takesWholeRow(name) {
		return false
	}
	return w.everyItemHas(qualifier[len(qualifier)-1], name)
}

// everyItemHas reports whether there are items of FROM with the name in scope, and all
// of them have the column.
func (w *walker) everyItemHas(item, column string) bool {
	found := 0
	for i := range w.items {
		if w.items[i].name != item {
			continue
		}
		if found++; found > maxSameName || !w.itemHas(&w.items[i], column) {
			return false
		}
	}
	return found > 0
}

func (w *walker) itemHas(item *fromItem, column string) bool {
	columns, _ := w.itemColumns(item)
	return column != "" && slices.Contains(columns, column)
}

// itemColumns returns the columns of an item of FROM, "" for those whose name
// is not known. The result is false when there may be others.
func (w *walker) itemColumns(item *fromItem) ([]string, bool) {
	if item.relation != nil {
		return w.relationColumns(item.relation)
	}
	return item.columns, item.columns != nil
}

// everyItemIsRelation reports whether there are items of FROM with the name in scope,
// and all of them are relations.
func (w *walker) everyItemIsRelation(item string) bool {
	found := false
	for i := range w.items {
		if w.items[i].name != item {
			continue
		}
		if found = w.items[i].relation != nil; !found {
			return false
		}
	}
	return found
}

// relationColumns returns the columns of a relation of the catalogue. Relations of the
// server come before it in name resolution.
func (w *walker) relationColumns(rv *rangeVar) ([]string, bool) {
	if _, system := w.profile.relation(rv.Schemaname, rv.Relname); system || rv.Catalogname != "" {
		return nil, false
	}
	columns, known := w.names.Columns(rv.Schemaname, rv.Relname)
	return renamed(columns, rv.Alias), known
}

// attributeOfRow reports whether (x).name is certainly a column of the relation x,
// because x itself is not a column.
func (w *walker) attributeOfRow(row *node, name string) bool {
	return (w.names.Callable(name) || oneArgumentDenied(name) || w.profile.takesWholeRow(name)) && w.isColumnOfRow(row, name)
}

// isColumnOfRow reports whether (x).name can only be the column of that name of an item x of
// FROM.
func (w *walker) isColumnOfRow(row *node, name string) bool {
	ref := row.GetColumnRef()
	if ref == nil || len(ref.Fields) != 1 || len(w.items) > maxStarItems {
		return false
	}
	x := ref.Fields[0].GetString_().GetSval()
	if x == "" || !w.everyItemHas(x, name) {
		return false
	}
	for i := range w.items {
		columns, known := w.itemColumns(&w.items[i])
		if !known || slices.Contains(columns, x) || slices.Contains(columns, "") {
			return false
		}
	}
	return true
}

// renamed replaces the names of columns by those of an alias list, which may be shorter.
func renamed(columns []string, a *alias) []string {
	names := a.GetColnames()
	if columns == nil || len(names) == 0 {
		return columns
	}
	out := slices.Clone(columns)
	for i := range min(len(out), len(names)) {
		out[i] = names[i].GetString_().GetSval()
	}
	return out
}

// columnsOf returns the columns of a common table expression.
func (w *walker) columnsOf(cte *commonTableExpr) []string {
	columns := w.knownColumns(cte.Ctequery)
	if columns == nil {
		return nil
	}
	out := slices.Clone(columns)
	for i := range min(len(out), len(cte.Aliascolnames)) {
		out[i] = cte.Aliascolnames[i].GetString_().GetSval()
	}
	return out
}

// columnsOfCTE returns the columns of the common table expression in scope that a name
// means.
func (w *walker) columnsOfCTE(name string) []string {
	for i, cte := range slices.Backward(w.ctes) {
		if cte == name && i < len(w.cteColumns) {
			return w.cteColumns[i]
		}
	}
	return nil
}

// knownColumns returns the output columns of a query, with "" for a column whose name the
// server chooses. It returns nil when a star hides them.
func (w *walker) knownColumns(n *node) []string { return w.queryColumns(n, 0) }

func (w *walker) queryColumns(n *node, depth int) []string {
	s := n.GetSelectStmt()
	if s == nil || s.WithClause != nil && depth > 0 || depth > maxStarDepth {
		return nil
	}
	for s.Op != setopNone && s.Larg != nil {
		s = s.Larg
	}
	if len(s.ValuesLists) > 0 {
		return nil
	}
	columns := make([]string, 0, len(s.TargetList))
	for _, t := range s.TargetList {
		target := t.GetResTarget()
		ref := target.GetVal().GetColumnRef()
		switch {
		case target.GetName() != "":
			columns = append(columns, target.GetName())
		case ref == nil:
			if target.GetVal().GetAIndirection() != nil {
				return nil // may be the star of a row
			}
			columns = append(columns, "")
		case ref.Fields[len(ref.Fields)-1].GetAStar() != nil:
			if len(ref.Fields) > 1 || s.WithClause != nil {
				return nil
			}
			all, known := w.fromColumns(s.FromClause, depth)
			if !known {
				return nil
			}
			columns = append(columns, all...)
		default:
			columns = append(columns, lastName(ref.Fields))
		}
	}
	return columns
}

// fromColumns returns the columns of the items of FROM.
func (w *walker) fromColumns(from []*node, depth int) ([]string, bool) {
	columns := []string{}
	if len(from) > maxStarItems {
		return nil, false
	}
	for _, n := range from {
		more, known := w.sideColumns(n, depth)
		if !known || len(columns)+len(more) > maxStarColumns {
			return nil, false
		}
		columns = append(columns, more...)
	}
	return columns, true
}

// sideColumns returns the columns of one item of FROM.
func (w *walker) sideColumns(n *node, depth int) ([]string, bool) {
	if depth > maxStarItems {
		return nil, false
	}
	if rv := n.GetRangeVar(); rv != nil {
		if rv.Schemaname == "" && rv.Catalogname == "" && w.inReach(rv.Relname) {
			columns := w.columnsOfCTE(rv.Relname)
			return renamed(columns, rv.Alias), columns != nil
		}
		return w.relationColumns(rv)
	}
	if join := n.GetJoinExpr(); join != nil && join.Alias == nil {
		left, known := w.sideColumns(join.Larg, depth+1)
		if !known {
			return nil, false
		}
		right, known := w.sideColumns(join.Rarg, depth+1)
		if !known || len(left)+len(right) > maxStarColumns {
			return nil, false
		}
		return append(slices.Clip(left), right...), true
	}
	if sub := n.GetRangeSubselect(); sub != nil {
		columns := w.queryColumns(sub.Subquery, depth+1)
		return renamed(columns, sub.Alias), columns != nil
	}
	return nil, false
}

// naturalColumns notes the columns that a NATURAL join compares, and reports
// whether they are known.
func (w *walker) naturalColumns(n *joinExpr) bool {
	if w.names == nil || w.naturals >= maxNaturals {
		return false
	}
	w.naturals++
	left, known := w.sideColumns(n.Larg, 0)
	if !known || slices.Contains(left, "") {
		return false
	}
	left = slices.Clone(left)
	right, known := w.sideColumns(n.Rarg, 0)
	if !known || slices.Contains(right, "") {
		return false
	}
	span := w.tokenSpan(-1)
	slices.Sort(left)
	for _, column := range right {
		if _, common := slices.BinarySearch(left, column); common {
			w.noteColumn(sqlguard.ColumnRef{Name: column, Span: span})
		}
	}
	return true
}

// typing says for each operand or argument whether it has a type, and whether it
// certainly is not an anonymous row.
func (w *walker) typing(operands ...*node) (typed, scalar uint64) {
	for i, n := range operands[:min(len(operands), 64)] {
		if n.GetNamedArgExpr() != nil {
			return 0, 0 // it may be the argument of any parameter
		}
		t, s := w.hasType(n)
		if t {
			typed |= 1 << i
		}
		if s {
			scalar |= 1 << i
		}
	}
	return typed, scalar
}

// hasType is typing for one operand. The parts of a row and of a list are compared one by
// one. Only an untyped literal, a cast to unknown and the function that returns unknown
// have no type. A sub-query gives its literals the type text.
func (w *walker) hasType(n *node) (typed, scalar bool) {
	var parts []*node
	switch {
	case n == nil:
		return false, false
	case n.GetRowExpr() != nil:
		parts = n.GetRowExpr().Args
	case n.GetList() != nil:
		parts = n.GetList().Items
	case n.GetSelectStmt() != nil:
		return true, false
	case n.GetCollateClause() != nil:
		typed, _ = w.hasType(n.GetCollateClause().Arg)
		return typed, true
	case n.GetAConst() != nil:
		return n.GetAConst().GetSval() == nil && !n.GetAConst().Isnull, true
	case n.GetTypeCast() != nil && lastName(n.GetTypeCast().TypeName.GetNames()) == "unknown",
		n.GetFuncCall() != nil && lastName(n.GetFuncCall().Funcname) == "unknownin":
		return false, false
	default:
		return true, visiblyScalar(n) || w.storedColumn(n.GetColumnRef())
	}
	typed, scalar = true, true
	for _, part := range parts {
		t, s := w.hasType(part)
		typed, scalar = typed && t, scalar && s
	}
	return typed, scalar && n.GetRowExpr() == nil
}

// storedColumn reports whether a name is certainly the column of a relation. Such a
// column never has anonymous rows.
func (w *walker) storedColumn(ref *columnRef) bool {
	last := len(ref.GetFields()) - 1
	if last < 0 || len(w.items) == 0 || len(w.items) > maxStarItems {
		return false
	}
	name := ref.Fields[last].GetString_().GetSval()
	if name == "" {
		return false
	}
	if last > 0 {
		item := ref.Fields[last-1].GetString_().GetSval()
		return w.everyItemIsRelation(item) && w.everyItemHas(item, name)
	}
	for i := range w.items {
		if w.items[i].relation == nil || w.items[i].name == name {
			return false
		}
	}
	return true
}
