package mysqldb_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// findings returns the messages of one level.
func findings(r execution.ProbeReport, level execution.ProbeLevel) []string {
	var all []string
	for _, f := range r.Findings {
		if f.Level == level {
			all = append(all, f.Message+" | "+f.Fix)
		}
	}
	return all
}

func probe(t *testing.T, url string) execution.ProbeReport {
	t.Helper()
	r, err := open(t, url, mysqldb.Config{}).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestProbe(t *testing.T) {
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, "CREATE TABLE items (id int, name text)", "CREATE PROCEDURE answer() SELECT 1")
	database := strings.TrimPrefix(mustPath(t, url), "/")
	on := " ON " + database + ".*"
	for _, test := range []struct {
		name   string
		grants []string
		roles  []string // grants of a role that the account may set
		warns  []string // a part of each warning's message
	}{
		{name: "read only", grants: []string{"SELECT, SHOW VIEW" + on}},
		{name: "read only some columns", grants: []string{"SELECT (id)" + " ON " + database + ".items"}},
		{name: "everything here", grants: []string{"ALL" + on}, warns: []string{"ALL PRIVILEGES"}},
		{name: "rows", grants: []string{"SELECT, INSERT, UPDATE, DELETE" + on}, warns: []string{"write rows: INSERT, UPDATE, DELETE"}},
		{name: "one column", grants: []string{"SELECT, UPDATE (name) ON " + database + ".items"}, warns: []string{"write rows: UPDATE"}},
		{name: "schema", grants: []string{"CREATE, DROP, ALTER, INDEX, TRIGGER, EVENT, CREATE VIEW, CREATE ROUTINE" + on}, warns: []string{"make and remove tables"}},
		{name: "temporary tables and locks", grants: []string{"CREATE TEMPORARY TABLES, LOCK TABLES" + on}, warns: []string{"make temporary tables", "lock tables"}},
		{name: "a routine", grants: []string{"EXECUTE ON PROCEDURE " + database + ".answer"}, warns: []string{"call routines"}},
		{name: "passing on", grants: []string{"SELECT" + on + "|WITH GRANT OPTION"}, warns: []string{"give its rights"}},
		{name: "files", grants: []string{"FILE ON *.*"}, warns: []string{"read and write files"}},
		{name: "other sessions", grants: []string{"PROCESS ON *.*"}, warns: []string{"statements of other sessions"}},
		{name: "administration", grants: []string{"SUPER, RELOAD, SHUTDOWN, REPLICATION SLAVE ON *.*"}, warns: []string{"administer the server"}},
		{name: "accounts", grants: []string{"CREATE USER ON *.*"}, warns: []string{"give accounts"}},
		{name: "every database", grants: []string{"SELECT ON *.*"}, warns: []string{"hashes of passwords"}},
		{name: "the server's database", grants: []string{"SELECT ON mysql.*"}, warns: []string{"hashes of passwords"}},
		{name: "another account", grants: []string{"PROXY ON 'root'@'localhost'"}, warns: []string{"act as another account"}},
		{name: "a role that is not taken", roles: []string{"INSERT" + on, "FILE ON *.*"}, warns: []string{"write rows: INSERT", "files"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if server.Product() == "mysql" && strings.HasPrefix(strings.Join(test.grants, ""), "PROXY") {
				t.Skip("the test's root may not grant it")
			}
			user := server.NewUser(t, append([]string{"SELECT" + on}, test.grants...)...)
			if test.roles != nil {
				outer, inner := user+"_a", user+"_b" // roles that were granted to roles count too
				server.Admin(t, "CREATE ROLE "+outer, "CREATE ROLE "+inner, "GRANT "+inner+" TO "+outer, "GRANT "+outer+" TO '"+user+"'@'%'")
				defer server.Admin(t, "DROP ROLE "+outer, "DROP ROLE "+inner)
				for _, g := range test.roles {
					server.Admin(t, "GRANT "+g+" TO "+inner)
				}
			}
			r := probe(t, server.URL(database, user))
			warnings := findings(r, execution.ProbeWarning)
			if len(warnings) != len(test.warns) {
				t.Errorf("%d warnings, want %d:\n%s", len(warnings), len(test.warns), strings.Join(warnings, "\n"))
			}
			for _, part := range test.warns {
				if !strings.Contains(strings.Join(warnings, "\n"), part) {
					t.Errorf("no warning with %q:\n%s", part, strings.Join(warnings, "\n"))
				}
			}
			for _, f := range r.Findings {
				if f.Level == execution.ProbeWarning && !f.Writable() {
					t.Errorf("a warning that is not counted for the role: %+v", f)
				}
				if strings.Contains(f.Message+f.Fix, "*") && strings.Contains(f.Message+f.Fix, "PASSWORD") {
					t.Errorf("a hash is shown: %+v", f)
				}
			}
			if !r.ReadOnly || !strings.HasPrefix(r.Server, "M") || !strings.HasPrefix(r.Role, user) {
				t.Errorf("read-only %t, server %q, role %q", r.ReadOnly, r.Server, r.Role)
			}
		})
	}
}

func TestProbeOfRoot(t *testing.T) {
	url := testdb.MariaDB(t).NewDatabase(t)
	r := probe(t, url)
	warnings := strings.Join(findings(r, execution.ProbeWarning), "\n")
	all := "do everything: ALL PRIVILEGES on *.*"
	if strings.HasPrefix(r.Server, "MySQL") {
		all = "REPLICATION CLIENT on *.*" // SHOW GRANTS lists them one by one
	}
	for _, part := range []string{all, "give its rights on *.*"} {
		if !strings.Contains(warnings, part) {
			t.Errorf("no warning with %q:\n%s", part, warnings)
		}
	}
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Fix, "REVOKE") && strings.Contains(f.Fix, " ON *.* FROM ") {
			t.Errorf("the fix revokes rights of root: %s", f.Fix)
		}
	}
	if !r.ReadOnly {
		t.Errorf("the session is not read-only:\n%s", warnings)
	}
	notes := strings.Join(findings(r, execution.ProbeNote), "\n")
	for _, part := range []string{"a write was tried and the server refused it", "DDL, which commits"} {
		if !strings.Contains(notes, part) {
			t.Errorf("no note with %q:\n%s", part, notes)
		}
	}
}

// Rights that every account has in other databases are a note, because no
// account can lose them.
func TestProbeOfPublic(t *testing.T) {
	server := testdb.StartMariaDB(t, testdb.Options{})
	if server.Product() != "mariadb" {
		t.Skip("MySQL has no PUBLIC")
	}
	url := server.NewDatabase(t)
	database := strings.TrimPrefix(mustPath(t, url), "/")
	server.Admin(t, "GRANT INSERT ON `test%`.* TO PUBLIC")
	user := server.NewUser(t, "SELECT ON "+database+".*")
	r := probe(t, server.URL(database, user))
	if w := findings(r, execution.ProbeWarning); len(w) > 0 {
		t.Errorf("warnings:\n%s", strings.Join(w, "\n"))
	}
	if notes := strings.Join(findings(r, execution.ProbeNote), "\n"); !strings.Contains(notes, "as every account") {
		t.Errorf("no note:\n%s", notes)
	}
	if !strings.Contains(r.RoleScript, "-- REVOKE INSERT ON `test%`.* FROM PUBLIC;") {
		t.Errorf("the script does not mention it:\n%s", r.RoleScript)
	}
	server.Admin(t, "GRANT DELETE ON `ktx%`.* TO PUBLIC")
	r = probe(t, server.URL(database, user))
	if w := findings(r, execution.ProbeWarning); len(w) != 1 || !strings.Contains(w[0], "write rows: DELETE") {
		t.Errorf("warnings about what every account may do here:\n%s", strings.Join(w, "\n"))
	}
}

// The server's own client runs the script as it is printed. The script must
// make an account without any warning, whatever the names of the databases
// contain.
func TestRoleScript(t *testing.T) {
	server := testdb.StartMariaDB(t, testdb.Options{})
	main := "odd_name%`\\; DROP TABLE x; -- \n'"
	quoted := "`" + strings.ReplaceAll(main, "`", "``") + "`"
	server.Admin(t, "CREATE DATABASE "+quoted, "CREATE TABLE "+quoted+".items (id int)", "INSERT INTO "+quoted+".items VALUES (7)",
		"CREATE DATABASE other_one", "CREATE TABLE other_one.things (id int)", "CREATE DATABASE otherXone", "CREATE TABLE otherXone.things (id int)")
	address := server.URL(strings.ReplaceAll(main, "%", "%25"), "")
	address = strings.ReplaceAll(address, "%2525", "%25")
	root := open(t, address, mysqldb.Config{Databases: []string{"other_one"}})
	r, err := root.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := "mariadb"
	if server.Product() == "mysql" {
		client = "mysql"
	}
	u := server.SocketURL("", "")
	password := strings.TrimSuffix(strings.SplitN(strings.SplitN(u, ":", 3)[2], "@", 2)[0], "")
	for range 2 { // it may be run again
		cmd := exec.CommandContext(t.Context(), testdb.Tool(t, client), "--no-defaults", "--protocol=socket", "--socket="+server.Socket(), "-uroot", "--batch")
		cmd.Env = append(os.Environ(), "MYSQL_PWD="+password)
		cmd.Stdin = strings.NewReader(r.RoleScript)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, r.RoleScript)
		}
	}
	locked := open(t, strings.Replace(address, "root:"+password, "ktx_reader", 1), mysqldb.Config{})
	if e := locked.Fails(t, "SELECT 1", execution.Limits{}); !strings.Contains(e.Message, "cannot connect") {
		t.Errorf("the account can log in before it has a password: %v", e)
	}
	server.Admin(t, "ALTER USER 'ktx_reader'@'%' IDENTIFIED BY 'Reader-1' ACCOUNT UNLOCK")
	reader := open(t, strings.Replace(address, "root:"+password, "ktx_reader:Reader-1", 1), mysqldb.Config{Databases: []string{"other_one"}})
	if got := reader.One(t, "SELECT id FROM items"); got != "7" {
		t.Errorf("the account reads %q", got)
	}
	reader.Get(t, "SELECT id FROM other_one.things", execution.Limits{})
	_ = reader.Fails(t, "SELECT id FROM otherXone.things", execution.Limits{})
	again, err := reader.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w := findings(again, execution.ProbeWarning); len(w) > 0 {
		t.Errorf("the account has warnings:\n%s", strings.Join(w, "\n"))
	}
	if !again.ReadOnly {
		t.Error("the session is not read-only")
	}
}

// TestNewConnectionsCheckTheirAccount shows that an account that gets more rights
// than a reader's is refused with the next connection, and served again without
// them.
func TestNewConnectionsCheckTheirAccount(t *testing.T) {
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, "CREATE TABLE items (id int)")
	database, _, _ := strings.Cut(url[strings.LastIndex(url, "/")+1:], "?")
	user := server.NewUser(t)
	server.Admin(t, "GRANT SELECT ON "+database+".* TO '"+user+"'@'%'")
	for _, right := range []string{"", "INSERT ON " + database + ".items", "FILE ON *.*"} {
		c := open(t, server.URL(database, user), mysqldb.Config{MaxConnections: 1})
		c.CheckRole()
		if right == "" {
			if got := c.One(t, "SELECT COUNT(*) FROM items"); got != "0" {
				t.Error(got)
			}
			continue
		}
		server.Admin(t, "GRANT "+right+" TO '"+user+"'@'%'")
		if e := c.Fails(t, "SELECT 1", execution.Limits{}); e.Code != sqlguard.CodeNotConfigured || e.Retryable {
			t.Errorf("%s: %+v", right, e)
		}
		server.Admin(t, "REVOKE "+right+" FROM '"+user+"'@'%'")
		if got := c.One(t, "SELECT 1"); got != "1" {
			t.Errorf("after %s: %s", right, got)
		}
	}
}
