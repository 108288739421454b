package mysqldb_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/mysqldb"
)

func TestParseGrant(t *testing.T) {
	for _, test := range []struct {
		line string
		want mysqldb.Grant
	}{
		{"GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'", mysqldb.Grant{Privileges: []string{"USAGE"}, Object: "*.*", To: "`u`@`%`"}},
		{"GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` IDENTIFIED VIA mysql_native_password USING 'TO ON' WITH GRANT OPTION", mysqldb.Grant{Privileges: []string{"ALL PRIVILEGES"}, Object: "*.*", To: "`root`@`localhost`", Passes: true}},
		{"GRANT SELECT, INSERT (`a`, `b`), UPDATE (`c)`) ON `shop`.`items` TO `u`@`%`", mysqldb.Grant{Privileges: []string{"SELECT", "INSERT", "UPDATE"}, Object: "`shop`.`items`", To: "`u`@`%`"}},
		{"GRANT SELECT ON `a TO b`.* TO `u ON v`@`%`", mysqldb.Grant{Privileges: []string{"SELECT"}, Object: "`a TO b`.*", To: "`u ON v`@`%`"}},
		{"GRANT SELECT ON `a``.``b`.`c` TO `u`@`%`", mysqldb.Grant{Privileges: []string{"SELECT"}, Object: "`a``.``b`.`c`", To: "`u`@`%`"}},
		{"GRANT EXECUTE ON PROCEDURE `shop`.`p` TO `u`@`%` WITH GRANT OPTION", mysqldb.Grant{Privileges: []string{"EXECUTE"}, Object: "PROCEDURE `shop`.`p`", To: "`u`@`%`", Passes: true}},
		{"GRANT PROXY ON ``@`%` TO `root`@`localhost` WITH GRANT OPTION", mysqldb.Grant{Privileges: []string{"PROXY"}, Object: "``@`%`", To: "`root`@`localhost`", Passes: true}},
		{"GRANT DELETE ON `test\\_%`.* TO PUBLIC", mysqldb.Grant{Privileges: []string{"DELETE"}, Object: "`test\\_%`.*", To: "PUBLIC"}},
		{"GRANT `reader` TO `u`@`localhost` WITH ADMIN OPTION", mysqldb.Grant{Role: "`reader`", To: "`u`@`localhost`", Passes: true}},
		{"GRANT `reader`@`%`,`writer`@`%` TO `u`@`%`", mysqldb.Grant{Role: "`reader`@`%`,`writer`@`%`", To: "`u`@`%`"}},
		{"GRANT BACKUP_ADMIN,SYSTEM_VARIABLES_ADMIN ON *.* TO `u`@`%`", mysqldb.Grant{Privileges: []string{"BACKUP_ADMIN", "SYSTEM_VARIABLES_ADMIN"}, Object: "*.*", To: "`u`@`%`"}},
		{"GRANT SELECT ON *.* TO `u`@`%` REQUIRE SSL WITH MAX_QUERIES_PER_HOUR 7", mysqldb.Grant{Privileges: []string{"SELECT"}, Object: "*.*", To: "`u`@`%`"}},
	} {
		got, ok := mysqldb.ParseGrant(test.line)
		if diff := cmp.Diff(test.want, got); diff != "" || !ok {
			t.Errorf("%s: read %t (-want +got):\n%s", test.line, ok, diff)
		}
	}
	for _, line := range []string{
		"", "GRANT", "GRANT SELECT", "GRANT SELECT ON `a`.*", "GRANT  ON `a`.* TO u", "GRANT SELECT,, INSERT ON *.* TO u", "GRANT SELECT (`a ON *.* TO u",
		"GRANT SELECT ON `a TO u", "REVOKE SELECT ON *.* FROM u", "grant select on *.* to u", "GRANT SELECT ON *.* TO ", "GRANT `r` TO ", "GRANT TO u",
	} {
		if g, ok := mysqldb.ParseGrant(line); ok {
			t.Errorf("%q was read as %+v", line, g)
		}
	}
}

// An unknown privilege counts as administration.
func TestDeeds(t *testing.T) {
	for privileges, want := range map[string][]string{
		"SELECT,SHOW VIEW,USAGE,SHOW DATABASES": nil,
		"SELECT,INSERT":                         {"write rows"},
		"SOMETHING NEW":                         {"administer the server"},
		"XA_RECOVER_ADMIN,FILE":                 {"read and write files of the server", "administer the server"},
		"ALL PRIVILEGES":                        {"do everything"},
		"SUPER":                                 {"administer the server"},
	} {
		if diff := cmp.Diff(want, mysqldb.DeedsOf(strings.Split(privileges, ",")...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", privileges, diff)
		}
	}
}

func TestServes(t *testing.T) {
	for _, test := range []struct {
		object, database string
		want             bool
	}{
		{"*.*", "shop", true},
		{"`shop`.*", "shop", true},
		{"`shop`.`items`", "shop", true},
		{"PROCEDURE `shop`.`p`", "shop", true},
		{"`sh%`.*", "shop", true},
		{"`s_op`.*", "shop", true},
		{"`s\\_op`.*", "shop", false},
		{"`s\\_op`.*", "s_op", true},
		{"`%`.*", "shop", true},
		{"`s_op`.`items`", "shop", false}, // in the names of tables, _ and % are no wildcards
		{"`test`.*", "shop", false},
		{"`a``b`.*", "a`b", true},
		{"``@`%`", "shop", true}, // in no database
	} {
		if got := mysqldb.Serves(test.object, test.database); got != test.want {
			t.Errorf("%s is in %s: %t, want %t", test.object, test.database, got, test.want)
		}
	}
}

func FuzzParseGrant(f *testing.F) {
	f.Add("GRANT SELECT (`a`), INSERT ON `shop`.`items` TO `u`@`%` WITH GRANT OPTION")
	f.Add("GRANT `r` TO 'u'@'%' WITH ADMIN OPTION")
	f.Fuzz(func(t *testing.T, line string) {
		g, ok := mysqldb.ParseGrant(line)
		if ok && g.Role == "" && len(g.Privileges) == 0 {
			t.Errorf("%q grants nothing: %+v", line, g)
		}
		mysqldb.Serves(g.Object, "shop")
	})
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]struct {
		number  string
		release float64
	}{
		"10.11.6-MariaDB-0+deb12u1":       {"10.11.6", 10.11},
		"5.5.5-10.11.6-MariaDB-0+deb12u1": {"10.11.6", 10.11},
		"8.4.5":                           {"8.4.5", 8.04},
		"8.0.35-0ubuntu0.22.04.1":         {"8.0.35", 8.0},
		"8.0.mysql_aurora.3.05.2":         {"8.0", 8.0},
		"9.5.0":                           {"9.5.0", 9.05},
		"":                                {"", 0},
		"nonsense":                        {"", 0},
	} {
		if n, r := mysqldb.Number(version), mysqldb.Release(version); n != want.number || r != want.release {
			t.Errorf("%q is %q, %v; want %q, %v", version, n, r, want.number, want.release)
		}
	}
}

func TestNearPosition(t *testing.T) {
	const says = "You have an error in your SQL syntax; check the manual … to use near '"
	for _, test := range []struct {
		sql, near string
		line      string
		want      int
	}{
		{"SELECT 'ä', id FRUM items WHERE a", "items WHERE a", "1", 22},
		{"SELECT 1\nFROM\n  items items items", "items", "3", 0 + len("SELECT 1\nFROM\n  items items ") + 1},
		{"SELEC 1", "SELEC 1", "1", 1},
		{"SELECT 1; SELECT 2;", "SELECT 2", "1", 11},
		{"SELECT", "", "1", 0},
		{"SELECT 1", "nothing of the text", "1", 0},
		{"SELECT 1", "SELECT 1", "x", 0},
	} {
		if got := mysqldb.NearPosition(test.sql, says+test.near+"' at line "+test.line); got != test.want {
			t.Errorf("%q near %q: %d, want %d", test.sql, test.near, got, test.want)
		}
	}
}
