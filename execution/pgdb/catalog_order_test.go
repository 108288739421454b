package pgdb_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// Two functions are dropped, and one transaction adds two others. That
// transaction begins after the first of the dropped functions was created and
// before the second was. So there are as many rows as before, and the numbers
// of the transactions that wrote them have the same sum.
func TestCatalogSeesWhatCommitsLate(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	early, late := connect(), connect()
	run := func(conn *pgx.Conn, sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	client := open(t, url, pgdb.Config{Objects: true})
	allowed := func() bool {
		t.Helper()
		catalog, err := client.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		guard, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), catalog)
		if err != nil {
			t.Fatal(err)
		}
		return guard.Check("SELECT upper(1)").Allowed
	}
	run(early, "CREATE FUNCTION first() RETURNS int LANGUAGE sql AS 'SELECT 1'")
	run(late, "BEGIN; "+trap("upper", "int", "text")+"; CREATE FUNCTION other() RETURNS int LANGUAGE sql AS 'SELECT 1'")
	run(early, "CREATE FUNCTION second() RETURNS int LANGUAGE sql AS 'SELECT 1'")
	if !allowed() {
		t.Error("refused before there is an overload")
	}
	run(early, "DROP FUNCTION first(), second()")
	run(late, "COMMIT")
	if allowed() {
		t.Error("allowed although there is an overload")
	}
}
