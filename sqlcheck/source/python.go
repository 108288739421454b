package source

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// pythonSinks are methods and functions that take SQL as their first argument:
// those of DB-API drivers (PEP 249), SQLAlchemy, asyncpg, pandas, Django, Spark
// and DuckDB.
var pythonSinks = map[string]certainty{
	"execute": likely, "executemany": certain, "executescript": certain, "execute_async": certain, "mogrify": certain, "copy_expert": certain,
	"text": possible, "exec_driver_sql": certain, "read_sql": certain, "read_sql_query": certain, "raw": likely, "RawSQL": likely,
	"fetch": possible, "fetchrow": certain, "fetchval": certain, "fetchmany": possible, "cursor": possible, "prepare": possible,
	"sql": likely, "query": likely, "query_df": certain, "scalar": possible, "scalars": possible,
}

// pyKind is the kind of a token of Python.
type pyKind uint8

const (
	pyOther pyKind = iota // one character of punctuation
	pyName
	pyString
	pyLine // the end of a line outside of brackets
)

type pyToken struct {
	kind       pyKind
	start, end int
}

// python reads a Python file (the language reference, section 2).
type python struct {
	source   string
	tokens   []pyToken
	comments []sqlguard.Span
	options  *Options
	// assigned has the first token of the value of each name that the file
	// assigns exactly once.
	assigned  map[string]int
	resolving map[string]bool
	texts     []*Text
}

func findPython(source string, o *Options) (*Source, error) {
	p := &python{source: source, options: o, assigned: map[string]int{}, resolving: map[string]bool{}}
	if err := p.lex(); err != nil {
		return nil, err
	}
	p.assignments()
	for i := 0; i+2 < len(p.tokens); i++ {
		if p.tokens[i].kind == pyName && p.is(i+1, "(") {
			p.call(i)
		}
	}
	return &Source{Texts: p.texts, Comments: p.comments}, nil
}

func (p *python) text(i int) string { return p.source[p.tokens[i].start:p.tokens[i].end] }

func (p *python) is(i int, text string) bool {
	return i >= 0 && i < len(p.tokens) && p.tokens[i].kind == pyOther && p.text(i) == text
}

// lex splits the source into tokens. A string without an end is an error.
func (p *python) lex() error {
	depth := 0
	for i := 0; i < len(p.source); {
		c := p.source[i]
		switch {
		case c == ' ' || c == '\t' || c == '\f':
			i++
		case c == '\\' && lineEnd(p.source[i+1:]) > 0:
			i += 1 + lineEnd(p.source[i+1:])
		case c == '\n' || c == '\r':
			if depth == 0 && len(p.tokens) > 0 && p.tokens[len(p.tokens)-1].kind != pyLine {
				p.tokens = append(p.tokens, pyToken{pyLine, i, i + 1})
			}
			i++
		case c == '#':
			end := i + len(firstLine(p.source[i:]))
			p.comments = append(p.comments, sqlguard.Span{Start: i, End: end})
			i = end
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf || c >= '0' && c <= '9':
			end := i
			for end < len(p.source) && pyNameByte(p.source[end]) {
				end++
			}
			if end < len(p.source) && (p.source[end] == '\'' || p.source[end] == '"') && pyPrefix(p.source[i:end]) {
				stop, ok := pyLiteralEnd(p.source, end)
				if !ok {
					return &SyntaxError{Offset: i, Message: "the string has no end"}
				}
				p.tokens = append(p.tokens, pyToken{pyString, i, stop})
				i = stop
				continue
			}
			p.tokens = append(p.tokens, pyToken{pyName, i, end})
			i = end
		case c == '\'' || c == '"':
			stop, ok := pyStringEnd(p.source, i)
			if !ok {
				return &SyntaxError{Offset: i, Message: "the string has no end"}
			}
			p.tokens = append(p.tokens, pyToken{pyString, i, stop})
			i = stop
		default:
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(depth-1, 0)
			}
			p.tokens = append(p.tokens, pyToken{pyOther, i, i + 1})
			i++
		}
	}
	p.tokens = append(p.tokens, pyToken{pyLine, len(p.source), len(p.source)})
	return nil
}

func pyNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf || c >= '0' && c <= '9'
}

// pyPrefix reports whether a name before a quote is a string prefix.
func pyPrefix(name string) bool {
	switch strings.ToLower(name) {
	case "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt":
		return true
	default:
		return false
	}
}

// pyStringEnd returns the offset after the string whose quote is at i.
func pyStringEnd(source string, i int) (int, bool) {
	quote := pyQuote(source, i)
	long := len(quote) == 3
	for i += len(quote); i < len(source); i++ {
		switch {
		case source[i] == '\\':
			i += max(lineEnd(source[i+1:]), 1)
		case strings.HasPrefix(source[i:], quote):
			return i + len(quote), true
		case !long && lineEnd(source[i:]) > 0:
			return 0, false
		}
	}
	return 0, false
}

// pyLiteralEnd returns the offset after the string whose quote is at i. The
// prefix before it says whether the string is formatted.
func pyLiteralEnd(source string, i int) (int, bool) {
	from := i
	for from > 0 && pyNameByte(source[from-1]) {
		from--
	}
	prefix := strings.ToLower(source[from:i])
	if !strings.ContainsAny(prefix, "ft") || !pyPrefix(prefix) {
		return pyStringEnd(source, i)
	}
	if end, ok := pyFormattedEnd(source, i, strings.Contains(prefix, "r")); ok {
		return end, true
	}
	return pyStringEnd(source, i)
}

// pyFormattedEnd is pyStringEnd for a formatted string. Its replacement fields
// may contain the same quotes (PEP 701).
func pyFormattedEnd(source string, i int, raw bool) (int, bool) {
	quote := pyQuote(source, i)
	for i += len(quote); i < len(source); i++ {
		switch rest := source[i:]; {
		case strings.HasPrefix(rest, `\N{`) && !raw:
			i += len(`\N{`)
		case strings.HasPrefix(rest, `\{`):
		case rest[0] == '\\':
			i += max(lineEnd(rest[1:]), 1)
		case strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}"):
			i++
		case rest[0] == '{':
			end, ok := pyFieldEnd(source, i, quote)
			if !ok {
				return 0, false
			}
			i = end - 1
		case strings.HasPrefix(rest, quote):
			return i + len(quote), true
		case len(quote) == 1 && lineEnd(rest) > 0:
			return 0, false
		}
	}
	return 0, false
}

// pyQuote returns the quotes at i, one or three.
func pyQuote(source string, i int) string {
	if quote := strings.Repeat(source[i:i+1], 3); strings.HasPrefix(source[i:], quote) {
		return quote
	}
	return source[i : i+1]
}

// pyFieldEnd returns the offset after the replacement field at i, in a string
// with that quote.
func pyFieldEnd(source string, i int, quote string) (int, bool) {
	depth := 0
	for i++; i < len(source); i++ {
		switch c := source[i]; c {
		case '\'', '"':
			end, ok := pyLiteralEnd(source, i)
			if !ok {
				return 0, false
			}
			i = end - 1
		case '#':
			i += len(firstLine(source[i:])) - 1
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return i + 1, c == '}'
			}
			depth--
		case ':':
			if depth == 0 {
				return pySpecEnd(source, i+1, quote)
			}
		}
	}
	return 0, false
}

// pySpecEnd returns the offset after the replacement field whose format begins
// at i.
func pySpecEnd(source string, i int, quote string) (int, bool) {
	for ; i < len(source); i++ {
		switch {
		case source[i] == '}':
			return i + 1, true
		case source[i] == '{':
			end, ok := pyFieldEnd(source, i, quote)
			if !ok {
				return 0, false
			}
			i = end - 1
		case strings.HasPrefix(source[i:], quote), len(quote) == 1 && lineEnd(source[i:]) > 0:
			return 0, false
		}
	}
	return 0, false
}

// assignments collects the names that one line assigns, at its start, and that
// nothing else in the file binds.
func (p *python) assignments() {
	times := map[string]int{}
	bind := func(i int) {
		if i < len(p.tokens) && p.tokens[i].kind == pyName {
			times[p.text(i)]++
		}
	}
	begin := 0 // of the line
	for i := range p.tokens {
		t := p.tokens[i]
		if t.kind == pyLine || p.is(i, ";") {
			begin = i + 1
			continue
		}
		if p.is(i, ":") && p.is(i+1, "=") { // NAME := value
			bind(i - 1)
			continue
		}
		if p.is(i, "=") && p.depth(begin, i) == 0 && !p.is(i+1, "=") && !p.compares(i) {
			// Every name before it is a target.
			for k := begin; k < i; k++ {
				bind(k)
			}
			if name := p.tokens[begin]; name.kind == pyName && (i == begin+1 || p.is(begin+1, ":")) {
				p.assigned[p.text(begin)] = i + 1
			}
			begin = i + 1
			continue
		}
		if t.kind != pyName {
			continue
		}
		switch p.text(i) {
		case "def", "lambda", "for", "as", "import", "del", "global", "nonlocal", "case", "except", "type":
			// The names that it binds end at the colon, at the word in, or at
			// the end of the line.
			for k := i + 1; k < len(p.tokens) && p.tokens[k].kind != pyLine && (p.tokens[k].kind != pyName || p.text(k) != "in"); k++ {
				if p.is(k, ":") && p.depth(i, k) == 0 {
					break
				}
				bind(k)
				times[p.nameAt(k)] += 2
			}
		case "globals", "locals", "vars", "exec", "setattr":
			if p.is(i+1, "(") { // these functions bind names that are given as strings
				p.assigned = map[string]int{}
				return
			}
		}
	}
	for name, n := range times {
		if n > 1 {
			delete(p.assigned, name)
		}
	}
}

// nameAt returns the name that token i is, or "".
func (p *python) nameAt(i int) string {
	if p.tokens[i].kind == pyName {
		return p.text(i)
	}
	return ""
}

// depth returns how many brackets that open after from are open at to.
func (p *python) depth(from, to int) int {
	depth := 0
	for i := from; i < to; i++ {
		switch {
		case p.is(i, "(") || p.is(i, "[") || p.is(i, "{"):
			depth++
		case p.is(i, ")") || p.is(i, "]") || p.is(i, "}"):
			depth--
		}
	}
	return depth
}

// compares reports whether the = at token i is part of a comparison.
func (p *python) compares(i int) bool {
	return i > 0 && p.tokens[i-1].end == p.tokens[i].start && (p.is(i-1, "=") || p.is(i-1, "!") || p.is(i-1, "<") || p.is(i-1, ">"))
}

// call adds the text of the call whose name is token i.
func (p *python) call(i int) {
	name := p.text(i)
	sure, ok := pythonSinks[name]
	if p.options.sink(name) {
		sure, ok = certain, true
	}
	if !ok || i > 0 && p.tokens[i-1].kind == pyName && p.text(i-1) == "def" {
		return
	}
	first := p.argument(i + 2)
	if first < 0 {
		return
	}
	for { // the alternatives of a conditional expression
		t := &Text{Call: p.tokens[i].start, Sink: name, Certain: sure == certain}
		end, known := p.expression(first, t)
		end = max(end, first+1)
		t.Span = sqlguard.Span{Start: p.tokens[first].start, End: p.tokens[min(end, len(p.tokens))-1].end}
		conditional := end < len(p.tokens) && p.tokens[end].kind == pyName && p.text(end) == "if"
		if known && !conditional && !p.ends(end) { // an operator that is not understood
			t.hole(sqlguard.Span{Start: p.tokens[end].start, End: p.tokens[end].end}, false)
		}
		switch {
		case known:
			if strings.Contains(t.SQL(), "%") { // parameters of drivers, as in PEP 249's pyformat
				t = percent(t, true)
			}
			if sure.judges(t) {
				p.texts = append(p.texts, t)
			}
		case sure >= likely && !p.is(first, ")"):
			p.texts = append(p.texts, unknown(t))
		}
		if !conditional {
			return
		}
		for end < len(p.tokens) && p.tokens[end].kind != pyLine && (p.tokens[end].kind != pyName || p.text(end) != "else") {
			end++
		}
		if first = end + 1; first >= len(p.tokens) || p.tokens[end].kind == pyLine {
			return
		}
	}
}

// argument returns the first token of the argument with the text, for the call
// at token i: the first argument, or the one with a known name. It returns -1
// if there is none.
func (p *python) argument(i int) int {
	for i < len(p.tokens) && !p.is(i, ")") {
		named := p.tokens[i].kind == pyName && p.is(i+1, "=") && !p.is(i+2, "=")
		if !named {
			return i
		}
		switch p.text(i) {
		case "sql", "query", "statement", "operation":
			return i + 2
		}
		depth := 0
		for i < len(p.tokens) && (depth > 0 || !p.is(i, ",") && !p.is(i, ")")) {
			switch {
			case p.is(i, "(") || p.is(i, "[") || p.is(i, "{"):
				depth++
			case p.is(i, ")") || p.is(i, "]") || p.is(i, "}"):
				depth--
			}
			i++
		}
		if p.is(i, ",") {
			i++
		}
	}
	return -1
}

// ends reports whether an argument ends before token i.
func (p *python) ends(i int) bool {
	return i >= len(p.tokens) || p.tokens[i].kind == pyLine || p.is(i, ",") || p.is(i, ")")
}

// expression appends the value of the expression at token i. It reads up to a
// comma, a closing bracket or the end of a line. It reports where the
// expression ends and whether a part of its value is known.
func (p *python) expression(i int, t *Text) (end int, known bool) {
	for {
		var operand Text
		from := i
		next, ok := p.operand(i, &operand)
		if !ok {
			next = p.skip(i)
			operand = Text{}
			if next > i {
				operand.hole(sqlguard.Span{Start: p.tokens[i].start, End: p.tokens[next-1].end}, false)
			}
		}
		known = known || ok
		t.add(&operand)
		if i = next; !p.is(i, "+") || i == from {
			return i, known
		}
		i++
	}
}

// skip returns the token after an operand that is not understood.
func (p *python) skip(i int) int {
	depth := 0
	for ; i < len(p.tokens); i++ {
		switch {
		case p.tokens[i].kind == pyLine && depth == 0:
			return i
		case p.is(i, "(") || p.is(i, "[") || p.is(i, "{"):
			depth++
		case p.is(i, ")") || p.is(i, "]") || p.is(i, "}"):
			if depth == 0 {
				return i
			}
			depth--
		case depth == 0 && (p.is(i, ",") || p.is(i, "+")):
			return i
		}
	}
	return i
}

// operand appends the text of one operand: adjacent strings, a name with a
// known text, or a parenthesis, with everything that is formatted into it.
func (p *python) operand(i int, t *Text) (next int, ok bool) {
	switch {
	case i >= len(p.tokens):
		return i, false
	case p.tokens[i].kind == pyString:
		for i < len(p.tokens) && p.tokens[i].kind == pyString {
			if !p.literal(i, t) {
				return i, false
			}
			i++
		}
	case p.is(i, "("):
		end, known := p.expression(i+1, t)
		if !known || !p.is(end, ")") {
			return i, false
		}
		i = end + 1
	case p.tokens[i].kind == pyName && p.inner(i): // text("…") around the text
		end, known := p.expression(i+2, t)
		if !known || !p.is(end, ")") {
			return i, false
		}
		i = end + 1
	case p.tokens[i].kind == pyName:
		name := p.text(i)
		value, once := p.assigned[name]
		if !once || p.resolving[name] || p.is(i+1, "(") || p.is(i+1, ".") && !p.is(i+3, "(") || p.is(i+1, "[") {
			return i, false
		}
		p.resolving[name] = true
		end, known := p.expression(value, t)
		delete(p.resolving, name)
		if !known || p.tokens[end].kind != pyLine {
			return i, false
		}
		i++
	default:
		return i, false
	}
	return p.formats(i, t)
}

// inner reports whether token i is a function that returns its text unchanged.
func (p *python) inner(i int) bool {
	if !p.is(i+1, "(") || i > 0 && p.is(i-1, ".") {
		return false
	}
	switch p.text(i) {
	case "text", "dedent", "SQL", "cleandoc":
		return true
	default:
		return false
	}
}

// formats reads what follows a text: % values, .format(…), .strip() and the
// like. Anything unknown makes the text unknown.
func (p *python) formats(i int, t *Text) (next int, ok bool) {
	for {
		switch {
		case p.is(i, "%"):
			*t = *percent(t, false)
			return p.skip(i + 1), true
		case p.is(i, ".") && i+2 < len(p.tokens) && p.is(i+2, "("):
			method := p.text(i + 1)
			end := p.closing(i + 2)
			switch method {
			case "format":
				*t = *braces(t)
			case "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "bindparams", "execution_options":
			default:
				return i, false
			}
			i = end
		case p.is(i, "[") || p.is(i, "(") || p.is(i, "."):
			return i, false
		default:
			return i, true
		}
	}
}

// closing returns the token after the bracket that closes the bracket at i.
func (p *python) closing(i int) int {
	depth := 0
	for ; i < len(p.tokens); i++ {
		switch {
		case p.is(i, "(") || p.is(i, "[") || p.is(i, "{"):
			depth++
		case p.is(i, ")") || p.is(i, "]") || p.is(i, "}"):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// literal appends a string. Bytes literals are not text.
func (p *python) literal(i int, t *Text) bool {
	raw, at := p.text(i), p.tokens[i].start
	quote := strings.IndexAny(raw, `'"`)
	prefix := strings.ToLower(raw[:quote])
	if strings.Contains(prefix, "b") {
		return false
	}
	n := len(pyQuote(raw, quote))
	body := raw[quote+n : len(raw)-n]
	pyContent(body, raw[quote:quote+n], at+quote+n, strings.Contains(prefix, "r"), strings.ContainsAny(prefix, "ft"), t)
	return true
}

// pyContent appends the content of a string with that quote. It decodes escapes
// unless the string is raw, and reads replacement fields if it is formatted
// (2.4.3).
func pyContent(body, quote string, at int, raw, formatted bool, t *Text) {
	start := 0
	flush := func(to int) { t.lines(body[start:to], at+start) }
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == '\\' && !raw && i+1 < len(body) && (!formatted || body[i+1] != '{'):
			flush(i)
			value, n := pyEscape(body[i:])
			t.escaped(value, sqlguard.Span{Start: at + i, End: at + i + n})
			i += n
			start = i
		case formatted && (c == '{' || c == '}') && i+1 < len(body) && body[i+1] == c:
			flush(i)
			t.escaped(body[i:i+1], sqlguard.Span{Start: at + i, End: at + i + 2})
			i += 2
			start = i
		case formatted && c == '{':
			flush(i)
			end, ok := pyFieldEnd(body, i, quote)
			if !ok {
				end = len(body)
			}
			t.hole(sqlguard.Span{Start: at + i, End: at + end}, strings.HasSuffix(body[i:end], ":d}"))
			i = end
			start = i
		default:
			i++
		}
	}
	flush(len(body))
}

// pyEscape decodes the escape at the start of s, and returns its length
// (2.4.1.1).
func pyEscape(s string) (string, int) {
	switch c := s[1]; c {
	case '\n', '\r':
		return "", 1 + lineEnd(s[1:])
	case '\\', '\'', '"':
		return s[1:2], 2
	case 'a', 'b', 'f', 'n', 'r', 't', 'v':
		return string("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)]), 2
	case 'x', 'u', 'U':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if len(s) >= 2+n {
			if v, err := strconv.ParseInt(s[2:2+n], 16, 64); err == nil && v <= utf8.MaxRune {
				return string(rune(v)), 2 + n //nolint:gosec // bounded above
			}
		}
		return s[:2], 2
	case 'N':
		if end := strings.IndexByte(s, '}'); strings.HasPrefix(s, `\N{`) && end > 0 {
			return "\uFFFD", end + 1
		}
		return s[:2], 2
	default:
		n := 1
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		if n > 1 {
			v, _ := strconv.ParseInt(s[1:n], 8, 16)
			return string(rune(v)), n
		}
		_, size := utf8.DecodeRuneInString(s[1:])
		return s[:1+size], 1 + size // Python keeps an unknown escape
	}
}

// percent returns a text with holes for the conversions of printf-style
// formatting (%s, %(name)s), and with % for %%. Some drivers use the same
// syntax for parameters.
func percent(t *Text, driver bool) *Text {
	out := &Text{Span: t.Span, Call: t.Call, Sink: t.Sink, Certain: t.Certain}
	sql, holes := t.SQL(), t.Holes
	copyTo := func(from, to int) {
		for len(holes) > 0 && holes[0].At <= to {
			out.run(t, from, holes[0].At)
			from = holes[0].At
			out.Holes = append(out.Holes, Hole{At: len(out.sql), Span: holes[0].Span, Number: holes[0].Number})
			holes = holes[1:]
		}
		out.run(t, from, to)
	}
	from := 0
	for i := 0; i < len(sql); {
		if sql[i] != '%' {
			i++
			continue
		}
		n, conversion := pyConversion(sql[i:])
		if n == 0 || driver && conversion != '%' && conversion != 's' && conversion != 'b' && conversion != 't' {
			i++
			continue
		}
		copyTo(from, i)
		span := sqlguard.Span{Start: t.place(i, false), End: t.place(i+n, true)}
		if conversion == '%' {
			out.escaped("%", span)
		} else {
			out.hole(span, strings.IndexByte("dioxX", conversion) >= 0)
		}
		i += n
		from = i
	}
	copyTo(from, len(sql))
	return out
}

// pyConversion returns the length and the type of the conversion at the start
// of s, or 0 if there is none.
func pyConversion(s string) (n int, conversion byte) {
	n = 1
	if strings.HasPrefix(s, "%(") {
		end := strings.IndexByte(s, ')')
		if end < 0 {
			return 0, 0
		}
		n = end + 1
	}
	for n < len(s) && strings.IndexByte("#0- +.123456789", s[n]) >= 0 {
		n++
	}
	if n >= len(s) || strings.IndexByte("diouxXeEfFgGcrsabt%", s[n]) < 0 || n > 1 && s[n] == ' ' {
		return 0, 0
	}
	return n + 1, s[n]
}

// braces returns a text with holes for the replacement fields of str.format.
func braces(t *Text) *Text {
	out := &Text{Span: t.Span, Call: t.Call, Sink: t.Sink, Certain: t.Certain, Holes: t.Holes}
	if len(t.Holes) > 0 {
		return t
	}
	sql := t.SQL()
	from := 0
	for i := 0; i < len(sql); {
		c := sql[i]
		switch {
		case (c == '{' || c == '}') && i+1 < len(sql) && sql[i+1] == c:
			out.run(t, from, i+1)
			i += 2
			from = i
		case c == '{':
			out.run(t, from, i)
			end := i + strings.IndexByte(sql[i:]+"}", '}') + 1
			end = min(end, len(sql))
			out.hole(sqlguard.Span{Start: t.place(i, false), End: t.place(end, true)}, false)
			i = end
			from = i
		default:
			i++
		}
	}
	out.run(t, from, len(sql))
	return out
}
