package rank

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WithChecksum appends the checksum that a stored index has.
func WithChecksum(body []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clone(body), crc32.Checksum(body, castagnoli))
}

// Quotes returns the quoted texts.
func Quotes(text string) []string {
	var out []string
	for _, a := range quotes(text) {
		out = append(out, a.text)
	}
	return out
}

// PlainQuotes is Quotes in quadratic time.
func PlainQuotes(text string) []string {
	runes := []rune(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return utf8.RuneError
		}
		return runes[i]
	}
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	var out []string
	free := 0 // runes before it belong to a quoted text
	for i := 0; i < len(runes); i++ {
		last, opens := closing[runes[i]]
		if !opens || i > free && letter(at(i-1)) {
			continue
		}
		for end := i + 2; end < len(runes); end++ {
			if runes[end] == last && (last != '\'' && last != '’' || !letter(at(end+1))) {
				out = append(out, strings.TrimSpace(string(runes[i+1:end])))
				i, free = end, end+1
				break
			}
		}
	}
	return out
}
