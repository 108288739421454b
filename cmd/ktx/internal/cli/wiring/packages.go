package wiring

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// The drivers that lists of packages name, beside those by which programs import them.
var (
	pythonPackages = map[string]string{
		"psycopg-binary": "postgres", "psycopg-c": "postgres", "psycopg2-binary": "postgres", "psycopg2cffi": "postgres", "aiopg": "postgres",
		"mysqlclient": "mysql", "mysql-connector-python": "mysql", "mysql-connector": "mysql", "asyncmy": "mysql", "django-mysql": "mysql",
		"pysqlite3": "sqlite", "pysqlite3-binary": "sqlite", "sqlite-utils": "sqlite", "mssql-django": "sqlserver", "django-mssql-backend": "sqlserver", "mssql-python": "sqlserver",
		"clickhouse-driver": "clickhouse", "clickhouse-connect": "clickhouse", "google-cloud-bigquery": "bigquery",
		"snowflake-connector-python": "snowflake", "snowflake-sqlalchemy": "snowflake", "databricks-sql-connector": "databricks", "cx-oracle": "oracle",
	}
	scriptPackages = map[string]string{
		"@types/pg": "postgres", "pg-pool": "postgres", "pg-native": "postgres", "pg-boss": "postgres", "node-pg-migrate": "postgres", "slonik": "postgres", "@electric-sql/pglite": "postgres", "@prisma/adapter-pg": "postgres",
		"mariadb": "mysql", "serverless-mysql": "mysql", "@planetscale/database": "mysql",
		"@types/better-sqlite3": "sqlite", "better-sqlite3-multiple-ciphers": "sqlite", "sql.js": "sqlite", "expo-sqlite": "sqlite", "@types/mssql": "sqlserver",
	}
)

// packageLists are the dialects of the drivers that lists of packages in a folder name, for
// the files in Python and those in JavaScript and TypeScript. Each is undecided where the
// drivers differ.
type packageLists struct{ python, script string }

func readPackages(folder toolFolder) packageLists {
	var needs, extras []string
	add := func(more, less []string) { needs, extras = append(needs, more...), append(extras, less...) }
	add(requirements(folder.read("requirements.txt")), requirements(folder.read("requirements-dev.txt", "dev-requirements.txt", "requirements_dev.txt", "requirements-test.txt", "test-requirements.txt")))
	add(requirements(folder.read("requirements.in")), nil)
	add(requirementFolder(folder))
	add(pyproject(folder.read("pyproject.toml")))
	add(pipfile(folder.read("Pipfile")))
	add(setupConfig(folder.read("setup.cfg")))
	add(setupScript(folder.read("setup.py")), nil)
	out := packageLists{python: cmpDrivers(pythonDriver, needs, extras)}
	needs, extras = nodePackages(folder.read("package.json"))
	out.script = cmpDrivers(scriptDriver, needs, extras)
	return out
}

// beside stands before the dialect of the drivers when there are some of warehouses beside
// them. Only migrations are surely for the program's own database.
const beside = "beside a warehouse: "

// migrationFolder is a folder in which tools for Python and Node have migrations.
var migrationFolder = regexp.MustCompile(`(?i)(?:^|[/\\])(?:migrations?|alembic)[/\\]`)

// cmpDrivers returns the one dialect of the drivers among packages that a program needs, or
// else among those that only its tests, its tools or some of its users need. The latter name
// none where they differ, and the former then are undecided.
func cmpDrivers(driver func(string) string, needs, extras []string) string {
	for _, list := range [][]string{needs, extras} {
		found := map[string]bool{}
		for _, name := range list {
			if d := driver(name); d != "" {
				found[d] = true
			}
		}
		names := slices.Collect(maps.Keys(found))
		own := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(warehouses, name) })
		switch {
		case len(names) == 1 && isDialect(names[0]):
			return names[0]
		case len(own) == 1 && isDialect(own[0]):
			return beside + own[0]
		case len(names) > 0:
			return undecided
		}
	}
	return ""
}

// pythonDriver returns the dialect of a driver by the name of its package, as in
// psycopg[binary]>=3 and databases[postgresql].
func pythonDriver(requirement string) string {
	found := requirementName.FindStringSubmatch(requirement)
	if found == nil {
		return ""
	}
	name := strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(found[1]))
	if d := pythonPackages[name]; d != "" {
		return d
	}
	if d := pythonDrivers[name]; d != "" && name != "sqlite3" { // of the standard library
		return d
	}
	for extra := range strings.FieldsFuncSeq(strings.ToLower(found[2]), func(r rune) bool { return r == ',' || r == ' ' || r == '_' || r == '-' }) {
		if d := pythonDrivers[extra]; d != "" {
			return d
		}
		if isDialect(extra) {
			return dialectName(extra)
		}
	}
	return ""
}

// requirementName is the name of a package and what it is to have besides (PEP 508).
var requirementName = regexp.MustCompile(`^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?`)

func scriptDriver(name string) string {
	if d := scriptPackages[name]; d != "" {
		return d
	}
	return scriptDrivers[name]
}

// requirements returns the packages in a list of pip.
func requirements(list []byte) (names []string) {
	for line := range strings.Lines(string(list)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" && line[0] != '-' {
			names = append(names, line)
		}
	}
	return names
}

// pyproject returns the packages that a pyproject.toml needs, and those of its groups and
// extras, as PEP 621, PEP 735 and Poetry have them.
func pyproject(content []byte) (needs, extras []string) {
	var file struct {
		Project struct {
			Dependencies []string            `toml:"dependencies"`
			Optional     map[string][]string `toml:"optional-dependencies"`
		} `toml:"project"`
		Groups map[string][]any `toml:"dependency-groups"`
		Tool   struct {
			Poetry struct {
				Dependencies map[string]any `toml:"dependencies"`
				Dev          map[string]any `toml:"dev-dependencies"`
				Group        map[string]struct {
					Dependencies map[string]any `toml:"dependencies"`
				} `toml:"group"`
			} `toml:"poetry"`
		} `toml:"tool"`
	}
	if content == nil || toml.Unmarshal(content, &file) != nil {
		return nil, nil
	}
	needs = file.Project.Dependencies
	for _, list := range file.Project.Optional {
		extras = append(extras, list...)
	}
	for _, list := range file.Groups {
		for _, e := range list {
			if name, ok := e.(string); ok {
				extras = append(extras, name)
			}
		}
	}
	poetry := file.Tool.Poetry
	more, less := tables(poetry.Dependencies)
	needs, extras = append(needs, more...), append(extras, less...)
	groups := []map[string]any{poetry.Dev}
	for _, g := range poetry.Group {
		groups = append(groups, g.Dependencies)
	}
	for _, g := range groups {
		more, less := tables(g)
		extras = slices.Concat(extras, more, less)
	}
	return needs, extras
}

// tables returns the packages in a table of Poetry or of a Pipfile, and those in it that are
// optional, with the extras of each in brackets.
func tables(packages map[string]any) (needs, extras []string) {
	for name, value := range packages {
		options, _ := value.(map[string]any)
		if list, ok := options["extras"].([]any); ok {
			name += "["
			for _, e := range list {
				extra, _ := e.(string)
				name += extra + ","
			}
			name += "]"
		}
		if optional, _ := options["optional"].(bool); optional {
			extras = append(extras, name)
		} else {
			needs = append(needs, name)
		}
	}
	return needs, extras
}

func pipfile(content []byte) (needs, extras []string) {
	var file struct {
		Packages map[string]any `toml:"packages"`
		Dev      map[string]any `toml:"dev-packages"`
	}
	if content == nil || toml.Unmarshal(content, &file) != nil {
		return nil, nil
	}
	needs, extras = tables(file.Packages)
	more, less := tables(file.Dev)
	return needs, slices.Concat(extras, more, less)
}

// setupConfig returns the packages in a setup.cfg of setuptools.
func setupConfig(content []byte) (needs, extras []string) {
	section, key := "", ""
	for line := range strings.Lines(string(content)) {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#':
		case text[0] == '[':
			section, key = text, ""
		case line[0] != ' ' && line[0] != '\t':
			name, value, _ := strings.Cut(text, "=")
			key, text = strings.TrimSpace(name), strings.TrimSpace(value)
			fallthrough
		default:
			switch {
			case section == "[options]" && key == "install_requires":
				needs = append(needs, text)
			case section == "[options.extras_require]":
				extras = append(extras, text)
			}
		}
	}
	return needs, extras
}

// setupRequires is the list of packages in a setup.py that has it as a literal.
var (
	setupRequires = regexp.MustCompile(`(?s)\binstall_requires\s*=\s*\[(.*?)\n?\s*\]\s*[,)\n]`)
	setupString   = regexp.MustCompile(`["']([^"'\n]+)["']`)
)

func setupScript(content []byte) (needs []string) {
	if found := setupRequires.FindSubmatch(content); found != nil {
		for _, m := range setupString.FindAllSubmatch(found[1], -1) {
			needs = append(needs, string(m[1]))
		}
	}
	return needs
}

// nodePackages returns the packages that a package.json needs, and those for its tests, its
// tools and some of its users.
func nodePackages(content []byte) (needs, extras []string) {
	var file struct {
		Dependencies, DevDependencies, OptionalDependencies, PeerDependencies map[string]any
	}
	if content == nil || json.Unmarshal(content, &file) != nil {
		return nil, nil
	}
	needs = slices.Collect(maps.Keys(file.Dependencies))
	for _, list := range []map[string]any{file.DevDependencies, file.OptionalDependencies, file.PeerDependencies} {
		extras = slices.AppendSeq(extras, maps.Keys(list))
	}
	return needs, extras
}
