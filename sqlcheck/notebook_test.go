package sqlcheck_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNotebook checks that findings, their positions and suppressions of a
// notebook refer to the file.
func TestNotebook(t *testing.T) {
	t.Parallel()
	const text = `{
 "cells": [
  {"cell_type": "markdown", "source": ["%%sql\n", "DROP TABLE t"]},
  {"cell_type": "code", "outputs": [], "source": [
   "%%sql warehouse\n",
   "SELECT '\u00e9', pg_sleep(1);\n",
   "DELETE FROM t"
  ]},
  {"cell_type": "code", "outputs": [], "source": [
   "q = \"DELETE \"\n",
   "# ktx:allow write_statement until=2027-01-31 reason=\"x\"\n",
   "cur.execute(q + \"FROM \\\"é\\\"\")\n",
   "pd.read_sql(f\"SELECT * FROM {t}\", c)"
  ]}
 ],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
}
`
	judged, found := inSource(t, "x.ipynb", text)
	want := []string{
		`6:22 function_sleep "pg_sleep"`,
		`7:5 write_statement "DELETE FROM t"`,
		`10:11 write_statement "DELETE \\\"\\n\",\n   \"# ktx:allow write_statement until=2027-01-31 reason=\\\"x\\\"\\n\",\n   \"cur.execute(q + \\\"FROM \\\\\\\"é\\\\\\\"" suppressed`,
		`13:34 dynamic_sql_unprovable "{t}"`,
	}
	if diff := cmp.Diff(want, found); diff != "" || judged != 4 {
		t.Errorf("%d judged: %s", judged, diff)
	}
	// A suppression that shares its line of the file with other cells could
	// apply to any of them, so it has no effect.
	_, found = inSource(t, "x.ipynb", `{"cells": [{"cell_type": "code", "source": "# ktx:allow write_statement until=2027-01-31 reason=\"x\"\ncur.execute('DELETE FROM t')\n"}]}`)
	if diff := cmp.Diff([]string{`1:117 write_statement "DELETE FROM t"`}, found); diff != "" {
		t.Error(diff)
	}
	if _, found := inSource(t, "x.ipynb", `{"cells": [`); len(found) != 1 || found[0][:16] != "1:11 not_checked" {
		t.Errorf("%q", found)
	}
}
