package dictionary

import (
	"hash/fnv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/rank"
)

// separator follows each value in the arena of a [Set]. No folded value has it,
// because folding turns white space into single spaces.
const separator = '\n'

// fold returns the form of a text that is compared: rank.Fold, on one line.
func fold(text string) string {
	folded := rank.Fold(text)
	if strings.IndexByte(folded, separator) >= 0 {
		folded = strings.ReplaceAll(folded, string(rune(separator)), " ")
	}
	return folded
}

// folding is a fingerprint of what [fold] does. It changes when rank.Fold changes,
// so that a file with folded values of another version is folded again.
var folding = sync.OnceValue(func() uint64 {
	var probe strings.Builder
	for _, block := range []struct{ from, to rune }{
		{0x20, 0x24F},
		{0x370, 0x4FF},
		{0x5D0, 0x5EA},
		{0x610, 0x66F},
		{0xE01, 0xE4E},
		{0x1E00, 0x1E20},
		{0x1E9E, 0x1E9E},
		{0x2000, 0x2044},
		{0x2212, 0x2212},
		{0x3000, 0x30FF},
		{0xAC00, 0xAC10},
		{0xFF00, 0xFF9F},
	} {
		for r := block.from; r <= block.to; r++ {
			probe.WriteString("x")
			probe.WriteRune(r)
			probe.WriteString("y ")
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(rank.Fold(probe.String())))
	_, _ = h.Write([]byte(rank.FoldCode(probe.String())))
	return h.Sum64()
})

// codeOf returns a hash of a code form. It is 0 if the code is empty.
func codeOf(code string) uint32 {
	if code == "" {
		return 0
	}
	const offset, prime = 2166136261, 16777619
	h := uint32(offset)
	for i := range len(code) {
		h = (h ^ uint32(code[i])) * prime
	}
	return max(h, 1)
}

// letters is a set of the letters and digits of a text. Different runes may share
// a bit.
type letters uint64

// letterBit returns the bit of a rune, or 0 if it is no letter and no digit.
func letterBit(r rune) letters {
	switch {
	case 'a' <= r && r <= 'z':
		return 1 << (r - 'a')
	case '0' <= r && r <= '9':
		return 1 << (26 + r - '0')
	case r < utf8.RuneSelf || !isWordRune(r):
		return 0
	default:
		return 1 << (36 + uint32(r)*2654435761>>16%28)
	}
}

func lettersOf(folded []byte) letters {
	var set letters
	for i := 0; i < len(folded); {
		if c := folded[i]; c < utf8.RuneSelf {
			set |= letterBit(rune(c))
			i++
			continue
		}
		r, size := utf8.DecodeRune(folded[i:])
		set |= letterBit(r)
		i += size
	}
	return set
}

// isWordRune reports whether r belongs to a word.
func isWordRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	case r <= 0xFFFF:
		return wordRunes()[r>>6]&(1<<(r&63)) != 0
	default:
		return unicode.In(r, unicode.L, unicode.N, unicode.M)
	}
}

// wordRunes holds a bit for each rune up to U+FFFF that belongs to a word. It is much
// faster than the tables of Unicode, which a search would ask for each rune.
var wordRunes = sync.OnceValue(func() *[1024]uint64 {
	var set [1024]uint64
	for r := range rune(0x10000) {
		if unicode.In(r, unicode.L, unicode.N, unicode.M) {
			set[r>>6] |= 1 << (r & 63)
		}
	}
	return &set
})
