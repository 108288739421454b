package source

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Exact returns the text without values for parameters, which is what a program
// sends.
func (t *Text) Exact() *Filled { return &Filled{SQL: t.SQL(), text: t} }

// Guess is a text with a word in each hole, which can be anything.
type Guess struct {
	Text *Text
	// Unproved are the spans, in the file, of the holes that can become any SQL.
	Unproved []sqlguard.Span

	at []int // of the words, in the text
}

// guessed stands in holes.
const guessed = "x"

// before are words of SQL behind which something must stand.
var before = map[string]bool{
	"select": true, "distinct": true, "from": true, "where": true, "by": true, "and": true, "or": true, "not": true, "as": true, "on": true, "then": true,
	"else": true, "when": true, "case": true, "in": true, "join": true, "having": true, "between": true, "like": true, "with": true, "over": true, "limit": true, "using": true,
}

// Guesses returns the texts that the template's text can be read as: with a word
// in each hole, and then, if they differ, with nothing in the holes before the
// first word of SQL, with nothing in the holes that have a line of their own, and
// with nothing in those behind a name or a bracket. A value of the project in a
// string of SQL is a part of that string.
func (t *Text) Guesses(d sqlguard.Dialect) []*Guess {
	empty := make([]bool, len(t.Holes))
	all := []*Guess{t.guess(d, empty)}
	if len(t.Holes) == 0 {
		return all
	}
	leading, alone, behind := slices.Clone(empty), slices.Clone(empty), slices.Clone(empty)
	sql := string(t.sql)
	for i, h := range t.Holes {
		left, right := sql[:h.At], sql[h.At:]
		leading[i] = strings.TrimFunc(left, PythonSpace) == ""
		alone[i] = leading[i] || strings.TrimFunc(left[strings.LastIndexByte(left, '\n')+1:], PythonSpace) == "" && strings.TrimFunc(firstLine(right), PythonSpace) == ""
		last := strings.TrimRightFunc(left, PythonSpace)
		word := last
		for k := len(last); k > 0; k-- {
			if !wordByte(last[k-1]) {
				word = last[k:]
				break
			}
		}
		behind[i] = alone[i] || len(last) < len(left) && (strings.HasSuffix(last, ")") || word != "" && !before[strings.ToLower(word)])
	}
	for _, e := range [][]bool{leading, alone, behind} {
		if slices.Contains(e, true) && !slices.Equal(e, empty) {
			all = append(all, t.guess(d, e))
			empty = e
		}
	}
	return all
}

// guess fills the holes, apart from those that are to be empty.
func (t *Text) guess(d sqlguard.Dialect, empty []bool) *Guess {
	g := &Guess{Text: &Text{Span: t.Span}}
	from := 0
	for i, h := range t.Holes {
		g.Text.run(t, from, h.At)
		from = h.At
		if !empty[i] {
			g.at = append(g.at, len(g.Text.sql))
			g.Text.escaped(guessed, h.Span)
		}
	}
	g.Text.run(t, from, len(t.sql))
	var strings []sqlguard.Token
	if slices.ContainsFunc(t.Holes, func(h Hole) bool { return h.Value }) {
		strings = slices.DeleteFunc(slices.Clone(d.Lex(g.Text.SQL()).List), func(token sqlguard.Token) bool { return token.Kind != sqlguard.TokenString })
	}
	next := 0
	for i, h := range t.Holes {
		if empty[i] {
			g.Unproved = append(g.Unproved, h.Span)
			continue
		}
		at := g.at[next]
		next++
		inside := slices.ContainsFunc(strings, func(token sqlguard.Token) bool { return token.Start < at && at+len(guessed) < token.End })
		if !h.Value || !inside {
			g.Unproved = append(g.Unproved, h.Span)
		}
	}
	return g
}

// Touches reports whether a span of the text, or the name of which it is a part,
// has a word in it that stands for a hole.
func (g *Guess) Touches(span sqlguard.Span) bool {
	part := func(c byte) bool { return wordByte(c) || strings.IndexByte("$.\"`[]", c) >= 0 }
	sql := g.Text.sql
	for span.Start > 0 && part(sql[span.Start-1]) {
		span.Start--
	}
	for span.End < len(sql) && part(sql[span.End]) {
		span.End++
	}
	return slices.ContainsFunc(g.at, func(at int) bool { return at < span.End && span.Start < at+len(guessed) })
}

// dbtTypes are the types that macros of dbt stand for, by dialect.
var dbtTypes = map[string]map[string]string{
	"": {
		"type_string": "text", "type_timestamp": "timestamp", "type_float": "float", "type_numeric": "numeric(28, 6)", "type_bigint": "bigint",
		"type_int": "int", "type_boolean": "boolean", "current_timestamp": "current_timestamp",
	},
	"mysql":      {"type_string": "char", "type_timestamp": "datetime", "type_float": "double", "type_numeric": "decimal(28, 6)", "type_bigint": "signed", "type_int": "signed", "type_boolean": "signed"},
	"sqlserver":  {"type_string": "varchar(8000)", "type_timestamp": "datetime2(6)", "type_boolean": "bit"},
	"clickhouse": {"type_string": "String", "type_timestamp": "DateTime", "type_float": "Float32", "type_numeric": "Decimal(28, 6)", "type_bigint": "Int64", "type_int": "Int32", "type_boolean": "Bool"},
}

// callOf returns the arguments of name(…) if the tokens are this call and
// nothing else.
func callOf(tokens []jinjaToken) ([]jinjaToken, bool) {
	if len(tokens) < 3 || tokens[0].kind != 'n' || tokens[1].text != "(" {
		return nil, false
	}
	if close := closing(tokens, 1); close != len(tokens)-1 {
		return nil, false
	}
	return tokens[2 : len(tokens)-1], true
}

// closing returns the index of the bracket that closes the bracket at open, or
// -1.
func closing(tokens []jinjaToken, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		if tokens[i].kind != 'o' {
			continue
		}
		switch tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

var plainName = lazily(`^[\pL_][\pL\pN_$ -]*$`)

// relation returns the name of a relation in SQL.
func relation(quote func(string) string, names ...string) (string, bool) {
	quoted := make([]string, len(names))
	for i, n := range names {
		if !plainName().MatchString(n) {
			return "", false
		}
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, "."), true
}

// runs are names with which Jinja runs SQL while dbt compiles, or passes SQL to
// dbt that is not in the compiled text.
var runs = map[string]bool{"run_query": true, "statement": true, "set_sql_header": true, "context": true, "builtins": true}

// harmlessAdapter are the methods of the adapter that read at most the
// catalogue of the database.
var harmlessAdapter = map[string]bool{
	"dispatch": true, "quote": true, "quote_as_configured": true, "get_relation": true, "load_relation": true, "get_columns_in_relation": true,
	"get_missing_columns": true, "check_schema_exists": true, "type": true, "quote_seed_column": true,
}

// runsSQL reports whether an expression names something that runs SQL while dbt
// compiles.
func runsSQL(tokens []jinjaToken) bool {
	for i, token := range tokens {
		if token.kind != 'n' {
			continue
		}
		switch {
		case i+1 < len(tokens) && tokens[i+1].text == "=" && (i+2 == len(tokens) || tokens[i+2].text != "="): // the name of an argument
		case token.text == "adapter" && i+2 < len(tokens) && tokens[i+1].text == "." && harmlessAdapter[tokens[i+2].text]:
		case runs[token.text], token.text == "adapter":
			return true
		}
	}
	return false
}

// Hidden returns the spans of Jinja that runs SQL while dbt compiles the
// template. The compiled text does not contain that SQL.
func (t *Template) Hidden() []sqlguard.Span {
	var all []sqlguard.Span
	each(t.nodes, func(n *jinjaNode) {
		span := n.span
		if n.kind == jinjaBlock {
			span = n.open
		}
		if runsSQL(n.tokens) || slices.ContainsFunc(n.branches, func(b jinjaBranch) bool { return runsSQL(b.tokens) }) {
			all = append(all, span)
		}
	})
	return all
}

// hookNames are the arguments of config whose SQL dbt runs before or after the
// query.
var hookNames = map[string]bool{"pre_hook": true, "post_hook": true, "pre-hook": true, "post-hook": true, "sql_header": true}
