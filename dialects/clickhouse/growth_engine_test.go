package clickhouse_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// largeArguments are constants below the bound of the guard, from which a function can make
// much more.
var largeArguments = []string{"3000000", "7", "repeat('a', 60000)", "','", "range(10000)", "arrayMap(x -> 'ab', range(5000))", "map(1, 1, 3000000, 1)", "x -> x", "toDateTime('2020-01-01 00:00:00')", "(0.5, 7)"}

// TestConstantsOfTheEngine calls every function with large constants. No call that the
// guard allows may make much more than the bound, or run on past its time.
func TestConstantsOfTheEngine(t *testing.T) {
	const most = 4 << 20 // the guard counts an element of a list as 8 bytes, and a text has some more
	e := startEngine(t)
	for _, setting := range []string{"max_execution_time = 5", "max_memory_usage = 2000000000"} {
		if _, err := e.Query("SET "+setting, "TSV"); err != nil {
			t.Fatal(err)
		}
	}
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	asked, ran := 0, 0
	for _, name := range clickhouse.ScalarFunctions() {
		if strings.HasPrefix(name, "sleep") {
			continue
		}
		for at := range callsOf(len(largeArguments)) {
			expression := name + "(" + strings.Join(argumentsAt(at, len(largeArguments)), ", ") + ")"
			if !g.CheckOnce("SELECT " + expression).Allowed {
				continue
			}
			asked++
			start := time.Now()
			text, err := e.Query("SELECT max(byteSize("+expression+"))", "TSV")
			if took := time.Since(start); took > time.Minute {
				t.Errorf("%s took %v", expression, took)
			}
			if err != nil {
				continue
			}
			ran++
			if n, err := strconv.Atoi(strings.TrimSpace(text)); err != nil || n > most {
				t.Errorf("%s makes %d bytes (%v)", expression, n, err)
			}
		}
	}
	t.Logf("%d calls are allowed, %d of them ran", asked, ran)
}

// callsOf is how many calls have up to two of n arguments, or three of which the last is a
// number, a text or a list.
func callsOf(n int) int { return 1 + n + n*n + n*n*3 }

// argumentsAt returns the arguments of a call by its number.
func argumentsAt(at, n int) []string {
	switch {
	case at == 0:
		return nil
	case at <= n:
		return []string{largeArguments[at-1]}
	case at <= n+n*n:
		at -= n + 1
		return []string{largeArguments[at/n], largeArguments[at%n]}
	default:
		at -= n + n*n + 1
		return []string{largeArguments[at/3/n], largeArguments[at/3%n], largeArguments[at%3*2]}
	}
}
