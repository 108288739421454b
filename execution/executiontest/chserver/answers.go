package chserver

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var zeros = strings.Repeat("0", 16<<10)

// shapes are the statements that the server knows, each with the function that answers it.
// The arguments are what the expression's groups matched.
var shapes = []struct {
	form   *regexp.Regexp
	answer func(*Server, *Reply, []string)
}{
	{regexp.MustCompile(`^SELECT number \+ 1 AS n FROM system\.numbers LIMIT (\d+)$`), func(_ *Server, r *Reply, args []string) {
		r.Columns("n", "UInt64")
		for i := 1; i <= number(args[0]) && r.Row(strconv.Itoa(i)); i++ {
			if i%50_000 == 0 {
				r.Flush()
			}
		}
	}},
	{regexp.MustCompile(`^SELECT substring\(concat\('(0*)', toString\(number\)\), length\(toString\(number\)\) \+ 1\) AS text FROM system\.numbers LIMIT (\d+)$`), func(_ *Server, r *Reply, args []string) {
		r.Columns("text", "String")
		for i := 0; i < number(args[1]); i++ {
			text := args[0] + strconv.Itoa(i)
			if !r.Row(Text(text[len(text)-len(args[0]):])) {
				return
			}
		}
	}},
	{regexp.MustCompile(`^SELECT number \+ 1 AS id, substring\(.*arrayElement\(\[([0-9, ]+)\], toUInt32\(number \+ 1\)\)\) AS cell FROM system\.numbers LIMIT \d+$`), func(_ *Server, r *Reply, args []string) {
		r.Columns("id", "UInt64", "cell", "String")
		for i, size := range strings.Split(args[0], ", ") {
			// In pieces, because a test measures the memory of this process.
			r.Write("[" + strconv.Itoa(i+1) + `, "`)
			for rest := number(size); rest > 0; rest -= len(zeros) {
				r.Write(zeros[:min(rest, len(zeros))])
			}
			r.Write("\"]\n")
		}
	}},
	{regexp.MustCompile(`^SELECT 1 AS c1((?:, \d+ AS c\d+)*)$`), func(_ *Server, r *Reply, args []string) {
		pairs, row := []string{"c1", "UInt8"}, []string{"1"}
		for i := range strings.Count(args[0], " AS c") {
			n := strconv.Itoa(i + 2)
			pairs, row = append(pairs, "c"+n, "UInt8"), append(row, n)
		}
		r.Columns(pairs...)
		r.Row(row...)
	}},
	{regexp.MustCompile(`^SELECT (\d+) AS one$`), func(_ *Server, r *Reply, args []string) { r.One("one", "UInt8", args[0]) }},
	{regexp.MustCompile(`^SELECT id, name FROM items WHERE id < 0$`), func(_ *Server, r *Reply, _ []string) {
		r.Columns("id", "Int32", "name", "String")
	}},
	{regexp.MustCompile(`^SELECT count\(\) FROM `), func(_ *Server, r *Reply, _ []string) { r.Hang() }},
	{regexp.MustCompile(`^SELECT intDiv\(1, id - 1\) FROM items WHERE id = 1$`), func(_ *Server, r *Reply, _ []string) {
		r.Fail("153", "Division by zero: while executing 'FUNCTION intDiv(1, minus(id, 1))'. (ILLEGAL_DIVISION)")
	}},
	{regexp.MustCompile(`^SELECT intDiv\(1, (\d+) - toInt64\(number\)\) AS n FROM system\.numbers LIMIT \d+$`), func(_ *Server, r *Reply, args []string) {
		r.Columns("n", "Int64")
		for range min(number(args[0]), 20_000) {
			if !r.Row("0") {
				return
			}
		}
		r.Fail("153", "Division by zero: while executing 'FUNCTION intDiv(1, minus(400000, toInt64(number)))'. (ILLEGAL_DIVISION)")
	}},
	{regexp.MustCompile(`^SELECT 'äö€', id FROM items WHERE \)$`), func(_ *Server, r *Reply, _ []string) {
		at := strings.IndexByte(r.SQL, ')') + 1
		r.Fail("62", fmt.Sprintf("Syntax error: failed at position %d ()) (line 1, col %d): ). Expected one of: NOT. (SYNTAX_ERROR)", at, at))
	}},

	// What the backend asks.
	{regexp.MustCompile(`^SELECT version\(\) AS version$`), func(s *Server, r *Reply, _ []string) {
		r.One("version", "String", Text(map[bool]string{false: "26.5.3.1", true: "21.8.15.7"}[s.config.Old]))
	}},
	{regexp.MustCompile(`^SELECT \* FROM system\.settings WHERE name IN `), (*Server).settings},
	{regexp.MustCompile(`^SHOW GRANTS FINAL$`), func(s *Server, r *Reply, _ []string) {
		if s.config.Old {
			r.Fail("62", "Syntax error: failed at position 13 (FINAL)")
			return
		}
		s.grants(r)
	}},
	{regexp.MustCompile(`^SHOW GRANTS$`), func(s *Server, r *Reply, _ []string) { s.grants(r) }},
	{regexp.MustCompile(`^SELECT role_name FROM system\.enabled_roles `), func(_ *Server, r *Reply, _ []string) { r.Columns("role_name", "String") }},
	{regexp.MustCompile(`^SELECT toUnixTimestamp\(now\(\)\) AS now$`), func(_ *Server, r *Reply, _ []string) {
		r.One("now", "UInt32", strconv.FormatInt(time.Now().Unix(), 10))
	}},
	{regexp.MustCompile(`^SELECT database, table, name, default_expression FROM system\.columns `), func(_ *Server, r *Reply, _ []string) {
		r.Columns("database", "String", "table", "String", "name", "String", "default_expression", "String")
	}},
	{regexp.MustCompile(`^SELECT database, table, name FROM system\.columns `), func(_ *Server, r *Reply, _ []string) {
		r.Columns("database", "String", "table", "String", "name", "String")
		r.Row(`"default"`, `"items"`, `"id"`)
		r.Row(`"default"`, `"items"`, `"name"`)
	}},
	{regexp.MustCompile(`^SELECT database, name, engine FROM system\.tables `), func(_ *Server, r *Reply, _ []string) {
		r.Columns("database", "String", "name", "String", "engine", "String")
		r.Row(`"default"`, `"items"`, `"MergeTree"`)
	}},
	{regexp.MustCompile(`^SELECT name AS database FROM system\.databases `), func(_ *Server, r *Reply, _ []string) { r.One("database", "String", `"default"`) }},
	{regexp.MustCompile(`^SELECT name FROM system\.functions `), func(_ *Server, r *Reply, _ []string) { r.Columns("name", "String") }},
}

// answer answers a statement that the server knows.
func (s *Server) answer(r *Reply) {
	for _, shape := range shapes {
		if m := shape.form.FindStringSubmatch(r.SQL); m != nil {
			shape.answer(s, r, m[1:])
			return
		}
	}
	r.Fail("99999", "the stand-in does not know this statement: "+r.SQL)
}

// settings answers the question about settings. readonly = 1 fixes all of them, and a name
// with = in the profile fixes one.
func (s *Server) settings(r *Reply, _ []string) {
	pairs := []string{"name", "String", "value", "String", "changed", "UInt8"}
	if !s.config.Old {
		pairs = append(pairs, "readonly", "UInt8")
	}
	r.Columns(pairs...)
	known := s.known()
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value, fixed := s.profile(name), "0"
		if asked := r.Params.Get(name); asked != "" {
			value = asked
		}
		if s.fixed(name) || cmp.Or(r.Params.Get("readonly"), s.profile("readonly")) == "1" {
			fixed = "1"
		}
		row := []string{Text(name), Text(value), "0"}
		if !s.config.Old {
			row = append(row, fixed)
		}
		r.Row(row...)
	}
}

func (s *Server) grants(r *Reply) {
	r.Columns("GRANTS", "String")
	for _, line := range s.config.Grants {
		r.Row(Text(line))
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
