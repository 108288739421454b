package sqlguard

import (
	"crypto/sha256"
	"encoding/hex"
)

// normalize returns the text with every literal replaced by ?, comments
// dropped, unquoted words in lower case and single spaces, and the SHA-256 of
// that in hex. It holds no data of the statement, and is equal in all builds.
func normalize(sql string, tokens Tokens) (text, fingerprint string) {
	b := make([]byte, 0, len(sql)+len(tokens.List)/2)
	last := TokenOpen // no space before the first token
	for _, t := range tokens.List {
		if t.Kind == TokenComment || t.Kind == TokenTerminator {
			continue
		}
		if spaced(last, t.Kind) {
			b = append(b, ' ')
		}
		last = t.Kind
		switch t.Kind { //nolint:exhaustive // the other kinds hold no data
		case TokenString, TokenNumber:
			b = append(b, '?')
		case TokenQuotedText:
			b = append(b, `"?"`...)
		case TokenUnterminated, TokenExecutableComment, TokenClientCommand:
			b = append(b, "<?>"...) // may hold anything
		case TokenWord:
			b = appendLower(b, t.Text(sql))
		default:
			b = append(b, t.Text(sql)...)
		}
	}
	sum := sha256.Sum256(b)
	return string(b), hex.EncodeToString(sum[:])
}

// spaced says whether a space stands between two tokens of the normal form.
func spaced(before, after TokenKind) bool {
	return before != TokenOpen && before != TokenDot && after != TokenDot && after != TokenComma && after != TokenClose
}

// appendLower appends word in lower case; ASCII only, as servers fold keywords.
func appendLower(b []byte, word string) []byte {
	for i := range len(word) {
		c := word[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}
