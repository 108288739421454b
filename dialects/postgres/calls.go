package postgres

import (
	"math"
	"slices"

	"github.com/ktxhq/ktx/sqlguard"
)

// since16 and since17 are the versions that have a construct in their grammar. Older
// versions read the same SQL as a call of a user-defined function.
const (
	since16 = math.MaxUint64 - (1<<16 - 1)
	since17 = math.MaxUint64 - (1<<17 - 1)
)

// majorBits turns the versions of the tables into those of the facts. It assumes that
// newer servers keep the functions of the newest catalogue.
func majorBits(s majorSet) uint64 {
	bits := uint64(s) << oldestMajor
	if s.has(newestMajor) {
		bits |= math.MaxUint64 - (1<<newestMajor - 1)
	}
	return bits
}

// judgeFuncCall notes a call in the ordinary notation, including aggregates and window
// functions, and a call that the grammar makes from special syntax.
func (w *walker) judgeFuncCall(n *funcCall) {
	w.at(n.Location)
	schema, name, ok := w.qualifiedName(n.Funcname)
	if !ok {
		w.unreadable()
		return
	}
	if _, listed := w.profile.function(schema, name); !listed && w.literalCast(n, schema, name) {
		w.noteType(schema, name, n.Location)
	} else {
		w.call(n, schema, name)
	}
	w.fieldsFuncCall(n)
}

// call adds the call to the facts.
func (w *walker) call(n *funcCall, schema, name string) {
	c := sqlguard.Call{Schema: schema, Name: name, Notation: sqlguard.NotationCall, Span: w.nameSpan(n.Location), Arguments: len(n.Args)}
	if n.AggWithinGroup || n.AggStar || n.FuncVariadic {
		c.Arguments = -1
	}
	c.Opens = opened(name, n.Args)
	if facts, listed := w.profile.function(schema, name); listed {
		c.Builtin = true
		if c.Extension = facts.Extension; c.Extension == "" {
			c.Majors = majorBits(facts.majors)
		}
		c.Told = slices.Contains(toldExtensions, c.Extension) && !w.profile.has(c.Extension)
		switch facts.Class {
		case functionAllowed:
			c.Ruling.Allowed = true
		case functionChecked:
			c.Ruling.Allowed = w.checkArguments(n, facts.Check, c.Span)
			c.Ruling.Excess = facts.Check == checkRepeat || facts.Check == checkPad || facts.Check == checkSeries
		case functionUnknown, functionDenied:
		}
		if !c.Ruling.Allowed {
			c.Ruling.Code, c.Ruling.Reason, c.Ruling.Reveal = facts.Code, facts.Reason, revealedFunctions[name]
		}
	}
	switch entry, known := findFunction(name); {
	case w.names != nil:
		w.describeCall(n, &c)
	case known && !c.Builtin && entry.extension != "" && entry.extension != otherExtensions:
		c.Extension = entry.extension
		w.memberCall(n, entry, &c)
	}
	w.st.Calls = append(w.st.Calls, c)
}

// memberCall rules on a call as one of the function of a reviewed extension.
func (w *walker) memberCall(n *funcCall, entry functionEntry, c *sqlguard.Call) {
	c.Member = memberRuling(entry.name)
	if entry.class == functionChecked && entry.extension != "" && w.checkArguments(n, entry.check, c.Span) {
		c.Member = sqlguard.Ruling{Allowed: true}
	}
}

// deniedCall adds a call in the notation of a column or an attribute.
func (w *walker) deniedCall(name string, notation sqlguard.Notation, span sqlguard.Span) {
	facts, _ := w.profile.function("", name)
	w.st.Calls = append(w.st.Calls, sqlguard.Call{
		Name: name, Notation: notation, Span: span, Builtin: true,
		Ruling: sqlguard.Ruling{Code: facts.Code, Reason: facts.Reason},
	})
}

// possibleCall notes the function that a column or attribute reference calls when no
// such column exists: an allowed function, which a policy may deny, or a function of the
// catalogue. scalar says that the expression before the dot is not a row, or is the row
// of a relation.
func (w *walker) possibleCall(name string, notation sqlguard.Notation, span sqlguard.Span, scalar bool) {
	w.noteJSON(name)
	if w.names != nil && w.names.Callable(name) {
		c := sqlguard.Call{
			Name: name, Notation: notation, Span: span, Possible: true, Arguments: 1, Typed: 1, Ruling: sqlguard.Ruling{Allowed: true},
			Member: memberRuling(name), Builtin: builtinName(name), Opens: opened(name, []*node{nil}),
		}
		if scalar {
			c.Scalar = 1
		}
		w.st.Calls = append(w.st.Calls, c)
		return
	}
	if facts, listed := w.profile.function("", name); listed && (facts.Class == functionAllowed || facts.Class == functionChecked) {
		w.st.Calls = append(w.st.Calls, sqlguard.Call{
			Name: name, Notation: notation, Span: span, Builtin: true, Possible: true, Ruling: sqlguard.Ruling{Allowed: true},
			Opens: opened(name, []*node{nil}),
		})
	}
}

// literalCast reports whether a call such as uuid('…') is the cast of a literal to a
// type of the server. With a single untyped literal the server prefers the cast, even if
// a function has the type's name.
func (w *walker) literalCast(n *funcCall, schema, name string) bool {
	if len(n.Args) != 1 || n.Args[0].GetAConst().GetSval() == nil || n.AggStar || n.AggDistinct || n.FuncVariadic ||
		n.AggWithinGroup || n.Over != nil || n.AggFilter != nil || len(n.AggOrder) > 0 {
		return false
	}
	return (schema == "" || schema == "pg_catalog") && builtinType("pg_catalog", name)
}

// syntaxCall notes a function that has syntax of its own.
func (w *walker) syntaxCall(name string, location int32, majors uint64) {
	w.at(location)
	w.noteJSON(name)
	w.st.Calls = append(w.st.Calls, sqlguard.Call{
		Name: name, Notation: sqlguard.NotationCall, Span: w.tokenSpan(location),
		Ruling: sqlguard.Ruling{Allowed: true}, Builtin: true, Majors: majors, Arguments: -1, Syntax: true,
	})
}

// judgeSQLValueFunction notes CURRENT_USER and the like.
func (w *walker) judgeSQLValueFunction(n *sqlValueFunction) {
	w.syntaxCall(w.lowerToken(n.Location), n.Location, 0)
	w.fieldsSQLValueFunction(n)
}

func (w *walker) judgeJsonFuncExpr(n *jsonFuncExpr) {
	w.syntaxCall(w.lowerToken(n.Location), n.Location, since17)
	w.fieldsJsonFuncExpr(n)
}

func (w *walker) judgeJsonParseExpr(n *jsonParseExpr) {
	majors := uint64(since17)
	if n.Expr.GetRawExpr().GetAConst().GetSval() != nil && !n.UniqueKeys && n.Expr.GetFormat().GetLocation() <= 0 {
		majors = 0 // older servers read it as the cast of a literal to the type
	}
	w.syntaxCall("json", n.Location, majors)
	w.fieldsJsonParseExpr(n)
}

func (w *walker) judgeJsonScalarExpr(n *jsonScalarExpr) {
	w.syntaxCall("json_scalar", n.Location, since17)
	w.fieldsJsonScalarExpr(n)
}

func (w *walker) judgeJsonSerializeExpr(n *jsonSerializeExpr) {
	w.syntaxCall("json_serialize", n.Location, since17)
	w.fieldsJsonSerializeExpr(n)
}

func (w *walker) judgeJsonObjectConstructor(n *jsonObjectConstructor) {
	w.syntaxCall("json_object", n.Location, since16)
	w.fieldsJsonObjectConstructor(n)
}

func (w *walker) judgeJsonArrayConstructor(n *jsonArrayConstructor) {
	w.syntaxCall("json_array", n.Location, since16)
	w.fieldsJsonArrayConstructor(n)
}

func (w *walker) judgeJsonArrayQueryConstructor(n *jsonArrayQueryConstructor) {
	w.syntaxCall("json_array", n.Location, since16)
	w.fieldsJsonArrayQueryConstructor(n)
}

func (w *walker) judgeJsonObjectAgg(n *jsonObjectAgg) {
	w.syntaxCall("json_objectagg", n.Constructor.GetLocation(), since16)
	w.fieldsJsonObjectAgg(n)
}

func (w *walker) judgeJsonArrayAgg(n *jsonArrayAgg) {
	w.syntaxCall("json_arrayagg", n.Constructor.GetLocation(), since16)
	w.fieldsJsonArrayAgg(n)
}

// judgeMergeSupportFunc notes MERGE_ACTION(), which can occur only in the RETURNING of a
// MERGE.
func (w *walker) judgeMergeSupportFunc(n *mergeSupportFunc) {
	w.syntaxCall("merge_action", n.Location, since17)
	w.fieldsMergeSupportFunc(n)
}

// judgeA_Expr notes an operator that is not built in.
func (w *walker) judgeA_Expr(n *aExpr) {
	w.at(n.Location)
	if w.names != nil {
		w.usesOperator(n)
	}
	w.operator(n.Name, n.Location)
	w.fieldsA_Expr(n)
}

// judgeSubLink notes the operator of ANY and ALL.
func (w *walker) judgeSubLink(n *subLink) {
	w.at(n.Location)
	if w.names != nil {
		w.usesOperatorOf(n)
	}
	if len(n.OperName) > 0 {
		w.operator(n.OperName, n.Location)
	}
	if n.SubLinkType == sublinkExpr || n.SubLinkType == sublinkArray {
		w.settle(n.Subselect.GetSelectStmt())
	}
	w.fieldsSubLink(n)
}

// judgeSortBy notes the operator of ORDER BY … USING.
func (w *walker) judgeSortBy(n *sortBy) {
	w.fieldsSortBy(n)
	if len(n.UseOp) > 0 {
		if w.names != nil {
			w.sortOperator(n)
		}
		w.operator(n.UseOp, n.Location)
	}
}

// operator notes an operator unless it is built in. Names of letters, such as
// BETWEEN, are the grammar's own.
func (w *walker) operator(parts []*node, location int32) {
	schema, name, ok := w.qualifiedName(parts)
	if !ok {
		w.unreadable()
		return
	}
	if name[0] >= 'A' && name[0] <= 'Z' || builtinOperator(name) && (schema == "" || schema == "pg_catalog") || w.names != nil {
		return // with a catalogue, every operator was noted already
	}
	span := w.tokenSpan(location)
	if schema != "" {
		span = w.bracketSpan(location)
	}
	w.st.Calls = append(w.st.Calls, sqlguard.Call{
		Schema: schema, Name: name, Notation: sqlguard.NotationOperator, Span: span,
		Ruling: sqlguard.Ruling{Reason: "not a built-in operator, so it may run any function"},
	})
}

// judgeA_Indirection notes the calls that attribute notation can mean: (x).f calls f(x)
// when x has no attribute f.
func (w *walker) judgeA_Indirection(n *aIndirection) {
	var first string // the attribute behind the operand
	if len(n.Indirection) > 0 {
		first = n.Indirection[0].GetString_().GetSval()
	}
	if first != "" && w.names != nil && w.isColumnOfRow(n.Arg, first) {
		// It reads this column, and not the whole row.
		w.qualifiedColumn([]string{n.Arg.GetColumnRef().Fields[0].GetString_().GetSval()}, first, w.attributeSpan(first))
		w.list(n.Indirection)
	} else {
		w.fieldsA_Indirection(n)
	}
	for i, step := range n.Indirection {
		attribute := step.GetString_()
		if attribute == nil {
			continue
		}
		if i == 0 && w.names != nil && w.attributeOfRow(n.Arg, attribute.Sval) {
			continue
		}
		w.possibleCall(attribute.Sval, sqlguard.NotationAttribute, w.tokenSpan(-1), i == 0 && (visiblyScalar(n.Arg) || w.names != nil && w.storedColumn(n.Arg.GetColumnRef())))
		switch {
		case oneArgumentDenied(attribute.Sval), w.profile.takesWholeRow(attribute.Sval):
			w.deniedCall(attribute.Sval, sqlguard.NotationAttribute, w.attributeSpan(attribute.Sval))
		case i == 0 && visiblyScalar(n.Arg):
			w.st.Calls = append(w.st.Calls, sqlguard.Call{
				Name: attribute.Sval, Notation: sqlguard.NotationAttribute, Span: w.attributeSpan(attribute.Sval), Arguments: 1,
				Ruling: sqlguard.Ruling{Reason: "the value before the dot is no row"},
			})
		}
	}
}
