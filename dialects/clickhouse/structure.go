package clickhouse

import (
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// This file reads arguments that are more than values to the server: a name that it calls as
// a function, and a text that lists columns, in which any expression can stand.

// takeFunctions are the functions whose first argument can be a lambda. The server takes the
// name of a function there too, when no column has it: arrayMap(file, ['x']) calls file.
// (Asked of every function of ClickHouse 26.7.) The value is how many arguments the call has
// at least when the first one is a function.
var takeFunctions = func() map[string]int {
	out := map[string]int{"arrayFold": 3}
	for n := range strings.FieldsSeq(`arrayAll arrayAvg arrayCompact arrayCount arrayCumSum arrayCumSumNonNegative arrayDifference arrayExists arrayFill arrayFilter arrayFirst
		arrayFirstIndex arrayFirstOrNull arrayLast arrayLastIndex arrayLastOrNull arrayMap arrayMax arrayMin arrayProduct arrayReverseFill arrayReverseSort arrayReverseSplit
		arraySort arraySplit arraySum mapAll mapApply mapExists mapFilter mapReverseSort mapSort`) {
		out[n] = 2
	}
	for n := range strings.FieldsSeq("arrayBottomK arrayPartialReverseSort arrayPartialSort arrayTopK mapPartialReverseSort mapPartialSort") {
		out[n] = 3
	}
	return out
}()

// functionValue states the call of the function that the first argument of a call names, if
// it names one. The cursor stays behind the opening bracket.
func (p *parser) functionValue(function string) {
	least := takeFunctions[function]
	if least == 0 {
		return
	}
	n, open := 0, 0
	if p.is("all", "distinct") {
		n++
	}
	for ; p.markAt(n) == "(" || p.markAt(n) == "+"; n++ {
		if p.markAt(n) == "(" {
			open++
		}
	}
	t := p.peek(n)
	if !p.isIdentifier(t) {
		return
	}
	last := n // of the names that end before ->, which are parameters
	for open == 0 && p.markAt(last+1) == "," && p.isIdentifier(p.peek(last+2)) {
		last += 2
	}
	if p.markAt(last+1) == "->" {
		return
	}
	if n++; p.peek(n).word == "as" {
		n += 2
	}
	for ; open > 0 && p.markAt(n) == ")"; n++ {
		open--
	}
	name := p.nameOf(t)
	_, builtin := lookupFunction(name)
	if open > 0 || p.markAt(n) != "," || p.argumentsFrom(n) < least-1 || p.lambdas[name] && !builtin && deniedFunctions.Find(lexical.Lower(name)) == nil {
		return
	}
	p.call(name, spanOf(t))
}

// argumentsFrom counts the arguments behind the comma n tokens on, up to the bracket that
// closes.
func (p *parser) argumentsFrom(n int) int {
	count := 0
	for depth := 0; depth >= 0; n++ {
		switch p.peek(n).kind { //nolint:exhaustive // only these matter
		case endOfText:
			return count
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			depth--
		case sqlguard.TokenComma:
			if depth == 0 {
				count++
			}
		}
	}
	return count
}

// structure refuses the first argument of a table function if it can be a list of columns that
// holds an expression, as in 'a UInt8, b String ALIAS file(…)', which the server computes.
// The server puts constants together for generateRandom, and takes an alias for the text that it
// names in both. The cursor stays.
func (p *parser) structure(function string) {
	random := function == "generateRandom"
	if !random && lexical.Lower(function) != "values" {
		return
	}
	from, to := p.at, p.at
	for depth := 0; to < len(p.toks); to++ {
		switch p.toks[to].kind { //nolint:exhaustive // only brackets matter
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			depth--
		}
		if depth < 0 || depth == 0 && p.toks[to].kind == sqlguard.TokenComma {
			break
		}
	}
	for to-from > 2 && p.sql[p.toks[from].start] == '(' && p.closes(from) == to-1 && !p.isValue(from, to) {
		from, to = from+1, to-1
	}
	if from >= to {
		return
	}
	at := sqlguard.Span{Start: p.toks[from].start, End: p.toks[to-1].end}
	if only := to-from == 1; only && p.toks[from].kind == sqlguard.TokenString && !holdsExpression(p.sql[at.Start:at.End]) ||
		only && p.toks[from].kind == sqlguard.TokenNumber || !random && p.isValue(from, to) {
		return
	}
	p.effect(sqlguard.CodeFunctionNotAllowed, at, function+" can compute what this argument holds; write the columns as one text of names and types, as in 'id UInt64, name String'")
}

// closes returns where the bracket closes that the token at from opens.
func (p *parser) closes(from int) int {
	for i, depth := from, 0; i < len(p.toks); i++ {
		switch p.toks[i].kind { //nolint:exhaustive // only brackets matter
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(p.toks)
}

// makesValue are calls whose results are no texts.
var makesValue = regexp.MustCompile(`^(tuple|array|map|now|now64|today|yesterday|generateUUIDv[47]|to(Date|Time|Int|UInt|Float|Decimal|IPv|UUID)[A-Za-z0-9]*)$`)

// isValue reports whether the tokens in [from, to) are surely no text: a number, a constant, an
// array, a tuple, or a call that makes none.
func (p *parser) isValue(from, to int) bool {
	first, whole := p.toks[from], p.closes(from) == to-1
	switch first.kind { //nolint:exhaustive // the others can be texts
	case sqlguard.TokenOpen:
		comma := false
		for i, depth := from, 0; i < to; i++ {
			switch p.toks[i].kind { //nolint:exhaustive // only these matter
			case sqlguard.TokenOpen:
				depth++
			case sqlguard.TokenClose:
				depth--
			case sqlguard.TokenComma:
				comma = comma || depth == 1
			}
		}
		word := p.toks[from+1].word
		return whole && (p.sql[first.start] == '[' || comma && word != "select" && word != "with" && word != "from")
	case sqlguard.TokenNumber, sqlguard.TokenOperator:
		for _, t := range p.toks[from:to] {
			if t.kind == sqlguard.TokenString {
				return false
			}
		}
		return first.kind == sqlguard.TokenNumber || p.sql[first.start:first.end] == "-"
	case sqlguard.TokenWord:
		text := p.sql[first.start:first.end]
		return to-from == 1 && (first.word == "null" || valueWords[lexical.Lower(text)]) ||
			to-from > 2 && p.sql[p.toks[from+1].start] == '(' && p.closes(from+1) == to-1 && makesValue.MatchString(text)
	default:
		return false
	}
}

// computedWords are the words behind which a list of columns has an expression.
var computedWords = regexp.MustCompile(`(?i)\b(alias|default|materialized|ephemeral|ttl)\b`)

// holdsExpression reports whether a text literal can be a list of columns of which one is
// computed. Behind a comma or a bracket, such a word is the name of a column.
func holdsExpression(text string) bool {
	if text[0] == '$' {
		text = strings.Trim(text, "$")
	} else {
		plain, ok := unquote(text)
		if !ok {
			return len(text) > 2 // it has escapes that are not decoded here
		}
		text = plain
	}
	for _, at := range computedWords.FindAllStringIndex(text, -1) {
		before := strings.TrimRight(text[:at[0]], " \t\r\n\f\v")
		if before != "" && before[len(before)-1] != ',' && before[len(before)-1] != '(' || strings.Contains(text, "--") || strings.ContainsAny(text, "#/") {
			return true
		}
	}
	return false
}
