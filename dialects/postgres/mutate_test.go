package postgres_test

import (
	"math/rand/v2"
	"strings"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// keywords are inserted into mutated statements. They begin, end or change clauses.
var keywords = strings.Fields(`SELECT FROM WHERE WITH RECURSIVE AS ( ) , ; . * INTO VALUES TABLE UNION ALL EXCEPT
	ORDER BY USING LIMIT OFFSET FETCH FOR UPDATE SHARE INSERT DELETE MERGE RETURNING EXPLAIN ANALYZE ( ) JOIN NATURAL
	LEFT LATERAL ROWS ONLY CASE WHEN THEN ELSE END CAST :: COLLATE OPERATOR AT TIME ZONE IS NOT NULL DISTINCT ON
	ARRAY [ ] ROW OVER FILTER WITHIN GROUP WINDOW PARTITION VARIADIC => TABLESAMPLE 'x' 1 $1 x "y" pg_sleep pg_authid
	query pg_read_file U&"\0061" E'\'' $$ -- /* */ + - % @ ? JSON_TABLE COLUMNS SET SHOW COPY TO PROGRAM DEFAULT`)

// mutations returns n statements made from seeds by changes of whole tokens.
// The same seed makes the same statements.
func mutations(seeds []string, n int, seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, 17))
	split := make([][]string, 0, len(seeds))
	for _, sql := range seeds {
		if len(sql) < 2_000 {
			split = append(split, tokenTexts(sql))
		}
	}
	out := make([]string, 0, n)
	for range n {
		tokens := append([]string(nil), split[random.IntN(len(split))]...)
		for range 1 + random.IntN(5)/3 { // most statements once: with more changes they seldom parse
			other := split[random.IntN(len(split))]
			if len(tokens) == 0 || len(other) == 0 {
				break
			}
			at := random.IntN(len(tokens))
			switch random.IntN(9) {
			case 0:
				tokens = append(tokens[:at], tokens[at+1:]...)
			case 1:
				tokens = insert(tokens, at, tokens[at])
			case 2:
				with := random.IntN(len(tokens))
				tokens[at], tokens[with] = tokens[with], tokens[at]
			case 3:
				tokens[at] = other[random.IntN(len(other))]
			case 4, 5:
				tokens = insert(tokens, at, keywords[random.IntN(len(keywords))])
			case 6:
				tokens[at] = strings.ToUpper(tokens[at])
			case 7: // a part of another statement, often whole
				from := random.IntN(len(other))
				to := from + 1 + random.IntN(min(len(other)-from, 12))
				tokens = insert(tokens, at, other[from:to]...)
			case 8: // another statement in brackets
				part := append([]string{"("}, other...)
				tokens = insert(tokens, at, append(part, ")")...)
			}
		}
		out = append(out, strings.Join(tokens, " "))
	}
	return out
}

func insert(tokens []string, at int, more ...string) []string {
	out := append([]string(nil), tokens[:at]...)
	out = append(out, more...)
	return append(out, tokens[at:]...)
}

func tokenTexts(sql string) []string {
	var out []string
	for _, t := range (postgres.Dialect{}).Lex(sql).List {
		if t.Kind != sqlguard.TokenComment && t.Kind != sqlguard.TokenTerminator {
			out = append(out, t.Text(sql))
		}
	}
	return out
}
