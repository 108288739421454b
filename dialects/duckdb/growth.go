package duckdb

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// growth is what functions make from constants. Reference: Text Functions, List Functions.
// The costly functions compare each part of a text with each part of another one.
var growth = &sqlguard.Growth{
	Methods: true,
	// In chains that each read the one before twice, 1.5.6 took 3 to 20 ms for 24 that are
	// plain or MATERIALIZED. With NOT MATERIALIZED, and plain with a LIMIT, 8 took up to 4
	// seconds and each step more doubled that (in TestChains, shapes of joins and subqueries).
	Rereads:      true,
	PlusLists:    true,
	Quotes:       true, // 24 levels of [x]::VARCHAR around a quote made 50 MB in half a second
	Adapts:       true,
	Holders:      strings.Fields("array list json row struct map union split parse_path extract_all bins range_agg histogram _agg"),
	Joins:        lexical.Set("add date_add list_value list_pack array_value unpivot_list json_array json_object struct_pack"),
	Materializes: true,
	Costly: map[string]bool{
		"levenshtein": true, "editdist3": true, "damerau_levenshtein": true, "jaro_similarity": true, "jaro_winkler_similarity": true,
		"translate": true, "list_has_any": true, "array_has_any": true, "list_has_all": true, "array_has_all": true, "list_intersect": true, "array_intersect": true,
		"contains": true, "instr": true, "strpos": true, "position": true, "replace": true, "string_split": true, "split": true, "str_split": true,
		"string_to_array": true, "regexp_replace": true, "regexp_extract": true, "regexp_extract_all": true, "regexp_matches": true, "regexp_full_match": true,
		"regexp_split_to_array": true, "string_split_regex": true, "str_split_regex": true, "ltrim": true, "rtrim": true, "trim": true,
	},
	CostlyOperators: map[string]bool{"~": true, "!~": true, "@>": true, "<@": true, "&&": true},
	Makers: map[string]sqlguard.Maker{
		"repeat": sqlguard.MakesRepeat, "lpad": sqlguard.MakesPad, "rpad": sqlguard.MakesPad, "list_resize": sqlguard.MakesResize, "array_resize": sqlguard.MakesResize,
		"bar": sqlguard.MakesFormat, "replace": sqlguard.MakesReplaceText, "regexp_replace": sqlguard.MakesReplace, "hex": sqlguard.MakesFourfold, "to_hex": sqlguard.MakesFourfold,
		"bin": sqlguard.MakesBits, "to_binary": sqlguard.MakesBits, "base64": sqlguard.MakesFourfold, "to_base64": sqlguard.MakesFourfold, "url_encode": sqlguard.MakesFourfold,
		"to_json": sqlguard.MakesFourfold, "json_quote": sqlguard.MakesFourfold, "regexp_escape": sqlguard.MakesFourfold, "create_sort_key": sqlguard.MakesFourfold, "icu_sort_key": sqlguard.MakesFourfold, "json_pretty": sqlguard.MakesSquare,
		"format": sqlguard.MakesFormat, "printf": sqlguard.MakesFormat, "bitstring": sqlguard.MakesPad,
		"range": sqlguard.MakesSeries, "generate_series": sqlguard.MakesSeries, "repeat_row": sqlguard.MakesRows, "columns": sqlguard.MakesColumns,
		"list_transform": sqlguard.MakesEach, "array_transform": sqlguard.MakesEach, "list_apply": sqlguard.MakesEach, "array_apply": sqlguard.MakesEach, "apply": sqlguard.MakesEach,
		"concat": sqlguard.MakesText, "json": sqlguard.MakesText, "json_array": sqlguard.MakesText, "json_object": sqlguard.MakesText, "json_merge_patch": sqlguard.MakesText,
		"array_to_json": sqlguard.MakesText, "row_to_json": sqlguard.MakesText, "json_extract_string": sqlguard.MakesText, "json_extract_path_text": sqlguard.MakesText,
		"json_transform": sqlguard.MakesText, "json_transform_strict": sqlguard.MakesText, "from_json": sqlguard.MakesText, "from_json_strict": sqlguard.MakesText,
		"concat_ws": sqlguard.MakesChain, "array_to_string": sqlguard.MakesJoined, "array_to_string_comma_default": sqlguard.MakesJoined,
		"list_aggregate": sqlguard.MakesJoined, "list_aggr": sqlguard.MakesJoined, "array_aggregate": sqlguard.MakesJoined, "array_aggr": sqlguard.MakesJoined, "aggregate": sqlguard.MakesJoined,
		"equi_width_bins": sqlguard.MakesBins, "bitstring_agg": sqlguard.MakesBins, "approx_top_k": sqlguard.MakesPad, "strftime": sqlguard.MakesFourfold,
		"list_reduce": sqlguard.MakesReduced, "array_reduce": sqlguard.MakesReduced, "reduce": sqlguard.MakesReduced,
		"list": sqlguard.MakesAll, "array_agg": sqlguard.MakesAll, "string_agg": sqlguard.MakesAll, "group_concat": sqlguard.MakesAll, "listagg": sqlguard.MakesAll,
		"json_group_array": sqlguard.MakesAll, "json_group_object": sqlguard.MakesAll, "histogram": sqlguard.MakesAll,
		"length": sqlguard.MakesLength, "len": sqlguard.MakesLength, "strlen": sqlguard.MakesLength, "octet_length": sqlguard.MakesLength, "bit_length": sqlguard.MakesLength,
		"instr": sqlguard.MakesLength, "strpos": sqlguard.MakesLength, "position": sqlguard.MakesLength,
		"pow": sqlguard.MakesPower, "power": sqlguard.MakesPower, "exp": sqlguard.MakesLarge, "factorial": sqlguard.MakesLarge, "gamma": sqlguard.MakesLarge,
		"sum": sqlguard.MakesTotal, "fsum": sqlguard.MakesTotal, "kahan_sum": sqlguard.MakesTotal, "sumkahan": sqlguard.MakesTotal, "sum_no_overflow": sqlguard.MakesTotal,
		"product": sqlguard.MakesLarge, "list_sum": sqlguard.MakesLarge, "list_product": sqlguard.MakesLarge,
		"list_dot_product": sqlguard.MakesLarge, "list_inner_product": sqlguard.MakesLarge,
		"array_dot_product": sqlguard.MakesLarge, "array_inner_product": sqlguard.MakesLarge, "list_distance": sqlguard.MakesLarge, "array_distance": sqlguard.MakesLarge,
		"count": sqlguard.MakesNumber, "count_star": sqlguard.MakesNumber, "count_if": sqlguard.MakesNumber, "countif": sqlguard.MakesNumber, "approx_count_distinct": sqlguard.MakesNumber,
		"row_number": sqlguard.MakesNumber, "rank": sqlguard.MakesNumber, "dense_rank": sqlguard.MakesNumber, "rank_dense": sqlguard.MakesNumber, "regr_count": sqlguard.MakesNumber,
		"datediff": sqlguard.MakesLarge, "date_diff": sqlguard.MakesLarge, "datesub": sqlguard.MakesLarge, "date_sub": sqlguard.MakesLarge, "date_part": sqlguard.MakesLarge, "datepart": sqlguard.MakesLarge,
		"extract": sqlguard.MakesLarge, "julian": sqlguard.MakesLarge, "microsecond": sqlguard.MakesLarge, "nanosecond": sqlguard.MakesLarge, "yearweek": sqlguard.MakesLarge,
		"parse_formatted_bytes": sqlguard.MakesLarge, "md5_number": sqlguard.MakesLarge, "md5_number_lower": sqlguard.MakesLarge, "md5_number_upper": sqlguard.MakesLarge,
		"epoch_ns": sqlguard.MakesLarge, "epoch_us": sqlguard.MakesLarge, "epoch_ms": sqlguard.MakesLarge, "epoch": sqlguard.MakesLarge, "hash": sqlguard.MakesLarge,
		"nextafter": sqlguard.MakesLarge, "multiply": sqlguard.MakesPower, "sign": sqlguard.MakesSmall, "pi": sqlguard.MakesSmall, "random": sqlguard.MakesSmall,
	},
}

// Growth returns what the dialect's functions make from constants.
func (Dialect) Growth() *sqlguard.Growth { return growth }
