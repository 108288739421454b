package sqlguard

import (
	"crypto/sha256"
	"encoding/hex"
)

// normalize returns the normal form of a statement and its SHA-256 in hex. The normal
// form has ? for every literal, no comments, unquoted words in lower case, single spaces,
// and one ; between statements. It contains no data of the statement, and is equal in all builds.
func normalize(sql string, tokens Tokens) (text, fingerprint string) {
	b := make([]byte, 0, len(sql)+len(tokens.List)/2)
	last := TokenOpen // no space before the first token
	ended := false    // a terminator stands before the next token
	for _, t := range tokens.List {
		switch {
		case t.Kind == TokenComment:
			continue
		case t.Kind == TokenTerminator:
			ended = len(b) > 0
			continue
		case ended:
			b, ended = append(b, ';'), false
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
			b = append(b, "<?>"...) // may contain data
		case TokenWord:
			b = appendLower(b, t.Text(sql))
		default:
			b = append(b, t.Text(sql)...)
		}
	}
	sum := sha256.Sum256(b)
	return string(b), hex.EncodeToString(sum[:])
}

// spaced says whether the normal form has a space between two tokens.
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
