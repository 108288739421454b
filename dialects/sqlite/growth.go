package sqlite

import "github.com/ktxhq/ktx/sqlguard"

// growth is what functions make from constants. The kinds are those of sqlite.org/lang_corefunc.html; the table of costly functions is measured by tools/growth.
var growth = &sqlguard.Growth{
	Costly:          costlyFunctions,
	CostlyOperators: costlyOperators,
	Recurses:        true,
	Strict:          true,
	Makers: map[string]sqlguard.Maker{
		"json_pretty":        sqlguard.MakesSquare,
		"concat_ws":          sqlguard.MakesChain,
		"zeroblob":           sqlguard.MakesCount,
		"randomblob":         sqlguard.MakesCount,
		"replace":            sqlguard.MakesReplaceText,
		"hex":                sqlguard.MakesFourfold,
		"quote":              sqlguard.MakesFourfold,
		"json_quote":         sqlguard.MakesFourfold,
		"printf":             sqlguard.MakesFormat,
		"format":             sqlguard.MakesFormat,
		"generate_series":    sqlguard.MakesRows,
		"sum":                sqlguard.MakesTotal,
		"total":              sqlguard.MakesTotal,
		"count":              sqlguard.MakesNumber,
		"row_number":         sqlguard.MakesNumber,
		"rank":               sqlguard.MakesNumber,
		"dense_rank":         sqlguard.MakesNumber,
		"group_concat":       sqlguard.MakesAll,
		"string_agg":         sqlguard.MakesAll,
		"json_group_array":   sqlguard.MakesAll,
		"json_group_object":  sqlguard.MakesAll,
		"jsonb_group_array":  sqlguard.MakesAll,
		"jsonb_group_object": sqlguard.MakesAll,
		"length":             sqlguard.MakesLength,
		"octet_length":       sqlguard.MakesLength,
		"instr":              sqlguard.MakesLength,
		"unicode":            sqlguard.MakesSmall,
		"power":              sqlguard.MakesPower,
		"pow":                sqlguard.MakesPower,
		"random":             sqlguard.MakesLarge,
		"exp":                sqlguard.MakesLarge,
		"unixepoch":          sqlguard.MakesLarge,
		"julianday":          sqlguard.MakesLarge,
		"strftime":           sqlguard.MakesLarge,
		"sign":               sqlguard.MakesSmall,
	},
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
