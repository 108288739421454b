package bigquery

import (
	"github.com/ktxhq/ktx/dialects/internal/denied"
	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// deniedFunctions are functions that do more than compute. No policy can allow them.
// Everything else that no table lists is refused as unknown.
var deniedFunctions = denied.NewTable([]denied.Rule{
	{Names: "external_query", Code: sqlguard.CodeFunctionNetworkAccess, Reason: "runs a text on another database"},
	{
		Names: "ml.* ai.* external_object_transform obj.* documentai.*", Code: sqlguard.CodeFunctionNetworkAccess,
		Reason: "can send rows to a model or to another service",
	},
	{Names: "st_regionstats", Code: sqlguard.CodeFunctionNetworkAccess, Reason: "reads a raster of Earth Engine or of Cloud Storage"},
	{
		Names: "keys.* aead.* deterministic_encrypt deterministic_decrypt_string deterministic_decrypt_bytes", Code: sqlguard.CodeFunctionAdmin,
		Reason: "works with keys, of which some are another service's",
	},
	{Names: "st_regionstats", Code: sqlguard.CodeFunctionNetworkAccess, Reason: "reads images of another service"},
	{Names: "bq.*", Code: sqlguard.CodeProcedureCall, Reason: "is a procedure of BigQuery's own"},
	{Names: "nextval getnextsequencevalue get_next_sequence_value", Code: sqlguard.CodeFunctionSideEffect, Reason: "moves a sequence"},
})

// allowedFunctions are the functions of functions_table.go.
var allowedFunctions = lexical.Set(scalarFunctions + " " + aggregateFunctions + " " + dottedFunctions + " " + modelFunctions + " " + syntaxFunctions)

// ruleFunction rules on a function of an expression by its folded name, without SAFE.
func ruleFunction(name string) (rule sqlguard.Ruling, builtin bool) {
	if allowedFunctions[name] {
		return sqlguard.Ruling{Allowed: true}, true
	}
	if d := deniedFunctions.Find(name); d != nil {
		return d.Ruling(), true
	}
	if tableFunctions[name] {
		return sqlguard.Ruling{Reason: "it is a table function, for FROM"}, true
	}
	return sqlguard.Ruling{}, false
}
