package mysql

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// complete checks that the walk over the tree met every literal of the statement,
// every quoted name, every word that is not a keyword, and every keyword in a
// position where only a name is valid, each as often as the text contains it.
// Other keywords and punctuation need not be met. The walk itself marks the words
// that the parsers rewrite or drop (words of types, dates and character sets), or
// wordClass lists them.
func (l *ledger) complete() error {
	for i := range l.items {
		it := &l.items[i]
		if it.met {
			continue
		}
		ok := true
		switch it.class { //nolint:exhaustive // no other class has an exception
		case classMark, classJoined:
		case classWord, classKey:
			ok = l.syntax(i)
		case classString, classQuoted:
			ok = it.text == "" // the trees have no empty alias and no empty ESCAPE
		default:
			ok = false
		}
		if !ok {
			return &sqlguard.SyntaxError{Message: "the parser skipped this part of the statement", Offset: it.Start}
		}
	}
	return nil
}

// syntax reports whether a word that no node of the tree contains can be syntax
// at this position.
func (l *ledger) syntax(i int) bool {
	if l.kind(i-1) == sqlguard.TokenDot || l.kind(i+1) == sqlguard.TokenDot {
		return false
	}
	text := l.items[i].text
	if text[0] == '_' {
		// This is the character set of the literal after it.
		return i+1 < len(l.items) && (l.items[i+1].class == classString || l.items[i+1].class == classBinary)
	}
	if l.kind(i-1) == sqlguard.TokenOpen && l.sql[l.items[i-1].Start] == '{' {
		return true // the name of an ODBC escape
	}
	opens := l.kind(i+1) == sqlguard.TokenOpen
	switch l.items[i].word {
	case wordName:
		return false
	case wordReserved, wordSyntax:
		return true
	case wordQuantifier:
		return opens && l.kind(i-1) == sqlguard.TokenOperator
	case wordNoCall:
		return !opens
	case wordOption:
		return l.optionPlace(i-1) || !opens && !l.namePlace(i-1)
	case wordSoft:
		return !opens && !l.namePlace(i-1)
	default:
		return false
	}
}

// namePlace reports whether only a name or an expression can follow an item.
func (l *ledger) namePlace(i int) bool {
	return l.kind(i) == sqlguard.TokenComma || l.word(i, "from") || l.word(i, "join") || l.word(i, "straight_join")
}

// optionPlace reports whether an option of SELECT can follow an item: SELECT or
// another one.
func (l *ledger) optionPlace(i int) bool {
	for _, word := range [...]string{
		"select", "all", "distinct", "distinctrow", "straight_join", "high_priority", "sql_small_result", "sql_big_result",
		"sql_calc_found_rows", "sql_cache", "sql_no_cache", "sql_buffer_result",
	} {
		if l.word(i, word) {
			return true
		}
	}
	return false
}

// wordClass says where a word can be syntax.
type wordClass uint8

const (
	wordName       wordClass = iota // not a word of the grammar of reads
	wordReserved                    // reserved in both servers, so a name only after a dot or as a function
	wordSyntax                      // syntax before a bracket too, and a name elsewhere
	wordNoCall                      // reserved, and the name of a function before a bracket
	wordSoft                        // a name elsewhere
	wordOption                      // like wordSoft, and an option of SELECT
	wordQuantifier                  // between a comparison and its sub-query
)

// syntaxWord is a word of the grammar of reads.
type syntaxWord struct {
	text  string
	class wordClass
}

// syntaxTable is a hash table of these words. Each is in the first free slot from the slot
// of its hash on. Most slots are free.
type syntaxTable [1024]syntaxWord

var syntaxWords = makeSyntaxWords()

func makeSyntaxWords() *syntaxTable {
	words := new(syntaxTable)
	for class, list := range map[wordClass]string{
		wordReserved: `
			select all distinct distinctrow from where group by having order limit as on using join inner cross
			natural outer straight_join and or xor not in is null like rlike regexp between exists case when then
			else div mod collate binary interval union with range asc desc true false for use force ignore index
			key values table both leading trailing convert partition describe explain show match character set
			char high_priority sql_small_result sql_big_result sql_calc_found_rows
			day_hour day_microsecond day_minute day_second hour_microsecond hour_minute hour_second
			minute_microsecond minute_second second_microsecond year_month
			optimize default unsigned analyze primary column keys`,
		wordSyntax: `
			except intersect over window rows groups lateral of dual cast row against recursive end sounds escape
			fetch json_table columns`,
		wordQuantifier: `any some`,
		wordNoCall:     `left right separator`,
		wordOption:     `sql_cache sql_no_cache sql_buffer_result`,
		wordSoft: `
			offset rollup first last next only nulls respect following preceding unbounded current boolean mode
			query expansion language unknown quick date time timestamp datetime extended full
			microsecond second minute hour day week month quarter year sql_tsi_second sql_tsi_minute sql_tsi_hour
			sql_tsi_day sql_tsi_week sql_tsi_month sql_tsi_quarter sql_tsi_year
			ordinality nested path error empty returning member json
			tables databases schemas status create view database schema indexes fields warnings errors collation
			charset variables global session local format traditional tree engines triggers events privileges
			procedure function event trigger sequence`,
	} {
		for word := range strings.FieldsSeq(list) {
			*words.place(word, foldedHash(word)) = syntaxWord{word, class}
		}
	}
	return words
}

// place is the position of a word with a hash in the table.
func (t *syntaxTable) place(word string, hash uint64) *syntaxWord {
	for i := hash; ; i++ {
		if w := &t[i%uint64(len(t))]; w.text == "" || strings.EqualFold(w.text, word) {
			return w
		}
	}
}

// classOf returns the class of an unquoted word, by its hash.
func classOf(word string, hash uint64) wordClass { return syntaxWords.place(word, hash).class }
