package clickhouse

import (
	"maps"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
)

// Denied reports whether a rule refuses a function by its name.
func Denied(function string) bool { return deniedFunctions.Find(lexical.Lower(function)) != nil }

// DeniedTable reports whether a rule refuses a table function by its name.
func DeniedTable(function string) bool { return deniedTables.Find(lexical.Lower(function)) != nil }

// The names of the tables.
func SystemTables() []string      { return slices.Sorted(maps.Keys(systemTables)) }
func InformationSchema() []string { return slices.Sorted(maps.Keys(informationSchema)) }
func TypeNames() []string         { return slices.Sorted(maps.Keys(typeNames)) }
func ServerFunctions() []string   { return strings.Fields(serverFunctions + " " + serverAggregates) }
func Combinators() []string       { return combinators }
func DeniedNames() []string       { return slices.Sorted(maps.Keys(deniedFunctions.Names)) }
func TableFunctions() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(tableFunctions)), func(n string) bool { return n == "VALUES" || n == "Values" })
}

// Statements are the leading keywords of statements that are refused.
func Statements() []string { return slices.Sorted(maps.Keys(statementRules)) }

// Instead are the functions of other servers with what to write instead.
func Instead() map[string]string { return wording.Functions }

// ScalarFunctions are the functions of the engine that are no aggregates.
func ScalarFunctions() []string { return strings.Fields(scalarFunctions + " " + foldedScalarFunctions) }

// TakeFunctions returns the names of takeFunctions.
func TakeFunctions() []string { return slices.Sorted(maps.Keys(takeFunctions)) }
