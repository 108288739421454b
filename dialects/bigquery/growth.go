package bigquery

import "github.com/ktxhq/ktx/sqlguard"

// growth is what functions make from constants. Reference: String functions, Array functions.
// The costly functions compare each part of a text with each part of another one.
var growth = &sqlguard.Growth{
	// A reference to a common table expression repeats its text.
	Rereads: true,
	Pipes:   true,
	// A function may stand behind its first argument and a dot.
	Methods: true,
	// A collation can pass over the case of letters.
	Collates: true,
	Costly: map[string]bool{
		"edit_distance": true, "translate": true, "strpos": true, "instr": true, "replace": true, "split": true, "trim": true, "ltrim": true, "rtrim": true, "contains_substr": true,
		"regexp_contains": true, "regexp_extract": true, "regexp_extract_all": true, "regexp_extract_groups": true, "regexp_instr": true, "regexp_replace": true, "regexp_substr": true,
		"array_includes_all": true, "array_includes_any": true, "search": true,
	},
	Makers: map[string]sqlguard.Maker{
		"repeat": sqlguard.MakesRepeat, "lpad": sqlguard.MakesPad, "rpad": sqlguard.MakesPad, "format": sqlguard.MakesFormat,
		"replace": sqlguard.MakesReplaceText, "regexp_replace": sqlguard.MakesReplace, "translate": sqlguard.MakesFourfold,
		"to_hex": sqlguard.MakesFourfold, "to_base32": sqlguard.MakesFourfold, "to_base64": sqlguard.MakesFourfold, "to_json": sqlguard.MakesFourfold, "to_json_string": sqlguard.MakesFourfold,
		"normalize": sqlguard.MakesFourfold, "normalize_and_casefold": sqlguard.MakesFourfold,
		"generate_array": sqlguard.MakesSeries, "generate_date_array": sqlguard.MakesDays, "generate_timestamp_array": sqlguard.MakesDays, "generate_range_array": sqlguard.MakesDays,
		"array_agg": sqlguard.MakesAll, "string_agg": sqlguard.MakesAll, "array_concat_agg": sqlguard.MakesAll,
		"length": sqlguard.MakesLength, "char_length": sqlguard.MakesLength, "character_length": sqlguard.MakesLength, "byte_length": sqlguard.MakesLength, "octet_length": sqlguard.MakesLength,
		"array_length": sqlguard.MakesLength, "strpos": sqlguard.MakesLength, "instr": sqlguard.MakesLength,
		"pow": sqlguard.MakesPower, "power": sqlguard.MakesPower, "exp": sqlguard.MakesLarge, "farm_fingerprint": sqlguard.MakesLarge, "unix_micros": sqlguard.MakesLarge,
		"unix_millis": sqlguard.MakesLarge, "unix_seconds": sqlguard.MakesLarge, "unix_date": sqlguard.MakesSmall, "sign": sqlguard.MakesSmall, "pi": sqlguard.MakesSmall, "rand": sqlguard.MakesSmall,
	},
}

// lengths are the kinds of functions that make a number.
var lengths = map[sqlguard.Maker]bool{sqlguard.MakesLength: true, sqlguard.MakesSmall: true, sqlguard.MakesLarge: true, sqlguard.MakesPower: true}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
