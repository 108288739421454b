package mutate

import (
	"slices"
	"strings"
)

// wrapped puts a query between two texts.
func (t *text) wrapped(before, after string) (string, bool) {
	if !t.nests() || t.Dialect != "postgres" && t.Dialect != "sqlite" && !t.oneColumn() {
		return "", false // Columns of a derived table need names that differ.
	}
	if t.Dialect == "sqlserver" {
		if strings.HasPrefix(before, "WITH") {
			before = strings.Replace(before, "q", "q (c)", 1)
		} else {
			after += " (c)"
		}
	}
	return before + t.closed() + after, true
}

// scalar makes a sub-query of a query that gives one row of one column.
func (t *text) scalar() (string, bool) {
	if !t.nests() || !t.oneColumn() || t.hasOutside("from", "where", "limit", "offset", "fetch", "top", "having", "group", "order", "union", "except", "intersect") ||
		slices.ContainsFunc(t.tokens, func(part token) bool { return part.in(rowSets) }) {
		return "", false
	}
	return "SELECT (" + t.closed() + ")", true
}

// explained puts EXPLAIN before what must pass, and before what must be refused
// the EXPLAIN that runs it. SQL Server has neither, and SQLite only the first.
func (t *text) explained() (string, bool) {
	if !t.single() || t.dependsOnPolicy() {
		return "", false
	}
	reads := t.startsWith("select")
	if t.Dialect == "postgres" {
		reads = t.startsWith("select", "with", "values", "table")
	}
	refused := t.Expect == "reject"
	switch {
	case t.Dialect == "sqlserver", t.Dialect == "mysql" && t.has("into"):
		return "", false
	case !refused:
		return "EXPLAIN " + t.String(), reads
	case t.Dialect == "postgres":
		return "EXPLAIN ANALYZE " + t.String(), reads || t.startsWith("insert", "update", "delete", "merge")
	case t.Dialect == "mysql" && t.Flavour == "mariadb":
		return "ANALYZE " + t.String(), reads
	case t.Dialect == "mysql":
		return "EXPLAIN ANALYZE " + t.String(), reads
	}
	return "", false
}

// dependsOnPolicy reports whether the case's demand is no fixed one: EXPLAIN has
// a policy of its own.
func (t *text) dependsOnPolicy() bool { return t.Policy != nil }

// single reports whether the text is one statement that another may stand
// around.
func (t *text) single() bool {
	return !slices.Contains(unwrapped, t.Class) && !t.has(";")
}

// startsWith reports whether the first word is one of these.
func (t *text) startsWith(words ...string) bool {
	first := t.after(-1)
	return slices.ContainsFunc(words, first.is)
}

// nests reports whether the text is a query that means the same as part of
// another.
func (t *text) nests() bool {
	switch {
	case !t.single() || !t.startsWith("select") || t.has("into", "procedure"):
		return false
	case t.Dialect == "sqlserver":
		// There a query inside of another is not sorted, has no options, and
		// moves no sequence.
		return !t.hasOutside("order", "for", "option", "go") && !t.has("next") && t.oneStatement() &&
			!slices.ContainsFunc(t.tokens, func(part token) bool { return part.kind == marker })
	case t.Dialect == "mysql": // An assignment, and what holds for the whole statement.
		return !t.has(":", "lock", "high_priority", "sql_calc_found_rows", "sql_cache", "sql_no_cache", "sql_buffer_result") && !slices.ContainsFunc(t.tokens, func(part token) bool { return part.kind == marker })
	}
	return true
}

// starters are words that begin a statement of SQL Server, which needs nothing
// between two of them.
var starters = set(`add alter backup begin break bulk checkpoint close commit continue create dbcc deallocate declare delete deny
	disable drop enable end exec execute goto grant if insert kill lineno load merge move open print raiserror readtext
	reconfigure restore return revert revoke rollback save set shutdown throw truncate update updatetext use waitfor while writetext`)

// oneStatement reports whether nothing in the text could begin another statement.
func (t *text) oneStatement() bool {
	selects := 0
	ok := true
	t.outside(func(i int) {
		switch part := t.tokens[i]; {
		case part.is("select"):
			if before := t.before(i); !before.is("all") && !before.is("union") && !before.is("except") && !before.is("intersect") {
				selects++
			}
		case part.in(starters) && !t.caseEnd(i):
			ok = false
		}
	})
	return ok && selects == 1
}

// caseEnd reports whether the word is the END of a CASE.
func (t *text) caseEnd(i int) bool { return t.tokens[i].is("end") && t.has("case") }

// outside calls visit for every token that no bracket is around.
func (t *text) outside(visit func(i int)) {
	depth := 0
	for i, part := range t.tokens {
		switch {
		case part.is("("):
			depth++
		case part.is(")"):
			depth--
		case depth == 0:
			visit(i)
		}
	}
}

// hasOutside reports whether one of these symbols or words stands outside of all
// brackets.
func (t *text) hasOutside(texts ...string) bool {
	found := false
	t.outside(func(i int) { found = found || slices.ContainsFunc(texts, t.tokens[i].is) })
	return found
}

// oneColumn reports whether every SELECT outside of brackets certainly has one
// column.
func (t *text) oneColumn() bool {
	one, list := true, false
	t.outside(func(i int) {
		switch part := t.tokens[i]; {
		case part.is("select"):
			list = true
		case part.is("from"), part.is("where"), part.is("union"), part.is("order"), part.is("group"):
			list = false
		case list && (part.is(",") || part.is("*") && t.all(i)):
			one = false
		}
	})
	return one
}

// all reports whether a star stands for columns, and does not multiply.
func (t *text) all(i int) bool {
	before := t.before(i)
	return before.kind == word && before.in(starred) || before.is(".")
}

var starred = set("select distinct all")

// closed returns the text so that a bracket may follow.
func (t *text) closed() string {
	if last := t.tokens[len(t.tokens)-1]; last.kind == comment && !strings.HasPrefix(last.text, "/*") {
		return t.String() + "\n"
	}
	return t.String()
}
