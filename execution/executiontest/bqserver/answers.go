package bqserver

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var zeros = strings.Repeat("0", 16<<10)

// Values writes a row of values in JSON.
func Values(values ...string) func(io.Writer, int) {
	var b strings.Builder
	b.WriteString(`{"f": [`)
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`{"v": ` + v + `}`)
	}
	b.WriteString("]}")
	return func(w io.Writer, _ int) { _, _ = io.WriteString(w, b.String()) }
}

// Text writes a value as a string of JSON.
func Text(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// One is a query with one row.
func One(f Field, value string) Query {
	return Query{Fields: []Field{f}, Rows: 1, Row: Values(value)}
}

func integers(name string, from, n int) Query {
	return Query{Fields: []Field{{Name: name, Type: "INTEGER"}}, Rows: n, Row: func(w io.Writer, i int) {
		Values(Text(strconv.Itoa(from+i)))(w, i)
	}}
}

func invalid(message string) *Failure {
	return &Failure{http.StatusBadRequest, "invalidQuery", message}
}

// shapes are the statements that the server knows, each with what it does. The arguments
// are what the expression's groups matched.
var shapes = []struct {
	form *regexp.Regexp
	does func(*Server, []string) Query
}{
	{regexp.MustCompile(`^SELECT (\d+) AS one$`), func(_ *Server, args []string) Query { return One(Field{Name: "one", Type: "INTEGER"}, Text(args[0])) }},
	{regexp.MustCompile(`^SELECT n FROM UNNEST\(GENERATE_ARRAY\(1, (\d+)\)\) AS n ORDER BY n$`), func(_ *Server, args []string) Query { return integers("n", 1, number(args[0])) }},
	{regexp.MustCompile(`^SELECT REPEAT\('0', (\d+)\) AS text FROM UNNEST\(GENERATE_ARRAY\(1, (\d+)\)\)$`), func(_ *Server, args []string) Query {
		return Query{Fields: []Field{{Name: "text", Type: "STRING"}}, Rows: number(args[1]), Row: Values(Text(strings.Repeat("0", number(args[0]))))}
	}},
	{regexp.MustCompile(`^SELECT n \+ 1 AS id, REPEAT\('0', size\) AS cell FROM UNNEST\(\[([0-9, ]+)\]\) AS size WITH OFFSET AS n ORDER BY n$`), func(_ *Server, args []string) Query {
		sizes := strings.Split(args[0], ", ")
		return Query{Fields: []Field{{Name: "id", Type: "INTEGER"}, {Name: "cell", Type: "STRING"}}, Rows: len(sizes), Row: func(w io.Writer, i int) {
			// In pieces, because a test measures the memory of this process.
			_, _ = io.WriteString(w, `{"f": [{"v": "`+strconv.Itoa(i+1)+`"}, {"v": "`)
			for rest := number(sizes[i]); rest > 0; rest -= len(zeros) {
				_, _ = io.WriteString(w, zeros[:min(rest, len(zeros))])
			}
			_, _ = io.WriteString(w, `"}]}`)
		}}
	}},
	{regexp.MustCompile(`^SELECT 1 AS c1((?:, \d+ AS c\d+)*)$`), func(_ *Server, args []string) Query {
		fields, row := []Field{{Name: "c1", Type: "INTEGER"}}, []string{`"1"`}
		for i := range strings.Count(args[0], " AS c") {
			n := strconv.Itoa(i + 2)
			fields, row = append(fields, Field{Name: "c" + n, Type: "INTEGER"}), append(row, Text(n))
		}
		return Query{Fields: fields, Rows: 1, Row: Values(row...)}
	}},
	{regexp.MustCompile(`^SELECT id, name FROM items WHERE id < 0$`), func(*Server, []string) Query {
		return Query{Fields: []Field{{Name: "id", Type: "INTEGER"}, {Name: "name", Type: "STRING"}}}
	}},
	{regexp.MustCompile(`^SELECT COUNT\(\*\) FROM `), func(*Server, []string) Query { return Query{Hangs: true} }},
	{regexp.MustCompile(`^SELECT 1 / \(id - 1\) FROM items WHERE id = 1$`), func(*Server, []string) Query {
		return Query{Fail: invalid("division by zero: 1 / 0")}
	}},
	{regexp.MustCompile(`^SELECT id FROM ` + "`expires`" + `$`), func(*Server, []string) Query {
		q := integers("id", 1, 20_000)
		q.PageFails = &Failure{http.StatusNotFound, "notFound", "Not found: the results of the job have expired"}
		return q
	}},
	{regexp.MustCompile(`^SELECT 'äö€', id FROM items WHERE \)$`), func(*Server, []string) Query {
		return Query{Refuse: invalid(`Syntax error: Unexpected ")" at [1:35]`)}
	}},
	{regexp.MustCompile(`^SELECT 1 FROM (ktx_no_such_table)$`), func(_ *Server, args []string) Query {
		return Query{Refuse: &Failure{http.StatusNotFound, "notFound", "Not found: Table " + Project + ":" + Dataset + "." + args[0] + " was not found in location " + Location}}
	}},
	{regexp.MustCompile(`^SELECT (ktx_no_such_column)$`), func(_ *Server, args []string) Query {
		return Query{Refuse: invalid("Unrecognized name: " + args[0] + " at [1:8]")}
	}},

	// What the backend asks.
	{regexp.MustCompile(`^SELECT SESSION_USER\(\) AS principal, UNIX_SECONDS\(CURRENT_TIMESTAMP\(\)\) AS now$`), func(*Server, []string) Query {
		now := Text(strconv.FormatInt(time.Now().Unix(), 10))
		return Query{Fields: []Field{{Name: "principal", Type: "STRING"}, {Name: "now", Type: "INTEGER"}}, Rows: 1, Row: Values(`"reader@`+Project+`.iam.gserviceaccount.com"`, now)}
	}},
	{regexp.MustCompile("^CREATE (?:TABLE|SCHEMA) `" + Project + "`\\."), func(s *Server, _ []string) Query {
		if s.config.Writes {
			return Query{Type: "CREATE_TABLE"}
		}
		return Query{Refuse: &Failure{http.StatusForbidden, "accessDenied", "Access Denied: Dataset " + Project + ":" + Dataset + ": Permission bigquery.tables.create denied on dataset"}}
	}},
	{regexp.MustCompile("^SELECT table_name FROM " + Dataset + `\.INFORMATION_SCHEMA\.TABLES$`), func(s *Server, _ []string) Query {
		return One(Field{Name: "table_name", Type: "STRING"}, `"items"`)
	}},
	{regexp.MustCompile(`^SELECT table_schema, table_name, column_name FROM `), func(*Server, []string) Query {
		return Query{Fields: []Field{{Name: "table_schema", Type: "STRING"}, {Name: "table_name", Type: "STRING"}, {Name: "column_name", Type: "STRING"}}, Rows: 2, Row: func(w io.Writer, i int) {
			Values(Text(Dataset), `"items"`, Text([]string{"id", "name"}[i]))(w, i)
		}}
	}},
	{regexp.MustCompile(`^SELECT routine_name FROM `), func(*Server, []string) Query {
		return Query{Fields: []Field{{Name: "routine_name", Type: "STRING"}}}
	}},
}

// answer returns what the server does with a statement that it knows.
func (s *Server) answer(sql string) (Query, bool) {
	for _, shape := range shapes {
		if m := shape.form.FindStringSubmatch(sql); m != nil {
			return shape.does(s, m[1:]), true
		}
	}
	return Query{}, false
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
