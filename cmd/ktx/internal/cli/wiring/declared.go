package wiring

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/sqlcheck"
)

// declared finds the dialect of a file in the configuration of other tools
// around it: sqlc, dbt, SQLFluff, Prisma, Alembic, and the drivers in lists of packages. It
// reads regular files only, never outside of the repository of the file.
type declared struct {
	mu      sync.Mutex
	folders map[string]*toolFiles
	tops    map[string]string // the tree of each folder
	current string            // the current folder
}

// toolFiles is what the files in one folder declare.
type toolFiles struct {
	sqlc    []sqlcQueries
	dialect string // of everything in the folder
	golang  string // of its files in Go and SQL
	prisma  string // of its files in TypeScript, JavaScript and SQL
	alembic string // of its files in Python and SQL
	// packages are the drivers in its lists of packages for Python, JavaScript and TypeScript.
	packages packageLists
	// builds are those in the lists of other languages, for its files of SQL. workspace and
	// modules are those of the members of a workspace, for files in TypeScript, JavaScript
	// and SQL, and for those in Go.
	builds, workspace, modules string
	dbt                        bool // it is a dbt project
	// adapters are the dialects of the dbt adapters that its lists of Python packages name.
	adapters []string
}

// sqlcQueries is the dialect of some files and folders.
type sqlcQueries struct {
	paths   []string
	dialect string
}

// maxToolFile is the most bytes that are read of a tool's configuration.
const maxToolFile = 1 << 20

// dialectOf returns the dialect that the nearest configuration declares for a
// file, or "". listed reports whether only a list of packages says so.
func (d *declared) dialectOf(path string) (dialect string, listed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path, ok := d.absolute(path)
	if !ok {
		return "", false
	}
	if d.folders == nil {
		d.folders, d.tops = map[string]*toolFiles{}, map[string]string{}
	}
	extension := strings.ToLower(filepath.Ext(path))
	top, known := d.tops[filepath.Dir(path)]
	if !known {
		top = sqlcheck.Tree(filepath.Dir(path))
		d.tops[filepath.Dir(path)] = top
	}
	var above []string // the folders of the file, up to its tree
	dbt := false       // it belongs to a dbt project, in which folders have the names of sources
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		above = append(above, folder)
		if d.folders[folder] == nil {
			d.folders[folder] = readToolFiles(folder)
		}
		dbt = dbt || d.folders[folder].dbt
		if folder == top || folder == filepath.Dir(folder) {
			break
		}
	}
	for _, folder := range above {
		found := d.folders[folder]
		name, listed := found.of(path, extension)
		switch {
		case name != "":
		case !dbt && folder != top:
			if name = dialectNamed(filepath.Base(folder)); extension != ".sql" && (name == "snowflake" || name == "databricks") {
				name = "" // pkg/snowflake can be of identifiers
			}
		case dbt && len(found.adapters) == 1:
			name = found.adapters[0]
		}
		if name == undecided {
			return "", false
		}
		if name != "" {
			return name, listed
		}
	}
	return "", false
}

// absolute returns the absolute path of a file. It asks for the current folder once.
func (d *declared) absolute(path string) (absolute string, ok bool) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), true
	}
	if d.current == "" {
		current, err := os.Getwd()
		if err != nil {
			return "", false
		}
		d.current = current
	}
	return filepath.Join(d.current, path), true
}

// wordOf returns the dialect that is a word in the name of a file, or of the nearest
// folder that has one, such as northwind-mysql.sql and db_mysql/init.sql, or "". Where
// the words differ they say nothing, nor do they in a dbt project, whose files have the
// names of sources.
func (d *declared) wordOf(path string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	path, ok := d.absolute(path)
	if !ok {
		return ""
	}
	folder := filepath.Dir(path)
	top := d.tops[folder] // dialectOf has seen it
	var names []string
	for at := folder; ; at = filepath.Dir(at) {
		if found := d.folders[at]; found == nil || found.dbt {
			return ""
		}
		if at == top || at == filepath.Dir(at) {
			break
		}
		names = append(names, filepath.Base(at))
	}
	for _, name := range append([]string{filepath.Base(path)}, names...) {
		words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
		var found []string
		for i, word := range words {
			if i > 0 && isDialect(words[i-1]+word) { // sql_server, big-query
				word = words[i-1] + word
			}
			if isDialect(word) || i > 0 && words[i-1] == "dbt" && skipped(word) != nil { // an adapter, such as dbt-snowflake
				found = append(found, dialectName(word))
			}
		}
		slices.Sort(found)
		if found = slices.Compact(found); len(found) > 0 {
			if len(found) > 1 {
				return ""
			}
			return found[0]
		}
	}
	return ""
}

// plainEngines are those of otherEngines whose names mean nothing else. A file is not
// skipped because a folder or a file is called synapse, spark or oracle.
var plainEngines = []string{"cockroachdb", "cockroach", "crdb", "snowflake", "databricks", "h2", "hsqldb"}

// dialectNamed returns the dialect that a folder, a part of the name of a file or a word
// in the name of a profile is, such as in migrations/postgres.
func dialectNamed(name string) string {
	name = strings.ToLower(name)
	if isDialect(name) || slices.Contains(plainEngines, name) {
		return name
	}
	return ""
}

// of returns the dialect that is declared for a file, and whether only a list of packages
// says so. Declarations that differ say nothing.
func (f *toolFiles) of(path, extension string) (dialect string, listed bool) {
	for _, q := range f.sqlc {
		for _, p := range q.paths {
			if rel, err := filepath.Rel(p, path); err == nil && filepath.IsLocal(rel) {
				return q.dialect, false
			}
		}
	}
	if f.dialect != "" {
		return f.dialect, false
	}
	var names []string
	switch extension {
	case ".go":
		names = []string{f.golang}
	case ".py", ".ipynb":
		names = []string{f.alembic}
	case ".sql":
		names = []string{f.golang, f.prisma, f.alembic}
	default:
		names = []string{f.prisma}
	}
	if names = slices.DeleteFunc(names, func(name string) bool { return name == "" }); len(names) == 0 {
		names, listed = f.drivers(extension), true
		for i, name := range names {
			if own, ok := strings.CutPrefix(name, beside); ok {
				if names[i] = undecided; migrationFolder.MatchString(path) {
					names[i] = own
				}
			}
		}
	}
	slices.Sort(names)
	switch names = slices.Compact(names); len(names) {
	case 0:
		return "", false
	case 1:
		return names[0], listed
	default:
		return undecided, false
	}
}

// drivers returns the dialects of the drivers in the lists of packages for a file.
func (f *toolFiles) drivers(extension string) []string {
	names := []string{cmp.Or(f.packages.script, f.workspace)}
	switch extension {
	case ".go":
		names = []string{f.modules}
	case ".py", ".ipynb":
		names = []string{f.packages.python}
	case ".sql":
		names = append(names, f.packages.python, f.builds, f.modules)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// toolFolder is a folder in which tools have their configuration.
type toolFolder struct {
	path  string
	names map[string]bool // what is in it; nil if nobody may list it
}

func openToolFolder(path string) toolFolder {
	folder := toolFolder{path: path}
	if entries, err := os.ReadDir(path); err == nil {
		folder.names = make(map[string]bool, len(entries))
		for _, e := range entries {
			folder.names[strings.ToLower(e.Name())] = true // some systems do not tell case apart
		}
	}
	return folder
}

// read returns the content of the first of some names that is a small regular file.
func (f toolFolder) read(names ...string) []byte {
	for _, name := range names {
		if first, _, _ := strings.Cut(strings.ToLower(name), "/"); f.names != nil && !f.names[first] {
			continue
		}
		path := filepath.Join(f.path, name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxToolFile {
			if content, err := os.ReadFile(path); err == nil && len(content) > 0 { //nolint:gosec // a regular file in the tree that is checked
				return content
			}
		}
	}
	return nil
}

func readToolFiles(path string) *toolFiles {
	folder := openToolFolder(path)
	f := &toolFiles{sqlc: sqlcDeclares(folder), golang: goDriver(folder.read("go.mod"))}
	f.dialect = fluffDialect(folder.read(".sqlfluff"))
	if project := folder.read("dbt_project.yml", "dbt_project.yaml"); project != nil {
		f.dbt = true
		f.dialect = cmp.Or(f.dialect, dbtProfile(project, folder.read("profiles.yml", "profiles.yaml")), dbtProject(project))
	}
	for _, name := range []string{"requirements.txt", "requirements.in", "requirements-dev.txt", "dev-requirements.txt", "pyproject.toml", "Pipfile", "setup.py", "setup.cfg", "environment.yml"} {
		f.adapters = append(f.adapters, dbtAdapters(folder.read(name))...)
	}
	slices.Sort(f.adapters)
	f.adapters = slices.Compact(f.adapters)
	f.prisma = prismaProvider(folder.read("schema.prisma", "prisma/schema.prisma"))
	f.alembic = alembicURL(folder.read("alembic.ini"))
	f.packages = readPackages(folder)
	f.builds = readBuilds(folder)
	f.workspace, f.modules = readWorkspace(folder)
	return f
}

// sqlcDeclares returns what sqlc.yaml says, in version 1 or 2.
func sqlcDeclares(folder toolFolder) (all []sqlcQueries) {
	var config struct {
		SQL      []map[string]any `json:"sql"      yaml:"sql"`
		Packages []map[string]any `json:"packages" yaml:"packages"`
	}
	if content := folder.read("sqlc.yaml", "sqlc.yml"); content != nil {
		if yaml.Unmarshal(content, &config) != nil {
			return nil
		}
	} else if content := folder.read("sqlc.json"); content == nil || json.Unmarshal(content, &config) != nil {
		return nil
	}
	for _, e := range append(config.SQL, config.Packages...) {
		engine, _ := e["engine"].(string)
		if engine == "" {
			engine = "postgresql" // of version 1
		}
		q := sqlcQueries{dialect: engine}
		for _, member := range []string{"queries", "schema"} {
			var names []any
			switch v := e[member].(type) {
			case string:
				names = []any{v}
			case []any:
				names = v
			}
			for _, name := range names {
				if text, ok := name.(string); ok && filepath.IsLocal(filepath.FromSlash(text)) {
					pattern := filepath.Join(folder.path, filepath.FromSlash(text))
					if matched, err := filepath.Glob(pattern); err == nil && strings.ContainsAny(text, "*?[") {
						q.paths = append(q.paths, matched...)
						continue
					}
					q.paths = append(q.paths, pattern)
				}
			}
		}
		all = append(all, q)
	}
	return all
}

// fluffDialect returns the dialect of a .sqlfluff. Its ansi is no product's.
func fluffDialect(content []byte) string {
	if name := inSection(content, "sqlfluff", "dialect"); name != "ansi" {
		return name
	}
	return ""
}

// inSection returns the value of a key in a section of an INI file.
func inSection(content []byte, section, key string) string {
	here := false
	lines := bufio.NewScanner(strings.NewReader(string(content)))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			here = line == "["+section+"]"
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if here && ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// dbtProfile returns the adapter of a dbt project whose profiles lie beside it. Outputs
// of the profile that differ say nothing, unless it names one of them as its target.
func dbtProfile(project, profiles []byte) string {
	var p struct {
		Profile string `yaml:"profile"`
	}
	var all map[string]struct {
		Target  string `yaml:"target"`
		Outputs map[string]struct {
			Type string `yaml:"type"`
		} `yaml:"outputs"`
	}
	if profiles == nil || yaml.Unmarshal(project, &p) != nil || yaml.Unmarshal(profiles, &all) != nil {
		return ""
	}
	profile := all[p.Profile]
	if target, ok := profile.Outputs[profile.Target]; ok {
		return target.Type
	}
	name := ""
	for _, output := range profile.Outputs {
		if name != "" && name != output.Type {
			return ""
		}
		name = output.Type
	}
	return name
}

// dbtSettings are settings of models that only one adapter has.
var dbtSettings = map[string]string{
	"snowflake_warehouse": "snowflake", "copy_grants": "snowflake", "transient": "snowflake", "query_tag": "snowflake",
	"file_format": "databricks", "location_root": "databricks", "tblproperties": "databricks", "databricks_tags": "databricks",
	"hours_to_expiration": "bigquery", "grant_access_to": "bigquery", "maximum_bytes_billed": "bigquery",
}

// dbtProject returns the dialect that the file of a dbt project names: a word in the name
// of its profile, or settings that only one adapter has.
func dbtProject(project []byte) string {
	var p map[string]any
	if yaml.Unmarshal(project, &p) != nil {
		return ""
	}
	var names []string
	profile, _ := p["profile"].(string)
	for word := range strings.FieldsFuncSeq(strings.ToLower(profile), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if name := dialectNamed(word); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		for _, section := range []string{"models", "snapshots", "seeds", "tests", "data_tests"} {
			names = append(names, dbtSettingsIn(p[section])...)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 1 {
		return names[0]
	}
	return ""
}

// dbtSettingsIn returns the dialects of the settings in a section of a dbt project.
func dbtSettingsIn(section any) (names []string) {
	settings, _ := section.(map[string]any)
	for key, value := range settings {
		if name := dbtSettings[strings.TrimPrefix(key, "+")]; name != "" {
			names = append(names, name)
		}
		names = append(names, dbtSettingsIn(value)...)
	}
	return names
}

// dbtAdapters returns the dialects of the adapters in a list of Python packages, such as
// dbt-snowflake==1.9.
func dbtAdapters(list []byte) (names []string) {
	for line := range strings.Lines(string(list)) {
		line, _, _ = strings.Cut(line, "#")
		for word := range strings.FieldsFuncSeq(strings.ToLower(line), func(r rune) bool { return r != '-' && r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
			if adapter, ok := strings.CutPrefix(strings.ReplaceAll(word, "_", "-"), "dbt-"); ok {
				if isDialect(adapter) || skipped(adapter) != nil {
					names = append(names, adapter)
				}
			}
		}
	}
	return names
}

// prismaComment is a comment of Prisma, in which its templates have other data sources.
var prismaComment = regexp.MustCompile(`(?m)^[ \t]*//.*$`)

var prismaDatasource = regexp.MustCompile(`(?s)\bdatasource\s+\w+\s*\{[^}]*?\bprovider\s*=\s*"([a-z0-9]+)"`)

func prismaProvider(content []byte) string {
	if found := prismaDatasource.FindSubmatch(prismaComment.ReplaceAll(content, nil)); found != nil {
		return string(found[1])
	}
	return ""
}

// alembicURL returns the dialect in the URL of an alembic.ini, such as
// postgresql+psycopg://….
func alembicURL(content []byte) string {
	u, err := url.Parse(inSection(content, "alembic", "sqlalchemy.url"))
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(u.Scheme, "+")
	if name == "driver" { // the template of alembic init
		return ""
	}
	return name
}

// goDrivers are the dialects of drivers in Go.
var goDrivers = map[string]string{
	"github.com/lib/pq": "postgres", "github.com/jackc/pgx": "postgres", "github.com/jackc/pgx/v4": "postgres", "github.com/jackc/pgx/v5": "postgres",
	"gorm.io/driver/postgres": "postgres", "github.com/go-sql-driver/mysql": "mysql", "gorm.io/driver/mysql": "mysql",
	"github.com/mattn/go-sqlite3": "sqlite", "modernc.org/sqlite": "sqlite", "github.com/ncruces/go-sqlite3": "sqlite", "github.com/glebarez/sqlite": "sqlite",
	"github.com/glebarez/go-sqlite": "sqlite", "gorm.io/driver/sqlite": "sqlite", "zombiezen.com/go/sqlite": "sqlite", "crawshaw.io/sqlite": "sqlite",
	"github.com/microsoft/go-mssqldb": "sqlserver", "github.com/denisenkom/go-mssqldb": "sqlserver", "gorm.io/driver/sqlserver": "sqlserver",
	"github.com/ClickHouse/clickhouse-go": "clickhouse", "github.com/ClickHouse/clickhouse-go/v2": "clickhouse", "github.com/ClickHouse/ch-go": "clickhouse",
	"cloud.google.com/go/bigquery":        "bigquery",
	"github.com/cockroachdb/cockroach-go": "cockroachdb", "github.com/cockroachdb/cockroach-go/v2": "cockroachdb", "github.com/snowflakedb/gosnowflake": "snowflake",
	"github.com/databricks/databricks-sql-go": "databricks", "github.com/sijms/go-ora/v2": "oracle", "github.com/godror/godror": "oracle", "github.com/trinodb/trino-go-client": "trino",
	"github.com/gocql/gocql": "cassandra", "github.com/apache/cassandra-gocql-driver/v2": "cassandra", "github.com/scylladb/gocqlx": "cassandra", "github.com/prestodb/presto-go-client": "presto",
	"github.com/beltran/gohive": "hive", "github.com/vertica/vertica-sql-go": "vertica", "github.com/exasol/exasol-driver-go": "exasol", "github.com/uber/athenadriver": "athena",
	"cloud.google.com/go/spanner": "spanner", "github.com/googleapis/go-sql-spanner": "spanner",
	"github.com/marcboeker/go-duckdb": "duckdb", "github.com/marcboeker/go-duckdb/v2": "duckdb", "github.com/duckdb/duckdb-go/v2": "duckdb",
}

// goDriver returns the dialect of the drivers that a go.mod requires itself, if
// they are all of one.
func goDriver(content []byte) string {
	name := ""
	lines := bufio.NewScanner(strings.NewReader(string(content)))
	for lines.Scan() {
		line := lines.Text()
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) < 2 || strings.Contains(line, "// indirect") || strings.Contains(line, "=>") {
			continue
		}
		if d := goDrivers[strings.Trim(fields[0], `"`)]; d != "" {
			if name != "" && name != d {
				return undecided
			}
			name = d
		}
	}
	return name
}

// undecided is what a folder declares whose own declarations differ. What folders above
// it declare is not for its files either.
const undecided = "?"

// pythonDrivers and scriptDrivers are the dialects of drivers in Python, and in JavaScript
// and TypeScript.
var (
	pythonDrivers = map[string]string{
		"psycopg": "postgres", "psycopg2": "postgres", "asyncpg": "postgres", "pg8000": "postgres", "pymysql": "mysql", "MySQLdb": "mysql", "mysql.connector": "mysql", "aiomysql": "mysql",
		"sqlite3": "sqlite", "aiosqlite": "sqlite", "apsw": "sqlite", "pymssql": "sqlserver", "duckdb": "duckdb", "clickhouse_driver": "clickhouse", "clickhouse_connect": "clickhouse",
		"google.cloud.bigquery": "bigquery", "snowflake.connector": "snowflake", "snowflake.snowpark": "snowflake", "databricks.sql": "databricks", "pyspark.sql": "spark", "oracledb": "oracle", "cx_Oracle": "oracle",
		"pyhive.hive": "hive", "pyhive.trino": "trino", "pyhive.presto": "presto", "impala.dbapi": "impala", "trino": "trino", "prestodb": "presto", "pyathena": "athena", "teradatasql": "teradata",
		"vertica_python": "vertica", "pyexasol": "exasol", "ibm_db": "db2", "ibm_db_dbi": "db2", "redshift_connector": "redshift", "cassandra.cluster": "cassandra", "google.cloud.spanner": "spanner",
		"airflow.providers.postgres": "postgres", "airflow.providers.mysql": "mysql", "airflow.providers.sqlite": "sqlite", "airflow.providers.microsoft.mssql": "sqlserver",
		"airflow.providers.google.cloud.hooks.bigquery": "bigquery", "airflow.providers.google.cloud.operators.bigquery": "bigquery", "airflow.providers.snowflake": "snowflake",
		"airflow.providers.trino": "trino", "airflow.providers.presto": "presto", "airflow.providers.apache.hive": "hive", "airflow.providers.oracle": "oracle", "airflow.providers.teradata": "teradata",
		"airflow.providers.vertica": "vertica", "airflow.providers.exasol": "exasol", "airflow.providers.databricks": "databricks",
	}
	scriptDrivers = map[string]string{
		"pg": "postgres", "postgres": "postgres", "pg-promise": "postgres", "@neondatabase/serverless": "postgres", "@vercel/postgres": "postgres", "mysql": "mysql", "mysql2": "mysql", "mysql2/promise": "mysql",
		"better-sqlite3": "sqlite", "sqlite3": "sqlite", "sqlite": "sqlite", "node:sqlite": "sqlite", "bun:sqlite": "sqlite", "@libsql/client": "sqlite", "mssql": "sqlserver", "tedious": "sqlserver",
		"@clickhouse/client": "clickhouse", "@google-cloud/bigquery": "bigquery", "duckdb": "duckdb", "@duckdb/node-api": "duckdb", "@duckdb/duckdb-wasm": "duckdb", "snowflake-sdk": "snowflake", "oracledb": "oracle",
		"cassandra-driver": "cassandra", "@databricks/sql": "databricks", "ibm_db": "db2", "presto-client": "presto", "trino-client": "trino", "@google-cloud/spanner": "spanner",
	}
	pythonImport = regexp.MustCompile(`(?m)^[ \t]*(?:import|from)[ \t]+([\w.]+)(?:[ \t]+import[ \t]+(\w+))?`)
	scriptImport = regexp.MustCompile(`(?:\bfrom|\brequire\(|\bimport\(|\bimport)[ \t]*['"]([^'"\n]+)['"]`)
	// pythonEngine is the URL of a database for SQLAlchemy, and the session of Spark that
	// notebooks and jobs have without an import.
	pythonEngine = regexp.MustCompile(`\bcreate_(?:async_)?engine\([ \t\r\n]*f?["'](\w+)(?:\+\w+)?://|(?m:^[ \t]*(?:\w+[ \t]*=[ \t]*)?(spark)\.sql\()`)
	goImport     = regexp.MustCompile(`(?m)^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([\w./-]+)"[ \t]*\r?$`)
)

// importedDialect returns the dialect of the drivers that a source file imports, if they
// are all of one, and the parts of the text that say so.
func importedDialect(path, text string) (name, said string) {
	differ, django := false, false
	for _, i := range importsOf(path, text) {
		differ = differ || i.dialect != "" && name != "" && name != i.dialect
		name = cmp.Or(name, i.dialect)
		django = django || i.django
		said += "\n" + i.text
	}
	if differ || django && slices.Contains(warehouses, name) { // the models of Django are elsewhere
		return "", said
	}
	return name, said
}

// imports is what in a source file says which dialect it has: text names a driver of a
// dialect, or Django.
type imports struct {
	text, dialect string
	django        bool
}

func importsOf(path, text string) (all []imports) {
	found := func(as, dialect string, django bool) {
		if dialect != "" || django {
			all = append(all, imports{as, dialect, django})
		}
	}
	// driver returns the dialect of a package, or of one that it is in.
	driver := func(drivers map[string]string, name, separator string) string {
		for name != "" {
			if d := drivers[name]; d != "" {
				return d
			}
			name = name[:max(strings.LastIndex(name, separator), 0)]
		}
		return ""
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".go":
		for _, m := range goImport.FindAllStringSubmatch(text, -1) {
			found(m[0], driver(goDrivers, m[1], "/"), false)
		}
	case ".py":
		for _, m := range pythonImport.FindAllStringSubmatch(text, -1) {
			found(m[0], driver(pythonDrivers, m[1]+"."+m[2], "."), m[1] == "django" || strings.HasPrefix(m[1], "django.db"))
		}
		if !strings.Contains(text, "spark.sql(") && !strings.Contains(text, "_engine(") {
			break
		}
		for _, m := range pythonEngine.FindAllStringSubmatch(text, -1) {
			if name := strings.TrimPrefix(cmp.Or(m[1], m[2]), "aws"); isDialect(name) || skipped(name) != nil { // awsathena
				found(m[0], dialectName(name), false)
			}
		}
	case ".sql", ".ipynb":
	default:
		for _, m := range scriptImport.FindAllStringSubmatch(text, -1) {
			found(m[0], scriptDrivers[m[1]], false)
		}
	}
	return all
}

// warehouses are the dialects of drivers that a program often has beside its own database.
var warehouses = []string{"bigquery", "snowflake", "databricks", "spark", "clickhouse", "duckdb"}

// The marks are what only files of SQL for one dialect have. They begin a line, or are words
// that no other dialect has.
var (
	mysqlMark     = regexp.MustCompile(`(?im)^[ \t]*delimiter[ \t]+\S|\bengine\s*=\s*(?:innodb|myisam)\b|\bauto_increment\b|^/\*![0-9]{5}`)
	backtickMark  = regexp.MustCompile("(?im)^[ \\t]*(?:create|alter|drop|insert|update|delete|replace|select)\\b[^;\\n]*`\\w+`")
	postgresMark  = regexp.MustCompile(`(?i)\blanguage\s+'?plpgsql\b|\bcreate\s+type\s+\S+\s+as\s+enum\b|\benable\s+row\s+level\s+security\b|\bcreate\s+extension\b`)
	sqliteMark    = regexp.MustCompile(`(?i)\bautoincrement\b`)
	sqlServerMark = regexp.MustCompile(`(?im)^GO[ \t]*\r?$|\[dbo\]\.`)
)

// marked is how much of a file is searched for marks, in bytes.
const marked = 64 << 10

// contradicts reports whether the text of a file of SQL has marks of another dialect than
// the one that the configuration around it declares: it returns the first.
func contradicts(dialect, text string) (mark string) {
	text = text[:min(len(text), marked)]
	marks := []*regexp.Regexp{sqlServerMark}
	switch dialectName(dialect) {
	case "postgres":
		marks = append(marks, mysqlMark, backtickMark, sqliteMark)
	case "mysql", "mariadb":
		marks = append(marks, postgresMark, sqliteMark)
	case "sqlite":
		marks = append(marks, mysqlMark, postgresMark)
	default:
		return ""
	}
	for _, pattern := range marks {
		if mark = pattern.FindString(text); mark != "" {
			return mark
		}
	}
	return ""
}

// otherEngines are names of engines that this version cannot read.
var otherEngines = []string{
	"trino", "snowflake", "redshift", "databricks", "spark", "sparksql", "hive", "oracle", "db2", "teradata", "athena", "presto",
	"exasol", "vertica", "greenplum", "materialize", "cockroachdb", "cockroach", "crdb", "yugabytedb", "risingwave", "fabric", "synapse", "impala", "doris", "starrocks", "flink", "soql", "dremio",
	"singlestore", "spanner", "firebird", "mongodb", "cassandra", "scylla", "h2", "hsqldb", "derby",
}

// skippedError says that a file is in the dialect of an engine that this version
// cannot read.
type skippedError struct{ engine string }

// Error returns the message.
func (e *skippedError) Error() string {
	return "the file is for " + e.engine + ", which this version cannot read"
}

// skipped returns the error for an engine that this version cannot read, or nil.
func skipped(name string) error {
	if slices.Contains(otherEngines, strings.ToLower(name)) {
		return &skippedError{strings.ToLower(name)}
	}
	return nil
}

// skippedEngine returns the engine of a file that is skipped, or "".
func skippedEngine(err error) string {
	if e, ok := errors.AsType[*skippedError](err); ok {
		return e.engine
	}
	return ""
}
