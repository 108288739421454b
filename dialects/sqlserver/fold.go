package sqlserver

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
)

// skeleton folds a name to the form in which the widest collation compares it: it
// removes case, width, accents and characters without weight, and splits
// ligatures. Names of the server's own are recognised by it. Reference: Collation
// and Unicode support.
func skeleton(s string) string {
	if plainASCII(s) {
		return lexical.Lower(s)
	}
	var b strings.Builder
	for _, r := range s {
		switch base := baseLetter(r); {
		case r < utf8.RuneSelf || base != r:
			b.WriteRune(base)
		case ligatures[r] != "":
			b.WriteString(ligatures[r])
		case (unicode.IsLetter(r) || unicode.IsDigit(r)) && !fillers[r]:
			b.WriteRune(r)
		}
	}
	return strings.TrimRight(lexical.Lower(b.String()), " ")
}

// baseLetter returns the ASCII character of which r is a form, or r itself.
func baseLetter(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case r >= 0xFF01 && r <= 0xFF5E: // full width forms
		return r - 0xFEE0
	case r >= 0x1D400 && r <= 0x1D6A3: // mathematical letters, 13 alphabets in two cases
		return 'a' + (r-0x1D400)%26
	case r >= 0x1F130 && r <= 0x1F149, r >= 0x1F150 && r <= 0x1F169, r >= 0x1F170 && r <= 0x1F189: // in squares and circles
		return 'a' + (r-0x1F130)%32
	}
	if r >= 0x3041 && r <= 0x3096 { // hiragana are katakana to collations that know no kana type
		r += 0x60
	}
	if base, ok := baseLetters[r]; ok {
		return base
	}
	return r
}

var baseLetters = func() map[rune]rune {
	m := make(map[rune]rune)
	for i, letters := range accented {
		for _, r := range letters {
			m[r] = rune('a' + i)
		}
	}
	for i, r := range []rune(narrowKana) {
		m[0xFF66+rune(i)] = r
	}
	for pair := []rune(marked); len(pair) > 0; pair = pair[2:] {
		m[pair[0]] = pair[1]
	}
	for narrow := rune(0xFF66); narrow <= 0xFF9D; narrow++ { // narrow and small
		if base, ok := m[m[narrow]]; ok {
			m[narrow] = base
		}
	}
	return m
}()

// narrowKana are the katakana of half width by their wide forms, from U+FF66 on.
// marked are katakana with a mark or in small form, each before its base.
const (
	narrowKana = "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
	marked     = "ガカギキグクゲケゴコザサジシズスゼセゾソダタヂチヅツデテドトバハパハビヒピヒブフプフベヘペヘボホポホヴウ" +
		"ァアィイゥウェエォオッツャヤュユョヨヮワヵカヶケ"
)

// disguised reports whether a parser that folds more than ASCII could read an unquoted
// word, which is not a word of the grammar, as a reserved word.
func disguised(word string) bool {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			w := lookupWord(skeleton(word))
			return w != nil && w.reserved
		}
	}
	return false
}

// plainASCII reports whether a collation can ignore only the case of a name.
func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return !strings.HasSuffix(s, " ")
}

// FoldName returns the form of a name that is compared with a name that a rule denies. Two
// names that any collation treats as the same name have the same form.
func (Dialect) FoldName(name string) string { return skeleton(name) }

// plainForm returns the ASCII name that a collation without width sensitivity, which is
// the usual kind, treats as the same name. It returns false when there is none. It does not
// treat letters with accents as forms of other letters. Reference: Collation and Unicode
// support, "Width-sensitive".
func plainForm(name string) (string, bool) {
	disguised := strings.HasSuffix(name, " ")
	for _, r := range name {
		switch {
		case r < utf8.RuneSelf:
		case unicode.IsMark(r), unicode.IsLetter(r) && (r < 0x250 || r >= 0x1E00 && r <= 0x1EFF): // accents
			return "", false
		case baseLetter(r) != r || ligatures[r] != "" || fillers[r] || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			disguised = true
		default:
			return "", false
		}
	}
	if !disguised {
		return "", false
	}
	return skeleton(name), true
}

// fillers are letters that have no weight of their own: the fillers of Hangul,
// and the marks of narrow katakana.
var fillers = map[rune]bool{0x115F: true, 0x1160: true, 0x3164: true, 0xFFA0: true, 0xFF9E: true, 0xFF9F: true}

// ligatures are characters that represent several letters: ligatures of
// alphabets, and compatibility forms that occur in the server's own names.
var ligatures = func() map[rune]string {
	m := make(map[rune]string)
	for letters, forms := range map[string]string{
		"ae": "\u00e6\u00c6", "oe": "\u0153\u0152", "ss": "\u00df\u1e9e\U0001f14d", "th": "\u00fe\u00de",
		"ij": "\u0132\u0133", "dz": "\u01c4\u01c5\u01c6\u01f1\u01f2\u01f3", "lj": "\u01c7\u01c8\u01c9", "nj": "\u01ca\u01cb\u01cc",
		"ff": "\ufb00", "fi": "\ufb01", "fl": "\ufb02", "ffi": "\ufb03", "ffl": "\ufb04", "st": "\ufb05\ufb06",
		"da": "\u3372", "db": "\u33c8", "ev": "\u32ce", "ha": "\u33ca", "in": "\u33cc", "kl": "\u3398", "ln": "\u33d1", "log": "\u33d2",
		"ma": "\u3383", "mb": "\u3386\u33d4", "mm": "\u339c", "mr": "\U0001f16c", "ms": "\u33b3", "nf": "\u338b", "no": "\u2116",
		"ns": "\u33b1", "pr": "\u33da", "ps": "\u33b0", "rs": "\u20a8", "sd": "\U0001f14c", "sm": "\u2120", "sr": "\u33db",
		"tel": "\u2121", "vi": "\u2165\u2175",
	} {
		for _, r := range forms {
			m[r] = letters
		}
	}
	return m
}()

// accented are letters by the one, from a to z, that they are made from, the
// compatibility forms of Unicode included. Those that normal forms replace by
// the letter itself are escaped.
var accented = [26]string{
	"ªàáâãäåāăąǎǟǡǻȁȃȧⱥᵃạảấầẩẫậắằẳẵặḁẚₐⓐÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦᴬẠẢẤẦẨẪẬẮẰẲẴẶḀⒶ\u212b",
	"ƀḃḅḇᵇⓑḂḄḆᴮℬⒷ",
	"çćĉċčƈḉⓒÇĆĈĊČƇḈℂℭⒸ\u1d9c\u216d\u217d\ua7f2",
	"ďđḋḍḏḑḓᵈⓓĎĐḊḌḎḐḒᴰⅅⅆⒹ\u216e\u217e",
	"èéêëēĕėęěȅȇȩẹẻẽếềểễệḕḗḙḛḝᵉₑℯⅇⓔÈÉÊËĒĔĖĘĚȄȆȨẸẺẼẾỀỂỄỆḔḖḘḚḜᴱℰⒺ",
	"ḟƒⓕḞℱⒻ\u1da0\ua7f3",
	"ĝğġģǥǧǵḡᵍℊⓖĜĞĠĢǤǦǴḠᴳⒼ",
	"ĥħȟḣḥḧḩḫẖʰℎℏⓗĤĦȞḢḤḦḨḪᴴℋℌℍⒽ\u2095",
	"ìíîïĩīĭįıǐȉȋḭḯỉịⁱᵢℹⅈⓘıİÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊᴵℐℑⒾ\u2160\u2170",
	"ĵǰʲⅉⓙĴᴶⒿ\u2c7c",
	"ķǩḱḳḵᵏⓚĶǨḰḲḴᴷⓀ\u2096\u212a",
	"ĺļľŀłḷḹḻḽˡℓⓛĹĻĽĿŁḶḸḺḼᴸℒⓁ\u2097\u216c\u217c",
	"ḿṁṃᵐⓜḾṀṂᴹℳⓂ\u2098\u216f\u217f",
	"ñńņňŉǹṅṇṉṋⁿⓝÑŃŅŇǸṄṆṈṊᴺℕⓃ\u2099",
	"ºòóôõöøōŏőơǒǫǭȍȏȫȭȯȱọỏốồổỗộớờởỡợṍṏṑṓᵒₒℴⓞÒÓÔÕÖØŌŎŐƠǑǪǬȌȎȪȬȮȰỌỎỐỒỔỖỘỚỜỞỠỢṌṎṐṒᴼⓄ",
	"ṕṗᵖⓟṔṖᴾℙⓅ\u209a",
	"ⓠℚⓆ\ua7f4",
	"ŕŗřȑȓṙṛṝṟʳᵣⓡŔŖŘȐȒṘṚṜṞᴿℛℜℝⓇ",
	"śŝşšșſṡṣṥṧṩẛˢⓢŚŜŞŠȘṠṢṤṦṨⓈ\u209b",
	"ţťŧțṫṭṯṱẗᵗⓣŢŤŦȚṪṬṮṰᵀⓉ\u209c",
	"ùúûüũūŭůűųưǔǖǘǚǜȕȗụủứừửữựṳṵṷṹṻᵘᵤⓤÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖỤỦỨỪỬỮỰṲṴṶṸṺᵁⓊ",
	"ṽṿᵛᵥⓥṼṾⱽⓋ\u2164\u2174",
	"ŵẁẃẅẇẉẘʷⓦŴẀẂẄẆẈᵂⓌ",
	"ẋẍˣⓧẊẌⓍ\u2093\u2169\u2179",
	"ýÿŷȳỳỵỷỹẏẙʸⓨÝŶŸȲỲỴỶỸẎⓎ",
	"źżžẑẓẕᶻⓩŹŻŽẐẒẔℤⓏ\u2128",
}
