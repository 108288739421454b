package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// fromItem is a name that FROM brings into scope.
type fromItem struct {
	name string
	kind itemKind
	// facts are the facts of a system relation with refused columns.
	facts *relationFacts
	// scalar is a function that returns no row.
	scalar *rangeFunction
	// settings says that the item is pg_settings itself, and named that WHERE restricts
	// its rows to settings that may be shown.
	settings, named bool
	// relation and columns are set only with a catalogue. They are the relation
	// of the name, or the columns of an item that the statement defines, "" for
	// an unknown column.
	relation *rangeVar
	columns  []string
}

// itemKind says what a name in FROM means.
type itemKind uint8

const (
	// itemDerived is a sub-query, a common table expression or a function. Its columns
	// were judged in its definition.
	itemDerived itemKind = iota
	itemRelation
	itemJoin // the alias of a join
)

// collect brings the names of one item of FROM into scope. It looks into joins but not
// into sub-queries.
func (w *walker) collect(n *node) {
	if rv := n.GetRangeVar(); rv != nil {
		w.collectRelation(rv)
		return
	}
	if sample := n.GetRangeTableSample(); sample != nil {
		w.collect(sample.Relation)
		return
	}
	if join := n.GetJoinExpr(); join != nil {
		first := len(w.items)
		w.collect(join.Larg)
		w.collect(join.Rarg)
		w.collectAlias(join.JoinUsingAlias)
		if join.Alias != nil {
			w.items = append(w.items, fromItem{name: join.Alias.Aliasname, kind: itemJoin, facts: refusedInside(w.items[first:])})
		}
		return
	}
	if sub := n.GetRangeSubselect(); sub != nil {
		w.collectAlias(sub.Alias)
		if w.names != nil && sub.Alias != nil {
			w.items[len(w.items)-1].columns = renamed(w.knownColumns(sub.Subquery), sub.Alias)
		}
	} else if f := n.GetRangeFunction(); f != nil {
		if item, named := w.functionItem(f); named {
			w.items = append(w.items, item)
		}
	} else if f := n.GetRangeTableFunc(); f != nil {
		w.collectNamed(f.Alias, "xmltable")
	} else if f := n.GetJsonTable(); f != nil {
		w.collectNamed(f.Alias, "json_table")
	}
}

// refusedInside returns the refused columns of all items together, or nil when
// there are none.
func refusedInside(items []fromItem) *relationFacts {
	var all *relationFacts
	for i := range items {
		facts := items[i].facts
		switch {
		case facts == nil, facts == all:
		case all == nil:
			all = facts
		case !strings.Contains(all.columns, facts.columns):
			both := *all
			both.columns += " " + facts.columns
			both.relations = all.relations + " " + facts.relations
			all = &both
		}
	}
	return all
}

func (w *walker) collectAlias(a *alias) {
	if a != nil {
		w.items = append(w.items, fromItem{name: a.Aliasname, kind: itemDerived})
	}
}

// collectNamed is collectAlias for an item that has a name without an alias.
func (w *walker) collectNamed(a *alias, name string) {
	if a != nil {
		name = a.Aliasname
	}
	w.items = append(w.items, fromItem{name: name, kind: itemDerived})
}

func (w *walker) collectRelation(rv *rangeVar) {
	item := fromItem{name: rv.Relname, kind: itemRelation}
	if rv.Alias != nil {
		item.name = rv.Alias.Aliasname
	}
	switch {
	case rv.Schemaname == "" && rv.Catalogname == "" && w.inReach(rv.Relname):
		item.kind = itemDerived
		if w.names != nil {
			item.columns = renamed(w.columnsOfCTE(rv.Relname), rv.Alias)
		}
	case strings.HasPrefix(rv.Relname, "pg_") || w.profile != nil:
		if facts, system := w.profile.relation(rv.Schemaname, rv.Relname); system && (facts.Allowed || facts.reveal != "") && facts.Restricted() {
			item.facts, item.settings = &facts, rv.Relname == "pg_settings"
		}
	}
	if w.names != nil && item.kind == itemRelation {
		item.relation = rv
	}
	w.items = append(w.items, item)
	if item.facts != nil && len(rv.Alias.GetColnames()) > 0 {
		w.refuseColumns(&item, w.nameSpan(rv.Location), "a list of column names")
	}
}

// judgeColumnRef notes a column, and the call that a qualified name can mean: x.f calls
// f(x) when x has no column f.
func (w *walker) judgeColumnRef(n *columnRef) {
	w.at(n.Location)
	last := len(n.Fields) - 1
	if last < 0 {
		w.unreadable()
		return
	}
	var qualifier []string
	if last > 0 {
		qualifier = w.strings(last)
		for i, f := range n.Fields[:last] {
			s := f.GetString_()
			if s == nil {
				w.unreadable()
				return
			}
			qualifier[i] = s.Sval
		}
	}
	span := w.nameSpan(n.Location)
	w.bare = w.bares[n]
	defer func() { w.bare = false }()
	if n.Fields[last].GetAStar() != nil {
		w.star(qualifier, span, "*")
		return
	}
	s := n.Fields[last].GetString_()
	if s == nil {
		w.unreadable()
		return
	}
	certain := qualifier != nil && w.names != nil && w.certainColumn(qualifier, s.Sval)
	if qualifier != nil && !certain {
		if w.names != nil && w.names.Callable(s.Sval) {
			w.noteColumn(sqlguard.ColumnRef{Qualifier: qualifier, Star: true, Span: span}) // the argument is the whole row
		}
		w.possibleCall(s.Sval, sqlguard.NotationColumn, span, w.names != nil && w.names.Callable(s.Sval) && w.everyItemIsRelation(qualifier[last-1]))
	}
	switch {
	case qualifier == nil, certain:
	case mayBeDenied(s.Sval) && oneArgumentDenied(s.Sval), w.profile.takesWholeRow(s.Sval):
		w.deniedCall(s.Sval, sqlguard.NotationColumn, span)
	case len(qualifier) == 1:
		w.scalarColumn(qualifier[0], s.Sval, span)
	}
	w.column(qualifier, s.Sval, span)
}

// column notes the mention of one column, or of a whole row by its name. It adds one
// refusal, even if several items of FROM have the name.
func (w *walker) column(qualifier []string, name string, span sqlguard.Span) {
	if len(qualifier) > 0 {
		w.qualifiedColumn(qualifier, name, span)
		return
	}
	w.noteColumn(sqlguard.ColumnRef{Name: name, Span: span, Bare: w.bare})
	refused, joined := false, false
	for i := range w.items {
		item := &w.items[i]
		switch {
		case item.facts != nil && !refused && item.name == name:
			w.refuseColumns(item, span, "the whole row")
			refused = true
		case item.facts != nil && !refused && item.facts.ColumnRefused(name):
			w.refuseColumn(item, name, span)
			refused = true
		case item.kind == itemJoin && !joined && item.name == name:
			w.noteColumn(sqlguard.ColumnRef{Star: true, Span: span})
			joined = true
		}
	}
}

func (w *walker) qualifiedColumn(qualifier []string, name string, span sqlguard.Span) {
	relation, wholeRow := qualifier[len(qualifier)-1], rowFunction(name)
	for i := range w.items {
		item := &w.items[i]
		if item.facts == nil || item.name != relation {
			continue
		}
		if item.facts.ColumnRefused(name) {
			w.refuseColumn(item, name, span)
			break
		}
		if wholeRow {
			w.refuseColumns(item, span, "the whole row")
			break
		}
	}
	if w.derived(qualifier) {
		return
	}
	w.noteColumn(sqlguard.ColumnRef{Qualifier: qualifier, Name: name, Span: span, Bare: w.bare})
	if wholeRow {
		w.noteColumn(sqlguard.ColumnRef{Qualifier: qualifier, Star: true, Span: span})
	}
}

// star notes the mention of all columns of a relation, or of every relation of the
// current query. what describes the construct.
func (w *walker) star(qualifier []string, span sqlguard.Span, what string) {
	if len(qualifier) == 0 {
		if w.starred || w.bare && w.bareStar { // one note is enough, and there may be thousands of joins
			return
		}
		w.starred, w.bareStar = !w.bare, w.bare
		for i := range w.items[w.level:] {
			item := &w.items[w.level+i]
			if item.facts != nil {
				w.refuseColumns(item, span, what)
			}
			if item.kind == itemRelation {
				w.noteColumn(sqlguard.ColumnRef{Qualifier: []string{item.name}, Star: true, Span: span, Bare: w.bare})
			}
		}
		return
	}
	relation := qualifier[len(qualifier)-1]
	for i := range w.items {
		if item := &w.items[i]; item.facts != nil && item.name == relation {
			w.refuseColumns(item, span, what)
			break
		}
	}
	if !w.derived(qualifier) {
		w.noteColumn(sqlguard.ColumnRef{Qualifier: qualifier, Star: true, Span: span, Bare: w.bare})
	}
}

// derived reports whether a qualifier can only mean an item that the statement itself
// defines. With several items of one name, the meaning depends on the scope of each, so
// derived returns false if one of them is a relation.
func (w *walker) derived(qualifier []string) bool {
	if len(qualifier) != 1 {
		return false
	}
	found := false
	for i := range w.items {
		if w.items[i].name == qualifier[0] {
			if w.items[i].kind != itemDerived {
				return false
			}
			found = true
		}
	}
	return found
}

// strings returns room for n strings that the facts keep.
func (w *walker) strings(n int) []string {
	if len(w.room) < n {
		w.room = make([]string, max(n, 16))
	}
	out := w.room[:n:n]
	w.room = w.room[n:]
	return out
}

func (w *walker) noteColumn(ref sqlguard.ColumnRef) {
	if w.st.ColumnRefs == nil {
		w.st.ColumnRefs = make([]sqlguard.ColumnRef, 0, 8)
	}
	w.st.ColumnRefs = append(w.st.ColumnRefs, ref)
}

// refuseColumn refuses a column of a system relation that no statement may read.
func (w *walker) refuseColumn(item *fromItem, name string, span sqlguard.Span) {
	group, samples := item.facts.revealOf(name)
	reason, hint := item.facts.Reason, "leave the column out"
	switch {
	case item.settings && slices.Contains(settingValues, name):
		hint = settingsHint
	case samples:
		reason = "holds values from the tables"
	}
	w.refuse(sqlguard.Finding{
		Code: item.facts.Code, Span: span, Object: item.name + "." + name,
		Message: fmt.Sprintf("column %s of %s %s", name, item.name, reason),
		Hint:    hint, Reveal: group, Samples: samples,
	})
}

// refuseColumns refuses a way to read such columns without their names.
func (w *walker) refuseColumns(item *fromItem, span sqlguard.Span, what string) {
	group, samples := item.facts.revealOfAll()
	hint := "name the columns that you need"
	if item.settings && group == "" {
		hint += "; " + settingsHint
	}
	w.refuse(sqlguard.Finding{
		Code: item.facts.Code, Span: span, Object: item.name,
		Message: fmt.Sprintf("%s of %s includes a column that may not be read (%s): it %s", what, item.name, strings.ReplaceAll(item.facts.columns, " ", ", "), item.facts.Reason),
		Hint:    hint, Reveal: group, Samples: samples,
	})
}

// rowFunctions lists the functions of the server and of the reviewed extensions that
// return the content of a row when the row is their only argument. The list is sorted.
var rowFunctions = [...]string{
	"any_value", "array_agg", "concat", "hash_record", "hstore", "json_agg", "json_agg_strict", "json_build_array",
	"jsonb_agg", "jsonb_agg_strict", "jsonb_build_array", "max", "min", "quote_literal", "quote_nullable",
	"record_out", "record_send", "row_to_json", "st_asflatgeobuf", "st_asgeobuf", "st_asgeojson", "st_asmvt",
	"to_json", "to_jsonb",
}

// rowFunction reports whether x.name, with x a relation, is a call that returns
// the content of the whole row of x. It does not know user-defined functions.
func rowFunction(name string) bool {
	_, found := slices.BinarySearch(rowFunctions[:], name)
	return found
}

// deniedNames marks the names for which oneArgumentDenied may be true, by a hash of their
// ends. So most names of columns need no search of the table.
var deniedNames = func() (set [4096]bool) {
	for i := range functionTable {
		if functionTable[i].oneArgument {
			set[nameHash(functionTable[i].name)] = true
		}
	}
	return set
}()

func mayBeDenied(name string) bool { return name != "" && deniedNames[nameHash(name)] }

func nameHash(name string) uint {
	n := uint(len(name))
	return (n*31 + uint(name[0])*7 + uint(name[n/2])*173 + uint(name[n-1])*1033) & 4095
}
