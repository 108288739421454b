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
	Hiding:   "Tt",
	Costly: map[string]bool{
		"edit_distance": true, "translate": true, "strpos": true, "instr": true, "replace": true, "split": true, "trim": true, "ltrim": true, "rtrim": true, "contains_substr": true,
		"regexp_contains": true, "regexp_extract": true, "regexp_extract_all": true, "regexp_extract_groups": true, "regexp_instr": true, "regexp_replace": true, "regexp_substr": true,
		"array_includes_all": true, "array_includes_any": true, "search": true,
	},
	Makers: map[string]sqlguard.Maker{
		"repeat": sqlguard.MakesRepeat, "lpad": sqlguard.MakesPad, "rpad": sqlguard.MakesPad, "format": sqlguard.MakesFormat,
		"replace": sqlguard.MakesReplaceText, "regexp_replace": sqlguard.MakesReplace, "translate": sqlguard.MakesFourfold,
		"to_hex": sqlguard.MakesFourfold, "to_base32": sqlguard.MakesFourfold, "to_base64": sqlguard.MakesFourfold, "to_json": sqlguard.MakesFourfold, "to_json_string": sqlguard.MakesFourfold,
		"normalize": sqlguard.MakesTwelvefold, "normalize_and_casefold": sqlguard.MakesTwelvefold, "to_code_points": sqlguard.MakesTwelvefold, "text_analyze": sqlguard.MakesTwelvefold,
		"format_date": sqlguard.MakesManyfold, "format_datetime": sqlguard.MakesManyfold, "format_time": sqlguard.MakesManyfold, "format_timestamp": sqlguard.MakesManyfold,
		"json_array": sqlguard.MakesFourfold, "json_object": sqlguard.MakesFourfold, "json_set": sqlguard.MakesFourfold, "json_array_append": sqlguard.MakesFourfold, "json_array_insert": sqlguard.MakesFourfold,
		// These make no more than their arguments, but can be in a chain that does. With the
		// words of the grammar before a bracket, the guard measures the statement.
		"concat": sqlguard.MakesSum, "array_concat": sqlguard.MakesSum, "struct": sqlguard.MakesSum, "array": sqlguard.MakesSum,
		"from": sqlguard.MakesSum, "join": sqlguard.MakesSum, "select": sqlguard.MakesSum, "extend": sqlguard.MakesSum,
		"array_to_string": sqlguard.MakesJoined, "array_transform": sqlguard.MakesEach, "array_zip": sqlguard.MakesProduct, "ngrams": sqlguard.MakesBits,
		"generate_array": sqlguard.MakesSeries, "generate_date_array": sqlguard.MakesDays, "generate_timestamp_array": sqlguard.MakesDays, "generate_range_array": sqlguard.MakesDays,
		"array_agg": sqlguard.MakesAll, "string_agg": sqlguard.MakesAll, "array_concat_agg": sqlguard.MakesAll,
		"length": sqlguard.MakesLength, "char_length": sqlguard.MakesLength, "character_length": sqlguard.MakesLength, "byte_length": sqlguard.MakesLength, "octet_length": sqlguard.MakesLength,
		"array_length": sqlguard.MakesLength, "strpos": sqlguard.MakesLength, "instr": sqlguard.MakesLength,
		"sum": sqlguard.MakesTotal, "count": sqlguard.MakesNumber, "countif": sqlguard.MakesNumber, "approx_count_distinct": sqlguard.MakesNumber,
		"row_number": sqlguard.MakesNumber, "rank": sqlguard.MakesNumber, "dense_rank": sqlguard.MakesNumber, "array_sum": sqlguard.MakesLarge,
		"sinh": sqlguard.MakesLarge, "cosh": sqlguard.MakesLarge, "tan": sqlguard.MakesLarge, "sec": sqlguard.MakesLarge, "csc": sqlguard.MakesLarge, "cot": sqlguard.MakesLarge, "coth": sqlguard.MakesLarge, "csch": sqlguard.MakesLarge,
		"st_distance": sqlguard.MakesLarge, "st_maxdistance": sqlguard.MakesLarge, "st_length": sqlguard.MakesLarge, "st_perimeter": sqlguard.MakesLarge, "st_area": sqlguard.MakesLarge,
		"s2_cellidfrompoint": sqlguard.MakesLarge, "unicode": sqlguard.MakesSmall,
		"pow": sqlguard.MakesPower, "power": sqlguard.MakesPower, "exp": sqlguard.MakesLarge, "farm_fingerprint": sqlguard.MakesLarge, "unix_micros": sqlguard.MakesLarge,
		"unix_millis": sqlguard.MakesLarge, "unix_seconds": sqlguard.MakesLarge, "unix_date": sqlguard.MakesSmall, "sign": sqlguard.MakesSmall, "pi": sqlguard.MakesSmall, "rand": sqlguard.MakesSmall,
	},
}

// numbers are the kinds of functions that make a number.
var numbers = map[sqlguard.Maker]bool{
	sqlguard.MakesLength: true, sqlguard.MakesSmall: true, sqlguard.MakesLarge: true, sqlguard.MakesPower: true, sqlguard.MakesTotal: true, sqlguard.MakesNumber: true,
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
