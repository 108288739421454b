package executiontest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// mysqlVictim is a database on a server that ends with the test. It has root's
// connection, and another session that attacks may disturb.
type mysqlVictim struct {
	tb        testing.TB // the suite, because servers and sessions outlive the test of one account
	server    *testdb.MariaDBServer
	url       string // root's
	database  string
	accounts  map[string]string // account names, by their name in the report
	dir       string            // the server's data directory, with a slash at the end
	root      *sql.DB
	bystander *mysqlBystander
	settings  map[string]string // the server's settings before any attack
	product   mysqlKind
}

// mysqlKind is what differs between the servers.
type mysqlKind struct {
	readOnly  string // the setting that makes a session read-only by default
	limited   string // an expression for whether a statement has a time limit
	variables string // the table of the server's settings
	replicas  string // lists connections that replicate from other servers
	forget    string // removes such a connection
	schema    []string
	facts     []mysqlFact
}

var mariadbProduct = mysqlKind{
	readOnly: "tx_read_only", limited: "@@max_statement_time > 0", variables: "information_schema.global_variables",
	replicas: "SHOW ALL SLAVES STATUS", forget: "RESET SLAVE 'attack' ALL",
	schema: []string{`CREATE SEQUENCE numbers NOCACHE`},
	facts: []mysqlFact{
		{"sequence", "SELECT 'numbers', next_not_cached_value FROM numbers"},
		{"account", "SELECT CONCAT(user, '@', host), priv FROM mysql.global_priv"},
		{"account", "SELECT CONCAT(user, '@', host, ' ', role), admin_option FROM mysql.roles_mapping"},
		{"statistics", "SELECT table_name, cardinality FROM mysql.table_stats"},
	},
}

var mysqlProduct = mysqlKind{
	readOnly: "transaction_read_only", limited: "@@max_execution_time > 0", variables: "performance_schema.global_variables",
	replicas: "SELECT channel_name, host FROM performance_schema.replication_connection_configuration WHERE host <> ''", forget: "RESET REPLICA ALL FOR CHANNEL 'attack'",
	facts: []mysqlFact{
		{"account", "SELECT CONCAT(user, '@', host), authentication_string, super_priv, grant_priv FROM mysql.user"},
		{"account", "SELECT CONCAT(user, '@', host), priv FROM mysql.global_grants"},
		{"account", "SELECT CONCAT(from_user, ' ', to_user), with_admin_option FROM mysql.role_edges"},
		{"account", "SELECT CONCAT(user, ' ', default_role_user), host FROM mysql.default_roles"},
		{"schema", "SELECT component_urn, component_group_id FROM mysql.component"},
		{"schema", "SELECT resource_group_name, resource_group_type FROM information_schema.resource_groups"},
		{"statistics", "SELECT CONCAT(table_name, '.', column_name), histogram FROM information_schema.column_statistics"},
		{"setting", "SELECT CONCAT('persisted ', variable_name), variable_value FROM performance_schema.persisted_variables"},
		{"setting", "SELECT 'redo log', variable_value FROM performance_schema.global_status WHERE variable_name = 'Innodb_redo_log_enabled'"},
		{"lock", "SELECT object_type, lock_type FROM performance_schema.metadata_locks WHERE object_type = 'BACKUP LOCK' AND owner_thread_id <> PS_CURRENT_THREAD_ID()"},
	},
}

type mysqlFact struct{ kind, sql string }

// mysqlSchema is the database that is attacked: tables with and without
// transactions, a sequence, and routines that write.
var mysqlSchema = []string{
	itemsTable,
	`CREATE TABLE notes (text varchar(1000)) ENGINE=MyISAM`,
	`CREATE TABLE secrets (name text, value text)`,
	`INSERT INTO secrets VALUES ('key', 'hidden')`,
	`CREATE FUNCTION write_item() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO items VALUES (9, 'nine'); RETURN 9; END`,
	`CREATE PROCEDURE write_items() MODIFIES SQL DATA INSERT INTO items VALUES (9, 'nine')`,
	`CREATE PROCEDURE commit_and_write() MODIFIES SQL DATA BEGIN COMMIT; INSERT INTO items VALUES (9, 'nine'); COMMIT; END`,
	`CREATE PROCEDURE set_and_write() MODIFIES SQL DATA BEGIN SET SESSION {read_only} = 0; COMMIT; INSERT INTO items VALUES (9, 'nine'); COMMIT; END`,
	`CREATE PROCEDURE answer_and_write() MODIFIES SQL DATA BEGIN SELECT 1; INSERT INTO items VALUES (9, 'nine'); END`,
}

func newMySQLVictim(product mysqlKind) func(testing.TB) Victim {
	return func(tb testing.TB) Victim {
		tb.Helper()
		return startMySQLVictim(tb, product)
	}
}

func startMySQLVictim(tb testing.TB, product mysqlKind) Victim {
	tb.Helper()
	server := testdb.StartMariaDB(tb, testdb.Options{Settings: map[string]string{
		"log_bin":                         "ktx-bin",
		"skip_log_bin":                    "0",
		"log_bin_trust_function_creators": "1",
		"server_id":                       "1",
		"event_scheduler":                 "OFF",
		"innodb_stats_auto_recalc":        "OFF",
	}})
	v := &mysqlVictim{tb: tb, server: server, url: server.NewDatabase(tb), product: product}
	u, err := url.Parse(v.url)
	if err != nil {
		tb.Fatal(err)
	}
	v.database = path.Base(u.Path)
	v.root = server.DB(tb, v.url)
	for _, text := range slices.Concat(mysqlSchema, product.schema) {
		v.exec(tb, strings.ReplaceAll(text, "{read_only}", product.readOnly))
	}
	v.accounts = map[string]string{
		accountRoot:   "",
		accountOwner:  server.NewUser(tb, "ALL ON "+v.database+".*"),
		accountReader: server.NewUser(tb, "SELECT ON "+v.database+".items", "SELECT ON "+v.database+".notes"),
	}
	v.dir = v.value(tb, "SELECT @@datadir")
	v.settings = v.variables(tb)
	v.startBystander()
	return v
}

func (v *mysqlVictim) exec(tb testing.TB, text string) {
	tb.Helper()
	if _, err := v.root.ExecContext(tb.Context(), text); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
}

func (v *mysqlVictim) value(tb testing.TB, text string) string {
	tb.Helper()
	var value sql.NullString
	if err := v.root.QueryRowContext(tb.Context(), text).Scan(&value); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return value.String
}

// rows returns every row as one fact of a kind. Its first column is the name.
func (v *mysqlVictim) rows(tb testing.TB, kind, text string) []Fact {
	tb.Helper()
	rows, err := v.root.QueryContext(tb.Context(), text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error of Close
	columns, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	var facts []Fact
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			tb.Fatalf("%s: %v", text, err)
		}
		f := Fact{Kind: kind, Name: values[0].String}
		for _, value := range values[1:] {
			f.Value += value.String + " "
		}
		facts = append(facts, f)
	}
	if err := rows.Err(); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return facts
}

func (v *mysqlVictim) Major() int {
	major, _, _ := strings.Cut(v.server.Version(), ".")
	n, _ := strconv.Atoi(major)
	return n
}

func (v *mysqlVictim) Address(_ testing.TB, role string) string {
	return v.server.URL(v.database, v.accounts[role])
}

// Text replaces {dir} by the server's data directory, {database} by the
// database, {read_only} by a setting, and {victim} by the number of another
// session.
func (v *mysqlVictim) Text(_ testing.TB, _, text string) string {
	return strings.NewReplacer(
		"{dir}", v.dir,
		"{database}", v.database,
		"{read_only}", v.product.readOnly,
		"{victim}", strconv.FormatInt(v.bystander.id, 10),
	).Replace(text)
}

func (v *mysqlVictim) Session() string {
	return `SELECT @@sql_mode, @@` + v.product.readOnly + `, @@autocommit, ` + v.product.limited + `, @@time_zone, @@character_set_client, @@character_set_connection,
		DATABASE(), CURRENT_USER(), CURRENT_ROLE(), @attack, IS_USED_LOCK('attack') <=> CONNECTION_ID(), LAST_INSERT_ID()`
}

// mysqlFacts are queries of (name, value, …), by kind.
var mysqlFacts = []mysqlFact{
	{"table", "SELECT CONCAT('items ', id), name FROM items"},
	{"table", "SELECT CONCAT('notes ', text) FROM notes"},
	{"table", "SELECT CONCAT('secrets ', name), value FROM secrets"},
	{"schema", "SELECT CONCAT(table_schema, '.', table_name), table_type, engine, table_comment FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'performance_schema')"},
	{"schema", "SELECT CONCAT(table_schema, '.', table_name, '.', column_name), column_type FROM information_schema.columns WHERE table_schema = DATABASE()"},
	{"schema", "SELECT CONCAT(table_name, '.', index_name), column_name FROM information_schema.statistics WHERE table_schema = DATABASE()"},
	{"schema", "SELECT CONCAT(routine_schema, '.', routine_name), routine_definition FROM information_schema.routines WHERE routine_schema NOT IN ('sys', 'mysql')"},
	{"schema", "SELECT trigger_name, action_statement FROM information_schema.triggers WHERE trigger_schema = DATABASE()"},
	{"schema", "SELECT event_name, event_definition FROM information_schema.events"},
	{"schema", "SELECT schema_name, default_collation_name FROM information_schema.schemata"},
	{"schema", "SELECT plugin_name, plugin_status FROM information_schema.plugins WHERE plugin_status = 'ACTIVE'"},
	{"schema", "SELECT name, dl FROM mysql.func"},
	{"schema", "SELECT server_name, host FROM mysql.servers"},
	{"account", "SELECT CONCAT(user, '@', host, ' ', db), select_priv, insert_priv, grant_priv FROM mysql.db"},
	{"account", "SELECT CONCAT(user, '@', host, ' ', table_name), table_priv FROM mysql.tables_priv"},
	{"statistics", "SELECT CONCAT(table_name), n_rows, last_update FROM mysql.innodb_table_stats"},
	{"lock", "SELECT 'attack', 1 FROM dual WHERE IS_USED_LOCK('attack') IS NOT NULL"},
	{"lock", "SELECT 'rows', trx_rows_locked FROM information_schema.innodb_trx WHERE trx_rows_locked > 0"},
	{"binary log", "SHOW BINARY LOGS"},
}

// State reads the facts as root, the settings and files of the server, whether
// tables can be locked, and whether the other session still runs its statement.
func (v *mysqlVictim) State(tb testing.TB) []Fact {
	tb.Helper()
	var facts []Fact
	for _, f := range slices.Concat(mysqlFacts, v.product.facts) {
		found := v.rows(tb, f.kind, f.sql)
		if f.kind == "binary log" {
			for i := range found {
				found[i].Value = "" // removes its length
			}
		}
		facts = append(facts, found...)
	}
	settings := v.variables(tb)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		facts = append(facts, Fact{"setting", name, settings[name]})
	}
	for _, f := range v.rows(tb, "replication", v.product.replicas) {
		facts = append(facts, Fact{f.Kind, f.Name, ""})
	}
	names, err := filepath.Glob(filepath.Join(v.dir, "*attack*"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range names {
		facts = append(facts, Fact{"file", filepath.Base(name), ""})
	}
	return append(facts,
		Fact{"lock", "tables", v.lockable(tb)},
		Fact{"other session", "at work", strconv.FormatBool(v.works())})
}

// variables returns the settings of the server that do not change by themselves.
func (v *mysqlVictim) variables(tb testing.TB) map[string]string {
	tb.Helper()
	all := map[string]string{}
	for _, f := range v.rows(tb, "setting", "SELECT variable_name, variable_value FROM "+v.product.variables+" WHERE variable_name NOT LIKE 'GTID%'") {
		all[strings.ToLower(f.Name)] = strings.TrimSuffix(f.Value, " ")
	}
	return all
}

// lockable returns whether no session holds a lock on the table items.
func (v *mysqlVictim) lockable(tb testing.TB) string {
	tb.Helper()
	conn, err := v.root.Conn(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // closing it releases its locks
	if _, err := conn.ExecContext(tb.Context(), "SET lock_wait_timeout = 1; LOCK TABLES items WRITE"); err != nil {
		return "locked"
	}
	if _, err := conn.ExecContext(tb.Context(), "UNLOCK TABLES"); err != nil {
		tb.Fatal(err)
	}
	return "free"
}

// Restore undoes the changes that attacks as root are known to make.
func (v *mysqlVictim) Restore(tb testing.TB) {
	tb.Helper()
	v.exec(tb, "DELETE FROM items WHERE id NOT BETWEEN 1 AND 3")
	v.exec(tb, "DROP TABLE IF EXISTS attack")
	for range v.rows(tb, "replication", v.product.replicas) {
		v.exec(tb, v.product.forget)
	}
	if v.product.readOnly == mysqlProduct.readOnly {
		v.exec(tb, "RESET PERSIST")
		v.exec(tb, "ALTER INSTANCE ENABLE INNODB REDO_LOG")
	}
	for name, value := range v.variables(tb) {
		if was, ok := v.settings[name]; ok && was != value {
			if _, err := strconv.ParseInt(was, 10, 64); err != nil {
				was = "'" + was + "'"
			}
			v.exec(tb, fmt.Sprintf("SET GLOBAL %s = %s", name, was))
		}
	}
	names, err := filepath.Glob(filepath.Join(v.dir, "*attack*"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			tb.Fatal(err)
		}
	}
	if !v.works() {
		v.startBystander()
	}
}

// mysqlBystander is a session that runs a statement of its own.
type mysqlBystander struct {
	id    int64
	ended chan struct{}
}

func (v *mysqlVictim) startBystander() {
	v.tb.Helper()
	conn, err := v.root.Conn(v.tb.Context())
	if err != nil {
		v.tb.Fatal(err)
	}
	b, runs := &mysqlBystander{ended: make(chan struct{})}, false
	if err := conn.QueryRowContext(v.tb.Context(), "SELECT CONNECTION_ID()").Scan(&b.id); err != nil {
		v.tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(b.ended)
		_, _ = conn.ExecContext(ctx, "DO SLEEP(3600)") // works reports when it ends
	}()
	v.tb.Cleanup(func() {
		cancel()
		<-b.ended
		_ = conn.Close()
	})
	// KILL QUERY has no effect before the statement runs.
	for deadline := time.Now().Add(time.Minute); !runs; time.Sleep(time.Millisecond) {
		err := v.root.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND info LIKE 'DO SLEEP%'", b.id).Scan(&runs)
		if err != nil || time.Now().After(deadline) {
			v.tb.Fatalf("the statement of the bystander does not run: %v", err)
		}
	}
	v.bystander = b
}

// works reports whether the bystander still runs its statement.
func (v *mysqlVictim) works() bool {
	select {
	case <-v.bystander.ended:
		return false
	default:
		return true
	}
}
