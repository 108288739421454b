package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestRefusedRelations has relations that no policy can permit, and others that are
// refused.
func TestRefusedRelations(t *testing.T) {
	tests := map[sqlguard.Code]string{
		sqlguard.CodeCredentialRelation: `pg_authid pg_shadow pg_user_mapping pg_user_mappings pg_subscription
			pg_hba_file_rules pg_ident_file_mappings pg_file_settings pg_db_role_setting
			pg_stat_wal_receiver pg_prepared_statements pg_cursors
			information_schema.user_mapping_options information_schema.user_mappings
			information_schema.foreign_server_options information_schema._pg_user_mappings
			information_schema._pg_foreign_servers vault.decrypted_secrets cron.job`,
		sqlguard.CodeRelationNotAllowed: `pg_largeobject pg_largeobject_metadata pg_statistic pg_stats
			pg_stats_ext pg_stats_ext_exprs pg_statistic_ext_data pg_default_acl pg_config
			pg_shmem_allocations pg_backend_memory_contexts pg_aios information_schema.sql_parts
			pg_no_such_relation information_schema.no_such_relation pg_toast.pg_toast_1262
			pg_temp.t pg_temp_3.t pg_toast_temp_1.t pg_buffercache`,
	}
	for code, names := range tests {
		for name := range strings.FieldsSeq(names) {
			schema, relation, qualified := strings.Cut(name, ".")
			schemas := []string{schema}
			if !qualified {
				schemas, relation = []string{"", "pg_catalog"}, name
			}
			for _, schema := range schemas {
				facts, system := postgres.SystemRelation(schema, relation)
				if !system || facts.Allowed || facts.Code != code || facts.Reason == "" {
					t.Errorf("%s.%s: %+v, system %v, want refused as %s", schema, relation, facts, system, code)
				}
			}
		}
	}
}

func TestAllowedRelations(t *testing.T) {
	for name := range strings.FieldsSeq(`pg_class pg_attribute pg_namespace pg_type pg_proc pg_index pg_constraint
		pg_tables pg_views pg_matviews pg_indexes pg_sequences pg_description pg_database pg_extension
		pg_enum pg_inherits pg_partitioned_table pg_trigger pg_policies pg_stat_user_tables
		pg_stat_user_indexes pg_statio_user_tables pg_stat_database pg_timezone_names
		pg_group pg_auth_members pg_locks pg_stat_replication pg_stat_ssl pg_stat_gssapi
		pg_replication_slots pg_prepared_xacts pg_stat_bgwriter pg_stat_progress_vacuum pg_available_extensions
		information_schema.tables information_schema.columns information_schema.key_column_usage
		information_schema.table_constraints information_schema.referential_constraints
		information_schema.views information_schema.routines information_schema.schemata
		information_schema.table_privileges information_schema.foreign_tables`) {
		schema, relation, qualified := strings.Cut(name, ".")
		if !qualified {
			schema, relation = "pg_catalog", name
			if facts, system := postgres.SystemRelation("", relation); !system || !facts.Allowed {
				t.Errorf("%s: %+v, system %v", relation, facts, system)
			}
		}
		facts, system := postgres.SystemRelation(schema, relation)
		if !system || !facts.Allowed || facts.Restricted() || facts.Code != "" || !facts.KnownTo(0) || !facts.KnownTo(15) {
			t.Errorf("%s: %+v, system %v, want allowed", name, facts, system)
		}
	}
}

func TestRestrictedRelations(t *testing.T) {
	tests := []struct {
		schema, name    string
		code            sqlguard.Code
		refused, passes string
	}{
		{"", "pg_stat_activity", sqlguard.CodeCredentialRelation, "query", "pid state wait_event usename query_id query_start"},
		{"pg_catalog", "pg_stat_activity", sqlguard.CodeCredentialRelation, "query", "pid"},
		{"", "pg_stat_statements", sqlguard.CodeCredentialRelation, "query", "calls total_exec_time queryid"},
		{"public", "pg_stat_statements", sqlguard.CodeCredentialRelation, "query", "calls"},
		{"extensions", "pg_stat_statements", sqlguard.CodeCredentialRelation, "query", "calls"},
		{"", "pg_settings", sqlguard.CodeSettingNotAllowed, "setting boot_val reset_val", "name unit category context"},
		{"", "pg_roles", sqlguard.CodeCredentialRelation, "rolpassword rolconfig", "rolname rolsuper"},
		{"", "pg_user", sqlguard.CodeCredentialRelation, "passwd useconfig", "usename usesuper"},
		{"", "pg_foreign_server", sqlguard.CodeCredentialRelation, "srvoptions", "srvname srvfdw"},
		{"", "pg_foreign_table", sqlguard.CodeCredentialRelation, "ftoptions", "ftrelid"},
		{"", "pg_foreign_data_wrapper", sqlguard.CodeCredentialRelation, "fdwoptions", "fdwname"},
	}
	for _, tt := range tests {
		facts, system := postgres.SystemRelation(tt.schema, tt.name)
		if !system || !facts.Allowed || !facts.Restricted() || facts.Code != tt.code || facts.Reason == "" {
			t.Errorf("%s.%s: %+v, system %v", tt.schema, tt.name, facts, system)
		}
		for column := range strings.FieldsSeq(tt.refused) {
			if !facts.ColumnRefused(column) {
				t.Errorf("%s.%s passes", tt.name, column)
			}
		}
		for column := range strings.FieldsSeq(tt.passes) {
			if facts.ColumnRefused(column) {
				t.Errorf("%s.%s is refused", tt.name, column)
			}
		}
	}
	open, _ := postgres.SystemRelation("", "pg_class")
	if open.ColumnRefused("relname") || open.ColumnRefused("") {
		t.Error("a column of pg_class is refused")
	}
}

func TestUserRelationsAreNotSystemRelations(t *testing.T) {
	for _, name := range [][2]string{
		{"", "orders"},
		{"public", "orders"},
		{"", "columns"},
		{"", "tables"},
		{"app", "pg_class"},
		{"public", "pg_dump_log"},
		{"", "user_mapping_options"},
		{"app", "job"},
		{"", "Pg_class"},
	} {
		if facts, system := postgres.SystemRelation(name[0], name[1]); system {
			t.Errorf("%s.%s is a system relation: %+v", name[0], name[1], facts)
		}
	}
}

func TestRelationMajors(t *testing.T) {
	facts, _ := postgres.SystemRelation("", "pg_publication_namespace")
	if facts.KnownTo(14) || !facts.KnownTo(15) || !facts.KnownTo(99) || facts.KnownTo(12) {
		t.Errorf("pg_publication_namespace: %+v", facts)
	}
	if facts, _ := postgres.SystemRelation("", "pg_no_such_relation"); facts.KnownTo(0) {
		t.Error("an unknown relation is known")
	}
}

func TestSettings(t *testing.T) {
	for name := range strings.FieldsSeq(`server_version TimeZone search_path DateStyle client_encoding
		standard_conforming_strings transaction_read_only statement_timeout timezone datestyle SEARCH_PATH
		transaction_isolation session_authorization server_version_num work_mem max_connections
		default_transaction_isolation lc_collate server_encoding intervalstyle enable_seqscan jit
		application_name is_superuser`) {
		if !postgres.SettingAllowed(name) {
			t.Errorf("%s is not on the list", name)
		}
	}
	for name := range strings.FieldsSeq(`all data_directory config_file hba_file ident_file external_pid_file
		log_directory log_filename unix_socket_directories dynamic_library_path stats_temp_directory
		archive_command restore_command archive_cleanup_command recovery_end_command
		ssl_passphrase_command primary_conninfo primary_slot_name ssl_key_file ssl_cert_file ssl_ca_file
		ssl_crl_file ssl_crl_dir ssl_ciphers ssl_library ssl_min_protocol_version krb_server_keyfile
		krb_caseins_users shared_preload_libraries session_preload_libraries local_preload_libraries
		archive_library jit_provider oauth_validator_libraries extension_control_path listen_addresses
		port password_encryption promote_trigger_file data_directory_mode
		app.user_id my.setting pg_stat_statements.secret no_such_setting`) {
		if postgres.SettingAllowed(name) {
			t.Errorf("%s is on the list", name)
		}
	}
	if postgres.SettingAllowed("") || postgres.SettingAllowed("work_mem ") || postgres.SettingAllowed("work_mem\x00") {
		t.Error("an odd name is on the list")
	}
	// No setting on the list has a name like one that must never be shown.
	for _, name := range postgres.Tables()["settings"] {
		for _, suffix := range []string{"_file", "_directory", "_directories", "_dir", "_command", "_conninfo", "_libraries", "_library"} {
			if strings.HasSuffix(name, suffix) {
				t.Errorf("%s is on the list", name)
			}
		}
		extension, _, dotted := strings.Cut(name, ".")
		if strings.HasPrefix(name, "ssl_") || strings.HasPrefix(name, "krb_") || dotted && !slices.Contains([]string{"auto_explain", "pg_stat_statements", "pg_trgm"}, extension) {
			t.Errorf("%s is on the list", name)
		}
	}
	t.Logf("%d settings", len(postgres.Tables()["settings"]))
}

func TestOperators(t *testing.T) {
	for name := range strings.FieldsSeq(`+ - * / % ^ = <> < <= > >= || ~~ !~~ ~~* !~~* ~ !~ ~* !~* ~<~ @> <@ && ? ?| ?&
		-> ->> #> #>> @? @@ #- << >> -|- &< &> @@@ |/ ||/ !! ^@ <-> <#> <=> <+> <~> <%> %> <<% %>> ~= |&> &&&`) {
		if !postgres.BuiltinOperator(name) {
			t.Errorf("%s is not built in", name)
		}
	}
	for _, name := range []string{"", "===", "@-", "!!!", "<<<<", "+ "} {
		if postgres.BuiltinOperator(name) {
			t.Errorf("%q is built in", name)
		}
	}
}

func TestTypes(t *testing.T) {
	tests := []struct {
		schema, name string
		want         bool
	}{
		{"pg_catalog", "int4", true},
		{"", "int4", true},
		{"", "bool", true},
		{"", "varchar", true},
		{"", "bpchar", true},
		{"", "timestamptz", true},
		{"", "_text", true},
		{"", "jsonb", true},
		{"", "regclass", true},
		{"", "refcursor", true},
		{"", "int4multirange", true},
		{"", "char", true},
		{"information_schema", "sql_identifier", true},
		{"information_schema", "_yes_or_no", true},
		{"", "sql_identifier", false},
		{"pg_catalog", "sql_identifier", false},
		{"", "citext", true},
		{"", "hstore", true},
		{"", "vector", true},
		{"", "geometry", true},
		{"", "_geometry", true},
		{"public", "vector", false},
		{"pg_catalog", "vector", false},
		{"public", "int4", false},
		{"", "integer", false}, // the parser says int4
		{"", "mood", false},
		{"", "lo", false},
		{"", "pg_class", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if got := postgres.BuiltinType(tt.schema, tt.name); got != tt.want {
			t.Errorf("%s.%s: %v, want %v", tt.schema, tt.name, got, tt.want)
		}
	}
}

func TestTypeTexts(t *testing.T) {
	for _, text := range []string{
		"integer", "INT", "int4", " numeric(10, 2) ", "varchar(20)", "character varying(20)", "timestamp with time zone",
		"timestamp(3) with time zone", "Double  Precision", "text[]", "integer[][]", "int[3]", "pg_catalog.int4", "date",
		"bit varying(5)", "time without time zone", "numeric(3,-2)[]", "jsonb", "information_schema.yes_or_no",
	} {
		if !postgres.BuiltinTypeText(text) {
			t.Errorf("%q is not a built-in type", text)
		}
	}
	for _, text := range []string{
		"", "mood", "public.mood", `"char"`, `"int4"`, "int4; select 1", "int4()x", "numeric(pg_sleep(1))", "int4]", "[]",
		"int4[x]", "interval day to second", "setof int4", "app.int4", "int4 -- x", "(", ")", "int)4(", "int4%type",
	} {
		if postgres.BuiltinTypeText(text) {
			t.Errorf("%q is a built-in type", text)
		}
	}
}

func FuzzBuiltinTypeText(f *testing.F) {
	f.Add("numeric(10,2)[]")
	f.Add("timestamp(3) with time zone")
	f.Fuzz(func(t *testing.T, text string) {
		if !postgres.BuiltinTypeText(text) {
			return
		}
		if strings.ContainsAny(text, `"';\`) {
			t.Errorf("%q is a built-in type", text)
		}
	})
}
