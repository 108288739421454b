package mssqldb_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// object is a row of sys.objects, with the text of its module or the target of a synonym.
type object struct {
	schema     int64 // 1 is dbo, 5 hr
	name, kind string
	text       any
	columns    []string
	unquoted   bool  // made with QUOTED_IDENTIFIER OFF
	runs       int64 // as this principal
}

var shopObjects = []object{
	{1, "users", "U ", nil, []string{"id", "email", "status", "domain", "size"}, false, 0},
	{1, "orders", "U ", nil, []string{"id", "user_id", "total"}, false, 0},
	{5, "pay", "U ", nil, []string{"id", "amount"}, false, 0},
	{1, "addresses", "V ", "/* as */ CREATE VIEW [dbo].[addresses] (a, b) WITH SCHEMABINDING AS SELECT id, email FROM dbo.users", []string{"a", "b"}, false, 0},
	{1, "ids", "V ", "create view ids as select id, status from users with check option;", []string{"id", "status"}, false, 0},
	{5, "salaries", "V ", "CREATE VIEW hr.salaries AS SELECT amount FROM pay", []string{"amount"}, false, 0},
	{5, "people", "V ", "CREATE VIEW hr.people AS WITH x AS (SELECT id FROM users) SELECT id FROM x", []string{"id"}, false, 0},
	{1, "stars", "V ", "CREATE VIEW stars AS SELECT * FROM users", []string{"id"}, false, 0},
	{1, "hidden", "V ", nil, []string{"id"}, false, 0},
	{1, "old", "V ", `CREATE VIEW old AS SELECT id, "email" AS e FROM users`, []string{"id"}, true, 0},
	{1, "over", "V ", "CREATE VIEW over_old_name AS SELECT a FROM addresses", []string{"a"}, false, 0},
	{1, "far", "V ", "CREATE VIEW far AS SELECT * FROM other.dbo.t", []string{"a"}, false, 0},
	{1, "asks", "V ", "CREATE VIEW asks AS SELECT dbo.twice(id) AS t FROM dbo.orders", []string{"t"}, false, 0},
	{1, "asks_unlisted", "V ", "CREATE VIEW asks_unlisted AS SELECT dbo.unlisted(id) AS t FROM dbo.orders", []string{"t"}, false, 0},
	{1, "clients", "SN", "[dbo].[users]", nil, false, 0},
	{1, "sales", "SN", "[shop].[dbo].[orders]", nil, false, 0},
	{1, "loop", "SN", "[dbo].[loop]", nil, false, 0},
	{1, "linked", "SN", "[server].[shop].[dbo].[orders]", nil, false, 0},
	{1, "wages", "SN", "[hr].[pay]", nil, false, 0},
	{1, "files", "ET", nil, []string{"line"}, false, 0},
	{1, "twice", "FN", "CREATE FUNCTION dbo.twice(@n int) RETURNS int AS BEGIN RETURN @n * 2; END", nil, false, 0},
	{1, "status_of", "FN", "CREATE FUNCTION status_of (@id int) RETURNS nvarchar(9) WITH SCHEMABINDING BEGIN RETURN (SELECT status FROM dbo.users WHERE id=@id) END", nil, false, 0},
	{1, "peek", "FN", "CREATE FUNCTION peek (@id int) RETURNS nvarchar(9) AS BEGIN RETURN (SELECT email FROM dbo.users WHERE id = @id) END", nil, false, 0},
	{1, "steps", "FN", "CREATE FUNCTION steps (@id int) RETURNS int AS BEGIN DECLARE @x int = 1; RETURN @x END", nil, false, 0},
	{1, "owners", "FN", "CREATE FUNCTION owners (@id int) RETURNS int WITH EXECUTE AS OWNER AS BEGIN RETURN 1 END", nil, false, 1},
	{1, "unlisted", "FN", "CREATE FUNCTION unlisted (@id int) RETURNS int AS BEGIN RETURN 1 END", nil, false, 0},
	{1, "code", "FS", nil, nil, false, 0},
	{1, "of_user", "IF", "CREATE FUNCTION of_user (@id int) RETURNS TABLE AS RETURN (SELECT total FROM dbo.orders WHERE user_id = @id)", nil, false, 0},
	{1, "mails", "IF", "CREATE FUNCTION mails () RETURNS TABLE AS RETURN SELECT email FROM dbo.users", nil, false, 0},
}

// shop is a stand-in with those objects.
func shop(t *testing.T, folds bool) *tdsserver.Server {
	t.Helper()
	s := executiontest.StandIn(t, tdsserver.Config{})
	name, long := tdsserver.NVarChar(128), tdsserver.NVarChar(1000)
	table := func(rows [][]any, columns ...tdsserver.Column) tdsserver.Table {
		return tdsserver.Table{Columns: columns, Rows: rows}
	}
	id := func(name string) tdsserver.Column { return tdsserver.Column{Name: name, Type: tdsserver.Int} }
	var objects, columns, modules, synonyms [][]any
	for i, o := range shopObjects {
		at := int64(100 + i)
		objects = append(objects, []any{o.name, at, nil, o.schema, int64(0), o.kind, "", false})
		for n, c := range o.columns {
			columns = append(columns, []any{at, c, int64(n + 1)})
		}
		if o.kind == "SN" {
			synonyms = append(synonyms, []any{at, o.text})
		} else if o.kind != "U " {
			modules = append(modules, []any{at, o.text, !o.unquoted, o.runs})
		}
	}
	s.SetTable("sys.schemas", table([][]any{{"dbo", int64(1), int64(1)}, {"sys", int64(4), int64(4)}, {"hr", int64(5), int64(1)}},
		tdsserver.Column{Name: "name", Type: name}, id("schema_id"), id("principal_id")))
	s.SetTable("sys.objects", table(objects, tdsserver.Column{Name: "name", Type: name}, id("object_id"), id("principal_id"), id("schema_id"), id("parent_object_id"),
		tdsserver.Column{Name: "type", Type: tdsserver.Char(2)}, tdsserver.Column{Name: "type_desc", Type: name}, tdsserver.Column{Name: "is_ms_shipped", Type: tdsserver.Bit}))
	s.SetTable("sys.columns", table(columns, id("object_id"), tdsserver.Column{Name: "name", Type: name}, id("column_id")))
	s.SetTable("sys.sql_modules", table(modules, id("object_id"), tdsserver.Column{Name: "definition", Type: long},
		tdsserver.Column{Name: "uses_quoted_identifier", Type: tdsserver.Bit}, id("execute_as_principal_id")))
	s.SetTable("sys.synonyms", table(synonyms, id("object_id"), tdsserver.Column{Name: "base_object_name", Type: long}))
	s.SetTable("sys.computed_columns", table([][]any{
		{int64(100), "domain", int64(4), "(substring([email],charindex('@',[email]),(50)))"},
		{int64(100), "size", int64(5), "(len([domain]))"},
	}, id("object_id"), tdsserver.Column{Name: "name", Type: name}, id("column_id"), tdsserver.Column{Name: "definition", Type: long}))
	if !folds {
		s.On("SELECT CASE WHEN N'a' = N'A' THEN 1 ELSE 0 END AS folds", func(r *tdsserver.Reply) error {
			if err := r.Columns(id("folds")); err != nil {
				return err
			}
			return r.Row(int64(0))
		})
	}
	return s
}

const (
	refusedColumn   = sqlguard.CodeColumnNotAllowed
	refusedTable    = sqlguard.CodeRelationNotAllowed
	refusedFunction = sqlguard.CodeFunctionNotAllowed
	unknownObject   = sqlguard.CodeUnresolvedObject
	elsewhere       = sqlguard.CodeExternalRelation
)

// TestTheCatalogueJudgesViewsAndSynonyms: the stand-in answers with rows of the catalogue
// views as SQL Server's manual describes them. It does not prove that SQL Server gives
// these rows.
func TestTheCatalogueJudgesViewsAndSynonyms(t *testing.T) {
	t.Parallel()
	for _, objects := range []bool{false, true} {
		s := shop(t, true)
		c := open(t, trusted(s), mssqldb.Config{Session: sqlserver.Dialect{}.Session(), Objects: objects})
		catalog, err := c.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again, err := c.Catalog(t.Context()); err != nil || again != catalog {
			t.Errorf("another catalogue although nothing changed: %v", err)
		}
		policy := sqlguard.DefaultPolicy()
		policy.Columns = []sqlguard.ColumnRule{{Match: "dbo.users.Email"}}
		policy.Tables.Deny = []string{"hr.pay"}
		for _, f := range []string{"twice", "status_of", "peek", "steps", "owners", "code", "of_user", "mails"} {
			policy.Functions.Allow = append(policy.Functions.Allow, "dbo."+f)
		}
		g, err := sqlguard.New(sqlserver.Dialect{}, policy, catalog)
		if err != nil {
			t.Fatal(err)
		}
		cases := map[string]sqlguard.Code{
			"SELECT id FROM users":         "",
			"SELECT email FROM dbo.users":  refusedColumn,
			"SELECT * FROM users":          refusedColumn,
			"SELECT domain FROM users":     refusedColumn,
			"SELECT [Size] FROM dbo.Users": refusedColumn,
			"SELECT amount FROM hr.pay":    refusedTable,
		}
		if objects {
			maps.Copy(cases, map[string]sqlguard.Code{
				"SELECT id FROM [USERS]":                            "",
				"SELECT total FROM orders":                          "",
				"SELECT * FROM shop.dbo.orders":                     "",
				"SELECT a FROM addresses":                           refusedColumn,
				"SELECT a FROM OVER_":                               unknownObject,
				"SELECT a FROM [over]":                              refusedColumn,
				"SELECT id, status FROM ids":                        "",
				"SELECT * FROM ids JOIN orders ON 1 = 1":            "",
				"SELECT amount FROM hr.salaries":                    refusedTable,
				"SELECT id FROM hr.people":                          "",
				"SELECT id FROM people":                             unknownObject,
				"SELECT id FROM stars":                              refusedColumn,
				"SELECT id FROM hidden":                             refusedTable,
				"SELECT id FROM old":                                refusedTable,
				"SELECT a FROM far":                                 elsewhere,
				"SELECT t FROM asks":                                "",
				"SELECT t FROM asks_unlisted":                       refusedFunction,
				"SELECT id FROM clients":                            "",
				"SELECT email FROM clients":                         refusedColumn,
				"SELECT c.* FROM clients AS c":                      refusedColumn,
				"SELECT total FROM sales":                           "",
				"SELECT total FROM linked":                          elsewhere,
				"SELECT total FROM loop":                            elsewhere,
				"SELECT amount FROM wages":                          refusedTable,
				"SELECT line FROM files":                            elsewhere,
				"SELECT 1 FROM nothing":                             unknownObject,
				"SELECT dbo.twice(2)":                               "",
				"SELECT DBO.Twice(total) FROM orders":               "",
				"SELECT dbo.status_of(1)":                           "",
				"SELECT dbo.peek(1)":                                refusedFunction,
				"SELECT dbo.steps(1)":                               refusedFunction,
				"SELECT dbo.owners(1)":                              refusedFunction,
				"SELECT dbo.unlisted(1)":                            refusedFunction,
				"SELECT dbo.code(1)":                                refusedFunction,
				"SELECT dbo.nothing(1)":                             unknownObject,
				"SELECT total FROM dbo.of_user(1) AS o":             "",
				"SELECT email FROM dbo.mails() AS m":                refusedFunction,
				"SELECT COUNT(*), MAX(total) FROM orders":           "",
				"SELECT name FROM sys.objects":                      "",
				"SELECT total FROM elsewhere.dbo.orders":            elsewhere,
				"WITH users AS (SELECT 1 AS a) SELECT a FROM users": "",
			})
		}
		for sql, want := range cases {
			v := g.Check(sql)
			codes := []sqlguard.Code{}
			for _, f := range v.Findings {
				codes = append(codes, f.Code)
			}
			if (want == "") != v.Allowed || want != "" && !slices.Contains(codes, want) {
				t.Errorf("objects %v: %s: %q %+v, want %q", objects, sql, v.Code, v.Findings, want)
			}
		}
	}
}

// TestNamesThatDifferInCase: under a collation that tells letters from capitals, a name in
// other letters is another name.
func TestNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	s := shop(t, false)
	c := open(t, trusted(s), mssqldb.Config{Session: sqlserver.Dialect{}.Session(), Objects: true})
	catalog, err := c.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g, err := sqlguard.New(sqlserver.Dialect{}, sqlguard.DefaultPolicy(), catalog)
	if err != nil {
		t.Fatal(err)
	}
	if v := g.Check("SELECT id FROM Users"); v.Code != unknownObject {
		t.Errorf("%+v", v)
	}
	if v := g.Check("SELECT id FROM users"); !v.Allowed {
		t.Errorf("%+v", v)
	}
}

// TestInventory lists what rules can name.
func TestInventory(t *testing.T) {
	t.Parallel()
	s := shop(t, true)
	in, err := open(t, trusted(s), mssqldb.Config{Session: sqlserver.Dialect{}.Session()}).Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	policy := sqlguard.DefaultPolicy()
	policy.Tables.Deny, policy.Columns = []string{"hr.pays", "dbo.clients"}, []sqlguard.ColumnRule{{Match: "dbo.users.mail"}, {Match: "dbo.orders.total"}}
	policy.Functions.Allow = []string{"dbo.twice", "dbo.trice"}
	unmatched := sqlguard.Unmatched(sqlserver.Dialect{}, policy, in)
	var near []string
	for _, u := range unmatched {
		near = append(near, u.Near)
	}
	if !slices.Equal(near, []string{"dbo.twice", "hr.pay", "dbo.users.email"}) || !slices.Contains(in.Schemas, "hr") {
		t.Errorf("%+v of %+v", unmatched, in)
	}
}

// TestProbeComparesRulesAndRights: what the role may read beyond the rules is a warning, and
// the script grants what the rules permit. The stand-in does not prove what SQL Server's
// HAS_PERMS_BY_NAME says, nor what the script does there.
func TestProbeComparesRulesAndRights(t *testing.T) {
	t.Parallel()
	s := shop(t, true)
	policy := sqlguard.DefaultPolicy()
	policy.Columns = []sqlguard.ColumnRule{{Match: "dbo.users.email"}}
	policy.Tables.Deny = []string{"hr.pay"}
	c := open(t, trusted(s), mssqldb.Config{Session: sqlserver.Dialect{}.Session(), Access: sqlguard.ReadRulesOf(sqlserver.Dialect{}, policy)})
	report, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range report.Findings {
		if f.Topic == execution.TopicAccess {
			found = append(found, f.Message)
		}
	}
	got := strings.Join(found, "\n")
	for _, want := range []string{"do not permit: hr.pay", "dbo.users (email, domain, size)", "tables and views that lead or may lead around a rule of this connection: dbo.addresses ("} {
		if !strings.Contains(got, want) {
			t.Errorf("the findings lack %q:\n%s", want, got)
		}
	}
	for want, there := range map[string]bool{
		"\nGRANT SELECT ON OBJECT::[dbo].[users] ([id], [status]) TO ktx_reader;\n": true,
		"\nGRANT SELECT ON OBJECT::[dbo].[orders] TO ktx_reader;\n":                 true,
		"\nGRANT SELECT ON OBJECT::[dbo].[ids] TO ktx_reader;\n":                    true,
		"\nGRANT VIEW DEFINITION ON OBJECT::[dbo].[ids] TO ktx_reader;\n":           true,
		"[dbo].[addresses]": false, "[hr].[pay]": false, "[hr].[salaries]": false, "ON SCHEMA::": false, "REVOKE": false,
	} {
		if strings.Contains(report.RoleScript, want) != there {
			t.Errorf("%q, there %v:\n%s", want, there, report.RoleScript)
		}
	}
}
