package ktx_test

import (
	"flag"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A room is one row of the import table: what the package at path may import.
type room struct {
	path   string            // relative to the module
	ours   []string          // packages of this module; * matches one path element, "..." everything except test support
	others map[string]string // third-party modules, each with its reason
	// testOurs and testOthers are allowed in tests in addition.
	testOurs   []string
	testOthers map[string]string
	// std lists the allowed packages of the standard library; nil allows all
	// packages that noStd does not match.
	std   []string
	noStd []string
	// support marks packages for tests and generators, which the shipped
	// binary must not contain.
	support bool
}

// noOutside lists packages of the standard library that code which only reads SQL must
// not import, because they reach the network, files or processes.
var noOutside = []string{"database/*", "net", "net/http", "net/http/*", "net/rpc", "net/smtp", "net/textproto", "os", "os/exec", "plugin", "syscall", "unsafe"}

// everyTest lists the modules that all tests may use.
var everyTest = map[string]string{
	"github.com/google/go-cmp": "shows how two values differ",
	"pgregory.net/rapid":       "checks properties on generated input",
	"go.uber.org/goleak":       "finds goroutines that a test leaves behind",
}

// rooms is the import table. ARCHITECTURE.md has the picture.
var rooms = []room{
	{path: ".", testOurs: []string{"execution/executiontest/executable"}},
	{
		path:       "corpus",
		noStd:      noOutside,
		testOthers: map[string]string{"go.yaml.in/yaml/v3": "compares the embedded cases with their YAML source", "github.com/santhosh-tekuri/jsonschema/v6": "checks the cases against their schema"},
	},
	{
		path:  "corpus/mutate",
		ours:  []string{"corpus"},
		noStd: noOutside,
	},
	{
		path:   "corpus/casefile",
		noStd:  noOutside,
		ours:   []string{"corpus"},
		others: map[string]string{"go.yaml.in/yaml/v3": "reads class files with the lines of their cases, and writes new cases"},
	},
	{
		path:     "corpus/run",
		ours:     []string{"corpus", "sqlguard"},
		testOurs: []string{"corpus/mutate", "dialects", "dialects/*", "execution", "execution/audit", "execution/audit/audittest", "execution/executiontest"},
	},
	{
		path:     "corpus/report",
		noStd:    noOutside,
		ours:     []string{"corpus", "sqlguard", "corpus/run", "httpapi/markup"},
		testOurs: []string{"dialects", "execution/executiontest/browser"},
	},
	{
		path: "sqlguard",
		std: []string{
			"cmp", "container/list", "crypto/sha256", "embed", "encoding/hex", "encoding/json", "errors", "fmt", "io", "log/slog", "maps",
			"slices", "strconv", "strings", "sync", "unicode", "unicode/utf8",
			"syscall", // reads the stack limit, which the C parser's recursion depends on
		},
		testOurs: []string{"corpus", "dialects"},
	},
	{
		path:     "dialects",
		ours:     []string{"sqlguard", "dialects/*"},
		testOurs: []string{"corpus", "dialects/internal/dialecttest"},
		noStd:    noOutside,
	},
	{
		path: "dialects/postgres",
		ours: []string{"sqlguard", "dialects/internal/denied", "dialects/internal/instead", "dialects/internal/syntaxtree", "dialects/internal/lexical"},
		others: map[string]string{
			"github.com/pganalyze/pg_query_go/v6": "the server's own grammar",
			"github.com/sqlc-dev/oliphant":        "the grammar of PostgreSQL in a build without cgo",
		},
		testOurs: []string{"corpus", "dialects/internal/dialecttest", "execution/executiontest/testdb"},
		noStd:    noOutside,
	},
	{
		path: "dialects/mysql",
		ours: []string{"sqlguard", "dialects/internal/denied", "dialects/internal/instead", "dialects/internal/syntaxtree"},
		others: map[string]string{
			"github.com/pingcap/tidb/pkg/parser": "the grammar of MySQL in Go, from TiDB",
			"github.com/sqlc-dev/marino":         "the same for what TiDB lacks",
		},
		testOurs: []string{"corpus", "dialects/internal/dialecttest", "execution/executiontest/testdb"},
		noStd:    noOutside,
	},
	{
		path:       "dialects/sqlite",
		ours:       []string{"sqlguard", "dialects/internal/instead", "dialects/internal/syntaxtree", "dialects/internal/lexical"},
		others:     map[string]string{"github.com/sqlc-dev/meyer": "the grammar of SQLite in Go"},
		testOurs:   []string{"corpus", "dialects/internal/dialecttest", "execution/executiontest/testdb"},
		testOthers: map[string]string{"github.com/ncruces/go-sqlite3": "asks SQLite whether a statement only reads"},
		noStd:      noOutside,
	},
	{
		path:     "dialects/clickhouse",
		ours:     []string{"sqlguard", "dialects/internal/denied", "dialects/internal/instead", "dialects/internal/lexical"},
		testOurs: []string{"corpus", "dialects/internal/dialecttest", "execution/executiontest/chengine"},
		noStd:    noOutside,
	},
	{
		path:     "dialects/bigquery",
		ours:     []string{"sqlguard", "dialects/internal/denied", "dialects/internal/instead", "dialects/internal/syntaxtree", "dialects/internal/lexical"},
		testOurs: []string{"dialects/internal/dialecttest"},
		others:   map[string]string{"github.com/sqlc-dev/zetajones": "the grammar of GoogleSQL in Go, without dependencies"},
		noStd:    noOutside,
	},
	{
		path:       "dialects/duckdb",
		ours:       []string{"sqlguard", "dialects/internal/denied", "dialects/internal/lexical"},
		testOurs:   []string{"dialects/internal/dialecttest"},
		others:     map[string]string{"github.com/sqlc-dev/darkwing": "the grammar of DuckDB in Go, without dependencies"},
		testOthers: map[string]string{"github.com/duckdb/duckdb-go-bindings": "asks DuckDB whether a text is one read"},
		noStd:      noOutside,
	},
	{
		path:     "dialects/sqlserver",
		ours:     []string{"sqlguard", "dialects/internal/instead", "dialects/internal/lexical"},
		testOurs: []string{"corpus", "dialects/internal/dialecttest"},
		noStd:    noOutside,
	},
	{
		path:  "dialects/internal/denied",
		ours:  []string{"sqlguard"},
		noStd: noOutside,
	},
	{
		path:  "dialects/internal/instead",
		ours:  []string{"sqlguard"},
		noStd: noOutside,
	},
	{
		path:  "dialects/internal/lexical",
		ours:  []string{"sqlguard"},
		noStd: noOutside,
	},
	{
		path:  "dialects/internal/syntaxtree",
		ours:  []string{"sqlguard"},
		noStd: noOutside,
	},
	{path: "dialects/internal/dialecttest", ours: []string{"corpus", "sqlguard"}, support: true},
	{path: "dialects/internal/gen/mysqlwalk", support: true},
	{
		path:     "dialects/internal/gen/pgcatalog",
		others:   map[string]string{"github.com/jackc/pgx/v5": "reads the servers' catalogues"},
		testOurs: []string{"execution/executiontest/testdb"},
		support:  true,
	},
	{
		path: "dialects/internal/gen/pgwalk",
		others: map[string]string{
			"github.com/pganalyze/pg_query_go/v6": "the types that the walker is made from",
			"github.com/sqlc-dev/oliphant":        "the types that the walker without cgo is made from",
		},
		support: true,
	},
	{
		path:  "sqlcheck",
		noStd: []string{"database/*", "net", "net/http", "net/http/*"},
		ours:  []string{"sqlguard", "sqlcheck/migration", "sqlcheck/source", "sqlcheck/report"},
		others: map[string]string{
			"github.com/bmatcuk/doublestar/v4": "patterns with ** in paths",
			"github.com/rogpeppe/go-internal":  "which lines of a file a change touches",
			"go.yaml.in/yaml/v3":               "the folders that a dbt project names",
			"golang.org/x/sys":                 "the time at which the system changed a file, by one name on all systems",
		},
		testOurs: []string{"dialects", "dialects/*"},
		testOthers: map[string]string{
			"github.com/pganalyze/pg_query_go/v6": "the parser alone, to compare its speed with that of a check",
			"github.com/pingcap/tidb/pkg/parser":  "the same for MySQL",
		},
	},
	{
		path:     "sqlcheck/fix",
		noStd:    noOutside,
		ours:     []string{"sqlguard"},
		testOurs: []string{"dialects", "corpus"},
	},
	{
		path:     "sqlcheck/migration",
		noStd:    noOutside,
		ours:     []string{"sqlguard"},
		testOurs: []string{"dialects", "dialects/*", "execution/executiontest/testdb"},
		testOthers: map[string]string{
			"github.com/go-sql-driver/mysql": "the errors of MariaDB, which says what it cannot do online",
			"github.com/jackc/pgx/v5":        "asks PostgreSQL for the locks of a statement",
		},
	},
	{
		path:     "sqlcheck/source",
		noStd:    noOutside,
		ours:     []string{"sqlguard"},
		testOurs: []string{"dialects", "dialects/*"},
	},
	{
		path:  "sqlcheck/report",
		noStd: noOutside,
		ours:  []string{"sqlguard", "sqlcheck/migration", "corpus"},
	},
	{
		path: "execution/audit",
		ours: []string{"sqlguard", "execution/filelock"},
		others: map[string]string{
			"github.com/gowebpki/jcs": "canonical JSON, from which the hash chain is computed",
			"golang.org/x/sys":        "the errors by which Windows says that a disk is full, and what Linux tells of renamed files",
		},
		testOurs: []string{"execution/audit/audittest"},
	},
	{
		path:     "execution/audit/index",
		ours:     []string{"execution/audit", "execution/filelock"},
		others:   map[string]string{"github.com/ncruces/go-sqlite3": "holds the index, which can be deleted; the log itself needs no database"},
		testOurs: []string{"execution/audit/audittest"},
	},
	{path: "execution/filelock", others: map[string]string{"golang.org/x/sys": "locks files on Windows"}},
	{path: "execution/executiontest/browser", support: true},
	{
		path:    "execution/audit/audittest",
		ours:    []string{"sqlguard", "execution/audit"},
		support: true,
	},
	{
		path:     "execution",
		ours:     []string{"sqlguard", "execution/audit"},
		testOurs: []string{"execution/audit/audittest", "execution/executiontest"},
	},
	{
		path:     "execution/pgdb",
		ours:     []string{"sqlguard", "execution", "execution/alarm", "execution/internal/*", "execution/pool"},
		others:   map[string]string{"github.com/jackc/pgx/v5": "the driver"},
		testOurs: []string{"execution/*", "execution/audit/audittest", "execution/executiontest/testdb", "dialects/postgres"},
	},
	{path: "execution/alarm"},
	{
		path: "execution/pool",
		ours: []string{"sqlguard", "execution"},
	},
	{
		path: "execution/internal/ending",
		ours: []string{"execution/pool"},
	},
	{path: "execution/internal/jsontext"},
	{
		path: "execution/internal/network",
		ours: []string{"sqlguard", "execution", "execution/pool"},
	},
	{
		path: "execution/internal/probe",
		ours: []string{"execution", "sqlguard"},
	},
	{
		path: "execution/internal/rowset",
		ours: []string{"execution", "sqlguard"},
	},
	{
		path:     "execution/mysqldb",
		ours:     []string{"sqlguard", "execution", "execution/internal/*", "execution/pool", "execution/mysqldb/wire"},
		others:   map[string]string{"github.com/go-sql-driver/mysql": "the driver, which logs in"},
		testOurs: []string{"execution/*", "execution/audit/audittest", "execution/executiontest/testdb", "dialects/mysql"},
	},
	{path: "execution/mysqldb/wire"},
	{
		path:       "execution/sqlitedb",
		ours:       []string{"sqlguard", "execution", "execution/internal/network", "execution/sqlitedb/engine"},
		others:     map[string]string{"github.com/ncruces/go-sqlite3": "the names of codes, limits and switches"},
		testOurs:   []string{"execution/*", "execution/audit/audittest", "execution/executiontest/testdb", "dialects/sqlite"},
		testOthers: map[string]string{"github.com/mattn/go-sqlite3": "the C library alone, in builds with the tag csqlite"},
	},
	{
		path: "execution/sqlitedb/engine",
		others: map[string]string{
			"github.com/mattn/go-sqlite3":   "SQLite's C library, only in builds with the tag csqlite; MIT, no dependencies, 3 MB of program",
			"github.com/ncruces/go-sqlite3": "the driver and the engine in Go",
		},
	},
	{
		path:     "execution/mssqldb",
		ours:     []string{"sqlguard", "execution", "execution/internal/*", "execution/pool", "execution/mssqldb/internal/tds"},
		testOurs: []string{"execution/*", "execution/executiontest/tdsserver", "dialects/sqlserver"},
	},
	{
		path: "execution/mssqldb/internal/tds",
		ours: []string{},
		others: map[string]string{
			"github.com/microsoft/go-mssqldb": "the driver, which logs in",
			"golang.org/x/text":               "code pages",
		},
		testOurs: []string{"execution/executiontest/tdsserver"},
	},
	{
		path:     "execution/bigquerydb",
		ours:     []string{"sqlguard", "execution", "execution/internal/*", "execution/pool", "execution/bigquerydb/login", "execution/bigquerydb/wire"},
		testOurs: []string{"execution/*", "execution/audit", "execution/executiontest/bqemulator", "execution/executiontest/bqserver", "dialects/bigquery"},
	},
	{
		path:   "execution/bigquerydb/login",
		others: map[string]string{"golang.org/x/oauth2": "signs the request of a service account for a token, and renews the token of a user; its package google would add two modules and 700 kB"},
	},
	{path: "execution/bigquerydb/wire"},
	{
		path:     "execution/clickhousedb",
		ours:     []string{"sqlguard", "execution", "execution/internal/*", "execution/pool", "execution/clickhousedb/typename", "execution/clickhousedb/wire"},
		testOurs: []string{"execution/*", "execution/audit", "execution/audit/audittest", "execution/executiontest/chengine", "execution/executiontest/chserver", "execution/executiontest/selfsigned", "dialects/clickhouse"},
	},
	{path: "execution/clickhousedb/typename"},
	{path: "execution/clickhousedb/wire"},
	{
		path:     "execution/duckdbdb",
		ours:     []string{"sqlguard", "execution", "execution/internal/*", "execution/pool", "execution/duckdbdb/wire"},
		testOurs: []string{"execution/*", "execution/duckdbdb/engine", "execution/executiontest/duckfile", "dialects/duckdb"},
	},
	{
		path: "execution/duckdbdb/engine",
		ours: []string{"execution", "execution/duckdbdb/wire"},
		others: map[string]string{
			"github.com/duckdb/duckdb-go-bindings": "the engine, linked into builds with cgo: 70 MB of program that only the process for DuckDB runs; its arrow-go is not linked",
			"golang.org/x/sys":                     "limits of the process",
		},
	},
	{path: "execution/duckdbdb/wire", ours: []string{"execution"}},
	{
		path: "execution/executiontest",
		ours: []string{
			"corpus", "sqlguard", "execution", "execution/audit", "execution/audit/audittest", "execution/executiontest/bqserver", "execution/executiontest/chengine", "execution/executiontest/chserver",
			"execution/executiontest/tdsserver", "execution/executiontest/testdb",
		},
		others: map[string]string{
			"github.com/google/go-cmp":        "shows how two values differ",
			"github.com/jackc/pgx/v5":         "looks at the server from outside",
			"github.com/microsoft/go-mssqldb": "looks at the server from outside",
			"github.com/ncruces/go-sqlite3":   "looks at the file from outside",
			"go.uber.org/goleak":              "finds goroutines that a backend leaves behind",
		},
		support: true,
	},
	{
		path: "execution/executiontest/faults",
		testOurs: []string{
			"sqlguard", "dialects/clickhouse", "dialects/duckdb", "dialects/mysql", "dialects/postgres", "dialects/sqlite", "dialects/sqlserver", "execution", "execution/audit",
			"execution/clickhousedb", "execution/duckdbdb", "execution/duckdbdb/engine", "execution/executiontest/duckfile", "execution/mssqldb", "execution/mysqldb", "execution/pgdb", "execution/sqlitedb", "execution/executiontest",
			"execution/executiontest/chserver", "execution/executiontest/executable", "execution/executiontest/tdsserver",
			"execution/executiontest/testdb",
		},
		testOthers: map[string]string{
			"github.com/Shopify/toxiproxy/v2": "breaks the network between gateway and server",
			"golang.org/x/sys":                "takes file descriptors from a process",
			"github.com/jackc/pgx/v5":         "looks at the server from outside, and is a second client of the pooler",
			"github.com/ncruces/go-sqlite3":   "writes to files that the gateway reads",
		},
		support: true,
	},
	{path: "execution/executiontest/bqemulator", support: true},
	{path: "execution/executiontest/bqserver", support: true},
	{path: "execution/executiontest/chengine", support: true},
	{path: "execution/executiontest/chserver", support: true},
	{
		path:    "execution/executiontest/duckfile",
		others:  map[string]string{"github.com/duckdb/duckdb-go-bindings": "makes and reads database files without the backend"},
		support: true,
	},
	{path: "execution/executiontest/executable", support: true},
	{path: "execution/executiontest/selfsigned", support: true},
	{
		path: "execution/executiontest/testdb",
		ours: []string{"execution/executiontest/selfsigned"},
		others: map[string]string{
			"github.com/go-sql-driver/mysql": "makes databases and users",
			"github.com/jackc/pgx/v5":        "makes databases and roles",
			"github.com/ncruces/go-sqlite3":  "makes database files",
		},
		support: true,
	},
	{path: "execution/executiontest/withservers", ours: []string{"execution/executiontest/testdb"}, support: true},
	{
		path:       "execution/executiontest/tdsserver",
		ours:       []string{"execution/executiontest/selfsigned"},
		testOthers: map[string]string{"github.com/microsoft/go-mssqldb": "the client that tests the server"},
		support:    true,
	},
	{
		path: "execution/executiontest/oracle",
		testOurs: []string{
			"sqlguard", "execution", "execution/*", "execution/audit/audittest", "execution/executiontest/testdb",
			"dialects/clickhouse", "dialects/mysql", "dialects/postgres", "dialects/sqlite", "dialects/sqlserver", "execution/executiontest/chengine",
			"execution/executiontest/tdsserver", "research",
		},
		testOthers: map[string]string{
			"github.com/jackc/pgx/v5":       "makes the tables that are compared",
			"github.com/ncruces/go-sqlite3": "makes the files that are compared",
		},
		support: true,
	},
	{
		path:     "research/catalog",
		ours:     []string{"research/rootfile"},
		testOurs: []string{"research/catalog/catalogtest", "dialects/mysql", "dialects/postgres", "dialects/sqlite", "sqlguard"},
	},
	{path: "research/catalog/catalogtest", ours: []string{"research/catalog"}, support: true},
	{
		path:       "research/catalog/search",
		ours:       []string{"research/catalog", "research/rank"},
		testOthers: map[string]string{"pgregory.net/rapid": "random catalogues"},
	},
	{path: "research/rank/packed"},
	{
		path: "research/rank",
		ours: []string{"research/rank/packed"},
		others: map[string]string{
			"github.com/kljensen/snowball": "the stems of English words",
			"golang.org/x/text":            "Unicode case folding and normalization",
		},
		noStd: noOutside,
	},
	{
		path: "research/scan",
		ours: []string{"sqlguard", "execution", "execution/filelock", "execution/clickhousedb/typename", "research/catalog", "research/dictionary", "research/rootfile", "research/scan/manifest", "research/scan/relate"},
		testOurs: []string{
			"dialects/*", "execution/*", "execution/audit/audittest", "execution/duckdbdb/engine", "execution/executiontest", "execution/executiontest/*", "research",
			"research/rank",
		},
		testOthers: map[string]string{"github.com/google/go-cmp": "shows how artifacts differ"},
	},
	{
		path:   "research/scan/manifest",
		ours:   []string{"research/catalog", "research/rootfile"},
		others: map[string]string{"go.yaml.in/yaml/v3": "writes the manifest"},
		testOthers: map[string]string{
			"github.com/google/go-cmp": "shows how manifests differ",
			"pgregory.net/rapid":       "tables of any names",
		},
	},
	{
		path:     "research/scan/relate",
		noStd:    noOutside,
		ours:     []string{"research/catalog"},
		others:   map[string]string{"golang.org/x/text": "normalizes names before they are split into words"},
		testOurs: []string{"research/scan/relate/relatetest"},
	},
	{
		path:    "research/scan/relate/relatetest",
		ours:    []string{"research/catalog", "research/scan/relate"},
		others:  map[string]string{"github.com/ncruces/go-sqlite3": "writes and reads the database files that are measured"},
		support: true,
	},
	{
		path:     "research/dictionary",
		ours:     []string{"research/catalog", "research/rank"},
		testOurs: []string{"research/catalog/catalogtest", "research/dictionary/dictionarytest"},
		noStd:    []string{"database/*", "net", "net/http", "net/http/*", "os/exec"},
	},
	{
		path:    "research/dictionary/dictionarytest",
		ours:    []string{"research/catalog", "research/dictionary"},
		others:  map[string]string{"golang.org/x/text": "writes texts in the forms of Unicode that people type"},
		support: true,
	},
	{path: "research/rootfile", others: map[string]string{"golang.org/x/sys": "looks at the files of a large scan in two thirds of the time"}},
	{
		path:   "research/semantic",
		ours:   []string{"research/rank", "research/rootfile", "research/semantic/emit", "research/semantic/expr", "research/semantic/model", "research/semantic/plan"},
		others: map[string]string{"go.yaml.in/yaml/v3": "writes sources, and adds to a file without losing its comments"},
	},
	{path: "research/semantic/draft", ours: []string{"research/semantic/expr", "research/semantic/model"}, testOurs: []string{"research/semantic/emit", "research/semantic/plan"}, others: map[string]string{"go.yaml.in/yaml/v3": "writes drafted files"}, noStd: noOutside},
	{
		path:     "research/semantic/emit",
		ours:     []string{"execution/clickhousedb/typename", "research/semantic/expr", "research/semantic/model", "research/semantic/plan"},
		noStd:    noOutside,
		testOurs: []string{"corpus", "dialects", "dialects/*", "execution", "execution/*", "execution/duckdbdb/engine", "execution/executiontest/chengine", "execution/executiontest/duckfile", "execution/executiontest/testdb", "sqlguard"},
	},
	{path: "research/semantic/expr", noStd: noOutside, testOurs: []string{"corpus"}},
	{path: "research/semantic/model", ours: []string{"execution/clickhousedb/typename", "research/semantic/expr"}, others: map[string]string{"go.yaml.in/yaml/v3": "reads the files of sources; its nodes carry the line of each key"}, noStd: noOutside, testOthers: map[string]string{"github.com/santhosh-tekuri/jsonschema/v6": "holds the JSON Schema of source files against the loader"}},
	{
		path:       "research/semantic/interchange",
		ours:       []string{"research/semantic/draft", "research/semantic/expr", "research/semantic/model"},
		others:     map[string]string{"go.yaml.in/yaml/v3": "reads files of the Open Semantic Interchange format, and writes sources"},
		testOthers: map[string]string{"pgregory.net/rapid": "makes inputs that are nearly right"},
		noStd:      noOutside,
	},
	{path: "research/semantic/plan", ours: []string{"research/semantic/expr", "research/semantic/model"}, noStd: noOutside},
	{
		path:     "research/semantic/semantictest",
		testOurs: []string{"dialects", "dialects/bigquery", "dialects/clickhouse", "dialects/duckdb", "execution", "execution/bigquerydb", "execution/clickhousedb", "execution/duckdbdb", "execution/duckdbdb/engine", "execution/executiontest/bqemulator", "execution/executiontest/chengine", "execution/executiontest/duckfile", "execution/executiontest/testdb", "execution/mysqldb", "execution/pgdb", "execution/sqlitedb", "research/semantic/emit", "research/semantic/expr", "research/semantic/model", "research/semantic/plan", "sqlguard"},
		noStd:    noOutside,
		support:  true,
	},
	{
		path:     "research/wiki",
		ours:     []string{"research/rank", "research/rank/packed", "research/rootfile", "research/wiki/glove", "research/wiki/wordnet"},
		others:   map[string]string{"go.yaml.in/yaml/v3": "reads and writes the heads of pages, with lines"},
		testOurs: []string{"research/wiki/wikitest"},
	},
	{path: "research/wiki/wikitest", support: true},
	{path: "research/wiki/glove", ours: []string{"research/rank/packed"}},
	{path: "research/wiki/wordnet", ours: []string{"research/rank/packed"}},
	{
		path:   "research/memory",
		ours:   []string{"execution/filelock", "research/rank", "research/rootfile", "research/wiki"},
		others: map[string]string{"golang.org/x/text": "finds texts equal that Unicode composes differently"},
	},
	{
		path:     "research/usage",
		ours:     []string{"sqlguard", "execution/audit", "research/catalog"},
		testOurs: []string{"dialects"},
	},
	{
		path:     "research/skills",
		ours:     []string{"research/rank", "research/rootfile"},
		others:   map[string]string{"go.yaml.in/yaml/v3": "reads the heads of skills, with lines"},
		noStd:    []string{"database/*", "net", "net/http", "net/http/*", "os/exec", "plugin", "unsafe"},
		testOurs: []string{"research/skills/litestore"},
	},
	{path: "research/skills/skillstest", ours: []string{"research/skills"}, support: true},
	{
		path:   "research/skills/pgstore",
		ours:   []string{"research/skills"},
		others: map[string]string{"github.com/jackc/pgx/v5": "keeps uses, ratings and vectors of a team in tables of our own"},
	},
	{path: "research/skills/ollama", ours: []string{"research/skills"}},
	{
		path:     "research/skills/litestore",
		ours:     []string{"research/skills"},
		others:   map[string]string{"github.com/ncruces/go-sqlite3": "keeps uses, ratings and vectors in a file of our own"},
		testOurs: []string{"research/skills/skillstest"},
	},
	{
		path: "research/upstream",
		ours: []string{"execution/audit", "execution/filelock", "research/rank", "research/rootfile"},
		others: map[string]string{
			"github.com/modelcontextprotocol/go-sdk":   "the protocol and the login flow, client side",
			"golang.org/x/oauth2":                      "the tokens of the SDK's login flow, and their refresh",
			"github.com/santhosh-tekuri/jsonschema/v6": "checks arguments by the schemas of other servers",
			"golang.org/x/text":                        "compares names without case",
			"golang.org/x/time":                        "how fast a noisy server is read",
		},
		testOurs: []string{"execution/audit/audittest", "research/upstream/upstreamtest"},
	},
	{path: "research/upstream/upstreamtest", support: true},
	{
		path:       "research",
		ours:       []string{"sqlguard", "execution", "execution/audit", "research/catalog", "research/catalog/search", "research/dictionary", "research/memory", "research/rank", "research/semantic", "research/semantic/*", "research/skills", "research/upstream", "research/usage", "research/wiki"},
		others:     map[string]string{"github.com/modelcontextprotocol/go-sdk": "the protocol, server side"},
		testOurs:   []string{"corpus", "dialects", "dialects/*", "execution/*", "execution/audit/audittest", "execution/executiontest/testdb", "research/catalog/catalogtest", "research/rank", "research/scan", "research/skills/litestore", "research/upstream/upstreamtest", "research/wiki/wordnet"},
		testOthers: map[string]string{"go.yaml.in/yaml/v3": "writes files with hostile strings", "github.com/santhosh-tekuri/jsonschema/v6": "checks answers against the schemas that are announced", "github.com/tiktoken-go/tokenizer": "counts the tokens of the tool list", "pgregory.net/rapid": "arguments of calls"},
	},
	{path: "httpapi/markup", noStd: append([]string{"html/template", "text/template"}, noOutside...)},
	{
		path:     "httpapi/pages",
		ours:     []string{"corpus", "corpus/mutate", "corpus/report", "corpus/run", "execution/audit", "execution/audit/index", "httpapi", "httpapi/markup", "sqlguard"},
		others:   map[string]string{"github.com/go-chi/chi/v5": "reads the variables of a path", "github.com/yuin/goldmark": "parses the Markdown of wiki pages"},
		testOurs: []string{"dialects", "execution/audit/audittest", "execution/executiontest/browser"},
	},
	{
		path: "httpapi",
		ours: []string{"sqlguard", "execution", "execution/audit"},
		others: map[string]string{
			"github.com/go-chi/chi/v5":            "routes, and the order of their middleware",
			"github.com/prometheus/client_golang": "the figures of /metrics",
			"golang.org/x/time":                   "how often a token may ask",
		},
		testOurs: []string{"execution/audit/audittest"},
	},
	{
		path:     "cmd/ktx",
		ours:     []string{"cmd/ktx/internal/cli"},
		testOurs: []string{"execution/audit/audittest", "execution/executiontest/browser", "execution/executiontest/executable", "execution/executiontest/testdb"},
	},
	{path: "cmd/ktx/internal/atomicfile"},
	{path: "cmd/ktx/internal/collector"},
	{
		path: "cmd/ktx/internal/cli",
		ours: []string{"cmd/ktx/internal/cli/*", "corpus", "dialects", "execution", "execution/duckdbdb/engine"},
		others: map[string]string{
			"github.com/spf13/cobra": "commands, completion, manual pages",
			"golang.org/x/mod":       "compares versions of releases",
		},
		testOurs: []string{
			"cmd/ktx/internal/project", "cmd/ktx/internal/rpc", "execution/audit", "execution/duckdbdb", "execution/executiontest/bqserver", "execution/executiontest/testdb", "execution/audit/audittest", "research/upstream/upstreamtest",
		},
		testOthers: map[string]string{
			"github.com/creack/pty":                    "a terminal to be asked on",
			"github.com/jackc/pgx/v5":                  "looks at the server from outside",
			"github.com/modelcontextprotocol/go-sdk":   "a client of the server",
			"github.com/rogpeppe/go-internal":          "runs the command line's scripts",
			"github.com/santhosh-tekuri/jsonschema/v6": "checks output against its schema",
			"github.com/tiktoken-go/tokenizer":         "counts the tokens of rows",
			"go.yaml.in/yaml/v3":                       "reads action.yml",
		},
	},
	{
		path:  "cmd/ktx/internal/cli/console",
		noStd: []string{"database/*", "net", "net/http", "net/http/*"},
		ours:  []string{"cmd/ktx/internal/project", "execution", "research/semantic/expr", "sqlcheck/report", "sqlguard"},
		others: map[string]string{
			"github.com/spf13/cobra": "groups of commands",
			"golang.org/x/term":      "finds out whether output goes to a terminal, and its width",
		},
	},
	{
		path: "cmd/ktx/internal/cli/wiring",
		ours: []string{
			"cmd/ktx/internal/atomicfile", "cmd/ktx/internal/cli/console", "cmd/ktx/internal/project", "cmd/ktx/internal/setup", "dialects", "dialects/*",
			"execution", "execution/*", "research", "research/*", "research/skills/*", "sqlcheck", "sqlcheck/migration", "sqlcheck/report", "sqlcheck/source", "sqlguard",
		},
		others: map[string]string{
			"github.com/bmatcuk/doublestar/v4": "patterns with ** in paths",
			"github.com/pelletier/go-toml/v2":  "the drivers that a pyproject.toml or a Pipfile names",
			"github.com/spf13/cobra":           "completes the ids of connections",
			"go.yaml.in/yaml/v3":               "the dialect that sqlc.yaml or the profiles of a dbt project declare",
		},
	},
	{
		path: "cmd/ktx/internal/cli/audit",
		ours: []string{
			"cmd/ktx/internal/atomicfile", "cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/wiring", "cmd/ktx/internal/project",
			"execution", "execution/audit", "execution/audit/index", "sqlcheck/report", "sqlguard",
		},
		others: map[string]string{"github.com/spf13/cobra": "commands and their flags"},
	},
	{
		path: "cmd/ktx/internal/cli/corpus",
		ours: []string{
			"cmd/ktx/internal/atomicfile", "cmd/ktx/internal/cli/console",
			"corpus", "corpus/*", "dialects",
		},
		others: map[string]string{"github.com/spf13/cobra": "commands and their flags"},
	},
	{
		path: "cmd/ktx/internal/cli/mcp",
		ours: []string{
			"cmd/ktx/internal/atomicfile", "cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/fresh", "cmd/ktx/internal/cli/wiring", "cmd/ktx/internal/collector", "cmd/ktx/internal/daemon", "cmd/ktx/internal/project", "cmd/ktx/internal/setup", "cmd/ktx/internal/stdio", "cmd/ktx/internal/streamable",
			"corpus", "corpus/report", "corpus/run", "dialects", "execution", "execution/audit", "execution/audit/index", "httpapi/pages", "httpapi", "research", "sqlguard",
		},
		others: map[string]string{
			"github.com/modelcontextprotocol/go-sdk": "serves a session over standard input and output",
			"github.com/spf13/cobra":                 "commands and their flags",
		},
	},
	{
		path: "cmd/ktx/internal/cli/upstream",
		ours: []string{
			"cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/wiring", "cmd/ktx/internal/project", "execution", "research", "research/upstream", "sqlguard",
		},
		others: map[string]string{
			"github.com/rogpeppe/go-internal": "shows what changed in a definition",
			"github.com/spf13/cobra":          "commands and their flags",
		},
	},
	{
		path: "cmd/ktx/internal/cli/fresh",
		ours: []string{
			"cmd/ktx/internal/atomicfile", "cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/scan", "cmd/ktx/internal/cli/wiring", "cmd/ktx/internal/demo", "cmd/ktx/internal/project",
		},
		others: map[string]string{"go.yaml.in/yaml/v3": "writes the configuration of a start without a project"},
	},
	{
		path: "cmd/ktx/internal/cli/project",
		ours: []string{
			"cmd/ktx/internal/atomicfile", "cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/fresh", "cmd/ktx/internal/cli/scan", "cmd/ktx/internal/cli/setup", "cmd/ktx/internal/cli/wiring", "cmd/ktx/internal/demo", "cmd/ktx/internal/project",
			"execution", "execution/audit", "research", "research/upstream", "sqlcheck/report", "sqlguard",
		},
		others: map[string]string{
			"github.com/modelcontextprotocol/go-sdk": "asks the server for its tools",
			"github.com/spf13/cobra":                 "commands and their flags",
		},
	},
	{
		path: "cmd/ktx/internal/cli/research",
		ours: []string{
			"cmd/ktx/internal/atomicfile", "cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/wiring", "dialects", "execution", "execution/audit", "research",
			"research/catalog", "research/dictionary", "research/memory", "research/usage", "research/wiki", "sqlcheck/report",
		},
		others: map[string]string{"github.com/spf13/cobra": "commands and their flags"},
	},
	{
		path: "cmd/ktx/internal/cli/scan",
		ours: []string{
			"cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/wiring", "cmd/ktx/internal/collector", "cmd/ktx/internal/project",
			"cmd/ktx/internal/cli/research", "execution", "execution/audit", "research/catalog", "research/dictionary", "research/scan", "research/scan/relate", "research/usage",
		},
		others: map[string]string{"github.com/spf13/cobra": "commands"},
	},
	{
		path: "cmd/ktx/internal/cli/semantic",
		ours: []string{
			"cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/wiring", "research", "research/semantic", "research/semantic/interchange", "research/semantic/model",
		},
		others: map[string]string{"github.com/spf13/cobra": "commands and their flags"},
	},
	{
		path:   "cmd/ktx/internal/cli/skills",
		ours:   []string{"cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/wiring", "research", "research/skills"},
		others: map[string]string{"github.com/spf13/cobra": "commands and their flags"},
	},
	{
		path: "cmd/ktx/internal/cli/setup",
		ours: []string{
			"cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/wiring", "cmd/ktx/internal/daemon", "cmd/ktx/internal/project", "cmd/ktx/internal/setup",
			"httpapi",
		},
		others: map[string]string{"github.com/spf13/cobra": "commands and their flags"},
	},
	{
		path:     "cmd/ktx/internal/lsp",
		noStd:    []string{"database/*", "net/http", "net/http/*"},
		ours:     []string{"sqlcheck/fix", "sqlcheck/report", "sqlguard"},
		testOurs: []string{"dialects", "sqlcheck"},
		others:   map[string]string{"github.com/sourcegraph/jsonrpc2": "JSON-RPC with the headers of editors, 0.1 MB; types of the whole protocol would be 2 MB for a dozen messages"},
	},
	{
		path: "cmd/ktx/internal/cli/sql",
		ours: []string{
			"cmd/ktx/internal/atomicfile", "cmd/ktx/internal/cli/console", "cmd/ktx/internal/cli/wiring", "cmd/ktx/internal/collector", "cmd/ktx/internal/lsp",
			"execution", "research", "research/catalog", "sqlcheck", "sqlcheck/fix", "sqlcheck/migration", "sqlcheck/report", "sqlcheck/source", "sqlguard",
		},
		others: map[string]string{
			"github.com/rogpeppe/go-internal": "shows what --fix rewrites as a diff",
			"github.com/peterh/liner":         "edits the lines of the shell, with history and completion",
			"github.com/spf13/cobra":          "commands and their flags",
		},
		testOthers: map[string]string{"github.com/parquet-go/parquet-go": "reads the Parquet files; it would add 6 MB to ktx"},
	},
	{
		path: "cmd/ktx/internal/daemon",
		ours: []string{"httpapi"},
	},
	{path: "cmd/ktx/internal/demo"},
	{
		path:    "cmd/ktx/internal/demo/gen",
		others:  map[string]string{"github.com/ncruces/go-sqlite3": "makes the demo's database"},
		support: true,
	},
	{
		path: "cmd/ktx/internal/project",
		ours: []string{"sqlguard", "sqlcheck/migration", "execution", "execution/audit", "httpapi", "research/upstream"},
		others: map[string]string{
			"github.com/joho/godotenv":        "reads the file of variables that the key env names",
			"github.com/pelletier/go-toml/v2": "reads the servers in a file of Codex",
			"github.com/tailscale/hujson":     "reads the servers in a client's file of JSON with comments",
			"go.yaml.in/yaml/v3":              "reads ktx.yaml with lines and columns",
		},
	},
	{
		path:       "cmd/ktx/internal/setup",
		ours:       []string{"cmd/ktx/internal/atomicfile", "cmd/ktx/internal/setup/edit"},
		others:     map[string]string{"github.com/rogpeppe/go-internal": "shows what changes in a file"},
		testOurs:   []string{"dialects", "sqlguard"},
		testOthers: map[string]string{"go.yaml.in/yaml/v3": "reads the heads of skill files"},
	},
	{
		path:  "cmd/ktx/internal/setup/edit",
		noStd: noOutside,
		others: map[string]string{
			"github.com/pelletier/go-toml/v2": "finds the positions of keys in a TOML file",
			"github.com/tailscale/hujson":     "finds the positions of members in a JSON file with comments and trailing commas",
			"go.yaml.in/yaml/v3":              "finds the lines of keys in a YAML file",
		},
	},
	{
		path:   "cmd/ktx/internal/rpc",
		others: map[string]string{"github.com/modelcontextprotocol/go-sdk": "the messages that transports hand to the SDK"},
	},
	{
		path:       "cmd/ktx/internal/stdio",
		ours:       []string{"cmd/ktx/internal/rpc", "execution/alarm"},
		others:     map[string]string{"github.com/modelcontextprotocol/go-sdk": "the sessions that the transport serves", "golang.org/x/sys": "asks what a client has not read"},
		testOthers: map[string]string{"pgregory.net/rapid": "messages that the SDK's decoder reads too"},
	},
	{
		path:     "cmd/ktx/internal/streamable",
		ours:     []string{"cmd/ktx/internal/rpc", "httpapi"},
		others:   map[string]string{"github.com/modelcontextprotocol/go-sdk": "the HTTP handlers for sessions and for stateless requests"},
		testOurs: []string{"execution", "execution/audit", "execution/audit/audittest", "sqlguard"},
	},
	{
		path:    "cmd/ktx/internal/streamable/everything",
		ours:    []string{"cmd/ktx/internal/streamable", "execution/audit", "execution/audit/audittest", "httpapi", "sqlguard"},
		others:  map[string]string{"github.com/modelcontextprotocol/go-sdk": "the server that the fixture for the conformance suite makes"},
		support: true,
	},
	{path: "cmd/ktx-prove", ours: []string{"cmd/ktx-prove/internal/prove"}, support: true},
	{
		path:     "cmd/ktx-prove/internal/prove",
		ours:     []string{"corpus", "dialects", "sqlguard", "execution/executiontest/chengine", "execution/executiontest/testdb"},
		testOurs: []string{"corpus/mutate", "execution/executiontest/executable"},
		others: map[string]string{
			"github.com/duckdb/duckdb-go-bindings":   "runs a case on a file of DuckDB",
			"github.com/go-sql-driver/mysql":         "reads the errors of the server",
			"github.com/jackc/pgx/v5":                "sends a case to the server byte for byte",
			"github.com/modelcontextprotocol/go-sdk": "asks an MCP server",
			"github.com/ncruces/go-sqlite3":          "runs a case on a file",
			"go.yaml.in/yaml/v3":                     "reads the class files of the corpus",
		},
		support: true,
	},
	{
		path:     "tools/upstreams",
		testOurs: []string{"corpus", "execution/executiontest/executable", "execution/executiontest/testdb"},
		testOthers: map[string]string{
			"github.com/modelcontextprotocol/go-sdk": "an agent that calls other servers through ktx",
		},
		support: true,
	},
	{
		path:     "tools/conformance",
		testOurs: []string{"execution/executiontest/testdb"},
		testOthers: map[string]string{
			"go.yaml.in/yaml/v3": "reads which scenarios the suite requires",
		},
		support: true,
	},
	{path: "tools/admin", ours: []string{"dialects", "sqlguard"}, support: true},
	{path: "tools/eval", ours: []string{"tools/eval/kit"}, support: true},
	{
		path: "tools/eval/kit",
		ours: []string{"research/catalog", "research/dictionary/dictionarytest", "research/rank", "research/scan/relate/relatetest", "research/wiki/wikitest"},
		others: map[string]string{
			"github.com/modelcontextprotocol/go-sdk": "asks ktx mcp stdio",
			"go.yaml.in/yaml/v3":                     "writes ktx.yaml",
			"golang.org/x/term":                      "finds out whether progress goes to a terminal",
		},
		testOurs: []string{"execution/executiontest/executable"},
		support:  true,
	},
	{path: "tools/eval/upstreams", ours: []string{"research/upstream"}, support: true},
	{
		path:    "tools/eval/skills",
		ours:    []string{"research/rank", "research/skills", "research/skills/litestore"},
		others:  map[string]string{"go.yaml.in/yaml/v3": "reads and writes the heads of skills"},
		support: true,
	},
	{path: "tools/eval/relations", ours: []string{"research/catalog", "research/scan/relate", "research/scan/relate/relatetest"}, support: true},
	{
		path: "tools/install",
		testOthers: map[string]string{
			"github.com/modelcontextprotocol/go-sdk":   "asks the installed ktx",
			"github.com/santhosh-tekuri/jsonschema/v6": "checks server.json and the bill of materials",
		},
		support: true,
	},
	{path: "tools/flow", ours: []string{"sqlcheck/source"}, support: true},
	{
		path:    "tools/flow/golang",
		others:  map[string]string{"golang.org/x/mod": "reads which packages belong to a module"},
		support: true,
	},
	{
		path: "tools/growth",
		ours: []string{"dialects/clickhouse", "execution/executiontest/chengine", "sqlguard"},
		others: map[string]string{
			"github.com/go-sql-driver/mysql": "asks MariaDB, without the guard",
			"github.com/jackc/pgx/v5":        "asks PostgreSQL, without the guard",
			"github.com/ncruces/go-sqlite3":  "asks SQLite, without the guard",
		},
		support: true,
	},
	{path: "tools/perf", support: true},
	{path: "tools/skills", testOurs: []string{"research/skills", "research/skills/pgstore", "research/skills/skillstest"}, support: true},
	{
		path: "tools/release",
		others: map[string]string{
			"github.com/google/licensecheck":         "recognises the licences of linked modules",
			"golang.org/x/crypto/x509roots/fallback": "the certificates in the container image",
		},
		support: true,
	},
	{path: "tools/glove", ours: []string{"research/rank", "research/wiki", "research/wiki/glove", "research/wiki/wordnet", "tools/wordnet/database"}, support: true},
	{path: "tools/wordnet", ours: []string{"tools/wordnet/database"}, testOurs: []string{"research/wiki/wordnet"}, support: true},
	{path: "tools/wordnet/database", support: true},
	{path: "tools/scoreboard", ours: []string{"corpus"}, support: true},
}

func roomOf(rel string) (room, bool) {
	i := slices.IndexFunc(rooms, func(r room) bool { return r.path == rel })
	if i < 0 {
		return room{}, false
	}
	return rooms[i], true
}

// imports returns the imports of a package's code and the imports of its tests. It
// includes the files that this build leaves out.
func imports(t *testing.T, p listed) (code, tests []string) {
	t.Helper()
	code = slices.Clone(p.Imports)
	tests = slices.Concat(p.TestImports, p.XTestImports)
	for _, name := range p.IgnoredGoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "_test.go") {
				tests = append(tests, importPath)
			} else {
				code = append(code, importPath)
			}
		}
	}
	return code, tests
}

// judge returns the imports of one package that its row does not allow.
func (r room) judge(rel string, importPaths []string, inTest bool, reqs []requirement) []string {
	oursAllowed, others := r.ours, maps.Clone(r.others)
	if inTest {
		oursAllowed = slices.Concat(r.ours, r.testOurs, []string{rel})
		others = maps.Clone(everyTest)
		maps.Copy(others, r.others)
		maps.Copy(others, r.testOthers)
	}
	var bad []string
	for _, importPath := range importPaths {
		first, _, _ := strings.Cut(importPath, "/")
		switch {
		case ours(importPath):
			target := strings.TrimPrefix(importPath, module+"/")
			targetRoom, known := roomOf(target)
			if !known || !allows(oursAllowed, target, targetRoom) {
				bad = append(bad, target)
			}
		case strings.Contains(first, "."):
			if _, ok := others[moduleOf(importPath, reqs)]; !ok {
				bad = append(bad, importPath)
			}
		case inTest:
			// Tests may use all of the standard library.
		case r.std != nil && !slices.Contains(r.std, importPath), matches(r.noStd, importPath):
			bad = append(bad, importPath)
		}
	}
	return bad
}

// allows reports whether the patterns match a package of this module. "..." does not
// match test support.
func allows(patterns []string, target string, targetRoom room) bool {
	if targetRoom.support {
		patterns = slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return p == "..." })
	}
	return matches(patterns, target)
}

func TestImportsFollowTheTable(t *testing.T) {
	reqs, err := requirements()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, b := range tested() {
		t.Run(b.name, func(t *testing.T) {
			pkgs, err := b.own()
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pkgs {
				r, ok := roomOf(p.rel())
				if !ok {
					t.Errorf("%s has no row in the import table", p.rel())
					continue
				}
				seen[r.path] = true
				code, tests := imports(t, p)
				for _, bad := range r.judge(p.rel(), code, false, reqs) {
					t.Errorf("%s imports %s, which its row does not allow", p.rel(), bad)
				}
				for _, bad := range r.judge(p.rel(), tests, true, reqs) {
					t.Errorf("the tests of %s import %s, which its row does not allow", p.rel(), bad)
				}
			}
		})
	}
	for _, r := range rooms {
		if !seen[r.path] {
			t.Errorf("the row %s has no package", r.path)
		}
	}
}

// TestTheTableRefuses shows that each part of a row can refuse an import.
func TestTheTableRefuses(t *testing.T) {
	reqs, err := requirements()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rel, importPath string
		inTest, allowed bool
	}{
		{rel: "sqlguard", importPath: "strings", allowed: true},
		{rel: "sqlguard", importPath: "net/http"},
		{rel: "sqlguard", importPath: "os"},
		{rel: "sqlguard", importPath: "os", inTest: true, allowed: true},
		{rel: "sqlguard", importPath: "github.com/google/go-cmp/cmp"},
		{rel: "sqlguard", importPath: "github.com/google/go-cmp/cmp", inTest: true, allowed: true},
		{rel: "sqlguard", importPath: "github.com/jackc/pgx/v5", inTest: true},
		{rel: "sqlguard", importPath: "example.com/unknown", inTest: true},
		{rel: "sqlguard", importPath: module + "/dialects"},
		{rel: "sqlguard", importPath: module + "/sqlguard", inTest: true, allowed: true},
		{rel: "dialects/postgres", importPath: "github.com/pganalyze/pg_query_go/v6/parser", allowed: true},
		{rel: "dialects/postgres", importPath: "net"},
		{rel: "dialects/postgres", importPath: "database/sql"},
		{rel: "dialects/sqlite", importPath: "github.com/pganalyze/pg_query_go/v6"},
		{rel: "execution", importPath: module + "/dialects/postgres"},
		{rel: "execution", importPath: module + "/execution/executiontest"},
		{rel: "execution", importPath: module + "/execution/executiontest", inTest: true, allowed: true},
		{rel: "execution/pgdb", importPath: module + "/execution/sqlitedb"},
		{rel: "cmd/ktx/internal/cli", importPath: module + "/cmd/ktx/internal/cli/sql", allowed: true},
		{rel: "cmd/ktx/internal/cli", importPath: module + "/execution/pgdb"},
		{rel: "cmd/ktx/internal/cli/wiring", importPath: module + "/execution/pgdb", allowed: true},
		{rel: "cmd/ktx/internal/cli/wiring", importPath: module + "/execution/executiontest/testdb"},
		{rel: "cmd/ktx/internal/cli/sql", importPath: module + "/cmd/ktx/internal/cli/audit"},
		{rel: "cmd/ktx/internal/cli/sql", importPath: module + "/execution/pgdb"},
		{rel: "cmd/ktx/internal/cli", importPath: module + "/execution/executiontest/testdb"},
		{rel: "cmd/ktx/internal/cli", importPath: module + "/execution/executiontest/testdb", inTest: true, allowed: true},
		{rel: "cmd/ktx/internal/cli", importPath: module + "/no/such/room"},
		{rel: "cmd/ktx", importPath: "github.com/spf13/cobra"},
	} {
		r, ok := roomOf(c.rel)
		if !ok {
			t.Errorf("no row for %s", c.rel)
			continue
		}
		if bad := r.judge(c.rel, []string{c.importPath}, c.inTest, reqs); (len(bad) == 0) != c.allowed {
			t.Errorf("%s imports %s (in tests: %t): allowed = %t, want %t", c.rel, c.importPath, c.inTest, !c.allowed, c.allowed)
		}
	}
	if r, ok := roomOf("cmd/ktx/internal/cli/deeper"); ok {
		t.Errorf("a package below a package has the row of %s", r.path)
	}
}

// TestEveryDependencyHasAReason compares go.mod with the table: each direct
// dependency is in a row, each module in a row is a direct dependency, and the
// packages of that row import it.
func TestEveryDependencyHasAReason(t *testing.T) {
	reqs, err := requirements()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]map[string]bool{} // modules by row; the tests of a row have their own key
	usedAnywhere := map[string]bool{}
	for _, b := range builds {
		pkgs, err := b.own()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pkgs {
			r, _ := roomOf(p.rel())
			code, tests := imports(t, p)
			for key, importPaths := range map[string][]string{r.path: code, r.path + " (tests)": tests} {
				for _, importPath := range importPaths {
					if used[key] == nil {
						used[key] = map[string]bool{}
					}
					used[key][moduleOf(importPath, reqs)] = true
					usedAnywhere[moduleOf(importPath, reqs)] = true
				}
			}
		}
	}
	direct := map[string]bool{}
	for _, r := range reqs {
		direct[r.Path] = !r.Indirect
	}
	named := map[string]bool{}
	check := func(where string, modules map[string]string, used map[string]bool) {
		for path, reason := range modules {
			named[path] = true
			if reason == "" {
				t.Errorf("%s: %s has no reason", where, path)
			}
			if !direct[path] {
				t.Errorf("%s: %s is not a direct dependency in go.mod", where, path)
			}
			if !used[path] {
				t.Errorf("%s: %s is not imported", where, path)
			}
		}
	}
	check("all tests", everyTest, usedAnywhere)
	for _, r := range rooms {
		check(r.path, r.others, used[r.path])
		check(r.path+" (tests)", r.testOthers, used[r.path+" (tests)"])
	}
	for path, isDirect := range direct {
		if isDirect && !named[path] {
			t.Errorf("go.mod: no row gives a reason for %s", path)
		}
	}
}

// TestShippedBinaryHasNoTestCode looks at everything that is linked into ktx.
func TestShippedBinaryHasNoTestCode(t *testing.T) {
	reqs, err := requirements()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range tested() {
		t.Run(b.name, func(t *testing.T) {
			pkgs, err := goList(b.cgo, "-deps", "./cmd/ktx")
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range notShipped(pkgs, reqs) {
				t.Errorf("cmd/ktx contains %s", bad)
			}
		})
	}
	planted := []listed{
		{ImportPath: "testing"},
		{ImportPath: "strings"},
		{ImportPath: "pgregory.net/rapid"},
		{ImportPath: module + "/execution"},
		{ImportPath: module + "/execution/executiontest/testdb"},
	}
	if got := notShipped(planted, reqs); len(got) != 3 {
		t.Errorf("notShipped must find three of the planted packages, and found %v", got)
	}
}

// testingImporter is the one package in ktx that may import testing. The stemmer has
// a helper of its tests in a file that is not a test.
const testingImporter = "github.com/kljensen/snowball/romance"

// notShipped returns the packages of a program that are for tests only.
func notShipped(pkgs []listed, reqs []requirement) []string {
	shipped := map[string]bool{}
	for _, r := range rooms {
		for path := range r.others {
			shipped[path] = shipped[path] || !r.support
		}
	}
	var bad []string
	importers := map[string][]string{}
	for _, p := range pkgs {
		for _, i := range p.Imports {
			importers[i] = append(importers[i], p.ImportPath)
		}
	}
	for _, p := range pkgs {
		r, _ := roomOf(p.rel())
		path := moduleOf(p.ImportPath, reqs)
		isDirect := slices.Contains(reqs, requirement{Path: path})
		if p.ImportPath == "testing" && !slices.Equal(importers["testing"], []string{testingImporter}) || (ours(p.ImportPath) && r.support) || (isDirect && !shipped[path]) {
			bad = append(bad, p.ImportPath)
		}
	}
	return bad
}

// TestBothParsersNeverMeet checks that no build links both PostgreSQL parsers. A
// binary with both panics at start.
func TestBothParsersNeverMeet(t *testing.T) {
	for _, b := range tested() {
		t.Run(b.name, func(t *testing.T) {
			pkgs, err := goList(b.cgo, "-deps", "./cmd/ktx")
			if err != nil {
				t.Fatal(err)
			}
			want, other := "github.com/pganalyze/pg_query_go/v6", "github.com/sqlc-dev/oliphant"
			if !b.cgo {
				want, other = other, want
			}
			has := func(prefix string) bool {
				return slices.ContainsFunc(pkgs, func(p listed) bool {
					return p.ImportPath == prefix || strings.HasPrefix(p.ImportPath, prefix+"/")
				})
			}
			if !has(want) || has(other) {
				t.Errorf("has %s: %t, has %s: %t", want, has(want), other, has(other))
			}
		})
	}
}
