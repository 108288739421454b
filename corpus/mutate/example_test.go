package mutate_test

import (
	"fmt"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/mutate"
)

// A statement in other spellings, for which a guard must give the same answer.
func ExampleOf() {
	c := corpus.Case{ID: "KTX-PG-FN-0001", Dialect: "postgres", Class: "side-effect-function", SQL: "SELECT pg_sleep(60) AS nap", Expect: corpus.Reject}
	for _, m := range mutate.Of(c) {
		fmt.Println(m.ID, m.Expect)
		fmt.Println(m.SQL)
	}
	// Output:
	// KTX-PG-FN-0001~case reject
	// SeLeCt Pg_sLeEp(60) As NaP
	// KTX-PG-FN-0001~gaps reject
	// SELECT /**/ pg_sleep/* ; */(60) -- gap
	// AS /* a /* b */ c */ nap
	// KTX-PG-FN-0001~quote reject
	// SELECT "pg_sleep"(60) AS "nap"
	// KTX-PG-FN-0001~qualify reject
	// SELECT pg_catalog.pg_sleep(60) AS nap
	// KTX-PG-FN-0001~derived reject
	// SELECT * FROM (SELECT pg_sleep(60) AS nap) AS q
	// KTX-PG-FN-0001~cte reject
	// WITH q AS (SELECT pg_sleep(60) AS nap) SELECT * FROM q
	// KTX-PG-FN-0001~scalar reject
	// SELECT (SELECT pg_sleep(60) AS nap)
	// KTX-PG-FN-0001~explain reject
	// EXPLAIN ANALYZE SELECT pg_sleep(60) AS nap
}
