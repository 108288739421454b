package mysqldb_test

import (
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// accessOf returns the findings of a report about access.
func accessOf(r execution.ProbeReport) string {
	var all []string
	for _, f := range r.Findings {
		if f.Topic == execution.TopicAccess {
			all = append(all, string(f.Level)+": "+f.Message)
			if f.Fix == "" || f.Writable() {
				all = append(all, "no fix, or counted as a right to write")
			}
		}
	}
	return strings.Join(all, "\n")
}

// runScript runs a script with the server's client.
func runScript(t *testing.T, server *testdb.MariaDBServer, script string) {
	t.Helper()
	address, err := url.Parse(server.URL("mysql", ""))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := address.User.Password()
	c := exec.CommandContext(t.Context(), testdb.Tool(t, "mariadb"), "--no-defaults", "--socket", server.Socket(), "--user", address.User.Username(), "--batch")
	c.Env = append(c.Environ(), "MYSQL_PWD="+password)
	c.Stdin = strings.NewReader(script)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("mariadb: %v\n%s\n%s", err, out, script)
	}
}

// TestRoleScriptGrantsWhatRulesPermit runs the script for a connection with rules, and
// reads every table and column as the account that it makes.
func TestRoleScriptGrantsWhatRulesPermit(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	address := server.NewDatabase(t, append(slices.Clip(shopObjects), "CREATE TABLE `odd ``name` (`a b` int, `c``d` int)",
		"CREATE TABLE part (k int) ENGINE=MyISAM", "CREATE TABLE merged (k int) ENGINE=MERGE UNION=(part)")...)
	database := strings.TrimPrefix(mustPath(t, address), "/")
	policy := sqlguard.DefaultPolicy()
	policy.Tables.Deny = []string{database + ".Secrets", database + ".part"}
	policy.Columns = []sqlguard.ColumnRule{{Match: database + ".users.Email"}, {Match: database + ".odd `name.a b"}}
	cfg := mysqldb.Config{Access: sqlguard.ReadRulesOf(mysql.Dialect{}, policy)}

	report, err := open(t, address, cfg).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 tables and views that the rules of this connection do not permit: " + database + ".part, " + database + ".secrets",
		"denied columns of 2 tables: " + database + ".odd `name (a b), " + database + ".users (email, domain, size)",
		"6 tables and views that lead or may lead around a rule of this connection: " + database + ".addresses (", database + ".domains (", database + ".keys_only (", database + ".merged (it shows rows of other tables", database + ".over_renamed (",
	} {
		if got := accessOf(report); !strings.Contains(got, want) {
			t.Errorf("the owner's findings lack %q:\n%s", want, got)
		}
	}
	user := server.NewUser(t, "SELECT ON "+database+".orders") // a right that the script must leave
	script := strings.ReplaceAll(report.RoleScript, "ktx_reader", user)
	if strings.Contains(script, "\nREVOKE") {
		t.Errorf("the script revokes:\n%s", script)
	}
	runScript(t, server, script)
	runScript(t, server, script)

	reader := open(t, server.URL(database, user), cfg)
	for sql, reads := range map[string]bool{
		"SELECT id, status FROM users":        true,
		"SELECT COUNT(*) FROM users":          true,
		"SELECT email FROM users":             false,
		"SELECT domain FROM users":            false,
		"SELECT size FROM users":              false,
		"SELECT * FROM users":                 false,
		"SELECT * FROM orders":                true,
		"SELECT * FROM ids":                   true,
		"SELECT t FROM calls":                 true,
		"SELECT k FROM secrets":               false,
		"SELECT k FROM keys_only":             false,
		"SELECT * FROM addresses":             false,
		"SELECT * FROM renamed":               false,
		"SELECT * FROM over_renamed":          false,
		"SELECT * FROM domains":               false,
		"SELECT k FROM part":                  false,
		"SELECT k FROM merged":                false,
		"SELECT `c``d` FROM `odd ``name`":     true,
		"SELECT `a b` FROM `odd ``name`":      false,
		"SHOW CREATE TABLE ids":               true,
		"INSERT INTO orders VALUES (1,1,1,1)": false,
	} {
		if _, err := reader.Try(t.Context(), t, sql, execution.Limits{}); (err == nil) != reads {
			t.Errorf("%s: %v, reads %v", sql, err, reads)
		}
	}
	if report, err = reader.Probe(t.Context()); err != nil || accessOf(report) != "" {
		t.Errorf("%v, findings about the account of the script: %s", err, accessOf(report))
	}
	server.Grant(t, user, "SELECT ON "+database+".renamed", "SELECT (email) ON "+database+".users")
	if report, err = reader.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := accessOf(report); !strings.Contains(got, database+".users (email)") || !strings.Contains(got, database+".renamed (") || strings.Contains(got, "secrets") {
		t.Errorf("findings %s", got)
	}
}
