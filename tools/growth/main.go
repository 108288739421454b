// Command growth measures how the cost of functions grows with the length of their
// arguments, on a real server. It writes the tables that the guard uses: functions
// and operators whose cost grows faster than linearly.
//
//	go run ./tools/growth -engine postgres -url postgres://… -o dialects/postgres/growth_table.go
//	go run ./tools/growth -engine mariadb -url 'root@tcp(127.0.0.1:3306)/' -o dialects/mysql/growth_table.go
//	go run ./tools/growth -engine sqlite -o dialects/sqlite/growth_table.go
//	go run ./tools/growth -engine clickhouse -costs -o dialects/clickhouse/growth_costs.go
//	go run ./tools/growth -engine clickhouse -o dialects/clickhouse/growth_table.go
//
// The last one calls every function of the library of ClickHouse, which make test-engines
// fetches, with arguments of many kinds and as in its examples. It lists what they make. That
// takes hours; a run that was ended is continued by the next one with the same -o.
//
// With -planner it shows how long the server plans statements with many parts, from
// which the guard's limits on joins, common table expressions and set operations come.
//
// Each candidate has a text that is hard for the function. Its length is doubled until
// a call takes longer than -most of processor time. The exponent is the slope of a line through the
// logarithms of length and time, over the times that are long enough to be measured.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"flag"
	"fmt"
	"go/format"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	_ "github.com/ncruces/go-sqlite3/driver"
)

const (
	firstLength = 1 << 8
	lastLength  = 4 << 20
	// Below shortest a time is mostly that of sending the statement.
	shortest = 2 * time.Millisecond
	// superlinear is the exponent from which on a function is in the table.
	superlinear = 1.5
	// leastTimes is how many times make a line.
	leastTimes = 3
)

func main() {
	engine := flag.String("engine", "", "postgres, mariadb, sqlite or clickhouse")
	costs := flag.Bool("costs", false, "measure which functions of ClickHouse take longer than their arguments grow, instead of what they make")
	match := flag.String("match", "", "a pattern of the functions of ClickHouse to measure")
	url := flag.String("url", "", "the server's address, as its driver takes it")
	out := flag.String("o", "", "the file to write; standard output shows the measurements")
	most := flag.Duration("most", time.Second, "stop doubling when a call takes longer")
	planner := flag.Bool("planner", false, "measure how long the server plans statements with many joins, common table expressions and set operations")
	flag.Parse()
	if *engine == "clickhouse" {
		if err := measureClickHouse(*match, *out, *costs); err != nil {
			fmt.Fprintln(os.Stderr, "growth:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*engine, *url, *out, *most, *planner); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

// result is what one candidate showed.
type result struct {
	name     string
	exponent float64 // 0 when every call was too fast
	atShare  time.Duration
	fault    string
}

func run(engine, url, out string, most time.Duration, planner bool) error {
	if candidates[engine] == nil {
		return fmt.Errorf("no engine %q", engine)
	}
	ctx := context.Background()
	ask, end, err := connect(ctx, engine, url)
	if err != nil {
		return err
	}
	defer end()
	for _, s := range setUp[engine] {
		if _, err := ask(ctx, s); err != nil {
			fmt.Fprintf(os.Stderr, "growth: %s: %v\n", s, err)
		}
	}
	version, err := ask(ctx, versionSQL[engine])
	if err != nil {
		return err
	}
	pid, err := processOf(ctx, engine, ask)
	if err != nil {
		return err
	}
	clock := cpuOf(pid)
	if planner {
		return plan(ctx, engine, url, most)
	}
	var results []result
	for _, c := range candidates[engine] {
		r := measure(ctx, ask, clock, c, most)
		_, _ = fmt.Fprintf(os.Stdout, "%-24s %5.2f %12s %s\n", r.name, r.exponent, r.atShare, r.fault)
		results = append(results, r)
	}
	if out == "" {
		return nil
	}
	text, err := table(engine, version, results)
	if err != nil {
		return err
	}
	return os.WriteFile(out, sealed(text), 0o644) //nolint:gosec // a source file
}

// sealed adds a line with the digest of what follows it to the first line of a table, by which
// a test of the dialects tells that no row was written by hand.
func sealed(text []byte) []byte {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	return fmt.Appendf(nil, "%s\n// The rest of this file has the SHA-256 %x.\n%s", first, sha256.Sum256(rest), rest)
}

// measure doubles the length until a call takes longer than most.
func measure(ctx context.Context, ask asker, clock func() (time.Duration, error), c candidate, most time.Duration) result {
	r := result{name: c.name}
	var lengths, times []float64
	var before, last [2]float64 // length and time of the calls before the end, however short
	for n := firstLength; n <= lastLength; n *= 2 {
		text := strings.NewReplacer("{n}", strconv.Itoa(n), "{n/2}", strconv.Itoa(n/2), "{n/4}", strconv.Itoa(n/4), "{n/8}", strconv.Itoa(n/8)).Replace(c.sql)
		best := time.Duration(math.MaxInt64)
		for range 3 {
			took, err := once(ctx, ask, clock, text)
			if err != nil {
				if len(times) == 0 {
					r.fault = err.Error()
				}
				return r.fit(lengths, times)
			}
			if best = min(best, took); best > most {
				break
			}
		}
		if n == 64<<10 {
			r.atShare = best
		}
		before, last = last, [2]float64{math.Log2(float64(n)), math.Log2(max(best, time.Microsecond).Seconds())}
		if best >= shortest {
			lengths, times = append(lengths, math.Log2(float64(n))), append(times, math.Log2(best.Seconds()))
		}
		if best > most {
			if len(times) < leastTimes && before[0] > 0 { // it grew too fast for a line
				r.exponent = (last[1] - before[1]) / (last[0] - before[0])
				return r
			}
			break
		}
	}
	return r.fit(lengths, times)
}

func once(ctx context.Context, ask asker, clock func() (time.Duration, error), text string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	start, err := clock()
	if err != nil {
		return 0, err
	}
	if _, err := ask(ctx, text); err != nil {
		return 0, err
	}
	end, err := clock()
	return end - start, err
}

// asker runs a statement and returns its only value, or "" when it has none.
type asker func(ctx context.Context, text string) (string, error)

// connect opens one connection.
func connect(ctx context.Context, engine, url string) (ask asker, end func(), err error) {
	if engine == "postgres" {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context, text string) (value string, err error) {
			results, err := conn.PgConn().Exec(ctx, text).ReadAll()
			if err == nil && len(results) > 0 && len(results[0].Rows) > 0 {
				value = string(results[0].Rows[0][0])
			}
			return value, err
		}, func() { _ = conn.Close(ctx) }, nil
	}
	driver := map[string]string{"mariadb": "mysql", "sqlite": "sqlite3"}[engine]
	if engine == "sqlite" {
		url = ":memory:"
	}
	db, err := sql.Open(driver, url)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	return func(ctx context.Context, text string) (string, error) {
		rows, err := db.QueryContext(ctx, text)
		if err != nil {
			return "", err
		}
		defer func() { _ = rows.Close() }()
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		values, first := make([]any, len(columns)), sql.NullString{}
		for i := range values {
			values[i] = new(any)
		}
		if len(values) > 0 {
			values[0] = &first
		}
		if rows.Next() {
			if err := rows.Scan(values...); err != nil {
				return "", err
			}
		}
		return first.String, rows.Err()
	}, func() { _ = db.Close() }, nil
}

// fit sets the slope of the line through the points, by least squares.
func (r result) fit(x, y []float64) result {
	if len(x) < leastTimes {
		return r
	}
	n, sx, sy, sxx, sxy := float64(len(x)), 0.0, 0.0, 0.0, 0.0
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	r.exponent = (n*sxy - sx*sy) / (n*sxx - sx*sx)
	return r
}

// table writes the Go source of the functions that grow too fast.
func table(engine, version string, results []result) ([]byte, error) {
	// Of several candidates for a function the worst counts.
	slices.SortFunc(results, func(a, b result) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(b.exponent, a.exponent))
	})
	results = slices.CompactFunc(results, func(a, b result) bool { return a.name == b.name })
	pkg := map[string]string{"postgres": "postgres", "mariadb": "mysql", "sqlite": "sqlite"}[engine]
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by go run ./tools/growth -engine %s; DO NOT EDIT.\n\npackage %s\n\n", engine, pkg)
	for _, part := range []struct {
		name, comment string
		operators     bool
	}{
		{"costlyFunctions", "are the functions whose cost grew faster than the length of an argument, each with the exponent", false},
		{"costlyOperators", "are the operators of which the same is true", true},
	} {
		fmt.Fprintf(&b, "// %s %s, measured on %s.\nvar %s = map[string]bool{\n", part.name, part.comment, version, part.name)
		for _, r := range results {
			if isOperator := !strings.ContainsAny(r.name[:1], "abcdefghijklmnopqrstuvwxyz_"); r.exponent >= superlinear && isOperator == part.operators {
				fmt.Fprintf(&b, "\t%q: true, // %.1f\n", r.name, r.exponent)
			}
		}
		fmt.Fprint(&b, "}\n\n")
	}
	return format.Source(b.Bytes())
}
