package source

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// javaScriptSinks are functions and methods that take SQL as their first
// argument: those of node-postgres, mysql2, better-sqlite3, node-sqlite3, Knex,
// Sequelize, TypeORM, Prisma, Drizzle and postgres.js.
var javaScriptSinks = map[string]certainty{
	"query": likely, "execute": likely, "raw": likely, "unsafe": likely, "prepare": possible, "exec": possible, "run": possible, "all": possible, "get": possible, "each": possible,
	"$queryRawUnsafe": certain, "$executeRawUnsafe": certain, "queryRaw": certain, "executeSql": certain, "multi": possible, "one": possible, "none": possible,
	"manyOrNone": certain, "oneOrNone": certain, "any": possible, "many": possible,
}

// javaScriptTags are the tags of templates whose text is SQL. The driver gets
// the values of such a template as parameters.
var javaScriptTags = map[string]bool{
	"sql": true, "SQL": true, "pgsql": true, "$queryRaw": true, "$executeRaw": true, "literal": false, "raw": false,
}

// jsKind is the kind of a token of JavaScript.
type jsKind uint8

const (
	jsOther jsKind = iota
	jsName
	jsString
	jsTemplate
	jsNumber
)

type jsToken struct {
	kind       jsKind
	start, end int
	line       bool // a line ends before it
	// inner is the number of the tokens of a template, which follow it.
	inner int
}

// javaScript reads a source of JavaScript or TypeScript (ECMA-262, section 12).
type javaScript struct {
	source    string
	tokens    []jsToken
	comments  []sqlguard.Span
	options   *Options
	constants map[string]int // the first token of the value of a name that is given one once
	resolving map[string]bool
	texts     []*Text
}

func findJavaScript(source string, o *Options) (*Source, error) {
	j := &javaScript{source: source, options: o, constants: map[string]int{}, resolving: map[string]bool{}}
	if err := j.lex(0, len(source)); err != nil {
		return nil, err
	}
	j.declarations()
	for i := range j.tokens {
		switch {
		case j.tokens[i].kind != jsName:
		case j.opens(i+1) > 0:
			j.call(i)
		case i+1 < len(j.tokens) && j.tokens[i+1].kind == jsTemplate:
			j.tagged(i)
		}
	}
	return &Source{Texts: j.texts, Comments: j.comments}, nil
}

func (j *javaScript) text(i int) string { return j.source[j.tokens[i].start:j.tokens[i].end] }

func (j *javaScript) is(i int, text string) bool {
	return i >= 0 && i < len(j.tokens) && j.tokens[i].kind == jsOther && j.text(i) == text
}

// opens returns the token after the parenthesis of a call at i, and skips type
// arguments. It returns 0 if there is none.
func (j *javaScript) opens(i int) int {
	if j.is(i, "(") {
		return i + 1
	}
	if !j.is(i, "<") {
		return 0
	}
	for depth := 0; i < len(j.tokens); i++ {
		switch {
		case j.is(i, "<"):
			depth++
		case j.is(i, ">"):
			if depth--; depth == 0 {
				if j.is(i+1, "(") {
					return i + 2
				}
				return 0
			}
		case j.is(i, ";") || j.is(i, "="):
			return 0
		}
	}
	return 0
}

// lex splits part of the source into tokens.
func (j *javaScript) lex(from, to int) error {
	line := true
	add := func(kind jsKind, start, end int) {
		j.tokens = append(j.tokens, jsToken{kind: kind, start: start, end: end, line: line})
		line = false
	}
	for i := from; i < to; {
		c := j.source[i]
		rest := j.source[i:to]
		switch {
		case jsLineEnd(rest) > 0:
			line = true
			i += jsLineEnd(rest)
		case jsSpace(rest) > 0:
			i += jsSpace(rest)
		case strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "#!") && i == 0:
			end := i
			for end < to && jsLineEnd(j.source[end:to]) == 0 {
				end++
			}
			j.comments = append(j.comments, sqlguard.Span{Start: i, End: end})
			i = end
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return &SyntaxError{Offset: i, Message: "the comment has no end"}
			}
			j.comments = append(j.comments, sqlguard.Span{Start: i, End: i + n + 4})
			i += n + 4
		case c == '\'' || c == '"':
			end, ok := jsStringEnd(j.source[:to], i)
			if !ok { // an apostrophe in the text of JSX
				add(jsOther, i, i+1)
				i++
				continue
			}
			add(jsString, i, end)
			i = end
		case c == '`':
			end, ok := jsTemplateEnd(j.source[:to], i)
			if !ok {
				return &SyntaxError{Offset: i, Message: "the template has no end"}
			}
			add(jsTemplate, i, end)
			at := len(j.tokens)
			if err := j.inside(i, end); err != nil {
				return err
			}
			j.tokens[at-1].inner = len(j.tokens) - at
			i = end
		case c == '/' && j.regular():
			if end := jsRegularEnd(j.source[:to], i); end > 0 {
				add(jsNumber, i, end) // a value of no interest
				i = end
				continue
			}
			add(jsOther, i, i+1)
			i++
		case jsNameByte(c):
			end := i
			for end < to && jsNameByte(j.source[end]) && jsSpace(j.source[end:to]) == 0 && jsLineEnd(j.source[end:to]) == 0 {
				end++
			}
			kind := jsName
			if c >= '0' && c <= '9' {
				kind = jsNumber
			}
			add(kind, i, end)
			i = end
		default:
			add(jsOther, i, i+1)
			i++
		}
	}
	return nil
}

// inside reads the expressions in a template, because calls in them count too.
func (j *javaScript) inside(start, end int) error {
	for i := start + 1; i < end-1; i++ {
		switch {
		case j.source[i] == '\\':
			i++
		case strings.HasPrefix(j.source[i:end], "${"):
			stop := jsHoleEnd(j.source[:end], i)
			if stop < 0 {
				return &SyntaxError{Offset: i, Message: "the template has no end"}
			}
			if err := j.lex(i+2, stop-1); err != nil {
				return err
			}
			i = stop - 1
		}
	}
	return nil
}

// jsLineEnd returns the length of the line end at the start of s, or 0 (12.3).
func jsLineEnd(s string) int {
	if strings.HasPrefix(s, "\u2028") || strings.HasPrefix(s, "\u2029") {
		return len("\u2028")
	}
	return lineEnd(s)
}

// jsSpace returns the length of the white space at the start of s, without line
// ends (12.2).
func jsSpace(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] < utf8.RuneSelf:
		if strings.IndexByte(" \t\v\f", s[0]) >= 0 {
			return 1
		}
		return 0
	}
	if r, n := utf8.DecodeRuneInString(s); r == '\ufeff' || unicode.Is(unicode.Zs, r) {
		return n
	}
	return 0
}

func jsNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf || c >= '0' && c <= '9'
}

// regular reports whether a slash begins a regular expression here, which it
// does where an operand is expected.
func (j *javaScript) regular() bool {
	if len(j.tokens) == 0 {
		return true
	}
	last := j.tokens[len(j.tokens)-1]
	switch text := j.source[last.start:last.end]; last.kind { //nolint:exhaustive // the others end an operand
	case jsName:
		switch text {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield":
			return true
		}
		return false
	case jsOther:
		return text != ")" && text != "]" && text != "}" && text != ">"
	default:
		return false
	}
}

// jsRegularEnd returns the offset after the regular expression at i, or 0 if
// there is none.
func jsRegularEnd(source string, i int) int {
	class := false
	for i++; i < len(source); i++ {
		if jsLineEnd(source[i:]) > 0 {
			return 0
		}
		switch source[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				for i++; i < len(source) && jsNameByte(source[i]); i++ {
				}
				return i
			}
		}
	}
	return 0
}

func jsStringEnd(source string, i int) (int, bool) {
	quote := source[i]
	for i++; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i += max(lineEnd(source[i+1:]), 1)
		case quote:
			return i + 1, true
		case '\n', '\r':
			return 0, false
		}
	}
	return 0, false
}

func jsTemplateEnd(source string, i int) (int, bool) {
	for i++; i < len(source); i++ {
		switch {
		case source[i] == '\\':
			i++
		case source[i] == '`':
			return i + 1, true
		case strings.HasPrefix(source[i:], "${"):
			end := jsHoleEnd(source, i)
			if end < 0 {
				return 0, false
			}
			i = end - 1
		}
	}
	return 0, false
}

// jsHoleEnd returns the offset after the ${…} at i, or -1 if it has no end.
func jsHoleEnd(source string, i int) int {
	depth := 0
	for i++; i < len(source); i++ {
		switch c := source[i]; {
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == '\'' || c == '"':
			if end, ok := jsStringEnd(source, i); ok {
				i = end - 1
			}
		case c == '`':
			end, ok := jsTemplateEnd(source, i)
			if !ok {
				return -1
			}
			i = end - 1
		case strings.HasPrefix(source[i:], "/*"):
			n := strings.Index(source[i+2:], "*/")
			if n < 0 {
				return -1
			}
			i += n + 3
		}
	}
	return -1
}

// declarations collects the names that const, let or var assign once, and that
// nothing else in the file binds.
func (j *javaScript) declarations() {
	bound := map[string]bool{}
	closes := j.brackets()
	for i := range j.tokens {
		if j.tokens[i].kind != jsName || j.is(i-1, ".") && !j.is(i-2, ".") {
			continue
		}
		name := j.text(i)
		switch value := j.value(i + 1); {
		case j.declared(i) && value > 0 && j.constants[name] == 0:
			j.constants[name] = value
		case j.declared(i), value > 0, j.binds(i, closes):
			bound[name] = true
		}
	}
	for name := range bound {
		delete(j.constants, name)
	}
}

// declared reports whether const, let or var stand before token i.
func (j *javaScript) declared(i int) bool {
	if i == 0 || j.tokens[i-1].kind != jsName {
		return false
	}
	switch j.text(i - 1) {
	case "const", "let", "var":
		return true
	default:
		return false
	}
}

// binds reports whether the name at token i may be bound there by anything
// except its own declaration: as a parameter, in a pattern, by an operator, or
// by a word before it.
func (j *javaScript) binds(i int, closes map[int]int) bool {
	if i > 0 && j.tokens[i-1].kind == jsName {
		switch j.text(i - 1) {
		case "function", "class", "import", "as", "catch", "enum", "namespace", "type", "interface", "async", "of", "in":
			return true
		}
	}
	if j.is(i+1, "+") && j.is(i+2, "+") || j.is(i+1, "-") && j.is(i+2, "-") || j.is(i-1, "+") && j.is(i-2, "+") || j.is(i-1, "-") && j.is(i-2, "-") {
		return true
	}
	if i+1 < len(j.tokens) && j.tokens[i+1].kind == jsName && (j.text(i+1) == "of" || j.text(i+1) == "in") {
		return true
	}
	if j.is(i+1, "=") && !j.is(i+2, "=") { // x =>, and x = where no declaration is
		return true
	}
	for k := i + 1; k < min(i+5, len(j.tokens)); k++ { // x ||=, x ??=, x **=, x >>>=
		if j.tokens[k].kind != jsOther || j.tokens[k].start != j.tokens[k-1].end && k > i+1 || strings.IndexByte("|&?*/%-+<>^", j.source[j.tokens[k].start]) < 0 {
			if k > i+1 && j.is(k, "=") && !j.is(k+1, "=") {
				return true
			}
			break
		}
	}
	for open, at := j.around(i, closes); open != -1; open, at = j.around(open, closes) {
		if open == far {
			return true
		}
		behind := at + 1
		switch {
		case j.is(behind, "=") && !j.is(behind+1, "="), j.is(behind, "{"), j.is(behind, ":"):
			return true // a pattern, parameters, parameters with a type behind them
		case behind < len(j.tokens) && j.tokens[behind].kind == jsName && (j.text(behind) == "of" || j.text(behind) == "in"):
			return true
		}
	}
	return false
}

// brackets returns, for each opening bracket, the one that closes it.
func (j *javaScript) brackets() map[int]int {
	closes := map[int]int{}
	var open []int
	for i := range j.tokens {
		switch {
		case j.is(i, "(") || j.is(i, "[") || j.is(i, "{"):
			open = append(open, i)
		case (j.is(i, ")") || j.is(i, "]") || j.is(i, "}")) && len(open) > 0:
			closes[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
	}
	return closes
}

// around returns the brackets around token i, within its block, or -1 if there
// are none.
func (j *javaScript) around(i int, closes map[int]int) (open, at int) {
	for k := i - 1; k >= 0; k-- {
		if at, ok := closes[k]; ok && at > i {
			if j.is(k, "{") && !j.is(k-1, "(") && !j.is(k-1, ",") && !j.is(k-1, "{") && !j.is(k-1, ":") && !j.is(k-1, "[") && !j.declared(k) {
				return -1, 0 // a block
			}
			return k, at
		}
		if k == i-1_000 {
			return far, 0
		}
	}
	return -1, 0
}

// far is the result of around if the brackets are too far away to search for.
const far = -2

// value returns the first token of the value that is assigned at token i, or 0
// if there is none. It skips a type annotation and an operator before =.
func (j *javaScript) value(i int) int {
	switch {
	case j.is(i, "=") && !j.is(i+1, "=") && !j.is(i+1, ">"):
		return i + 1
	case j.is(i, ":") && i+2 < len(j.tokens) && j.tokens[i+1].kind == jsName && j.is(i+2, "=") && !j.is(i+3, ">"):
		return i + 3
	case j.is(i, "+") && j.is(i+1, "="):
		return i + 2
	default:
		return 0
	}
}

// call adds the text of the call whose name is token i.
func (j *javaScript) call(i int) {
	name := j.text(i)
	sure, ok := javaScriptSinks[name]
	if j.options.sink(name) {
		sure, ok = certain, true
	}
	first := j.opens(i + 1)
	if !ok || first >= len(j.tokens) || i > 0 && j.tokens[i-1].kind == jsName && j.text(i-1) == "function" {
		return
	}
	if !j.is(i-1, ".") && j.declares(first) {
		sure = possible // the declaration of a method with that name
	}
	if j.is(first, "{") { // query({text: "…"})
		for k := first + 1; k+1 < len(j.tokens) && !j.is(k, "}"); k++ {
			if j.tokens[k].kind != jsName || j.text(k) != "text" && j.text(k) != "sql" && j.text(k) != "query" {
				continue
			}
			switch {
			case j.is(k+1, ":"):
				j.argument(i, k+2, name, sure)
				return
			case (j.is(k+1, ",") || j.is(k+1, "}")) && (j.is(k-1, ",") || j.is(k-1, "{")):
				j.argument(i, k, name, sure)
				return
			}
		}
		if sure == certain {
			j.texts = append(j.texts, unknown(&Text{Call: j.tokens[i].start, Sink: name, Certain: true, Span: sqlguard.Span{Start: j.tokens[first].start, End: j.tokens[first].end}}))
		}
		return
	}
	j.argument(i, first, name, sure)
}

// declares reports whether the bracket before token i is followed by the body
// or the type of a method.
func (j *javaScript) declares(i int) bool {
	depth := 1
	for ; i < len(j.tokens) && depth > 0; i++ {
		switch {
		case j.is(i, "("):
			depth++
		case j.is(i, ")"):
			depth--
		}
	}
	return j.is(i, "{") || j.is(i, ":")
}

// argument adds the text that begins at a token. It is an argument of the call
// whose name is token i.
func (j *javaScript) argument(i, first int, name string, sure certainty) {
	if first >= len(j.tokens) {
		return
	}
	t := &Text{Call: j.tokens[i].start, Sink: name, Certain: sure == certain}
	end, known := j.expression(first, t)
	end = min(max(end, first+1), len(j.tokens))
	t.Span = sqlguard.Span{Start: j.tokens[first].start, End: j.tokens[end-1].end}
	if known && !j.ends(end) { // an operator that is not understood
		t.hole(sqlguard.Span{Start: j.tokens[end].start, End: j.tokens[end].end}, false)
	}
	switch {
	case known:
		if sure.judges(t) {
			j.texts = append(j.texts, t)
		}
	case sure >= likely && !j.is(first, ")") && j.tokens[first].kind != jsNumber && !j.isFunction(first) && (first+1 >= len(j.tokens) || j.tokens[first+1].kind != jsTemplate):
		j.texts = append(j.texts, unknown(t)) // a template with a tag is judged on its own
	}
}

// ends reports whether an argument ends before token i, with or without a type.
func (j *javaScript) ends(i int) bool {
	return i >= len(j.tokens) || j.is(i, ",") || j.is(i, ")") || j.is(i, "}") || j.is(i, ";") || j.is(i, "!") ||
		j.tokens[i].kind == jsName && (j.text(i) == "as" || j.text(i) == "satisfies")
}

// isFunction reports whether an argument is a function.
func (j *javaScript) isFunction(i int) bool {
	switch text := j.text(i); {
	case text == "function" || text == "async":
		return true
	case j.is(i, "("):
		for depth := 0; i < len(j.tokens); i++ {
			switch {
			case j.is(i, "("):
				depth++
			case j.is(i, ")"):
				if depth--; depth == 0 {
					return j.is(i+1, "=") && j.is(i+2, ">")
				}
			}
		}
		return false
	default:
		return j.is(i+1, "=") && j.is(i+2, ">")
	}
}

// tagged adds the text of a template whose tag is token i.
func (j *javaScript) tagged(i int) {
	name := j.text(i)
	sure, ok := javaScriptTags[name]
	if j.options.sink(name) {
		sure, ok = true, true
	}
	if !ok {
		return
	}
	t := &Text{Call: j.tokens[i].start, Sink: name, Certain: sure, Span: sqlguard.Span{Start: j.tokens[i].start, End: j.tokens[i+1].end}}
	j.template(i+1, t)
	if looksLikeSQL(t.SQL()) {
		j.texts = append(j.texts, t)
	}
}

// expression appends the value of the expression at token i. It reports where
// the expression ends and whether a part of its value is known.
func (j *javaScript) expression(i int, t *Text) (end int, known bool) {
	for {
		var operand Text
		next, ok := j.operand(i, &operand)
		if !ok {
			next = j.skip(i)
			operand = Text{}
			if next > i {
				operand.hole(sqlguard.Span{Start: j.tokens[i].start, End: j.tokens[next-1].end}, false)
			}
		}
		known = known || ok
		t.add(&operand)
		stuck := next == i
		if i = next; !j.is(i, "+") || j.is(i+1, "+") || stuck {
			return i, known
		}
		i++
	}
}

// skip returns the token after an operand that is not understood.
func (j *javaScript) skip(i int) int {
	depth := 0
	for ; i < len(j.tokens); i++ {
		switch {
		case j.is(i, "(") || j.is(i, "[") || j.is(i, "{"):
			depth++
		case j.is(i, ")") || j.is(i, "]") || j.is(i, "}"):
			if depth == 0 {
				return i
			}
			depth--
		case j.tokens[i].kind == jsTemplate:
			i += j.tokens[i].inner
		case depth == 0 && (j.is(i, ",") || j.is(i, "+") || j.is(i, ";")):
			return i
		}
	}
	return i
}

func (j *javaScript) operand(i int, t *Text) (next int, ok bool) {
	if i >= len(j.tokens) {
		return i, false
	}
	switch j.tokens[i].kind { //nolint:exhaustive // a number is no text
	case jsString:
		jsContent(j.source[j.tokens[i].start+1:j.tokens[i].end-1], j.tokens[i].start+1, t)
		i++
	case jsTemplate:
		j.template(i, t)
		i += 1 + j.tokens[i].inner
	case jsName:
		name := j.text(i)
		if javaScriptTags[name] && i+1 < len(j.tokens) && j.tokens[i+1].kind == jsTemplate {
			return i, false // it is judged on its own
		}
		value, once := j.constants[name]
		if !once || j.resolving[name] || j.is(i+1, "(") || j.is(i+1, "[") {
			return i, false
		}
		j.resolving[name] = true
		end, known := j.expression(value, t)
		delete(j.resolving, name)
		if !known || end < len(j.tokens) && !j.is(end, ";") && !j.is(end, ",") && !j.tokens[end].line {
			return i, false
		}
		i++
	case jsOther:
		if !j.is(i, "(") {
			return i, false
		}
		end, known := j.expression(i+1, t)
		if !known || !j.is(end, ")") {
			return i, false
		}
		i = end + 1
	default:
		return i, false
	}
	for j.is(i, ".") && i+3 < len(j.tokens) && j.is(i+2, "(") && j.is(i+3, ")") && strings.HasPrefix(j.text(i+1), "trim") {
		i += 4
	}
	if j.is(i, ".") || j.is(i, "[") || j.is(i, "(") || j.is(i, "?") {
		return i, false
	}
	return i, true
}

// template appends a template, with a hole for each of its expressions.
func (j *javaScript) template(i int, t *Text) {
	start, end := j.tokens[i].start+1, j.tokens[i].end-1
	from := start
	for k := start; k < end; k++ {
		switch {
		case j.source[k] == '\\':
			k++
		case strings.HasPrefix(j.source[k:end], "${"):
			stop := jsHoleEnd(j.source[:end], k)
			if stop < 0 {
				stop = end
			}
			jsContent(j.source[from:k], from, t)
			t.hole(sqlguard.Span{Start: k, End: stop}, false)
			k, from = stop-1, stop
		}
	}
	jsContent(j.source[from:end], from, t)
}

// jsContent appends the content of a literal with its escapes decoded (12.9.4).
func jsContent(body string, at int, t *Text) {
	start := 0
	for i := 0; i < len(body); {
		if body[i] != '\\' || i+1 >= len(body) {
			i++
			continue
		}
		t.lines(body[start:i], at+start)
		value, n := jsEscape(body[i:])
		t.escaped(value, sqlguard.Span{Start: at + i, End: at + i + n})
		i += n
		start = i
	}
	t.lines(body[start:], at+start)
}

// jsEscape decodes the escape at the start of s, and returns its length.
func jsEscape(s string) (string, int) {
	number := func(digits string, n int) (string, int) {
		if v, err := strconv.ParseInt(digits, 16, 64); err == nil && v >= 0 && v <= utf8.MaxRune {
			return string(rune(v)), n
		}
		return s[1:2], 2
	}
	if n := jsLineEnd(s[1:]); n > 0 {
		return "", 1 + n
	}
	switch c := s[1]; c {
	case 'n', 't', 'r', 'b', 'f', 'v':
		return string("\n\t\r\b\f\v"[strings.IndexByte("ntrbfv", c)]), 2
	case '0', '1', '2', '3', '4', '5', '6', '7': // B.1.2, of which \0 is one
		n := 2
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' && (n < 3 || c <= '3') {
			n++
		}
		v, _ := strconv.ParseInt(s[1:n], 8, 16)
		return string(rune(v)), n
	case 'x':
		if len(s) >= 4 {
			return number(s[2:4], 4)
		}
	case 'u':
		if strings.HasPrefix(s[2:], "{") {
			if end := strings.IndexByte(s, '}'); end > 3 {
				return number(s[3:end], end+1)
			}
		} else if len(s) >= 6 {
			if len(s) >= 12 && s[6:8] == `\u` { // a pair is one character
				high, first := strconv.ParseUint(s[2:6], 16, 16)
				low, second := strconv.ParseUint(s[8:12], 16, 16)
				if r := utf16.DecodeRune(rune(high), rune(low)); first == nil && second == nil && r != utf8.RuneError {
					return string(r), 12
				}
			}
			return number(s[2:6], 6)
		}
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return s[1 : 1+size], 1 + size
}
