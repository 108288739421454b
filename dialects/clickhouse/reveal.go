package clickhouse

import (
	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// This file has the groups that a policy can reveal. Everything named here is refused by the
// lists; a policy that reveals the group admits it. Reviewed against the columns of the
// tables of ClickHouse 26.7. Not in a group are the tables that can have keys, passwords and
// addresses with them (settings and server_settings, in which applications keep values of
// their own, named_collections, dictionaries, user_directories, users, distribution_queue,
// zookeeper), and logs of free text (text_log, session_log, crash_log).

// revealedTables are tables of the database system by group. A table of which one column
// shows statements belongs to activity as a whole.
var revealedTables = lexical.Groups(map[sqlguard.Group]string{
	sqlguard.GroupStatistics: `background_schedule_pool jemalloc_bins jemalloc_stats query_condition_cache scheduler`,
	sqlguard.GroupSettings:   `macros merge_tree_settings replicated_merge_tree_settings`,
	sqlguard.GroupRoles: `
		current_roles enabled_roles grants masking_policies quota_limits quotas role_grants roles row_policies settings_profile_elements
		settings_profiles`,
	sqlguard.GroupActivity: `
		asynchronous_insert_log asynchronous_inserts distributed_ddl_queue error_log errors mutations opentelemetry_span_log part_log
		processes processors_profile_log query_cache query_log query_metric_log query_thread_log query_views_log quota_usage quotas_usage
		trace_log transactions_info_log user_processes view_refreshes`,
	sqlguard.GroupReplication: `clusters database_replicas part_moves_between_shards replicas replicated_fetches replication_queue`,
	sqlguard.GroupStorage: `
		detached_tables disks dropped_tables dropped_tables_parts filesystem_cache filesystem_cache_settings moves
		remote_data_paths storage_policies`,
})

// Reveals returns the members of the groups.
func (Dialect) Reveals() []sqlguard.Revealed {
	var out []sqlguard.Revealed
	for name, group := range revealedTables {
		out = append(out, sqlguard.Revealed{Group: group, Kind: "relation", Name: "system." + name})
	}
	for name := range counters {
		out = append(out, sqlguard.Revealed{Group: sqlguard.GroupStatistics, Kind: "relation", Name: "system." + name, Always: true})
	}
	for relation, columns := range sourceColumns {
		for _, column := range columns {
			out = append(out, sqlguard.Revealed{Group: sqlguard.GroupDefinitions, Kind: "column", Name: relation + "." + column})
		}
	}
	return out
}
