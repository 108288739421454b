package instead

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// general words a parse error by faults that occur in every dialect.
func (t *Table) general(x *text, f sqlguard.Finding) sqlguard.Finding {
	place := func(i int) { f.Span = sqlguard.Span{Start: x.tokens[i].Start, End: x.tokens[i].End} }
	for i := range x.tokens {
		if at := x.at(i); x.kind(i) != sqlguard.TokenString && x.kind(i) != sqlguard.TokenQuotedName && strings.ContainsAny(at, "‘’“”„´") {
			place(i)
			f.Message, f.Hint = "a typographic quotation mark is no quote of SQL", "write ' around strings, and "+t.Quote("name")+" around names"
			return f
		}
		if x.kind(i) == sqlguard.TokenString && x.at(i)[len(x.at(i))-1] == '\'' && x.kind(i+1) == sqlguard.TokenWord && x.tokens[i+1].Start == x.tokens[i].End {
			place(i)
			f.Message, f.Hint = "this string ends at its second quote, and a word follows without a space", "double a quote that stands inside a string, as in 'it''s'"
			return f
		}
		if x.kind(i) == sqlguard.TokenUnterminated {
			place(i)
			if x.at(i)[0] == '\'' {
				f.Message, f.Hint = "a string that starts here never ends", "end it with ', and double a quote inside, as in 'it''s'"
			}
			return f
		}
		if x.kind(i) == sqlguard.TokenComma && clause[x.at(i+1)] {
			place(i)
			f.Message = "a comma before " + strings.ToUpper(x.at(i+1))
			f.Hint = "remove the comma, or add the expression that is missing after it"
			return f
		}
	}
	if i, opens := x.unbalanced(); i >= 0 {
		place(i)
		if opens {
			f.Message, f.Hint = "a bracket that opens here is never closed", "add the bracket that closes it"
		} else {
			f.Message, f.Hint = "a bracket closes here that never opened", "remove it, or add the bracket that opens it"
		}
		return f
	}
	if i := x.reserved(f.Span.Start); i >= 0 {
		place(i)
		name := x.tokens[i].Text(x.sql)
		f.Message, f.Hint = strings.ToUpper(name)+" is a reserved word", "as a name of a table or column write "+t.Quote(name)
	}
	return f
}

// clause has the words that begin a clause after a list.
var clause = map[string]bool{"from": true, "where": true, "group": true, "having": true, "order": true, "limit": true, "union": true, ")": true}

// unbalanced returns a bracket without its other half, and whether it is one that opens.
// It returns -1 when there is none.
func (x *text) unbalanced() (i int, opens bool) {
	var open []int
	for i, t := range x.tokens {
		switch t.Kind { //nolint:exhaustive // others are no brackets
		case sqlguard.TokenOpen:
			open = append(open, i)
		case sqlguard.TokenClose:
			if len(open) == 0 {
				return i, false
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return open[len(open)-1], true
	}
	return -1, false
}

// nameLike are reserved words that people use as names, with the words after which they
// are no name.
var nameLike = map[string]string{
	"order": "by", "group": "by", "user": "", "table": "", "column": "", "default": "", "check": "", "references": "", "primary": "key",
	"index": "", "key": "", "desc": "", "end": "", "window": "", "condition": "", "rank": "", "system": "", "usage": "", "range": "",
	"transaction": "", "read": "", "option": "", "procedure": "", "interval": "", "file": "", "plan": "", "percent": "", "public": "",
}

// reserved returns the index of a reserved word that stands where a name should, at an
// offset or just before it, or -1.
func (x *text) reserved(offset int) int {
	at := x.index(offset)
	for _, i := range []int{at, at - 1} {
		after, ok := nameLike[x.at(i)]
		if !ok || x.kind(i) != sqlguard.TokenWord || after != "" && x.at(i+1) == after {
			continue
		}
		switch x.at(i - 1) {
		case "select", "from", "join", ",", ".", "by", "where", "and", "or", "on", "(", "distinct":
			return i
		}
	}
	return -1
}
