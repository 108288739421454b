package dialects_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// A text can end the process inside a parser: a stack that overflows cannot be
// caught. So the texts here are judged in a sub-process, whose stack limit the
// test sets: a thread of a C parser gets a stack of that size.

// tortureEnv makes this test binary judge the tortures instead of running tests.
// It lists dialects, each with the largest text that the policy permits, such as
// "postgres/65536".
const tortureEnv = "KTX_TEST_TORTURE"

func TestMain(m *testing.M) {
	if os.Getenv(tortureEnv) != "" {
		judgeTortures()
		return
	}
	os.Exit(m.Run())
}

// judged is one answer of the sub-process.
type judged struct {
	Dialect, Shape string
	Bytes, Max     int
	Code           sqlguard.Code
	Allowed        bool
	Micros         int64
}

// judgeTortures judges every shape at every size. It prints each text's name
// before it judges the text, so that the test can name the text that ended the
// process.
func judgeTortures() {
	debug.SetMemoryLimit(1 << 30)
	debug.SetGCPercent(400) // saves a quarter of the time; the limit above bounds the memory
	out := bufio.NewWriter(os.Stdout)
	defer func() { _ = out.Flush() }()
	encode := json.NewEncoder(out)
	for entry := range strings.FieldsSeq(os.Getenv(tortureEnv)) {
		name, size, _ := strings.Cut(entry, "/")
		d, ok := dialects.Lookup(name)
		maxBytes, err := strconv.Atoi(size)
		if !ok || err != nil {
			panic(entry)
		}
		policy := sqlguard.DefaultPolicy()
		policy.MaxBytes = maxBytes
		for _, s := range tortures() {
			for _, sql := range []string{s.of(8 << 10), s.of(maxBytes - 1<<10), s.of(1 << 20), s.links(1990)} {
				_, _ = fmt.Fprintf(out, "%s %s %d\n", d.Name(), s.name, len(sql))
				_ = out.Flush()
				g, err := sqlguard.New(d, policy, nil)
				if err != nil {
					panic(err)
				}
				start := time.Now()
				v := g.Check(sql)
				_ = encode.Encode(judged{d.Name(), s.name, len(sql), maxBytes, v.Code, v.Allowed, time.Since(start).Microseconds()})
			}
		}
	}
}

// torture is a shape of text: head, then link again and again, then tail and
// as many closings as there were links.
type torture struct{ name, head, link, tail, closing string }

func (s torture) of(size int) string {
	return s.links(max(1, (size-len(s.head)-len(s.tail))/(len(s.link)+len(s.closing))))
}

// links returns a text of n links: just below the caps of a chain.
func (s torture) links(n int) string {
	return s.head + strings.Repeat(s.link, n) + s.tail + strings.Repeat(s.closing, n)
}

// tortures returns chains of every operator and construct, nests of every
// bracket, and masses of everything else.
func tortures() []torture {
	list := []torture{
		{"brackets", "SELECT ", "(", "1", ")"},
		{"open brackets", "SELECT ", "(", "", ""},
		{"close brackets", "SELECT 1", ")", "", ""},
		{"square", "SELECT a", "[a", "", "]"},
		{"subscripts", "SELECT a", "[1]", "", ""},
		{"slices", "SELECT a", "[1:2]", "", ""},
		{"braces", "SELECT ", "{", "1", "}"},
		{"mixed brackets", "SELECT ", "([{", "1", "}])"},
		{"calls", "SELECT ", "abs(", "1", ")"},
		{"array", "SELECT ", "ARRAY[", "1", "]"},
		{"rows", "SELECT ", "ROW(", "1", ")"},
		{"cast calls", "SELECT ", "CAST(", "1", " AS int)"},
		{"sub-queries", "", "SELECT (", "SELECT 1", ")"},
		{"derived tables", "", "SELECT * FROM (", "SELECT 1", ") AS t"},
		{"exists", "", "SELECT 1 WHERE EXISTS (", "SELECT 1", ")"},
		{"case nested", "SELECT ", "CASE WHEN 1=1 THEN ", "1", " END"},
		{"case in when", "SELECT ", "CASE WHEN ", "1=1", " THEN 1=1 END"},
		{"case chain", "SELECT 1", "+CASE WHEN 1=1 THEN 1 END", "", ""},
		{"case arms", "SELECT CASE", " WHEN a=1 THEN 1", " END", ""},
		{"case labels", "SELECT 1", " case, 1", "", ""},
		{"prefix not", "SELECT ", "NOT ", "true", ""},
		{"prefix minus", "SELECT ", "- ", "1", ""},
		{"prefix tilde", "SELECT ", "~ ", "1", ""},
		{"prefix at", "SELECT ", "@ ", "1", ""},
		{"bracketed chain", "SELECT (1)", "+(1)", "", ""},
		{"call chain", "SELECT abs(1)", "+abs(1)", "", ""},
		{"left nest", "SELECT ", "(", "1", "+1)"},
		{"right nest", "SELECT ", "1+(", "1", ")"},
		{"casts", "SELECT 1", "::int", "", ""},
		{"array casts", "SELECT a", "::int[]", "", ""},
		{"type dimensions", "SELECT a::int", "[]", "", ""},
		{"collate", "SELECT a", ` COLLATE "C"`, "", ""},
		{"at time zone", "SELECT a", " AT TIME ZONE 'UTC'", "", ""},
		{"at local", "SELECT a", " AT LOCAL", "", ""},
		{"isnull", "SELECT a", " ISNULL", "", ""},
		{"notnull", "SELECT a", " NOTNULL", "", ""},
		{"is null", "SELECT a", " IS NULL", "", ""},
		{"is not distinct from", "SELECT a", " IS NOT DISTINCT FROM a", "", ""},
		{"is json", "SELECT a", " IS JSON", "", ""},
		{"is document", "SELECT a", " IS DOCUMENT", "", ""},
		{"is normalized", "SELECT a", " IS NORMALIZED", "", ""},
		{"between", "SELECT a", " BETWEEN 1 AND 2", "", ""},
		{"not between", "SELECT a", " NOT BETWEEN 1 AND 2", "", ""},
		{"in", "SELECT a", " IN (1)", "", ""},
		{"operator()", "SELECT a", " OPERATOR(pg_catalog.+) a", "", ""},
		{"any", "SELECT a", " = ANY (a)", "", ""},
		{"dots", "SELECT a", ".a", "", ""},
		{"keyword columns", "SELECT values", "+values", "", ""},
		{"keyword fields", "SELECT t.select", "+t.select", "", ""},
		{"joins", "SELECT 1 FROM t", " JOIN t ON a=a", "", ""},
		{"natural joins", "SELECT 1 FROM t", " NATURAL JOIN t", "", ""},
		{"cross joins", "SELECT 1 FROM t", " CROSS JOIN t", "", ""},
		{"using joins", "SELECT 1 FROM t", " LEFT JOIN t USING (a)", "", ""},
		{"nested joins", "SELECT 1 FROM ", "t JOIN ", "t", " ON a=a"},
		{"bracketed joins", "SELECT 1 FROM ", "(", "t", " CROSS JOIN t)"},
		{"comma joins", "SELECT 1 FROM t", ",t", "", ""},
		{"common tables", "WITH a AS (SELECT 1)", ",a AS (SELECT 1)", " SELECT 1", ""},
		{"nested with", "", "WITH a AS (", "SELECT 1", ") SELECT 1"},
		{"huge string", "SELECT '", "x", "'", ""},
		{"huge escaped string", "SELECT E'", `\\`, "'", ""},
		{"huge doubled string", "SELECT '", "''", "'", ""},
		{"huge dollar string", "SELECT $a$", "$", "$a$", ""},
		{"huge name", `SELECT "`, "x", `"`, ""},
		{"huge word", "SELECT ", "x", "", ""},
		{"huge number", "SELECT ", "9", "", ""},
		{"huge fraction", "SELECT 1.", "9", "", ""},
		{"huge exponent", "SELECT 1e", "9", "", ""},
		{"huge hex", "SELECT 0x", "f", "", ""},
		{"huge operator", "SELECT 1 ", "+", " 1", ""},
		{"huge parameter", "SELECT $", "9", "", ""},
		{"unterminated string", "SELECT '", "x", "", ""},
		{"unterminated name", `SELECT "`, "x", "", ""},
		{"unterminated dollar", "SELECT $tag$", "x", "", ""},
		{"unterminated comment", "SELECT 1 /*", "x", "", ""},
		{"dollar tags", "SELECT ", "$a", "", ""},
		{"nested comments", "SELECT 1 ", "/*", "", "*/"},
		{"comment openings", "SELECT 1 ", "/*", "", ""},
		{"comments", "SELECT 1 ", "/**/", "", ""},
		{"line comments", "SELECT 1 ", "--\n", "", ""},
		{"semicolons", "SELECT 1", ";", "", ""},
		{"statements", "", "SELECT 1;", "", ""},
		{"quotes", "SELECT ", "'", "", ""},
		{"pairs of quotes", "SELECT ", "'' ", "", ""},
		{"backslashes", "SELECT ", `\`, "", ""},
		{"spaces", "SELECT", " ", "1", ""},
		{"line ends", "SELECT", "\n", "1", ""},
		{"NUL", "SELECT ", "\x00", "", ""},
		{"NUL in a string", "SELECT '", "\x00", "'", ""},
		{"invalid UTF-8", "SELECT '", "\xff", "'", ""},
		{"cut UTF-8", "SELECT ", "\xe2\x82", "", ""},
		{"multi-byte", "SELECT '", "€", "'", ""},
		{"bidi", "SELECT ", "\u202e", "", ""},
		{"zero width", "SELECT ", "\u200b", "", ""},
		{"commas", "SELECT 1", ",1", "", ""},
		{"empty list", "SELECT 1", ",", "", ""},
		{"columns", "SELECT a", ",a.b", " FROM t", ""},
		{"in list", "SELECT a IN (1", ",1", ")", ""},
		{"in list of strings", "SELECT a IN ('x'", ",'x'", ")", ""},
		{"values", "VALUES (1)", ",(1)", "", ""},
		{"group by", "SELECT 1 GROUP BY a", ",a", "", ""},
		{"order by", "SELECT 1 ORDER BY a", ",a", "", ""},
		{"grouping sets", "SELECT 1 GROUP BY ", "GROUPING SETS (", "a", ")"},
		{"windows", "SELECT 1 WINDOW w AS ()", ",w AS ()", "", ""},
		{"window calls", "SELECT count(*) OVER ()", "+count(*) OVER ()", "", ""},
		{"lateral", "SELECT 1 FROM t", ", LATERAL (SELECT 1) AS x", "", ""},
		{"explain", "", "EXPLAIN ", "SELECT 1", ""},
		{"explain in brackets", "EXPLAIN ", "(", "SELECT 1", ")"},
		{"arguments", "SELECT concat(1", ",1", ")", ""},
		{"named arguments", "SELECT concat(a=>1", ",a=>1", ")", ""},
		{"json", "SELECT ", "json_array(", "1", ")"},
		{"xml", "SELECT ", "xmlelement(name a,", "1", ")"},
		{"between with and", "SELECT a BETWEEN ", "1 AND 2 AND a BETWEEN ", "1 AND 2", ""},
		{"keywords", "", "SELECT ", "", ""},
		{"froms", "SELECT 1", " FROM", "", ""},
		{"unicode escapes", `SELECT U&'`, `\0061`, "'", ""},
		{"string continuation", "SELECT 'a'", "\n'a'", "", ""},
	}
	// Chains inside of chains, joins and set operations: a parser recurses
	// along all of them together.
	for _, n := range []int{20, 100, 400, 1500} {
		chain := strings.Repeat("+1", n)
		list = append(
			list,
			torture{fmt.Sprintf("nested chains of %d", n), "SELECT ", "(", "1", chain + ")"},
			torture{fmt.Sprintf("nested calls and chains of %d", n), "SELECT ", "abs(", "1", chain + ")"},
			torture{fmt.Sprintf("nested sub-queries and chains of %d", n), "", "SELECT (", "SELECT 1", chain + ")" + chain},
			torture{fmt.Sprintf("nested tables and chains of %d", n), "", "SELECT 1" + chain + " FROM (", "SELECT 1", ") AS t" + strings.Repeat(" CROSS JOIN t", n)},
			torture{fmt.Sprintf("nested cases and chains of %d", n), "SELECT ", "CASE WHEN 1=1 THEN ", "1", chain + " END" + chain},
			torture{fmt.Sprintf("nested set operations of %d", n), "", "(", "SELECT 1", strings.Repeat(" UNION SELECT 1", n) + ")"},
			torture{fmt.Sprintf("casts in chains of %d", n), "SELECT ", "(", "1", strings.Repeat("::int", n) + chain + ")"},
			torture{fmt.Sprintf("everything by %d", n), "SELECT ((1" + chain + ")" + chain + ") FROM t" + strings.Repeat(" CROSS JOIN t", n) + strings.Repeat(" UNION SELECT 1", n), " ", "", ""},
		)
	}
	for _, op := range []string{
		"+", "-", "*", "/", "%", "^", "<", ">", "=", "<>", "!=", "<=", ">=", "||", "&&", "&", "|", "#", "~", "~*", "!~", "<<", ">>", "->", "->>", "#>", "#>>",
		"@>", "<@", "?", "?|", "?&", "@@", "<->", "==", " AND ", " OR ", " LIKE ", " ILIKE ", " NOT LIKE ", " SIMILAR TO ", " GLOB ", " REGEXP ", " MATCH ",
		" OVERLAPS ", " IS ", " IS NOT ", " IS DISTINCT FROM ", " IN ", " LIKE ALL ",
	} {
		list = append(
			list,
			torture{"chain " + strings.TrimSpace(op), "SELECT 1", op + "1", "", ""},
			torture{"names " + strings.TrimSpace(op), "SELECT a", op + "a", " FROM t", ""},
		)
	}
	for _, op := range []string{"UNION", "UNION ALL", "INTERSECT", "EXCEPT"} {
		list = append(
			list,
			torture{op, "SELECT 1", " " + op + " SELECT 1", "", ""},
			torture{op + " left nest", "", "(", "SELECT 1", " " + op + " SELECT 1)"},
			torture{op + " right nest", "", "SELECT 1 " + op + " (", "SELECT 1", ")"},
			torture{op + " values", "VALUES (1)", " " + op + " VALUES (1)", "", ""},
		)
	}
	return list
}

// tortureRuns are the limits of the stack in KiB, and what is judged under each.
//
// The limit is that of a thread of C. A parser in C has the least room to spare
// with the smallest stack. Parsers in Go have a stack that grows, and the screen
// permits the most with the largest.
func tortureRuns() map[string]string {
	const usual, most = sqlguard.DefaultMaxBytes, sqlguard.CeilingMaxBytes
	entries := func(names string, sizes ...int) string {
		var out []string
		for name := range strings.FieldsSeq(names) {
			for _, size := range sizes {
				out = append(out, name+"/"+strconv.Itoa(size))
			}
		}
		return strings.Join(out, " ")
	}
	if dialecttest.Full() {
		return map[string]string{
			"8192": entries(tortured, usual, most), "1024": entries("postgres", usual, most), "256": entries("postgres", usual, most),
		}
	}
	inGo := strings.ReplaceAll(tortured, "postgres", "")
	return map[string]string{"8192": entries("postgres", most) + " " + entries(inGo, usual), "256": entries("postgres", most)}
}

// TestNoTextEndsTheProcess judges every shape at sizes up to 1 MB in a process
// of its own, under several limits of the stack. The process must live, and
// each text must be judged.
func TestNoTextEndsTheProcess(t *testing.T) {
	for stack, entries := range tortureRuns() {
		if testing.Short() && stack == "8192" {
			continue
		}
		t.Run(stack+" KiB of stack", func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -s "$1" && exec "$2"`, "sh", stack, self)
			cmd.Env = append(os.Environ(), tortureEnv+"="+entries)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			last, count := "nothing", 0
			var worst judged
			lines := bufio.NewScanner(stdout)
			for lines.Scan() {
				if !strings.HasPrefix(lines.Text(), "{") {
					last = lines.Text()
					continue
				}
				var j judged
				if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
					t.Fatal(err)
				}
				count++
				if j.Micros > worst.Micros {
					worst = j
				}
				if j.Bytes > j.Max && (j.Allowed || j.Code != sqlguard.CodeInputTooLarge) {
					t.Errorf("%+v: not refused as too large", j)
				}
				if j.Micros > dialecttest.Hang.Microseconds() {
					t.Errorf("%+v: took longer than %s", j, dialecttest.Hang)
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("the process ended at %q: %v\n%.2000s", last, err, stderr.String())
			}
			if want := len(strings.Fields(entries)) * 4 * len(tortures()); count != want {
				t.Errorf("%d texts judged, want %d", count, want)
			}
			t.Logf("%d texts; slowest %+v", count, worst)
		})
	}
}
