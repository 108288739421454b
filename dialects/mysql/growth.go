package mysql

import (
	"maps"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// growth is what functions make from constants. The kinds are those of the manuals; the table of costly functions is measured by tools/growth on MariaDB.
var growth = &sqlguard.Growth{
	Costly:          costly(),
	CostlyOperators: costlyOperators,
	Rereads:         true,
	Strict:          true,
	Unsigned:        true,
	Makers: map[string]sqlguard.Maker{
		"export_set":        sqlguard.MakesBits,
		"uncompress":        sqlguard.MakesInflated,
		"date_format":       sqlguard.MakesTwelvefold,
		"time_format":       sqlguard.MakesTwelvefold,
		"json_pretty":       sqlguard.MakesSquare,
		"json_detailed":     sqlguard.MakesSquare,
		"json_loose":        sqlguard.MakesFourfold,
		"concat_ws":         sqlguard.MakesChain,
		"binary":            sqlguard.MakesCount,
		"char":              sqlguard.MakesCount,
		"repeat":            sqlguard.MakesRepeat,
		"lpad":              sqlguard.MakesPad,
		"rpad":              sqlguard.MakesPad,
		"space":             sqlguard.MakesCount,
		"random_bytes":      sqlguard.MakesCount,
		"replace":           sqlguard.MakesReplaceText,
		"regexp_replace":    sqlguard.MakesReplace,
		"hex":               sqlguard.MakesFourfold,
		"to_base64":         sqlguard.MakesFourfold,
		"quote":             sqlguard.MakesFourfold,
		"json_quote":        sqlguard.MakesFourfold,
		"json_array":        sqlguard.MakesText,
		"json_object":       sqlguard.MakesText,
		"json_set":          sqlguard.MakesText,
		"json_insert":       sqlguard.MakesText,
		"json_replace":      sqlguard.MakesText,
		"json_array_append": sqlguard.MakesText,
		"json_array_insert": sqlguard.MakesText,
		"weight_string":     sqlguard.MakesFourfold,
		"seq":               sqlguard.MakesRows,
		"sum":               sqlguard.MakesTotal,
		"count":             sqlguard.MakesNumber,
		"row_number":        sqlguard.MakesNumber,
		"rank":              sqlguard.MakesNumber,
		"dense_rank":        sqlguard.MakesNumber,
		"group_concat":      sqlguard.MakesAll,
		"json_arrayagg":     sqlguard.MakesAll,
		"json_objectagg":    sqlguard.MakesAll,
		"length":            sqlguard.MakesLength,
		"char_length":       sqlguard.MakesLength,
		"character_length":  sqlguard.MakesLength,
		"octet_length":      sqlguard.MakesLength,
		"bit_length":        sqlguard.MakesLength,
		"locate":            sqlguard.MakesLength,
		"instr":             sqlguard.MakesLength,
		"position":          sqlguard.MakesLength,
		"find_in_set":       sqlguard.MakesLength,
		"power":             sqlguard.MakesPower,
		"pow":               sqlguard.MakesPower,
		"exp":               sqlguard.MakesLarge,
		"unix_timestamp":    sqlguard.MakesLarge,
		"to_days":           sqlguard.MakesLarge,
		"to_seconds":        sqlguard.MakesLarge,
		"crc32":             sqlguard.MakesLarge,
		"conv":              sqlguard.MakesLarge,
		"inet_aton":         sqlguard.MakesLarge,
		"uuid_short":        sqlguard.MakesLarge,
		"extract":           sqlguard.MakesLarge,
		"ascii":             sqlguard.MakesSmall,
		"ord":               sqlguard.MakesSmall,
		"sign":              sqlguard.MakesSmall,
		"rand":              sqlguard.MakesSmall,
		"pi":                sqlguard.MakesSmall,
	},
}

// costly returns the functions whose cost grows faster than their arguments. Those of geometries
// have a name without ST_ too.
func costly() map[string]bool {
	out := maps.Clone(costlyFunctions)
	for name := range costlyFunctions {
		if short, ok := strings.CutPrefix(name, "st_"); ok {
			out[short] = true
		}
	}
	return out
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
