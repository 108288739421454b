package scan_test

import (
	"context"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/duckdbdb/engine"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/scan"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) {
	if engine.Asked(os.Args[1:]) {
		os.Exit(engine.Run(os.Stdin, os.Stdout))
	}
	testdb.Main(m)
}

// startTime is the time of the first scan of each test.
var startTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// stand is a project with one connection.
type stand struct {
	t       *testing.T
	dir     string
	log     *audittest.Log
	options scan.Options
	values  *memory

	goldenNames *strings.Replacer // names that differ from run to run
}

// newStand opens a connection in a new project.
func newStand(t *testing.T, conn execution.Connection) *stand {
	t.Helper()
	log := &audittest.Log{}
	conn.ID = "shop"
	if conn.Limits == (execution.Limits{}) {
		conn.Limits = execution.Limits{Rows: 1_000_000, Bytes: 256 << 20}
	}
	gateway, err := execution.NewGateway(t.Context(), log, conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	info, err := gateway.Connection(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	readable, err := gateway.Readable(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{t: t, dir: dir, log: log, values: newMemory()}
	s.options = scan.Options{
		Gateway: gateway, Connection: info, Driver: strings.ToLower(conn.Engine), Root: root, Readable: readable, Now: startTime, RunID: "one",
		OpenValues: func(string) (scan.Values, error) { return s.values, nil },
	}
	return s
}

func postgresAt(url string) execution.Connection {
	return execution.Connection{
		Engine: "POSTGRES", Dialect: postgres.Dialect{}, Policy: sqlguard.DefaultPolicy(),
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(url), MaxConnections: 2, Session: postgres.Dialect{}.Session()}, guard)
		},
	}
}

// mysqlAt connects to a database of a server, which is MariaDB or MySQL.
func mysqlAt(server *testdb.MariaDBServer, url string, databases ...string) execution.Connection {
	policy := sqlguard.DefaultPolicy()
	policy.Databases = databases
	dialect := mysql.Dialect{}
	if server.Product() == "mariadb" {
		dialect = mysql.MariaDB
	}
	return execution.Connection{
		Engine: strings.ToUpper(server.Product()), Dialect: dialect, Policy: policy,
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return mysqldb.Open(ctx, mysqldb.Config{URL: execution.NewSecret(url), MaxConnections: 2, Databases: databases, Session: dialect.Session()}, guard)
		},
	}
}

func sqliteAt(path string) execution.Connection {
	policy := sqlguard.DefaultPolicy()
	policy.SearchPath = []string{"main"}
	return execution.Connection{
		Engine: "SQLITE", Dialect: sqlite.Dialect{}, Policy: policy,
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return sqlitedb.Open(ctx, sqlitedb.Config{Path: path, MaxConnections: 2, Session: sqlite.Dialect{}.Session()}, guard)
		},
	}
}

// run scans.
func (s *stand) run() *scan.Result {
	s.t.Helper()
	result, err := scan.Run(s.t.Context(), s.options)
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

// again makes the next scan a later one.
func (s *stand) again() {
	s.options.Now = s.options.Now.Add(time.Hour)
	s.options.RunID += "x"
	s.values = newMemory()
}

// read reads an artifact of the scan.
func read[T any](s *stand, sync string, name string) T {
	s.t.Helper()
	var v T
	text, err := os.ReadFile(filepath.Join(s.dir, "raw-sources", "shop", "live-database", sync, name))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		s.t.Fatal(err)
	}
	return v
}

// files returns the files of the project with their content, without .ktx.
func (s *stand) files() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, ".ktx/") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(s.dir, path))
		out[path] = string(text)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// golden compares the tables and the warnings of a scan with a file.
func (s *stand) golden(name, sync string) {
	s.t.Helper()
	var entries []string
	files := s.files()
	for _, path := range sortedKeys(files) {
		short := strings.TrimPrefix(path, "raw-sources/shop/live-database/"+sync+"/")
		if strings.HasPrefix(short, "tables/") || short == "warnings.json" {
			entry := "-- " + short + " --\n" + files[path]
			if s.goldenNames != nil {
				entry = hashedName.ReplaceAllString(s.goldenNames.Replace(entry), "-HASH.json")
			}
			entries = append(entries, entry)
		}
	}
	slices.Sort(entries)
	text := strings.Join(entries, "")
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if d := cmp.Diff(string(want), text); d != "" {
		s.t.Errorf("%s differs; run the test with -update and read the diff:\n%s", file, d)
	}
}

// hashedName is the end of the name of a file that has a hash of the table's name.
var hashedName = regexp.MustCompile(`-[0-9a-f]{12}\.json`)

// memory is a store of values.
type memory struct {
	mu       sync.Mutex
	columns  map[string]kept
	finished map[catalog.Ref]bool
	done     bool
}

type kept struct {
	Values   []dictionary.Value
	Distinct int64
	Complete bool
}

func newMemory() *memory {
	return &memory{columns: map[string]kept{}, finished: map[catalog.Ref]bool{}}
}

func (m *memory) Column(ref catalog.Ref, column string, values []dictionary.Value, distinct int64, complete bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.columns[ref.DB+"."+ref.Name+"."+column] = kept{values, distinct, complete}
	return nil
}

func (m *memory) Finish(ref catalog.Ref) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.finished[ref] = true
	return nil
}

func (m *memory) Finished(ref catalog.Ref) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.finished[ref]
}

func (m *memory) Commit() error {
	m.done = true
	return nil
}

func (*memory) Warnings() []string { return nil }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
