package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// growth is what functions make from constants. The kinds are those of Microsoft's reference. No server was measured: the costly functions are those that search a text for another one.
var growth = &sqlguard.Growth{
	Costly:          costlyFunctions,
	CostlyOperators: costlyOperators,
	Plus:            true,
	Recurses:        true,
	Rereads:         true,
	Columns:         map[string]string{"generate_series": "value"},
	Makers: map[string]sqlguard.Maker{
		"concat_ws":       sqlguard.MakesChain,
		"left_shift":      sqlguard.MakesLarge,
		"square":          sqlguard.MakesLarge,
		"getdate":         sqlguard.MakesLarge,
		"year":            sqlguard.MakesLarge,
		"datepart":        sqlguard.MakesLarge,
		"replicate":       sqlguard.MakesRepeat,
		"space":           sqlguard.MakesCount,
		"replace":         sqlguard.MakesReplace,
		"quotename":       sqlguard.MakesFourfold,
		"string_escape":   sqlguard.MakesFourfold,
		"generate_series": sqlguard.MakesRows,
		"sum":             sqlguard.MakesTotal,
		"count":           sqlguard.MakesNumber,
		"count_big":       sqlguard.MakesNumber,
		"ntile":           sqlguard.MakesNumber,
		"var":             sqlguard.MakesLarge,
		"varp":            sqlguard.MakesLarge,
		"checksum_agg":    sqlguard.MakesLarge,
		"json_arrayagg":   sqlguard.MakesAll,
		"json_objectagg":  sqlguard.MakesAll,
		"row_number":      sqlguard.MakesNumber,
		"rank":            sqlguard.MakesNumber,
		"dense_rank":      sqlguard.MakesNumber,
		"string_agg":      sqlguard.MakesAll,
		"len":             sqlguard.MakesLength,
		"datalength":      sqlguard.MakesLength,
		"charindex":       sqlguard.MakesLength,
		"patindex":        sqlguard.MakesLength,
		"power":           sqlguard.MakesPower,
		"exp":             sqlguard.MakesLarge,
		"datediff":        sqlguard.MakesLarge,
		"datediff_big":    sqlguard.MakesLarge,
		"checksum":        sqlguard.MakesLarge,
		"binary_checksum": sqlguard.MakesLarge,
		"rand":            sqlguard.MakesLarge,
		"ascii":           sqlguard.MakesSmall,
		"unicode":         sqlguard.MakesSmall,
		"sign":            sqlguard.MakesSmall,
		"pi":              sqlguard.MakesSmall,
	},
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
