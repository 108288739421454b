package source

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Filled is a text with a value in each hole and for each parameter.
type Filled struct {
	SQL string
	// Unproved are the spans, in the file, of the holes where SQL does not
	// expect a value.
	Unproved []sqlguard.Span
	// Names says that a name stands for each parameter ?.
	Names bool

	text  *Text
	fills []fill
}

// fill is a part of the text that is replaced in SQL.
type fill struct {
	at, removed int // in the text
	value       string
	file        sqlguard.Span // of a hole; zero for a parameter
	guessed     bool          // anything can stand there
}

// Place maps a span of SQL to the file.
func (f *Filled) Place(span sqlguard.Span) sqlguard.Span {
	start := f.offset(span.Start, false)
	return sqlguard.Span{Start: start, End: max(start, f.offset(span.End, true))}
}

// Guesses reports whether a span of SQL has something in it that stands for a
// hole of which anything can become.
func (f *Filled) Guesses(span sqlguard.Span) bool {
	shift := 0
	for _, v := range f.fills {
		from := v.at + shift
		if v.guessed && from < span.End && span.Start < from+len(v.value) {
			return true
		}
		shift += len(v.value) - v.removed
	}
	return false
}

func (f *Filled) offset(at int, end bool) int {
	shift := 0 // of offsets in SQL to those in the text
	for _, v := range f.fills {
		from := v.at + shift // in SQL
		switch {
		case at < from || at == from && end:
			return f.text.place(at-shift, end)
		case at < from+len(v.value) || at == from+len(v.value) && end:
			switch {
			case v.file == sqlguard.Span{}: // a parameter
				if end {
					return f.text.place(v.at+v.removed, true)
				}
				return f.text.place(v.at, false)
			case end:
				return v.file.End
			default:
				return v.file.Start
			}
		}
		shift += len(v.value) - v.removed
	}
	return f.text.place(at-shift, end)
}

// mark takes the place of a hole while the tokens around it are read. It is a
// word of private use characters, which no text has.
const mark = "\uE000\uE001"

// Parameters returns a text of a file of SQL with a value for each parameter and
// for each template such as {{ .Schema }} or ${schema}. The text begins at an offset in the
// file. It returns nil if there is none of both. With tables, a name stands for
// :name where a table can, and a query for (@name): psql and SqlRender put them into the text.
func Parameters(d sqlguard.Dialect, sql string, at int, tables bool) *Filled {
	t := &Text{percent: true, tables: tables}
	from := 0
	for _, span := range templates(d, sql) {
		t.verbatim(sql[from:span.Start], at+from)
		t.hole(sqlguard.Span{Start: at + span.Start, End: at + span.End}, false)
		t.Holes[len(t.Holes)-1].nothing = strings.HasPrefix(sql[span.Start:], "{%")
		from = span.End
	}
	t.verbatim(sql[from:], at+from)
	if f := t.Fill(d); len(f.fills) > 0 {
		return f
	}
	return nil
}

var (
	anyTemplate = lazily(`(?s)\{\{.*?\}\}|\{%.*?%\}|\$?\{[A-Za-z_]\w*\}`)
	// sqlServerTemplate also has variables of sqlcmd, and the parameters of templates
	// in Management Studio: <name, type, value>.
	sqlServerTemplate = lazily(`(?s)\{\{.*?\}\}|\{%.*?%\}|\$?\{[A-Za-z_]\w*\}|\$\(\w+\)|<[\pL@][\w@ ]*,[^<>,;\n]*,[^<>;\n]*>`)
)

// IsTemplate reports whether a text for a dialect begins with a template: {{ … }},
// {% … %}, ${name}, {name}, @name before a dot, for SQL Server also $(name) and <name, type, value>.
func IsTemplate(d sqlguard.Dialect, text string) bool {
	if strings.HasPrefix(text, "@") {
		return true
	}
	at := templatePattern(d).FindStringIndex(text)
	return at != nil && at[0] == 0
}

func templatePattern(d sqlguard.Dialect) *regexp.Regexp {
	if d.Name() == "sqlserver" {
		return sqlServerTemplate()
	}
	return anyTemplate()
}

// mayHaveTemplates reports whether a text has what begins a template.
func mayHaveTemplates(d sqlguard.Dialect, sql string) bool {
	return strings.Contains(sql, "{") ||
		d.Name() == "sqlserver" && (strings.Contains(sql, "$(") || strings.Contains(sql, "<"))
}

// templates returns the spans of templates outside of strings and comments.
func templates(d sqlguard.Dialect, sql string) (spans []sqlguard.Span) {
	if !mayHaveTemplates(d, sql) {
		return nil
	}
	found := templatePattern(d).FindAllStringIndex(sql, -1)
	if found == nil {
		return nil
	}
	tokens, i := d.Lex(sql).List, 0
	for _, at := range found {
		for i < len(tokens) && tokens[i].End <= at[0] {
			i++
		}
		if i == len(tokens) {
			break
		}
		switch token := tokens[i]; {
		case token.Start > at[0], token.Kind == sqlguard.TokenString, token.Kind == sqlguard.TokenQuotedText, token.Kind == sqlguard.TokenComment:
		case token.Start == at[0], token.Kind == sqlguard.TokenQuotedName, token.Kind == sqlguard.TokenWord: // a$ is a word of PostgreSQL
			spans = append(spans, sqlguard.Span{Start: at[0], End: at[1]})
		}
	}
	return spans
}

// HasTemplateInName reports whether a quoted name of a text has a template in it. To
// a reader it is a name.
func HasTemplateInName(d sqlguard.Dialect, sql string) bool {
	if !mayHaveTemplates(d, sql) || !templatePattern(d).MatchString(sql) {
		return false
	}
	for _, token := range d.Lex(sql).List {
		if token.Kind == sqlguard.TokenQuotedName && templatePattern(d).MatchString(token.Text(sql)) {
			return true
		}
	}
	return false
}

// FillNames is like Fill, but what stands for ? is a name of which nothing is
// known. Some libraries fill in names so.
func (t *Text) FillNames(d sqlguard.Dialect) *Filled { return t.fill(d, true) }

// Fill puts values into the holes of the text and replaces its parameters, as
// the dialect splits it into tokens.
func (t *Text) Fill(d sqlguard.Dialect) *Filled { return t.fill(d, false) }

func (t *Text) fill(d sqlguard.Dialect, names bool) *Filled {
	f := &Filled{text: t, Names: names}
	var marked strings.Builder
	from := 0
	for _, h := range t.Holes {
		marked.Write(t.sql[from:h.At])
		marked.WriteString(mark)
		from = h.At
	}
	marked.Write(t.sql[from:])
	text := marked.String()
	tokens := d.Lex(text).List
	open := []int{} // the tokens of the brackets around
	next := 0       // hole
	seen := 0       // bytes of marks before here
	found := placeholders{text: text, tokens: tokens, dialect: d.Name(), percent: t.percent}
	replaced := 0 // the end of the last placeholder
	for i, token := range tokens {
		// The holes before the end of this token.
		for ; next < len(t.Holes) && t.Holes[next].At+seen < token.End; next++ {
			h := t.Holes[next]
			at := h.At + seen
			seen += len(mark)
			if numbered(text, at) {
				f.fills = append(f.fills, fill{at: h.At - 1, removed: 1, value: "1", file: cmp.Or(h.Span, sqlguard.Span{End: 1})})
				continue
			}
			value, ok := holeValue(text, tokens, i, at, open, h)
			if h.nothing {
				value, ok = "", false
			}
			if !ok {
				f.Unproved = append(f.Unproved, h.Span)
			}
			if ok && value == "1" && stringAt(&found, i) {
				value = "'1'"
			}
			f.fills = append(f.fills, fill{at: h.At, value: value, file: cmp.Or(h.Span, sqlguard.Span{End: 1}), guessed: !ok})
		}
		if token.Start >= replaced {
			p := found.at(i)
			if names && token.Text(text) == "?" {
				p = placeholder{token.End, forSQL, ""}
			}
			if p.stands != nothing && !strings.Contains(text[token.Start:p.end], mark) {
				replaced = p.end
				if p.stands == forValue && token.Text(text)[0] != '$' && stringAt(&found, i) { // the server refuses $1 there
					p = placeholder{p.end, forText, "'1'"}
				}
				f.replace(p, text, tokens, i, open, seen)
			}
		}
		switch token.Kind { //nolint:exhaustive // the others change nothing
		case sqlguard.TokenOpen:
			open = append(open, i)
		case sqlguard.TokenClose:
			open = open[:max(len(open)-1, 0)]
		}
	}
	for ; next < len(t.Holes); next++ { // in white space at the end
		f.Unproved = append(f.Unproved, t.Holes[next].Span)
	}
	slices.SortStableFunc(f.fills, func(a, b fill) int { return a.at - b.at })
	var out strings.Builder
	from = 0
	for _, v := range f.fills {
		out.Write(t.sql[from:v.at])
		out.WriteString(v.value)
		from = v.at + v.removed
	}
	out.Write(t.sql[from:])
	f.SQL = out.String()
	return f
}

// stringAt reports whether token i stands where the dialect takes nothing but a string:
// behind INTERVAL, or behind the character set of one, such as _utf8mb4. Drivers that fill
// in values themselves write one.
func stringAt(p *placeholders, i int) bool {
	return p.dialect == "postgres" && i > 0 && strings.EqualFold(p.tokens[i-1].Text(p.text), "interval") || p.introduced(i)
}

// characterSet is what MySQL and MariaDB have before a string in another character set.
var characterSet = lazily(`^(?i:_(?:utf8(?:mb[34])?|latin[1257]|ascii|binary|ucs2|utf16(?:le)?|utf32|cp\d+|gbk|gb2312|gb18030|big5|sjis|ujis|koi8[ru]|greek|hebrew))$`)

// replace fills in the placeholder at token i. A value is one wherever it
// stands: where the grammar has no place for it, the statement does not parse.
func (f *Filled) replace(p placeholder, text string, tokens []sqlguard.Token, i int, open []int, seen int) {
	at := tokens[i].Start
	v := fill{at: at - seen, removed: p.end - at, value: p.value}
	switch p.stands { //nolint:exhaustive // the text is known
	case forValue:
		v.value = "1"
		if value, fits := valueAt(text, tokens, i, open); fits {
			v.value = value
		} else if behindValues(text, tokens, i) { // the driver makes rows of it
			v.value = "(1)"
		} else if f.text.tables && text[at] == ':' && aboutNames(text, tokens, i) {
			f.hole(&v)
		} else if query := tokens[max(i-1, 0)].Kind == sqlguard.TokenOpen; f.text.tables && (text[at] == ':' || query && text[at] == '@') && behindTable(text, tokens, i) {
			f.hole(&v)
			if query {
				v.value = "SELECT 1 AS x"
			}
		}
	case forSQL:
		f.hole(&v)
	}
	f.fills = append(f.fills, v)
}

// hole makes the fill of a placeholder one of which anything can become.
func (f *Filled) hole(v *fill) {
	v.value, v.guessed = "x", true
	f.Unproved = append(f.Unproved, sqlguard.Span{Start: f.text.place(v.at, false), End: f.text.place(v.at+v.removed, true)})
}

// aboutNames reports whether the statement of token i is one of names, such as GRANT, in
// which psql's :name stands for one.
func aboutNames(text string, tokens []sqlguard.Token, i int) bool {
	first := i
	for i--; i >= 0 && tokens[i].Kind != sqlguard.TokenTerminator; i-- {
		if tokens[i].Kind == sqlguard.TokenWord {
			first = i
		}
	}
	switch strings.ToLower(tokens[first].Text(text)) {
	case "grant", "revoke", "create", "alter", "drop", "reassign", "comment":
		return true
	default:
		return false
	}
}

// behindTable reports whether token i stands where the name of a table can, or alone in
// the parentheses of a query.
func behindTable(text string, tokens []sqlguard.Token, i int) bool {
	if i > 1 && i+1 < len(tokens) && tokens[i-1].Text(text) == "(" && tokens[i+1].Text(text) == ")" {
		i--
	}
	if i == 0 || tokens[i-1].Kind != sqlguard.TokenWord {
		return false
	}
	switch strings.ToLower(tokens[i-1].Text(text)) {
	case "from", "join", "into", "table", "update":
		return true
	default:
		return false
	}
}

// holeValue returns a value for a hole that begins at an offset in a token. ok
// is false if no value can stand there.
func holeValue(text string, tokens []sqlguard.Token, i, at int, open []int, h Hole) (value string, ok bool) {
	token := tokens[i]
	switch token.Kind { //nolint:exhaustive // in all others a hole is a name or nothing
	case sqlguard.TokenString:
		return "x", true
	case sqlguard.TokenComment: // a number cannot end it
		return "x", h.Number || h.Bound
	case sqlguard.TokenQuotedText: // a name or a literal
		return "x", false
	case sqlguard.TokenWord, sqlguard.TokenInvalid:
		if token.Start == at && (token.End == at+len(mark) || token.Kind == sqlguard.TokenInvalid && alone(text, at)) {
			if v, fits := valueAt(text, tokens, i, open); fits {
				return v, true
			}
			if behindValues(text, tokens, i) {
				return "(1)", h.Bound
			}
			if h.Bound || h.Number && numberAt(text, tokens, i) || h.Value && operandOf(text, tokens, i, at+len(mark), open) {
				return "1", true
			}
		}
		return "x", false
	default:
		return "x", false
	}
}

// behindValues reports whether token i stands where VALUES has its first row.
func behindValues(text string, tokens []sqlguard.Token, i int) bool {
	for i--; i >= 0 && tokens[i].Kind == sqlguard.TokenComment; i-- {
	}
	return i >= 0 && tokens[i].Kind == sqlguard.TokenWord && strings.EqualFold(tokens[i].Text(text), "values")
}

// numbered reports whether the hole at an offset is the number of a parameter of
// PostgreSQL, such as $%d.
func numbered(text string, at int) bool {
	end := at + len(mark)
	return at > 0 && text[at-1] == '$' && (at == 1 || !nameByte(text[at-2])) && (end == len(text) || !nameByte(text[end]))
}

func nameByte(c byte) bool { return wordByte(c) || c == '$' }

// alone reports whether no part of a name touches the mark at an offset.
func alone(text string, at int) bool {
	named := func(s string) bool { return s != "" && (s[0] == '.' || nameByte(s[0])) }
	return !named(text[at+len(mark):]) && (at == 0 || !named(text[at-1:at]))
}

// beforeOperand are words behind which no operator stands, and whether an
// operand does.
var beforeOperand = map[string]bool{
	"for": true, "both": true, "leading": true, "trailing": true, "div": true, "xor": true, "binary": true,
	"symmetric": true, "asymmetric": true, "placing": true, "passing": true, "separator": true,
	"select": true, "distinct": true, "case": true, "by": true, "set": true, "returning": true, "using": true, "return": true, "call": true, "similar": true,
	"collate": false, "as": false, "from": false, "join": false, "into": false, "table": false, "update": false,
}

// operandEnds reports whether token i ends an operand, so that what follows is
// an operator.
func operandEnds(text string, tokens []sqlguard.Token, i int) bool {
	for i >= 0 && tokens[i].Kind == sqlguard.TokenComment {
		i--
	}
	if i < 0 {
		return false
	}
	word := strings.ToLower(tokens[i].Text(text))
	_, reserved := beforeOperand[word]
	if tokens[i].Kind == sqlguard.TokenClose {
		if open := openBefore(tokens, i); open > 0 && strings.EqualFold(tokens[open-1].Text(text), "operator") { // OPERATOR(pg_catalog.=)
			return false
		}
	}
	return operandBefore(tokens, i+1) && (tokens[i].Kind != sqlguard.TokenWord || !valueWords[word] && !reserved)
}

// parameterAt reports whether the parameter at token i stands where an operand
// begins. A parameter is a value wherever it stands, so a place that is none for
// a value is an error of the server.
func parameterAt(text string, tokens []sqlguard.Token, i int) bool {
	before := i - 1
	for before >= 0 && tokens[before].Kind == sqlguard.TokenComment {
		before--
	}
	if before < 0 || operandEnds(text, tokens, before) {
		return false
	}
	switch tokens[before].Kind { //nolint:exhaustive // no operand begins behind the others
	case sqlguard.TokenOperator, sqlguard.TokenOpen, sqlguard.TokenComma:
		return true
	case sqlguard.TokenWord:
		word := strings.ToLower(tokens[before].Text(text))
		return valueWords[word] || beforeOperand[word]
	default:
		return false
	}
}

// operandOf reports whether what begins with token i and ends at an offset is an
// operand, as what stands behind it says: an operator, a word that takes an operand to its left, or the next
// value of a row. It must stand where an operand begins.
func operandOf(text string, tokens []sqlguard.Token, i, end int, open []int) bool {
	last := i
	for last+1 < len(tokens) && tokens[last+1].Start < end {
		last++
	}
	if last+1 >= len(tokens) || !parameterAt(text, tokens, i) && (i == 0 || tokens[i-1].Kind != sqlguard.TokenComma) {
		return false
	}
	switch word := strings.ToLower(tokens[last+1].Text(text)); tokens[last+1].Kind { //nolint:exhaustive // no other is an operator
	case sqlguard.TokenOperator:
		if word == "=" && i > 0 && strings.EqualFold(tokens[i-1].Text(text), "set") { // the column that is set
			return false
		}
		return word != "." && word != "*"
	case sqlguard.TokenWord:
		return operandBehind[word]
	case sqlguard.TokenComma:
		return rowAt(text, tokens, open)
	case sqlguard.TokenClose:
		return tokens[i-1].Kind == sqlguard.TokenComma && rowAt(text, tokens, open)
	default:
		return false
	}
}

// operandBehind are words with an operand to their left.
var operandBehind = map[string]bool{
	"is": true, "in": true, "like": true, "ilike": true, "between": true, "similar": true, "regexp": true, "rlike": true, "collate": true, "at": true,
	"when": true, "then": true, "else": true, "end": true, "as": true, "div": true, "mod": true,
}

// rowAt reports whether the innermost open parenthesis begins a row, such as
// (a, b) = (1, 2).
func rowAt(text string, tokens []sqlguard.Token, open []int) bool {
	if len(open) == 0 || tokens[open[len(open)-1]].Text(text) != "(" {
		return false
	}
	i := open[len(open)-1] - 1
	if i < 0 || tokens[i].Kind != sqlguard.TokenWord {
		return i >= 0 && tokens[i].Kind == sqlguard.TokenOperator
	}
	switch strings.ToLower(tokens[i].Text(text)) {
	case "where", "and", "or", "not", "on", "having", "when":
		return true
	default:
		return false
	}
}

// valueWords are words that a value can follow.
var valueWords = map[string]bool{
	"like": true, "ilike": true, "rlike": true, "regexp": true, "glob": true, "match": true, "to": true, "between": true, "and": true,
	"limit": true, "offset": true, "top": true, "first": true, "next": true, "in": true, "when": true, "then": true, "else": true,
	"interval": true, "escape": true, "any": true, "all": true, "some": true, "where": true, "or": true, "not": true,
	"on": true, "having": true, "is": true, "date": true, "timestamp": true, "time": true, "zone": true,
}

// valueAt returns a value for token i, and whether a value can stand there:
// after an operator or a word that takes one, and in parentheses around values.
func valueAt(text string, tokens []sqlguard.Token, i int, open []int) (string, bool) {
	before := i - 1
	for before >= 0 && tokens[before].Kind == sqlguard.TokenComment {
		before--
	}
	if before < 0 {
		return "", false
	}
	if ofSystemTime(text, tokens, before) {
		return "'x'", true
	}
	word := strings.ToLower(tokens[before].Text(text))
	switch tokens[before].Kind { //nolint:exhaustive // behind all others stands no value
	case sqlguard.TokenOperator:
		switch word {
		case "::": // a type
			return "", false
		case "*":
			return "1", operandBefore(tokens, before)
		}
		return "1", true
	case sqlguard.TokenWord:
		switch word {
		case "in", "any", "all", "some":
			return "(1)", true
		case "date", "timestamp", "time", "zone", "separator":
			return "'x'", true
		case "and", "where", "or", "not", "on", "having": // a condition of its own: anything
			return "1", word == "and" && insideBetween(text, tokens, before)
		case "is":
			return "NULL", false
		case "of": // FOR SYSTEM_TIME AS OF
			return "'x'", before > 0 && strings.EqualFold(tokens[before-1].Text(text), "as")
		case "from": // elsewhere the name of a table
			return "'x'", copies(text, tokens, before)
		case "to": // behind other words stands a name, such as that of a role
			if copies(text, tokens, before) {
				return "'x'", true
			}
			return "1", sets(text, tokens, before)
		}
		return "1", valueWords[word]
	case sqlguard.TokenOpen, sqlguard.TokenComma:
		return "1", len(open) > 0 && holdsValues(text, tokens, open[len(open)-1])
	default:
		return "", false
	}
}

// ofSystemTime reports whether a time stands behind token i: FOR SYSTEM_TIME BETWEEN a
// AND b, or FROM a TO b.
func ofSystemTime(text string, tokens []sqlguard.Token, i int) bool {
	back := 0 // to SYSTEM_TIME
	switch strings.ToLower(tokens[i].Text(text)) {
	case "between", "from":
		back = 1
	case "and", "to":
		back = 3
	}
	return back > 0 && i > back && strings.EqualFold(tokens[i-back].Text(text), "system_time") && strings.EqualFold(tokens[i-back-1].Text(text), "for")
}

// copies reports whether the statement of token i is a COPY, which names a file behind
// FROM or TO. It is never allowed.
func copies(text string, tokens []sqlguard.Token, i int) bool {
	first, depth := i, 0
	for j := i - 1; j >= max(0, i-1024) && tokens[j].Kind != sqlguard.TokenTerminator; j-- {
		switch tokens[j].Kind { //nolint:exhaustive // the others are parts of the statement
		case sqlguard.TokenComment:
			continue
		case sqlguard.TokenClose:
			depth++
		case sqlguard.TokenOpen:
			if depth--; depth < 0 { // COPY (SELECT … FROM $1) TO …
				return false
			}
		}
		first = j
	}
	return tokens[first].Kind == sqlguard.TokenWord && strings.EqualFold(tokens[first].Text(text), "copy")
}

// sets reports whether the TO at i stands before a value: SIMILAR TO, or SET name TO.
func sets(text string, tokens []sqlguard.Token, i int) bool {
	for j := i - 1; j >= max(0, i-6); j-- {
		switch strings.ToLower(tokens[j].Text(text)) {
		case "similar":
			return j == i-1
		case "set":
			return true
		}
	}
	return false
}

// numberAt reports whether token i is the number of a column in ORDER BY or
// GROUP BY, where a number is harmless and other values are not.
func numberAt(text string, tokens []sqlguard.Token, i int) bool {
	if i < 1 {
		return false
	}
	word := strings.ToLower(tokens[i-1].Text(text))
	return tokens[i-1].Kind == sqlguard.TokenWord && (word == "by" || word == "where" || word == "and" || word == "or" || word == "select")
}

// operandBefore reports whether the operator at i has an operand to its left.
func operandBefore(tokens []sqlguard.Token, i int) bool {
	if i == 0 {
		return false
	}
	switch tokens[i-1].Kind { //nolint:exhaustive // no other ends an operand
	case sqlguard.TokenWord, sqlguard.TokenQuotedName, sqlguard.TokenString, sqlguard.TokenNumber, sqlguard.TokenClose, sqlguard.TokenParameter:
		return true
	default:
		return false
	}
}

// insideBetween reports whether the AND at i belongs to a BETWEEN.
func insideBetween(text string, tokens []sqlguard.Token, i int) bool {
	depth := 0
	for j := i - 1; j >= 0; j-- {
		switch tokens[j].Kind { //nolint:exhaustive // the others are part of an operand
		case sqlguard.TokenClose:
			depth++
		case sqlguard.TokenOpen:
			if depth--; depth < 0 {
				return false
			}
		case sqlguard.TokenTerminator, sqlguard.TokenComma:
			if depth == 0 {
				return false
			}
		case sqlguard.TokenWord:
			switch word := strings.ToLower(tokens[j].Text(text)); {
			case depth > 0:
			case word == "between":
				return true
			case word == "and" || word == "or" || word == "where" || word == "on" || word == "having" || word == "when":
				return false
			}
		}
	}
	return false
}

// holdsValues reports whether the parenthesis at i begins a list of values or
// arguments: after IN, VALUES, ANY, an operator, another such parenthesis, or
// the name of a function.
func holdsValues(text string, tokens []sqlguard.Token, i int) bool {
	if i == 0 || tokens[i].Text(text) != "(" {
		return i > 0 && tokens[i].Text(text) == "[" // a subscript, or ARRAY[…]
	}
	before := tokens[i-1]
	switch before.Kind { //nolint:exhaustive // no other stands before a list of values
	case sqlguard.TokenOperator:
		return true
	case sqlguard.TokenComma, sqlguard.TokenOpen: // rows of VALUES
		return rows(text, tokens, i-1)
	case sqlguard.TokenQuotedName: // "schema"."function"(…) where an operand begins
		first := i - 1
		for first >= 2 && tokens[first-1].Kind == sqlguard.TokenDot {
			first -= 2
		}
		if first < 2 {
			return false
		}
		switch tokens[first-1].Kind { //nolint:exhaustive // behind the others stands the name of a table
		case sqlguard.TokenOperator:
			return true
		case sqlguard.TokenComma, sqlguard.TokenOpen:
			open := openBefore(tokens, first)
			return open >= 0 && holdsValues(text, tokens, open)
		case sqlguard.TokenWord:
			word := strings.ToLower(tokens[first-1].Text(text))
			return valueWords[word] && word != "on"
		default:
			return false
		}
	case sqlguard.TokenWord:
		word := strings.ToLower(before.Text(text))
		switch word {
		case "in", "values", "any", "all", "some", "row", "like", "ilike", "between", "limit", "offset", "top":
			return true
		}
		return !notCalled[word] && (i < 2 || !declares(text, tokens, i-2))
	default:
		return false
	}
}

// openBefore returns the bracket in which token i stands, or -1.
func openBefore(tokens []sqlguard.Token, i int) int {
	depth := 0
	for i--; i >= 0; i-- {
		switch tokens[i].Kind { //nolint:exhaustive // no other is a bracket
		case sqlguard.TokenClose:
			depth++
		case sqlguard.TokenOpen:
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// rows reports whether the tokens before i lead back to VALUES or IN.
func rows(text string, tokens []sqlguard.Token, i int) bool {
	depth := 0
	for ; i >= 0; i-- {
		switch tokens[i].Kind { //nolint:exhaustive // the others are values
		case sqlguard.TokenClose:
			depth++
		case sqlguard.TokenOpen:
			depth = max(depth-1, 0)
		case sqlguard.TokenWord:
			if depth == 0 {
				word := strings.ToLower(tokens[i].Text(text))
				return word == "values" || word == "in"
			}
		}
	}
	return false
}

// notCalled are words before a parenthesis that holds names or a query.
var notCalled = map[string]bool{
	"from": true, "join": true, "select": true, "as": true, "with": true, "by": true, "on": true, "using": true, "over": true, "exists": true,
	"into": true, "table": true, "distinct": true, "where": true, "and": true, "or": true, "not": true, "having": true, "union": true,
	"except": true, "intersect": true, "partition": true, "lateral": true, "apply": true, "recursive": true, "materialized": true,
	"sets": true, "rollup": true, "cube": true, "window": true, "set": true, "conflict": true, "returning": true, "case": true, "when": true, "then": true, "else": true,
}

// declares reports whether the name after the word at i is that of a table or a
// column list.
func declares(text string, tokens []sqlguard.Token, i int) bool {
	if tokens[i].Kind != sqlguard.TokenWord && tokens[i].Kind != sqlguard.TokenDot {
		return false
	}
	switch strings.ToLower(tokens[i].Text(text)) {
	case "into", "table", "with", "as", "recursive", "from", "join", "update", "on":
		return true
	default:
		return false
	}
}
