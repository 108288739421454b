package clickhouse

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// systemDatabases are the databases of the server's own. Their names have a case.
var systemDatabases = map[string]map[string]bool{
	"system": systemTables, "information_schema": informationSchema, "INFORMATION_SCHEMA": informationSchema,
	"_temporary_and_external_tables": nil,
}

// ruleRelation rules on a relation by its name. System says that the server owns the
// name. A name without a database is one of the database of the connection.
func ruleRelation(database, relation string) (rule sqlguard.Ruling, system bool) {
	list, ok := systemDatabases[database]
	switch {
	case strings.HasPrefix(relation, ".inner") || strings.HasPrefix(relation, ".tmp"):
		return sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "it holds the rows of a materialized view, whose rules do not hold for it; read the view"}, true
	case !ok && database != "" && (lexical.Lower(database) == "system" || lexical.Lower(database) == "information_schema"):
		return sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "it resembles a database of the server's own; write system or information_schema"}, true
	case !ok:
		return sqlguard.Ruling{Allowed: true}, false
	case list[relation], database == "system" && counters[relation]:
		return sqlguard.Ruling{Allowed: true}, true
	}
	rule = sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "not on the list of system tables that may be read"}
	if credentialTables[relation] {
		rule = sqlguard.Ruling{Code: sqlguard.CodeCredentialRelation, Reason: "it holds secrets, or statements of other sessions"}
	}
	if database == "system" {
		rule.Reveal = revealedTables[relation]
	}
	return rule, true
}

// SourceColumns returns the columns of a system relation that hold the source text of
// views, or of tables with the addresses of their engines.
func (Dialect) SourceColumns(schema, name string) []string {
	return sourceColumns[lexical.Lower(schema)+"."+lexical.Lower(name)]
}

var sourceColumns = map[string][]string{
	"system.tables":            {"create_table_query", "engine_full", "as_select"},
	"system.databases":         {"engine_full"},
	"system.functions":         {"create_query"},
	"information_schema.views": {"view_definition", "VIEW_DEFINITION"},
}
