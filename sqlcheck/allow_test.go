package sqlcheck_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlguard"
)

// states checks a text on 2026-11-20. It returns the findings as
// line:column-line:column, code and state.
func states(t *testing.T, dialect, text string) []string {
	t.Helper()
	c := sqlcheck.Checker{Stdin: strings.NewReader(text), Choose: with(t, dialect), Today: time.Date(2026, 11, 20, 23, 59, 0, 0, time.UTC)}
	files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: "stdin", Stdin: true}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files[0].Findings {
		line := fmt.Sprintf("%d:%d-%d:%d %s", f.Line, f.Column, f.EndLine, f.EndColumn, f.Code)
		if f.State != "" {
			line += fmt.Sprintf(" %s: %s (%s, line %d)", f.State, f.Suppression.Reason, f.Suppression.Until, f.Suppression.Line)
		}
		if f.Severity != "error" {
			line += " " + string(f.Severity)
		}
		out = append(out, line)
	}
	return out
}

func TestSuppressions(t *testing.T) {
	t.Parallel()
	const good = `ktx:allow ddl_statement until=2027-01-31 reason="set up"`
	const permitted = "ddl_statement suppressed: set up (2027-01-31, line %d)"
	for _, test := range []struct {
		name, dialect, text string
		want                []string
	}{
		{"before", "postgres", "-- " + good + "\nDROP TABLE t;", []string{"2:1-2:13 " + fmt.Sprintf(permitted, 1)}},
		{"before, with lines between", "postgres", "/* " + good + " */\n\n-- more\nDROP TABLE t;", []string{"4:1-4:13 " + fmt.Sprintf(permitted, 1)}},
		{"inside", "postgres", "DROP TABLE\n-- " + good + "\nt;", []string{"1:1-3:2 " + fmt.Sprintf(permitted, 2)}},
		{"behind", "postgres", "DROP TABLE t; -- " + good + "\nDROP TABLE u", []string{"1:1-1:13 " + fmt.Sprintf(permitted, 1), "2:1-2:13 ddl_statement"}},
		{"behind, with nothing after it", "postgres", "DROP TABLE t -- " + good, []string{"1:1-1:13 " + fmt.Sprintf(permitted, 1)}},
		{"CR LF", "postgres", "-- " + good + "\r\nDROP TABLE t;\r\n", []string{"2:1-2:13 " + fmt.Sprintf(permitted, 1)}},
		{"with a mark of encoding", "postgres", "\ufeff-- " + good + "\nDROP TABLE t;", []string{"2:1-2:13 " + fmt.Sprintf(permitted, 1)}},
		{"the next statement only", "postgres", "-- " + good + "\nDROP TABLE t; DROP TABLE u", []string{"2:1-2:13 " + fmt.Sprintf(permitted, 1), "2:15-2:27 ddl_statement"}},
		{"without semicolons", "sqlserver", "SET NOCOUNT ON\n-- " + good + "\nDROP TABLE t\nDROP TABLE u", []string{"1:1-1:15 session_change", "3:1-3:13 " + fmt.Sprintf(permitted, 2), "4:1-4:13 ddl_statement"}},
		{"in a block", "sqlserver", "BEGIN\n  DROP TABLE é; -- " + good + "\n  DROP TABLE u\nEND", []string{"1:1-1:6 procedural_block", "2:3-2:15 " + fmt.Sprintf(permitted, 2), "3:3-3:15 ddl_statement", "4:1-4:4 procedural_block"}},
		{"another code", "postgres", "-- " + good + "\nDELETE FROM t", []string{"1:1-1:60 suppression_unused warning", "2:1-2:14 write_statement"}},
		{"one of two codes", "postgres", "-- ktx:allow ddl_statement select_into until=2027-01-31 reason=\"set up\"\nDROP TABLE t", []string{"1:1-1:72 suppression_unused warning", "2:1-2:13 " + fmt.Sprintf(permitted, 1)}},
		{"two codes", "postgres", "-- ktx:allow function_sleep, locking_clause until=2027-01-31 reason=\"test\"\nSELECT pg_sleep(1) FROM t FOR UPDATE", []string{"2:8-2:16 function_sleep suppressed: test (2027-01-31, line 1)", "2:27-2:37 locking_clause suppressed: test (2027-01-31, line 1)"}},
		{"on an allowed statement", "postgres", "-- " + good + "\nSELECT 1", []string{"1:1-1:60 suppression_unused warning"}},
		{"on nothing", "postgres", "SELECT 1;\n-- " + good, []string{"2:1-2:60 suppression_unused warning"}},
		{"in a string", "postgres", "SELECT '-- " + good + "'; DROP TABLE t", []string{"1:71-1:83 ddl_statement"}},
		{"in the middle of a comment", "postgres", "-- see " + good + "\nDROP TABLE t", []string{"2:1-2:13 ddl_statement"}},
		{"the last day", "postgres", "-- ktx:allow ddl_statement until=2026-11-20 reason=\"x\"\nDROP TABLE t", []string{"2:1-2:13 ddl_statement suppressed: x (2026-11-20, line 1)"}},
		{"the day after", "postgres", "-- ktx:allow ddl_statement until=2026-11-19 reason=\"x\"\nDROP TABLE t", []string{"1:1-1:55 suppression_expired", "2:1-2:13 ddl_statement"}},
		{"180 days", "postgres", "-- ktx:allow ddl_statement until=2027-05-19 reason=\"x\"\nDROP TABLE t", []string{"2:1-2:13 ddl_statement suppressed: x (2027-05-19, line 1)"}},
		{"181 days", "postgres", "-- ktx:allow ddl_statement until=2027-05-20 reason=\"x\"\nDROP TABLE t", []string{"1:1-1:55 suppression_invalid", "2:1-2:13 ddl_statement"}},
		{"bare", "postgres", "DROP TABLE t -- ktx:allow", []string{"1:1-1:13 ddl_statement", "1:14-1:26 suppression_invalid"}},
		{"the same code twice", "postgres", "-- ktx:allow ddl_statement, ddl_statement until=2027-01-31 reason=\"x\"\nSELECT 1", []string{"1:1-1:70 suppression_unused warning"}},
		{"centuries ahead", "postgres", "-- ktx:allow ddl_statement until=9999-12-31 reason=\"x\"\nDROP TABLE t", []string{"1:1-1:55 suppression_invalid", "2:1-2:13 ddl_statement"}},
		{"over several lines", "postgres", "/*\n  " + good[:len(good)-8] + "\"set\n up\"\n*/ DROP TABLE t", []string{"4:4-4:16 " + fmt.Sprintf(permitted, 1)}},
		{"nested", "postgres", "/* /* " + good + " */ */ DROP TABLE t", []string{"1:1-1:69 suppression_invalid", "1:70-1:82 ddl_statement"}},
		{"a comment of many dashes", "postgres", "------ " + good + "\nDROP TABLE t", []string{"2:1-2:13 " + fmt.Sprintf(permitted, 1)}},
		{"with a colon", "postgres", "-- ktx:allow: ddl_statement until=2027-01-31 reason=\"set up\"\nDROP TABLE t", []string{"2:1-2:13 " + fmt.Sprintf(permitted, 1)}},
		{"another word", "postgres", "-- ktx:allowed ddl_statement\nDROP TABLE t", []string{"2:1-2:13 ddl_statement"}},
		{"mysql with #", "mysql", "# " + good + "\nDROP TABLE t; DROP TABLE u # " + good, []string{"2:1-2:13 " + fmt.Sprintf(permitted, 1), "2:15-2:27 " + fmt.Sprintf(permitted, 2)}},
		{"mysql with -- and no space", "mysql", "DROP TABLE t --" + good, []string{"1:1-1:72 ddl_statement"}},
		{"mysql in what is run", "mysql", "/*! " + good + " */ DROP TABLE t", []string{"1:1-1:64 executable_comment"}},
		{"mariadb in a block", "mariadb", "/*" + good + "*/ DROP TABLE t", []string{"1:62-1:74 " + fmt.Sprintf(permitted, 1)}},
		{"sqlite with #", "sqlite", "# " + good + "\nDROP TABLE t", []string{"1:1-1:2 parse_error"}},
		{"sqlserver in a block", "sqlserver", "/* " + good + " */ DROP TABLE t", []string{"1:64-1:76 " + fmt.Sprintf(permitted, 1)}},
		{"sqlite", "sqlite", "-- " + good + "\nDROP TABLE t;", []string{"2:1-2:13 " + fmt.Sprintf(permitted, 1)}},
		{"sqlserver", "sqlserver", "-- " + good + "\nDROP TABLE t\nGO\nDROP TABLE u -- " + good, []string{"2:1-2:13 " + fmt.Sprintf(permitted, 1), "4:1-4:13 " + fmt.Sprintf(permitted, 4)}},
	} {
		if diff := cmp.Diff(test.want, states(t, test.dialect, test.text)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestSuppressionFaults: a suppression that is not valid has no effect, and a
// finding says why.
func TestSuppressionFaults(t *testing.T) {
	t.Parallel()
	const until, reason = ` until=2027-01-31`, ` reason="x"`
	for text, want := range map[string]string{
		"ddl_statement" + until:                             `it has no reason="…"`,
		"ddl_statement" + until + ` reason=""`:              `it has no reason="…"`,
		"ddl_statement" + until + ` reason="  "`:            `it has no reason="…"`,
		"ddl_statement" + until + ` reason=x`:               "the reason is not in double quotes",
		"ddl_statement" + until + ` reason="x`:              "the reason is not in double quotes",
		"ddl_statement" + reason:                            "it has no until=DATE, the last day on which it is valid",
		"ddl_statement until=2027-02-30" + reason:           "2027-02-30 is not a date such as 2027-01-31",
		"ddl_statement until=tomorrow" + reason:             "tomorrow is not a date such as 2027-01-31",
		until + reason:                                      "it names no code",
		"everything" + until + reason:                       "everything is no code; ktx explain lists them",
		"* " + until + reason:                               "* is no code; ktx explain lists them",
		"not_checked" + until + reason:                      "findings of not_checked cannot be suppressed",
		"suppression_expired" + until + reason:              "findings of suppression_expired cannot be suppressed",
		"ddl_statement" + until + until + reason:            "it has two dates",
		"ddl_statement" + until + reason + reason:           "it has two reasons",
		"ddl_statement until=" + reason:                     " is not a date such as 2027-01-31",
		"ddl_statement until=2027-1-31" + reason:            "2027-1-31 is not a date such as 2027-01-31",
		"ddl_statement until=\"2027-01-31\"" + reason:       `"2027-01-31" is not a date such as 2027-01-31`,
		"ddl_statement until=2027-01-31T00:00:00Z" + reason: "2027-01-31T00:00:00Z is not a date such as 2027-01-31",
		"ddl_statement UNTIL=2027-01-31" + reason:           "UNTIL=2027-01-31 is neither a code, nor until=, nor reason=",
		"DDL_STATEMENT" + until + reason:                    "DDL_STATEMENT is no code; ktx explain lists them",
		"ddl_statement" + until + ` reason="a \"b\""`:       `b\"" is no code; ktx explain lists them`,
		"ddl_statement" + until + reason + " who=me":        "who=me is neither a code, nor until=, nor reason=",
	} {
		c := sqlcheck.Checker{Stdin: strings.NewReader("-- ktx:allow " + text + "\nDROP TABLE t"), Choose: with(t, "postgres"), Today: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
		files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: "stdin", Stdin: true}})
		if err != nil {
			t.Fatal(err)
		}
		f := files[0].Findings
		if len(f) != 2 || f[0].Code != "suppression_invalid" || f[0].Message != "the suppression has no effect: "+want || f[1].State != "" {
			t.Errorf("%s: %+v", text, f)
		}
	}
}

// TestSuppressedHoles: a suppression on a call whose statement comes from elsewhere applies
// to it and to nothing else. Without a dialect such calls are reported all the same.
func TestSuppressedHoles(t *testing.T) {
	t.Parallel()
	const allow = "# ktx:allow dynamic_sql_unprovable until=2027-01-31 reason=\"x\""
	const holes = "def f(cursor, sql, t):\n    " + allow + "\n    cursor.execute(sql)\n    cursor.execute(sql)\n"
	const text = holes + "    " + allow + "\n    cursor.execute(f\"SELECT 1 FROM {t}\")\n"
	unknown := func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) {
		return nil, &sqlguard.Finding{Code: sqlguard.CodeDialectUnknown, Message: "nothing says it"}
	}
	for _, test := range []struct {
		text   string
		choose func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding)
		want   []string
	}{
		{text, with(t, "postgres"), []string{"3 dynamic_sql_unprovable suppressed", "4 dynamic_sql_unprovable ", "6 dynamic_sql_unprovable suppressed"}},
		{text, unknown, []string{"1 dialect_unknown "}},
		{holes, unknown, []string{"3 dynamic_sql_unprovable suppressed", "4 dynamic_sql_unprovable "}},
	} {
		c := sqlcheck.Checker{Stdin: strings.NewReader(test.text), Choose: test.choose, Today: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
		files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: "a.py", Stdin: true}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files[0].Findings {
			got = append(got, fmt.Sprintf("%d %s %s", f.Line, f.Code, f.State))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(diff)
		}
	}
}
