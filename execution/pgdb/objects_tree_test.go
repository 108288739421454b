package pgdb_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/pgdb"
)

func TestStoredExpressions(t *testing.T) {
	t.Parallel()
	const column, constant, null = "{VAR :varno 1 :varattno 1}", "{CONST :consttype 23 :constisnull false :constvalue 4 [ 1 0 0 0 0 0 0 0 ]}", "{CONST :consttype 23 :constisnull true :constvalue <>}"
	call := func(oid string, arguments ...string) string {
		return "{FUNCEXPR :funcid " + oid + " :funcresulttype 23 :args (" + strings.Join(arguments, " ") + ") :location -1}"
	}
	inlined := map[string]bool{"16400": false, "16401": true}
	for _, c := range []struct {
		name, text string
		runs       []string
	}{
		{"constant", call("16400", constant), []string{"16400"}},
		{"nothing", call("16400"), []string{"16400"}},
		{"column", call("16400", column), []string{}},
		{"column of the server's", call("16400", call("2108", column, constant)), []string{}},
		{"null beside a column", call("16400", call("2108", column, null)), []string{"16400"}},
		{"call beside a column", call("16400", call("2108", column, call("1299"))), []string{"16400"}},
		{"column beside a call", call("16400", column, call("16400", constant)), []string{"16400"}},
		{"body of a column", call("16401", column), []string{"16401"}},
		{"column in a body", call("16400", call("16401", column)), []string{"16400", "16401"}},
		{"not known", call("16999", column), []string{"16999"}},
		{"of the server", call("2108", constant), []string{}},
		{"choice", call("16400", "{CASE :casetype 25 :arg <> :args ({WHEN :expr "+constant+" :result "+column+"}) :defresult "+constant+"}"), []string{"16400"}},
		{"relabelled", call("16400", "{RELABELTYPE :arg "+column+" :resulttype 25}"), []string{}},
		{"operator", "{OPEXPR :opno 16500 :opfuncid 0 :args (" + constant + " " + constant + ")}", []string{"16400"}},
		{"operator that is not known", "{OPEXPR :opno 16501 :opfuncid 0 :args (" + column + " " + column + ")}", []string{""}},
		{"one side of OR", "{BOOLEXPR :boolop or :args (" + column + " " + call("16400", column) + ")}", []string{"16400"}},
		{"both sides of AND", "({BOOLEXPR :boolop and :args (" + column + " " + call("16400", column) + ")})", []string{}},
		{"list", "{SCALARARRAYOPEXPR :opno 98 :args (" + column + " {ARRAYEXPR :elements (" + constant + " " + call("16400", column) + ")})}", []string{"16400"}},
		{"escaped", call("16400", "{NAMEDARGEXPR :name \\{\\)\\ :arg "+column+" :argnumber 0}"), []string{"16400"}},
		{"a name like a field", call("16400", "{NAMEDARGEXPR :name :funcid :arg "+column+"}"), []string{"16400"}},
	} {
		got, err := pgdb.TreeRuns(c.text, inlined, map[string]string{"16500": "16400"})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if diff := gocmp.Diff(c.runs, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for _, text := range []string{"{", "(", ")", "}", "{VAR", "{VAR :a", "{(", "{VAR a}", "{ :a 1}", strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000)} {
		if got, err := pgdb.TreeRuns(text, nil, nil); err == nil {
			t.Errorf("%.20q: read as %v", text, got)
		}
	}
}

func FuzzStoredExpressions(f *testing.F) {
	f.Add("{FUNCEXPR :funcid 16400 :args ({VAR :varno 1} {CONST :constvalue 4 [ 1 0 0 0 ]})}")
	f.Add("({OPEXPR :opno 16500 :args ((o 1 2) <> {BOOLEXPR :boolop or})})")
	f.Fuzz(func(t *testing.T, text string) {
		a, errA := pgdb.TreeRuns(text, map[string]bool{"16400": true}, nil)
		b, errB := pgdb.TreeRuns(text, map[string]bool{"16400": true}, nil)
		if (errA == nil) != (errB == nil) || gocmp.Diff(a, b) != "" {
			t.Errorf("%q: %v %v, then %v %v", text, a, errA, b, errB)
		}
	})
}
