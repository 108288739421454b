package source

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Exact returns the text without values for parameters, which is what a program
// sends.
func (t *Text) Exact() *Filled { return &Filled{SQL: t.SQL(), text: t} }

// Plain returns the text that the template produces, as far as it can be known
// without dbt: ref, source and this are names of relations, dbt.type_string() and
// the like are types, config and comments produce nothing, and a variable in a
// string of SQL is a part of that string. name is the name of the file's own
// relation, and quote quotes a name for SQL. unproved are the spans of all other
// Jinja, which can produce any SQL.
func (t *Template) Plain(d sqlguard.Dialect, name string, quote func(string) string) (text *Text, unproved []sqlguard.Span) {
	text = &Text{Span: t.Span}
	inserted := map[int]int{} // what may be in a string: offsets in the text, and numbers in unproved
	for _, n := range t.nodes {
		switch {
		case n.kind == jinjaText:
			text.add(n.text)
		case n.kind == jinjaSilent && (n.tag == "#" || n.tag == "set" && harmless(n.tokens)):
		case n.kind == jinjaBlock && definitions[n.tag]:
		case n.kind == jinjaOutput && n.tag == "":
			if value, ok := known(d, n.tokens, name, quote); ok {
				text.escaped(value, n.span)
				continue
			}
			if len(n.tokens) == 0 || n.tokens[0].text != "config" || !isCall(n.tokens) {
				if harmless(n.tokens) {
					inserted[len(text.sql)] = len(unproved)
				}
				text.escaped("x", n.span) // a placeholder, so that the rest can be parsed
			}
			unproved = append(unproved, n.span)
		case n.kind == jinjaBlock:
			unproved = append(unproved, n.open)
		default:
			unproved = append(unproved, n.span)
		}
	}
	if len(inserted) == 0 {
		return text, unproved
	}
	proved := map[int]bool{}
	for _, token := range d.Lex(text.SQL()).List {
		for at, number := range inserted {
			if token.Kind == sqlguard.TokenString && token.Start < at && at+1 < token.End {
				proved[number] = true
			}
		}
	}
	var rest []sqlguard.Span
	for number, span := range unproved {
		if !proved[number] {
			rest = append(rest, span)
		}
	}
	return text, rest
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

// known returns the text that an expression produces, if it is certain.
func known(d sqlguard.Dialect, tokens []jinjaToken, name string, quote func(string) string) (string, bool) {
	if len(tokens) == 1 {
		switch t := tokens[0]; {
		case t.text == "this":
			return relation(quote, name)
		case t.kind == '0':
			return t.text, true
		case t.kind == 's' && !strings.Contains(t.text, `\`):
			return t.text[1 : len(t.text)-1], true
		}
		return "", false
	}
	if len(tokens) == 5 && tokens[0].text == "dbt" && tokens[1].text == "." && tokens[3].text == "(" && tokens[4].text == ")" {
		of := tokens[2].text
		sql := cmp.Or(dbtTypes[d.Name()][of], dbtTypes[""][of])
		return sql, sql != ""
	}
	arguments, ok := callOf(tokens)
	if !ok {
		return "", false
	}
	switch tokens[0].text {
	case "config":
		return "", harmless(arguments)
	case "source":
		if names, ok := literals(arguments); ok && len(names) == 2 {
			return relation(quote, names...)
		}
	case "ref":
		version := ""
		for i, t := range arguments { // ref('x', v=2) is named x_v2
			if (t.text == "v" || t.text == "version") && i > 0 && arguments[i-1].text == "," && len(arguments) == i+3 && arguments[i+1].text == "=" && arguments[i+2].kind == '0' {
				version, arguments = "_v"+arguments[i+2].text, arguments[:i-1]
				break
			}
		}
		if names, ok := literals(arguments); ok && len(names) <= 2 {
			return relation(quote, names[len(names)-1]+version)
		}
	}
	return "", false
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

// literals returns the values of tokens that are strings separated by commas.
func literals(tokens []jinjaToken) (values []string, ok bool) {
	for i, t := range tokens {
		if i%2 == 1 {
			if t.text != "," {
				return nil, false
			}
			continue
		}
		if t.kind != 's' || strings.Contains(t.text, `\`) {
			return nil, false
		}
		values = append(values, t.text[1:len(t.text)-1])
	}
	return values, len(values) > 0
}

var plainName = regexp.MustCompile(`^[\pL_][\pL\pN_$ -]*$`)

// relation returns the name of a relation in SQL.
func relation(quote func(string) string, names ...string) (string, bool) {
	quoted := make([]string, len(names))
	for i, n := range names {
		if !plainName.MatchString(n) {
			return "", false
		}
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, "."), true
}

// harmless reports whether an expression calls only functions that return a
// value of the project, and filters of Jinja.
func harmless(tokens []jinjaToken) bool {
	for i, t := range tokens {
		if i+1 == len(tokens) || tokens[i+1].text != "(" || t.kind == 'o' && t.text != ")" && t.text != "]" {
			continue
		}
		filter := i > 0 && tokens[i-1].text == "|"
		word := t.kind == 'n' && slices.Contains([]string{"in", "not", "and", "or", "if", "else", "is"}, t.text)
		told := slices.Contains([]string{"config", "var", "env_var", "ref", "source", "set", "return"}, t.text) && (i == 0 || tokens[i-1].text != ".")
		if !filter && !word && !told {
			return false
		}
	}
	return true
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

// Hidden returns the spans of Jinja that runs SQL while dbt compiles the
// template. The compiled text does not contain that SQL.
func (t *Template) Hidden() []sqlguard.Span {
	var all []sqlguard.Span
	look := func(tokens []jinjaToken, span sqlguard.Span) {
		for i, token := range tokens {
			if token.kind != 'n' {
				continue
			}
			switch {
			case i+1 < len(tokens) && tokens[i+1].text == "=" && (i+2 == len(tokens) || tokens[i+2].text != "="): // the name of an argument
			case token.text == "adapter" && i+2 < len(tokens) && tokens[i+1].text == "." && harmlessAdapter[tokens[i+2].text]:
			case runs[token.text], token.text == "adapter":
				all = append(all, span)
				return
			}
		}
	}
	each(t.nodes, func(n *jinjaNode) {
		span := n.span
		if n.kind == jinjaBlock {
			span = n.open
		}
		look(n.tokens, span)
		for i := range n.branches {
			look(n.branches[i].tokens, span)
		}
	})
	return all
}

// hookNames are the arguments of config whose SQL dbt runs before or after the
// query.
var hookNames = map[string]bool{"pre_hook": true, "post_hook": true, "pre-hook": true, "post-hook": true, "sql_header": true}

// Hooks returns the statements that config(…) makes dbt run before or after the
// query. unproved are the spans of those that are not plain strings.
func (t *Template) Hooks() (hooks []*Template, unproved []sqlguard.Span) {
	each(t.nodes, func(n *jinjaNode) {
		arguments, ok := callOf(n.tokens)
		if !ok || n.tokens[0].text != "config" {
			return
		}
		for i := 0; i+1 < len(arguments); i++ {
			name, mark := arguments[i], arguments[i+1].text
			if !hookNames[strings.Trim(name.text, `'"`)] || (name.kind != 'n' || mark != "=") && (name.kind != 's' || mark != ":") {
				continue
			}
			end := i + 2
			for end < len(arguments) && arguments[end].text != "," && arguments[end].text != "}" && arguments[end].text != ")" {
				if c := closing(arguments, end); c > end && arguments[end].kind == 'o' {
					end = c
				}
				end++
			}
			found, ok := hooksOf(t.source, arguments[i+2:end])
			if !ok {
				unproved = append(unproved, sqlguard.Span{Start: name.span.Start, End: arguments[min(end, len(arguments))-1].span.End})
			}
			hooks = append(hooks, found...)
			i = end - 1
		}
	})
	return hooks, unproved
}

// hooksOf reads the value of a hook: a string, a list, or a dictionary that
// also says whether the hook runs in the transaction.
func hooksOf(source string, tokens []jinjaToken) (hooks []*Template, ok bool) {
	for i, t := range tokens {
		next := ""
		if i+1 < len(tokens) {
			next = tokens[i+1].text
		}
		switch {
		case t.kind == 's' && next == ":": // "sql" or "transaction"
		case t.kind == 's':
			if strings.Contains(t.text, `\`) || i+1 < len(tokens) && tokens[i+1].kind == 's' {
				return hooks, false
			}
			hook, err := parseTemplate(source, sqlguard.Span{Start: t.span.Start + 1, End: t.span.End - 1})
			if err != nil {
				return hooks, false
			}
			hooks = append(hooks, hook)
		case t.kind == 'n' && slices.Contains([]string{"true", "false", "True", "False", "none", "None"}, t.text):
		case t.kind == 'n' && (t.text == "before_begin" || t.text == "after_commit" || t.text == "in_transaction") && next == "(":
		case t.kind == 'o' && slices.Contains([]string{"(", ")", "[", "]", "{", "}", ",", ":"}, t.text):
		default:
			return hooks, false
		}
	}
	return hooks, true
}
