package corpus_test

import (
	"fmt"
	"regexp"

	"github.com/ktxhq/ktx/corpus"
)

// A guard of another kind, scored on the cases of one dialect as
// INTERPRETING.md says. A reject case that it allows is a bypass. An allow case
// that it refuses is a false reject.
func Example() {
	reads := regexp.MustCompile(`(?i)^\s*select\b`)
	guard := func(sql string) bool { return reads.MatchString(sql) }

	bypassed, refused := "", ""
	for _, c := range corpus.Cases() {
		if c.Dialect != "postgres" {
			continue
		}
		allowed := guard(c.SQL)
		switch {
		case c.Expect == corpus.Reject && allowed && c.Class == "select-into" && bypassed == "":
			bypassed = c.ID + ": " + c.SQL
		case c.Expect == corpus.Allow && !allowed && c.Class == "explain" && refused == "":
			refused = c.ID + ": " + c.SQL
		}
	}
	fmt.Println("bypass", bypassed)
	fmt.Println("false reject", refused)
	// Output:
	// bypass KTX-PG-INTO-0001: SELECT * INTO orders_copy FROM orders
	// false reject KTX-PG-EXP-0001B: EXPLAIN SELECT * FROM orders
}
