package source

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// placeholder is a part of a text that a driver, a library or a tool replaces
// before the server sees it.
type placeholder struct {
	end    int // in the text
	stands stands
	value  string // what is sent, if that is known
}

// stands says what a placeholder stands for.
type stands uint8

const (
	nothing  stands = iota // it is no placeholder
	forValue               // a value, which is sent beside the statement or quoted
	forSQL                 // any SQL
	forText                // the text in value
)

// placeholders finds the placeholders of a text.
type placeholders struct {
	text    string
	tokens  []sqlguard.Token
	dialect string
	// percent says that %s and %(name)s stand for values, as in the drivers of
	// Python.
	percent bool
	escapes int // escapes of JDBC that are open
}

// at returns the placeholder that begins with token i: a parameter of the
// dialect, or what drivers and tools replace.
func (p *placeholders) at(i int) placeholder {
	token := p.tokens[i]
	text := token.Text(p.text)
	if text[0] == ':' && token.Start > 0 && p.text[token.Start-1] == ':' { // of a cast, which not every dialect has
		return placeholder{}
	}
	if n := len(spread().FindString(p.text[token.Start:])); n > 0 && text[0] == ':' {
		return placeholder{token.Start + n, forValue, ""}
	}
	switch token.Kind { //nolint:exhaustive // no other begins one
	case sqlguard.TokenParameter:
		switch {
		case text[0] == '{': // {name:Type} of ClickHouse
			return p.substitution(i)
		case text[0] == ':':
			return p.colon(i)
		case text == "?" && p.joined(i, "?"):
			return placeholder{token.Start + 2, forSQL, ""}
		case text[0] == '@' && (p.is(i+1, ":=") || p.is(i+1, ":", "=")): // it is assigned
			return placeholder{}
		case text[0] == '@':
			return p.variable(i, token.End)
		}
		return placeholder{token.End, forValue, ""}
	case sqlguard.TokenWord:
		return p.sqlc(i)
	case sqlguard.TokenOpen, sqlguard.TokenClose:
		return p.escape(i)
	case sqlguard.TokenOperator, sqlguard.TokenInvalid:
		switch {
		case text == "{" || text == "}":
			return p.escape(i)
		case text[0] == '@' && p.dialect == "postgres" && extensionName().MatchString(p.text[token.Start:]):
			return placeholder{token.Start + len(extensionName().FindString(p.text[token.Start:])), forText, "extension"}
		case text == ":" && p.quotes(i+1) && p.tokens[i+1].Kind == sqlguard.TokenString:
			return placeholder{p.tokens[i+1].End, forText, "'x'"} // psql quotes it
		case p.dialect == "postgres" && withValues(text) != "":
			end := token.End
			if strings.HasSuffix(text, "?") && p.joined(i, "1") { // =?1 of JPA
				end = p.tokens[i+1].End
			}
			return placeholder{end, forText, withValues(text)}
		case p.dialect == "postgres" && strings.HasSuffix(text, "@") && text != "<@" && joins(text[:len(text)-1]) && p.named(i+1):
			return placeholder{p.tokens[i+1].End, forText, strings.TrimSuffix(text, "@") + " 1"}
		case p.dialect == "postgres" && escaped[text] != "" && operandEnds(p.text, p.tokens, i-1):
			return placeholder{token.End, forText, escaped[text]}
		case text == ":" && p.quotes(i+1) && i > 0 && p.is(i-1, "column"): // COMMENT ON COLUMN :"schema".t.a
			return p.colon(i)
		case p.dialect == "postgres" && text == ":" && p.named(i+1) && i > 0 && beforeName[strings.ToLower(p.tokens[i-1].Text(p.text))]:
			return p.colon(i)
		case operandEnds(p.text, p.tokens, i-1) && !behindValues(p.text, p.tokens, i) && !p.introduced(i): // an operator
		case text == "??" || text == "?" && p.joined(i, "?"): // a name, for Knex and the drivers for MySQL
			return placeholder{token.Start + 2, forSQL, ""}
		case text == "?":
			return placeholder{token.End, forValue, ""}
		case text == "@" && p.named(i+1) && !p.is(i+2, ":=") && !p.is(i+2, ":", "="):
			return p.variable(i+1, p.tokens[i+1].End)
		case text == ":" && (p.named(i+1) || p.quotes(i+1)):
			return p.colon(i)
		case text == ":" && p.joined(i, "1") && (i == 0 || !p.is(i-1, "[")): // a[:1] is a part of an array
			return placeholder{p.tokens[i+1].End, forValue, ""}
		case text == "%" && p.percent:
			return p.pyformat(i)
		case text == "$" && (p.joined(i, "1") || p.dialect == "postgres" && p.named(i+1)): // $name of Sequelize
			return placeholder{p.tokens[i+1].End, forValue, ""}
		}
	}
	return placeholder{}
}

// introduced reports whether a character set of MySQL stands before token i, such as
// _utf8mb4.
func (p *placeholders) introduced(i int) bool {
	return p.dialect == "mysql" && i > 0 && p.tokens[i-1].Kind == sqlguard.TokenWord && characterSet().MatchString(p.tokens[i-1].Text(p.text))
}

// spread is a list of values of TypeORM.
var spread = lazily(`^:\.\.\.[\pL_][\w.]*`)

// extensionName are the names that CREATE EXTENSION puts into a script of PostgreSQL.
var extensionName = lazily(`^@(?:extschema(?::[A-Za-z_][\w$]*)?|extowner)@`)

// beforeName are words behind which psql's :name stands for a name. Elsewhere they are
// names themselves, but no : follows one.
var beforeName = map[string]bool{
	"exists": true, "schema": true, "function": true, "procedure": true, "sequence": true, "view": true, "type": true, "index": true,
	"concurrently": true, "trigger": true, "domain": true, "only": true, "role": true, "database": true, "extension": true,
}

// variable returns the parameter @name that ends with token i. Where a dot follows,
// it is part of a name, as SqlRender fills it in, unless the dialect has fields
// or methods of values. So are several without a space, such as @schema@prefix_rows.
func (p *placeholders) variable(i, end int) placeholder {
	if name := p.tokens[i].Text(p.text); p.dialect == "sqlserver" && strings.LastIndexByte(name, '@') > 1 {
		return placeholder{end, forSQL, ""}
	}
	if strings.HasPrefix(p.text[end:], ".") && p.dialect != "bigquery" && p.dialect != "duckdb" {
		if p.dialect == "sqlserver" && i+3 < len(p.tokens) && p.is(i+3, "(") { // @xml.value(…)
			return placeholder{}
		}
		return placeholder{end, forSQL, ""}
	}
	if p.dialect == "bigquery" { // a field of it is a value too
		for i+2 < len(p.tokens) && p.is(i+1, ".") && p.tokens[i+1].Start == end && p.tokens[i+2].Kind == sqlguard.TokenWord {
			i += 2
			end = p.tokens[i].End
		}
	}
	return placeholder{end, forValue, ""}
}

// joined reports whether the token behind i touches it and begins with the
// given text, or with a digit if that is one.
func (p *placeholders) joined(i int, with string) bool {
	if i+1 >= len(p.tokens) || p.tokens[i+1].Start != p.tokens[i].End {
		return false
	}
	next := p.tokens[i+1].Text(p.text)
	return strings.HasPrefix(next, with) || with == "1" && p.tokens[i+1].Kind == sqlguard.TokenNumber
}

// named reports whether token i is a word that touches the token before it.
func (p *placeholders) named(i int) bool {
	return i < len(p.tokens) && p.tokens[i].Kind == sqlguard.TokenWord && p.tokens[i].Start == p.tokens[i-1].End
}

// is reports whether the tokens from i on have these texts.
func (p *placeholders) is(i int, texts ...string) bool {
	for k, text := range texts {
		if i+k >= len(p.tokens) || !strings.EqualFold(p.tokens[i+k].Text(p.text), text) {
			return false
		}
	}
	return true
}

// hugSQL is a parameter of HugSQL that says what it stands for, such as
// :v*:ids.
var hugSQL = lazily(`^:(?i:(v|value|t|tuple)|(?:i|identifier|sql|snip|snippet))\*?:[\pL_][\w.]*`)

// colon returns the parameter that begins with the colon at i.
func (p *placeholders) colon(i int) placeholder {
	start := p.tokens[i].Start
	if kind := hugSQL().FindStringSubmatch(p.text[start:]); kind != nil {
		return placeholder{start + len(kind[0]), map[bool]stands{true: forValue, false: forSQL}[kind[1] != ""], ""}
	}
	end := p.tokens[i].End
	if p.tokens[i].Kind != sqlguard.TokenParameter {
		i++
		end = p.tokens[i].End
	}
	// psql has a variable as a quoted name, and as it is: there it can be the schema
	// of a name.
	if p.tokens[i].Kind == sqlguard.TokenQuotedName || strings.HasPrefix(p.text[end:], ".") {
		return placeholder{end, forSQL, ""}
	}
	if rest := p.text[end:]; p.dialect == "postgres" && strings.HasPrefix(rest, "!") && (len(rest) == 1 || strings.IndexByte(" \t\r\n),;:", rest[1]) >= 0) {
		end++ // PgTyped: it is never NULL
	}
	return placeholder{end, forValue, ""}
}

// quotes reports whether token i is a string or a quoted name that touches the
// token before it, as in psql's :'name' and :"name".
func (p *placeholders) quotes(i int) bool {
	return p.dialect == "postgres" && i < len(p.tokens) && p.tokens[i].Start == p.tokens[i-1].End &&
		(p.tokens[i].Kind == sqlguard.TokenQuotedName || p.tokens[i].Kind == sqlguard.TokenString && p.text[p.tokens[i].Start] == '\'')
}

// operators are the operators of PostgreSQL that its reader sees as one with ? or @
// when no space stands between.
var operators = map[string]bool{
	"=": true, "<>": true, "!=": true, "<": true, ">": true, "<=": true, ">=": true, "->": true, "->>": true, "#>": true, "#>>": true,
	"||": true, "+": true, "-": true, "*": true, "/": true, "%": true, "@>": true, "<@": true, "&&": true, "@@": true, "~": true, "~*": true, "!~": true, "!~*": true,
}

// joins reports whether text is an operator, or one and a sign.
func joins(text string) bool {
	return operators[text] || operators[strings.TrimSuffix(text, "-")]
}

// withValues returns an operator of PostgreSQL such as ||?|| with values for its
// parameters, or nothing if it is one that exists, or has none.
func withValues(operator string) string {
	switch operator {
	case "?", "?|", "?&", "@?", "?-", "?-|", "?||":
		return ""
	}
	parts := strings.Split(operator, "?")
	for i, part := range parts {
		if part == "" && 0 < i && i < len(parts)-1 || part != "" && !joins(part) { // ?? is no parameter
			return ""
		}
	}
	if len(parts) == 1 {
		return ""
	}
	return strings.ReplaceAll(operator, "?", " 1 ")
}

// escaped are the operators that the drivers of JDBC send for others, so that their ?
// is no parameter.
var escaped = map[string]string{"??": "?", "??|": "?|", "??&": "?&", "@??": "@?"}

// sqlc returns the argument of sqlc at token i: a value, or all columns of a
// table.
func (p *placeholders) sqlc(i int) placeholder {
	if !p.is(i, "sqlc", ".") || i+5 >= len(p.tokens) || !p.is(i+3, "(") || !p.is(i+5, ")") {
		return placeholder{}
	}
	end := p.tokens[i+5].End
	switch strings.ToLower(p.tokens[i+2].Text(p.text)) {
	case "arg", "narg", "slice":
		return placeholder{end, forValue, ""}
	case "embed":
		return placeholder{end, forText, p.tokens[i+4].Text(p.text) + ".*"}
	default:
		return placeholder{}
	}
}

// pyformat returns the parameter %s or %(name)s at token i.
func (p *placeholders) pyformat(i int) placeholder {
	if n, conversion := pyConversion(p.text[p.tokens[i].Start:]); n > 0 && conversion == 's' {
		return placeholder{p.tokens[i].Start + n, forValue, ""}
	}
	return placeholder{}
}

// substitution returns the parameter {name:Type} of ClickHouse at token i. An
// Identifier is the name of a table or a column.
func (p *placeholders) substitution(i int) placeholder {
	depth := 1
	for j := i + 1; j < len(p.tokens); j++ {
		switch p.tokens[j].Text(p.text) {
		case "{", "(", "[":
			depth++
		case ")", "]":
			depth--
		case "}":
			if depth--; depth > 0 {
				continue
			}
			if p.is(i+1, "identifier") {
				return placeholder{p.tokens[j].End, forSQL, ""}
			}
			return placeholder{p.tokens[j].End, forValue, ""}
		}
	}
	return placeholder{}
}

// jdbcFunctions are the names that the driver for PostgreSQL gives to the
// functions in JDBC's escapes, where they differ. Some become expressions;
// concat takes their place, because only the arguments matter here.
var jdbcFunctions = map[string]string{
	"ceiling": "ceil", "log": "ln", "log10": "log", "power": "pow", "rand": "random", "truncate": "trunc", "char": "chr", "insert": "overlay",
	"lcase": "lower", "ucase": "upper", "locate": "strpos", "space": "concat", "substring": "substr", "ifnull": "coalesce", "database": "current_database",
	"dayname": "concat", "dayofmonth": "concat", "dayofweek": "concat", "dayofyear": "concat", "hour": "concat", "minute": "concat", "month": "concat",
	"monthname": "concat", "quarter": "concat", "second": "concat", "week": "concat", "year": "concat", "timestampadd": "concat", "timestampdiff": "concat",
	"convert": "concat",
}

// escape returns the begin or the end of an escape of JDBC at token i, such as
// {fn ucase(…)} or {d '2027-01-31'}, which the driver for PostgreSQL replaces.
func (p *placeholders) escape(i int) placeholder {
	token := p.tokens[i]
	if p.dialect != "postgres" {
		return placeholder{}
	}
	if p.is(i, "}") && p.escapes > 0 {
		p.escapes--
		return placeholder{token.End, forText, " "} // so that no comment begins, as in /{oj*
	}
	if !p.is(i, "{") || i+2 >= len(p.tokens) {
		return placeholder{}
	}
	through := func(j int, sends string) placeholder {
		p.escapes++
		return placeholder{p.tokens[j].End, forText, sends}
	}
	word := strings.ToLower(p.tokens[i+1].Text(p.text))
	switch {
	case slices.Contains([]string{"d", "t", "ts"}, word) && p.tokens[i+2].Kind == sqlguard.TokenString, word == "oj":
		return through(i+1, " ")
	case word == "escape" && p.tokens[i+2].Kind == sqlguard.TokenString, word == "limit", word == "call":
		return through(i+1, strings.ToUpper(word))
	case p.is(i+1, "?", "=", "call"):
		return through(i+3, "CALL")
	case word == "fn" && p.tokens[i+2].Kind == sqlguard.TokenWord:
		name := strings.ToLower(p.tokens[i+2].Text(p.text))
		if none := map[string]string{"curdate": "current_date", "curtime": "current_time", "user": "user"}[name]; none != "" && p.is(i+3, "(", ")") {
			return through(i+4, none)
		}
		if sends := jdbcFunctions[name]; sends != "" {
			return through(i+2, sends)
		}
		return through(i+1, " ")
	}
	return placeholder{}
}
