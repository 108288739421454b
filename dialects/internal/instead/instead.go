// Package instead says what to write instead of SQL that a dialect does not have.
//
// A dialect has one [Table]. Its rules are patterns of tokens, such as LIMIT 5, 10,
// each with what is wrong and what the dialect's servers accept for it. A table words
// findings of refused statements. It refuses nothing, and no verdict depends on it.
package instead

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Table is what one dialect knows about the SQL of others.
type Table struct {
	// Product is the name of the server's product.
	Product string
	// Functions are functions of other products, in lower case, with what to write
	// instead of a call.
	Functions map[string]string
	// Refused are functions of the product that are refused, in lower case, with what to
	// write instead of a call.
	Refused map[string]string
	// Relations are relations that are refused, in lower case and without schema, with
	// what to write instead.
	Relations map[string]string
	// Rules are tried in their order.
	Rules []Rule
	// Quote quotes a name.
	Quote func(name string) string
	// Tables is a query that lists tables. Columns is one that lists the columns of the
	// table $1.
	Tables, Columns string
}

// Rule words the findings of statements in which its tokens occur.
type Rule struct {
	// Pattern is a list of tokens with a space between two. ^ is the begin of the
	// statement, or of the INSERT, UPDATE or DELETE after its WITH, @ a name, # a number,
	// ' a string, _ any token, … any number of tokens in the same brackets, <parameter> a
	// parameter, @@ the mark @, and a|b one of two texts, in lower case. Everything else
	// stands for itself.
	Pattern string
	// Codes are the codes of the findings that the rule words, CodeParseError without
	// any.
	Codes []sqlguard.Code
	// Says is what is wrong, and Write is what to write instead. $1 is the text of the
	// first @ or # of the pattern, and $product the name of the product. Without Says the
	// message stays.
	Says, Write string
	// Keep leaves the position of the finding as it is.
	Keep bool
}

// Word returns the finding with the message and the hint of the table, or as it is when
// the table knows nothing about it.
func (t *Table) Word(sql string, tokens []sqlguard.Token, f sqlguard.Finding) sqlguard.Finding {
	return t.WordFor(t.Product, sql, tokens, f)
}

// WordFor is like Word, for a product that reads the same dialect.
func (t *Table) WordFor(product, sql string, tokens []sqlguard.Token, f sqlguard.Finding) sqlguard.Finding {
	x := text{sql: sql, tokens: code(tokens)}
	if f.Code == sqlguard.CodeClientCommand || f.Code == sqlguard.CodeParseError {
		if f, ok := t.command(sql, f); ok {
			return f
		}
	}
	for i := range t.Rules {
		r := &t.Rules[i]
		if !r.words(f.Code) {
			continue
		}
		m, ok := x.find(strings.Fields(r.Pattern))
		if !ok {
			continue
		}
		f.Hint = m.fill(r.Write)
		if r.Says != "" {
			f.Message = strings.ReplaceAll(m.fill(r.Says), "$product", product)
		}
		if !r.Keep {
			f.Span = m.span
		}
		return f
	}
	switch {
	case f.Code == sqlguard.CodeParseError:
		return t.general(&x, f)
	case f.Code == sqlguard.CodeParameterNotAllowed:
		if i := x.index(f.Span.Start); x.kind(i) == sqlguard.TokenParameter && len(x.at(i)) <= maxShown && !strings.Contains(f.Message, "assigns") {
			f.Message, f.Hint = x.tokens[i].Text(sql)+" is a parameter, and nothing is bound to it", "write the value as a literal, such as 42 or 'text'"
		}
		return f
	case x.calls(f):
		return t.function(product, f)
	default:
		if write, ok := t.Relations[lastPart(f.Object)]; ok && relationCodes[f.Code] {
			f.Hint = write
		}
		return f
	}
}

// listing has the commands of psql, mysql and sqlite3 that list tables, or the columns of
// a table that they name.
var listing = map[string]bool{
	`\d`: true, `\d+`: true, `\dt`: true, `\dt+`: true, `\dv`: true, `\ds`: true, `\di`: true, `\dn`: true, `\l`: true, `\z`: true,
	".tables": true, ".schema": true, ".fullschema": true, ".databases": true, ".indexes": true,
}

// command words a finding on a command of a command line client.
func (t *Table) command(sql string, f sqlguard.Finding) (sqlguard.Finding, bool) {
	fields := strings.Fields(strings.TrimRight(strings.TrimSpace(sql), ";"))
	if len(fields) == 0 || fields[0][0] != '\\' && fields[0][0] != '.' || len(fields[0]) > 20 {
		return f, false
	}
	f.Message = fields[0] + " is a command of a command line client, not SQL"
	switch {
	case strings.EqualFold(fields[0], `\copy`):
		f.Message = `\copy is a command of psql that copies between the server and a file of the client; it is not SQL`
		f.Hint = copied(fields[1:])
	case !listing[strings.ToLower(fields[0])]:
		f.Hint = ""
	case len(fields) == 2 && strings.Trim(strings.ToLower(fields[1]), "abcdefghijklmnopqrstuvwxyz_0123456789") == "":
		f.Hint = "write " + strings.ReplaceAll(t.Columns, "$1", fields[1])
	default:
		f.Hint = "write " + t.Tables
	}
	return f, true
}

// copied says what to write instead of a \copy with these words.
func copied(words []string) string {
	const returned = ": the rows are returned to you"
	if len(words) > 0 && strings.HasPrefix(words[0], "(") {
		return "write the query between the brackets, without \\copy" + returned
	}
	for i, word := range words {
		switch strings.ToLower(word) {
		case "from":
			return "leave it out: this connection only reads, and a person loads the file"
		case "to":
			if i == 1 && plainName(words[0]) {
				return "write SELECT * FROM " + words[0] + returned
			}
		}
	}
	return "write a SELECT of the columns that you need" + returned
}

// plainName reports whether a name has no quotes, brackets or other marks.
func plainName(name string) bool {
	return strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz_.0123456789") == "" && len(name) <= maxShown
}

var relationCodes = map[sqlguard.Code]bool{
	sqlguard.CodeRelationNotAllowed: true, sqlguard.CodeCredentialRelation: true, sqlguard.CodeExternalRelation: true,
	sqlguard.CodeSettingNotAllowed: true, sqlguard.CodeColumnNotAllowed: true,
}

func (r *Rule) words(c sqlguard.Code) bool {
	if len(r.Codes) == 0 {
		return c == sqlguard.CodeParseError
	}
	return slices.Contains(r.Codes, c)
}

// function words a finding on a call.
func (t *Table) function(product string, f sqlguard.Finding) sqlguard.Finding {
	name := lastPart(f.Object)
	if write, ok := t.Functions[name]; ok && (f.Code == sqlguard.CodeFunctionNotAllowed || f.Code == sqlguard.CodeUnresolvedObject) {
		if f.Object == lastWritten(f.Object) {
			f.Message = product + " has no function " + f.Object
		}
		f.Hint = "write " + write
	} else if write, ok := t.Refused[name]; ok {
		f.Hint = write
	}
	return f
}

func lastWritten(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func lastPart(name string) string { return strings.ToLower(lastWritten(name)) }

// text is a statement as its tokens without comments.
type text struct {
	sql    string
	tokens []sqlguard.Token
}

// code returns the tokens that are not comments.
func code(tokens []sqlguard.Token) []sqlguard.Token {
	return slices.DeleteFunc(slices.Clone(tokens), func(t sqlguard.Token) bool { return t.Kind == sqlguard.TokenComment })
}

// at returns the text of a token in lower case, or "".
func (x *text) at(i int) string {
	if i < 0 || i >= len(x.tokens) {
		return ""
	}
	return strings.ToLower(x.tokens[i].Text(x.sql))
}

func (x *text) kind(i int) sqlguard.TokenKind {
	if i < 0 || i >= len(x.tokens) {
		return sqlguard.TokenTerminator
	}
	return x.tokens[i].Kind
}

// index returns the index of the token at or after an offset.
func (x *text) index(offset int) int {
	i, _ := slices.BinarySearchFunc(x.tokens, offset, func(t sqlguard.Token, at int) int { return t.End - at - 1 })
	return i
}

// calls reports whether a finding is about a name before a bracket, or about the name of
// a function without brackets.
func (x *text) calls(f sqlguard.Finding) bool {
	if !strings.HasPrefix(string(f.Code), "function_") && f.Code != sqlguard.CodeUnresolvedObject && f.Code != sqlguard.CodeDynamicSQL {
		return false
	}
	i := x.index(f.Span.Start)
	for x.kind(i+1) == sqlguard.TokenDot {
		i += 2
	}
	return x.kind(i+1) == sqlguard.TokenOpen
}

// match is where a pattern occurs.
type match struct {
	span  sqlguard.Span
	names []string
}

// find returns the first place where a pattern occurs.
func (x *text) find(pattern []string) (match, bool) {
	first := pattern[0] == "^"
	if first {
		pattern = pattern[1:]
	}
	written := x.written()
	for i := range x.tokens {
		if first && i != 0 && i != written {
			continue
		}
		m := match{span: sqlguard.Span{Start: x.tokens[i].Start, End: x.tokens[i].End}}
		if x.match(i, pattern, &m) {
			return m, true
		}
	}
	return match{}, false
}

// written returns the index of the INSERT, UPDATE or DELETE that follows the WITH of the
// statement, or 0.
func (x *text) written() int {
	if x.at(0) != "with" {
		return 0
	}
	depth := 0
	for i := range x.tokens {
		switch x.kind(i) { //nolint:exhaustive // no other matters
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			depth--
		case sqlguard.TokenWord:
			if depth == 0 && x.kind(i-1) == sqlguard.TokenClose && x.is(i, "insert|update|delete|replace") {
				return i
			}
		}
	}
	return 0
}

// maxGap bounds how many tokens a … of a pattern passes over.
const maxGap = 200

// match reports whether a pattern occurs at a token.
func (x *text) match(i int, pattern []string, m *match) bool {
	for n, p := range pattern {
		if p == "…" {
			for skip, depth := 0, 0; skip < maxGap && i+skip < len(x.tokens) && depth >= 0; skip++ {
				after := *m
				if x.match(i+skip, pattern[n+1:], &after) {
					*m = after
					return true
				}
				switch x.kind(i + skip) { //nolint:exhaustive // only brackets nest
				case sqlguard.TokenOpen:
					depth++
				case sqlguard.TokenClose:
					depth-- // below 0 it closes the brackets around the gap
				}
			}
			return false
		}
		if i >= len(x.tokens) || !x.is(i, p) {
			return false
		}
		if p == "@" || p == "#" {
			m.names = append(slices.Clip(m.names), x.shown(i))
		}
		m.span.End = x.tokens[i].End
		i++
	}
	return true
}

// is reports whether a token is what an element of a pattern stands for.
func (x *text) is(i int, p string) bool {
	switch p {
	case "@":
		return x.kind(i) == sqlguard.TokenWord || x.kind(i) == sqlguard.TokenQuotedName || x.kind(i) == sqlguard.TokenQuotedText
	case "#":
		return x.kind(i) == sqlguard.TokenNumber
	case "'":
		return x.kind(i) == sqlguard.TokenString
	case "_":
		return true
	case "<parameter>":
		return x.kind(i) == sqlguard.TokenParameter
	case "@@":
		return x.at(i) == "@"
	}
	at := x.at(i)
	for len(p) > 0 {
		one, rest, more := strings.Cut(p, "|")
		if more && one == "" { // the operator ||
			one, rest = p, ""
		}
		if at == one {
			return true
		}
		p = rest
	}
	return false
}

// maxShown bounds a name that a message shows, in bytes.
const maxShown = 64

// shown returns a name as a message shows it: without quotes and not too long.
func (x *text) shown(i int) string {
	name := strings.Trim(x.tokens[i].Text(x.sql), "\"`[]")
	if len(name) > maxShown || strings.ContainsAny(name, "'\n\\") {
		return "name"
	}
	return name
}

// fill puts the names of a match into a text.
func (m *match) fill(s string) string {
	for i, name := range m.names {
		s = strings.ReplaceAll(s, "$"+strconv.Itoa(i+1), name)
	}
	return s
}
