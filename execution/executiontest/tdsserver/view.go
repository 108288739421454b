package tdsserver

import (
	"slices"
	"strconv"
	"strings"
)

// table finds a table, including tables that the batch creates.
func (p *parser) table(name string) (Table, bool) {
	if t, ok := p.c.session.table(name); ok {
		return t, true
	}
	t, ok := p.created[strings.TrimPrefix(strings.ToLower(name), "dbo.")]
	return t, ok
}

// view returns a function that makes a system view, or nil if the view is not
// modelled.
func (p *parser) view(name string) (func() Table, error) {
	name = strings.ToLower(name)
	if name == "sys.fn_my_permissions" || name == "fn_my_permissions" {
		return p.permissions()
	}
	s := &p.c.session
	if name == "sys.dm_exec_sessions" {
		return s.sessions, nil
	}
	if _, ok := s.catalogue(name); !ok {
		return nil, nil
	}
	return func() Table {
		t, _ := s.catalogue(name)
		return t
	}, nil
}

// permissions reads the arguments of fn_my_permissions.
func (p *parser) permissions() (func() Table, error) {
	if err := p.want("(", "NULL", ","); err != nil {
		return nil, err
	}
	w := *p.peek()
	p.i++
	if err := p.want(")"); err != nil {
		return nil, err
	}
	class := strings.ToLower(w.text)
	if class != "server" && class != "database" {
		return nil, unknown("fn_my_permissions of "+w.text, w.line)
	}
	s := &p.c.session
	return func() Table {
		t := Table{Columns: []Column{{"entity_name", sysname}, {"subentity_name", sysname}, {"permission_name", NVarChar(60)}}}
		permissions := s.c.account.Permissions
		switch {
		case class == "server":
			permissions = s.c.serverPermissions()
		case s.c.in("sysadmin") || s.c.in("db_owner"):
			permissions = databasePermissions
		}
		for _, permission := range permissions {
			t.Rows = append(t.Rows, []any{class, "", permission})
		}
		return t
	}, nil
}

// sessions is sys.dm_exec_sessions. A login without VIEW SERVER STATE sees only
// its own session. Of the sessions of others it has the number and the time.
func (s *session) sessions() Table {
	number := func(name string) int64 {
		n, err := strconv.ParseInt(s.options[name], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	levels := map[string]int64{"READ UNCOMMITTED": 1, "READ COMMITTED": 2, "REPEATABLE READ": 3, "SERIALIZABLE": 4, "SNAPSHOT": 5}
	t, row := Table{}, []any{}
	for _, c := range []struct {
		name  string
		typ   Type
		value any
	}{
		{"session_id", SmallInt, int64(s.c.spid)},
		{"login_time", DateTime, s.c.made},
		{"login_name", sysname, s.c.account.Name},
		{"program_name", sysname, s.c.login.AppName},
		{"host_name", sysname, s.c.login.HostName},
		{"text_size", Int, number("TEXTSIZE")},
		{"language", sysname, s.options["LANGUAGE"]},
		{"date_format", NVarChar(3), s.options["DATEFORMAT"]},
		{"date_first", SmallInt, number("DATEFIRST")},
		{"quoted_identifier", Bit, s.on("QUOTED_IDENTIFIER")},
		{"arithabort", Bit, s.on("ARITHABORT")},
		{"ansi_null_dflt_on", Bit, s.on("ANSI_NULL_DFLT_ON")},
		{"ansi_defaults", Bit, s.on("ANSI_DEFAULTS")},
		{"ansi_warnings", Bit, s.on("ANSI_WARNINGS")},
		{"ansi_padding", Bit, s.on("ANSI_PADDING")},
		{"ansi_nulls", Bit, s.on("ANSI_NULLS")},
		{"concat_null_yields_null", Bit, s.on("CONCAT_NULL_YIELDS_NULL")},
		{"transaction_isolation_level", SmallInt, levels[s.options["ISOLATION"]]},
		{"lock_timeout", Int, number("LOCK_TIMEOUT")},
		{"open_transaction_count", Int, int64(s.depth)},
		{"database_id", SmallInt, int64(idOwnDatabase)},
	} {
		t.Columns = append(t.Columns, Column{c.name, c.typ})
		row = append(row, c.value)
	}
	t.Rows = [][]any{row}
	if !slices.Contains(s.c.serverPermissions(), "VIEW SERVER STATE") {
		return t
	}
	s.c.s.mu.Lock()
	defer s.c.s.mu.Unlock()
	for c := range s.c.s.conns {
		if c != s.c {
			other := make([]any, len(row))
			other[0], other[1] = int64(c.spid), c.made
			t.Rows = append(t.Rows, other)
		}
	}
	return t
}

// databasePermissions are the permissions of an owner on the database. Those
// that can change something come first (T-SQL reference, "Permissions (Database
// Engine)").
var databasePermissions = []string{
	"CONTROL", "ALTER", "CREATE TABLE", "CREATE VIEW", "CREATE PROCEDURE", "CREATE FUNCTION", "CREATE SCHEMA", "INSERT", "UPDATE", "DELETE",
	"EXECUTE", "CONNECT", "SELECT", "REFERENCES", "VIEW DEFINITION",
}
