package tdsserver

import (
	"slices"
	"strings"
)

// The system views (T-SQL reference, "System catalog views"). Their rows follow
// from Config and its Accounts. A test replaces a view with SetTable.

// Identities of principals and schemas.
const (
	idPublic    = 0
	idDBO       = 1
	idGuest     = 2
	idSystem    = 4
	idFirstUser = 5
	idFirstRole = 16384

	idOwnDatabase = 5 // the first after those of the system

	idItems = 245575913
)

// systemDatabases are listed before the databases of a Config.
var systemDatabases = []string{"master", "tempdb", "model", "msdb"}

// principals returns the users and roles of the database by identity.
func (s *session) principals() map[int64]string {
	all := map[int64]string{idPublic: "public", idDBO: "dbo", idGuest: "guest", 3: "INFORMATION_SCHEMA", idSystem: "sys"}
	for i, a := range s.c.s.config.Accounts {
		if !slices.Contains(a.Roles, "sysadmin") {
			all[int64(idFirstUser+i)] = a.Name
		}
	}
	for i, role := range databaseRoles {
		if role != "public" {
			all[int64(idFirstRole+i)] = role
		}
	}
	return all
}

// userID is USER_ID().
func (s *session) userID() int64 {
	if s.c.in("sysadmin") {
		return idDBO
	}
	for i, a := range s.c.s.config.Accounts {
		if a.Name == s.c.account.Name {
			return int64(idFirstUser + i)
		}
	}
	return idGuest
}

// catalogue returns a system view.
func (s *session) catalogue(name string) (Table, bool) {
	small := NVarChar(60)
	switch name {
	case "sys.databases":
		t := Table{Columns: []Column{
			{"name", sysname}, {"database_id", IntFixed}, {"state_desc", small}, {"is_read_only", Bit}, {"is_trustworthy_on", Bit}, {"is_db_chaining_on", Bit},
		}}
		for i, n := range slices.Concat(systemDatabases, s.c.s.config.Databases) {
			t.Rows = append(t.Rows, []any{n, int64(i + 1), "ONLINE", false, n == "msdb", slices.Contains([]string{"master", "tempdb", "msdb"}, n)})
		}
		return t, true
	case "sys.schemas":
		return Table{
			Columns: []Column{{"name", sysname}, {"schema_id", IntFixed}, {"principal_id", Int}},
			Rows: [][]any{
				{"dbo", int64(1), int64(idDBO)},
				{"guest", int64(2), int64(idGuest)},
				{"INFORMATION_SCHEMA", int64(3), int64(3)},
				{"sys", int64(4), int64(idSystem)},
			},
		}, true
	case "sys.objects":
		return Table{
			Columns: []Column{
				{"name", sysname},
				{"object_id", IntFixed},
				{"principal_id", Int},
				{"schema_id", IntFixed},
				{"parent_object_id", IntFixed},
				{"type", Char(2)},
				{"type_desc", small},
				{"is_ms_shipped", Bit},
			},
			Rows: [][]any{{"items", int64(idItems), nil, int64(1), int64(0), "U ", "USER_TABLE", false}},
		}, true
	case "sys.database_permissions":
		return s.grants(), true
	case "sys.configurations":
		t := Table{Columns: []Column{{"configuration_id", IntFixed}, {"name", NVarChar(35)}, {"value", Variant}, {"value_in_use", Variant}}}
		for i, n := range []string{"clr enabled", "Ad Hoc Distributed Queries", "Ole Automation Procedures", "xp_cmdshell", "external scripts enabled"} {
			t.Rows = append(t.Rows, []any{int64(i + 1), n, Of{Int, int64(0)}, Of{Int, int64(0)}})
		}
		return t, true
	case "sys.servers":
		return Table{
			Columns: []Column{{"server_id", IntFixed}, {"name", sysname}, {"is_linked", Bit}},
			Rows:    [][]any{{int64(0), s.c.s.name(), false}},
		}, true
	case "sys.columns":
		return Table{Columns: []Column{{"object_id", IntFixed}, {"name", sysname}, {"column_id", IntFixed}}}, true
	case "sys.computed_columns":
		return Table{Columns: []Column{{"object_id", IntFixed}, {"name", sysname}, {"column_id", IntFixed}, {"definition", NVarChar(4000)}}}, true
	case "sys.synonyms":
		return Table{Columns: []Column{{"object_id", IntFixed}, {"base_object_name", NVarChar(1035)}}}, true
	case "sys.sql_modules":
		return Table{Columns: []Column{
			{"object_id", IntFixed}, {"definition", NVarChar(4000)}, {"uses_quoted_identifier", Bit}, {"execute_as_principal_id", Int},
		}}, true
	default:
		return Table{}, false
	}
}

// grants is sys.database_permissions: the permissions of the accounts on the
// database (class 0) and on single objects, schemas and types.
func (s *session) grants() Table {
	t := Table{Columns: []Column{
		{"class", TinyInt},
		{"class_desc", NVarChar(60)},
		{"major_id", IntFixed},
		{"minor_id", IntFixed},
		{"grantee_principal_id", IntFixed},
		{"grantor_principal_id", IntFixed},
		{"permission_name", sysname},
		{"state", Char(1)},
		{"state_desc", NVarChar(60)},
	}}
	add := func(class int64, what string, on, to int64, permission string) {
		t.Rows = append(t.Rows, []any{class, what, on, int64(0), to, int64(idDBO), permission, "G", "GRANT"})
	}
	add(1, "OBJECT_OR_COLUMN", -105, idPublic, "SELECT") // on a system view
	for i, a := range s.c.s.config.Accounts {
		for _, permission := range a.Permissions {
			add(0, "DATABASE", 0, int64(idFirstUser+i), permission)
		}
		for _, g := range a.Grants {
			add(g.Class, g.ClassName, g.On, int64(idFirstUser+i), g.Permission)
		}
	}
	return t
}

// Grant is a permission on less than the database.
type Grant struct {
	Class      int64  // 1 an object, 3 a schema, 4 a principal, 6 a type
	ClassName  string // OBJECT_OR_COLUMN, SCHEMA, …
	On         int64  // the identity of the securable; that of items is ItemsID
	Permission string
}

// ItemsID is the identity of the table items.
const ItemsID = idItems

// lookup finds the value of one column in the row whose other column is id.
func (s *session) lookup(table, key, column string, id any) any {
	t, ok := s.table(table)
	if !ok {
		if t, ok = s.catalogue(table); !ok {
			return nil
		}
	}
	at := func(name string) int {
		return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	}
	k, c := at(key), at(column)
	if k < 0 || c < 0 {
		return nil
	}
	for _, row := range t.Rows {
		if row[k] == id {
			return row[c]
		}
	}
	return nil
}

// serverPermissions returns the account's permissions on the server.
func (c *conn) serverPermissions() []string {
	all := []string{"CONNECT SQL", "VIEW ANY DATABASE"} // every login has these
	if c.in("sysadmin") {
		all = append(all, "CONTROL SERVER", "ALTER ANY LOGIN", "ALTER ANY DATABASE", "ADMINISTER BULK OPERATIONS", "SHUTDOWN", "VIEW SERVER STATE")
	}
	return append(all, c.account.ServerPermissions...)
}

// hasDatabaseAccess is HAS_DBACCESS. It is NULL for a database that does not
// exist.
func (s *session) hasDatabaseAccess(name string) any {
	switch {
	case s.c.s.has(name):
		_, listed := s.c.account.Elsewhere[name]
		return flag(s.c.in("sysadmin") || listed || strings.EqualFold(name, s.database))
	case slices.Contains(systemDatabases, strings.ToLower(name)):
		return flag(s.c.in("sysadmin") || !strings.EqualFold(name, "model"))
	default:
		return nil
	}
}

// hasPermission is HAS_PERMS_BY_NAME. It is NULL for a class that is not
// modelled or not valid.
func (s *session) hasPermission(securable, class, permission string) any {
	permission = strings.ToUpper(permission)
	securable = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(securable, "["), "]"), "]]", "]")
	switch strings.ToUpper(class) {
	case "", "SERVER":
		if securable != "" {
			return nil
		}
		return flag(slices.Contains(s.c.serverPermissions(), permission))
	case "DATABASE":
		if securable != "" && !strings.EqualFold(securable, s.database) {
			return flag(s.c.in("sysadmin") || slices.Contains(s.c.account.Elsewhere[securable], permission))
		}
		return flag(s.c.may(permission))
	case "OBJECT", "SCHEMA":
		return flag(s.c.may(permission))
	default:
		return nil
	}
}

// quoteName is QUOTENAME with brackets: NULL beyond 128 characters.
func quoteName(name string) any {
	if units(name) > 128 {
		return nil
	}
	return "[" + strings.ReplaceAll(name, "]", "]]") + "]"
}
