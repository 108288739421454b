package postgres

import (
	"slices"

	"github.com/ktxhq/ktx/sqlguard"
)

// rowResults lists the functions of the server that can return a row, in the versions
// whose catalogues were read. They return record, or the type of an argument. The result
// of every other function has no attributes, so a name after it can only be a function.
// The list is sorted.
var rowResults = [...]string{
	"aclexplode", "any_value", "first_value", "json_each", "json_each_text", "json_populate_record",
	"json_populate_recordset", "json_to_record", "json_to_recordset", "jsonb_each", "jsonb_each_text",
	"jsonb_populate_record", "jsonb_populate_recordset", "jsonb_to_record", "jsonb_to_recordset", "lag", "last_value",
	"lead", "max", "min", "mode", "nth_value", "percentile_disc", "pg_available_extension_versions",
	"pg_available_extensions", "pg_event_trigger_ddl_commands", "pg_event_trigger_dropped_objects",
	"pg_get_catalog_foreign_keys", "pg_get_keywords", "pg_get_object_address", "pg_get_publication_tables",
	"pg_get_replication_slots", "pg_get_sequence_data", "pg_get_wait_events", "pg_identify_object",
	"pg_identify_object_as_address", "pg_input_error_info", "pg_last_committed_xact", "pg_lock_status",
	"pg_mcv_list_items", "pg_options_to_table", "pg_partition_tree", "pg_prepared_xact", "pg_sequence_parameters",
	"pg_split_walfile_name", "pg_stat_get_archiver", "pg_stat_get_io", "pg_stat_get_progress_info",
	"pg_stat_get_recovery_prefetch", "pg_stat_get_replication_slot", "pg_stat_get_slru", "pg_stat_get_subscription",
	"pg_stat_get_subscription_stats", "pg_stat_get_wal", "pg_stat_get_wal_senders", "pg_timezone_abbrevs",
	"pg_timezone_abbrevs_abbrevs", "pg_timezone_abbrevs_zone", "pg_timezone_names", "pg_walfile_name_offset",
	"pg_xact_commit_timestamp_origin", "record_larger", "record_smaller", "ts_debug", "ts_parse", "ts_token_type",
	"unnest",
}

// scalarCall reports whether a call of the server's own function does not return a row.
// lower and upper, the bounds of a range, count as such calls.
func scalarCall(f *funcCall) bool {
	if len(f.Funcname) > 2 || len(f.Funcname) == 2 && f.Funcname[0].GetString_().GetSval() != "pg_catalog" {
		return false
	}
	name := lastName(f.Funcname)
	facts, listed := lookupFunction("", name)
	if name == "unnest" && len(f.Args) == 1 { // for a tsvector it returns rows
		array := f.Args[0]
		return (array.GetAArrayExpr() != nil || len(array.GetTypeCast().GetTypeName().GetArrayBounds()) > 0) && visiblyScalar(array)
	}
	_, row := slices.BinarySearch(rowResults[:], name)
	return listed && facts.Extension == "" && facts.Class != functionDenied && !row
}

// visiblyScalar reports whether an expression cannot be a row or an array of
// rows, for all types of its columns.
func visiblyScalar(n *node) bool {
	switch {
	case n.GetAConst() != nil, n.GetBoolExpr() != nil, n.GetNullTest() != nil, n.GetBooleanTest() != nil,
		n.GetSqlvalueFunction() != nil, n.GetGroupingFunc() != nil,
		n.GetXmlExpr() != nil, n.GetXmlSerialize() != nil, n.GetCollateClause() != nil:
		return true
	}
	if a := n.GetAArrayExpr(); a != nil {
		return slices.ContainsFunc(a.Elements, visiblyScalar)
	}
	if cast := n.GetTypeCast(); cast != nil {
		names := cast.TypeName.GetNames()
		schema, name := "", lastName(names)
		if len(names) > 1 {
			schema = lastName(names[:len(names)-1])
		}
		return builtinType(schema, name) && name != "record"
	}
	if f := n.GetFuncCall(); f != nil {
		return scalarCall(f)
	}
	if e := n.GetAExpr(); e != nil {
		// The type of the result of a user-defined operator is not known.
		return len(e.Name) == 1 && (e.Lexpr == nil || visiblyScalar(e.Lexpr)) && visiblyScalar(e.Rexpr)
	}
	if s := n.GetSubLink(); s != nil {
		query := s.Subselect.GetSelectStmt()
		return s.SubLinkType == sublinkExists || query != nil && query.Op == setopNone && len(query.TargetList) == 1 &&
			visiblyScalar(query.TargetList[0].GetResTarget().GetVal())
	}
	return false
}

// functionItem describes a function of FROM. When it is visibly scalar, its
// columns are known: its alias or the list behind it.
func (w *walker) functionItem(f *rangeFunction) (item fromItem, named bool) {
	item = fromItem{name: f.Alias.GetAliasname()}
	if len(f.Functions) == 0 {
		return item, item.name != ""
	}
	pair := f.Functions[0].GetList().GetItems()
	if len(pair) == 0 {
		return item, item.name != ""
	}
	if item.name == "" {
		item.name, _, _ = w.figure(pair[0])
	}
	if f.IsRowsfrom || len(f.Functions) > 1 {
		return item, item.name != ""
	}
	if v := pair[0].GetSqlvalueFunction(); v != nil && w.lowerToken(v.Location) == "user" {
		// FROM user means a table of that name. The server's own message says
		// more clearly that it has no such column.
		return item, true
	}
	if len(f.Coldeflist) == 0 && visiblyScalar(pair[0]) {
		item.scalar = f
	}
	return item, item.name != ""
}

// scalarColumn judges x.name where x is a function in FROM that does not return a
// row. A name that is not one of its columns is a call.
func (w *walker) scalarColumn(relation, name string, span sqlguard.Span) {
	var f *rangeFunction
	for i := range w.items {
		if w.items[i].name != relation {
			continue
		}
		if w.items[i].scalar == nil {
			return // it may be a row
		}
		f = w.items[i].scalar
		if name == relation || hasColumn(f, name) {
			return
		}
	}
	if f == nil {
		return
	}
	c := sqlguard.Call{Name: name, Notation: sqlguard.NotationColumn, Span: span, Arguments: 1, Typed: 1, Scalar: 1}
	if facts, listed := w.profile.function("", name); listed {
		c.Builtin, c.Ruling.Allowed = true, facts.Class == functionAllowed
		c.Ruling.Code, c.Ruling.Reason = facts.Code, facts.Reason
		c.Extension, c.Member = facts.Extension, memberRuling(name)
	} else {
		c.Ruling.Reason = "what stands before the dot is no row"
	}
	w.st.Calls = append(w.st.Calls, c)
}

// hasColumn reports whether a scalar function of FROM has the column.
func hasColumn(f *rangeFunction, name string) bool {
	for _, c := range f.Alias.GetColnames() {
		if c.GetString_().GetSval() == name {
			return true
		}
	}
	switch name {
	case "ordinality":
		return f.Ordinality
	case "value", "relid": // json_array_elements and similar functions, pg_partition_ancestors
		return true
	default:
		return false
	}
}
