package clickhouse

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
)

// partTables are the tables of the database system that name parts of tables. partColumns are
// those of their columns that show values: a part has the value of the key by which its
// table is partitioned, which its identifier, its name and its path have too when it is a
// number or a date, and the smallest and the greatest value of columns. Messages of errors
// name parts. The tables that are not in systemTables are those of groups that a policy can
// reveal. (Tried on ClickHouse 26.7, with a table that is partitioned by a
// text and a date.)
var (
	partTables = lexical.Set(`
		parts parts_columns projection_parts projection_parts_columns detached_parts merges dropped_tables_parts moves mutations part_log
		part_moves_between_shards query_condition_cache remote_data_paths replicated_fetches replication_queue`)
	partColumns = strings.Fields(`
		partition partition_id name part_name parent_name path min_date max_date min_time max_time result_part_name source_part_names result_part_path source_part_paths
		delete_ttl_info_min delete_ttl_info_max move_ttl_info recompression_ttl_info group_by_ttl_info rows_where_ttl_info column_ttl_min column_ttl_max
		statistics estimates substreams filenames subcolumns exception
		new_part_name parts_to_merge last_exception postpone_reason block_numbers parts_in_progress_names parts_to_do_names parts_postpone_reasons
		latest_failed_part latest_fail_reason local_path path_on_disk merged_from condition`)
)

// partitionColumns are columns that every table of parts has without listing them, and that
// show the same of its rows.
var partitionColumns = lexical.Set("_part _partition_id _partition_value _part_starting_offset _part_offset _part_index _path _file")

// ValueColumns returns the columns of a system relation that show values from rows.
func (Dialect) ValueColumns(schema, name string) []string {
	if schema == "system" && partTables[name] {
		return partColumns
	}
	return nil
}
