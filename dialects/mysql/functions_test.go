package mysql_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

func server(t *testing.T, product, version string) mysql.Dialect {
	t.Helper()
	d, ok := mysql.Dialect{}.ForServer(product, version).(mysql.Dialect)
	if !ok {
		t.Fatalf("%s %s is read by another dialect", product, version)
	}
	return d
}

// TestTablesAreTidy checks that every name in a table is in lower case, and occurs once.
func TestTablesAreTidy(t *testing.T) {
	t.Parallel()
	for what, names := range mysql.Tables() {
		if len(names) < 5 {
			t.Errorf("%s: only %d names", what, len(names))
		}
		seen := map[string]bool{}
		for _, name := range names {
			if name != strings.ToLower(name) {
				t.Errorf("%s: %s is not in lower case", what, name)
			}
			if seen[name] {
				t.Errorf("%s: %s occurs twice", what, name)
			}
			seen[name] = true
		}
	}
	functions := mysql.FunctionNames()
	for _, what := range []string{"adherent", "mariadb_adherent", "words"} {
		for _, name := range mysql.Tables()[what] {
			if !slices.Contains(functions, name) {
				t.Errorf("%s: %s is not a listed function", what, name)
			}
		}
	}
}

func TestFunctionRulings(t *testing.T) {
	t.Parallel()
	const allowed = sqlguard.Code("allowed")
	own, none := true, false
	nowhere, maria := mysql.Dialect{}, mysql.MariaDB
	for _, c := range []struct {
		dialect      mysql.Dialect
		schema, name string
		args         int
		code         sqlguard.Code
		builtin      bool
	}{
		{nowhere, "", "abs", 1, allowed, own},
		{nowhere, "", "ABS", 1, allowed, own},
		{nowhere, "shop", "abs", 1, "", none},
		{nowhere, "", "touch_order", 1, "", none},
		{nowhere, "", "slëep", 1, "", none},
		{nowhere, "", "Load_File", 1, sqlguard.CodeFunctionFileAccess, own},
		{nowhere, "", "sleep", 1, sqlguard.CodeFunctionSleep, own},
		{nowhere, "", "get_lock", 2, sqlguard.CodeFunctionSideEffect, own},
		{nowhere, "", "is_used_lock", 1, sqlguard.CodeFunctionAdmin, own},
		{nowhere, "", "last_insert_id", 0, allowed, own},
		{nowhere, "", "last_insert_id", 1, sqlguard.CodeFunctionSideEffect, own},
		{nowhere, "", "last_insert_id", -1, sqlguard.CodeFunctionSideEffect, own},
		{nowhere, "", "spider_direct_sql", 3, sqlguard.CodeFunctionNetworkAccess, own},
		{nowhere, "", "keyring_key_anything_new", 3, sqlguard.CodeFunctionAdmin, own},
		{nowhere, "", "internal_table_rows", 8, sqlguard.CodeFunctionAdmin, own},
		{nowhere, "", "point", 2, allowed, own},
		{nowhere, "", "point", 3, "", none},
		{nowhere, "", "json_table", 2, "", none},
		{nowhere, "", "json_table", -1, allowed, own},
		{nowhere, "sys", "format_bytes", 1, sqlguard.CodeFunctionAdmin, own},
		{nowhere, "SYS", "anything", 1, sqlguard.CodeFunctionAdmin, own},
		{nowhere, "mysql", "anything", 1, sqlguard.CodeFunctionAdmin, own},
		{nowhere, "shop", "nextval", 1, sqlguard.CodeFunctionSideEffect, own},
		{nowhere, "mariadb_schema", "sleep", 1, sqlguard.CodeFunctionSleep, own},
		{nowhere, "mariadb_schema", "abs", 1, "", own},
		{maria, "mariadb_schema", "sleep", 1, sqlguard.CodeFunctionSleep, own},
		{maria, "mariadb_schema", "abs", 1, allowed, own},
		{maria, "oracle_schema", "load_file", 1, sqlguard.CodeFunctionFileAccess, own},
		{maria, "", "nextval", 1, sqlguard.CodeFunctionSideEffect, own},
		{maria, "", "json_detailed", 1, allowed, own},
		{maria, "", "regexp_like", 2, "", none},
		{maria, "", "roles_graphml", 0, sqlguard.CodeFunctionAdmin, own},
		{server(t, "mysql", "8.4.5"), "", "json_detailed", 1, "", none},
		{server(t, "mysql", "8.4.5"), "", "master_gtid_wait", 1, sqlguard.CodeFunctionSleep, own},
		{server(t, "mysql", "8.4.5"), "", "md5", 1, allowed, own},
		{server(t, "mysql", "9.7.0"), "", "md5", 1, "", none},
		{server(t, "mysql", "5.7.44"), "", "rank", 0, "", none},
		{server(t, "mysql", "5.7.44"), "", "glength", 1, allowed, own},
		{server(t, "mysql", "8.0.36"), "", "glength", 1, "", none},
		{server(t, "mariadb", "10.11.6"), "", "glength", 1, allowed, own},
		{server(t, "mariadb", "10.11.6"), "", "uuid_v7", 0, "", none},
		{server(t, "mariadb", "11.8.3"), "", "uuid_v7", 0, allowed, own},
		{server(t, "mysql", "unknown"), "", "rank", 0, "", none},
	} {
		ruling, builtin := mysql.FunctionRuling(c.dialect, c.schema, c.name, c.args)
		got := ruling.Code
		if ruling.Allowed {
			got = allowed
		}
		if got != c.code || builtin != c.builtin {
			t.Errorf("%s: %s.%s with %d arguments: %q, builtin %v; want %q, %v", c.dialect.Version(), c.schema, c.name, c.args, got, builtin, c.code, c.builtin)
		}
		if !ruling.Allowed && builtin && ruling.Reason == "" {
			t.Errorf("%s.%s is refused without a reason", c.schema, c.name)
		}
	}
}

// TestSpaceBeforeBracket checks which names mean a user-defined function, not one of the
// server's, if a space comes before the bracket. The servers differ.
func TestSpaceBeforeBracket(t *testing.T) {
	t.Parallel()
	both, onlyMySQL, neither := [2]bool{true, true}, [2]bool{true, false}, [2]bool{}
	for text, want := range map[string][2]bool{
		"SELECT ABS (1)":                                    both,
		"SELECT CONCAT\n('a')":                              both,
		"SELECT DATE_FORMAT (NOW(), '%Y')":                  both,
		"SELECT ROW_NUMBER () OVER (ORDER BY id) FROM t":    both,
		"SELECT RANK () OVER (ORDER BY id) FROM t":          onlyMySQL,
		"SELECT FIRST_VALUE (id) OVER (ORDER BY id) FROM t": onlyMySQL,
		"SELECT COUNT (id) FROM t":                          neither,
		"SELECT NOW ()":                                     neither,
		"SELECT MAX/**/(id) FROM t":                         neither,
	} {
		for i, d := range []mysql.Dialect{server(t, "mysql", "8.4.5"), server(t, "mariadb", "10.11.6")} {
			guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if v := guard.Check(text); v.Allowed != want[i] {
				t.Errorf("%s: %s: allowed %v", d.Version(), text, v.Allowed)
			}
		}
	}
}
