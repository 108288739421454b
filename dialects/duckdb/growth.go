package duckdb

import "github.com/ktxhq/ktx/sqlguard"

// growth is what functions make from constants. Reference: Text Functions, List Functions.
// The costly functions compare each part of a text with each part of another one.
var growth = &sqlguard.Growth{
	Costly: map[string]bool{
		"levenshtein": true, "editdist3": true, "damerau_levenshtein": true, "jaro_similarity": true, "jaro_winkler_similarity": true,
		"translate": true, "list_has_any": true, "array_has_any": true, "list_has_all": true, "array_has_all": true, "list_intersect": true, "array_intersect": true,
		"contains": true, "instr": true, "strpos": true, "position": true, "replace": true, "string_split": true, "split": true, "str_split": true,
		"string_to_array": true, "regexp_replace": true, "regexp_extract": true, "regexp_extract_all": true, "regexp_matches": true, "regexp_full_match": true,
		"regexp_split_to_array": true, "string_split_regex": true, "str_split_regex": true, "ltrim": true, "rtrim": true, "trim": true,
	},
	CostlyOperators: map[string]bool{"~": true, "!~": true, "@>": true, "<@": true, "&&": true},
	Makers: map[string]sqlguard.Maker{
		"repeat": sqlguard.MakesRepeat, "lpad": sqlguard.MakesPad, "rpad": sqlguard.MakesPad, "list_resize": sqlguard.MakesPad, "array_resize": sqlguard.MakesPad,
		"bar": sqlguard.MakesFormat, "replace": sqlguard.MakesReplaceText, "regexp_replace": sqlguard.MakesReplace, "hex": sqlguard.MakesFourfold, "to_hex": sqlguard.MakesFourfold,
		"bin": sqlguard.MakesFourfold, "to_binary": sqlguard.MakesFourfold, "base64": sqlguard.MakesFourfold, "to_base64": sqlguard.MakesFourfold, "url_encode": sqlguard.MakesFourfold,
		"to_json": sqlguard.MakesFourfold, "json_quote": sqlguard.MakesFourfold, "regexp_escape": sqlguard.MakesFourfold, "json_pretty": sqlguard.MakesFourfold,
		"format": sqlguard.MakesFormat, "printf": sqlguard.MakesFormat, "bitstring": sqlguard.MakesPad,
		"range": sqlguard.MakesRows, "generate_series": sqlguard.MakesRows, "repeat_row": sqlguard.MakesRows,
		"list": sqlguard.MakesAll, "array_agg": sqlguard.MakesAll, "string_agg": sqlguard.MakesAll, "group_concat": sqlguard.MakesAll, "listagg": sqlguard.MakesAll,
		"json_group_array": sqlguard.MakesAll, "json_group_object": sqlguard.MakesAll, "histogram": sqlguard.MakesAll,
		"length": sqlguard.MakesLength, "len": sqlguard.MakesLength, "strlen": sqlguard.MakesLength, "octet_length": sqlguard.MakesLength, "bit_length": sqlguard.MakesLength,
		"instr": sqlguard.MakesLength, "strpos": sqlguard.MakesLength, "position": sqlguard.MakesLength,
		"pow": sqlguard.MakesPower, "power": sqlguard.MakesPower, "exp": sqlguard.MakesLarge, "factorial": sqlguard.MakesLarge, "gamma": sqlguard.MakesLarge,
		"epoch_ns": sqlguard.MakesLarge, "epoch_us": sqlguard.MakesLarge, "epoch_ms": sqlguard.MakesLarge, "epoch": sqlguard.MakesLarge, "hash": sqlguard.MakesLarge,
		"nextafter": sqlguard.MakesLarge, "multiply": sqlguard.MakesPower, "sign": sqlguard.MakesSmall, "pi": sqlguard.MakesSmall, "random": sqlguard.MakesSmall,
	},
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
