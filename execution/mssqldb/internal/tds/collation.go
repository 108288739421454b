package tds

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// collation says which code page a varchar uses (MS-TDS 2.2.5.1.2).
type collation struct {
	bits uint32 // language and flags
	sort byte   // the sort order, for collations whose names begin with SQL_
}

// flagUTF8 marks the collations whose names end in _UTF8.
const flagUTF8 = 1 << 26

// appendText decodes raw. It reports false when raw has bytes that are not in
// the code page, or when the code page is unknown.
func (c collation) appendText(dst, raw []byte) (out []byte, ok bool) {
	if isASCII(raw) {
		return append(dst, raw...), true
	}
	if c.bits&flagUTF8 != 0 {
		return append(dst, raw...), utf8.Valid(raw)
	}
	page := c.page()
	if page == nil || !known(page, raw) {
		return dst, false
	}
	text, err := page.NewDecoder().Bytes(raw)
	// No code page contains U+FFFD, so it marks bytes that cannot be decoded.
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return dst, false
	}
	return append(dst, text...), true
}

func isASCII(raw []byte) bool {
	for _, b := range raw {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// known reports whether the server's code page has all the characters too. The
// decoders use the tables of web browsers, which have some more.
func known(page encoding.Encoding, raw []byte) bool {
	switch page {
	case charmap.Windows1255:
		return !slices.Contains(raw, 0xCA)
	case japanese.ShiftJIS: // the half-width letters lie between the two ranges of lead bytes
		return allPairs(raw, func(b byte) bool { return b >= 0x81 && b <= 0x9F || b >= 0xE0 }, func(at uint16) bool { return at != 0x80 })
	case simplifiedchinese.GBK:
		return allPairs(raw, func(b byte) bool { return b >= 0x81 }, func(at uint16) bool {
			return at != 0xA2E3 && at != 0xA3A0 && at != 0xA8BF && (at < 0xA989 || at > 0xA995) && (at < 0xFE50 || at > 0xFEA0)
		})
	case traditionalchinese.Big5:
		return allPairs(raw, func(b byte) bool { return b >= 0x81 }, func(at uint16) bool {
			return at >= 0xA140 && at <= 0xC67E && (at < 0xA3C0 || at > 0xA3E0) || at >= 0xC940 && at <= 0xF9FD
		})
	default:
		return true
	}
}

// allPairs reports whether has returns true for every character that is not
// ASCII. A character has two bytes if the first is a lead byte, else one.
func allPairs(raw []byte, lead func(byte) bool, has func(uint16) bool) bool {
	for i := 0; i < len(raw); i++ {
		at := uint16(raw[i])
		switch {
		case at < utf8.RuneSelf:
			continue
		case !lead(raw[i]):
		case i+1 == len(raw):
			return false
		default:
			i++
			at = at<<8 | uint16(raw[i])
		}
		if !has(at) {
			return false
		}
	}
	return true
}

// page returns the code page of a collation, or nil if it is unknown.
// Collations named SQL_… have it by their sort order, the others by their
// language (SQL Server's "Collation and Unicode support"; MS-LCID).
func (c collation) page() encoding.Encoding {
	if c.sort != 0 {
		return sortPage(c.sort)
	}
	switch c.bits & 0xFFFFF {
	case 0x0411, 0x10411, 0x40411:
		return japanese.ShiftJIS
	case 0x0804, 0x1004, 0x20804:
		return simplifiedchinese.GBK
	case 0x0412, 0x10412:
		return korean.EUCKR
	case 0x0404, 0x0C04, 0x1404, 0x21404, 0x30404, 0x40404:
		return traditionalchinese.Big5
	case 0x041E:
		return charmap.Windows874
	case 0x0405, 0x040E, 0x0415, 0x0418, 0x041A, 0x041B, 0x041C, 0x0424, 0x0442, 0x081A, 0x141A, 0x1040E, 0x104E:
		return charmap.Windows1250
	case 0x0402, 0x0419, 0x0422, 0x0423, 0x042F, 0x043F, 0x0444, 0x046D, 0x0485, 0x082C, 0x0C1A, 0x201A:
		return charmap.Windows1251
	case 0x0408:
		return charmap.Windows1253
	case 0x041F, 0x042C, 0x0443:
		return charmap.Windows1254
	case 0x040D:
		return charmap.Windows1255
	case 0x0401, 0x0420, 0x0429, 0x0480, 0x048C, 0x0801, 0x0C01, 0x1001, 0x1401, 0x1801, 0x1C01, 0x2001, 0x2401, 0x2801,
		0x2C01, 0x3001, 0x3401, 0x3801, 0x3C01, 0x4001:
		return charmap.Windows1256
	case 0x0425, 0x0426, 0x0427, 0x0827:
		return charmap.Windows1257
	case 0x042A:
		return charmap.Windows1258
	case 0x0403, 0x0406, 0x0407, 0x0409, 0x040A, 0x040B, 0x040C, 0x040F, 0x0410, 0x0413, 0x0414, 0x0416, 0x0417, 0x041D,
		0x042D, 0x042E, 0x0436, 0x0437, 0x0438, 0x043B, 0x043E, 0x0452, 0x0456, 0x0462, 0x047A, 0x047C, 0x047E, 0x0483, 0x0807, 0x0809,
		0x080A, 0x080C, 0x0810, 0x0813, 0x0814, 0x0816, 0x081D, 0x083B, 0x0C07, 0x0C09, 0x0C0A, 0x0C0C, 0x1007, 0x1009, 0x100C,
		0x10407, 0x10437, 0x1407, 0x1409, 0x140C, 0x1809, 0x180C:
		return charmap.Windows1252
	default:
		return nil
	}
}

// sortPage returns the code page of a sort order.
func sortPage(sort byte) encoding.Encoding {
	switch {
	case sort >= 30 && sort <= 34:
		return charmap.CodePage437
	case sort >= 40 && sort <= 42, sort == 44, sort == 49, sort >= 55 && sort <= 61:
		return charmap.CodePage850
	case sort >= 50 && sort <= 54, sort >= 71 && sort <= 75, sort >= 183 && sort <= 186, sort >= 210 && sort <= 217:
		return charmap.Windows1252
	case sort >= 80 && sort <= 96:
		return charmap.Windows1250
	case sort >= 104 && sort <= 108:
		return charmap.Windows1251
	case sort >= 112 && sort <= 114, sort == 121, sort == 124:
		return charmap.Windows1253
	case sort >= 128 && sort <= 130:
		return charmap.Windows1254
	case sort >= 136 && sort <= 138:
		return charmap.Windows1255
	case sort >= 144 && sort <= 146:
		return charmap.Windows1256
	case sort >= 152 && sort <= 160:
		return charmap.Windows1257
	case sort == 192, sort == 193, sort == 200:
		return japanese.ShiftJIS
	case sort == 194, sort == 195, sort == 201:
		return korean.EUCKR
	case sort == 196, sort == 197, sort == 202:
		return traditionalchinese.Big5
	case sort == 198, sort == 199, sort == 203:
		return simplifiedchinese.GBK
	case sort >= 204 && sort <= 206:
		return charmap.Windows874
	default:
		return nil
	}
}
