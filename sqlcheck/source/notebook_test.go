package source_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck/source"
	"github.com/ktxhq/ktx/sqlguard"
)

// notebookOf returns a notebook of code cells as Jupyter saves it: each line of
// a cell is a string on its own line.
func notebookOf(t *testing.T, cells ...string) string {
	t.Helper()
	type cell struct {
		Type   string   `json:"cell_type"`
		Source []string `json:"source"`
	}
	var all []cell
	for _, text := range cells {
		all = append(all, cell{"code", strings.SplitAfter(text, "\n")})
	}
	all = append(all, cell{"markdown", []string{"%%sql\n", "DROP TABLE of_a_text"}})
	b, err := json.MarshalIndent(map[string]any{
		"cells": all, "nbformat": 4, "metadata": map[string]any{"language_info": map[string]any{"name": "python"}},
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func TestNotebook(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cells []string
		want  []string
	}{
		{[]string{"%%sql\nSELECT 1;\nSELECT 2"}, []string{"\nSELECT 1;\nSELECT 2"}},
		{[]string{"\n%%sql postgresql://me:secret@host/db\nSELECT 1"}, []string{"\nSELECT 1"}},
		{[]string{"%%sql warehouse\nSELECT 1"}, []string{"\nSELECT 1"}},
		{[]string{"%%sql --save recent --no-execute\nSELECT 1"}, []string{"\nSELECT 1"}},
		{[]string{"%%sql duckdb:// result << SELECT 1\nFROM t"}, []string{"SELECT 1\nFROM t"}},
		{[]string{"%%sql result <<\nSELECT 1"}, []string{"\nSELECT 1"}},
		{[]string{"%%sql -A '{\"a b\": 1}' sqlite:// SELECT 1"}, []string{"SELECT 1"}},
		{[]string{"%%sql\nSELECT a FROM {table} WHERE b = {b} AND c = :c AND d = '{{d}}'"}, []string{"\nSELECT a FROM x WHERE b = 1 AND c = 1 AND d = 'x' [{table}]"}},
		{[]string{"%%sql\nSELECT a FROM t {% if x %} WHERE b {% endif %}"}, []string{"\nSELECT a FROM t x WHERE b x [{% if x %}] [{% endif %}]"}},
		{[]string{"%%sql"}, nil},
		{[]string{"# what\n\n%%bigquery df --project {project}\nDROP TABLE a.b;"}, []string{"\nDROP TABLE a.b;"}},
		{[]string{"%sql SELECT 1\nx = %sql SELECT 2\n"}, []string{"SELECT 1", "SELECT 2"}},
		{[]string{"%sql con SELECT a \\\n  FROM t\nprint(1)"}, []string{"SELECT a    FROM t"}},
		{[]string{"%sql SELECT a FROM t WHERE b = $b"}, []string{"SELECT a FROM t WHERE b = 1"}},
		{[]string{"%sql SELECT a FROM $t"}, []string{"SELECT a FROM x [$t]"}},
		{[]string{"%sql SELECT $a$b$a$"}, []string{"x [SELECT $a$b$a$]"}},
		{[]string{"%sql\nSELECT 1\nFROM t"}, []string{"\nSELECT 1\nFROM t"}},
		{[]string{"%sql --persist df"}, []string{"x [ --persist df]"}},
		{[]string{"%sql -f load.sql"}, []string{"x [ -f load.sql]"}},
		{[]string{"%load_ext sql\n%sql sqlite://\n!echo it's\n?print\nprint?\n%config SqlMagic.x = 'a\ncur.execute('SELECT 1')"}, []string{"SELECT 1"}},
		{[]string{"%sqlplot boxplot"}, nil},
		{[]string{"pip install --upgrade 'a b\ncd workflow/data\ncd ..\ncur.execute('SELECT 1')"}, []string{"SELECT 1"}},
		{[]string{"cd if cur.execute('SELECT 1') else 2\nls = cur.execute('SELECT 2')\ncat -cur.execute('SELECT 3')"}, []string{"SELECT 1", "SELECT 2", "SELECT 3"}},
		{[]string{"q = '''\n%sql DROP TABLE t\n!'''\ncur.execute('SELECT 1')"}, []string{"SELECT 1"}},
		{[]string{"Q = 'SELECT a '", "cur.execute(Q + 'FROM t')"}, []string{"SELECT a FROM t"}},
		{[]string{"%%time\ncur.execute('SELECT 1')"}, []string{"SELECT 1"}},
		{[]string{"%%bash\ncur.execute('SELECT 1')", "pd.read_sql(\"SELECT \\\"é\\\"\", c)"}, []string{`SELECT "é"`}},
		{[]string{"print(1)"}, nil},
		{nil, nil},
	} {
		if diff := cmp.Diff(test.want, filled(t, "x.ipynb", notebookOf(t, test.cells...), "sqlite")); diff != "" {
			t.Errorf("%q: %s", test.cells, diff)
		}
	}
}

// TestNotebookForms reads files that programs other than Jupyter write.
func TestNotebookForms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code  string
		want  []string
		fault string
	}{
		{`{"cells": [{"cell_type": "code", "source": "%%sql\nSELECT 1"}]}`, []string{"\nSELECT 1"}, ""},
		{`{"worksheets": [{"cells": [{"cell_type": "code", "language": "python", "input": ["%%sql\n", "SELECT 1"]}]}]}`, []string{"\nSELECT 1"}, ""},
		{`{"c\u0065lls": [{"source": "%%sql\n\u0053ELECT '\ud83d\ude00\ud83d'", "outputs": [{"a": [1e999, null, {}]}]}]}`, []string{"\nSELECT '😀\uFFFD'"}, ""},
		{`{"cells": [{"cell_type": "code", "source": "SELECT 1"}], "metadata": {"kernelspec": {"language": "SQL"}}}`, []string{"SELECT 1"}, ""},
		{`{"cells": [{"cell_type": "raw", "source": "%%sql\nSELECT 1"}, {"cell_type": "code"}, 1, []]}`, nil, ""},
		{`{"cells": [{"cell_type": "code", "source": "1"}], "metadata": {"language_info": {"name": "R"}}}`, nil, "0: its language is not Python"},
		{`{"cells": [`, nil, "10: it is no JSON: unexpected end of JSON input"},
		{`{"cells": x}`, nil, "10: it is no JSON: invalid character 'x' looking for beginning of value"},
		{`cells`, nil, "0: it is no JSON: invalid character 'c' looking for beginning of value"},
		{``, nil, "0: it is no JSON: unexpected end of JSON input"},
		{`{"cell": []}`, nil, "0: it has no cells, so it is not a notebook"},
		{`[{"cells": []}]`, nil, "0: it has no cells, so it is not a notebook"},
		{`{"cells": [], "cells": []}`, nil, "14: the member cells stands twice"},
		{`{"cells": [{"source": "x", "source": "%%sql\nDROP TABLE t"}]}`, nil, "27: the member source stands twice"},
		{`{"cells": [{"source": ["x", 1]}]}`, nil, "28: the source of a cell is not text"},
		{`{"cells": [{"source": {"a": 1}}]}`, nil, "22: the source of a cell is not text"},
		{`{"cells": [{"source": "x = 1\ny = 'a\n"}]}`, nil, "34: the string has no end"},
		{strings.Repeat("[", 20000) + strings.Repeat("]", 20000), nil, "10000: it is no JSON: invalid character '[' exceeded max depth"},
	} {
		found, err := source.Find("x.ipynb", test.code, source.Options{})
		if err != nil {
			syntax := err.(*source.SyntaxError) //nolint:errorlint,forcetypeassert // Find says that it is one
			if got := fmt.Sprint(syntax.Offset, ": ", syntax.Message); got != test.fault {
				t.Errorf("%.80s: %s, want %q", test.code, got, test.fault)
			}
			continue
		}
		if test.fault != "" || len(found.Texts) != len(test.want) {
			t.Errorf("%s: %d texts, want %q %s", test.code, len(found.Texts), test.want, test.fault)
			continue
		}
		for i, text := range found.Texts {
			if text.SQL() != test.want[i] {
				t.Errorf("%s: %q", test.code, text.SQL())
			}
		}
	}
}

// TestNotebookPlaces checks that a marked word in a cell is mapped to its
// position in the file.
func TestNotebookPlaces(t *testing.T) {
	t.Parallel()
	d, _ := dialects.Lookup("postgres")
	for _, body := range []string{
		"%%sql\nSELECT 'é😀\t\\', «drop»\nFROM t",
		"%%sql --save x sqlite://\r\nSELECT {a},\r\n«drop»",
		"%sql SELECT {a}, \\\n \"q\", «drop»",
		"x = 1\ncur.execute(\"SELECT '\\\\n\\x41', \" 'é, «drop»')",
		"cur.execute(f'''\nSELECT {x},\n«drop»\n''')",
		"Q = 'SELECT «drop»'\ncur.execute(Q + x)",
		"cur.execute('SELECT «d\\x72op», 1')",
	} {
		for _, ascii := range []bool{false, true} {
			code := notebookOf(t, "import x\n", body)
			if ascii {
				code = strings.NewReplacer("é", `\u00e9`, "😀", `\ud83d\ude00`).Replace(code)
			}
			start := strings.Index(code, "«")
			code = strings.Replace(code, "«", "", 1)
			end := strings.Index(code, "»")
			code = strings.Replace(code, "»", "", 1)
			found, err := source.Find("x.ipynb", code, source.Options{})
			if err != nil || len(found.Texts) != 1 {
				t.Fatalf("%s: %v", body, err)
			}
			f := found.Texts[0].Fill(d)
			at := strings.Index(f.SQL, "drop")
			if got, want := f.Place(sqlguard.Span{Start: at, End: at + 4}), (sqlguard.Span{Start: start, End: end}); got != want {
				t.Errorf("%s: %v is %q, want %v", body, got, code[got.Start:got.End], want)
			}
		}
	}
}

// TestNotebookComments: a comment is left out if its line of the file has other
// lines of the program too.
func TestNotebookComments(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		notebookOf(t, "# one \"x\"\nf()  # two\n", "# three"):                                {`# one "x"`, "# two", "# three"},
		`{"cells": [{"cell_type": "code", "source": "# one\ncur.execute(x)"}]}`:              nil,
		`{"cells": [{"cell_type": "code", "source": ["# one\n", "cur.execute(x)"]}]}`:        nil,
		`{"cells": [{"cell_type": "code", "source": ["# one"]}, {"source": ["# two"]}]}`:     nil,
		"{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"# one\\n\",\n\"f()\"\n]}\n]}": {"# one"},
	} {
		found, err := source.Find("x.ipynb", code, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range found.Comments {
			got = append(got, found.Comment(i, code))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}

func FuzzNotebook(f *testing.F) {
	f.Add("%%sql -A 'x' a << SELECT {{x}} {y}", "cur.execute(f'''\nSELECT {a} \\x41''')\n%sql SELECT $a$ \\\n 1", false)
	f.Add("!x 'y\n?z\nq = %sql con SELECT 'é\U0001f600' \u2028", "# a\n%%time", true)
	f.Fuzz(func(t *testing.T, one, two string, raw bool) {
		code := one
		if !raw {
			code = notebookOf(t, one, two)
		}
		found, err := source.Find("x.ipynb", code, source.Options{})
		if err != nil {
			if syntax, ok := err.(*source.SyntaxError); !ok || syntax.Offset < 0 || syntax.Offset > len(code) { //nolint:errorlint // as Find says
				t.Fatal(err)
			}
			return
		}
		d, _ := dialects.Lookup("postgres")
		inside(t, found, code, d)
	})
}
