package sqlguard

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// normalize returns the text with every literal replaced by ?, comments
// dropped, unquoted words in lower case and single spaces, and the SHA-256 of
// that in hex. It holds no data of the statement, and is equal in all builds.
func normalize(sql string, tokens Tokens) (text, fingerprint string) {
	var b strings.Builder
	b.Grow(len(sql))
	last := TokenOpen // no space before the first token
	for _, t := range tokens.List {
		switch t.Kind {
		case TokenComment, TokenTerminator:
			continue
		default:
		}
		if spaced(last, t.Kind) {
			b.WriteByte(' ')
		}
		last = t.Kind
		switch t.Kind {
		case TokenString, TokenNumber:
			b.WriteByte('?')
		case TokenQuotedText:
			b.WriteString(`"?"`)
		case TokenUnterminated, TokenExecutableComment, TokenClientCommand:
			b.WriteString("<?>") // may hold anything
		case TokenWord:
			writeLower(&b, t.Text(sql))
		default:
			b.WriteString(t.Text(sql))
		}
	}
	text = b.String()
	sum := sha256.Sum256([]byte(text))
	return text, hex.EncodeToString(sum[:])
}

// spaced says whether a space stands between two tokens of the normal form.
func spaced(before, after TokenKind) bool {
	return before != TokenOpen && before != TokenDot && after != TokenDot && after != TokenComma && after != TokenClose
}

// writeLower writes word in lower case; ASCII only, as servers fold keywords.
func writeLower(b *strings.Builder, word string) {
	for i := range len(word) {
		c := word[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
}
