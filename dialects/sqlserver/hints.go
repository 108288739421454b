package sqlserver

import (
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// hintUse says how the parser treats a hint.
type hintUse uint8

const (
	hintAllowed hintUse = iota + 1
	hintLocks           // takes or holds locks: refused
)

// tableHintUses are the hints of tables. Reference: Table Hints (Transact-SQL).
var tableHintUses = map[string]hintUse{
	"nolock": hintAllowed, "readuncommitted": hintAllowed, "readcommitted": hintAllowed, "readpast": hintAllowed,
	"snapshot": hintAllowed, "nowait": hintAllowed, "noexpand": hintAllowed, "forcescan": hintAllowed,
	"forceseek": hintAllowed, "index": hintAllowed, "spatial_window_max_cells": hintAllowed, "noop": hintAllowed,

	"holdlock": hintLocks, "serializable": hintLocks, "repeatableread": hintLocks, "rowlock": hintLocks,
	"paglock": hintLocks, "tablock": hintLocks, "tablockx": hintLocks, "updlock": hintLocks, "xlock": hintLocks,
	"readcommittedlock": hintLocks,
}

// atOldHints reports whether brackets without WITH hold hints, as in t (NOLOCK).
// Everything else in brackets behind a name is the arguments of a function.
func (p *parser) atOldHints() bool {
	t := p.peek(1)
	if p.mark() != '(' || t.word == nil || tableHintUses[t.word.text] == 0 {
		return false
	}
	switch next := p.peek(2); {
	case p.markOf(2) == ')' || p.markOf(2) == ',':
		return true
	case t.spells("index"):
		return true
	default:
		return next.word != nil && tableHintUses[next.word.text] != 0
	}
}

// tableHints reads WITH (hint, …) or the old form without WITH if one comes next.
// Reference: Table Hints (Transact-SQL).
func (p *parser) tableHints() {
	switch {
	case p.is("with") && p.markOf(1) == '(':
		p.next()
	case p.atOldHints():
	case p.is("holdlock"): // the old form without brackets
		p.tableHint()
		return
	default:
		return
	}
	p.expectMark('(')
	for p.err == nil {
		p.tableHint()
		if p.mark() == ')' {
			break
		}
		p.acceptMark(',')
	}
	p.expectMark(')')
}

// tableHint reads one hint of a table. Reference: Table Hints (Transact-SQL).
func (p *parser) tableHint() {
	t := p.tok
	if t.kind == sqlguard.TokenNumber { // the number of an index, in an old form
		p.next()
		return
	}
	if t.kind != sqlguard.TokenWord {
		p.fail("a table hint")
		return
	}
	p.hints = append(p.hints, p.at)
	p.next()
	use := hintUse(0)
	if t.word != nil {
		use = tableHintUses[t.word.text]
	}
	hint := strings.ToUpper(p.sql[t.start:t.end])
	switch use {
	case hintAllowed:
	case hintLocks:
		p.effect(sqlguard.CodeLockingHint, spanOf(t), "the hint "+hint+" takes or holds locks")
	default:
		p.effect(sqlguard.CodeHintNotAllowed, spanOf(t), "the hint "+hint+" is not on the list of table hints")
	}
	switch {
	case p.mark() == '=': // INDEX = name, SPATIAL_WINDOW_MAX_CELLS = n
		p.next()
		p.indexValue()
	case p.mark() == '(':
		p.brackets(func() {
			p.indexValue()
			if p.mark() == '(' { // FORCESEEK (index (column, …))
				p.columnNames()
			}
		})
	}
}

// settleHints refuses t (NOLOCK) if the statement that begins at the token from also uses
// NOLOCK as a name: then it could be a column, and the argument of a function.
// Reference: Table Hints (Transact-SQL), on hints without WITH.
func (p *parser) settleHints(from int) {
	if len(p.bareHints) == 0 {
		return
	}
	hints, columns := make(map[int]bool), make(map[string]bool)
	for _, at := range p.hints {
		hints[at] = true
	}
	for i, t := range p.toks[from:min(p.at, len(p.toks))] {
		switch text := p.sql[t.start:t.end]; {
		case !t.isName() || hints[from+i]:
		case t.kind == sqlguard.TokenQuotedName:
			columns[skeleton(decodeName(text))] = true
		default:
			columns[skeleton(text)] = true
		}
	}
	for _, bare := range p.bareHints {
		t := p.toks[bare.token]
		hint := p.sql[t.start:t.end]
		if columns[skeleton(hint)] {
			hint = strings.ToUpper(hint)
			p.effect(sqlguard.CodeFunctionNotAllowed, bare.at, "with the name "+hint+" in this statement this could be the call of a function; write WITH ("+hint+") for the hint")
		}
	}
}

// indexValue reads the name or number of an index, or several in brackets.
// Reference: Table Hints (Transact-SQL), "INDEX".
func (p *parser) indexValue() {
	switch {
	case p.tok.kind == sqlguard.TokenNumber:
		p.next()
	case p.mark() == '(':
		p.brackets(func() {
			if p.tok.kind == sqlguard.TokenNumber {
				p.next()
				return
			}
			p.simpleName("the name of an index")
		})
	default:
		p.simpleName("the name of an index")
	}
}

// queryHints reads OPTION (hint, …). Reference: Query Hints (Transact-SQL).
func (p *parser) queryHints() {
	p.brackets(p.queryHint)
}

// plainQueryHints are the hints that are words only.
var plainQueryHints = [][]string{
	{"hash", "group"},
	{"order", "group"},
	{"concat", "union"},
	{"hash", "union"},
	{"merge", "union"},
	{"loop", "join"},
	{"merge", "join"},
	{"hash", "join"},
	{"expand", "views"},
	{"force", "order"},
	{"ignore_nonclustered_columnstore_index"},
	{"keep", "plan"},
	{"keepfixed", "plan"},
	{"no_performance_spool"},
	{"optimize", "for", "unknown"},
	{"recompile"},
	{"robust", "plan"},
}

// queryHint reads one hint of OPTION. Reference: Query Hints (Transact-SQL),
// "query_hint".
func (p *parser) queryHint() {
	start := p.tok
	for _, words := range plainQueryHints {
		if p.followed(words...) {
			next := p.markOf(len(words))
			if next == ',' || next == ')' {
				p.load(p.at + len(words))
				return
			}
		}
	}
	switch {
	case p.accept("fast"), p.accept("maxdop"):
		p.integer("a number")
	case p.accept("max_grant_percent"):
		p.acceptMark('=')
		p.integer("a number")
	case p.accept("maxrecursion"):
		text := p.integer("a number from 1 to 32767")
		if n, err := strconv.Atoi(text); p.err == nil && (err != nil || n < 1 || n > 32767) {
			p.effect(sqlguard.CodeHintNotAllowed, p.since(start.start), "MAXRECURSION is a number from 1 to 32767; 0 lifts the limit")
		}
	case p.accept("label"):
		p.expectMark('=')
		p.stringLiteral("a label")
	case p.followed("use", "hint"):
		p.next()
		p.next()
		p.brackets(p.useHint)
	case p.followed("table", "hint"):
		p.next()
		p.next()
		p.expectMark('(')
		p.multiName("the name or alias of a table")
		for p.acceptMark(',') {
			p.tableHint()
		}
		p.expectMark(')')
	case p.followed("for", "timestamp", "as", "of"):
		p.load(p.at + 4)
		p.stringLiteral("a time in quotes")
	default:
		p.refuseHint()
	}
}

// refuseHint refuses a hint that is not listed, up to the next comma.
func (p *parser) refuseHint() {
	start := p.tok
	if start.kind != sqlguard.TokenWord {
		p.fail("a query hint")
		return
	}
	for p.tok.kind != endOfText && p.mark() != ',' && p.mark() != ')' {
		if p.mark() == '(' {
			p.skipBrackets()
			continue
		}
		p.next()
	}
	p.effect(sqlguard.CodeHintNotAllowed, p.since(start.start),
		"the hint "+strings.ToUpper(p.sql[start.start:start.end])+" is not on the list of query hints")
}

// useHint reads one name of USE HINT. Reference: Query Hints (Transact-SQL),
// "use_hint_name".
func (p *parser) useHint() {
	at := p.here()
	text := p.stringLiteral("the name of a hint in quotes")
	if p.err == nil && !useHints[strings.ToUpper(text)] && !strings.HasPrefix(strings.ToUpper(text), "QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_") {
		p.effect(sqlguard.CodeHintNotAllowed, at, "this name is not on the list for USE HINT")
	}
}

// useHints are the names for USE HINT that change only how the server makes a plan.
var useHints = lexical.Set(`
	ASSUME_FIXED_MAX_SELECTIVITY_FOR_REGEXP ASSUME_FIXED_MIN_SELECTIVITY_FOR_REGEXP
	ASSUME_FULL_INDEPENDENCE_FOR_FILTER_ESTIMATES ASSUME_JOIN_PREDICATE_DEPENDS_ON_FILTERS
	ASSUME_MIN_SELECTIVITY_FOR_FILTER_ESTIMATES ASSUME_PARTIAL_CORRELATION_FOR_FILTER_ESTIMATES
	DISABLE_BATCH_MODE_ADAPTIVE_JOINS DISABLE_BATCH_MODE_MEMORY_GRANT_FEEDBACK DISABLE_CE_FEEDBACK
	DISABLE_DEFERRED_COMPILATION_TV DISABLE_DOP_FEEDBACK DISABLE_INTERLEAVED_EXECUTION_TVF DISABLE_MEMORY_GRANT_FEEDBACK
	DISABLE_MEMORY_GRANT_FEEDBACK_PERSISTENCE DISABLE_OPTIMIZED_HALLOWEEN_PROTECTION DISABLE_OPTIMIZED_NESTED_LOOP
	DISABLE_OPTIMIZED_PLAN_FORCING DISABLE_OPTIMIZER_ROWGOAL DISABLE_OPTIONAL_PARAMETER_OPTIMIZATION
	DISABLE_PARAMETER_SENSITIVE_PLAN_OPTIMIZATION DISABLE_PARAMETER_SNIFFING DISABLE_RESULT_SET_CACHE
	DISABLE_ROW_MODE_MEMORY_GRANT_FEEDBACK DISABLE_TSQL_SCALAR_UDF_INLINING DISALLOW_BATCH_MODE
	ENABLE_HIST_AMENDMENT_FOR_ASC_KEYS ENABLE_PARALLEL_PLAN_PREFERENCE ENABLE_QUERY_OPTIMIZER_HOTFIXES
	FORCE_DEFAULT_CARDINALITY_ESTIMATION FORCE_LEGACY_CARDINALITY_ESTIMATION QUERY_PLAN_PROFILE`)
