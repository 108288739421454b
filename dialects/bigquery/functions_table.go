package bigquery

import "github.com/ktxhq/ktx/dialects/internal/lexical"

// The functions of BigQuery that only compute. Reference: Functions (alphabetical).

// scalarFunctions are functions of a row.
const scalarFunctions = `abs acos acosh array array_concat array_first array_includes array_includes_all array_includes_any array_is_distinct array_filter array_last array_length array_max array_min
	array_offset array_offsets array_find array_find_all array_reverse array_slice array_sum array_avg array_to_string array_transform array_zip ascii asin asinh atan atan2 atanh bit_count bool bool_array byte_length cast cbrt ceil ceiling char_length
	character_length chr coalesce code_points_to_bytes code_points_to_string collate concat contains_substr cos cosh cosine_distance cot coth csc csch
	current_date current_datetime current_time current_timestamp date date_add date_bucket date_diff date_from_unix_date date_sub date_trunc datetime datetime_add datetime_bucket
	datetime_diff datetime_sub datetime_trunc div dot_product edit_distance ends_with error euclidean_distance exp extract farm_fingerprint flatten float64 float64_array
	floor format format_date format_datetime format_time format_timestamp from_base32 from_base64 from_hex generate_array generate_date_array generate_timestamp_array
	generate_uuid greatest ieee_divide if iferror ifnull initcap instr int64 int64_array is_inf is_nan iserror json_array json_array_append json_array_insert json_extract json_extract_array
	json_extract_scalar json_extract_string_array json_flatten json_keys json_object json_query json_query_array json_remove json_set json_strip_nulls json_type json_value json_value_array
	justify_days justify_hours justify_interval last_day lax_bool lax_bool_array lax_float64 lax_float64_array lax_int64 lax_int64_array lax_string lax_string_array least left length ln log log10 log2 lower lpad ltrim make_interval md5 mod
	normalize normalize_and_casefold nullif nulliferror octet_length parse_bignumeric parse_date parse_datetime parse_json parse_numeric parse_time parse_timestamp pi pow power
	rand range range_bucket range_contains range_end range_intersect range_overlaps range_start regexp_contains regexp_extract regexp_extract_all regexp_extract_groups regexp_instr regexp_replace
	regexp_substr repeat replace reverse right round rpad rtrim s2_cellidfrompoint safe_add safe_cast safe_convert_bytes_to_string safe_divide safe_multiply safe_negate
	safe_subtract search sec sech session_user sha1 sha256 sha512 sign sin sinh soundex split split_substr sqrt starts_with string string_array strpos
	st_angle st_area st_asbinary st_asgeojson st_astext st_azimuth st_boundary st_boundingbox st_buffer st_centroid st_closestpoint
	st_contains st_convexhull st_coveredby st_covers st_difference st_dimension st_disjoint st_distance st_dump st_dumppoints st_dwithin st_endpoint st_equals st_exteriorring
	st_geogfrom st_geogfromgeojson st_geogfromtext st_geogfromwkb st_geogpoint st_geogpointfromgeohash st_geohash st_geometrytype st_hausdorffdistance st_hausdorffdwithin st_interiorrings
	st_intersection st_intersects st_intersectsbox st_isclosed st_iscollection st_isempty st_isring st_isvalid st_length st_lineinterpolatepoint st_linelocatepoint st_linesubstring st_makeline
	st_makepolygon st_makepolygonoriented st_maxdistance st_npoints st_numgeometries st_numpoints st_perimeter st_pointn st_simplify st_snaptogrid st_startpoint st_touches st_union st_within st_x st_y
	substr substring tan tanh text_analyze bag_of_words tf_idf time time_add time_diff time_sub time_trunc timestamp timestamp_add timestamp_bucket timestamp_diff timestamp_micros timestamp_millis
	timestamp_seconds timestamp_sub timestamp_trunc timestamp_from_unix_micros timestamp_from_unix_millis timestamp_from_unix_seconds to_base32 to_base64 to_code_points to_hex to_json to_json_string
	translate trim trunc typeof unicode unix_date unix_micros unix_millis unix_seconds upper zeroifnull nullifzero lax_string`

// aggregateFunctions are aggregates and window functions.
const aggregateFunctions = `any_value approx_count_distinct approx_quantiles approx_top_count approx_top_sum array_agg array_concat_agg avg bit_and bit_or bit_xor corr count countif
	covar_pop covar_samp cume_dist dense_rank first_value grouping grouping_id is_first is_last lag last_value lead logical_and logical_or max max_by min min_by nth_value ntile percent_rank
	percentile_cont percentile_disc rank row_number st_centroid_agg st_clusterdbscan st_extent st_union_agg stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance
	anon_avg anon_count anon_sum
	first last prev next match_number match_row_number classifier`

// dottedFunctions are functions whose names have a dot.
const dottedFunctions = `hll_count.extract hll_count.init hll_count.merge hll_count.merge_partial kll_quantiles.extract_float64 kll_quantiles.extract_int64 kll_quantiles.extract_point_float64 kll_quantiles.extract_point_int64
	kll_quantiles.init_float64 kll_quantiles.init_int64 kll_quantiles.merge_float64 kll_quantiles.merge_int64 kll_quantiles.merge_partial kll_quantiles.merge_point_float64 kll_quantiles.merge_point_int64
	net.host net.ip_from_string net.ip_net_mask net.ip_to_string net.ip_trunc net.ipv4_from_int64 net.ipv4_to_int64 net.public_suffix net.reg_domain net.safe_ip_from_string net.ip_in_net net.make_net`

// modelFunctions are those of ML that only compute from their arguments.
const modelFunctions = `ml.bucketize ml.distance ml.hash_bucketize ml.imputer ml.label_encoder ml.lp_norm ml.max_abs_scaler ml.min_max_scaler ml.multi_hot_encoder
	ml.ngrams ml.normalizer ml.one_hot_encoder ml.quantile_bucketize ml.robust_scaler ml.standard_scaler`

// syntaxFunctions are functions that the parser makes from syntax: subscripts, and weeks
// that begin on another day.
const syntaxFunctions = `offset ordinal safe_offset safe_ordinal key safe_key week`

// tableFunctions are functions of FROM that make rows of their arguments, or of the table
// that an argument names.
var tableFunctions = lexical.Set(`appends changes gap_fill range_sessionize vector_search`)
