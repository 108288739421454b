package mysql

import (
	"math"

	"github.com/ktxhq/ktx/sqlguard"
)

// functionPage lists functions that may be called. They compute from their
// arguments, the row, the clock or random numbers, or return facts about the
// caller's own session. releases are the releases that have the name, in the
// notation of [parseSpan].
type functionPage struct {
	page           string // of the manuals
	mysql, mariadb string
	names          string
}

// functionPages follow the function reference of the two manuals. The servers'
// own lists show which release has a name (sql/item_create.cc, sql/lex.h and
// sql/sql_yacc.yy, and MariaDB's sql/item_geofunc.cc). The table leaves out
// functions that only a plugin, component or library provides.
var functionPages = []functionPage{
	{page: "Aggregate Functions", mysql: "*", mariadb: "*", names: `
		avg bit_and bit_or bit_xor count group_concat max min std stddev stddev_pop stddev_samp sum var_pop var_samp
		variance`},
	{page: "Aggregate Functions, JSON", mysql: "5.7.22", mariadb: "10.5", names: "json_arrayagg json_objectagg"},
	{page: "Aggregate Functions, spatial", mysql: "8.0.24", mariadb: "12.2", names: "st_collect"},
	{page: "Aggregate Functions, ordered sets", mariadb: "10.3.3", names: "median percentile_cont percentile_disc"},
	{page: "Window Functions", mysql: "8.0.2", mariadb: "10.2", names: `
		cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number`},
	{page: "Miscellaneous Functions", mysql: "8.0.1", names: "grouping"},
	{page: "Miscellaneous Functions", mysql: "5.7.5", names: "any_value"},

	{page: "Flow Control Functions", mysql: "*", mariadb: "*", names: "if ifnull nullif"},
	{page: "Flow Control Functions", mariadb: "10.3", names: "nvl nvl2 decode_oracle"},
	{page: "Comparison Functions", mysql: "*", mariadb: "*", names: `
		coalesce greatest interval isnull least strcmp`},
	{page: "Cast Functions", mysql: "*", mariadb: "*", names: "binary cast convert"},

	{page: "Mathematical Functions", mysql: "*", mariadb: "*", names: `
		abs acos asin atan atan2 ceil ceiling conv cos cot crc32 degrees exp floor ln log log10 log2 mod oct pi pow power
		radians rand round sign sin sqrt tan truncate`},
	{page: "Mathematical Functions", mariadb: "10.8", names: "crc32c"},
	{page: "Mathematical Functions", mariadb: "12.2", names: "to_number trunc"},
	{page: "Bit Functions", mysql: "*", mariadb: "*", names: "bit_count"},

	{page: "Date and Time Functions", mysql: "*", mariadb: "*", names: `
		adddate addtime convert_tz curdate current_date current_time current_timestamp curtime date date_add date_format
		date_sub datediff day dayname dayofmonth dayofweek dayofyear extract from_days from_unixtime get_format hour
		last_day localtime localtimestamp makedate maketime microsecond minute month monthname now period_add
		period_diff quarter sec_to_time second str_to_date subdate subtime sysdate time time_format time_to_sec
		timediff timestamp timestampadd timestampdiff to_days to_seconds unix_timestamp utc_date utc_time
		utc_timestamp week weekday weekofyear year yearweek`},
	{page: "Date and Time Functions", mariadb: "10.6.1", names: "add_months to_char"},
	{page: "Date and Time Functions", mariadb: "12.2", names: "months_between"},
	{page: "Date and Time Functions", mysql: "8.0.16", mariadb: "11.0.2", names: "format_pico_time"},

	{page: "String Functions", mysql: "*", mariadb: "*", names: `
		ascii bin bit_length char char_length character_length concat concat_ws elt export_set field find_in_set format
		from_base64 hex insert instr lcase left length locate lower lpad ltrim make_set mid octet_length ord position
		quote repeat replace reverse right rpad rtrim soundex space substr substring substring_index to_base64 trim
		ucase unhex upper weight_string`},
	{page: "String Functions", mysql: "8.0.16", mariadb: "11.8", names: "format_bytes"},
	{page: "String Functions", mariadb: "10.3", names: `
		chr concat_operator_oracle lengthb lpad_oracle ltrim_oracle rpad_oracle rtrim_oracle substr_oracle
		trim_oracle`},
	{page: "String Functions", mariadb: "10.6", names: "replace_oracle"},
	{page: "String Functions", mariadb: "10.7", names: "natural_sort_key sformat"},
	{page: "Regular Expressions", mysql: "8.0.4", mariadb: "*", names: "regexp_instr regexp_replace regexp_substr"},
	{page: "Regular Expressions", mysql: "8.0.4", names: "regexp_like"},
	{page: "Full-Text Search Functions", mysql: "*", mariadb: "*", names: "match"},
	{page: "XML Functions", mysql: "*", mariadb: "*", names: "extractvalue updatexml"},

	{page: "Encryption and Compression Functions", mysql: "*", mariadb: "*", names: `
		aes_decrypt aes_encrypt compress sha2 uncompress uncompressed_length`},
	{page: "Encryption and Compression Functions", mysql: "* <9.6", mariadb: "*", names: "md5 sha sha1"},
	{page: "Encryption and Compression Functions", mysql: "* <8.0", mariadb: "*", names: "decode encode"},
	{page: "Encryption and Compression Functions", mysql: "*", mariadb: "10.10", names: "random_bytes"},
	{page: "Encryption and Compression Functions", mysql: "8.0", names: "statement_digest statement_digest_text"},
	{page: "Encryption and Compression Functions", mysql: "*", names: "validate_password_strength"},

	{page: "Information Functions", mysql: "*", mariadb: "*", names: `
		charset coercibility collation connection_id current_user database found_rows last_insert_id row_count schema
		session_user system_user user version`},
	{page: "Information Functions", mysql: "8.0", mariadb: "*", names: "current_role"},
	{page: "Information Functions", mysql: "8.0", names: "icu_version"},
	{page: "Information Functions", mariadb: "10.11", names: "schemas"},
	{page: "Information Functions", mariadb: "10.6.1", names: "rownum"},
	{page: "Information Functions", mariadb: "*", names: "decode_histogram"},
	{page: "Performance Schema Functions", mysql: "8.0.16", names: "ps_current_thread_id"},
	{page: "Functions Used with Global Transaction Identifiers", mysql: "*", names: "gtid_subset gtid_subtract"},

	{page: "Miscellaneous Functions", mysql: "*", mariadb: "*", names: `
		default inet6_aton inet6_ntoa inet_aton inet_ntoa is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 name_const row
		uuid uuid_short values`},
	{page: "Miscellaneous Functions", mysql: "8.0", names: "bin_to_uuid is_uuid uuid_to_bin"},
	{page: "Miscellaneous Functions", mysql: "9.4", names: "etag"},
	{page: "Miscellaneous Functions", mariadb: "10.3.3", names: "value"},
	{page: "Miscellaneous Functions", mariadb: "10.6.1", names: "sys_guid"},
	{page: "Miscellaneous Functions", mariadb: "11.7", names: "uuid_v4 uuid_v7"},

	{page: "Dynamic Columns Functions", mariadb: "*", names: `
		column_add column_check column_create column_delete column_exists column_get column_json column_list`},

	{page: "JSON Functions", mysql: "5.7.8", mariadb: "10.2.3", names: `
		json_array json_array_append json_array_insert json_contains json_contains_path json_depth json_extract
		json_insert json_keys json_length json_merge json_object json_quote json_remove json_replace json_search
		json_set json_type json_unquote json_valid`},
	{page: "JSON Functions", mysql: "5.7.22", mariadb: "10.2.25", names: "json_merge_patch json_merge_preserve"},
	{page: "JSON Functions", mysql: "5.7.22", mariadb: "10.10.3", names: "json_pretty"},
	{page: "JSON Functions", mysql: "5.7.22", names: "json_storage_size"},
	{page: "JSON Functions", mysql: "8.0.2", names: "json_storage_free"},
	{page: "JSON Functions", mysql: "5.7.8 <8.0.3", names: "json_append"},
	{page: "JSON Functions", mysql: "8.0.21", mariadb: "10.2.3", names: "json_value"},
	{page: "JSON Functions", mysql: "8.0.17", mariadb: "10.9", names: "json_overlaps"},
	{page: "JSON Functions", mysql: "8.0.17", mariadb: "11.1", names: "json_schema_valid"},
	{page: "JSON Functions", mysql: "8.0.17", names: "json_schema_validation_report"},
	{page: "JSON Functions", mysql: "8.0.4", mariadb: "10.6", names: "json_table"},
	{page: "JSON Functions", mariadb: "10.2.3", names: "json_exists json_query"},
	{page: "JSON Functions", mariadb: "10.2.4", names: "json_compact json_detailed json_loose"},
	{page: "JSON Functions", mariadb: "10.7", names: "json_equals json_normalize"},
	{page: "JSON Functions", mariadb: "11.2", names: `
		json_array_intersect json_key_value json_object_filter_keys json_object_to_array`},

	{page: "Vector Functions", mysql: "9.0", names: `
		from_vector string_to_vector to_vector vector_dim vector_to_string`},
	{page: "Vector Functions", mariadb: "11.7", names: `
		vec_distance_cosine vec_distance_euclidean vec_fromtext vec_totext`},
	{page: "Vector Functions", mariadb: "11.8", names: "vec_distance"},

	{page: "Spatial Functions, constructors", mysql: "*", mariadb: "*", names: `
		geometrycollection linestring multilinestring multipoint multipolygon point polygon`},
	{page: "Spatial Functions, constructors", mysql: "8.0.11", names: "geomcollection"},
	{page: "Spatial Functions", mysql: "*", mariadb: "*", names: `
		mbrcontains mbrdisjoint mbrequals mbrintersects mbroverlaps mbrtouches mbrwithin
		st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_buffer st_centroid st_contains st_convexhull
		st_crosses st_difference st_dimension st_disjoint st_distance st_endpoint st_envelope st_equals
		st_exteriorring st_geomcollfromtext st_geomcollfromwkb st_geometrycollectionfromtext
		st_geometrycollectionfromwkb st_geometryfromtext st_geometryfromwkb st_geometryn st_geometrytype
		st_geomfromgeojson st_geomfromtext st_geomfromwkb st_interiorringn st_intersection st_intersects st_isclosed
		st_isempty st_issimple st_length st_linefromtext st_linefromwkb st_linestringfromtext
		st_linestringfromwkb st_numgeometries st_numinteriorrings st_numpoints st_overlaps st_pointfromtext
		st_pointfromwkb st_pointn st_polyfromtext st_polyfromwkb st_polygonfromtext st_polygonfromwkb st_srid
		st_startpoint st_symdifference st_touches st_union st_within st_x st_y`},
	{page: "Spatial Functions", mysql: "*", mariadb: "10.5.10", names: "st_distance_sphere"},
	{page: "Spatial Functions", mysql: "*", mariadb: "10.2", names: `
		st_mlinefromtext st_mlinefromwkb st_mpointfromtext st_mpointfromwkb st_mpolyfromtext st_mpolyfromwkb
		st_multilinestringfromtext st_multilinestringfromwkb st_multipointfromtext st_multipointfromwkb
		st_multipolygonfromtext st_multipolygonfromwkb`},
	{page: "Spatial Functions", mysql: "*", mariadb: "12.0", names: `
		mbrcoveredby
		st_geohash st_isvalid st_latfromgeohash st_longfromgeohash st_pointfromgeohash st_simplify st_validate`},
	{page: "Spatial Functions", mysql: "*", names: `
		mbrcovers st_buffer_strategy st_geomcollfromtxt st_makeenvelope st_numinteriorring`},
	{page: "Spatial Functions", mysql: "8.0", names: "st_swapxy"},
	{page: "Spatial Functions", mysql: "8.0.12", names: "st_latitude st_longitude"},
	{page: "Spatial Functions", mysql: "8.0.13", names: "st_transform"},
	{page: "Spatial Functions", mysql: "8.0.23", names: "st_frechetdistance st_hausdorffdistance"},
	{page: "Spatial Functions", mysql: "8.0.24", names: `
		st_lineinterpolatepoint st_lineinterpolatepoints st_pointatdistance`},
	{page: "Spatial Functions", mariadb: "*", names: "st_boundary st_isring st_pointonsurface st_relate"},
	{page: "Spatial Functions", mariadb: "12.0", names: "st_coveredby"},
	{page: "Spatial Functions without ST_", mysql: "* <8.0", mariadb: "*", names: `
		area asbinary astext aswkb aswkt buffer centroid contains convexhull crosses dimension disjoint endpoint envelope
		equals exteriorring geomcollfromtext geomcollfromwkb geometrycollectionfromtext geometrycollectionfromwkb
		geometryfromtext geometryfromwkb geometryn geometrytype geomfromtext geomfromwkb glength interiorringn
		intersects isclosed isempty issimple linefromtext linefromwkb linestringfromtext linestringfromwkb mbrequal
		mlinefromtext mlinefromwkb mpointfromtext mpointfromwkb mpolyfromtext mpolyfromwkb multilinestringfromtext
		multilinestringfromwkb multipointfromtext multipointfromwkb multipolygonfromtext multipolygonfromwkb
		numgeometries numinteriorrings numpoints overlaps pointfromtext pointfromwkb pointn polyfromtext polyfromwkb
		polygonfromtext polygonfromwkb srid startpoint touches within x y`},
	{page: "Spatial Functions without ST_", mysql: "* <8.0", names: "distance"},
	{page: "Spatial Functions without ST_", mariadb: "*", names: "boundary isring pointonsurface"},
	{page: "Spatial Functions without ST_", mariadb: "12.0", names: `
		coveredby geohash isvalid latfromgeohash longfromgeohash pointfromgeohash simplify validate`},
}

// deniedFunction lists functions that are refused on every server because of what
// they do.
type deniedFunction struct {
	code   sqlguard.Code
	reason string
	names  string
}

var deniedFunctions = []deniedFunction{
	{sqlguard.CodeFunctionFileAccess, "it reads a file of the server", `
		load_file audit_log_read audit_log_read_bookmark gen_dictionary_load json_file jfile_make jfile_bson
		jfile_convert jbin_file bson_file bfile_make bfile_bson bfile_convert bbin_file`},
	{sqlguard.CodeFunctionFileAccess, "it uses the keys in a file of the server", "des_decrypt des_encrypt"},
	{sqlguard.CodeFunctionSleep, "it holds the connection", "benchmark sleep"},
	{sqlguard.CodeFunctionSleep, "it waits for replication", `
		master_gtid_wait master_pos_wait source_pos_wait wait_for_executed_gtid_set wait_until_sql_thread_after_gtids
		wsrep_sync_wait_upto_gtid`},
	{sqlguard.CodeFunctionSideEffect, "it takes or releases locks", `
		get_lock release_all_locks release_lock service_get_read_locks service_get_write_locks service_release_locks`},
	{sqlguard.CodeFunctionSideEffect, "it advances a sequence, or returns its last value in this session", `
		currval lastval nextval setval`},
	{sqlguard.CodeFunctionAdmin, "it shows locks of other sessions", "is_free_lock is_used_lock"},
	{sqlguard.CodeFunctionAdmin, "it shows other sessions", "ps_thread_id"},
	{sqlguard.CodeFunctionAdmin, "it shows roles and grants", "roles_graphml"},
	{sqlguard.CodeFunctionAdmin, "it reads the binary log of the server", `
		binlog_gtid_pos get_binlog_by_gtid get_binlog_by_gtid_set get_first_record_timestamp_by_binlog
		get_gtid_set_by_binlog get_last_gtid_from_binlog get_last_record_timestamp_by_binlog`},
	{sqlguard.CodeFunctionAdmin, "it shows the state of a cluster", "wsrep_last_seen_gtid wsrep_last_written_gtid"},
	{sqlguard.CodeFunctionAdmin, "it runs a program of the server, or reads and sets its environment", `
		envar sys_eval sys_exec sys_get sys_set`},
	{sqlguard.CodeFunctionAdmin, "it handles keys of the server", `
		create_asymmetric_priv_key create_asymmetric_pub_key create_dh_parameters create_digest rotate_system_key
		keyring_encrypt keyring_decrypt`},
	{sqlguard.CodeFunctionAdmin, "it changes the server's firewall, rewriting rules or masking dictionaries", `
		firewall_group_delist firewall_group_enlist gen_blacklist gen_blocklist gen_dictionary gen_dictionary_drop
		load_rewrite_rules masking_dictionaries_flush masking_dictionary_remove masking_dictionary_term_add
		masking_dictionary_term_remove read_firewall_group_allowlist read_firewall_groups read_firewall_users
		read_firewall_whitelist set_firewall_group_mode set_firewall_mode`},
	{sqlguard.CodeFunctionNetworkAccess, "the server opens a connection", `
		curl_get curl_post curl_put curl_delete http_get http_post http_put http_delete http_raw`},
	{sqlguard.CodeFunctionNotAllowed, "it makes the hash of an account's password", "encrypt old_password password"},
	{sqlguard.CodeFunctionNotAllowed, "it makes a key of a password, which does not belong in a statement", "kdf"},
	{sqlguard.CodeFunctionAdmin, "only the server's own views may call it", `
		can_access_column can_access_database can_access_event can_access_resource_group can_access_routine
		can_access_table can_access_trigger can_access_user can_access_view convert_cpu_id_mask
		convert_interval_to_user_interval get_dd_column_privileges get_dd_create_options get_dd_index_private_data
		get_dd_index_sub_part_length get_dd_property_key_value get_dd_schema_options get_dd_tablespace_private_data
		get_jdv_property_key_value is_visible_dd_object remove_dd_property_key like_range_max like_range_min
		st_gis_debug`},
}

// deniedPrefix denies families of functions of libraries and plugins.
type deniedPrefix struct {
	prefix string
	code   sqlguard.Code
	reason string
}

var deniedPrefixes = []deniedPrefix{
	{"asymmetric_", sqlguard.CodeFunctionAdmin, "it handles keys"},
	{"asynchronous_connection_failover_", sqlguard.CodeFunctionAdmin, "it changes replication"},
	{"audit_log_", sqlguard.CodeFunctionAdmin, "it controls the server's audit log"},
	{"audit_api_", sqlguard.CodeFunctionAdmin, "it controls the server's audit log"},
	{"group_replication_", sqlguard.CodeFunctionAdmin, "it changes replication"},
	{"internal_", sqlguard.CodeFunctionAdmin, "only the server's own views may call it"},
	{"keyring_", sqlguard.CodeFunctionAdmin, "it handles keys of the server"},
	{"mysql_firewall_", sqlguard.CodeFunctionAdmin, "it controls the server's firewall"},
	{"option_tracker_", sqlguard.CodeFunctionAdmin, "it administers the server"},
	{"service_", sqlguard.CodeFunctionSideEffect, "it takes or releases locks"},
	{"spider_", sqlguard.CodeFunctionNetworkAccess, "the server sends statements to other servers"},
	{"version_tokens_", sqlguard.CodeFunctionAdmin, "it administers the server"},
}

// settersByArgument are functions that change state when they are given more
// arguments.
var settersByArgument = map[string]struct {
	most   int
	code   sqlguard.Code
	reason string
}{
	"last_insert_id": {0, sqlguard.CodeFunctionSideEffect, "with an argument it changes a value that the session keeps"},
}

// arities has the fewest and the most arguments that a server's grammar accepts for a
// function. With any other number, the statement calls a stored function of that name.
// JSON_TABLE is a table, so every call of that name calls a stored function.
var arities = map[string]struct{ fewest, most int }{
	"geometrycollection": {1, math.MaxInt}, "json_table": {1, 0}, "linestring": {1, math.MaxInt}, "multilinestring": {1, math.MaxInt},
	"multipoint": {1, math.MaxInt}, "multipolygon": {1, math.MaxInt}, "point": {2, 2}, "polygon": {1, math.MaxInt},
}

// nativeSchemas are the schemas in which MariaDB finds functions of its own, one
// for each of its modes.
var nativeSchemas = map[string]bool{"mariadb_schema": true, "maxdb_schema": true, "oracle_schema": true}

// sequenceNames are the names that make a qualified name an access to a sequence
// in MariaDB's Oracle mode.
var sequenceNames = map[string]bool{"currval": true, "lastval": true, "nextval": true, "setval": true}

// adherentNames are the names that the servers' lexers read as functions only directly
// before a bracket (sql/lex.h). MariaDB has more of them than MySQL, and before 10.11 it
// had even more.
var (
	adherentNames = fieldSet(`
		adddate bit_and bit_or bit_xor cast count curdate curtime date_add date_sub extract group_concat json_arrayagg
		json_objectagg max mid min now position session_user st_collect std stddev stddev_pop stddev_samp subdate
		substr substring sum sysdate system_user trim variance var_pop var_samp`)
	mariadbAdherentNames = fieldSet(`
		cume_dist dense_rank first_value lag lead median nth_value ntile percent_rank percentile_cont percentile_disc rank
		trim_oracle`)
	earlyAdherentNames = fieldSet("date_format decode row_number")
)

// wordNames are functions that one of the servers has only as words of its grammar, in
// addition to adherentNames (sql/sql_yacc.yy).
var wordNames = fieldSet(`
	ascii avg binary char charset coalesce collation contains column_add column_create column_delete column_get convert
	current_date current_role current_time current_timestamp current_user database date day default format
	geomcollection geometrycollection get_format grouping hour if insert interval json_table json_value last_value lastval left
	linestring localtime localtimestamp match microsecond minute mod month multilinestring multipoint multipolygon
	nextval old_password password point polygon quarter repeat replace right row row_count rownum schema second
	setval time timestamp timestampadd timestampdiff truncate user utc_date utc_time utc_timestamp value values week
	weight_string year`)
