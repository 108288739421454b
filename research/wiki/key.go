package wiki

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/research/rank"
)

// MaxKey is the maximum length of a key, in bytes.
const MaxKey = 128

// ErrKey says that a text is not a key.
var ErrKey = errors.New("a key is letters, digits, _ and -, begins with a letter or digit, and has at most 128 characters")

// ValidKey reports whether key may name a page: ^[a-zA-Z0-9][a-zA-Z0-9_-]*$ and at
// most [MaxKey] bytes.
func ValidKey(key string) bool {
	if key == "" || len(key) > MaxKey || key[0] == '_' || key[0] == '-' {
		return false
	}
	for i := range len(key) {
		if !keyByte(key[i]) {
			return false
		}
	}
	return true
}

func keyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// CheckKey returns an error that wraps [ErrKey] and suggests a valid key, unless
// key is valid.
func CheckKey(key string) error {
	if ValidKey(key) {
		return nil
	}
	if near := Slug(key); near != "" {
		return fmt.Errorf("%q is not a key: %w; for example %q", Excerpt(key, 80), ErrKey, near)
	}
	return fmt.Errorf("%q is not a key: %w", Excerpt(key, 80), ErrKey)
}

// maxSlug is the maximum length of what [Slug] returns.
const maxSlug = 80

// Slug returns a key made of a text: its words in lower case and without accents,
// joined by -. It is "" if the text has no letter or digit that ASCII can write.
func Slug(text string) string {
	text = strings.TrimSuffix(text, extension)
	var b strings.Builder
	gap := false
	for _, r := range rank.Fold(Excerpt(text, 1000)) {
		switch {
		case r == '_' && b.Len() > 0 && !gap, r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		case r == '\'' || r == '’': // "what's" is one word
		default:
			gap = true
		}
	}
	slug := b.String()
	if len(slug) > maxSlug {
		cut := strings.LastIndexByte(slug[:maxSlug+1], '-')
		if cut < maxSlug/2 {
			cut = maxSlug
		}
		slug = slug[:cut]
	}
	return strings.TrimRight(slug, "-_")
}

// Excerpt returns the first n runes of a text, with an ellipsis if more follow.
func Excerpt(text string, n int) string {
	count := 0
	for i := range text {
		if count == n {
			return text[:i] + "…"
		}
		count++
	}
	return text
}
