package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// systemSchemas are the schemas of the server's own in every database.
var systemSchemas = map[string]bool{"sys": true, "information_schema": true}

// systemDatabases are the databases of the server's own.
var systemDatabases = map[string]bool{"master": true, "msdb": true, "model": true, "tempdb": true, "resource": true, "mssqlsystemresource": true, "distribution": true}

// ruleRelation rules on a relation by its name. System says that the name is
// the server's own.
func ruleRelation(n *name) (rule sqlguard.Ruling, system bool) {
	allowed := sqlguard.Ruling{Allowed: true}
	written := n.last().text
	relation := skeleton(written)
	schema, database := "", ""
	if n.n > 1 {
		schema = skeleton(n.parts[n.n-2].text)
	}
	if n.n > 2 {
		database = skeleton(n.parts[n.n-3].text)
	}
	refuse := func(code sqlguard.Code, reason string) (sqlguard.Ruling, bool) {
		return sqlguard.Ruling{Code: code, Reason: reason}, true
	}
	switch {
	case n.n > 3:
		return refuse(sqlguard.CodeExternalRelation, "a four-part name refers to another server")
	case strings.HasPrefix(relation, "##"):
		return refuse(sqlguard.CodeRelationNotAllowed, "a global temporary table belongs to other sessions")
	case strings.HasPrefix(relation, "xp_"), strings.HasPrefix(relation, "sp_"):
		return refuse(sqlguard.CodeRelationNotAllowed, "a name with xp_ or sp_ is that of a system procedure")
	}
	if schema == "information_schema" {
		return systemRuling(informationSchema, revealedInformationSchema, written, relation)
	}
	if schema == "sys" {
		return systemRuling(systemViews, revealedViews, written, relation)
	}
	if compatibilityViews[relation] != unknownView || credentialRelations[relation] && strings.HasPrefix(relation, "sys") {
		// They are found in sys from every schema.
		return systemRuling(compatibilityViews, revealedViews, written, relation)
	}
	if database == "msdb" && schema == "dbo" && lexical.Lower(written) == relation && revealedHistory[relation] != "" {
		return sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "it lies in a database of the server's own", Reveal: revealedHistory[relation]}, true
	}
	if systemDatabases[database] {
		return refuse(sqlguard.CodeRelationNotAllowed, "it lies in a database of the server's own")
	}
	if schema == "cdc" && strings.HasSuffix(relation, "_ct") || strings.HasPrefix(relation, "mssql_temporalhistoryfor_") || strings.HasPrefix(relation, "mssql_ledgerhistoryfor_") || strings.HasPrefix(relation, "mssql_droppedledger") {
		return sqlguard.Ruling{
			Ruled: true, Code: sqlguard.CodeRelationNotAllowed,
			Reason: "the server keeps earlier rows of another table there, and this connection has rules of access; read that table",
		}, false
	}
	for _, part := range n.parts[:n.n] {
		if plain, ok := plainForm(part.text); ok {
			return sqlguard.Ruling{Reason: "most collations take it for " + plain + ", which a rule may deny; write it so"}, false
		}
	}
	return allowed, false
}

// viewUse is the decision of a table of relations on a name.
type viewUse uint8

const (
	unknownView viewUse = iota
	readableView
	refusedView
)

// systemRuling rules on a relation of a system schema by the list of it. A name
// that is only similar to a listed one is refused.
func systemRuling(list map[string]viewUse, groups map[string]sqlguard.Group, written, relation string) (rule sqlguard.Ruling, system bool) {
	var reveal sqlguard.Group
	if lexical.Lower(written) == relation {
		reveal = groups[relation]
	}
	switch {
	case credentialRelations[relation] || strings.HasPrefix(relation, "dm_exec_"):
		return sqlguard.Ruling{Code: sqlguard.CodeCredentialRelation, Reason: "it holds secrets, or statements of other sessions", Reveal: reveal}, true
	case list[relation] == readableView && lexical.Lower(written) == relation:
		return sqlguard.Ruling{Allowed: true}, true
	default:
		return sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "not on the list of system relations that may be read", Reveal: reveal}, true
	}
}
