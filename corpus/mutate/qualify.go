package mutate

import (
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/corpus"
)

// homes are the schemas in which unqualified names are found. MySQL looks in
// the current database only, and a case does not know its name.
var homes = map[string]string{"postgres": "public", "sqlite": "main", "sqlserver": "dbo"}

// qualify adds the schema to unqualified names: tables of the fixture, system
// tables, functions of a PostgreSQL server, and PRAGMAs of SQLite.
func (t *text) qualify() {
	if t.Class == "ddl" || t.has("with") { // The statement may define a name that hides a table.
		return
	}
	schemas := map[int]string{}
	for i, part := range t.tokens {
		if part.kind == word && !t.before(i).is(".") && !t.after(i).is(".") {
			if schema := t.schemaOf(i); schema != "" {
				schemas[i] = schema
			}
		}
	}
	for i, schema := range schemas {
		t.tokens[i].text = schema + "." + t.tokens[i].text
	}
}

// schemaOf returns the schema in which the word is certainly found, or "".
func (t *text) schemaOf(i int) string {
	part, before, after := t.tokens[i], t.before(i), t.after(i)
	folded := strings.ToLower(part.text)
	switch {
	case t.Dialect == "sqlite" && before.is("pragma") && !after.is("."):
		return "main"
	case t.Dialect == "postgres" && after.is("(") && builtins[folded] && (before.kind == symbol || before.in(operands)):
		return "pg_catalog"
	case !before.in(tableWords) || after.is("("):
		return ""
	case tables()[t.Dialect][folded]:
		return homes[t.Dialect]
	case t.Dialect == "postgres" && strings.HasPrefix(folded, "pg_") && !extended(folded):
		return "pg_catalog"
	case t.Dialect == "sqlite" && (folded == "sqlite_master" || folded == "sqlite_schema"):
		return "main"
	}
	return ""
}

// operands are words that an expression may follow.
var operands = set("select where and or not then else when on having by distinct all in from join lateral")

// extended reports whether the name of a relation belongs to an extension. Its
// schema is then not known.
func extended(relation string) bool {
	for _, prefix := range []string{"pg_stat_statements", "pg_buffercache", "pg_stat_kcache", "pg_wait_sampling"} {
		if strings.HasPrefix(relation, prefix) {
			return true
		}
	}
	return false
}

var created = regexp.MustCompile(`(?m)^CREATE (?:TABLE|VIEW) ([a-z_]+) `)

// tables returns the tables and views of the fixtures that can be named without
// a schema, by dialect.
var tables = sync.OnceValue(func() map[string]map[string]bool {
	names := map[string]map[string]bool{}
	for dialect := range homes {
		names[dialect] = map[string]bool{}
		script, err := fs.ReadFile(corpus.Files(), "fixtures/"+dialect+".sql")
		if err != nil {
			panic("mutate: " + err.Error()) // The file is part of the binary.
		}
		for _, match := range created.FindAllSubmatch(script, -1) {
			names[dialect][string(match[1])] = true
		}
	}
	return names
})
