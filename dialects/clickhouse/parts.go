package clickhouse

import (
	"fmt"
	"slices"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// partTables are the tables of the database system about parts of tables. partColumns are
// those of their columns that show values: a part has the value of the key by which its
// table is partitioned, which its identifier, its name and its path have too when it is a
// number or a date, and the smallest and the greatest value of columns. (Tried on ClickHouse
// 26.7, with a table that is partitioned by a text and a date.)
var (
	partTables  = lexical.Set("parts parts_columns projection_parts projection_parts_columns detached_parts merges")
	partColumns = lexical.Set(`
		partition partition_id name part_name parent_name path min_date max_date min_time max_time result_part_name source_part_names result_part_path source_part_paths
		delete_ttl_info_min delete_ttl_info_max move_ttl_info recompression_ttl_info group_by_ttl_info rows_where_ttl_info column_ttl_min column_ttl_max
		statistics estimates substreams filenames subcolumns exception`)
)

// partitionColumns are columns that every table of parts has without listing them, and that
// show the same of its rows.
var partitionColumns = lexical.Set("_part _partition_id _partition_value _part_starting_offset _part_offset _part_index _path _file")

// judgeParts refuses values in tables about parts, for policies with rules of access. Rules on
// columns do not know of them.
func (p *parser) judgeParts() {
	parts := func(r *sqlguard.Relation) bool { return r.Schema == "system" && partTables[r.Name] }
	at := slices.IndexFunc(p.stmt.Relations, func(r sqlguard.Relation) bool { return parts(&r) })
	if at < 0 {
		return
	}
	for _, ref := range p.stmt.ColumnRefs {
		if !ref.Star && !partColumns[lexical.Lower(ref.Name)] {
			continue
		}
		if n := len(ref.Qualifier); n > 0 && p.isOther(ref.Qualifier[n-1], parts) {
			continue
		}
		column := ref.Name
		if ref.Star {
			column = "*"
		}
		of := "system." + p.stmt.Relations[at].Name
		p.stmt.Effects = append(p.stmt.Effects, sqlguard.Finding{
			Code: sqlguard.CodeColumnNotAllowed, Span: ref.Span, Object: of + "." + column, Ruled: true, Path: p.path,
			Message: fmt.Sprintf("%s of %s shows values of the columns by which tables are partitioned, and this connection has rules of access", column, of),
			Hint:    "read other columns by name, such as database, table, active, rows and bytes_on_disk, with the table before each name in a join",
		})
		return
	}
}

// isOther reports whether a qualifier names only relations for which parts is false.
func (p *parser) isOther(qualifier string, parts func(*sqlguard.Relation) bool) bool {
	found := false
	for i := range p.stmt.Relations {
		r := &p.stmt.Relations[i]
		if qualifier != r.Alias && qualifier != r.Name {
			continue
		}
		if parts(r) {
			return false
		}
		found = true
	}
	return found
}
