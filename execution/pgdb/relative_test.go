package pgdb_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
)

// The server is PostgreSQL with the marks by which the probe knows its relatives: a
// function aurora_version in pg_catalog. It stands for servers that cannot run here, and
// cannot show that those have the marks.
func TestProbeRelatives(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	report := func(relative string) string {
		b := open(t, url, pgdb.Config{MaxConnections: 1, Relative: relative})
		r, err := b.Probe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range r.Findings {
			all = append(all, string(f.Level)+": "+f.Message)
		}
		return strings.Join(all, "\n")
	}
	const unlike, known = "does not look like one", "driver postgres:aurora is for"
	if got := report(""); strings.Contains(got, unlike) || strings.Contains(got, known) {
		t.Error(got)
	}
	if got := report("aurora"); !strings.Contains(got, unlike) {
		t.Error(got)
	}
	server.Exec(t, url, "CREATE FUNCTION pg_catalog.aurora_version() RETURNS text LANGUAGE sql AS $$ SELECT '16.6.3' $$")
	if got := report(""); !strings.Contains(got, known) {
		t.Error(got)
	}
	if got := report("aurora"); strings.Contains(got, unlike) || strings.Contains(got, known) {
		t.Error(got)
	}
}
