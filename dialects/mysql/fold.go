package mysql

import (
	"strings"
	"unicode"
)

// FoldName returns the form of a name that is compared with a name that a rule denies.
// MySQL compares names of columns by the lower case of utf8mb3, in which İ and the Kelvin
// sign are i and k. In a table with many columns MariaDB looks them up by
// utf8mb3_general_ci, which ignores accents. Both fold names of tables if
// lower_case_table_names says so.
func (Dialect) FoldName(name string) string {
	return strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		if base, ok := baseLetters[r]; ok {
			return base
		}
		return r
	}, name)
}

// baseLetters maps letters to the letter that utf8mb3_general_ci treats as the same.
var baseLetters = func() map[rune]rune {
	m := make(map[rune]rune)
	for class := range strings.FieldsSeq(weights) {
		letters := []rune(class)
		for _, r := range letters[1:] {
			m[r] = letters[0]
		}
	}
	return m
}()

// weights lists groups of lower-case letters that have the same weight in
// utf8mb3_general_ci, with the base letter first. The server's WEIGHT_STRING gave them.
const weights = `
	aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ
	bḃḅḇ
	cçćĉċčḉ
	dďḋḍḏḑḓ
	eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ
	fḟ
	gĝğġģǧǵḡ
	hĥȟḣḥḧḩḫẖ
	iìíîïĩīĭįıǐȉȋḭḯỉị
	jĵǰ
	kķǩḱḳḵ
	lĺļľḷḹḻḽ
	mḿṁṃ
	nñńņňǹṅṇṉṋ
	oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ
	pṕṗ
	rŕŗřȑȓṙṛṝṟ
	sßśŝşšșṡṣṥṧṩẛ
	tţťțṫṭṯṱẗ
	uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự
	vṽṿ
	wŵẁẃẅẇẉẘ
	xẋẍ
	yýÿŷȳẏẙỳỵỷỹ
	zźżžẑẓẕ
	æǣǽ
	øǿ
	ʒǯ
	ιίΐϊἰἱἲἳἴἵἶἷὶῐῑῒῖῗ
	άαἀἁἂἃἄἅἆἇὰᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ
	έεἐἑἒἓἔἕὲ
	ήηἠἡἢἣἤἥἦἧὴᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ
	ρῤῥ
	σϲ
	όοὀὁὂὃὄὅὸ
	ύυϋΰὐὑὒὓὔὕὖὗὺῠῡῢῦῧ
	ώωὠὡὢὣὤὥὦὧὼᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ
	ϒϓϔ
	аӑӓ
	жӂӝ
	зӟ
	оӧ
	чӵ
	ыӹ
	эӭ
	ѐёеӗ
	ѓг
	ії
	ќк
	ѝиӣӥ
	ўуӯӱӳ
	ѵѷ
	әӛ
	өӫ`
