package clickhouse_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// forms are the forms of the grammar that have rules of their own, each in few tokens.
var forms = strings.Split(strings.TrimSpace(`
SELECT a
SELECT DISTINCT a , b
SELECT DISTINCT ON ( a ) b FROM t
SELECT ALL a
SELECT TOP 1 a FROM t ORDER BY a
SELECT TOP ( 2 ) a LIMIT 3
SELECT a FROM t AS x
SELECT a FROM t FINAL SAMPLE 1 / 2 OFFSET 1 / 2
SELECT a FROM t x , u AS y
FROM t SELECT a
FROM t AS x SELECT a WHERE b
SELECT a FROM ( SELECT 1 ) AS x ( a )
SELECT a FROM ( VALUES ( 1 ) ) AS x ( a )
SELECT a FROM numbers ( 1 , 2 ) AS x
SELECT a FROM d.v ( a = 1 ) x
SELECT a FROM view ( SELECT 1 )
SELECT a FROM ( EXPLAIN SELECT 1 ) x
SELECT a FROM t ANY LEFT JOIN u ON a = b
SELECT a FROM t GLOBAL ASOF JOIN u USING ( a AS b , c )
SELECT a FROM t JOIN u USING a , b
SELECT a FROM t CROSS JOIN u , v
SELECT a FROM t PASTE JOIN u
SELECT a FROM t NATURAL JOIN u
SELECT a FROM t LEFT ARRAY JOIN b AS c , d
SELECT a FROM t PREWHERE a WHERE b GROUP BY c HAVING d
SELECT a FROM t GROUP BY a WITH ROLLUP WITH TOTALS
SELECT a FROM t GROUP BY GROUPING SETS ( ( a , b ) , c , ( ) )
SELECT a FROM t GROUP BY CUBE ( a , b )
SELECT a FROM t GROUP BY ALL
SELECT a FROM t WINDOW w AS ( x PARTITION BY a ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW ) QUALIFY a
SELECT a FROM t ORDER BY a ASC NULLS FIRST COLLATE 'en' , b DESC
SELECT a FROM t ORDER BY a WITH FILL FROM 1 TO 2 STEP 3 STALENESS 4 INTERPOLATE ( b AS c , d )
SELECT a FROM t ORDER BY ALL DESC
SELECT a FROM t ORDER BY a LIMIT 1 , 2 WITH TIES
SELECT a FROM t LIMIT 1 OFFSET 2 BY a , b LIMIT 3 OFFSET 4
SELECT a FROM t LIMIT 1 BY ALL LIMIT 2
SELECT a FROM t ORDER BY a OFFSET 1 ROW FETCH FIRST 2 ROWS ONLY
SELECT a FROM t ORDER BY a FETCH NEXT 2 ROWS WITH TIES
SELECT a UNION ALL SELECT b EXCEPT DISTINCT ( SELECT c )
( SELECT a ) INTERSECT SELECT b
WITH 1 AS x SELECT x
WITH x AS ( SELECT 1 ) , y ( b ) AS MATERIALIZED ( SELECT 1 ) SELECT x
WITH RECURSIVE x AS ( SELECT 1 UNION ALL SELECT 2 ) SELECT a FROM x
WITH RECURSIVE x AS ( ( SELECT 1 UNION ALL SELECT 2 FROM x ) ) SELECT a FROM x
DESCRIBE SELECT a FROM t UNION ALL ( SELECT 2 )
DESC TABLE ( SELECT a FROM t )
SELECT a FROM t ORDER BY a LIMIT 1 BY a FETCH FIRST 3 ROWS ONLY
WITH x -> a AS x SELECT x
SELECT a ? b : c
SELECT a AND b OR NOT c
SELECT a = b + c
SELECT - a * - 1
SELECT a BETWEEN b AND c
SELECT a NOT BETWEEN b AND c AND d
SELECT a LIKE 'x' ESCAPE 'y'
SELECT a NOT ILIKE b || c
SELECT a IS NOT NULL
SELECT a IS DISTINCT FROM b
SELECT a IN ( 1 , 2 ) , b IN t
SELECT a GLOBAL NOT IN ( SELECT 1 )
SELECT a NOT IN d.t
SELECT a = ANY ( SELECT 1 )
SELECT EXISTS ( SELECT 1 )
SELECT ( SELECT 1 ) + 1
SELECT ( a , b ) . 1
SELECT [ a , b ] [ 1 ]
SELECT a . 1 . b
SELECT a :: Array ( UInt8 )
SELECT a . b .: Int64
SELECT a .^ b
SELECT a . b [ ] . c
SELECT a AT TIME ZONE 'UTC'
SELECT a AT LOCAL
SELECT * , t . *
SELECT * EXCEPT ( a ) REPLACE ( 1 AS b ) APPLY sum
SELECT * EXCEPT a REPLACE 1 AS b APPLY ( x -> x )
SELECT * LIKE 'a'
SELECT COLUMNS ( 'a' ) EXCEPT 'b' APPLY quantile ( 0.9 )
SELECT t . COLUMNS ( a , b )
SELECT CASE WHEN a THEN b ELSE c END
SELECT CASE a WHEN 1 THEN 2 END x
SELECT CAST ( a AS UInt8 )
SELECT CAST ( a , 'UInt8' )
SELECT CAST ( a AS x AS UInt8 )
SELECT EXTRACT ( day FROM a )
SELECT extract ( a , 'b' )
SELECT TRIM ( BOTH 'a' FROM b )
SELECT trim ( a )
SELECT substring ( a FROM 1 FOR 2 )
SELECT substring ( a , 1 , 2 )
SELECT position ( a IN b )
SELECT position ( a , b , 1 )
SELECT OVERLAY ( a PLACING b FROM 1 FOR 2 )
SELECT overlay ( a , b , 1 , 2 )
SELECT date_part ( 'day' , a )
SELECT date_add ( day , 1 , a )
SELECT date_add ( a , INTERVAL 1 day )
SELECT date_diff ( day , a , b , 'UTC' )
SELECT date_diff ( 'day' , a , b )
SELECT timestamp_sub ( month , 1 , a )
SELECT INTERVAL 1 day
SELECT INTERVAL '1 day'
SELECT INTERVAL ( a ) day + b
SELECT DATE '2020-01-01'
SELECT TIMESTAMP '2020-01-01 00:00:00'
SELECT upper ( a )
SELECT count ( )
SELECT count ( DISTINCT a , b ) FILTER ( WHERE c )
SELECT sum ( a ) OVER ( PARTITION BY b )
SELECT sum ( a ) RESPECT NULLS OVER w
SELECT quantile ( 0.5 ) ( a )
SELECT any ( a ) IGNORE NULLS
SELECT arrayMap ( ( x , y ) -> x , a , b )
SELECT arrayMap ( x -> x ? 1 : 2 , a )
SELECT tuple ( a , b ) . 1
SELECT array ( a )
SELECT map ( 'a' , 1 ) [ 'a' ]
SELECT left ( a , 1 ) , replace ( a , b , c ) , if ( a , b , c )
SELECT not ( a ) , and ( a , b ) , like ( a , 'b' )
SELECT grouping ( a ) FROM t GROUP BY a
SELECT a :: Tuple ( x UInt8 , y String )
SELECT a :: Enum8 ( 'a' = 1 , 'b' = - 2 )
SELECT a :: JSON ( x UInt8 , SKIP y , max_dynamic_paths = 2 )
SELECT a :: AggregateFunction ( sum , UInt8 )
SELECT a :: Nested ( x UInt8 )
SELECT a :: Decimal ( 10 , 2 ) , b :: double precision
EXPLAIN SELECT a
EXPLAIN PLAN actions = 1 , header = 1 SELECT a
EXPLAIN QUERY TREE SELECT a
DESCRIBE TABLE t
DESCRIBE ( SELECT 1 )
DESC numbers ( 1 )
EXISTS TEMPORARY TABLE d.t
EXISTS DATABASE d
SHOW FULL TABLES FROM d NOT LIKE 'a' LIMIT 1
SHOW DATABASES ILIKE 'a' LIMIT 1
SHOW COLUMNS FROM t WHERE a LIMIT 1
SHOW INDEX FROM d.t
SHOW CREATE TABLE d.t
SELECT a ; ;
`), "\n")

// pieces are what is put between two tokens of a form, or in the place of one.
var pieces = strings.Split(strings.TrimSpace(`
x
"x"
AS x
AS 'x'
AS from
a
t . a
a . 1
1
- 1
1.5
1e3
0xff
'x'
$$x$$
x'41'
NULL
TRUE
inf
*
t . *
* EXCEPT a
* LIKE 'a'
COLUMNS ( 'a' )
( )
( 1 )
( a , b )
( a , )
[ ]
[ 1 ]
( SELECT 1 )
( ( SELECT 1 ) )
( SELECT 1 UNION ALL SELECT 2 )
( * )
upper ( a )
sum ( a ) OVER ( )
tuple ( 1 )
CAST ( a AS UInt8 )
trim ( a )
substring ( a FROM 1 )
EXTRACT ( day FROM a )
CASE WHEN 1 THEN 2 END
INTERVAL 1 day
INTERVAL '1 day'
DATE '2020-01-01'
x -> x
x -> x + 1
( x , y ) -> x
-> x
? 1 : 2
+ 1
- a
NOT
NOT 1
AND 1
OR a
= 1
= ANY ( SELECT 1 )
BETWEEN 1 AND 2
LIKE 'x'
LIKE 'x' ESCAPE 'y'
ESCAPE 'y'
ILIKE a
REGEXP 'a'
DIV 2
|| 'x'
IS NULL
IS NOT DISTINCT FROM 1
IN t
IN ( 1 )
GLOBAL NOT IN ( SELECT 1 )
AT LOCAL
AT TIME ZONE 'UTC'
:: UInt8
:: Array ( UInt8 )
.: Int64
. ^ x
. x
. 1
. - 1
. *
. COLUMNS ( 'a' )
[ 1 ]
[ ]
( a )
( DISTINCT a )
FILTER ( WHERE 1 )
OVER ( )
OVER w
IGNORE NULLS
RESPECT NULLS
EXCEPT a
EXCEPT ( a )
EXCEPT 'a'
REPLACE ( 1 AS a )
REPLACE 1 AS a
APPLY sum
APPLY ( sum )
APPLY x -> x
STRICT
DISTINCT
DISTINCT ON ( a )
ALL
ANY
SOME
TOP 1
TOP ( 1 )
, 1
, x
, *
,
.
:
;
^
FROM t
FROM 1
FOR 1
FOR
FROM
PLACING a
BOTH
LEADING 'a'
TO 1
STEP 1
STALENESS 1
WITH FILL
WITH FILL FROM 1 TO 2
INTERPOLATE
INTERPOLATE ( a )
COLLATE 'en'
ASC
DESC
NULLS FIRST
WITH TIES
WITH TOTALS
WITH ROLLUP
WITH CUBE
LIMIT 1
LIMIT 1 , 2
LIMIT 1 OFFSET 2
LIMIT 1 BY a
LIMIT 1 BY ALL
LIMIT ALL
LIMIT -1
LIMIT 0.5
BY a
OFFSET 1
OFFSET 1 ROWS
FETCH FIRST 1 ROWS ONLY
FETCH NEXT 1 ROW WITH TIES
ORDER BY a
ORDER BY ALL
ORDER BY ( )
GROUP BY a
GROUP BY ALL
GROUP BY ( )
GROUP BY GROUPING SETS ( a )
GROUP BY CUBE ( a )
GROUP BY ROLLUP ( a )
HAVING 1
QUALIFY 1
WHERE 1
PREWHERE 1
WINDOW w AS ( )
PARTITION BY a
ROWS UNBOUNDED PRECEDING
RANGE BETWEEN CURRENT ROW AND 1 FOLLOWING
GROUPS UNBOUNDED PRECEDING
FINAL
SAMPLE 1
SAMPLE 0.1 OFFSET 0.2
JOIN u
JOIN u ON a = b
JOIN u USING a
LEFT ANY JOIN u USING ( a )
CROSS JOIN u
GLOBAL ANY LEFT JOIN u ON 1
NATURAL LEFT JOIN u
PASTE JOIN u
ARRAY JOIN a
LEFT ARRAY JOIN a AS x
, u
ON 1
USING a
UNION ALL SELECT 1
UNION SELECT 1
EXCEPT SELECT 1
INTERSECT DISTINCT SELECT 1
UNION ALL ( SELECT 1 )
WITH 1 AS x
WITH x AS ( SELECT 1 )
RECURSIVE
MATERIALIZED
SELECT
SELECT 1
day
second
epoch
end
END
when
interval
mod
from
key
default
temporary
format
settings
values
apply
columns
except
replace
like
div
is
escape
at
left
right
group
order
full
global
any
asof
semi
array
exists
cast
case
date
timestamp
as
and
or
in
between
null
distinct
table
tables
`), "\n")

// split are the pieces as tokens, the first of which has none.
var split = func() [][]string {
	out := [][]string{nil}
	for _, piece := range pieces {
		out = append(out, strings.Fields(piece))
	}
	return out
}()

// TestInsertionsAgainstTheEngine puts every piece into every place of every form, or in the
// place of one token. Then it makes several of those changes that are allowed alone, chosen by
// chance, as many times as TestMutationsAgainstTheEngine makes statements. What is allowed is
// shown to the engine.
func TestInsertionsAgainstTheEngine(t *testing.T) {
	e := startEngine(t)
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	asked, wrong := 0, 0
	seen := map[string]bool{}
	ask := func(tokens []string) (allowed bool) {
		sql := strings.Join(tokens, " ")
		if seen[sql] {
			return false
		}
		seen[sql] = true
		if !g.CheckOnce(sql).Allowed {
			return false
		}
		asked++
		if fault := judge(t, e, sql); fault != "" {
			if wrong++; wrong <= 100 {
				t.Errorf("allowed: %s\nto the engine: %s", sql, fault)
			}
		}
		return true
	}
	type change struct{ from, to, piece int }
	apply := func(tokens []string, c change) []string {
		return slices.Concat(tokens[:c.from], split[c.piece], tokens[c.to:])
	}
	all := make([][]string, 0, len(forms))
	good := make([][]change, len(forms)) // the changes that are allowed alone
	for i, form := range forms {
		tokens := strings.Fields(form)
		all = append(all, tokens)
		for from := range len(tokens) + 1 {
			for to := from; to <= min(from+1, len(tokens)); to++ {
				for piece := range split {
					if c := (change{from, to, piece}); ask(apply(tokens, c)) {
						good[i] = append(good[i], c)
					}
				}
			}
		}
	}
	t.Logf("%d statements with one piece, %d of them allowed and shown to the engine, %d wrong", len(seen), asked, wrong)
	total, seed := mutants(t)
	r := rand.New(rand.NewPCG(seed, 9))
	for range total {
		form := r.IntN(len(all))
		if len(good[form]) == 0 {
			continue
		}
		var changes []change
		for range 2 + r.IntN(2) {
			changes = append(changes, good[form][r.IntN(len(good[form]))])
		}
		slices.SortFunc(changes, func(a, b change) int { return b.from - a.from }) // the last place first
		tokens := all[form]
		for i, c := range changes {
			if i == 0 || c.to <= changes[i-1].from {
				tokens = apply(tokens, c)
			}
		}
		ask(tokens)
	}
	t.Logf("%d statements, %d of them allowed and shown to the engine, %d wrong", len(seen), asked, wrong)
}
