package sqlite

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// systemRelations are the relations of SQLite itself that may be read: the
// schema tables, and table functions without effects outside the query. Every other name
// that begins with "sqlite_" is refused, because SQLite reserves the prefix.
var systemRelations = map[string]bool{
	"sqlite_schema":      true,
	"sqlite_master":      true,
	"sqlite_temp_schema": true,
	"sqlite_temp_master": true,

	"json_each":       true,
	"json_tree":       true,
	"jsonb_each":      true,
	"jsonb_tree":      true,
	"generate_series": true,
}

// tableFunctions are those of systemRelations that take arguments.
var tableFunctions = map[string]bool{
	"json_each":       true,
	"json_tree":       true,
	"jsonb_each":      true,
	"jsonb_tree":      true,
	"generate_series": true,
}

// deniedRelations are virtual tables that exist without CREATE in some builds of
// SQLite or its shell. SQLite does not reserve their names, so a user's own table
// with such a name is refused too.
var deniedRelations = map[string]ruling{
	"bytecode":     {sqlguard.CodeRelationNotAllowed, "shows the program of a prepared statement"},
	"tables_used":  {sqlguard.CodeRelationNotAllowed, "shows the tables of a prepared statement"},
	"dbstat":       {sqlguard.CodeRelationNotAllowed, "shows the pages of the file"},
	"completion":   {sqlguard.CodeRelationNotAllowed, "serves the shell"},
	"fts3tokenize": {sqlguard.CodeRelationNotAllowed, "runs a tokenizer by its name"},
	"fsdir":        {sqlguard.CodeFunctionFileAccess, "lists and reads files"},
	"zipfile":      {sqlguard.CodeFunctionFileAccess, "reads and writes ZIP files"},
	"lines_read":   {sqlguard.CodeFunctionFileAccess, "reads files"},
	"fileio_ls":    {sqlguard.CodeFunctionFileAccess, "lists files"},
	"fileio_scan":  {sqlguard.CodeFunctionFileAccess, "reads files"},
	"lsdir":        {sqlguard.CodeFunctionFileAccess, "lists files"},
	"http_get":     {sqlguard.CodeFunctionNetworkAccess, "fetches from the network"},
	"http_post":    {sqlguard.CodeFunctionNetworkAccess, "sends to the network"},
	"http_do":      {sqlguard.CodeFunctionNetworkAccess, "sends to the network"},
	"vfsstat":      {sqlguard.CodeRelationNotAllowed, "shows the file system layer"},
	"carray":       {sqlguard.CodeRelationNotAllowed, "reads memory through a pointer"},
	"vtablog":      {sqlguard.CodeRelationNotAllowed, "writes to the process's output"},
}

// deniedTableFunctions are refused with a specific code when a statement calls them.
// Without arguments, a relation of that name is a user's table.
var deniedTableFunctions = map[string]ruling{
	"csv":       {sqlguard.CodeFunctionFileAccess, "reads files"},
	"vsv":       {sqlguard.CodeFunctionFileAccess, "reads files"},
	"statement": {sqlguard.CodeDynamicSQL, "runs the SQL text of its argument"},
	"query":     {sqlguard.CodeDynamicSQL, "runs the SQL text of its argument"},
	"eval":      {sqlguard.CodeDynamicSQL, "runs the SQL text of its argument"},
	"define":    {sqlguard.CodeDynamicSQL, "runs the SQL text of its argument"},
}

// ruling says why a name is refused.
type ruling struct {
	code   sqlguard.Code
	reason string
}

func (r ruling) refuse() sqlguard.Ruling {
	return sqlguard.Ruling{Code: r.code, Reason: r.reason}
}

// ruleRelation rules on a relation by its decoded names. System says that the
// name is SQLite's own.
func ruleRelation(schema, name string, called bool) (rule sqlguard.Ruling, system bool) {
	if schema != "" && !ownSchema(schema) {
		return sqlguard.Ruling{
			Code:   sqlguard.CodeExternalRelation,
			Reason: "only the schemas main and temp belong to this connection",
		}, false
	}
	name = lexical.Lower(name)
	allowed := sqlguard.Ruling{Allowed: true}
	switch {
	case systemRelations[name]:
		if called && !tableFunctions[name] {
			return sqlguard.Ruling{Reason: "it takes no arguments"}, true
		}
		return allowed, true
	case strings.HasPrefix(name, "sqlite_"):
		return sqlguard.Ruling{Reason: "of SQLite's own relations only sqlite_schema, its other names and listed table functions may be read"}, true
	case strings.HasPrefix(name, "pragma_"):
		if _, ok := pragmas[name[len("pragma_"):]]; !ok {
			return sqlguard.Ruling{Code: sqlguard.CodePragmaNotAllowed, Reason: "not on the list of PRAGMAs that may be read"}, true
		}
		return allowed, true
	}
	if r, ok := deniedRelations[name]; ok {
		return r.refuse(), true
	}
	if called {
		if r, ok := deniedTableFunctions[name]; ok {
			return r.refuse(), true
		}
		return sqlguard.Ruling{Reason: "it is called with arguments and is not on the list of table functions; search a full-text table with MATCH"}, true
	}
	return allowed, false
}

// ownSchema reports whether a schema belongs to the connection itself.
func ownSchema(schema string) bool {
	switch lexical.Lower(schema) {
	case "main", "temp":
		return true
	default:
		return false
	}
}
