package sqlitedb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

const accessSchema = `
	CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, secret TEXT);
	INSERT INTO people VALUES (4711, 'Ann', 'hush'), (4712, 'Bob', 'mum');
	CREATE TABLE api_keys (owner TEXT, key TEXT);
	INSERT INTO api_keys VALUES ('Ann', 'hush');
	CREATE VIEW names AS SELECT name FROM people;
	CREATE VIEW secrets AS SELECT name, secret FROM people;
	CREATE VIEW keys AS SELECT * FROM api_keys;
	CREATE VIEW deep AS SELECT count(*) AS n FROM keys;
	CREATE VIRTUAL TABLE docs USING fts5(title, body);
	INSERT INTO docs VALUES ('2 plain title', 'hush words');
	CREATE VIRTUAL TABLE free USING fts5(title, body);
	INSERT INTO free VALUES ('open', 'free words');
	CREATE VIRTUAL TABLE found USING fts5(name, secret, content='people', content_rowid='id');
	INSERT INTO found(found) VALUES ('rebuild');
	CREATE VIRTUAL TABLE seen USING fts5(name, secret, content=[secrets]);
	CREATE VIRTUAL TABLE words USING fts5vocab(docs, 'row');
	CREATE VIRTUAL TABLE free_words USING fts5vocab(free, 'row');`

// What a rule denies cannot be read by any way that the engine knows, and what no
// rule denies can.
func TestAccess(t *testing.T) {
	path := testdb.SQLiteFile(t, accessSchema)
	policy := sqlguard.DefaultPolicy()
	policy.Tables.Deny = []string{"main.API_keys"}
	policy.Columns = []sqlguard.ColumnRule{{Match: "main.people.secret"}, {Match: "main.People.ID"}, {Match: "main.docs.body"}}
	c := openWith(t, path, policy)
	for sql, want := range map[string]string{
		"SELECT name FROM people":                                 "",
		"SELECT count(*) FROM people":                             "",
		"SELECT * FROM names":                                     "",
		"WITH api_keys AS (SELECT 1 AS x) SELECT x FROM api_keys": "",
		"SELECT title FROM docs":                                  "",
		"SELECT title FROM docs WHERE title MATCH 'plain'":        "",
		"SELECT highlight(free, 1, '<', '>') FROM free WHERE free MATCH 'words' ORDER BY rank": "",
		"SELECT bm25(f.free) FROM free AS f WHERE f.free MATCH 'body : words'":                 "",
		"SELECT count(*) FROM free_words":                                                      "",
		"SELECT count(*) FROM free_content":                                                    "",
		"SELECT name FROM found":                                                               "",
		"SELECT name FROM found WHERE name MATCH 'Ann'":                                        "",
		"SELECT count(*) FROM sqlite_schema":                                                   "",
		"SELECT count(*) FROM pragma_table_info('people')":                                     "",
		"SELECT value FROM json_each('[1]')":                                                   "",
		"SELECT key FROM api_keys":                                                             "relation_not_allowed",
		"SELECT count(*) FROM api_keys":                                                        "relation_not_allowed",
		"SELECT EXISTS (SELECT 1 FROM main.api_keys)":                                          "relation_not_allowed",
		"SELECT * FROM keys":                                                                   "relation_not_allowed",
		"SELECT * FROM deep":                                                                   "relation_not_allowed",
		"SELECT count(*) FROM keys":                                                            "relation_not_allowed",
		"SELECT secret FROM people":                                                            "column_not_allowed",
		"SELECT name FROM people WHERE secret LIKE 'h%'":                                       "column_not_allowed",
		"SELECT count(*) FROM people ORDER BY max(secret)":                                     "column_not_allowed",
		"SELECT name FROM secrets":                                                             "column_not_allowed",
		"SELECT id FROM people":                                                                "column_not_allowed",
		"SELECT rowid FROM people":                                                             "column_not_allowed",
		"SELECT p.oid FROM people AS p":                                                        "column_not_allowed",
		"SELECT max(_rowid_) FROM people":                                                      "column_not_allowed",
		"SELECT name FROM people WHERE rowid > 4711":                                           "column_not_allowed",
		"SELECT body FROM docs":                                                                "column_not_allowed",
		"SELECT c1 FROM docs_content":                                                          "relation_not_allowed",
		"SELECT hex(block) FROM docs_data":                                                     "relation_not_allowed",
		"SELECT term FROM docs_idx":                                                            "relation_not_allowed",
		"SELECT term FROM words":                                                               "relation_not_allowed",
		"SELECT highlight(docs, 1, '', '') FROM docs":                                          "column_not_allowed",
		"SELECT highlight(d.docs, 1, '', '') FROM docs AS d":                                   "column_not_allowed",
		"SELECT highlight(title, 1, '', '') FROM docs":                                         "column_not_allowed",
		"SELECT snippet(d.docs, -1, '', '', '', 9) FROM docs AS d":                             "column_not_allowed",
		"SELECT title FROM docs WHERE docs MATCH 'body : hush'":                                "column_not_allowed",
		"SELECT title FROM docs AS d WHERE d.docs MATCH 'hush'":                                "column_not_allowed",
		"SELECT title FROM docs WHERE docs = 'hush'":                                           "column_not_allowed",
		"SELECT rank FROM docs WHERE title MATCH 'plain' AND rank MATCH 'highlight(1, '''', '''')'": "column_not_allowed",
		"SELECT secret FROM found":                        "column_not_allowed",
		"SELECT rowid FROM found":                         "column_not_allowed",
		"SELECT name FROM found WHERE found MATCH 'hush'": "column_not_allowed",
		"SELECT hex(block) FROM found_data":               "relation_not_allowed",
		"SELECT name FROM seen WHERE seen MATCH 'hush'":   "relation_not_allowed",
		"SELECT title FROM docs WHERE title MATCH 'hush'": "",
	} {
		t.Run(sql, func(t *testing.T) {
			res, err := c.Try(t.Context(), t, sql, execution.Limits{})
			switch {
			case want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case want != "" && err == nil:
				t.Errorf("ran and returned %v", res.Rows)
			case want != "":
				if e, ok := errors.AsType[*execution.Error](err); !ok || string(e.Code) != want || e.Hint == "" {
					t.Errorf("error %v, want %s with a hint", err, want)
				}
			}
			if err == nil && strings.HasSuffix(sql, "title MATCH 'hush'") && len(res.Rows) > 0 {
				t.Errorf("a search of one column found words of another: %v", res.Rows)
			}
		})
	}
}

// A list of allowed tables holds for what a statement names. The operator may list
// a view to show a part of a table.
func TestAccessLists(t *testing.T) {
	path := testdb.SQLiteFile(t, accessSchema)
	policy := sqlguard.DefaultPolicy()
	policy.Tables.Allow = []string{"main.names", "main.docs"}
	c := openWith(t, path, policy)
	for _, sql := range []string{"SELECT name FROM names", "SELECT body FROM docs WHERE docs MATCH 'hush'", "SELECT count(*) FROM sqlite_schema"} {
		if _, err := c.Try(t.Context(), t, sql, execution.Limits{}); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{"SELECT name FROM people", "SELECT c1 FROM docs_content"} {
		if e := c.fails(t, sql); e.Code != sqlguard.CodeRelationNotAllowed {
			t.Errorf("%s: %v, want %s", sql, e, sqlguard.CodeRelationNotAllowed)
		}
	}
}

// The rules hold for a view that another program makes while the connection is
// open.
func TestAccessAfterSchemaChange(t *testing.T) {
	path := testdb.SQLiteFile(t, accessSchema)
	policy := sqlguard.DefaultPolicy()
	policy.Tables.Deny = []string{"main.api_keys", "main.later"}
	c := openWith(t, path, policy)
	c.rows(t, "SELECT * FROM names")
	writer, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	if err := fts5.Register(writer); err != nil {
		t.Fatal(err)
	}
	if err := writer.Exec(`DROP VIEW names; CREATE VIEW names AS SELECT owner AS name FROM api_keys;
		CREATE VIRTUAL TABLE later USING fts5(body); INSERT INTO later VALUES ('hush')`); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"SELECT name FROM names", "SELECT c0 FROM later_content", "SELECT body FROM later"} {
		if e := c.fails(t, sql); e.Code != sqlguard.CodeRelationNotAllowed {
			t.Errorf("%s: %v, want %s", sql, e, sqlguard.CodeRelationNotAllowed)
		}
	}
	c.rows(t, "SELECT name FROM people")
}

func openWith(t *testing.T, path string, policy sqlguard.Policy) *client {
	t.Helper()
	g := executiontest.Guard(t, "sqlite", 0)
	db, err := sqlitedb.Open(t.Context(), sqlitedb.Config{Path: path, Access: sqlguard.ReadRulesOf(sqlite.Dialect{}, policy)}, g.ID())
	if err != nil {
		t.Fatalf("open %s: %v", path, err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &client{db, executiontest.NewClient(db, g)}
}
