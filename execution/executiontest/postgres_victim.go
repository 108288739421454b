package executiontest

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// postgresVictim is a database on a cluster that ends with the test. It has the
// superuser's connection, a session that listens, and another session that
// attacks may disturb.
type postgresVictim struct {
	tb        testing.TB // of the whole suite: what is started for one role outlives it
	server    *testdb.PostgresServer
	url       string // the superuser's
	database  string
	roles     map[string]string // role names, by their name in the report
	dir       string            // a directory in which the server may write
	owner     *pgx.Conn
	listener  *pgx.Conn
	heard     int
	bystander *bystander
}

// postgresSchema is the database that is attacked: tables, a sequence,
// functions that write, a large object, and the extensions that reach other
// systems.
const postgresSchema = itemsTable + `
	CREATE TABLE secrets (name text, value text);
	INSERT INTO secrets VALUES ('key', 'hidden');
	CREATE SEQUENCE numbers;
	CREATE MATERIALIZED VIEW item_count AS SELECT count(*) FROM items;
	CREATE FUNCTION write_item() RETURNS int LANGUAGE sql AS 'INSERT INTO items VALUES (9, ''nine'') RETURNING id';
	CREATE PROCEDURE write_items() LANGUAGE sql AS 'INSERT INTO items VALUES (9, ''nine'')';
	CREATE EXTENSION dblink;
	SELECT lo_from_bytea(4242, 'large');
	GRANT SELECT ON LARGE OBJECT 4242 TO PUBLIC;`

const postgresRights = `
	REVOKE CREATE ON SCHEMA public FROM PUBLIC;
	GRANT CREATE ON SCHEMA public TO {owner};
	ALTER TABLE items OWNER TO {owner};
	ALTER TABLE secrets OWNER TO {owner};
	ALTER SEQUENCE numbers OWNER TO {owner};
	ALTER MATERIALIZED VIEW item_count OWNER TO {owner};
	ALTER LARGE OBJECT 4242 OWNER TO {owner};
	GRANT SELECT ON items, item_count TO {reader};`

func newPostgresVictim(tb testing.TB) Victim {
	tb.Helper()
	server := testdb.StartPostgres(tb, testdb.Options{Settings: map[string]string{
		"max_prepared_transactions": "5",
		"wal_level":                 "logical",
		"autovacuum":                "off",
		"checkpoint_timeout":        "1h",
	}})
	v := &postgresVictim{tb: tb, server: server}
	v.url = server.NewDatabase(tb, postgresSchema)
	u, err := url.Parse(v.url)
	if err != nil {
		tb.Fatal(err)
	}
	v.database = path.Base(u.Path)
	v.roles = map[string]string{roleSuperuser: "", roleOwner: server.NewRole(tb), roleReader: server.NewRole(tb)}
	server.Exec(tb, v.url, strings.NewReplacer("{owner}", v.roles[roleOwner], "{reader}", v.roles[roleReader]).Replace(postgresRights))
	v.owner = v.connect(tb)
	v.listener = v.connect(tb)
	v.exec(tb, v.listener, "LISTEN attack")
	v.startBystander()
	if err := v.owner.QueryRow(tb.Context(), "SELECT current_setting('data_directory') || '/attack'").Scan(&v.dir); err != nil {
		tb.Fatal(err)
	}
	v.exec(tb, v.owner, "COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; mkdir "+v.dir+"'")
	return v
}

func (v *postgresVictim) connect(tb testing.TB) *pgx.Conn {
	tb.Helper()
	config, err := pgx.ParseConfig(v.url)
	if err != nil {
		tb.Fatal(err)
	}
	config.OnNotification = func(_ *pgconn.PgConn, _ *pgconn.Notification) { v.heard++ } // only for the listener
	conn, err := pgx.ConnectConfig(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server ends soon
	return conn
}

func (*postgresVictim) exec(tb testing.TB, conn *pgx.Conn, sql string) {
	tb.Helper()
	if _, err := conn.Exec(tb.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
}

func (v *postgresVictim) Major() int { return v.server.Version() }

func (v *postgresVictim) Address(_ testing.TB, role string) string {
	return v.server.URL(v.database, v.roles[role])
}

// Text replaces {dir} by a directory of the server, {self} by a connection
// string of the backend's own role, and {victim} by the process number of
// another session.
func (v *postgresVictim) Text(tb testing.TB, role, sql string) string {
	tb.Helper()
	if !strings.Contains(sql, "{") {
		return sql
	}
	return strings.NewReplacer(
		"{dir}", v.dir,
		"{self}", v.Address(tb, role),
		"{victim}", strconv.FormatUint(uint64(v.bystander.conn.PgConn().PID()), 10),
	).Replace(sql)
}

func (*postgresVictim) Session() string {
	return `SELECT name, setting FROM pg_catalog.pg_settings WHERE source = 'session' OR name IN ('role', 'session_authorization', 'search_path', 'default_transaction_read_only')
		UNION ALL SELECT 'library', name FROM pg_catalog.pg_settings WHERE name LIKE 'auto_explain.%'
		UNION ALL SELECT 'user', session_user || ' ' || current_user
		UNION ALL SELECT 'prepared', name FROM pg_catalog.pg_prepared_statements WHERE from_sql
		UNION ALL SELECT 'cursor', name FROM pg_catalog.pg_cursors WHERE is_holdable
		UNION ALL SELECT 'channel', c FROM pg_catalog.pg_listening_channels() AS c
		UNION ALL SELECT 'temporary', relname FROM pg_catalog.pg_class WHERE relnamespace = pg_catalog.pg_my_temp_schema()
		ORDER BY 1, 2`
}

// postgresFacts are queries of (kind, name, value).
var postgresFacts = []string{
	`SELECT 'table', 'items ' || id, coalesce(name, '') FROM items`,
	`SELECT 'table', 'secrets ' || name, value FROM secrets`,
	`SELECT 'schema', oid::text, relname || relkind::text || relpersistence::text || coalesce(relacl::text, '') FROM pg_class WHERE oid >= 16384 AND NOT relnamespace::regnamespace::text LIKE 'pg_toast%'`,
	`SELECT 'schema', oid::text, proname || prosrc FROM pg_proc WHERE oid >= 16384`,
	`SELECT 'schema', oid::text, extname FROM pg_extension`,
	`SELECT 'schema', oid::text, nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\_temp%' AND nspname NOT LIKE 'pg\_toast\_temp%'`,
	`SELECT 'schema', objoid::text, description FROM pg_description WHERE objoid >= 16384`,
	`SELECT 'statistics', relname, relpages || ' ' || reltuples FROM pg_class WHERE relname IN ('items', 'secrets')`,
	`SELECT 'statistics', starelid::regclass::text, staattnum::text FROM pg_statistic WHERE starelid >= 16384`,
	`SELECT 'statistics', 'reset', coalesce(stats_reset::text, '') FROM pg_stat_database WHERE datname = current_database()`,
	`SELECT 'sequence', 'numbers', last_value || ' ' || is_called FROM numbers`,
	`SELECT 'role', rolname, rolsuper || coalesce(rolpassword, '') FROM pg_authid`,
	`SELECT 'role', setrole || ' ' || setdatabase, setconfig::text FROM pg_db_role_setting`,
	`SELECT 'database', datname, datallowconn::text FROM pg_database`,
	`SELECT 'setting', name, setting FROM pg_settings`,
	`SELECT 'setting', sourcefile || sourceline, name || setting FROM pg_file_settings`,
	`SELECT 'setting', 'loaded', pg_conf_load_time()::text`,
	`SELECT 'large object', m.oid::text, encode(lo_get(m.oid), 'hex') FROM pg_largeobject_metadata AS m`,
	`SELECT 'checkpoint', 'last', checkpoint_lsn::text FROM pg_control_checkpoint()`,
	`SELECT 'lock', classid || ' ' || objid, mode FROM pg_locks WHERE locktype = 'advisory'`,
	`SELECT 'lock', relation::regclass::text, mode FROM pg_locks WHERE relation >= 16384 AND pid <> pg_backend_pid()`,
	`SELECT 'prepared transaction', gid, owner FROM pg_prepared_xacts`,
	`SELECT 'replication slot', slot_name, slot_type FROM pg_replication_slots`,
	`SELECT 'replication origin', roname, roident::text FROM pg_replication_origin`,
}

// State reads the facts as superuser, the server's directory, the
// notifications, and whether the other session still runs its statement.
func (v *postgresVictim) State(tb testing.TB) []Fact {
	tb.Helper()
	var facts []Fact
	for _, sql := range append(postgresFacts, fmt.Sprintf(`SELECT 'file', f, md5(pg_read_binary_file('%s/' || f)) FROM pg_ls_dir('%[1]s') AS f`, v.dir)) {
		rows, err := v.owner.Query(tb.Context(), sql)
		if err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Fact])
		if err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
		facts = append(facts, found...)
	}
	v.exec(tb, v.listener, "SELECT 1") // receives the notifications
	return append(facts,
		Fact{"notification", "heard", strconv.Itoa(v.heard)},
		Fact{"other session", "at work", strconv.FormatBool(v.works())})
}

// Restore undoes the changes that attacks as superuser are known to make.
func (v *postgresVictim) Restore(tb testing.TB) {
	tb.Helper()
	for _, sql := range []string{
		"DELETE FROM items WHERE id NOT BETWEEN 1 AND 3",
		"SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots",
		"COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; rm -f " + v.dir + "/*'",
		"ALTER SYSTEM RESET ALL",
		"UPDATE pg_class SET relpages = 0, reltuples = 0 WHERE relname = 'items'",
	} {
		v.exec(tb, v.owner, sql)
	}
	rows, err := v.owner.Query(tb.Context(), "SELECT gid FROM pg_prepared_xacts")
	if err != nil {
		tb.Fatal(err)
	}
	prepared, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		tb.Fatal(err)
	}
	for _, gid := range prepared {
		v.exec(tb, v.owner, "ROLLBACK PREPARED '"+gid+"'")
	}
	if !v.works() {
		v.startBystander()
	}
}

// bystander is a session that runs a statement of its own.
type bystander struct {
	conn  *pgx.Conn
	ended chan struct{}
}

func (v *postgresVictim) startBystander() {
	v.tb.Helper()
	b := &bystander{conn: v.connect(v.tb), ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	pid, runs := b.conn.PgConn().PID(), false
	go func() {
		defer close(b.ended)
		_, _ = b.conn.Exec(ctx, "SELECT pg_sleep(3600)") // works reports when it ends
	}()
	v.tb.Cleanup(func() {
		cancel()
		<-b.ended
	})
	// A cancellation has no effect before the statement runs.
	for deadline := time.Now().Add(time.Minute); !runs; time.Sleep(time.Millisecond) {
		err := v.owner.QueryRow(ctx, "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $1", pid).Scan(&runs)
		if err != nil || time.Now().After(deadline) {
			v.tb.Fatalf("the statement of the bystander does not run: %v", err)
		}
	}
	v.bystander = b
}

// works reports whether the bystander still runs its statement.
func (v *postgresVictim) works() bool {
	select {
	case <-v.bystander.ended:
		return false
	default:
		return true
	}
}
