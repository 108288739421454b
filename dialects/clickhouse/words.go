package clickhouse

import "strings"

// maxWord is the length of the longest word of the grammar.
const maxWord = 17

// lookupWord returns the word of the grammar that text spells, in lower case, or "".
func lookupWord(text string) string {
	if len(text) > maxWord || len(text) < 2 {
		return ""
	}
	var buf [maxWord]byte
	for i := range len(text) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return words[string(buf[:len(text)])]
}

var words, reserved, notAlias = func() (words map[string]string, reserved, notAlias map[string]bool) {
	words, reserved, notAlias = map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, list := range []string{reservedWords, clauseWords, otherWords} {
		for word := range strings.FieldsSeq(list) {
			words[word] = word
			reserved[word] = list == reservedWords
			notAlias[word] = list != otherWords
		}
	}
	return words, reserved, notAlias
}()

// reservedWords are no names unless quoted. The server reserves fewer; a name of these
// must be quoted here.
const reservedWords = `
	all and as between by case distinct div else except exists from full global group having ilike in inner
	intersect into is join like limit not null on or order outer prewhere qualify
	regexp right select then union using when where with`

// clauseWords are names, but no alias without AS, because a clause, an operator or
// another statement can begin with them.
const clauseWords = `
	any anti apply array asc asof collate cross desc end fetch filter final format grant ignore interpolate left mod
	natural offset only over parallel paste replace respect sample semi settings staleness subpartition values window`

// otherWords mean something in some places and are names and aliases in all others.
const otherWords = `
	add alter analyze ascending ast at attach backup begin both cast check columns commit copy count create cube current
	current_date current_timestamp database databases date date_add date_diff date_sub date_trunc dateadd datediff
	datesub day delete descending describe detach dictionaries dictionary do drop escape estimate exchange execute
	explain extended extract false fields fill first following for from_first full_text functions granularity grouping
	hour index indexes indices inf insert interval key kill last leading local materialized max microsecond millisecond
	minute month move nan nanosecond next nulls number optimize outfile partition pipeline placing plan position
	preceding prepare projection quarter query range recursive rename restore revoke rollback rollup row rows second set
	sets setting show some start step strict sub substr substring syntax system table tables temporary ties time
	timestamp timestamp_add timestamp_diff timestamp_sub timestampadd timestampdiff timestampsub to top totals trailing
	tree trim true truncate unbounded undrop unknown update use varying view watch week xor year uuid zone`
