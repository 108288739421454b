package project

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlguard"
)

var connectionID = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)

// ValidID reports whether a text may be the id of a connection.
func ValidID(id string) bool { return connectionID.MatchString(id) }

// knownDrivers are the names of drivers. Another name is a warning and not an error,
// because ktx can read artifacts of other engines; most are misspelt.
var knownDrivers = []string{
	"postgres", "postgresql", "pg", "sqlite", "sqlite3", "mysql", "mariadb", "sqlserver", "mssql", "duckdb", "clickhouse",
	"trino", "snowflake", "bigquery", "redshift", "databricks", "athena", "oracle", "cockroachdb", "tidb",
	"postgres:alloydb", "postgres:aurora", "postgres:citus", "postgres:redshift", "postgres:timescale", "postgres:yugabyte",
	"mysql:aurora", "mysql:galera", "mysql:tidb",
}

// KnownDriver reports whether a name is that of a driver.
func KnownDriver(name string) bool { return slices.Contains(knownDrivers, strings.ToLower(name)) }

// checker checks what the types of [Config] do not express.
type checker struct {
	*decoder
	root  *yaml.Node
	valid PatternRule
	// decoded is the number of problems that decoding found. The checker does not
	// check values that could not be decoded.
	decoded int
}

// report adds a problem at the value of a path, or at the longest part of the path
// that the file has.
func (c checker) report(warning bool, path []string, format string, args ...any) {
	n, line, dotted := c.root, 1, ""
	for _, key := range path {
		if n != nil {
			var at int
			if n, at = childOf(n, key); n != nil {
				line = at
			}
		}
		if strings.HasPrefix(key, "[") {
			dotted += key
		} else {
			dotted = join(dotted, key)
		}
	}
	if slices.ContainsFunc(c.problems[:c.decoded], func(p Problem) bool { return p.Path == dotted && !p.Warning }) {
		return
	}
	c.add(Problem{Path: dotted, Line: line, Message: fmt.Sprintf(format, args...), Warning: warning})
}

func (c checker) fault(path []string, format string, args ...any) {
	c.report(false, path, format, args...)
}

// has reports whether the file gives a value at a path.
func (c checker) has(path ...string) bool {
	n := c.root
	for _, key := range path {
		if n, _ = childOf(n, key); n == nil {
			return false
		}
	}
	return true
}

// childOf returns the value of a key, or of an index that is written [n]. The line is
// that of the key, or of the value in a list. The value is nil when there is none.
func childOf(n *yaml.Node, key string) (value *yaml.Node, line int) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(strings.Trim(key, "[]")); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line
		}
		return nil, 0
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1], n.Content[i].Line
		}
	}
	return nil, 0
}

func index(i int) string { return fmt.Sprintf("[%d]", i) }

// config checks the whole file.
func (c checker) config(config *Config) {
	c.audit(config)
	c.server(config)
	c.upstreams(config)
	c.guard([]string{"guard"}, config.Guard)
	c.skills(config)
	if config.User != "" && !connectionID.MatchString(config.User) {
		c.fault([]string{"user"}, "%q is not a name: use letters, digits, _ and -, and begin with a letter or digit", config.User)
	}
	for i, o := range config.Check.Overrides {
		at := []string{"check", "overrides", index(i)}
		if o.Dialect == "" && o.Connection == "" && len(o.Severity) == 0 && !c.has(append(slices.Clone(at), "dialect")...) {
			c.fault(at, "dialect is missing; an entry sets dialect, connection or severity")
		}
		if _, known := config.Connections[o.Connection]; o.Connection != "" && !known {
			c.fault(append(slices.Clone(at), "connection"), "there is no connection %q", o.Connection)
		}
		for _, code := range slices.Sorted(maps.Keys(o.Severity)) {
			where := append(slices.Clone(at), "severity", code)
			info, known := sqlguard.LookupCode(sqlguard.Code(code))
			if _, migrates := migration.LevelOf(sqlguard.Code(code)); !migrates && (!known || info.Family == sqlguard.FamilyCheck && info.Code != sqlguard.CodeDynamicSQLUnprovable) {
				c.fault(where, "%q is no code of a finding about a statement", code)
			} else if !slices.Contains([]string{"error", "warning", "note"}, o.Severity[code]) {
				c.fault(where, "%q is not one of error, warning, note", o.Severity[code])
			}
		}
		if !c.has(append(slices.Clone(at), "paths")...) {
			c.fault(at, "paths is missing")
		}
		for k, pattern := range o.Paths {
			if !c.valid(pattern) {
				c.fault(append(slices.Clone(at), "paths", index(k)), "%q is not a pattern: a bracket or a backslash has no match", pattern)
			}
		}
	}
	for k, pattern := range config.Check.Migrations.Paths {
		if !c.valid(pattern) {
			c.fault([]string{"check", "migrations", "paths", index(k)}, "%q is not a pattern: a bracket or a backslash has no match", pattern)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(config.Connections)) {
		c.connection([]string{"connections", id}, id, config.Connections[id], config.GuardOf(id))
	}
}

func (c checker) audit(config *Config) {
	err := config.Audit.Validate()
	if err == nil {
		return
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, err := range list {
		key, message, found := strings.Cut(err.Error(), ": ")
		if !found {
			key, message = "", err.Error()
		}
		c.fault(slices.DeleteFunc([]string{"audit", key}, func(s string) bool { return s == "" }), "%s", message)
	}
}

func (c checker) guard(at []string, g Guard) {
	if g.MaxBytes > sqlguard.CeilingMaxBytes {
		c.fault(append(at, "maxBytes"), "at most 256KiB")
	}
}

func (c checker) connection(at []string, id string, conn Connection, g Guard) {
	if !connectionID.MatchString(id) {
		c.fault(at, "an id is letters, digits, _ and -, and begins with a letter or digit")
	}
	switch driver := strings.ToLower(conn.Driver); {
	case driver == "" && !c.has(append(slices.Clone(at), "driver")...):
		c.fault(at, "driver is missing")
	case driver == "":
		c.fault(append(slices.Clone(at), "driver"), "it is empty")
	case !KnownDriver(driver):
		near := ""
		if n := execution.Nearest(driver, knownDrivers); n != "" {
			near = ", did you mean " + n + "?"
		}
		c.report(true, append(at, "driver"), "%q is not a known engine; no statements run on it%s", conn.Driver, near)
	}
	c.address(at, conn)
	c.guard(append(at, "guard"), conn.Guard)
	c.names(append(at, "access", "schemas"), conn.Access.Schemas, func(n Names) sqlguard.Policy { return sqlguard.Policy{Schemas: sqlguard.Names(n)} })
	c.names(append(at, "access", "tables"), conn.Access.Tables, func(n Names) sqlguard.Policy { return sqlguard.Policy{Tables: sqlguard.Names(n)} })
	c.files(at, conn)
	c.names(append(at, "functions"), Names{Deny: conn.Functions.Deny}, func(n Names) sqlguard.Policy { return sqlguard.Policy{Functions: sqlguard.Names(n)} })
	for i, f := range conn.Functions.Allow {
		c.allowed(append(slices.Clone(at), "functions", "allow", index(i)), f, g)
	}
	for i, rule := range conn.Access.Columns {
		path := append(slices.Clone(at), "access", "columns", index(i))
		if !c.has(append(slices.Clone(path), "action")...) {
			c.fault(path, "action is missing")
		}
		if err := (sqlguard.Policy{Columns: []sqlguard.ColumnRule{{Match: rule.Match}}}).Validate(); err != nil {
			c.fault(append(path, "match"), "%s", reason(err))
		}
	}
	for i, schema := range conn.Schemas {
		if schema == "" {
			c.fault(append(at, "schemas", index(i)), "the name is empty")
		}
	}
}

// allowed checks an entry of functions.allow of a connection with the guard block g.
func (c checker) allowed(at []string, f AllowedFunction, g Guard) {
	p := sqlguard.Policy{Functions: sqlguard.Names{Allow: []string{f.Function}}}
	switch {
	case f.Trust:
		p = sqlguard.Policy{Trusted: []string{f.Function}}
	case strings.Contains(f.Function, "("):
		c.fault(at, "%q has types of arguments, which need trust: true; without it write schema.name", f.Function)
		return
	}
	if err := p.Validate(); err != nil {
		c.fault(at, "%s", reason(err))
	} else if f.Trust && (g.Catalog == nil || !*g.Catalog) {
		c.fault(append(slices.Clone(at), "trust"), "it needs guard.catalog: true: only the server's catalog tells which function of that name a call means, by the types of its arguments")
	}
}

// address checks that a connection gives the address of its database in one way
// only.
func (c checker) address(at []string, conn Connection) {
	ways := 0
	for _, given := range []bool{conn.URL.Set(), conn.Host != "", conn.Path != "", conn.Files != ""} {
		if given {
			ways++
		}
	}
	if conn.Files != "" && !strings.EqualFold(conn.Driver, "duckdb") {
		c.fault(append(slices.Clone(at), "files"), "only DuckDB reads a folder of files")
	}
	if ways > 1 {
		c.fault(at, "give only one of url, host, path and files")
		return
	}
	if conn.Host != "" {
		return
	}
	for key, given := range map[string]bool{"port": conn.Port != 0, "database": conn.Database != "", "user": conn.User != "", "password": conn.Password.Set()} {
		if given {
			c.fault(append(slices.Clone(at), key), "it needs host; with url, write it into the url")
		}
	}
}

// files checks the folder of files, and the patterns of the files in it.
func (c checker) files(at []string, conn Connection) {
	if strings.Contains(conn.Files, "://") {
		c.fault(append(slices.Clone(at), "files"), "it must be a folder on this machine, not an address")
	}
	for key, list := range map[string][]string{"allow": conn.Access.Files.Allow, "deny": conn.Access.Files.Deny} {
		for i, pattern := range list {
			path := append(slices.Clone(at), "access", "files", key, index(i))
			switch {
			case conn.Files == "":
				c.fault(path, "it is only for a connection with files")
			case pattern == "" || !c.valid(pattern) || strings.Contains(pattern, `\`):
				c.fault(path, "%q is not a pattern: it is empty, or has a bracket without a match or a backslash", pattern)
			case strings.HasPrefix(pattern, "/") || strings.Contains(pattern, ":") || slices.Contains(strings.Split(pattern, "/"), "..") || slices.Contains(strings.Split(pattern, "/"), "."):
				c.fault(path, "%q must be a path below the folder, without .. and addresses", pattern)
			}
		}
	}
}

// names checks each name of a list separately, so that an error has its line.
func (c checker) names(at []string, names Names, policy func(Names) sqlguard.Policy) {
	for key, list := range map[string][]string{"allow": names.Allow, "deny": names.Deny} {
		for i, name := range list {
			if err := policy(Names{Allow: []string{name}}).Validate(); err != nil {
				c.fault(append(slices.Clone(at), key, index(i)), "%s", reason(err))
			}
		}
	}
}

// reason returns the message of a policy error without the path, because the problem
// has the whole path.
func reason(err error) string {
	text := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		text = inner.Error()
	}
	return text
}
