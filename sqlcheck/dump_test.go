package sqlcheck_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCopyData: the data behind a COPY is no SQL, and nothing else is data.
func TestCopyData(t *testing.T) {
	t.Parallel()
	const copied = `"COPY t FROM stdin" 1:1 write_statement`
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{
			"a dump", "COPY t FROM stdin;\n1\tHitchhiker's; Guide\n\\N\t$$ /*\n\\.\nSELECT 1;\n",
			[]string{copied, `"SELECT 1"`},
		},
		{
			"line ends of Windows, quoted names, columns and options",
			"COPY \"a b\".\"t\" (x, \"y\") FROM STDIN WITH (FORMAT csv, NULL '');\r\n1,2\r\n\\.\r\nDELETE FROM t;\r\n",
			[]string{`"COPY \"a b\".\"t\" (x, \"y\") FROM STDIN WITH (FORMAT csv, NULL '')" 1:1 write_statement`, `"DELETE FROM t" 4:1 write_statement`},
		},
		{"no data", "COPY t FROM stdin;\n\\.\nDROP TABLE t;", []string{copied, `"DROP TABLE t" 3:1 ddl_statement`}},
		{
			"a comment in the data permits nothing",
			"COPY t FROM stdin;\n-- ktx:allow ddl_statement until=2027-01-31 reason=\"x\"\n\\.\nDROP TABLE t;",
			[]string{copied, `"DROP TABLE t" 4:1 ddl_statement`},
		},
		{"a statement in the data", "COPY t FROM stdin;\n1\t2;\nDROP TABLE t;\n\\.\n", []string{copied, `"DROP TABLE t" 3:1 ddl_statement`}},
		{
			"a statement in the data that the guard cannot parse", "COPY t FROM stdin;\n1\t2;\nDROP /*\u202e*/ TABLE t;\n\\.\n",
			[]string{copied, "\"DROP /*\\u202e*/ TABLE t\" 3:8 invalid_characters"},
		},
		{"no end", "COPY t FROM stdin;\nDROP TABLE t;\n", []string{copied, `"DROP TABLE t" 2:1 ddl_statement`}},
		{
			"an end that is more than the mark", "COPY t FROM stdin;\nDROP TABLE t;\n\\.;\n",
			[]string{copied, `"DROP TABLE t" 2:1 ddl_statement`, `"\\.;" 3:1 client_command`},
		},
		{
			"in a string", "SELECT '\nCOPY t FROM stdin;\n'; DROP TABLE t;\n\\.\n",
			[]string{`"SELECT '\nCOPY t FROM stdin;\n'"`, `"DROP TABLE t" 3:4 ddl_statement`, `"\\." 4:1 client_command`},
		},
		{
			"in a comment", "/*\nCOPY t FROM stdin;\n*/ DROP TABLE t;\n\\.\n",
			[]string{`"DROP TABLE t" 3:4 ddl_statement`, `"\\." 4:1 client_command`},
		},
		{
			"in another statement", "SELECT 1\nCOPY t FROM stdin;\nDROP TABLE t;\n\\.\n",
			[]string{`"SELECT 1\nCOPY t FROM stdin" 2:6 parse_error`, `"DROP TABLE t" 3:1 ddl_statement`, `"\\." 4:1 client_command`},
		},
		{
			"another COPY", "COPY (SELECT 'FROM stdin') TO STDOUT;\nDROP TABLE t;\n\\.\n",
			[]string{`"COPY (SELECT 'FROM stdin') TO STDOUT" 1:1 statement_not_allowed`, `"DROP TABLE t" 2:1 ddl_statement`, `"\\." 3:1 client_command`},
		},
		{
			"SQL behind the command", "COPY t FROM stdin; DROP TABLE t;\n\\.\n",
			[]string{copied, `"DROP TABLE t" 1:20 ddl_statement`, `"\\." 2:1 client_command`},
		},
	} {
		if diff := cmp.Diff(test.want, brief(test.text, judge(t, "postgres", test.text))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	// Other engines have no such data.
	text := "COPY t FROM stdin;\nDROP TABLE t;\n\\.\n"
	for _, dialect := range []string{"mysql", "sqlite", "sqlserver"} {
		if got := strings.Join(brief(text, judge(t, dialect, text)), "\n"); !strings.Contains(got, `DROP TABLE t" 2:1 ddl_statement`) && !strings.Contains(got, "2:1 ddl_statement") {
			t.Errorf("%s: %s", dialect, got)
		}
	}
}
