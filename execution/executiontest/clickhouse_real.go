package executiontest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/execution/executiontest/chserver"
)

// Users of the attacked ClickHouse, as the report names them.
const (
	userFull   = "every right"
	userReader = "`SELECT` only"
)

// RealClickHouse is like [ClickHouse], for the engine itself: package chengine.
func RealClickHouse(open OpenFunc) Target {
	target := ClickHouse(open, chserver.Config{})
	target.Intro = "ClickHouse has no read-only transaction. `readonly=1`, which every request carries, refuses what writes, settings, and table functions that reach files and other servers. " +
		"The first user has every right; the second has what `ktx doctor --role-script` grants. The engine is the library of ClickHouse behind a stand-in for its HTTP interface, " +
		"which refuses more than one statement and INTO OUTFILE as that interface does."
	var once sync.Once
	var engine *chengine.Engine
	var number atomic.Int64
	target.NewDatabase = func(tb testing.TB) Database {
		tb.Helper()
		once.Do(func() { engine = chengine.StartShared(tb, chengine.Config{}) })
		d := &clickHouseDatabase{engine: engine, name: fmt.Sprintf("db_%d", number.Add(1))}
		engine.Exec(tb, "CREATE DATABASE "+d.name,
			"CREATE TABLE "+d.name+".items (id Int32, name String) ENGINE = MergeTree ORDER BY id",
			"INSERT INTO "+d.name+".items VALUES (1, 'one'), (2, 'two'), (3, 'three')")
		d.door = engine.Serve(tb, chengine.Door{})
		return d
	}
	target.Victim = func(tb testing.TB) Victim {
		tb.Helper()
		return newClickHouseVictim(tb)
	}
	target.Roles = []string{userFull, userReader}
	target.Attacks = clickHouseAttacks
	target.Report = filepath.Join("..", "..", "docs", "evidence", "second-control.md")
	return target
}

// clickHouseDatabase is a database of the engine.
type clickHouseDatabase struct {
	engine *chengine.Engine
	door   *chengine.Served
	name   string
}

func (d *clickHouseDatabase) Address() string { return d.door.URL(d.name) }

// Running counts the statements that the engine runs for this database.
func (d *clickHouseDatabase) Running(tb testing.TB) (n int, ok bool) {
	tb.Helper()
	lines := d.engine.Lines(tb, "SELECT query FROM system.processes WHERE current_database = '"+d.name+"'")
	return len(lines), true
}

// clickHouseSchema is the database that is attacked.
var clickHouseSchema = []string{
	"CREATE TABLE items (id Int32, name String) ENGINE = MergeTree ORDER BY id",
	"INSERT INTO items VALUES (1, 'one'), (2, 'two'), (3, 'three')",
	"CREATE TABLE secrets (name String, value String) ENGINE = MergeTree ORDER BY name",
	"INSERT INTO secrets VALUES ('key', 'hidden')",
	"CREATE VIEW item_names AS SELECT name FROM items",
	"CREATE DICTIONARY names (id UInt64, name String) PRIMARY KEY id SOURCE(CLICKHOUSE(DB 'default' TABLE 'items')) LAYOUT(FLAT()) LIFETIME(0)",
}

// clickHouseVictim is a folder of tables that one engine at a time opens: that of the user
// who is attacked with, or one whose user may do everything, to look and to repair.
type clickHouseVictim struct {
	tb     testing.TB
	folder string
	files  string
	door   *chengine.Served
	config chengine.Config
	engine *chengine.Engine
	other  *httptest.Server // a server that nothing may reach
	hits   atomic.Int64
}

func newClickHouseVictim(tb testing.TB) *clickHouseVictim {
	tb.Helper()
	v := &clickHouseVictim{tb: tb, folder: tb.TempDir(), files: tb.TempDir()}
	v.other = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		v.hits.Add(1)
		_, _ = io.WriteString(w, "{\"a\": 1}\n")
	}))
	tb.Cleanup(v.other.Close)
	v.known()
	v.start(chengine.Config{})
	v.engine.Exec(tb, clickHouseSchema...)
	v.door = v.engine.Serve(tb, chengine.Door{})
	tb.Cleanup(func() { v.engine.Stop() })
	return v
}

// known makes the file that attacks try to read.
func (v *clickHouseVictim) known() {
	if err := os.WriteFile(filepath.Join(v.files, "known.txt"), []byte("known\n"), 0o600); err != nil {
		v.tb.Fatal(err)
	}
}

// start replaces the engine by one with another user.
func (v *clickHouseVictim) start(config chengine.Config) {
	if v.engine != nil {
		v.engine.Stop()
	}
	config.Folder, config.Files = v.folder, v.files
	v.engine = chengine.StartShared(v.tb, config)
	if v.door != nil {
		v.door.Use(v.engine)
	}
}

func (v *clickHouseVictim) Major() int { return 26 }

func (v *clickHouseVictim) Address(_ testing.TB, role string) string {
	v.config = chengine.Config{}
	if role == userReader {
		v.config = chengine.Config{Grants: []string{"GRANT SELECT ON default.items", "GRANT SELECT ON default.item_names"}}
	}
	v.start(v.config)
	return v.door.URL("default")
}

func (v *clickHouseVictim) Text(_ testing.TB, _, text string) string {
	return strings.NewReplacer("{files}", v.files, "{url}", v.other.URL, "{address}", strings.TrimPrefix(v.other.URL, "http://")).Replace(text)
}

func (v *clickHouseVictim) Session() string {
	return "SELECT getSetting('readonly'), getSetting('max_memory_usage'), currentUser(), currentDatabase()"
}

// clickHouseFacts are what attacks may change, by kind.
var clickHouseFacts = []struct{ kind, sql string }{
	{"table", "SELECT 'items', * FROM default.items ORDER BY id"},
	{"table", "SELECT 'secrets', * FROM default.secrets ORDER BY name"},
	{"schema", "SELECT database, name, create_table_query FROM system.tables WHERE database NOT IN ('system', 'information_schema', 'INFORMATION_SCHEMA') ORDER BY database, name"},
	{"schema", "SELECT name, engine FROM system.databases ORDER BY name"},
	{"schema", "SELECT 'function', name FROM system.functions WHERE origin != 'System' ORDER BY name"},
	{"account", "SELECT name, storage FROM system.users ORDER BY name"},
	{"account", "SELECT name, storage FROM system.roles ORDER BY name"},
	{"account", "SELECT name, storage FROM system.settings_profiles ORDER BY name"},
	{"account", "SELECT 'collection', name FROM system.named_collections ORDER BY name"},
	{"mutation", "SELECT table, mutation_id, command FROM system.mutations ORDER BY table, mutation_id"},
	{"part", "SELECT table, name FROM system.parts WHERE active AND database = 'default' ORDER BY table, name"},
}

// State looks at everything with another user, and at files and the other server.
func (v *clickHouseVictim) State(tb testing.TB) []Fact {
	tb.Helper()
	var facts []Fact
	if v.config.Grants != nil {
		v.start(chengine.Config{})
		defer v.start(v.config)
	}
	for _, f := range clickHouseFacts {
		for _, line := range v.engine.Lines(tb, f.sql) {
			name, value, _ := strings.Cut(line, "\t")
			facts = append(facts, Fact{f.kind, name, value})
		}
	}
	facts = append(facts, Fact{"request to another server", "number", fmt.Sprint(v.hits.Load())})
	err := filepath.WalkDir(v.files, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		sum := sha256.Sum256(content)
		facts = append(facts, Fact{"file", d.Name(), hex.EncodeToString(sum[:8])})
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return facts
}

// Restore makes the tables anew.
func (v *clickHouseVictim) Restore(tb testing.TB) {
	tb.Helper()
	if v.config.Grants != nil {
		v.start(chengine.Config{})
		defer v.start(v.config)
	}
	v.engine.Exec(tb, "DROP DICTIONARY IF EXISTS names")
	for _, name := range v.engine.Lines(tb, "SELECT name FROM system.tables WHERE database = 'default' AND engine != 'Dictionary'") {
		v.engine.Exec(tb, "DROP TABLE IF EXISTS "+chengine.Quote(name)+" SYNC")
	}
	v.engine.Exec(tb, clickHouseSchema...)
	entries, err := os.ReadDir(v.files)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(v.files, e.Name())); err != nil {
			tb.Fatal(err)
		}
	}
	v.known()
}
