package sqlitedb_test

import (
	"errors"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

const derivedSchema = `
	CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, secret TEXT,
		"plain one" TEXT GENERATED ALWAYS AS (upper(name)) VIRTUAL,
		first TEXT AS (substr("secret", 1, 1)) VIRTUAL, -- , not a column AS (name)
		kept TEXT GENERATED ALWAYS AS (lower([SECRET])) STORED,
		chained INTEGER AS (length(first) + 1) STORED,
		later TEXT AS ('a,b)' || chained /* , */ || ']') VIRTUAL);
	INSERT INTO people (id, name, secret) VALUES (1, 'Ann', 'hush');
	ALTER TABLE people ADD COLUMN added TEXT AS (secret || '!');
	CREATE TABLE other (secret TEXT, made TEXT AS (secret) STORED);
	INSERT INTO other VALUES ('free');
	CREATE INDEX by_secret ON people (upper(secret));
	CREATE INDEX by_first ON people (first);
	CREATE VIEW firsts AS SELECT first FROM people;
	CREATE VIEW names AS SELECT name, "plain one" FROM people;
	CREATE VIRTUAL TABLE found USING fts5(name, kept, content='people', content_rowid='id');
	INSERT INTO found(found) VALUES ('rebuild');`

// A column that is generated from a denied one is denied, and so is an index over it.
func TestDerivedColumns(t *testing.T) {
	path := testdb.SQLiteFile(t, derivedSchema)
	policy := sqlguard.DefaultPolicy()
	policy.Columns = []sqlguard.ColumnRule{{Match: "main.people.Secret"}}
	c := openWith(t, path, policy)
	for sql, denied := range map[string]bool{
		`SELECT name, "plain one" FROM people`:                  false,
		`SELECT * FROM names`:                                   false,
		`SELECT made FROM other`:                                false,
		`SELECT count(*) FROM people`:                           false,
		`SELECT first FROM people`:                              true,
		`SELECT kept FROM people`:                               true,
		`SELECT chained FROM people`:                            true,
		`SELECT later FROM people`:                              true,
		`SELECT added FROM people`:                              true,
		`SELECT name FROM people WHERE kept = 'hush'`:           true,
		`SELECT name FROM people ORDER BY first`:                true,
		`SELECT p.first FROM people AS p INDEXED BY by_first`:   true,
		`SELECT upper(secret) FROM people INDEXED BY by_secret`: true,
		`SELECT * FROM firsts`:                                  true,
		`SELECT kept FROM found`:                                true,
		`SELECT name FROM found WHERE found MATCH 'hush'`:       true,
		`SELECT name FROM found`:                                false,
	} {
		res, err := c.Try(t.Context(), t, sql, execution.Limits{})
		if e, ok := errors.AsType[*execution.Error](err); denied != ok || ok && e.Code != sqlguard.CodeColumnNotAllowed || !ok && err != nil {
			t.Errorf("%s: %+v, %v, denied %v", sql, res, err, denied)
		}
	}
}
