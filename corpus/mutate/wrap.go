package mutate

import (
	"slices"
	"strings"
)

// wrapped puts a query between two texts. It fails if the query may not be part
// of another.
func (t *text) wrapped(before, after string) (string, bool) {
	if !t.nests() || t.Dialect != "postgres" && t.Dialect != "sqlite" && !t.oneColumn() {
		return "", false // The columns of a derived table need different names.
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

// scalar turns a query with one row and one column into a scalar sub-query.
func (t *text) scalar() (string, bool) {
	if !t.nests() || !t.oneColumn() || t.hasOutside("from", "where", "limit", "offset", "fetch", "top", "having", "group", "order", "union", "except", "intersect") ||
		slices.ContainsFunc(t.tokens, func(part token) bool { return part.in(rowSets) }) {
		return "", false
	}
	return "SELECT (" + t.closed() + ")", true
}

// explained puts EXPLAIN before an allow case, and before a reject case the
// EXPLAIN that runs the statement. SQL Server and BigQuery have neither, and SQLite has only
// the first.
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
	case t.Dialect == "sqlserver", t.Dialect == "bigquery", t.Dialect == "mysql" && t.has("into"):
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

// dependsOnPolicy reports whether the demand of the case depends on a policy.
// EXPLAIN has its own policy.
func (t *text) dependsOnPolicy() bool { return t.Policy != nil }

// single reports whether the text is one statement that can be part of another.
func (t *text) single() bool {
	return !slices.Contains(unwrapped, t.Class) && !t.has(";")
}

// startsWith reports whether the first word is one of these.
func (t *text) startsWith(words ...string) bool {
	first := t.after(-1)
	return slices.ContainsFunc(words, first.is)
}

// nests reports whether the text is a query that has the same meaning as part
// of another query.
func (t *text) nests() bool {
	switch {
	case !t.single() || !t.startsWith("select") || t.has("into", "procedure"):
		return false
	case t.Dialect == "sqlserver":
		// A sub-query in SQL Server has no ORDER BY and no options, and takes
		// no value from a sequence.
		return !t.hasOutside("order", "for", "option", "go") && !t.has("next") && t.oneStatement() &&
			!slices.ContainsFunc(t.tokens, func(part token) bool { return part.kind == marker })
	case t.Dialect == "mysql": // Assignments, and clauses that apply to the whole statement.
		return !t.has(":", "lock", "high_priority", "sql_calc_found_rows", "sql_cache", "sql_no_cache", "sql_buffer_result") && !slices.ContainsFunc(t.tokens, func(part token) bool { return part.kind == marker })
	}
	return true
}

// starters are words that begin a statement of SQL Server, where no terminator
// is needed between statements.
var starters = set(`add alter backup begin break bulk checkpoint close commit continue create dbcc deallocate declare delete deny
	disable drop enable end exec execute goto grant if insert kill lineno load merge move open print raiserror readtext
	reconfigure restore return revert revoke rollback save set shutdown throw truncate update updatetext use waitfor while writetext`)

// oneStatement reports whether no token in the text could begin another
// statement.
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

// outside calls visit for every token that is not in parentheses.
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

// hasOutside reports whether one of these symbols or words is outside of all
// parentheses.
func (t *text) hasOutside(texts ...string) bool {
	found := false
	t.outside(func(i int) { found = found || slices.ContainsFunc(texts, t.tokens[i].is) })
	return found
}

// oneColumn reports whether every SELECT outside of parentheses certainly has
// one column.
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

// all reports whether a star means all columns and not multiplication.
func (t *text) all(i int) bool {
	before := t.before(i)
	return before.kind == word && before.in(starred) || before.is(".")
}

var starred = set("select distinct all")

// closed returns the text so that a parenthesis may follow.
func (t *text) closed() string {
	if last := t.tokens[len(t.tokens)-1]; last.kind == comment && !strings.HasPrefix(last.text, "/*") {
		return t.String() + "\n"
	}
	return t.String()
}
