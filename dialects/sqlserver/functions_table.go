package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// functionPage lists functions of one page of the reference.
type functionPage struct {
	page  string
	table bool
	names string
}

// functionPages are the functions that may be called. They compute from their
// arguments, the row or the clock, or return facts about the session and the
// structure of the database. The category pages of "What are the Microsoft SQL
// database functions?" list them.
var functionPages = []functionPage{
	{page: "Aggregate Functions (Transact-SQL)", names: `
		approx_count_distinct approx_percentile_cont approx_percentile_disc avg checksum_agg count count_big grouping
		grouping_id max min product stdev stdevp string_agg sum var varp`},
	{page: "Analytic Functions (Transact-SQL)", names: `
		cume_dist first_value lag last_value lead percentile_cont percentile_disc percent_rank`},
	{page: "Ranking Functions (Transact-SQL)", names: "dense_rank ntile rank row_number"},
	{page: "Bit Manipulation Functions", names: "bit_count get_bit left_shift right_shift set_bit"},
	{page: "Collation Functions (Transact-SQL)", names: "collationproperty tertiary_weights"},
	{page: "Conversion Functions (Transact-SQL)", names: "cast convert parse try_cast try_convert try_parse"},
	{page: "Cryptographic Functions (Transact-SQL)", names: "crypt_gen_random hashbytes"},
	{page: "Data Type Functions (Transact-SQL)", names: `
		datalength ident_current ident_incr ident_seed sql_variant_property`},
	{page: "Date and Time Data Types and Functions (Transact-SQL)", names: `
		current_date current_time current_timestamp current_timezone current_timezone_id date_bucket dateadd datediff datediff_big
		datefromparts datename datepart datetime2fromparts datetimefromparts datetimeoffsetfromparts datetrunc day
		eomonth getdate getutcdate isdate month smalldatetimefromparts switchoffset sysdatetime sysdatetimeoffset
		sysutcdatetime timefromparts todatetimeoffset year`},
	{page: "Fuzzy String Match functions (Transact-SQL)", names: `
		edit_distance edit_distance_similarity jaro_winkler_distance jaro_winkler_similarity`},
	{page: "Graph Functions (Transact-SQL)", names: `
		edge_id_from_parts graph_id_from_edge_id graph_id_from_node_id node_id_from_parts object_id_from_edge_id
		object_id_from_node_id`},
	{page: "JSON Functions (Transact-SQL)", names: `
		isjson json_array json_arrayagg json_contains json_modify json_object json_objectagg json_path_exists json_query
		json_value`},
	{page: "Logical Functions (Transact-SQL)", names: "choose greatest iif least"},
	{page: "COALESCE (Transact-SQL); NULLIF (Transact-SQL); ISNULL (Transact-SQL)", names: "coalesce isnull nullif"},
	{page: "Mathematical Functions (Transact-SQL)", names: `
		abs acos asin atan atn2 ceiling cos cot degrees exp floor log log10 pi power radians rand round sign sin sqrt
		square tan`},
	{page: "Metadata Functions (Transact-SQL)", names: `
		assemblyproperty col_length col_name columnproperty database_principal_id databaseproperty databasepropertyex db_id
		db_name file_id file_idex file_name filegroup_id filegroup_name filegroupproperty fileproperty
		filepropertyex fulltextcatalogproperty fulltextserviceproperty index_col indexkey_property indexproperty
		object_id object_name object_schema_name objectproperty objectpropertyex original_db_name
		parsename schema_id schema_name scope_identity serverproperty stats_date type_id type_name typeproperty version`},
	{page: "Regular expressions functions (Transact-SQL)", names: `
		regexp_count regexp_instr regexp_like regexp_replace regexp_substr`},
	{page: "Regular expressions functions (Transact-SQL)", table: true, names: "regexp_matches regexp_split_to_table"},
	{page: "Security Functions (Transact-SQL)", names: `
		current_user has_dbaccess has_perms_by_name is_member is_rolemember is_srvrolemember original_login permissions
		session_user suser_id suser_name suser_sid suser_sname system_user user user_id user_name`},
	{page: "String Functions (Transact-SQL)", names: `
		ascii base64_decode base64_encode char charindex concat concat_ws difference format left len lower ltrim nchar
		patindex quotename replace replicate reverse right rtrim soundex space str string_escape stuff substring
		translate trim unicode unistr upper`},
	{page: "System functions (Transact-SQL)", names: `
		app_name binary_checksum checksum compress connectionproperty context_info current_request_id
		current_transaction_id decompress error_line error_message error_number error_procedure error_severity
		error_state formatmessage getansinull host_id host_name isnumeric min_active_rowversion newid
		rowcount_big session_context session_id sessionproperty xact_state`},
	{page: "Text and Image Functions (Transact-SQL)", names: "textvalid"},
	{page: "Vector functions (Transact-SQL)", names: `
		vector_distance vector_norm vector_normalize vectorproperty`},
	{page: "CONTAINS (Transact-SQL); FREETEXT (Transact-SQL)", names: "contains freetext"},
	{page: "Rowset Functions (Transact-SQL)", table: true, names: `
		containstable fn_helpcollations fn_listextendedproperty freetexttable openjson generate_series string_split semantickeyphrasetable
		semanticsimilaritydetailstable semanticsimilaritytable`},
	{page: "Change tracking functions (Transact-SQL)", names: `
		change_tracking_current_version change_tracking_is_column_in_mask change_tracking_min_valid_version`},
	{page: "CHANGETABLE (Transact-SQL)", table: true, names: "changetable"},
	{page: "VECTOR_SEARCH (Transact-SQL)", table: true, names: "vector_search"},
}

// syntaxes are the functions whose arguments have a syntax of their own.
var syntaxes = []struct {
	syntax syntax
	names  string
}{
	{syntaxCast, "cast try_cast parse try_parse"},
	{syntaxConvert, "convert try_convert"},
	{syntaxDatePart, "dateadd datediff datediff_big datename datepart datetrunc date_bucket"},
	{syntaxTrim, "trim"},
	{syntaxIIF, "iif"},
	{syntaxStar, "count count_big checksum binary_checksum"},
	{syntaxJSON, "json_object json_array json_objectagg json_arrayagg json_value json_query"},
	{syntaxProperty, "serverproperty connectionproperty sessionproperty"},
	{syntaxSized, "replicate space generate_series"},
	{syntaxFullText, "contains freetext"},
	{syntaxCondition, "regexp_like"},
	{syntaxChanges, "changetable"},
	{syntaxVectorSearch, "vector_search"},
}

// deniedPage lists functions that are refused with a specific code.
type deniedPage struct {
	page   string
	code   sqlguard.Code
	reason string
	syntax syntax
	names  string
}

// deniedFunctions are functions that reach beyond the query. No policy can
// allow them.
var deniedFunctions = []deniedPage{
	{"OPENROWSET (Transact-SQL)", sqlguard.CodeFunctionFileAccess, "reads files of the server, or from another server", syntaxSkip, "openrowset"},
	{"OPENQUERY (Transact-SQL)", sqlguard.CodeFunctionNetworkAccess, "runs SQL on a linked server", syntaxSkip, "openquery"},
	{"OPENDATASOURCE (Transact-SQL)", sqlguard.CodeFunctionNetworkAccess, "connects to another server", syntaxSkip, "opendatasource"},
	{"OPENXML (Transact-SQL)", sqlguard.CodeFunctionNotAllowed, "needs a document that a procedure has prepared", syntaxSkip, "openxml"},
	{"PREDICT (Transact-SQL)", sqlguard.CodeFunctionNotAllowed, "runs a model that the guard cannot see", syntaxSkip, "predict"},
	{
		"AI_GENERATE_EMBEDDINGS (Transact-SQL); AI functions", sqlguard.CodeFunctionNetworkAccess, "sends its arguments to a service outside of the server", syntaxSkip,
		"ai_generate_embeddings ai_generate_chunks ai_generate_response ai_analyze_sentiment ai_classify ai_extract ai_fix_grammar ai_summarize ai_translate",
	},

	{"LOGINPROPERTY (Transact-SQL)", sqlguard.CodeFunctionAdmin, "shows properties of logins and their passwords", syntaxPlain, "loginproperty"},
	{"PWDCOMPARE (Transact-SQL)", sqlguard.CodeFunctionAdmin, "tests or makes password hashes", syntaxPlain, "pwdcompare pwdencrypt"},
	{"Cryptographic Functions (Transact-SQL)", sqlguard.CodeFunctionAdmin, "uses keys and certificates of the server", syntaxPlain, `
		asymkey_id asymkeyproperty cert_id certencoded certprivatekey certproperty decryptbyasymkey decryptbycert
		decryptbykey decryptbykeyautoasymkey decryptbykeyautocert decryptbypassphrase encryptbyasymkey encryptbycert
		encryptbykey encryptbypassphrase is_objectsigned key_guid key_id key_name signbyasymkey signbycert
		symkeyproperty verifysignedbyasymkey verifysignedbycert`},
	{"APPLOCK_MODE (Transact-SQL); APPLOCK_TEST (Transact-SQL)", sqlguard.CodeFunctionAdmin, "shows locks of other sessions", syntaxPlain, "applock_mode applock_test"},
	{
		"GET_FILESTREAM_TRANSACTION_CONTEXT (Transact-SQL); FileTable functions", sqlguard.CodeFunctionFileAccess, "gives access to files of the server", syntaxPlain,
		"get_filestream_transaction_context filetablerootpath getfilenamespacepath getpathlocator",
	},
	{"OBJECT_DEFINITION (Transact-SQL)", sqlguard.CodeFunctionNotAllowed, "shows source text of views, routines or triggers, in which passwords can stand", syntaxPlain, "object_definition"},
	{"TEXTPTR (Transact-SQL)", sqlguard.CodeFunctionNotAllowed, "creates a pointer that writes can use", syntaxPlain, "textptr"},
	{"IDENTITY (Function) (Transact-SQL)", sqlguard.CodeSelectInto, "belongs to SELECT INTO", syntaxPlain, "identity"},
	{
		"CURSOR_STATUS (Transact-SQL); Trigger Functions; Replication Functions", sqlguard.CodeFunctionNotAllowed, "has no meaning in a query", syntaxPlain,
		"cursor_status columns_updated update eventdata trigger_nestlevel publishingservername newsequentialid",
	},
}

// systemFunctionPages are the functions of the schema sys that may be called.
var systemFunctionPages = []functionPage{
	{page: "sys.fn_helpcollations (Transact-SQL)", table: true, names: "fn_helpcollations"},
	{page: "sys.fn_listextendedproperty (Transact-SQL)", table: true, names: "fn_listextendedproperty"},
	{page: "sys.dm_sql_referenced_entities (Transact-SQL); sys.dm_sql_referencing_entities (Transact-SQL)", table: true, names: "dm_sql_referenced_entities dm_sql_referencing_entities"},
	{page: "sys.dm_db_stats_properties (Transact-SQL); sys.dm_db_index_physical_stats (Transact-SQL); their like", table: true, names: `
		dm_db_stats_properties dm_db_incremental_stats_properties dm_db_index_physical_stats dm_db_index_operational_stats`},
	{page: "sys.fn_varbintohexstr; sys.fn_PhysLocFormatter", names: "fn_varbintohexstr fn_varbintohexsubstring fn_physlocformatter"},
}

// deniedSystemFunctions are functions of the schema sys that are refused with a specific
// code. All other functions of the schema that are not listed are refused too.
var deniedSystemFunctions = []deniedPage{
	{"sys.fn_xe_file_target_read_file (Transact-SQL)", sqlguard.CodeFunctionFileAccess, "reads files of the server", syntaxPlain, `
		fn_xe_file_target_read_file fn_get_audit_file fn_get_audit_file_v2 fn_trace_gettable fn_dump_dblog fn_full_dblog dm_os_file_exists
		dm_os_enumerate_filesystem dm_os_enumerate_fixed_drives dm_os_enumerate_fixed_drives_filesystem
		fn_msxe_read_event_stream`},
	{"sys.fn_dblog", sqlguard.CodeFunctionAdmin, "reads the log of the database", syntaxPlain, "fn_dblog fn_dblog_xtp"},
	{"sys.dm_exec_sql_text (Transact-SQL)", sqlguard.CodeFunctionAdmin, "shows statements and plans of other sessions", syntaxPlain, `
		dm_exec_sql_text dm_exec_query_plan dm_exec_text_query_plan dm_exec_input_buffer dm_exec_cursors
		dm_exec_plan_attributes dm_exec_query_statistics_xml dm_exec_query_plan_stats dm_exec_xml_handles fn_get_sql
		dm_exec_cached_plan_dependent_objects`},
	{
		"sys.dm_exec_describe_first_result_set (Transact-SQL)", sqlguard.CodeDynamicSQL, "parses SQL that is built at run time", syntaxPlain,
		"dm_exec_describe_first_result_set dm_exec_describe_first_result_set_for_object",
	},
	{"sys.dm_db_stats_histogram (Transact-SQL)", sqlguard.CodeFunctionAdmin, "shows values of columns that the statement does not name", syntaxPlain, "dm_db_stats_histogram"},
}
