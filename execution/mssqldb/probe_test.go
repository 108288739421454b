package mssqldb_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// probe runs the probe on a server with an account.
func probe(t *testing.T, config tdsserver.Config, a tdsserver.Account) (execution.ProbeReport, *tdsserver.Server) {
	t.Helper()
	config.Accounts = []tdsserver.Account{a}
	s := executiontest.StandIn(t, config)
	c := open(t, s.URLFor(a, "encrypt", "true", "certificate", s.CertificateFile()), mssqldb.Config{})
	report, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report, s
}

// writable returns the messages of findings that say that a role can write.
func writable(r execution.ProbeReport) []string {
	var list []string
	for _, f := range r.Findings {
		if f.Writable() {
			list = append(list, f.Message)
		}
	}
	return list
}

// A role that may only read has no finding for which the gateway would refuse
// it.
func TestProbeOfAReader(t *testing.T) {
	report, s := probe(t, tdsserver.Config{}, tdsserver.Reader)
	if got := writable(report); len(got) != 0 {
		t.Errorf("findings that say the role can write: %q", got)
	}
	if !report.ReadOnly || !report.TLS || report.TLSVersion != "TLS 1.2" || report.Role != tdsserver.Reader.Name || report.Replica {
		t.Errorf("%+v", report)
	}
	if want := "SQL Server " + tdsserver.DefaultVersion; report.Server != want {
		t.Errorf("the server is %q, want %q", report.Server, want)
	}
	for _, part := range []string{
		"USE [shop];", "CREATE LOGIN ktx_reader", "CREATE USER ktx_reader FOR LOGIN ktx_reader", "GRANT SELECT ON SCHEMA::[dbo] TO ktx_reader;",
		"DENY INSERT, UPDATE, DELETE, EXECUTE,",
	} {
		if !strings.Contains(report.RoleScript, part) {
			t.Errorf("the script has no %q:\n%s", part, report.RoleScript)
		}
	}
	// Every query of the probe is a constant, and ran in a transaction that was
	// rolled back.
	for _, text := range s.Batches() {
		if strings.Contains(text, tdsserver.Reader.Password) {
			t.Errorf("a query contains the password: %s", text)
		}
	}
	onlyBatches(t, s)
}

// The probe finds every right beyond reading.
func TestProbeOfAWriter(t *testing.T) {
	account := func(change func(a *tdsserver.Account)) tdsserver.Account {
		a := tdsserver.Account{Name: "app", Password: "Secret-1", Permissions: []string{"CONNECT", "SELECT"}}
		change(&a)
		return a
	}
	for _, c := range []struct {
		name string
		a    tdsserver.Account
		want string // part of a finding
	}{
		{"sysadmin", account(func(a *tdsserver.Account) { a.Roles = []string{"sysadmin"} }), "sysadmin"},
		{"owner", tdsserver.Owner, "db_owner"},
		{"writer", account(func(a *tdsserver.Account) { a.Roles = []string{"db_datawriter"} }), "db_datawriter"},
		{"designer", account(func(a *tdsserver.Account) { a.Roles = []string{"db_ddladmin"} }), "db_ddladmin"},
		{"bulk", account(func(a *tdsserver.Account) { a.Roles = []string{"bulkadmin"} }), "server role bulkadmin"},
		{"insert", account(func(a *tdsserver.Account) { a.Permissions = append(a.Permissions, "INSERT") }), "INSERT"},
		{"execute", account(func(a *tdsserver.Account) { a.Permissions = append(a.Permissions, "EXECUTE") }), "EXECUTE"},
		{"a right of tomorrow", account(func(a *tdsserver.Account) { a.Permissions = append(a.Permissions, "REWRITE HISTORY") }), "REWRITE HISTORY"},
		{"create table", account(func(a *tdsserver.Account) { a.Permissions = append(a.Permissions, "CREATE TABLE") }), "CREATE TABLE"},
		{"bulk operations", account(func(a *tdsserver.Account) { a.ServerPermissions = []string{"ADMINISTER BULK OPERATIONS"} }), "on the server: ADMINISTER BULK OPERATIONS"},
		{"impersonation", account(func(a *tdsserver.Account) { a.ServerPermissions = []string{"IMPERSONATE ANY LOGIN"} }), "IMPERSONATE ANY LOGIN"},
		{"one table", account(func(a *tdsserver.Account) {
			a.Grants = []tdsserver.Grant{{Class: 1, ClassName: "OBJECT_OR_COLUMN", On: tdsserver.ItemsID, Permission: "UPDATE"}}
		}), "UPDATE on object or column: [dbo].[items]"},
		{"one schema", account(func(a *tdsserver.Account) {
			a.Grants = []tdsserver.Grant{{Class: 3, ClassName: "SCHEMA", On: 1, Permission: "EXECUTE"}}
		}), "EXECUTE on schema: [dbo]"},
		{"another user", account(func(a *tdsserver.Account) {
			a.Grants = []tdsserver.Grant{{Class: 4, ClassName: "DATABASE_PRINCIPAL", On: 1, Permission: "IMPERSONATE"}}
		}), "IMPERSONATE on database principal: [dbo]"},
		{"another database", account(func(a *tdsserver.Account) { a.Elsewhere = map[string][]string{"stock": {"DELETE"}} }), "database [stock]: DELETE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, _ := probe(t, tdsserver.Config{Databases: []string{"shop", "stock"}}, c.a)
			found := writable(report)
			if !slices.ContainsFunc(found, func(m string) bool { return strings.Contains(m, c.want) }) {
				t.Errorf("no finding with %q in %q", c.want, found)
			}
			if report.ReadOnly {
				t.Error("the report says read-only")
			}
			for _, f := range report.Findings {
				if f.Writable() && f.Fix == "" {
					t.Errorf("a finding without a fix: %s", f.Message)
				}
			}
		})
	}
}

// The probe finds a login that may impersonate another one.
func TestProbeOfAnImpersonator(t *testing.T) {
	s := executiontest.StandIn(t, tdsserver.Config{Accounts: []tdsserver.Account{tdsserver.Reader, tdsserver.Owner}})
	name, small := tdsserver.NVarChar(128), tdsserver.NVarChar(60)
	s.SetTable("sys.server_permissions", tdsserver.Table{
		Columns: []tdsserver.Column{
			{Name: "class", Type: tdsserver.TinyInt},
			{Name: "class_desc", Type: small},
			{Name: "major_id", Type: tdsserver.IntFixed},
			{Name: "grantee_principal_id", Type: tdsserver.IntFixed},
			{Name: "permission_name", Type: name},
			{Name: "state", Type: tdsserver.Char(1)},
		},
		Rows: [][]any{
			{int64(100), "SERVER", int64(0), int64(267), "CONNECT SQL", "G"},
			{int64(105), "ENDPOINT", int64(4), int64(2), "CONNECT", "G"},
			{int64(101), "SERVER_PRINCIPAL", int64(1), int64(267), "IMPERSONATE", "G"},
			{int64(101), "SERVER_PRINCIPAL", int64(2), int64(268), "CONTROL", "G"},
		},
	})
	report, err := open(t, trusted(s), mssqldb.Config{}).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := writable(report); len(got) != 1 || got[0] != "the role may IMPERSONATE on 1 of the kind server principal" {
		t.Errorf("%q", got)
	}
}

// When the server does not answer a query of the probe, the report has a
// warning, because the answer might have been one.
func TestProbeUnanswered(t *testing.T) {
	s := executiontest.StandIn(t, tdsserver.Config{})
	c := open(t, trusted(s), mssqldb.Config{})
	if _, err := c.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked := slices.DeleteFunc(s.Batches(), func(text string) bool {
		return !strings.Contains(text, "sys.") || strings.HasPrefix(text, "SET ")
	})
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if len(asked) < 8 {
		t.Fatalf("only %d queries", len(asked))
	}
	for _, question := range asked {
		s := executiontest.StandIn(t, tdsserver.Config{})
		s.On(question, func(r *tdsserver.Reply) error {
			return r.Error(&tdsserver.ServerError{Number: 229, State: 5, Class: 14, Message: "The SELECT permission was denied."})
		})
		report, err := open(t, trusted(s), mssqldb.Config{}).Probe(t.Context())
		if err != nil {
			t.Errorf("%.60s: %v", question, err)
			continue
		}
		found := false
		for _, f := range report.Findings {
			found = found || f.Level == execution.ProbeWarning && strings.Contains(f.Message, "could not be found out")
		}
		if !found {
			t.Errorf("%.60s: no finding says that the server did not answer it", question)
		}
	}
}

// The probe reports settings around the database.
func TestProbeSurroundings(t *testing.T) {
	s := executiontest.StandIn(t, tdsserver.Config{Version: "11.0.7001.0"})
	name := tdsserver.NVarChar(128)
	s.SetTable("sys.configurations", tdsserver.Table{
		Columns: []tdsserver.Column{{Name: "name", Type: name}, {Name: "value_in_use", Type: tdsserver.Variant}},
		Rows:    [][]any{{"xp_cmdshell", tdsserver.Of{Type: tdsserver.Int, Value: int64(1)}}},
	})
	s.SetTable("sys.servers", tdsserver.Table{
		Columns: []tdsserver.Column{{Name: "name", Type: name}, {Name: "is_linked", Type: tdsserver.Bit}},
		Rows:    [][]any{{"far", true}},
	})
	c := open(t, trusted(s), mssqldb.Config{})
	report, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"xp_cmdshell", "other servers are linked", "older than 13"} {
		if !slices.ContainsFunc(report.Findings, func(f execution.ProbeFinding) bool { return strings.Contains(f.Message, part) }) {
			t.Errorf("no finding with %q", part)
		}
	}
	if got := writable(report); len(got) != 0 {
		t.Errorf("findings about the role: %q", got)
	}
	// Services of Azure report another version, and have no server-level
	// settings to query.
	s = executiontest.StandIn(t, tdsserver.Config{Version: "12.0.2000.8", Edition: 5})
	c = open(t, trusted(s), mssqldb.Config{})
	if report, err = c.Probe(t.Context()); err != nil || report.Server != "Azure SQL 12.0.2000.8" {
		t.Errorf("%q, %v", report.Server, err)
	}
	if strings.Contains(report.RoleScript, "USE ") || !strings.Contains(report.RoleScript, "CREATE USER ktx_reader WITH PASSWORD") {
		t.Errorf("the script is not one for a database of Azure:\n%s", report.RoleScript)
	}
}

// TestNewConnectionsCheckTheirRole shows that a new connection of a role that can
// do more than read is refused.
func TestNewConnectionsCheckTheirRole(t *testing.T) {
	for _, a := range []tdsserver.Account{
		tdsserver.Reader, tdsserver.Owner,
		{Name: "app", Password: "Secret-1", Permissions: []string{"CONNECT", "SELECT", "INSERT"}},
	} {
		s := executiontest.StandIn(t, tdsserver.Config{Accounts: []tdsserver.Account{a}})
		c := open(t, s.URLFor(a, "encrypt", "true", "certificate", s.CertificateFile()), mssqldb.Config{})
		c.CheckRole()
		_, err := c.Catalog(t.Context())
		if got, want := execution.CodeOf(err) == sqlguard.CodeNotConfigured, a.Name != tdsserver.Reader.Name; got != want {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}
