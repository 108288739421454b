package source

import (
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// token returns the next token and its span. The text is valid JSON.
func (n *notebook) token() (json.Token, sqlguard.Span) {
	start := int(n.decoder.InputOffset())
	token, err := n.decoder.Token()
	end := int(n.decoder.InputOffset())
	if err != nil {
		n.fail(start, "it is no JSON: "+err.Error())
		return nil, sqlguard.Span{Start: start, End: start}
	}
	for start < end && strings.IndexByte(" \t\r\n,:", n.source[start]) >= 0 {
		start++
	}
	return token, sqlguard.Span{Start: start, End: end}
}

func (n *notebook) fail(at int, message string) {
	if n.fault == nil {
		n.fault = &SyntaxError{Offset: at, Message: message}
	}
}

// members calls f with the name of each member of the object that begins with
// token. f reports whether it has read the value. If a name is repeated,
// readers differ on which value counts.
func (n *notebook) members(token json.Token, f func(name string) bool) {
	if token != json.Delim('{') {
		n.skip(token)
		return
	}
	seen := map[string]bool{}
	for n.fault == nil && n.decoder.More() {
		name, span := n.token()
		key, _ := name.(string)
		if seen[key] {
			n.fail(span.Start, "the member "+key+" stands twice")
			return
		}
		seen[key] = true
		if !f(key) {
			value, _ := n.token()
			n.skip(value)
		}
	}
	n.token()
}

// elements calls f for each element of the list that begins with token. f reads
// the element.
func (n *notebook) elements(token json.Token, f func()) {
	if token != json.Delim('[') {
		n.skip(token)
		return
	}
	for n.fault == nil && n.decoder.More() {
		f()
	}
	n.token()
}

// skip reads the rest of the value that begins with a token.
func (n *notebook) skip(token json.Token) {
	depth := 0
	for {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth <= 0 || n.fault != nil {
			return
		}
		token, _ = n.token()
	}
}

// jsonString appends the content of the string at a span of the file.
func jsonString(t *Text, source string, span sqlguard.Span) {
	at, end := span.Start+1, span.End-1
	for at < end {
		run := strings.IndexByte(source[at:end], '\\')
		if run < 0 {
			run = end - at
		}
		t.verbatim(source[at:at+run], at)
		if at += run; at >= end {
			return
		}
		value, size := jsonEscape(source[at:end])
		t.escaped(value, sqlguard.Span{Start: at, End: at + size})
		at += size
	}
}

// jsonEscape decodes the escape at the start of s, and returns its length (RFC
// 8259, section 7). Half of a surrogate pair is not a character.
func jsonEscape(s string) (string, int) {
	if s[1] != 'u' {
		if i := strings.IndexByte("bfnrt", s[1]); i >= 0 {
			return "\b\f\n\r\t"[i : i+1], 2
		}
		return s[1:2], 2
	}
	unit := func(s string) rune {
		v := rune(0)
		for _, c := range []byte(s) {
			v = v<<4 | rune(strings.IndexByte("0123456789abcdef", c|0x20)&15)
			if c >= '0' && c <= '9' {
				v = v&^15 | rune(c-'0')
			}
		}
		return v
	}
	first := unit(s[2:6])
	if !utf16.IsSurrogate(first) {
		return string(first), 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if r := utf16.DecodeRune(first, unit(s[8:12])); r != utf8.RuneError {
			return string(r), 12
		}
	}
	return string(utf8.RuneError), 6
}
