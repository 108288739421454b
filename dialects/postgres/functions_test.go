package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestTablesAreSortedAndUnique(t *testing.T) {
	for name, keys := range postgres.Tables() {
		for i := 1; i < len(keys); i++ {
			if keys[i-1] >= keys[i] {
				t.Errorf("%s: %q stands before %q", name, keys[i-1], keys[i])
			}
		}
		if len(keys) < 10 {
			t.Errorf("%s: only %d rows", name, len(keys))
		}
	}
}

// Every row is consistent, and every code has names.
func TestFunctionRows(t *testing.T) {
	codes := map[sqlguard.Code]int{}
	classes := map[string]int{}
	for _, row := range postgres.FunctionRows() {
		f := row.Facts
		if !row.Listed {
			t.Errorf("%s is not found", row.Name)
		}
		if !f.KnownTo(0) {
			t.Errorf("no server has %s", row.Name)
		}
		switch f.Class {
		case postgres.FunctionAllowed:
			classes["allowed"]++
			if f.Code != "" || f.Reason != "" || f.Check != postgres.CheckNone || row.OneArgument {
				t.Errorf("%s is allowed and has %+v", row.Name, f)
			}
		case postgres.FunctionChecked:
			classes["checked"]++
			if f.Code == "" || f.Reason == "" || f.Check == postgres.CheckNone {
				t.Errorf("%s is checked and has %+v", row.Name, f)
			}
		case postgres.FunctionDenied:
			classes["denied"]++
			codes[f.Code]++
			if f.Code == "" || f.Reason == "" || f.Check != postgres.CheckNone {
				t.Errorf("%s is denied and has %+v", row.Name, f)
			}
		case postgres.FunctionUnknown:
			t.Errorf("%s has no class", row.Name)
		}
	}
	t.Logf("%v, denied by code %v", classes, codes)
	for _, code := range []sqlguard.Code{
		sqlguard.CodeFunctionNotAllowed, sqlguard.CodeFunctionSideEffect, sqlguard.CodeFunctionFileAccess,
		sqlguard.CodeFunctionNetworkAccess, sqlguard.CodeFunctionAdmin, sqlguard.CodeFunctionSleep, sqlguard.CodeDynamicSQL,
	} {
		if codes[code] == 0 {
			t.Errorf("no function is denied as %s", code)
		}
		delete(codes, code)
	}
	if len(codes) > 0 {
		t.Errorf("functions are denied as %v", codes)
	}
}

// TestDeniedFunctions has functions that must never be callable, with their codes.
func TestDeniedFunctions(t *testing.T) {
	tests := map[sqlguard.Code]string{
		sqlguard.CodeDynamicSQL: `query_to_xml query_to_xmlschema query_to_xml_and_xmlschema table_to_xml
			table_to_xmlschema table_to_xml_and_xmlschema schema_to_xml schema_to_xmlschema
			schema_to_xml_and_xmlschema database_to_xml database_to_xmlschema database_to_xml_and_xmlschema
			cursor_to_xml cursor_to_xmlschema ts_stat crosstab crosstab2 crosstab3 crosstab4 connectby
			xpath_table dblink_build_sql_insert dblink_get_pkey st_findextent st_estimatedextent
			run_command_on_workers dbms_sql.execute`,
		sqlguard.CodeFunctionFileAccess: `pg_read_file pg_read_binary_file pg_read_file_old pg_stat_file
			pg_ls_dir pg_ls_logdir pg_ls_waldir pg_ls_tmpdir pg_ls_archive_statusdir pg_ls_logicalmapdir
			pg_ls_logicalsnapdir pg_ls_replslotdir pg_ls_summariesdir pg_current_logfile
			lo_import lo_export pg_file_write pg_file_unlink pg_file_rename pg_file_read pg_logdir_ls
			pg_relation_filepath pg_tablespace_location pg_config st_bandpath utl_file.fopen`,
		sqlguard.CodeFunctionNetworkAccess: `dblink dblink_connect dblink_connect_u dblink_exec dblink_open
			dblink_fetch dblink_send_query dblink_get_result postgres_fdw_disconnect http http_get http_post
			net.http_get net.http_post aws_s3.query_export_to_s3 aws_lambda.invoke`,
		sqlguard.CodeFunctionAdmin: `pg_cancel_backend pg_terminate_backend pg_reload_conf pg_rotate_logfile
			pg_promote pg_backup_start pg_backup_stop pg_start_backup pg_stop_backup
			pg_create_physical_replication_slot pg_create_logical_replication_slot pg_drop_replication_slot
			pg_logical_slot_get_changes pg_logical_slot_peek_changes pg_replication_origin_create
			pg_wal_replay_pause pg_log_backend_memory_contexts pg_stat_get_activity
			pg_stat_get_backend_activity pg_stat_get_wal_receiver pg_show_all_settings
			pg_show_all_file_settings pg_hba_file_rules pg_ident_file_mappings
			pg_get_backend_memory_contexts pg_get_shmem_allocations pg_prepared_statement
			pg_cursor pg_control_system pg_stat_statements get_raw_page heap_page_items
			binary_upgrade_set_next_pg_type_oid fmgr_c_validator`,
		sqlguard.CodeFunctionSleep: `pg_sleep pg_sleep_for pg_sleep_until`,
		sqlguard.CodeFunctionSideEffect: `set_config setseed nextval setval pg_notify pg_export_snapshot
			pg_advisory_lock pg_advisory_xact_lock_shared pg_try_advisory_lock pg_advisory_unlock_all
			lo_create lo_creat lo_from_bytea lo_put lo_unlink lo_truncate lowrite
			pg_current_xact_id txid_current pg_logical_emit_message pg_switch_wal pg_create_restore_point
			pg_stat_reset pg_stat_reset_shared pg_stat_statements_reset pg_restore_relation_stats
			pg_clear_attribute_stats brin_summarize_new_values gin_clean_pending_list
			pg_import_system_collations pg_extension_config_dump pg_nextoid set_limit isn_weak
			pg_prewarm heap_force_kill pg_truncate_visibility_map addgeometrycolumn
			populate_geometry_columns st_fromflatgeobuftotable cron.schedule cron.unschedule`,
		sqlguard.CodeFunctionNotAllowed: `crypt gen_salt pgp_sym_decrypt decrypt lo_get loread lo_open
			xslt_process currtid2 record_in domain_in array_in plpgsql_call_handler RI_FKey_check_ins
			bernoulli system int8_avg_serialize vault.create_secret`,
	}
	for code, names := range tests {
		for name := range strings.FieldsSeq(names) {
			schema, function, ok := strings.Cut(name, ".")
			if !ok {
				schema, function = "", name
			}
			facts, listed := postgres.LookupFunction(schema, function)
			if !listed || facts.Class != postgres.FunctionDenied || facts.Code != code {
				t.Errorf("%s: %+v, listed %v, want denied as %s", name, facts, listed, code)
			}
		}
	}
}

// TestAllowedFunctions has functions that ordinary queries call.
func TestAllowedFunctions(t *testing.T) {
	names := `abs count sum avg min max string_agg array_agg json_agg jsonb_object_agg
		now clock_timestamp timeofday random gen_random_uuid uuidv7 version current_database current_schema
		lower upper length substr regexp_replace regexp_matches split_part format concat concat_ws to_char
		to_date to_timestamp date_trunc date_part date_bin make_date age unnest array_to_string
		jsonb_path_query jsonb_array_elements json_populate_record jsonb_to_recordset row_to_json
		row_number rank lag lead ntile percentile_cont mode width_bucket
		to_tsvector to_tsquery websearch_to_tsquery ts_rank ts_headline ts_debug
		xpath xmlexists xml_is_well_formed
		pg_get_constraintdef pg_get_indexdef pg_get_expr
		pg_get_serial_sequence pg_get_userbyid pg_get_partkeydef
		pg_relation_size pg_total_relation_size pg_table_size pg_indexes_size pg_database_size pg_size_pretty
		obj_description col_description shobj_description format_type to_regclass to_regtype
		pg_table_is_visible pg_type_is_visible has_table_privilege has_schema_privilege pg_has_role
		pg_typeof pg_column_size pg_backend_pid pg_is_in_recovery pg_postmaster_start_time pg_encoding_to_char
		pg_stat_get_live_tuples pg_stat_get_numscans pg_partition_tree pg_timezone_names
		inet_client_addr txid_current_snapshot currval lastval md5 sha256 encode
		similarity word_similarity show_trgm unaccent uuid_generate_v4 digest hmac hstore akeys each
		ltree2text nlevel subpath citext levenshtein soundex normal_rand
		l2_distance cosine_distance inner_product l1_distance vector_dims vector_norm l2_normalize
		binary_quantize subvector hamming_distance jaccard_distance
		st_intersects st_dwithin st_distance st_asgeojson st_astext st_geomfromtext st_makepoint
		st_setsrid st_buffer st_area st_contains st_within st_centroid st_asmvt find_srid postgis_version`
	for name := range strings.FieldsSeq(names) {
		facts, listed := postgres.LookupFunction("", name)
		if !listed || facts.Class != postgres.FunctionAllowed {
			t.Errorf("%s: %+v, listed %v, want allowed", name, facts, listed)
		}
		if qualified, listed := postgres.LookupFunction("pg_catalog", name); !listed || qualified.Class != postgres.FunctionAllowed {
			t.Errorf("pg_catalog.%s is not allowed", name)
		}
	}
}

// TestFunctionsOfTheGrammar has functions to which the grammar translates SQL syntax. Such
// calls are qualified with pg_catalog, for every server.
func TestFunctionsOfTheGrammar(t *testing.T) {
	for name := range strings.FieldsSeq(`extract overlay position substring btrim ltrim rtrim timezone normalize
		is_normalized xmlexists similar_to_escape like_escape overlaps pg_collation_for`) {
		facts, listed := postgres.LookupFunction("pg_catalog", name)
		if !listed || facts.Class != postgres.FunctionAllowed {
			t.Errorf("%s: %+v, listed %v", name, facts, listed)
		}
		for major := postgres.OldestMajor; major <= postgres.NewestMajor; major++ {
			if !facts.KnownTo(major) {
				t.Errorf("%s is unknown to %d", name, major)
			}
		}
	}
	if facts, _ := postgres.LookupFunction("pg_catalog", "system_user"); facts.Class != postgres.FunctionAllowed || facts.KnownTo(15) || !facts.KnownTo(16) {
		t.Errorf("system_user: %+v", facts)
	}
}

func TestCheckedFunctions(t *testing.T) {
	type argumentsOf struct {
		check any
		code  sqlguard.Code
	}
	checked := map[string]argumentsOf{
		"current_setting":     {postgres.CheckSettingName, sqlguard.CodeSettingNotAllowed},
		"pg_input_is_valid":   {postgres.CheckTypeName, sqlguard.CodeTypeNotAllowed},
		"pg_input_error_info": {postgres.CheckTypeName, sqlguard.CodeTypeNotAllowed},
		"ts_rewrite":          {postgres.CheckThreeArguments, sqlguard.CodeDynamicSQL},
		"repeat":              {postgres.CheckRepeat, sqlguard.CodeFunctionNotAllowed},
		"lpad":                {postgres.CheckPad, sqlguard.CodeFunctionNotAllowed},
		"rpad":                {postgres.CheckPad, sqlguard.CodeFunctionNotAllowed},
		"generate_series":     {postgres.CheckSeries, sqlguard.CodeFunctionNotAllowed},
		"st_transform":        {postgres.CheckSRID, sqlguard.CodeFunctionFileAccess},
	}
	for name := range strings.FieldsSeq(`st_approxcount st_approxhistogram st_approxquantile st_approxsummarystats st_count st_histogram
		st_quantile st_summarystats st_valuecount st_valuepercent`) {
		checked[name] = argumentsOf{postgres.CheckBand, sqlguard.CodeDynamicSQL}
	}
	for name := range strings.FieldsSeq(`getedgebypoint getfacebypoint getfacecontainingpoint getnodebypoint getnodeedges getringedges
		gettopogeomelementarray gettopogeomelements st_getfaceedges st_getfacegeometry`) {
		checked[name] = argumentsOf{postgres.CheckTopology, sqlguard.CodeDynamicSQL}
	}
	for name, want := range checked {
		facts, _ := postgres.LookupFunction("", name)
		if facts.Class != postgres.FunctionChecked || any(facts.Check) != want.check || facts.Code != want.code {
			t.Errorf("%s: %+v, want %v", name, facts, want)
		}
	}
	for _, row := range postgres.FunctionRows() {
		if _, ok := checked[row.Name]; row.Facts.Class == postgres.FunctionChecked && !ok {
			t.Errorf("%s is checked and not in this test", row.Name)
		}
	}
}

func TestQualifiedFunctions(t *testing.T) {
	tests := []struct {
		schema, name string
		listed       bool
		class        any
	}{
		{"public", "abs", false, postgres.FunctionUnknown},
		{"app", "pg_read_file", false, postgres.FunctionUnknown}, // a user-defined function
		{"public", "similarity", false, postgres.FunctionUnknown},
		{"public", "dblink", true, postgres.FunctionDenied},
		{"extensions", "crypt", true, postgres.FunctionDenied},
		{"net", "http_get", true, postgres.FunctionDenied},
		{"net", "worker_restart", false, postgres.FunctionUnknown},
		{"app", "http_get", true, postgres.FunctionDenied},
		{"", "add_job", true, postgres.FunctionDenied},
		{"public", "add_job", true, postgres.FunctionDenied},
		{"app", "add_job", false, postgres.FunctionUnknown},
		{"cron", "schedule", true, postgres.FunctionDenied},
		{"", "schedule", false, postgres.FunctionUnknown},
		{"aws_s3", "anything", true, postgres.FunctionDenied},
		{"ai", "openai_embed", true, postgres.FunctionDenied},
		{"ai", "score", false, postgres.FunctionUnknown},
		{"", "delete", false, postgres.FunctionUnknown}, // hstore has it, but it is more likely user-defined
		{"information_schema", "_pg_expandarray", true, postgres.FunctionAllowed},
		{"", "_pg_expandarray", false, postgres.FunctionUnknown},
		{"pg_catalog", "_pg_expandarray", false, postgres.FunctionUnknown},
		{"information_schema", "abs", false, postgres.FunctionUnknown},
		{"", "ABS", false, postgres.FunctionUnknown},
		{"", "", false, postgres.FunctionUnknown},
		{"", "my_function", false, postgres.FunctionUnknown},
		{"pg_temp", "abs", false, postgres.FunctionUnknown},
		{"pg_catalog", "RI_FKey_check_ins", true, postgres.FunctionDenied},
		{"pg_catalog", "ri_fkey_check_ins", false, postgres.FunctionUnknown},
	}
	for _, tt := range tests {
		facts, listed := postgres.LookupFunction(tt.schema, tt.name)
		if listed != tt.listed || any(facts.Class) != tt.class {
			t.Errorf("%s.%s: %+v, listed %v; want listed %v, class %v", tt.schema, tt.name, facts, listed, tt.listed, tt.class)
		}
	}
}

// A name is known to the majors whose catalogue has a form of it that SQL can
// call.
func TestFunctionMajors(t *testing.T) {
	tests := map[string][]int{
		"abs":               {13, 14, 15, 16, 17, 18},
		"extract":           {14, 15, 16, 17, 18},
		"any_value":         {16, 17, 18},
		"uuidv7":            {18},
		"numeric_fac":       {13},
		"pg_is_in_backup":   {13, 14},
		"pg_backup_start":   {15, 16, 17, 18},
		"interval_avg":      {13, 14, 15, 16}, // takes internal from 17 on
		"random_normal":     {16, 17, 18},
		"pg_input_is_valid": {16, 17, 18},
	}
	for name, want := range tests {
		facts, _ := postgres.LookupFunction("", name)
		var got []int
		for major := postgres.OldestMajor; major <= postgres.NewestMajor; major++ {
			if facts.KnownTo(major) {
				got = append(got, major)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is known to %v, want %v", name, got, want)
		}
		if facts.KnownTo(postgres.OldestMajor-1) || !facts.KnownTo(0) {
			t.Errorf("%s: an older server has it, or it is unknown without a server", name)
		}
		if facts.KnownTo(postgres.NewestMajor+1) != facts.KnownTo(postgres.NewestMajor) {
			t.Errorf("%s: a newer server is not judged as the newest known", name)
		}
	}
	if facts, _ := postgres.LookupFunction("", "similarity"); !facts.KnownTo(12) || facts.Extension != "pg_trgm" {
		t.Errorf("similarity: %+v, want the member of an extension, which any server may have", facts)
	}
	if facts := (postgres.FunctionFacts{}); facts.KnownTo(0) || facts.KnownTo(15) {
		t.Error("the zero value is known to a server")
	}
}

// Columns may have the names of allowed functions and of functions that no query
// can call, but not of functions that a qualified name would call.
func TestOneArgumentDenied(t *testing.T) {
	denied := `pg_sleep pg_read_file pg_read_binary_file pg_ls_dir pg_stat_file nextval lo_get lo_import
		lo_unlink pg_terminate_backend pg_cancel_backend pg_advisory_lock ts_stat current_setting setseed
		pg_relation_filepath pg_stat_get_activity pg_drop_replication_slot gen_salt crosstab dblink
		dblink_connect pg_prewarm http http_get set_limit pg_promote pg_backup_start
		pg_stat_get_backend_activity pg_replication_origin_create`
	for name := range strings.FieldsSeq(denied) {
		if !postgres.OneArgumentDenied(name) {
			t.Errorf("%s may be a column", name)
		}
	}
	honest := `id name text date time timestamp count sum lower upper length date_in date_out time_in time_out
		system bernoulli box point path polygon circle version age repeat position armor page_header
		interval_avg query value key status type role user_id txid_current set_config setval pg_notify
		crypt encrypt decrypt lpad generate_series int8_avg_serialize xpath_bool`
	for name := range strings.FieldsSeq(honest) {
		if postgres.OneArgumentDenied(name) {
			t.Errorf("%s may not be a column", name)
		}
	}
	n := 0
	for _, row := range postgres.FunctionRows() {
		if row.OneArgument != postgres.OneArgumentDenied(row.Name) {
			t.Errorf("%s: the row and oneArgumentDenied differ", row.Name)
		}
		if row.OneArgument {
			n++
		}
	}
	t.Logf("%d names", n)
}

// Lookups run for every name of a statement.
func TestLookupsDoNotAllocate(t *testing.T) {
	lookups := map[string]func(){
		"function":       func() { postgres.LookupFunction("pg_catalog", "pg_read_file") },
		"unknown":        func() { postgres.LookupFunction("", "no_such_function") },
		"other schema":   func() { postgres.LookupFunction("app", "no_such_function") },
		"column":         func() { postgres.OneArgumentDenied("customer_id") },
		"relation":       func() { postgres.SystemRelation("", "customers") },
		"system":         func() { postgres.SystemRelation("pg_catalog", "pg_stat_activity") },
		"setting":        func() { postgres.SettingAllowed("search_path") },
		"operator":       func() { postgres.BuiltinOperator("<->") },
		"type":           func() { postgres.BuiltinType("pg_catalog", "int4") },
		"refused column": func() { facts, _ := postgres.SystemRelation("", "pg_settings"); facts.ColumnRefused("setting") },
	}
	for name, lookup := range lookups {
		if n := testing.AllocsPerRun(100, lookup); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkLookupFunction(b *testing.B) {
	for b.Loop() {
		postgres.LookupFunction("pg_catalog", "jsonb_array_elements")
		postgres.LookupFunction("", "no_such_function")
	}
}

func BenchmarkOneArgumentDenied(b *testing.B) {
	for b.Loop() {
		postgres.OneArgumentDenied("customer_id")
	}
}
