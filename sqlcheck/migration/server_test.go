package migration_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlcheck/migration"
)

// TestLocksOfPostgreSQL compares the rules with what a server does: the strongest
// lock that a statement takes on the table, and whether it writes the table again.
func TestLocksOfPostgreSQL(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := testdb.Postgres(t).NewDatabase(t,
		"CREATE TABLE u (id int PRIMARY KEY)",
		"CREATE TABLE t (id int PRIMARY KEY, a int, s varchar(10))",
		"INSERT INTO t SELECT i, i, 'x' FROM generate_series(1, 100) AS i",
		"CREATE UNIQUE INDEX spare ON t (a)",
	)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	const exclusive, blocksWrites, weak = "AccessExclusiveLock", "ShareLock", "ShareUpdateExclusiveLock"
	for _, c := range []struct {
		sql, lock string
		rewrites  bool
		code      string // which must be found; "" for none
	}{
		{"CREATE INDEX i ON t (a)", blocksWrites, false, "index_blocks_writes"},
		{"DO $$ BEGIN IF true THEN CREATE INDEX i ON t (a); END IF; END $$", blocksWrites, false, "index_blocks_writes"},
		{"DO $$ BEGIN EXECUTE 'ALTER TABLE t ALTER a TYPE bigint'; END $$", exclusive, true, "rewrites_table"},
		{"ALTER TABLE t ADD UNIQUE (s, a)", exclusive, false, "index_blocks_writes"},
		{"ALTER TABLE t ADD CONSTRAINT c UNIQUE USING INDEX spare", exclusive, false, ""},
		{"ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)", exclusive, false, "constraint_scans"},
		{"ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES u (id) NOT VALID", "ShareRowExclusiveLock", false, ""},
		{"ALTER TABLE t ALTER a SET NOT NULL", exclusive, false, "not_null_scans"},
		{"ALTER TABLE t ADD b int DEFAULT 0", exclusive, false, ""},
		{"ALTER TABLE t ADD b timestamptz DEFAULT now()", exclusive, false, ""},
		{"ALTER TABLE t ADD b uuid DEFAULT gen_random_uuid()", exclusive, true, "rewrites_table"},
		{"ALTER TABLE t ADD b serial", exclusive, true, "rewrites_table"},
		{"ALTER TABLE t ADD b int GENERATED ALWAYS AS (a * 2) STORED", exclusive, true, "rewrites_table"},
		{"ALTER TABLE t ADD b bigint GENERATED ALWAYS AS IDENTITY", exclusive, true, "rewrites_table"},
		{"ALTER TABLE t ALTER a TYPE bigint", exclusive, true, "rewrites_table"},
		{"ALTER TABLE t SET UNLOGGED", exclusive, true, "rewrites_table"},
		{"CLUSTER t USING t_pkey", exclusive, true, "rewrites_table"},
		{"ALTER TABLE t DROP COLUMN s", exclusive, false, "breaks_programs"},
		{"ALTER TABLE t SET (fillfactor = 70)", weak, false, ""},
		{"ALTER TABLE t ALTER a SET STATISTICS 10", weak, false, ""},
	} {
		tx, err := conn.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var before, after uint32
		var locks []string
		step := func(err error) {
			if err != nil {
				t.Fatalf("%s: %v", c.sql, err)
			}
		}
		step(tx.QueryRow(ctx, "SELECT pg_relation_filenode('t')").Scan(&before))
		_, err = tx.Exec(ctx, c.sql)
		step(err)
		rows, err := tx.Query(ctx, "SELECT mode FROM pg_locks WHERE relation = 't'::regclass AND pid = pg_backend_pid()")
		step(err)
		locks, err = pgx.CollectRows(rows, pgx.RowTo[string])
		step(err)
		step(tx.QueryRow(ctx, "SELECT pg_relation_filenode('t')").Scan(&after))
		step(tx.Rollback(ctx))
		if !slices.Contains(locks, c.lock) || c.lock != exclusive && slices.Contains(locks, exclusive) {
			t.Errorf("%s: the server takes %v, not %s", c.sql, locks, c.lock)
		}
		if (before != after) != c.rewrites {
			t.Errorf("%s: the server writes the table again: %t", c.sql, before != after)
		}
		got := read(t, "postgres", c.sql, migration.Options{}, false)
		if c.code == "" && len(got) > 0 || c.code != "" && !slices.Contains(got, c.code) {
			t.Errorf("%s: found %v, want %q", c.sql, got, c.code)
		}
	}
	// A constraint that proves NOT NULL saves the scan; the server says so itself.
	if _, err := conn.Exec(ctx, "BEGIN; CREATE INDEX CONCURRENTLY i ON t (a)"); err == nil {
		t.Error("CREATE INDEX CONCURRENTLY runs in a transaction")
	}
}

// TestLocksOnTheReferencedTable: what drops a foreign key takes the strongest lock on the
// table that it references too, and in a transaction the rules say so.
func TestLocksOnTheReferencedTable(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := testdb.Postgres(t).NewDatabase(t,
		"CREATE TABLE u (id int PRIMARY KEY)",
		"CREATE TABLE v (id int CONSTRAINT v_id_fkey REFERENCES u, a int CONSTRAINT positive CHECK (a > 0))",
	)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	const again = "; ALTER TABLE v ADD CONSTRAINT v_id_fkey FOREIGN KEY (id) REFERENCES public.u (id) NOT VALID"
	for _, c := range []struct {
		sql    string
		locks  bool   // the referenced table
		object string // the table at which the transaction locks a second one; "" for none
	}{
		{"ALTER TABLE v DROP CONSTRAINT v_id_fkey", true, "the table that v_id_fkey references"},
		{"ALTER TABLE v DROP CONSTRAINT IF EXISTS v_id_fkey CASCADE", true, "the table that v_id_fkey references"},
		{"ALTER TABLE v DROP CONSTRAINT v_id_fkey" + again, true, "u"},
		{"ALTER TABLE v DROP CONSTRAINT positive", false, ""},
	} {
		tx, err := conn.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(c.sql, ";")
		if _, err := tx.Exec(ctx, first); err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		var locks bool
		if err := tx.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'u'::regclass AND pid = pg_backend_pid() AND mode = 'AccessExclusiveLock'").Scan(&locks); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
		if locks != c.locks {
			t.Errorf("%s: the server locks the other table: %t", first, locks)
		}
		d, _ := dialects.Lookup("postgres")
		r := migration.NewReader(d, migration.Options{Transaction: true, Text: c.sql})
		object, message := "", ""
		for _, f := range r.Statement(first, d.Lex(first).List) {
			if f.Code == migration.CodeLockOrder {
				object = f.Object
			}
			if f.Code == migration.CodeNoLockTimeout {
				message = f.Message
			}
		}
		if object != c.object || message == "" || strings.Contains(message, cmp.Or(c.object, "references")) != c.locks {
			t.Errorf("%s: locks %q, and waits: %s", c.sql, object, message)
		}
	}
}

// TestOnlineOfMariaDB compares the rules with what a server does when it is asked to
// change the table without blocking writes: it refuses what must copy the table.
func TestOnlineOfMariaDB(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	db, err := testdb.OpenMariaDB(server.NewDatabase(t,
		"CREATE TABLE u (id int PRIMARY KEY)",
		"CREATE TABLE t (id int PRIMARY KEY, a int, s varchar(10)) CHARACTER SET latin1",
		"INSERT INTO t VALUES (1, 1, 'x')",
	))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	const refused, refusedWhy = 1845, 1846
	for _, c := range []struct {
		sql    string
		online bool
	}{
		{"ALTER TABLE t ADD COLUMN b int", true},
		{"ALTER TABLE t ADD COLUMN d1 char(36) DEFAULT (uuid())", false},
		{"ALTER TABLE t ADD COLUMN d2 int DEFAULT (1 + 1)", true},
		{"ALTER TABLE t ADD COLUMN d3 timestamp DEFAULT current_timestamp", true},
		{"ALTER TABLE t ADD INDEX i (a)", true},
		{"ALTER TABLE t DROP INDEX i", true},
		{"ALTER TABLE t ALTER COLUMN a SET DEFAULT 1", true},
		{"ALTER TABLE t MODIFY a bigint", false},
		{"ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4", false},
		{"ALTER TABLE t DROP PRIMARY KEY", false},
		{"ALTER TABLE t ADD FULLTEXT INDEX f (s)", false},
		{"ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES u (id)", false},
		{"ALTER TABLE t ADD COLUMN c int GENERATED ALWAYS AS (a * 2) STORED", false},
		{"ALTER TABLE t ADD COLUMN n int NOT NULL AUTO_INCREMENT UNIQUE", false},
		{"ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 2", false},
	} {
		_, err := db.ExecContext(t.Context(), c.sql+", ALGORITHM=INPLACE, LOCK=NONE")
		if c.sql == "ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 2" {
			_, err = db.ExecContext(t.Context(), "ALTER TABLE t ALGORITHM=INPLACE, LOCK=NONE PARTITION BY HASH (id) PARTITIONS 2")
		}
		number := uint16(0)
		if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
			number = e.Number
		}
		if c.online != (err == nil) || !c.online && number != refused && number != refusedWhy {
			t.Errorf("%s: the server does it online: %t (%v)", c.sql, err == nil, err)
		}
		got := read(t, "mysql", c.sql, migration.Options{}, false)
		hard := slices.ContainsFunc(got, func(code string) bool { return code != "not_online" })
		if hard == c.online {
			t.Errorf("%s: found %v, and the server does it online: %t", c.sql, got, c.online)
		}
	}
}
