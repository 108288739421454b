package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestCorpusForEveryServer judges the corpus for several servers. Cases that must
// be refused are refused for every server. Cases that must pass are allowed for
// current servers; those with an engine note only for that engine.
func TestCorpusForEveryServer(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		dialect mysql.Dialect
		product string
		passes  bool
	}{
		{mysql.Dialect{}, "", true},
		{mysql.MariaDB, "mariadb", true},
		{server(t, "mysql", "8.0.36"), "mysql", true},
		{server(t, "mysql", "8.4.5"), "mysql", true},
		{server(t, "mariadb", "10.6.18"), "mariadb", true},
		{server(t, "mariadb", "10.11.6"), "mariadb", true},
		{server(t, "mysql", "5.7.44"), "mysql", false},
		{server(t, "mysql", "9.7.0"), "mysql", false},
		{server(t, "mariadb", "10.2.44"), "mariadb", false},
		{server(t, "mysql", ""), "mysql", false},
	} {
		guard, err := sqlguard.New(s.dialect, sqlguard.DefaultPolicy(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range dialecttest.Cases(t, "mysql") {
			allowed := guard.Check(c.SQL).Allowed
			switch {
			case c.Expect == corpus.Reject && allowed:
				t.Errorf("%s: %s is allowed", s.dialect.Version(), c.ID)
			case c.Expect == corpus.Allow && !allowed && s.passes && (c.Engine == nil || c.Engine.Name == s.product):
				t.Errorf("%s: %s is refused: %s", s.dialect.Version(), c.ID, guard.Check(c.SQL).Findings[0].Message)
			}
		}
	}
}

// TestBenignTwinsRun runs every case that must pass on a server with the fixture of the
// corpus. It uses a read-only transaction, and a session with the settings that the guard
// requires.
func TestBenignTwinsRun(t *testing.T) {
	t.Parallel()
	s := testdb.MariaDB(t)
	fixture, err := fs.ReadFile(corpus.Files(), "fixtures/mysql.sql")
	if err != nil {
		t.Fatal(err)
	}
	db := s.DB(t, s.NewDatabase(t, string(fixture)))
	ran := 0
	for _, c := range dialecttest.Cases(t, "mysql") {
		if c.Expect != corpus.Allow || c.Setup != nil || c.Engine != nil && c.Engine.Name != s.Product() {
			continue
		}
		ran++
		if err := reads(t, db, c.SQL); err != nil {
			t.Errorf("%s (%s): %v\n%.300s", c.ID, c.Title, err, c.SQL)
		}
	}
	if ran < 400 {
		t.Errorf("only %d cases ran", ran)
	}
}

// reads runs one statement in such a session, and reads its rows.
func reads(t *testing.T, db *sql.DB, text string) (err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for _, setting := range (mysql.Dialect{}).Session() {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION %s = '%s'", setting.Name, setting.Value)); err != nil {
			return err
		}
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
	}
	return rows.Err()
}
