package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a text. What is larger is refused.
const (
	maxText    = 64 << 10 // bytes
	maxHeight  = 100      // of the tree
	maxNesting = 250      // brackets within brackets, redundant ones included
	maxNodes   = 100_000  // a simple CASE repeats its operand, so that nodes are counted and not bytes alone
	maxDigits  = 38       // of a number
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenQuoted // a quoted identifier
	tokenNumber
	tokenString
	tokenSymbol
)

// token is one word of a text.
type token struct {
	kind  tokenKind
	text  string // of a word as written; of quoted identifiers and strings the value; of numbers the canonical form
	lower string // of words
	pos   int
	end   int
}

func (t token) is(symbol string) bool { return t.kind == tokenSymbol && t.text == symbol }

func (t token) word(lower string) bool { return t.kind == tokenWord && t.lower == lower }

// refuse makes an error of class unsafe_expression.
func refuse(pos int, hint, format string, args ...any) *Error {
	return &Error{Class: UnsafeExpression, Message: fmt.Sprintf(format, args...), Hint: hint, Pos: pos}
}

// lex cuts a text into tokens; the last one is tokenEnd.
func lex(text string) ([]token, *Error) {
	if len(text) > maxText {
		return nil, refuse(-1, "split it into several measures or filters", "the text has %d bytes; at most %d are read", len(text), maxText)
	}
	if i := invalidUTF8(text); i >= 0 {
		return nil, refuse(i, "write the text in UTF-8", "the text is not valid UTF-8 at byte %d", i)
	}
	var list []token
	for i := 0; ; {
		for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
			i++
		}
		if i == len(text) {
			return append(list, token{kind: tokenEnd, pos: i, end: i}), nil
		}
		t, err := next(text, i)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
		i = t.end
	}
}

func invalidUTF8(text string) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

func next(text string, i int) (token, *Error) {
	c := text[i]
	switch {
	case c == '\'':
		return stringAt(text, i)
	case c == '"' || c == '`' || c == '[':
		return quotedAt(text, i)
	case isDigit(c), c == '.' && i+1 < len(text) && isDigit(text[i+1]):
		return numberAt(text, i)
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	if r == '_' || unicode.IsLetter(r) {
		return wordAt(text, i)
	}
	return symbolAt(text, i, r)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func stringAt(text string, i int) (token, *Error) {
	value, end, err := enclosed(text, i, '\'', "string")
	if err != nil {
		return token{}, err
	}
	return token{kind: tokenString, text: value, pos: i, end: end}, nil
}

func quotedAt(text string, i int) (token, *Error) {
	closer := text[i]
	if closer == '[' {
		closer = ']'
	}
	value, end, err := enclosed(text, i, closer, "quoted name")
	if err != nil {
		return token{}, err
	}
	if value == "" {
		return token{}, refuse(i, `write the name between the quotes; a string stands in single quotes: ''`, "the quoted name is empty")
	}
	return token{kind: tokenQuoted, text: value, pos: i, end: end}, nil
}

// enclosed reads from text[i], an opening quote, to the closer. A doubled closer is one
// character of the value; no other character has a second meaning.
func enclosed(text string, i int, closer byte, what string) (value string, end int, err *Error) {
	var b strings.Builder
	for j := i + 1; j < len(text); {
		if text[j] == closer {
			if j+1 < len(text) && text[j+1] == closer {
				b.WriteByte(closer)
				j += 2
				continue
			}
			return b.String(), j + 1, nil
		}
		r, n := utf8.DecodeRuneInString(text[j:])
		if unicode.IsControl(r) && (closer != '\'' || r != '\t' && r != '\n' && r != '\r') {
			return "", 0, refuse(j, "remove the character", "the %s holds the control character U+%04X", what, r)
		}
		b.WriteString(text[j : j+n])
		j += n
	}
	return "", 0, refuse(i, fmt.Sprintf("close it with %c; a %c inside is written twice", closer, closer), "the %s that begins at byte %d does not end", what, i)
}

func numberAt(text string, i int) (token, *Error) {
	j := i
	for j < len(text) && isDigit(text[j]) {
		j++
	}
	whole, fraction, exponent := text[i:j], "", ""
	if j < len(text) && text[j] == '.' {
		k := j + 1
		for k < len(text) && isDigit(text[k]) {
			k++
		}
		fraction, j = text[j+1:k], k
	}
	if j < len(text) && (text[j] == 'e' || text[j] == 'E') {
		k := j + 1
		if k < len(text) && (text[k] == '+' || text[k] == '-') {
			k++
		}
		digits := k
		for k < len(text) && isDigit(text[k]) {
			k++
		}
		if k > digits {
			exponent, j = strings.TrimPrefix(text[j+1:k], "+"), k
		}
	}
	if r, _ := utf8.DecodeRuneInString(text[j:]); j < len(text) && (r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return token{}, refuse(i, "write a decimal number such as 12, 0.5 or 1e6; a name that begins with a digit stands in double quotes", "%s is neither a number nor a name", excerpt(text[i:], 20))
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if len(whole)+len(fraction) > maxDigits {
		return token{}, refuse(i, "", "the number %s has more than %d digits", excerpt(text[i:j], 20), maxDigits)
	}
	value := whole
	if fraction != "" {
		value += "." + fraction
	}
	if exponent != "" {
		if len(exponent) > 6 {
			return token{}, refuse(i, "", "the exponent of %s is too large", excerpt(text[i:j], 20))
		}
		n, err := strconv.Atoi(exponent)
		if err != nil {
			return token{}, refuse(i, "", "%s is not a number", excerpt(text[i:j], 20))
		}
		if n < -300 {
			return token{}, refuse(i, "write 0", "the number %s is too small", excerpt(text[i:j], 20))
		}
		value += "e" + strconv.Itoa(n)
	}
	if _, err := strconv.ParseFloat(value, 64); err != nil {
		return token{}, refuse(i, "", "the number %s is too large", excerpt(value, 20))
	}
	return token{kind: tokenNumber, text: value, pos: i, end: j}, nil
}

// prefixes are letters that change the meaning of the string after them in some dialect.
var prefixes = map[string]bool{"e": true, "n": true, "x": true, "b": true, "r": true, "q": true, "nq": true}

func wordAt(text string, i int) (token, *Error) {
	j := i
	for j < len(text) {
		r, n := utf8.DecodeRuneInString(text[j:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Mc, r) {
			break
		}
		j += n
	}
	word := text[i:j]
	lower := strings.ToLower(word)
	rest := text[j:]
	switch {
	case strings.HasPrefix(rest, "$") || strings.HasPrefix(rest, "#") || strings.HasPrefix(rest, "@"):
		return token{}, refuse(i, `write a name with such characters in double quotes: "a$b"`, "the name %s contains %c", excerpt(word, 40), rest[0])
	case strings.HasPrefix(rest, "'") && (prefixes[lower] || word[0] == '_'),
		lower == "u" && (strings.HasPrefix(rest, "&'") || strings.HasPrefix(rest, `&"`)):
		return token{}, refuse(i, "write the characters themselves in single quotes: 'text'", "%s before a quote begins a string with escapes or of another kind, which is not known", excerpt(word, 40))
	}
	return token{kind: tokenWord, text: word, lower: lower, pos: i, end: j}, nil
}

// symbols are the operators and marks of the grammar.
var symbols = []string{"<>", "!=", "<=", ">=", "||", "::", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", "."}

// refusals are marks of SQL that are refused. Of all marks the longest one is read.
var refusals = []struct{ mark, what, hint string }{
	{"<=>", "the operator <=>", "write a = b OR (a IS NULL AND b IS NULL)"},
	{"->>", "the JSON operator ->>", "declare a computed column in the source's sql"},
	{"!~~", "the operator !~~", "write NOT LIKE"},
	{"--", "-- begins a comment, which", "remove the comment; a double minus is written - (-x)"},
	{"/*", "/* begins a comment, which", "remove the comment"},
	{"*/", "*/ ends a comment, which", "remove the comment"},
	{"//", "the operator //", "write floor(a / b)"},
	{"**", "the operator **", "write the product: x * x"},
	{"==", "the operator ==", "write ="},
	{"=>", "the mark =>", "write arguments by their position"},
	{":=", "the assignment :=", "write an expression"},
	{"->", "the JSON operator ->", "declare a computed column in the source's sql"},
	{"<<", "the bit operator <<", "write arithmetic or comparisons"},
	{">>", "the bit operator >>", "write arithmetic or comparisons"},
	{"&&", "the operator &&", "write AND"},
	{"~~", "the operator ~~", "write LIKE"},
	{"!~", "the regular-expression operator !~", "write NOT LIKE with % and _"},
	{"$$", "a dollar-quoted string", "write the string in single quotes: 'text'"},
	{"@@", "a variable of the server (@@)", "write the value itself"},
	{"{{", "the template mark {{", "write the value itself"},
	{";", "the semicolon", "give one expression, without ; and without a second statement"},
	{"?", "the parameter marker ?", "write the value itself: a number, or a string in single quotes"},
	{":", "the parameter marker :", "write the value itself: a number, or a string in single quotes"},
	{"@", "the variable or parameter marker @", "write the value itself: a number, or a string in single quotes"},
	{"#", "# begins a comment or a name of another dialect, which", "remove it, or write the name in double quotes"},
	{"~", "the regular-expression operator ~", "write LIKE with % and _"},
	{"!", "the operator !", "write NOT, or <> for unequal"},
	{"&", "the bit operator &", "write AND"},
	{"|", "the bit operator |", "write OR, or || for joining texts"},
	{"^", "the operator ^", "write the product: x * x"},
	{"]", "the bracket ]", "write IN (…) for lists"},
	{"{", "the brace {", "write the value itself"},
	{"}", "the brace }", "write the value itself"},
	{`\`, `the backslash \`, "remove it"},
}

func symbolAt(text string, i int, r rune) (token, *Error) {
	rest := text[i:]
	for length := min(3, len(rest)); length > 0; length-- {
		for _, f := range refusals {
			if f.mark == rest[:length] {
				return token{}, refuse(i, f.hint, "%s is not part of expressions", f.what)
			}
		}
		if slices.Contains(symbols, rest[:length]) {
			return token{kind: tokenSymbol, text: rest[:length], pos: i, end: i + length}, nil
		}
	}
	if r == '$' {
		what := "$ begins a dollar-quoted string or a parameter, which"
		if len(rest) > 1 && isDigit(rest[1]) {
			what = "the parameter marker $"
		}
		return token{}, refuse(i, "write the value itself: a number, or a string in single quotes; a name with $ stands in double quotes", "%s is not part of expressions", what)
	}
	switch {
	case unicode.IsControl(r):
		return token{}, refuse(i, "remove the character", "the text holds the control character U+%04X", r)
	case unicode.IsSpace(r):
		return token{}, refuse(i, "write an ordinary space", "the text holds the space character U+%04X", r)
	case r == '‘' || r == '’' || r == '“' || r == '”':
		return token{}, refuse(i, `write strings in straight single quotes and quoted names in straight double quotes`, "%c is not a quote of SQL", r)
	case unicode.IsGraphic(r):
		return token{}, refuse(i, "remove it, or put the name that it belongs to in double quotes", "the character %c is not part of expressions", r)
	}
	return token{}, refuse(i, "remove the character", "the character U+%04X is not part of expressions", r)
}

// excerpt is the beginning of a text for a message.
func excerpt(text string, runes int) string {
	n := 0
	for i, r := range text {
		if n == runes {
			return text[:i] + "…"
		}
		if unicode.IsControl(r) {
			return text[:i]
		}
		n++
	}
	return text
}

// Part is an identifier of a path: plain, or in any of the forms "x", `x`, [x].
type Part struct {
	Name   string
	Quoted bool
}

// ParsePath reads up to limit identifiers with dots between them, and nothing else.
// Every word is a name here, reserved or not.
func ParsePath(text string, limit int) ([]Part, *Error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	if tokens[0].kind == tokenEnd {
		return nil, refuse(0, "", "the name is empty")
	}
	var list []Part
	for i := 0; ; i += 2 {
		t := tokens[i]
		if t.kind != tokenWord && t.kind != tokenQuoted {
			return nil, refuse(t.pos, `write a name such as a.b, each part plain or in double quotes`, "%s is not a name", describe(t))
		}
		list = append(list, Part{Name: t.text, Quoted: t.kind == tokenQuoted})
		if len(list) > limit {
			return nil, refuse(t.pos, "", "the name has more than %s", count(limit, "part"))
		}
		after := tokens[i+1]
		if after.kind == tokenEnd {
			return list, nil
		}
		if !after.is(".") {
			return nil, refuse(after.pos, `write a name that has other characters than letters, digits and _ in double quotes`, "%s follows the name %s, where only a dot may follow", describe(after), excerpt(t.text, 40))
		}
	}
}

// ParseName reads a name of one or two parts: field, or source.field.
func ParseName(text string) (Name, *Error) {
	list, err := ParsePath(text, 2)
	switch {
	case err != nil:
		return Name{}, err
	case len(list) == 1:
		return Name{Leaf: list[0].Name, QuotedLeaf: list[0].Quoted}, nil
	}
	return Name{Qualifier: list[0].Name, Leaf: list[1].Name, QuotedQualifier: list[0].Quoted, QuotedLeaf: list[1].Quoted}, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// describe names a token in a message.
func describe(t token) string {
	switch t.kind {
	case tokenEnd:
		return "the end of the text"
	case tokenString:
		return "the string '" + excerpt(t.text, 30) + "'"
	case tokenQuoted:
		return `the name "` + excerpt(t.text, 30) + `"`
	case tokenNumber:
		return "the number " + t.text
	case tokenWord, tokenSymbol:
	}
	return excerpt(t.text, 40)
}
