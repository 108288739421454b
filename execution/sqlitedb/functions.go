package sqlitedb

import "strings"

// functions are the functions that the authorizer lets a statement call, by the
// names that the engine registers. The list belongs to this package and does
// not depend on what a guard allows. A test checks that every function of the
// engine is in this list or in refusedFunctions.
var functions = functionSet(
	// https://sqlite.org/lang_corefunc.html
	`abs changes char coalesce concat concat_ws format glob hex if ifnull iif
	instr last_insert_rowid length like likelihood likely lower ltrim max min
	nullif octet_length printf quote random randomblob replace round rtrim sign
	soundex sqlite_compileoption_get sqlite_compileoption_used
	sqlite_source_id sqlite_version substr substring total_changes trim typeof
	unhex unicode unistr unistr_quote unlikely upper zeroblob`,
	// https://sqlite.org/lang_aggfunc.html, https://sqlite.org/windowfunctions.html
	`avg count group_concat string_agg sum total cume_dist dense_rank
	first_value lag last_value lead nth_value ntile percent_rank rank
	row_number`,
	// https://sqlite.org/lang_datefunc.html
	`current_date current_time current_timestamp date datetime julianday
	strftime time timediff unixepoch`,
	// https://sqlite.org/json1.html
	`-> ->> json json_array json_array_insert json_array_length
	json_error_position json_extract json_group_array json_group_object
	json_insert json_object json_patch json_pretty json_quote json_remove
	json_replace json_set json_type json_valid jsonb jsonb_array
	jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object
	jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set
	subtype`,
	// https://sqlite.org/lang_mathfunc.html
	`acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp
	floor ln log log10 log2 mod pi pow power radians sin sinh sqrt tan tanh
	trunc`,
	// https://sqlite.org/fts5.html
	`match bm25 highlight snippet fts5_get_locale fts5_insttoken fts5_locale
	fts5_source_id`,
	// Pure functions that the driver adds: REGEXP, decimal arithmetic, the
	// parts of a float, base64.
	`regexp regexpi decimal decimal_add decimal_cmp decimal_exp decimal_mul
	decimal_pow2 decimal_sub decimal_sum ieee754 ieee754_exponent
	ieee754_from_blob ieee754_from_int ieee754_inc ieee754_mantissa
	ieee754_to_blob ieee754_to_int base64`,
)

// refusedFunctions are the functions of the engine that no statement may call.
var refusedFunctions = functionSet(
	`fts5`,       // returns addresses of code
	`sqlite_log`, // writes to the error log
)

func functionSet(lists ...string) map[string]bool {
	set := make(map[string]bool)
	for _, list := range lists {
		for name := range strings.FieldsSeq(list) {
			set[name] = true
		}
	}
	return set
}
