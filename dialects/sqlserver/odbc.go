package sqlserver

import (
	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// escape reads an ODBC escape in an expression. Reference: ODBC Scalar
// Functions (Transact-SQL); ODBC appendix E.
//
//	{fn call} | {d '…'} | {t '…'} | {ts '…'} | {guid '…'} | {INTERVAL …}
func (p *parser) escape() kind {
	start := p.tok.start
	p.expectMark('{')
	if p.tok.kind != sqlguard.TokenWord {
		if p.mark() == '?' || p.tok.kind == sqlguard.TokenParameter {
			p.next()
		}
		p.fail("fn, d, t, ts or guid")
		return none
	}
	switch lexical.Lower(p.text()) {
	case "d", "t", "ts", "guid":
		p.next()
		p.stringLiteral("a literal in quotes")
	case "fn":
		p.next()
		p.enter()
		p.escapedCall()
		p.leave()
	case "call":
		p.skipEscape()
		p.forbid("odbc call", sqlguard.Span{Start: start, End: p.tok.end})
	default:
		p.fail("fn, d, t, ts or guid")
		return none
	}
	p.expectMark('}')
	return scalar
}

// atODBCCall reports whether {call …} or {? = call …} comes next. Reference:
// Calling a Stored Procedure (ODBC).
func (p *parser) atODBCCall() bool {
	called := func(n int) bool {
		t := p.peek(n)
		return t.kind == sqlguard.TokenWord && lexical.Lower(p.sql[t.start:t.end]) == "call"
	}
	return called(1) || p.markOf(2) == '=' && called(3) || p.peek(1).kind == sqlguard.TokenParameter && called(3)
}

func (p *parser) skipEscape() {
	for p.tok.kind != endOfText && p.mark() != '}' {
		p.next()
	}
}

// escapedCall reads the call in {fn …}. Names of ODBC are those of the table
// below; all others are the server's own. Reference: ODBC Scalar Functions
// (Transact-SQL).
func (p *parser) escapedCall() {
	t := p.tok
	written := lexical.Lower(p.text())
	target, ok := odbcFunctions[written]
	if !ok || t.kind != sqlguard.TokenWord {
		p.scalar()
		return
	}
	fn := functions[target]
	at := spanOf(t)
	p.next()
	p.builtin(fn, at)
	if p.mark() != '(' {
		if !bareInODBC[written] {
			p.fail("\"(\"")
		}
		return
	}
	switch {
	case written == "convert":
		// {fn CONVERT(value, SQL_type)}
		p.next()
		p.scalar()
		p.expectMark(',')
		p.odbcType()
		p.expectMark(')')
	case written == "extract":
		p.next()
		p.datePart()
		p.expect("from")
		p.scalar()
		p.expectMark(')')
	case written == "position":
		// {fn POSITION(a IN b)}
		p.next()
		p.scalar()
		if !p.accept("in") {
			p.expectMark(',')
		}
		p.scalar()
		p.expectMark(')')
	case written == "timestampadd" || written == "timestampdiff":
		p.datePartArguments()
	case fn.syntax == syntaxSized:
		p.sizedArguments(fn, len(p.stmt.Calls)-1)
	default:
		// DAYNAME (d), unlike the server's own DATENAME, names no part of a date.
		p.arguments()
	}
	p.afterCall()
}

// datePart reads a part of a date. Reference: ODBC Scalar Functions
// (Transact-SQL), "EXTRACT".
func (p *parser) datePart() {
	if p.tok.kind != sqlguard.TokenWord || !dateParts[lexical.Lower(p.text())] {
		p.fail("a part of a date, such as day")
		return
	}
	p.next()
}

// odbcType reads a type such as SQL_INTEGER. Reference: ODBC appendix E,
// Explicit Data Type Conversion Function.
func (p *parser) odbcType() {
	t := p.tok
	if p.tok.kind != sqlguard.TokenWord || len(p.text()) < 5 || lexical.Lower(p.text())[:4] != "sql_" {
		p.fail("a type of ODBC, such as SQL_INTEGER")
		return
	}
	p.builtinType(lexical.Lower(p.text()), spanOf(t))
	p.next()
}

// odbcFunctions are the scalar functions of ODBC's appendix E by the function
// of the server that each calls.
var odbcFunctions = map[string]string{
	// String functions
	"ascii": "ascii", "bit_length": "datalength", "char": "char", "char_length": "len", "character_length": "len", "concat": "concat",
	"difference": "difference", "insert": "stuff", "lcase": "lower", "left": "left", "length": "len", "locate": "charindex",
	"ltrim": "ltrim", "octet_length": "datalength", "position": "charindex", "repeat": "replicate", "replace": "replace",
	"right": "right", "rtrim": "rtrim", "soundex": "soundex", "space": "space", "substring": "substring", "ucase": "upper",
	// Numeric functions
	"abs": "abs", "acos": "acos", "asin": "asin", "atan": "atan", "atan2": "atn2", "ceiling": "ceiling", "cos": "cos", "cot": "cot",
	"degrees": "degrees", "exp": "exp", "floor": "floor", "log": "log", "log10": "log10", "mod": "floor", "pi": "pi", "power": "power",
	"radians": "radians", "rand": "rand", "round": "round", "sign": "sign", "sin": "sin", "sqrt": "sqrt", "tan": "tan", "truncate": "round",
	// Time and date functions
	"current_date": "getdate", "curdate": "getdate", "current_time": "getdate", "curtime": "getdate", "current_timestamp": "getdate",
	"dayname": "datename", "dayofmonth": "day", "dayofweek": "datepart", "dayofyear": "datepart", "extract": "datepart",
	"hour": "datepart", "minute": "datepart", "month": "month", "monthname": "datename", "now": "getdate", "quarter": "datepart",
	"second": "datepart", "timestampadd": "dateadd", "timestampdiff": "datediff", "week": "datepart", "year": "year",
	// System and conversion functions
	"database": "db_name", "ifnull": "isnull", "user": "user_name", "convert": "convert",
}

// bareInODBC are the functions that need no brackets.
var bareInODBC = map[string]bool{"current_date": true, "current_time": true, "current_timestamp": true}
