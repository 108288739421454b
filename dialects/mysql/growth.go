package mysql

import "github.com/ktxhq/ktx/sqlguard"

// growth is what functions make from constants. The kinds are those of the manuals; the table of costly functions is measured by tools/growth on MariaDB.
var growth = &sqlguard.Growth{
	Costly:          costlyFunctions,
	CostlyOperators: costlyOperators,
	Rereads:         true,
	Makers: map[string]sqlguard.Maker{
		"repeat":           sqlguard.MakesRepeat,
		"lpad":             sqlguard.MakesPad,
		"rpad":             sqlguard.MakesPad,
		"space":            sqlguard.MakesCount,
		"random_bytes":     sqlguard.MakesCount,
		"replace":          sqlguard.MakesReplaceText,
		"regexp_replace":   sqlguard.MakesReplace,
		"hex":              sqlguard.MakesFourfold,
		"to_base64":        sqlguard.MakesFourfold,
		"quote":            sqlguard.MakesFourfold,
		"json_quote":       sqlguard.MakesFourfold,
		"weight_string":    sqlguard.MakesFourfold,
		"seq":              sqlguard.MakesRows,
		"group_concat":     sqlguard.MakesAll,
		"json_arrayagg":    sqlguard.MakesAll,
		"json_objectagg":   sqlguard.MakesAll,
		"length":           sqlguard.MakesLength,
		"char_length":      sqlguard.MakesLength,
		"character_length": sqlguard.MakesLength,
		"octet_length":     sqlguard.MakesLength,
		"bit_length":       sqlguard.MakesLength,
		"locate":           sqlguard.MakesLength,
		"instr":            sqlguard.MakesLength,
		"position":         sqlguard.MakesLength,
		"find_in_set":      sqlguard.MakesLength,
		"power":            sqlguard.MakesPower,
		"pow":              sqlguard.MakesPower,
		"exp":              sqlguard.MakesLarge,
		"unix_timestamp":   sqlguard.MakesLarge,
		"to_days":          sqlguard.MakesLarge,
		"to_seconds":       sqlguard.MakesLarge,
		"crc32":            sqlguard.MakesLarge,
		"conv":             sqlguard.MakesLarge,
		"inet_aton":        sqlguard.MakesLarge,
		"uuid_short":       sqlguard.MakesLarge,
		"extract":          sqlguard.MakesLarge,
		"ascii":            sqlguard.MakesSmall,
		"ord":              sqlguard.MakesSmall,
		"sign":             sqlguard.MakesSmall,
		"rand":             sqlguard.MakesSmall,
		"pi":               sqlguard.MakesSmall,
	},
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
