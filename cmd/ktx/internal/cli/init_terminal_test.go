//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestInitAsks answers the questions of ktx init: an SQLite file, with a wrong engine
// and a wrong path first.
func TestInitAsks(t *testing.T) {
	d := &dialogue{t: t, home: t.TempDir(), dir: t.TempDir()}
	content, err := os.ReadFile(testdb.SQLiteFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "my shop.db"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	d.run("init")
	d.answer("Which database?", "sqlit\r")
	d.expect("did you mean sqlite?")
	d.answer("Which database?", "sqlite\r")
	d.answer("The path of its file:", "nowhere.db\r")
	d.expect("there is no file nowhere.db")
	d.answer("The path of its file:", "my shop.db\r")
	d.answer("A name for the connection [my-shop]:", "\r")
	d.expect("ok my-shop: SQLite")
	d.expect("made ktx.yaml")
	d.answer("Scan the database, so that agents find its tables? [Y/n]", "y\r")
	d.expect("scanned my-shop:")
	d.answer("Write ktx into the settings of MCP clients? [Y/n]", "y\r")
	d.answer("Which clients?", "cursor\r")
	d.answer("cursor: scope", "project\r")
	d.answer("Write this? [y/N]", "y\r")
	d.expect("try: ktx discover")
	<-d.ended
	for _, name := range []string{"ktx.yaml", ".cursor/mcp.json", "raw-sources/my-shop"} {
		if _, err := os.Stat(filepath.Join(d.dir, name)); err != nil {
			t.Error(err)
		}
	}
	config, err := os.ReadFile(filepath.Join(d.dir, "ktx.yaml"))
	if err != nil || !strings.Contains(string(config), "path: \"my shop.db\"\n") {
		t.Errorf("%v: %s", err, config)
	}
}

// TestInitOffersAFolder: DuckDB is the default where CSV files lie, in a build that has it.
func TestInitOffersAFolder(t *testing.T) {
	d := &dialogue{t: t, home: t.TempDir(), dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(d.dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "data", "orders.csv"), []byte("id,total\n1,10\n2,20\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run("init")
	if !duckdbdb.Built {
		d.expect("data has CSV or Parquet files, which only a build with DuckDB reads")
		d.answer("Which database?", "none\r")
		<-d.ended
		return
	}
	d.answer("Which database? postgres, mysql, mariadb, sqlserver, clickhouse, sqlite, duckdb, demo, none [duckdb]:", "\r")
	d.answer("The path of its file, or of a folder of CSV, JSON or Parquet files [data]:", "\r")
	d.answer("A name for the connection [data]:", "lake\r")
	d.expect("ok lake: DuckDB")
	d.answer("Scan the database, so that agents find its tables? [Y/n]", "y\r")
	d.expect("scanned lake: 1 table, 2 columns")
	d.answer("Write ktx into the settings of MCP clients? [Y/n]", "n\r")
	<-d.ended
	config, err := os.ReadFile(filepath.Join(d.dir, "ktx.yaml"))
	if err != nil || !strings.Contains(string(config), "driver: duckdb\n    files: \"data\"\n") {
		t.Errorf("%v: %s", err, config)
	}
}

// TestInitAgain: an address that does not answer is asked for again, and a password
// goes into the file that only the user can read.
func TestInitAgain(t *testing.T) {
	d := &dialogue{t: t, home: t.TempDir(), dir: t.TempDir()}
	d.run("init", "--driver", "postgres", "--url", "postgres://u:hunter2@127.0.0.1:1/shop")
	d.answer("A name for the connection [shop]:", "ware-house\r")
	d.answer("Schemas in which names are looked up", "\r")
	d.expect("failed ware-house:")
	d.answer("Keep this address all the same? [y/N]", "n\r")
	d.answer("Its address, such as postgres://", "postgres://u:hunter3@127.0.0.1:1/shop\r")
	d.expect("failed ware-house:")
	d.answer("Keep this address all the same? [y/N]", "y\r")
	d.expect("made ktx.yaml")
	d.answer("Scan the database", "n\r")
	d.answer("Write ktx into the settings of MCP clients? [Y/n]", "n\r")
	d.expect("next: ktx doctor")
	<-d.ended
	config, err := os.ReadFile(filepath.Join(d.dir, "ktx.yaml"))
	if text := string(config); err != nil || strings.Contains(text, "hunter") || !strings.Contains(text, "env: \".ktx/env\"\n") ||
		!strings.Contains(text, "url: \"env:WARE_HOUSE_URL\"\n    schemas: [\"public\"]\n") {
		t.Errorf("%v: %s", err, config)
	}
	name := filepath.Join(d.dir, ".ktx", "env")
	secret, err := os.ReadFile(name)
	if want := "WARE_HOUSE_URL='postgres://u:hunter3@127.0.0.1:1/shop'\n"; err != nil || string(secret) != want {
		t.Errorf("%v: %s", err, secret)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: %v", info, err)
	}
}
