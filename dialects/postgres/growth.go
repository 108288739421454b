package postgres

import "github.com/ktxhq/ktx/sqlguard"

// growth is what functions make from constants. The kinds are those of the manual, chapter 9; the tables of costly functions are measured by tools/growth.
var growth = &sqlguard.Growth{
	Collates:        true, // PostgreSQL 18, under nondeterministic collations
	Costly:          costlyFunctions,
	CostlyOperators: costlyOperators,
	Makers: map[string]sqlguard.Maker{
		"repeat":              sqlguard.MakesRepeat,
		"lpad":                sqlguard.MakesPad,
		"rpad":                sqlguard.MakesPad,
		"array_fill":          sqlguard.MakesFill,
		"replace":             sqlguard.MakesReplaceText,
		"regexp_replace":      sqlguard.MakesReplace,
		"encode":              sqlguard.MakesFourfold,
		"quote_literal":       sqlguard.MakesFourfold,
		"quote_nullable":      sqlguard.MakesFourfold,
		"format_type":         sqlguard.MakesFourfold,
		"xmlescape":           sqlguard.MakesFourfold,
		"to_jsonb":            sqlguard.MakesFourfold,
		"to_json":             sqlguard.MakesFourfold,
		"format":              sqlguard.MakesFormat,
		"generate_series":     sqlguard.MakesRows,
		"generate_subscripts": sqlguard.MakesRows,
		"string_agg":          sqlguard.MakesAll,
		"array_agg":           sqlguard.MakesAll,
		"json_agg":            sqlguard.MakesAll,
		"jsonb_agg":           sqlguard.MakesAll,
		"json_object_agg":     sqlguard.MakesAll,
		"jsonb_object_agg":    sqlguard.MakesAll,
		"xmlagg":              sqlguard.MakesAll,
		"length":              sqlguard.MakesLength,
		"char_length":         sqlguard.MakesLength,
		"character_length":    sqlguard.MakesLength,
		"octet_length":        sqlguard.MakesLength,
		"bit_length":          sqlguard.MakesLength,
		"cardinality":         sqlguard.MakesLength,
		"array_length":        sqlguard.MakesLength,
		"array_upper":         sqlguard.MakesLength,
		"strpos":              sqlguard.MakesLength,
		"position":            sqlguard.MakesLength,
		"power":               sqlguard.MakesPower,
		"pow":                 sqlguard.MakesPower,
		"dpow":                sqlguard.MakesPower,
		"factorial":           sqlguard.MakesLarge,
		"exp":                 sqlguard.MakesLarge,
		"extract":             sqlguard.MakesLarge,
		"date_part":           sqlguard.MakesLarge,
		"hashtext":            sqlguard.MakesLarge,
		"hashtextextended":    sqlguard.MakesLarge,
		"to_number":           sqlguard.MakesLarge,
		"age":                 sqlguard.MakesLarge,
		"txid_current":        sqlguard.MakesLarge,
		"ascii":               sqlguard.MakesSmall,
		"sign":                sqlguard.MakesSmall,
		"random":              sqlguard.MakesSmall,
		"pi":                  sqlguard.MakesSmall,
	},
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
