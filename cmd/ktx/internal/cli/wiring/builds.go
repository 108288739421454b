package wiring

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The drivers in the lists of packages of languages in which ktx searches for no SQL. They
// say which dialect the files of SQL beside them have.
var (
	javaDrivers = map[string]string{
		"postgresql": "postgres", "pgjdbc-ng": "postgres", "r2dbc-postgresql": "postgres", "flyway-database-postgresql": "postgres",
		"mysql-connector-java": "mysql", "mysql-connector-j": "mysql", "r2dbc-mysql": "mysql", "flyway-mysql": "mysql", "mariadb-java-client": "mariadb",
		"mssql-jdbc": "sqlserver", "r2dbc-mssql": "sqlserver", "flyway-sqlserver": "sqlserver", "jtds": "sqlserver", "sqlite-jdbc": "sqlite",
		"clickhouse-jdbc": "clickhouse", "clickhouse-client": "clickhouse", "duckdb_jdbc": "duckdb", "snowflake-jdbc": "snowflake", "databricks-jdbc": "databricks",
		"ojdbc6": "oracle", "ojdbc7": "oracle", "ojdbc8": "oracle", "ojdbc10": "oracle", "ojdbc11": "oracle", "ojdbc17": "oracle", "flyway-database-oracle": "oracle",
	}
	javaPackage = regexp.MustCompile(`<artifactId>\s*([\w.-]+)\s*</artifactId>|["'][\w.-]+:([\w.-]+)(?::[^"'\n]*)?["']`)

	dotnetDrivers = map[string]string{
		"npgsql": "postgres", "npgsql.entityframeworkcore.postgresql": "postgres", "dbup-postgresql": "postgres",
		"mysqlconnector": "mysql", "mysql.data": "mysql", "pomelo.entityframeworkcore.mysql": "mysql", "dbup-mysql": "mysql",
		"microsoft.data.sqlclient": "sqlserver", "system.data.sqlclient": "sqlserver", "microsoft.entityframeworkcore.sqlserver": "sqlserver", "dbup-sqlserver": "sqlserver",
		"microsoft.data.sqlite": "sqlite", "system.data.sqlite": "sqlite", "microsoft.entityframeworkcore.sqlite": "sqlite", "dbup-sqlite": "sqlite",
	}
	dotnetPackage = regexp.MustCompile(`(?i)<PackageReference\s[^>]*\bInclude\s*=\s*"([\w.-]+)"`)

	rubyDrivers = map[string]string{
		"pg": "postgres", "mysql2": "mysql", "trilogy": "mysql", "sqlite3": "sqlite", "tiny_tds": "sqlserver", "activerecord-sqlserver-adapter": "sqlserver",
	}
	rubyPackage = regexp.MustCompile(`(?m)^[ \t]*gem[ \t(]*["']([\w-]+)["']`)

	rustDrivers = map[string]string{
		"tokio-postgres": "postgres", "postgres": "postgres", "deadpool-postgres": "postgres", "mysql": "mysql", "mysql_async": "mysql",
		"rusqlite": "sqlite", "libsql": "sqlite", "tiberius": "sqlserver", "clickhouse": "clickhouse", "duckdb": "duckdb",
	}
	rustPackage = regexp.MustCompile(`(?m)^[ \t]*([\w-]+)[ \t]*=`)
	rustFeature = regexp.MustCompile(`(?m)^[ \t]*(?:sqlx|diesel|diesel-async|sea-orm|sea-query)[ \t]*=[ \t]*\{[^}]*\}`)

	phpDrivers = map[string]string{
		"ext-pdo_pgsql": "postgres", "ext-pgsql": "postgres", "ext-pdo_mysql": "mysql", "ext-mysqli": "mysql", "ext-pdo_sqlite": "sqlite", "ext-sqlite3": "sqlite", "ext-sqlsrv": "sqlserver", "ext-pdo_sqlsrv": "sqlserver",
	}
)

// readBuilds returns the one dialect of the drivers that lists of packages for Java, .NET,
// Ruby, Rust and PHP in a folder name, for its files of SQL. It is undecided where they
// differ. A project of SQL Server's tools needs no driver.
func readBuilds(folder toolFolder) string {
	found := map[string]bool{}
	named := func(drivers map[string]string, pattern *regexp.Regexp, content []byte) {
		for _, m := range pattern.FindAllSubmatch(content, -1) {
			for _, name := range m[1:] {
				if d := drivers[strings.ToLower(string(name))]; d != "" {
					found[d] = true
				}
			}
		}
	}
	named(javaDrivers, javaPackage, folder.read("pom.xml"))
	named(javaDrivers, javaPackage, folder.read("build.gradle", "build.gradle.kts"))
	named(rubyDrivers, rubyPackage, folder.read("Gemfile"))
	cargo := folder.read("Cargo.toml")
	named(rustDrivers, rustPackage, cargo)
	for _, feature := range rustFeature.FindAll(cargo, -1) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(string(feature)), func(r rune) bool { return r < 'a' || r > 'z' }) {
			if isDialect(word) {
				found[dialectName(word)] = true
			}
		}
	}
	var composer struct {
		Require map[string]any `json:"require"`
	}
	if content := folder.read("composer.json"); content != nil && json.Unmarshal(content, &composer) == nil {
		for name := range composer.Require {
			if d := phpDrivers[strings.ToLower(name)]; d != "" {
				found[d] = true
			}
		}
	}
	for name := range folder.names {
		switch {
		case strings.HasSuffix(name, ".sqlproj"):
			return "sqlserver"
		case strings.HasSuffix(name, ".csproj"), strings.HasSuffix(name, ".fsproj"):
			for _, e := range folder.named(name) {
				named(dotnetDrivers, dotnetPackage, folder.read(e))
			}
		}
	}
	delete(found, "")
	switch names := slices.Collect(maps.Keys(found)); {
	case len(names) == 0:
		return ""
	case len(names) == 1:
		return names[0]
	case len(names) == 2 && found["mysql"] && found["mariadb"]:
		return "mysql"
	default:
		return undecided
	}
}

// named returns the names of files in the folder as they are spelled.
func (f toolFolder) named(lower string) (names []string) {
	entries, _ := os.ReadDir(f.path)
	for _, e := range entries {
		if strings.ToLower(e.Name()) == lower {
			names = append(names, e.Name())
		}
	}
	return names
}

// requirementFolder returns the packages in the lists of pip in the folder requirements:
// those that the program needs, and those for its tests and tools.
func requirementFolder(folder toolFolder) (needs, extras []string) {
	if folder.names != nil && !folder.names["requirements"] {
		return nil, nil
	}
	inside := openToolFolder(filepath.Join(folder.path, "requirements"))
	for name := range inside.names {
		if extension := filepath.Ext(name); extension != ".txt" && extension != ".in" {
			continue
		}
		words := strings.FieldsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' })
		list := requirements(inside.read(name))
		if slices.ContainsFunc(words, func(word string) bool {
			return slices.Contains([]string{"dev", "develop", "development", "test", "tests", "testing", "lint", "docs", "doc", "ci", "local", "tools", "optional", "extras"}, word)
		}) {
			extras = append(extras, list...)
		} else {
			needs = append(needs, list...)
		}
	}
	return needs, extras
}

// members returns the folders of a workspace: of npm, Yarn or pnpm, and of Go.
func members(folder toolFolder) (script, golang []string) {
	var file struct {
		Workspaces any `json:"workspaces"`
	}
	var patterns []string
	if content := folder.read("package.json"); content != nil && json.Unmarshal(content, &file) == nil {
		list, _ := file.Workspaces.([]any)
		if object, ok := file.Workspaces.(map[string]any); ok { // of Yarn
			list, _ = object["packages"].([]any)
		}
		for _, e := range list {
			if pattern, ok := e.(string); ok {
				patterns = append(patterns, pattern)
			}
		}
	}
	var pnpm struct {
		Packages []string `yaml:"packages"`
	}
	if content := folder.read("pnpm-workspace.yaml"); content != nil && yaml.Unmarshal(content, &pnpm) == nil {
		patterns = append(patterns, pnpm.Packages...)
	}
	for _, pattern := range patterns {
		pattern = filepath.FromSlash(strings.TrimSuffix(strings.ReplaceAll(pattern, "/**", "/*"), "/"))
		if !filepath.IsLocal(pattern) || strings.HasPrefix(pattern, "!") {
			continue
		}
		matched, _ := filepath.Glob(filepath.Join(folder.path, pattern))
		script = append(script, matched...)
	}
	for _, m := range goUse.FindAllSubmatch(folder.read("go.work"), -1) {
		if name := filepath.FromSlash(string(m[1])); filepath.IsLocal(name) {
			golang = append(golang, filepath.Join(folder.path, name))
		}
	}
	return script[:min(len(script), maxMembers)], golang[:min(len(golang), maxMembers)]
}

// maxMembers is the most members of a workspace that are read.
const maxMembers = 200

// goUse is a module in a go.work, alone or in a list.
var goUse = regexp.MustCompile(`(?m)^[ \t]*(?:use[ \t]+)?(\.[\w./-]*)[ \t]*(?://.*)?\r?$`)

// readWorkspace returns the one dialect that the members of a workspace declare, for files
// in Go, and for those in TypeScript, JavaScript and SQL: of a Prisma schema, or else of
// their drivers. A member that does not decide leaves all undecided.
func readWorkspace(folder toolFolder) (script, golang string) {
	scripts, modules := members(folder)
	one := func(names []string) string {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
		slices.Sort(names)
		switch names = slices.Compact(names); len(names) {
		case 0:
			return ""
		case 1:
			return names[0]
		default:
			return undecided
		}
	}
	var prisma, drivers, goDrivers []string
	for _, path := range scripts {
		if info, err := os.Lstat(path); err != nil || !info.IsDir() {
			continue
		}
		member := openToolFolder(path)
		prisma = append(prisma, prismaProvider(member.read("schema.prisma", "prisma/schema.prisma")))
		needs, extras := nodePackages(member.read("package.json"))
		drivers = append(drivers, cmpDrivers(scriptDriver, needs, extras))
	}
	for _, path := range modules {
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			goDrivers = append(goDrivers, goDriver(openToolFolder(path).read("go.mod")))
		}
	}
	if script = one(prisma); script == "" {
		script = one(drivers)
	}
	return script, one(goDrivers)
}
