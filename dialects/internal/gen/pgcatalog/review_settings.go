package main

// This file is the review of SHOW and current_setting. The list has the settings
// of the facts, except those that a rule below names, those that some version
// shows only to superusers, and those of extensions but the few named below.

// refusedSettingPatterns are matched as path.Match does, against the lower-case
// name.
const refusedSettingPatterns = `
	*_file *_filename *_directory *_directories *_dir *_destdir log_file_mode
	*_directory_mode *_path
	*_command *_conninfo *librar* *_provider
	ssl_* krb_* gss_* oauth_* password_* scram_*  
	listen_addresses port bonjour* unix_socket_*
	primary_* synchronous_standby_names synchronized_standby_slots recovery_target*
	db_user_namespace log_line_prefix log_destination event_source syslog_*`

// allowedSettings are names that a pattern above would refuse.
const allowedSettings = `search_path`

// unlistedSettings can be shown though pg_settings does not list them.
const unlistedSettings = `
	is_superuser role session_authorization ` + extensionSettings

// extensionSettings belong to extensions of the server's own distribution. Each is a
// switch, a number or one of a few words.
const extensionSettings = `
	auto_explain.log_analyze auto_explain.log_buffers auto_explain.log_format auto_explain.log_level
	auto_explain.log_min_duration auto_explain.log_nested_statements auto_explain.log_parameter_max_length
	auto_explain.log_settings auto_explain.log_timing auto_explain.log_triggers auto_explain.log_verbose
	auto_explain.log_wal auto_explain.sample_rate
	pg_stat_statements.max pg_stat_statements.save pg_stat_statements.track
	pg_stat_statements.track_planning pg_stat_statements.track_utility
	pg_trgm.similarity_threshold pg_trgm.strict_word_similarity_threshold pg_trgm.word_similarity_threshold`

// minimumSettings must be on the list.
const minimumSettings = `
	server_version timezone search_path datestyle client_encoding standard_conforming_strings
	transaction_read_only statement_timeout`
