package tdsserver

import (
	"strings"
	"unicode/utf16"
)

// high1252 are the characters of code page 1252 from 80 to 9F. 0 means that
// there is none.
var high1252 = [32]rune{
	0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
	0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
}

// codePage1252 encodes s for a varchar. A character that is not in the code
// page becomes one question mark for each of its UTF-16 units.
func codePage1252(s string) []byte {
	b := make([]byte, 0, len(s))
next:
	for _, r := range s {
		if r < 0x80 || r >= 0xA0 && r <= 0xFF {
			b = append(b, byte(r))
			continue
		}
		for i, h := range high1252 {
			if h == r {
				b = append(b, byte(0x80+i))
				continue next
			}
		}
		b = append(b, '?')
		if utf16.RuneLen(r) == 2 {
			b = append(b, '?')
		}
	}
	return b
}

// fromCodePage1252 decodes a varchar.
func fromCodePage1252(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		r := rune(c)
		if c >= 0x80 && c < 0xA0 && high1252[c-0x80] != 0 {
			r = high1252[c-0x80]
		}
		s.WriteRune(r)
	}
	return s.String()
}
