package testdb_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

func TestMariaDBIsShared(t *testing.T) {
	a, b := testdb.MariaDB(t), testdb.MariaDB(t)
	if a != b {
		t.Fatal("two calls gave two servers")
	}
	full := ask[string](t, a.DB(t, a.URL("", "")), "SELECT VERSION()")
	if !strings.HasPrefix(full, a.Version()) || strings.Contains(a.Version(), "-") || a.Version() == "" {
		t.Errorf("Version() = %q, the server says %q", a.Version(), full)
	}
	if want := strings.Contains(full, "MariaDB"); (a.Product() == "mariadb") != want {
		t.Errorf("Product() = %q, the server says %q", a.Product(), full)
	}
}

func TestMariaDBDatabases(t *testing.T) {
	s := testdb.MariaDB(t)
	one := s.NewDatabase(t, "CREATE TABLE only_here (n int); INSERT INTO only_here VALUES (7)", "UPDATE only_here SET n = n + 1")
	two := s.NewDatabaseWith(t, "CHARACTER SET latin1")
	if n := ask[int](t, s.DB(t, one), "SELECT n FROM only_here"); n != 8 {
		t.Errorf("got %d, want 8", n)
	}
	if got := ask[string](t, s.DB(t, two), "SELECT @@character_set_database"); got != "latin1" {
		t.Errorf("got %q, want latin1", got)
	}
	if n := ask[int](t, s.DB(t, two), "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE()"); n != 0 {
		t.Errorf("the second database sees %d tables", n)
	}
}

func TestMariaDBErrorsOfLaterStatements(t *testing.T) {
	_, err := testdb.MariaDB(t).DB(t, testdb.MariaDB(t).URL("", "")).ExecContext(t.Context(), "SELECT 1; SELECT nowhere")
	if err == nil {
		t.Error("the second statement of a query failed, but there was no error")
	}
}

func TestMariaDBDatabaseAndUserEndWithTheTest(t *testing.T) {
	s := testdb.MariaDB(t)
	var database, user string
	t.Run("inner", func(t *testing.T) {
		own := s.NewDatabase(t, "CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
		database = ask[string](t, s.DB(t, own), "SELECT DATABASE()")
		user = s.NewUser(t, "SELECT ON "+database+".*")
		reader := s.DB(t, s.URL(database, user))
		if got := ask[string](t, reader, "SELECT CONCAT(SUBSTRING_INDEX(USER(), '@', 1), SUM(n)) FROM t"); got != user+"1" {
			t.Errorf("got %q, want %q", got, user+"1")
		}
		const denied = 1142 // ER_TABLEACCESS_DENIED_ERROR
		if _, err := reader.ExecContext(t.Context(), "DELETE FROM t"); number(err) != denied {
			t.Errorf("a user who may only read deletes: %v", err)
		}
		s.Grant(t, user, "DELETE ON "+database+".t|WITH GRANT OPTION")
		if _, err := reader.ExecContext(t.Context(), "DELETE FROM t"); err != nil {
			t.Errorf("after the grant: %v", err)
		}
		// A lock that a connection holds must not prevent the drop of the
		// database.
		conn, err := s.DB(t, own).Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), "BEGIN; SELECT * FROM t"); err != nil {
			t.Fatal(err)
		}
	})
	root := s.DB(t, s.URL("", ""))
	if n := ask[int](t, root, "SELECT count(*) FROM information_schema.schemata WHERE schema_name = '"+database+"'"); n != 0 {
		t.Error("the database still exists")
	}
	if n := ask[int](t, root, "SELECT count(*) FROM mysql.user WHERE User = '"+user+"'"); n != 0 {
		t.Error("the user still exists")
	}
}

func TestMariaDBPasswordIsWanted(t *testing.T) {
	s := testdb.StartMariaDB(t, testdb.Options{})
	for _, good := range []string{s.URL("", ""), s.SocketURL("", "")} {
		if n := ask[int](t, s.DB(t, good), "SELECT 1"); n != 1 {
			t.Errorf("got %d, want 1", n)
		}
		login, _, _ := strings.Cut(good, "@")
		_, password, _ := strings.Cut(login, "root:")
		for _, wrong := range []string{"wrong", ""} {
			const denied = 1045 // ER_ACCESS_DENIED_ERROR
			if err := s.DB(t, strings.Replace(good, password, wrong, 1)).PingContext(t.Context()); number(err) != denied {
				t.Errorf("password %q: %v, want %d", wrong, err, denied)
			}
		}
	}
	const open = "SELECT count(*) FROM mysql.user WHERE authentication_string = '' AND User NOT IN ('mariadb.sys')"
	if n := ask[int](t, s.DB(t, s.URL("", "")), open); n > 1 { // except root@hostname, which a server that resolves no names ignores
		t.Errorf("%d users without a password", n)
	}
}

func TestMariaDBTakenPort(t *testing.T) {
	taken, free := ports(t)
	tries := 0
	s := testdb.StartMariaDB(t, testdb.Options{}.Picking(func(ctx context.Context) (int, error) {
		if tries++; tries < 3 {
			return taken, nil
		}
		return free(ctx)
	}))
	if tries != 3 || ask[int](t, s.DB(t, s.URL("", "")), "SELECT 1") != 1 {
		t.Errorf("%d tries, want 3", tries)
	}
}

func TestMariaDBSettings(t *testing.T) {
	s := testdb.StartMariaDB(t, testdb.Options{Settings: map[string]string{"max_connections": "20", "init_connect": `SET @a = "it's \\ #1"`}})
	db := s.DB(t, s.URL("", ""))
	if n := ask[int](t, db, "SELECT @@max_connections"); n != 20 {
		t.Errorf("got %d, want 20", n)
	}
	if got, want := ask[string](t, db, "SELECT @@init_connect"), `SET @a = "it's \\ #1"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, check := range []struct{ name, want string }{
		{"time_zone", "+00:00"}, {"character_set_server", "utf8mb4"}, {"have_ssl", "DISABLED"},
	} {
		if check.name == "have_ssl" && s.Product() == "mysql" {
			continue
		}
		if got := ask[string](t, db, "SELECT @@"+check.name); got != check.want {
			t.Errorf("%s = %q, want %q", check.name, got, check.want)
		}
	}
}

func TestMariaDBTLS(t *testing.T) {
	s := testdb.StartMariaDB(t, testdb.Options{TLS: true})
	const cipher = "SHOW SESSION STATUS LIKE 'Ssl_cipher'"
	with := func(mode string) *sql.DB {
		return s.DB(t, strings.Replace(s.URL("", ""), "ssl-mode=DISABLED", "ssl-mode="+mode, 1))
	}
	for mode, want := range map[string]bool{
		"DISABLED": false, "PREFERRED": true, "REQUIRED": true, "VERIFY_IDENTITY&ssl-ca=" + s.CertificateFile(): true,
	} {
		var name, value string
		if err := with(mode).QueryRowContext(t.Context(), cipher).Scan(&name, &value); err != nil || (value != "") != want {
			t.Errorf("%s: cipher %q, %v; want one: %t", mode, value, err, want)
		}
	}
	if err := with("VERIFY_IDENTITY").PingContext(t.Context()); err == nil {
		t.Error("a connection with an untrusted certificate succeeded")
	}
	if pem, err := os.ReadFile(s.CertificateFile()); err != nil || !strings.Contains(string(pem), "BEGIN CERTIFICATE") {
		t.Errorf("certificate file: %v", err)
	}
}

func TestMariaDBBinaries(t *testing.T) {
	own, err := testdb.MariaDBBinaries()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KTX_TEST_MARIADB_BIN", t.TempDir())
	if got, err := testdb.MariaDBBinaries(); err == nil {
		t.Errorf("an empty directory gave %q", got)
	}
	t.Setenv("KTX_TEST_MARIADB_BIN", own)
	if got, err := testdb.MariaDBBinaries(); got != own || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, own)
	}
}

// ask returns the one value of a query.
func ask[T any](t *testing.T, db *sql.DB, query string) T {
	t.Helper()
	var value T
	if err := db.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// number returns the server's error number, or 0.
func number(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}
