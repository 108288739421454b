package mysql

import (
	"strings"
	"unicode"
)

// FoldName returns the form by which a name is compared with one that a rule
// denies. MySQL compares names of columns by the lower case of utf8mb3, in which
// İ and the Kelvin sign are i and k; MariaDB looks them up in a table of many
// columns by utf8mb3_general_ci, which knows no accents. Both fold names of
// tables where lower_case_table_names says so.
func (Dialect) FoldName(name string) string {
	return strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		if base, ok := baseLetters[r]; ok {
			return base
		}
		return r
	}, name)
}

// baseLetters are the letters for which utf8mb3_general_ci takes others.
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

// weights are the lower case letters that have one weight in utf8mb3_general_ci,
// the base first, as the server's WEIGHT_STRING tells.
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
