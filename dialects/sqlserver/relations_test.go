package sqlserver_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestNeverReadable checks that no spelling permits a read of the relations that must never
// be allowed.
func TestNeverReadable(t *testing.T) {
	g := newGuard(t)
	for name := range strings.FieldsSeq(`sql_logins server_principals credentials linked_logins configurations dm_server_registry
		dm_exec_requests dm_exec_sessions dm_exec_sql_text dm_exec_query_stats dm_exec_cached_plans symmetric_keys
		asymmetric_keys certificates database_credentials database_scoped_credentials query_store_query_text
		server_principal_credentials remote_logins key_encryptions openkeys master_files traces server_audits
		database_principals database_permissions server_permissions servers dm_os_loaded_modules dm_tran_locks no_such_view`) {
		wide := strings.Map(func(r rune) rune { return r + 0xFEE0 }, "sys")
		for _, sql := range []string{
			"SELECT * FROM sys." + name, "SELECT * FROM SYS." + strings.ToUpper(name), "SELECT * FROM [sys].[" + name + "]",
			`SELECT * FROM "sys"."` + name + `"`, "SELECT * FROM master.sys." + name, "SELECT * FROM [sys ]." + name,
			"SELECT * FROM sys.[" + name + " ]", "SELECT * FROM " + wide + "." + name, "SELECT * FROM sýs." + name, "SELECT * FROM ſys." + name,
			"SELECT * FROM [s\u200bys]." + name, "SELECT * FROM .sys." + name, "SELECT * FROM sys . " + name, "SELECT * FROM sys/**/." + name,
			"SELECT (SELECT COUNT(*) FROM sys." + name + ")", "SELECT 1 FROM t JOIN sys." + name + " AS x ON 1 = 1",
			"SELECT 1 FROM (t CROSS JOIN sys." + name + ")", "SELECT 1 FROM t CROSS APPLY (SELECT * FROM sys." + name + ") AS x",
		} {
			if v := g.Check(sql); v.Allowed {
				t.Errorf("%s is allowed", sql)
			}
		}
	}
	for name := range strings.FieldsSeq("syslogins sysprocesses sysusers sysservers sysdatabases sysfiles sysxlogins sysremotelogins sysprotects") {
		for _, sql := range []string{"SELECT * FROM " + name, "SELECT * FROM dbo." + name, "SELECT * FROM sys." + name, "SELECT * FROM master.." + name, "SELECT * FROM ..[" + name + "]"} {
			if v := g.Check(sql); v.Allowed {
				t.Errorf("%s is allowed", sql)
			}
		}
	}
}

func TestSkeleton(t *testing.T) {
	if got := sqlserver.Skeleton("SYS "); got != "sys" {
		t.Errorf("a trailing space stays: %q", got)
	}
	for name, want := range map[string]string{
		"sys": "sys", "Sys": "sys", "ｓｙｓ": "sys", "ＳＹＳ": "sys", "sýs": "sys", "ſys": "sys", "s\u00ady\u200bs": "sys", "ⓢⓨⓢ": "sys",
		"目次": "目次", "さくら": "サクラ", "ｻｸﾗ": "サクラ", "がっこう": "カツコウ", "ｶﾞｯｺｳ": "カツコウ", "顧客ＩＤ": "顧客id", "システム": "システム", "Größe": "grosse", "\u212aill": "kill", "sysproceßes": "sysprocesses", "\U0001d42cys": "sys", "\U0001f182ys": "sys", "s\u3164ys": "sys", "\u33ccformation": "information", "a\U0001F600b": "ab", "": "",
	} {
		if got := sqlserver.Skeleton(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestOneAlias checks that a name after an alias is not read as a second alias.
func TestOneAlias(t *testing.T) {
	g := newGuard(t)
	for _, sql := range []string{
		"SELECT * FROM a b c", "SELECT * FROM a AS b c", "SELECT * FROM a b (NOLOCK) c", "SELECT * FROM a WITH (NOLOCK) b c",
		"SELECT 1 a b", "SELECT 1 AS a b", "SELECT a = 1 b", "SELECT * FROM (SELECT 1 AS a) b c", "SELECT * FROM STRING_SPLIT('a', ',') b c",
		"SELECT * FROM a b TABLESAMPLE (1 ROWS) c",
	} {
		if v := g.Check(sql); v.Code != sqlguard.CodeParseError {
			t.Errorf("%s: %q", sql, v.Code)
		}
	}
}

// TestThreePartNames checks that a name with a database is allowed only for the connection's
// own database.
func TestThreePartNames(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.Database = "Shop"
	g, err := sqlguard.New(sqlserver.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]sqlguard.Code{
		"SELECT * FROM shop.dbo.orders":       "",
		"SELECT * FROM Shop..orders":          "",
		"SELECT * FROM .Shop..orders":         "",
		"SELECT * FROM shop.sys.tables":       "",
		"SELECT * FROM shop.sys.sql_logins":   sqlguard.CodeCredentialRelation,
		"SELECT * FROM other.dbo.orders":      sqlguard.CodeExternalRelation,
		"SELECT * FROM other..orders":         sqlguard.CodeExternalRelation,
		"SELECT * FROM other.sys.tables":      sqlguard.CodeExternalRelation,
		"SELECT * FROM srv.shop.dbo.orders":   sqlguard.CodeExternalRelation,
		"SELECT * FROM srv.shop..orders":      sqlguard.CodeExternalRelation,
		"SELECT * FROM srv...orders":          sqlguard.CodeExternalRelation,
		"SELECT * FROM msdb.dbo.sysjobs":      sqlguard.CodeRelationNotAllowed,
		"SELECT * FROM tempdb.dbo.x":          sqlguard.CodeRelationNotAllowed,
		"SELECT * FROM ＭＡＳＴＥＲ.dbo.spt_values": sqlguard.CodeRelationNotAllowed,
	} {
		if v := g.Check(sql); v.Code != want {
			t.Errorf("%s: %q, want %q: %v", sql, v.Code, want, v.Findings)
		}
	}
}

// TestPolicyReachesSystemNames checks that a rule that denies also applies to the server's
// own relations, under each of their names.
func TestPolicyReachesSystemNames(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.Schemas.Deny = []string{"sys"}
	policy.Tables.Deny = []string{"INFORMATION_SCHEMA.columns"}
	g, err := sqlguard.New(sqlserver.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"SELECT * FROM sys.tables", "SELECT * FROM SYS.tables", "SELECT * FROM sysobjects", "SELECT * FROM SysObjects AS s",
		"SELECT * FROM information_schema.COLUMNS",
	} {
		if v := g.Check(sql); v.Code != sqlguard.CodeRelationNotAllowed {
			t.Errorf("%s: %q", sql, v.Code)
		}
	}
}

// TestRelations compares the relations in the facts of a statement.
func TestRelations(t *testing.T) {
	for sql, want := range map[string][]string{
		"SELECT * FROM a, b.c AS d":                                               {"a", "b.c d"},
		"SELECT * FROM a AS x JOIN b y ON 1=1 LEFT JOIN c ON 1=1":                 {"a x", "b y", "c"},
		"WITH a AS (SELECT 1 x) SELECT * FROM a":                                  nil,
		"WITH a AS (SELECT * FROM b), b AS (SELECT 1 x) SELECT * FROM a, b":       {"b"},
		"WITH a AS (SELECT 1 x UNION ALL SELECT x FROM a) SELECT * FROM a":        nil,
		"WITH a AS (SELECT 1 x) SELECT * FROM dbo.a":                              {"dbo.a"},
		"WITH a AS (SELECT 1 x) SELECT * FROM A":                                  {"A"},
		"SELECT (SELECT MAX(x) FROM e) FROM f WHERE EXISTS (SELECT 1 FROM g)":     {"e", "f", "g"},
		"SELECT * FROM (a CROSS JOIN (b CROSS JOIN c))":                           {"a", "b", "c"},
		"SELECT * FROM a PIVOT (SUM(x) FOR y IN ([z])) AS p":                      {"a"},
		"SELECT * FROM CONTAINSTABLE(docs, *, 'x') AS k":                          {"docs"},
		"SELECT * FROM STRING_SPLIT('a', ',') AS s":                               nil,
		"SELECT * FROM a FOR SYSTEM_TIME ALL AS h TABLESAMPLE (1 ROWS) (NOLOCK)":  {"a h"},
		"SELECT * FROM [a b].[c]]d]":                                              {"a b.c]d"},
		"SELECT id FROM a UNION SELECT id FROM b EXCEPT (SELECT id FROM c)":       {"a", "b", "c"},
		"SELECT * FROM a WHERE x IN (SELECT y FROM b) ORDER BY (SELECT 1 FROM c)": {"a", "b", "c"},
		"SELECT TOP (SELECT MAX(x) FROM a) y FROM b":                              {"a", "b"},
		"SELECT SUM(x) OVER (ORDER BY (SELECT 1 FROM a)) FROM b":                  {"a", "b"},
		"SELECT * FROM a CROSS APPLY (SELECT * FROM b WHERE b.x = a.x) AS c":      {"a", "b"},
		"SELECT * FROM CHANGETABLE(CHANGES dbo.a, 0) AS c":                        {"dbo.a"},
		"SELECT * FROM CHANGETABLE(VERSION a, (id), (1), FORCESEEK) AS c (x)":     {"a"},
		"SELECT t.id, s.distance FROM VECTOR_SEARCH(TABLE = a AS t, COLUMN = v, SIMILAR_TO = (SELECT v FROM b), METRIC = 'cosine', TOP_N = 5) AS s": {"a t", "b"},
		"SELECT * FROM {oj a LEFT OUTER JOIN b ON a.x = b.x}":                      {"a", "b"},
		"SELECT CASE WHEN EXISTS (SELECT 1 FROM a) THEN 1 END":                     {"a"},
		"SELECT IIF(1 = ANY (SELECT x FROM a), 1, 2)":                              {"a"},
		"SELECT 1 FROM p, q FOR PATH AS r WHERE MATCH(SHORTEST_PATH(p(-(r)->q)+))": {"p", "q r"},
	} {
		statements, err := sqlserver.Dialect{}.Analyze(sql)
		if err != nil || len(statements) != 1 {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var got []string
		for _, r := range statements[0].Relations {
			name := r.Name
			if r.Schema != "" {
				name = r.Schema + "." + name
			}
			got = append(got, strings.TrimSpace(name+" "+r.Alias))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, - want, + got:\n%s", sql, diff)
		}
	}
}

// TestColumns checks that the facts include constructs that read columns without naming
// them.
func TestColumns(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.SearchPath = []string{"dbo"}
	policy.Columns = []sqlguard.ColumnRule{{Match: "dbo.customers.email"}}
	g, err := sqlguard.New(sqlserver.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]sqlguard.Code{
		"SELECT id, name FROM customers":                                                "",
		"SELECT DATEPART(year, created_at), DATENAME(month, created_at) FROM customers": "",
		"SELECT COUNT(*) FROM customers":                                                "",
		"SELECT id AS email FROM customers":                                             "",
		"SELECT email FROM customers":                                                   sqlguard.CodeColumnNotAllowed,
		"SELECT x = EMAIL FROM customers":                                               sqlguard.CodeColumnNotAllowed,
		"SELECT c.[email] FROM dbo.customers AS c":                                      sqlguard.CodeColumnNotAllowed,
		"SELECT id FROM customers WHERE email LIKE 'a%'":                                sqlguard.CodeColumnNotAllowed,
		"SELECT id FROM customers ORDER BY email":                                       sqlguard.CodeColumnNotAllowed,
		"SELECT * FROM customers":                                                       sqlguard.CodeColumnNotAllowed,
		"SELECT c.* FROM customers c":                                                   sqlguard.CodeColumnNotAllowed,
		"SELECT CHECKSUM(*) FROM customers":                                             sqlguard.CodeColumnNotAllowed,
		"SELECT BINARY_CHECKSUM(*) FROM customers":                                      sqlguard.CodeColumnNotAllowed,
		"SELECT $IDENTITY FROM customers":                                               sqlguard.CodeColumnNotAllowed,
		"SELECT c.$IDENTITY FROM customers AS c":                                        sqlguard.CodeColumnNotAllowed,
		"SELECT c.$rowguid FROM customers AS c":                                         sqlguard.CodeColumnNotAllowed,
		"SELECT customers.ROWGUIDCOL FROM customers":                                    sqlguard.CodeColumnNotAllowed,
		"SELECT IDENTITYCOL FROM customers":                                             sqlguard.CodeColumnNotAllowed,
		"SELECT id FROM customers WHERE CONTAINS(*, 'x')":                               sqlguard.CodeColumnNotAllowed,
		"SELECT id FROM customers WHERE FREETEXT((name, email), 'x')":                   sqlguard.CodeColumnNotAllowed,
		"SELECT [KEY] FROM CONTAINSTABLE(customers, *, 'x') AS k":                       sqlguard.CodeColumnNotAllowed,
		"SELECT [KEY] FROM FREETEXTTABLE(customers, email, 'x') AS k":                   sqlguard.CodeColumnNotAllowed,
		"SELECT x.query('sql:column(\"email\")') FROM customers":                        sqlguard.CodeColumnNotAllowed,
		"SELECT v FROM customers UNPIVOT (v FOR n IN (name, email)) AS u":               sqlguard.CodeColumnNotAllowed,
		"SELECT a FROM customers PIVOT (MAX(email) FOR id IN ([1])) AS p":               sqlguard.CodeColumnNotAllowed,
		"SELECT c.id FROM CHANGETABLE(CHANGES customers, 0) AS c":                       sqlguard.CodeColumnNotAllowed,
		"SELECT s.distance FROM VECTOR_SEARCH(TABLE = customers AS t, COLUMN = email, SIMILAR_TO = 'x', METRIC = 'cosine') AS s": sqlguard.CodeColumnNotAllowed,
		"SELECT id FROM customers FOR BROWSE":                                               sqlguard.CodeColumnNotAllowed,
		"SELECT SUM(id) OVER (PARTITION BY email) FROM customers":                           sqlguard.CodeColumnNotAllowed,
		"SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY email) FROM customers":         sqlguard.CodeColumnNotAllowed,
		"SELECT (SELECT TOP 1 c.email FROM customers AS c)":                                 sqlguard.CodeColumnNotAllowed,
		"WITH x AS (SELECT email AS a FROM customers) SELECT a FROM x":                      sqlguard.CodeColumnNotAllowed,
		"SELECT email.value('.', 'int') FROM customers":                                     sqlguard.CodeColumnNotAllowed,
		"SELECT n.c.value('.', 'int') FROM customers CROSS APPLY email.nodes('/a') AS n(c)": sqlguard.CodeColumnNotAllowed,
		"SELECT {fn UCASE(email)} FROM customers":                                           sqlguard.CodeColumnNotAllowed,
		"SELECT JSON_OBJECT('a':email) FROM customers":                                      sqlguard.CodeColumnNotAllowed,
		"SELECT id FROM customers GROUP BY ROLLUP(id, email)":                               sqlguard.CodeColumnNotAllowed,
	} {
		if v := g.Check(sql); v.Code != want {
			t.Errorf("%s: %q, want %q: %v", sql, v.Code, want, v.Findings)
		}
	}
}

// TestDisguisedWords checks that a word is not read as a name if some parsers fold its
// letters to those of a keyword.
func TestDisguisedWords(t *testing.T) {
	g := newGuard(t)
	for _, sql := range []string{
		"SELECT 1 ＤＲＯＰ", "SELECT 1 ſhutdown", "SELECT a ıNTO FROM t", "SELECT a FROM t KİLL", "SELECT 1 ＥＸＥＣ", "SELECT ｆｒｏｍ FROM t",
	} {
		if v := g.Check(sql); v.Code != sqlguard.CodeParseError {
			t.Errorf("%s: %q", sql, v.Code)
		}
	}
	for _, sql := range []string{"SELECT 1 [ＤＲＯＰ]", "SELECT prénom, größe, 目次 FROM システム", "SELECT 1 AS ＡＢ", "SELECT N'ＤＲＯＰ'"} {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %v", sql, v.Findings)
		}
	}
}
