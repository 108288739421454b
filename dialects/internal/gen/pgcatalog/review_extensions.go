package main

// extension is the review of the functions of one extension.
//
// Names in neither list are not in the table: a call of them is refused like a
// call of any user-defined function, and a column may have their name. The review
// must list such names in unlisted, or say rest for all of them.
//
// An allowed name is also allowed on a server without the extension, where it may
// be a user-defined function. So a name that a user-defined function with effects
// is likely to have is not in the table, even if the extension's function is
// harmless.
type extension struct {
	name     string
	allowed  string // names, or "*" for all that are neither denied nor unlisted
	opens    string // names that are allowed where a value cannot name a file
	denied   []denial
	unlisted string
	rest     bool
}

// Extensions whose members the harvest sees. Every one must be listed here, and
// a name listed here must exist in a harvested version.
var harvestedExtensions = []extension{
	{name: "btree_gin", allowed: "*"},
	{name: "btree_gist", allowed: "*"},
	{name: "citext", allowed: "*"},
	{name: "cube", allowed: "*"},
	{name: "earthdistance", allowed: "*"},
	{name: "fuzzystrmatch", allowed: "*"},
	{name: "hstore", allowed: "*", unlisted: `delete`}, // the operator - does the same
	{name: "intagg", allowed: "*"},
	{name: "intarray", allowed: "*"},
	{name: "ltree", allowed: "*"},
	{name: "seg", allowed: "*"},
	{name: "unaccent", allowed: "*"},
	{name: "uuid-ossp", allowed: "*"},
	{name: "isn", allowed: "*", denied: []denial{
		{"changesSession", "CodeFunctionSideEffect", "changes the session's state", `isn_weak`},
	}},
	{name: "pg_trgm", allowed: "*", denied: []denial{
		{"changesSession", "CodeFunctionSideEffect", "changes the session's state", `set_limit`},
	}},
	{name: "lo", rest: true},
	{
		name: "pgcrypto",
		// These functions neither take nor make a secret.
		allowed: `digest hmac gen_random_bytes gen_random_uuid armor dearmor pgp_armor_headers pgp_key_id fips_mode`,
		denied: []denial{
			{"handlesSecrets", "CodeFunctionNotAllowed", "handles passwords or keys, which do not belong in a query", `
			crypt gen_salt encrypt encrypt_iv decrypt decrypt_iv
			pgp_pub_encrypt pgp_pub_encrypt_bytea pgp_pub_decrypt pgp_pub_decrypt_bytea
			pgp_sym_encrypt pgp_sym_encrypt_bytea pgp_sym_decrypt pgp_sym_decrypt_bytea`},
		},
	},
	{
		name: "tablefunc", allowed: `normal_rand`,
		denied: []denial{
			{"runsSQL", "CodeDynamicSQL", "runs SQL text or reads a table that it is given by name", `
			crosstab crosstab2 crosstab3 crosstab4 connectby`},
		},
	},
	{
		// External entities are not loaded, as with the server's own XML functions.
		name: "xml2", allowed: `xml_encode_special_chars xml_valid xpath_bool xpath_list xpath_nodeset xpath_number xpath_string`,
		denied: []denial{
			{"runsSQL", "CodeDynamicSQL", "runs SQL text or reads a table that it is given by name", `xpath_table`},
			{"runsStylesheet", "CodeFunctionNotAllowed", "runs a stylesheet, which can name other documents", `xslt_process`},
		},
	},
	{name: "dblink", denied: []denial{
		{"opensConnection", "CodeFunctionNetworkAccess", "connects to another server or uses such a connection", `
		dblink dblink_cancel_query dblink_close dblink_connect dblink_connect_u dblink_current_query
		dblink_disconnect dblink_error_message dblink_exec dblink_fdw_validator dblink_fetch
		dblink_get_connections dblink_get_notify dblink_get_result dblink_is_busy dblink_open dblink_send_query`},
		{"runsSQL", "CodeDynamicSQL", "runs SQL text or reads a table that it is given by name", `
		dblink_build_sql_delete dblink_build_sql_insert dblink_build_sql_update dblink_get_pkey`},
	}},
	{name: "postgres_fdw", rest: true, denied: []denial{
		{"opensConnection", "CodeFunctionNetworkAccess", "connects to another server or uses such a connection", `
		postgres_fdw_disconnect postgres_fdw_disconnect_all postgres_fdw_get_connections`},
	}},
	{name: "file_fdw", rest: true},
	{name: "adminpack", denied: []denial{
		{"serverFile", "CodeFunctionFileAccess", "reads or writes files of the server", `
		pg_file_rename pg_file_sync pg_file_unlink pg_file_write pg_logdir_ls`},
	}},
	{name: "amcheck", denied: []denial{
		{"inspectsStorage", "CodeFunctionAdmin", "reads storage without regard to row permissions", `
		bt_index_check bt_index_parent_check gin_index_check verify_heapam`},
	}},
	{
		// The functions that decode a page are harmless without a page.
		name: "pageinspect", rest: true,
		denied: []denial{
			{"inspectsStorage", "CodeFunctionAdmin", "reads storage without regard to row permissions", `
			get_raw_page bt_metap bt_multi_page_stats bt_page_items bt_page_stats hash_bitmap_info
			heap_page_items heap_page_item_attrs tuple_data_split`},
		},
	},
	{name: "pg_buffercache", denied: []denial{
		{"evictsBuffers", "CodeFunctionSideEffect", "changes the server's cache", `
		pg_buffercache_evict pg_buffercache_evict_all pg_buffercache_evict_relation`},
		{"serverState", "CodeFunctionAdmin", "reports on the server rather than on the user's own objects", `
		pg_buffercache_numa_pages pg_buffercache_pages pg_buffercache_summary pg_buffercache_usage_counts`},
	}},
	{name: "pg_freespacemap", denied: []denial{
		{"inspectsStorage", "CodeFunctionAdmin", "reads storage without regard to row permissions", `pg_freespace`},
	}},
	{name: "pg_logicalinspect", denied: []denial{
		{"serverFile", "CodeFunctionFileAccess", "reads or writes files of the server", `
		pg_get_logical_snapshot_info pg_get_logical_snapshot_meta`},
	}},
	{name: "pg_prewarm", denied: []denial{
		{"evictsBuffers", "CodeFunctionSideEffect", "changes the server's cache", `
		autoprewarm_dump_now autoprewarm_start_worker pg_prewarm`},
	}},
	{name: "pg_stat_statements", denied: []denial{
		{"changesStatistics", "CodeFunctionSideEffect", "changes or resets statistics", `pg_stat_statements_reset`},
		{"otherSessions", "CodeFunctionAdmin", "shows the activity of other sessions", `
		pg_stat_statements pg_stat_statements_info`},
	}},
	{name: "pg_surgery", denied: []denial{
		{"writesStorage", "CodeFunctionSideEffect", "writes storage past the rights on rows", `
		heap_force_freeze heap_force_kill`},
	}},
	{name: "pg_visibility", denied: []denial{
		{"writesStorage", "CodeFunctionSideEffect", "writes storage past the rights on rows", `
		pg_truncate_visibility_map`},
		{"inspectsStorage", "CodeFunctionAdmin", "reads storage without regard to row permissions", `
		pg_check_frozen pg_check_visible pg_visibility pg_visibility_map pg_visibility_map_summary`},
	}},
	{name: "pg_walinspect", denied: []denial{
		{"inspectsStorage", "CodeFunctionAdmin", "reads storage without regard to row permissions", `
		pg_get_wal_block_info pg_get_wal_record_info pg_get_wal_records_info
		pg_get_wal_records_info_till_end_of_wal pg_get_wal_stats pg_get_wal_stats_till_end_of_wal`},
	}},
	{name: "pgrowlocks", denied: []denial{
		{"inspectsStorage", "CodeFunctionAdmin", "reads storage without regard to row permissions", `pgrowlocks`},
	}},
	{name: "pgstattuple", denied: []denial{
		{"inspectsStorage", "CodeFunctionAdmin", "reads storage without regard to row permissions", `
		pg_relpages pgstatginindex pgstathashindex pgstatindex pgstattuple pgstattuple_approx`},
	}},
	{name: "old_snapshot", denied: []denial{
		{"serverState", "CodeFunctionAdmin", "reports on the server rather than on the user's own objects", `
		pg_old_snapshot_time_mapping`},
	}},
	{name: "sslinfo", denied: []denial{
		{"certificate", "CodeFunctionAdmin", "tells the connection's certificates", `
		ssl_cipher ssl_client_cert_present ssl_client_dn ssl_client_dn_field ssl_client_serial
		ssl_extension_info ssl_is_used ssl_issuer_dn ssl_issuer_field ssl_version`},
	}},
}
