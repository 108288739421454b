package mysqldb_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// gateway is a gateway over one database.
type gateway struct{ *execution.Gateway }

func openGateway(t *testing.T, url string, objects bool, change func(*sqlguard.Policy)) *gateway {
	t.Helper()
	return openNamed(t, "shop", url, objects, change)
}

func openNamed(t *testing.T, id, url string, objects bool, change func(*sqlguard.Policy)) *gateway {
	t.Helper()
	c := execution.Connection{
		ID: id, Engine: "MYSQL", Dialect: mysql.Dialect{}, Policy: sqlguard.DefaultPolicy(), Objects: objects,
		Refresh: execution.Refresh{Every: time.Hour, Keep: 2 * time.Hour, Retry: time.Nanosecond},
	}
	change(&c.Policy)
	c.Open = func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
		return mysqldb.Open(ctx, mysqldb.Config{
			URL: execution.NewSecret(url), Session: mysql.Dialect{}.Session(), Databases: c.Policy.Databases, Objects: objects,
		}, guard)
	}
	g, err := execution.NewGateway(t.Context(), &audittest.Log{}, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &gateway{g}
}

// ask returns the code with which a statement ended, and the error.
func (g *gateway) ask(t *testing.T, sql string) (sqlguard.Code, error) {
	t.Helper()
	_, err := g.Query(t.Context(), execution.Request{ConnectionID: "shop", SQL: sql})
	return execution.CodeOf(err), err
}

// expect runs statements. Each value is the code of the refusal, "" when it runs.
func (g *gateway) expect(t *testing.T, statements map[string]sqlguard.Code) {
	t.Helper()
	for sql, want := range statements {
		if code, err := g.ask(t, sql); code != want {
			t.Errorf("%s: %q, want %q: %v", sql, code, want, err)
		}
	}
}

// viewOfMany has many forms that the servers print in their own way.
const viewOfMany = `CREATE VIEW forms AS SELECT u.id, COUNT(*) c, SUM(total) s, MAX(IF(o.total > 10, 'a', 'b\\\'c')) m, DATE_ADD(o.created, INTERVAL 1 DAY) x,
	CAST(total AS CHAR) cc, CAST(total AS SIGNED) ss, CAST(total AS DECIMAL(10,2)) dc, EXTRACT(YEAR FROM o.created) y, o.created BETWEEN '2020-01-01' AND NOW() bt,
	CONCAT(u.id, 'ü') ct, (SELECT MAX(total) FROM orders) mx, CASE WHEN total > 1 THEN 'x' ELSE 'y' END cs,
	GROUP_CONCAT(DISTINCT o.total ORDER BY o.total DESC SEPARATOR ';') gc, u.id IS NOT NULL inn, TRIM(BOTH 'x' FROM 'axa') tr, LEFT('a', 1) le, CONVERT('a' USING latin1) cv,
	POSITION('a' IN 'b') po, u.id IN (1, 2, 3) ini, EXISTS(SELECT 1 FROM users) ex, NOT (u.id = 1) nt, u.id XOR 1 xo, u.id REGEXP 'a' re, u.id LIKE 'a%' li
	FROM orders o JOIN users u ON o.user_id = u.id LEFT JOIN users z ON z.id = o.id GROUP BY u.id, o.id, o.created, o.total HAVING c > 1 ORDER BY c LIMIT 5`

const viewOfForms = `CREATE VIEW more_forms AS SELECT JSON_EXTRACT(j, '$.a') a, TIMESTAMPDIFF(DAY, created, NOW()) td, DATE_FORMAT(created, '%Y') df, WEEKDAY(created) w,
	CAST(status AS BINARY) b, YEAR(created) yy, IFNULL(status, '') n, COALESCE(status, id) co, id DIV 2 d, id MOD 2 m, -id neg, ~id inv, id & 3 an, id <=> 2 se, DATE '2020-01-01' dl,
	x'41' hx, b'01' bi, TRUE t, NULL nu, 1e3 fl, 1.5 de, CURRENT_DATE cd, CURRENT_TIMESTAMP(3) ct, UTC_DATE ud, SUBSTRING(status FROM 2 FOR 3) sb, INTERVAL(1, 2, 3) iv, GREATEST(1, 2) gr,
	status RLIKE 'x' rl, SOUNDEX(status) sx, ROW_NUMBER() OVER (PARTITION BY status ORDER BY id) rn FROM users`

var shopObjects = []string{
	`CREATE TABLE users (id int PRIMARY KEY, email varchar(100), status varchar(10), created datetime, j json,
		domain varchar(50) AS (substring_index(email, '@', -1)) STORED, size int AS (char_length(domain)) VIRTUAL)`,
	`INSERT INTO users (id, email, status) VALUES (1, 'a@example.org', 'paid')`,
	`CREATE TABLE orders (id int PRIMARY KEY, user_id int, total decimal(10,2), created date)`,
	`CREATE TABLE secrets (k varchar(50), v varchar(50))`,
	`CREATE VIEW addresses AS SELECT id, email FROM users`,
	`CREATE VIEW renamed AS SELECT id, email AS e FROM users`,
	`CREATE VIEW over_renamed AS SELECT e FROM renamed`,
	`CREATE VIEW ids AS SELECT id, status FROM users`,
	`CREATE VIEW domains AS SELECT domain FROM users`,
	`CREATE VIEW keys_only AS SELECT k FROM secrets`,
	`CREATE VIEW chained AS WITH x AS (SELECT id FROM users), y AS (SELECT * FROM x) SELECT * FROM y UNION ALL SELECT id FROM orders`,
	viewOfMany, viewOfForms,
	`CREATE FUNCTION twice(n int) RETURNS int DETERMINISTIC NO SQL SQL SECURITY INVOKER RETURN n * 2`,
	`CREATE FUNCTION Peek(n int) RETURNS varchar(100) DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER RETURN (SELECT email FROM users WHERE id = n)`,
	`CREATE FUNCTION status_of(n int) RETURNS varchar(100) DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER RETURN (SELECT status FROM users WHERE id = n)`,
	`CREATE FUNCTION of_owner(n int) RETURNS int DETERMINISTIC NO SQL RETURN n`,
	`CREATE FUNCTION blocks(n int) RETURNS int DETERMINISTIC NO SQL SQL SECURITY INVOKER BEGIN DECLARE x int DEFAULT 1; RETURN n; END`,
	`CREATE FUNCTION unlisted(n int) RETURNS int DETERMINISTIC NO SQL SQL SECURITY INVOKER RETURN n`,
	`CREATE FUNCTION deep(n int) RETURNS int DETERMINISTIC NO SQL SQL SECURITY INVOKER RETURN blocks(n)`,
	`CREATE VIEW calls AS SELECT twice(id) AS t FROM orders`,
	`CREATE VIEW calls_unlisted AS SELECT unlisted(id) AS t FROM orders`,
	`CREATE TRIGGER t BEFORE INSERT ON orders FOR EACH ROW SET NEW.total = NEW.total + 1`,
}

const refusedColumn, refusedTable, unknownObject, refusedFunction = sqlguard.CodeColumnNotAllowed, sqlguard.CodeRelationNotAllowed, sqlguard.CodeUnresolvedObject, sqlguard.CodeFunctionNotAllowed

// TestTheCatalogueJudgesViewsAndFunctions runs statements through the whole gateway.
func TestTheCatalogueJudgesViewsAndFunctions(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, shopObjects...)
	database := strings.TrimPrefix(mustPath(t, url), "/")
	g := openGateway(t, url, true, func(p *sqlguard.Policy) {
		for _, f := range []string{"twice", "peek", "status_of", "of_owner", "blocks", "deep"} {
			p.Functions.Allow = append(p.Functions.Allow, database+"."+f)
		}
		p.Columns = []sqlguard.ColumnRule{{Match: database + ".users.email"}}
		p.Tables.Deny = []string{database + ".secrets"}
	})
	g.expect(t, map[string]sqlguard.Code{
		"SELECT id FROM users":                                     "",
		"SELECT email FROM users":                                  refusedColumn,
		"SELECT * FROM users":                                      refusedColumn,
		"SELECT domain FROM users":                                 refusedColumn,
		"SELECT size FROM users":                                   refusedColumn,
		"SELECT id FROM addresses":                                 refusedColumn, // the view reads the column, whichever of its columns are selected
		"SELECT e FROM renamed":                                    refusedColumn,
		"SELECT * FROM over_renamed":                               refusedColumn,
		"SELECT * FROM domains":                                    refusedColumn,
		"SELECT * FROM ids":                                        "",
		"SELECT * FROM " + database + ".ids":                       "",
		"SELECT * FROM orders":                                     "",
		"SELECT o.id FROM orders o JOIN ids i ON i.id = o.user_id": "",
		"SELECT * FROM chained":                                    "",
		"SELECT c FROM forms":                                      "",
		"SELECT td FROM more_forms":                                "",
		"SELECT * FROM secrets":                                    refusedTable,
		"SELECT k FROM keys_only":                                  refusedTable,
		"SELECT * FROM nothing":                                    unknownObject,
		"SELECT twice(2)":                                          "",
		"SELECT " + database + ".twice(2)":                         "",
		"SELECT TWICE(id) FROM orders":                             "",
		"SELECT twice(1, 2)":                                       unknownObject,
		"SELECT nothing(2)":                                        unknownObject,
		"SELECT peek(1)":                                           refusedFunction,
		"SELECT status_of(1)":                                      "",
		"SELECT of_owner(1)":                                       refusedFunction,
		"SELECT blocks(1)":                                         refusedFunction,
		"SELECT unlisted(1)":                                       refusedFunction,
		"SELECT deep(1)":                                           refusedFunction,
		"SELECT * FROM calls":                                      "",
		"SELECT * FROM calls_unlisted":                             refusedFunction,
		"SHOW TABLES":                                              "",
		"SHOW TABLES FROM " + database:                             "",
		"SHOW CREATE TABLE orders":                                 "",
		"SHOW CREATE TABLE ids":                                    sqlguard.CodeStatementNotAllowed,
		"SHOW CREATE TABLE " + database + ".`ids`":                 sqlguard.CodeStatementNotAllowed,
		"SHOW COLUMNS FROM ids":                                    "",
		"DESCRIBE addresses":                                       refusedColumn,
		"SELECT table_name FROM information_schema.tables":         "",
		"SELECT view_definition FROM information_schema.views":     refusedColumn,
		"EXPLAIN SELECT id FROM ids":                               "",
		"SELECT COUNT(*), MAX(total), NOW(), UUID() FROM orders LIMIT 10": "",
		"WITH x AS (SELECT id FROM users) SELECT id FROM x":               "",
		"SELECT * FROM mysql.user":                                        sqlguard.CodeCredentialRelation,
	})
	info, err := g.Connection(t.Context(), "shop")
	if err != nil || !info.Catalog.Objects || info.Catalog.Count < 18 || info.Catalog.Failure != "" {
		t.Errorf("%+v, %v", info.Catalog, err)
	}
}

// TestTheCatalogueIsReadAgain: an object that was made after the catalogue was read is
// found, and a view that another one replaced is judged by what it reads now.
func TestTheCatalogueIsReadAgain(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, shopObjects[:6]...)
	database := strings.TrimPrefix(mustPath(t, url), "/")
	g := openGateway(t, url, true, func(p *sqlguard.Policy) {
		p.Columns = []sqlguard.ColumnRule{{Match: database + ".users.email"}}
	})
	g.expect(t, map[string]sqlguard.Code{"SELECT id FROM addresses": refusedColumn, "SELECT * FROM later": unknownObject})
	server.Admin(t, "CREATE VIEW "+database+".later AS SELECT id FROM "+database+".users", "CREATE OR REPLACE VIEW "+database+".addresses AS SELECT id FROM "+database+".users")
	executiontest.Eventually(t, "the new view", func() bool {
		code, _ := g.ask(t, "SELECT * FROM later")
		return code == ""
	})
	g.expect(t, map[string]sqlguard.Code{"SELECT id FROM addresses": ""})
}

// TestAnAccountThatMayNotSeeDefinitions: a view whose text or whose tables the server hides
// from the account is refused.
func TestAnAccountThatMayNotSeeDefinitions(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, shopObjects...)
	database := strings.TrimPrefix(mustPath(t, url), "/")
	user := server.NewUser(t, "SELECT ON "+database+".*")
	g := openGateway(t, server.URL(database, user), true, func(*sqlguard.Policy) {})
	g.expect(t, map[string]sqlguard.Code{"SELECT id FROM users": "", "SELECT * FROM ids": refusedTable})
	user = server.NewUser(t, "SELECT, SHOW VIEW ON "+database+".ids", "SELECT ON "+database+".orders")
	g = openGateway(t, server.URL(database, user), true, func(*sqlguard.Policy) {})
	g.expect(t, map[string]sqlguard.Code{"SELECT id FROM orders": "", "SELECT * FROM ids": unknownObject, "SELECT id FROM users": unknownObject})
}

// TestWithoutObjects: the guard knows generated columns and views also without the key.
func TestWithoutObjects(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, shopObjects...)
	database := strings.TrimPrefix(mustPath(t, url), "/")
	g := openGateway(t, url, false, func(p *sqlguard.Policy) {
		p.Columns = []sqlguard.ColumnRule{{Match: database + ".users.email"}}
	})
	g.expect(t, map[string]sqlguard.Code{
		"SELECT id FROM users":     "",
		"SELECT domain FROM users": refusedColumn,
		"SELECT size FROM users":   refusedColumn,
		"SHOW CREATE TABLE ids":    sqlguard.CodeStatementNotAllowed,
	})
	g = openGateway(t, url, false, func(*sqlguard.Policy) {})
	g.expect(t, map[string]sqlguard.Code{
		"SHOW CREATE TABLE orders":                 "",
		"SHOW CREATE TABLE ids":                    sqlguard.CodeStatementNotAllowed,
		"SHOW CREATE TABLE " + database + ".ids":   sqlguard.CodeStatementNotAllowed,
		"SHOW CREATE TABLE " + database + ".users": "",
	})
}

// TestDefinitionsWithACatalog: with the group, the text of a routine, a trigger, an event and a
// view may be read with a catalogue as without one.
func TestDefinitionsWithACatalog(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, append(slices.Clone(shopObjects), "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DISABLE DO DELETE FROM orders")...)
	database := strings.TrimPrefix(mustPath(t, url), "/")
	texts := []string{
		"SHOW CREATE TRIGGER t", "SHOW CREATE TRIGGER " + database + ".t", "SHOW CREATE EVENT e", "SHOW CREATE EVENT " + database + ".e",
		"SHOW CREATE FUNCTION twice", "SHOW CREATE VIEW ids", "SHOW CREATE TABLE ids", "SHOW TRIGGERS",
	}
	for _, objects := range []bool{true, false} {
		admitted, refused := map[string]sqlguard.Code{}, map[string]sqlguard.Code{}
		for _, sql := range texts {
			admitted[sql], refused[sql] = "", sqlguard.CodeStatementNotAllowed
		}
		openGateway(t, url, objects, func(p *sqlguard.Policy) { p.Reveal = sqlguard.Groups() }).expect(t, admitted)
		openGateway(t, url, objects, func(*sqlguard.Policy) {}).expect(t, refused)
	}
}

// TestInventory lists what rules can name.
func TestInventory(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, shopObjects...)
	database := strings.TrimPrefix(mustPath(t, url), "/")
	in, err := open(t, url, mysqldb.Config{}).Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(in.Schemas, database) {
		t.Errorf("schemas %q", in.Schemas)
	}
	i := slices.IndexFunc(in.Relations, func(r sqlguard.InventoryRelation) bool {
		return r.CatalogName == sqlguard.CatalogName{Schema: database, Name: "addresses"}
	})
	if i < 0 || !slices.Equal(in.Relations[i].Columns, []string{"id", "email"}) {
		t.Errorf("relations %+v", in.Relations)
	}
	if !slices.Contains(in.Functions, sqlguard.CatalogName{Schema: database, Name: "peek"}) {
		t.Errorf("functions %+v", in.Functions)
	}
	g := openGateway(t, url, true, func(p *sqlguard.Policy) {
		p.Tables.Deny = []string{database + ".secret", database + ".orders"}
		p.Columns = []sqlguard.ColumnRule{{Match: database + ".users.mail"}}
	})
	unmatched, err := g.Unmatched(t.Context(), "shop")
	if err != nil || len(unmatched) != 2 || unmatched[0].Near != database+".secrets" || unmatched[1].Near != database+".users.email" {
		t.Errorf("%+v, %v", unmatched, err)
	}
}

// TestNamesThatDifferInCase: the catalogue of tables whose names differ in case only does
// not change from one reading to the next, and has the generated columns of each.
func TestNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	const columns = " (id int, email varchar(40), low varchar(40) AS (lower(email)) STORED)"
	url := server.NewDatabase(t, "CREATE TABLE people"+columns, "CREATE TABLE People"+columns, "CREATE TABLE PEOPLE"+columns)
	for _, objects := range []bool{false, true} {
		db := open(t, url, mysqldb.Config{Session: mysql.Dialect{}.Session(), Objects: objects})
		var before *sqlguard.Catalog
		for range 20 { // the servers return equal names in any order
			c, err := db.Catalog(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Derived) != 3 || before != nil && c != before {
				t.Fatalf("objects %t: derived columns %v, and the catalogue is another one", objects, c.Derived)
			}
			before = c
		}
	}
}
