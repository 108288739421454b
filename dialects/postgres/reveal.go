package postgres

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// This file has the groups that a policy can reveal. Everything named here is refused
// by the tables; a policy that reveals the group admits it. The server still applies
// the rights of the role.

// revealedRelation is a refused relation that a group reveals.
type revealedRelation struct {
	group   sqlguard.Group
	samples string // columns with values of tables
	never   string // columns that stay refused
}

var revealedRelations = map[string]revealedRelation{
	"pg_stats": {
		group:   sqlguard.GroupStatistics,
		samples: "elem_count_histogram histogram_bounds most_common_elems most_common_vals range_bounds_histogram range_length_histogram",
	},
	"pg_statistic": {group: sqlguard.GroupStatistics, samples: "stavalues1 stavalues2 stavalues3 stavalues4 stavalues5"},
	"pg_stats_ext": {group: sqlguard.GroupStatistics, samples: "most_common_val_nulls most_common_vals"},
	"pg_stats_ext_exprs": {
		group:   sqlguard.GroupStatistics,
		samples: "elem_count_histogram histogram_bounds most_common_elems most_common_vals",
	},
	"pg_backend_memory_contexts":   {group: sqlguard.GroupStatistics},
	"pg_shmem_allocations":         {group: sqlguard.GroupStatistics},
	"pg_shmem_allocations_numa":    {group: sqlguard.GroupStatistics},
	"pg_largeobject_metadata":      {group: sqlguard.GroupRoles},
	"pg_user_mappings":             {group: sqlguard.GroupRoles, never: "umoptions"},
	"pg_default_acl":               {group: sqlguard.GroupRoles},
	"pg_init_privs":                {group: sqlguard.GroupRoles},
	"pg_parameter_acl":             {group: sqlguard.GroupRoles},
	"pg_cursors":                   {group: sqlguard.GroupActivity},
	"pg_prepared_statements":       {group: sqlguard.GroupActivity},
	"pg_aios":                      {group: sqlguard.GroupActivity},
	"pg_replication_origin_status": {group: sqlguard.GroupReplication},
	"pg_subscription":              {group: sqlguard.GroupReplication, never: "subconninfo"},
	// The server shows its conninfo with stars for each password.
	"pg_stat_wal_receiver": {group: sqlguard.GroupReplication},
	"pg_buffercache":       {group: sqlguard.GroupStorage},
	"pg_buffercache_numa":  {group: sqlguard.GroupStorage},
}

// revealedColumns are refused columns of allowed relations, as relation.column.
var revealedColumns = map[string]sqlguard.Group{
	"pg_stat_activity.query":   sqlguard.GroupActivity,
	"pg_stat_statements.query": sqlguard.GroupActivity,
	// Wrappers keep defaults for all servers here. Addresses and credentials are options of
	// servers, tables and user mappings, which stay refused.
	"pg_foreign_data_wrapper.fdwoptions": sqlguard.GroupSettings,
}

// revealedSettings are refused settings: where the server keeps its files.
var revealedSettings = lexical.Groups(map[sqlguard.Group]string{
	sqlguard.GroupStorage: `
		config_file data_directory external_pid_file hba_file ident_file log_directory log_filename
		stats_temp_directory unix_socket_directories`,
})

// revealedFunctions are refused functions, by their group.
var revealedFunctions = lexical.Groups(map[sqlguard.Group]string{
	sqlguard.GroupStatistics: `
		pg_get_backend_memory_contexts pg_get_shmem_allocations pg_get_shmem_allocations_numa
		pg_stat_have_stats pg_stat_statements_info`,
	sqlguard.GroupActivity: `
		pg_cursor pg_get_aios pg_prepared_statement pg_stat_statements
		pg_stat_get_backend_activity pg_stat_get_backend_activity_start
		pg_stat_get_backend_client_addr pg_stat_get_backend_client_port
		pg_stat_get_backend_dbid pg_stat_get_backend_idset pg_stat_get_backend_io
		pg_stat_get_backend_pid pg_stat_get_backend_start pg_stat_get_backend_subxact
		pg_stat_get_backend_userid pg_stat_get_backend_wait_event
		pg_stat_get_backend_wait_event_type pg_stat_get_backend_wal pg_stat_get_backend_xact_start
		ssl_cipher ssl_is_used ssl_version`,
	sqlguard.GroupReplication: `
		pg_control_checkpoint pg_control_init pg_control_recovery pg_control_system
		pg_replication_origin_oid pg_show_replication_origin_status
		pg_available_wal_summaries pg_get_wal_summarizer_state pg_get_wal_resource_managers`,
	sqlguard.GroupStorage: `
		pg_relation_filepath pg_tablespace_location pg_tablespace_databases
		pg_ls_archive_statusdir pg_ls_logicalmapdir pg_ls_logicalsnapdir pg_ls_replslotdir
		pg_ls_summariesdir pg_ls_tmpdir pg_ls_waldir
		pg_buffercache_numa_pages pg_buffercache_pages pg_buffercache_summary pg_buffercache_usage_counts
		pg_freespace pg_relpages pgstatginindex pgstathashindex pgstatindex pgstattuple pgstattuple_approx
		pg_visibility_map pg_visibility_map_summary`,
	sqlguard.GroupDefinitions: `
		pg_get_functiondef pg_get_function_sqlbody pg_get_viewdef pg_get_ruledef pg_get_triggerdef`,
})

// revealedAlways are the members of the groups that need no policy.
var revealedAlways = map[sqlguard.Group]string{
	sqlguard.GroupStatistics: `
		pg_stat_archiver pg_stat_bgwriter pg_stat_checkpointer pg_stat_database pg_stat_database_conflicts
		pg_stat_io pg_stat_slru pg_stat_wal pg_stat_statements pg_stat_statements_info
		pg_stat_all_indexes pg_stat_all_tables pg_stat_sys_indexes pg_stat_sys_tables pg_stat_user_functions
		pg_stat_user_indexes pg_stat_user_tables pg_statio_all_indexes pg_statio_all_sequences
		pg_statio_all_tables pg_statio_user_indexes pg_statio_user_sequences pg_statio_user_tables`,
	sqlguard.GroupSettings:    `pg_settings pg_available_extensions pg_available_extension_versions`,
	sqlguard.GroupRoles:       `pg_roles pg_user pg_group pg_auth_members`,
	sqlguard.GroupActivity:    `pg_stat_activity pg_locks pg_prepared_xacts pg_stat_gssapi pg_stat_ssl pg_stat_progress_analyze pg_stat_progress_basebackup pg_stat_progress_cluster pg_stat_progress_copy pg_stat_progress_create_index pg_stat_progress_vacuum pg_wait_events`,
	sqlguard.GroupReplication: `pg_replication_origin pg_replication_slots pg_stat_recovery_prefetch pg_stat_replication pg_stat_replication_slots pg_stat_subscription pg_stat_subscription_stats pg_subscription_rel`,
}

// Reveals returns the members of the groups.
func (Dialect) Reveals() []sqlguard.Revealed {
	var out []sqlguard.Revealed
	for group, names := range revealedAlways {
		for name := range strings.FieldsSeq(names) {
			out = append(out, sqlguard.Revealed{Group: group, Kind: "relation", Name: name, Always: true})
		}
	}
	for _, column := range settingValues {
		out = append(out, sqlguard.Revealed{Group: sqlguard.GroupSettings, Kind: "column", Name: "pg_settings." + column, Always: true})
	}
	for name, r := range revealedRelations {
		out = append(out, sqlguard.Revealed{Group: r.group, Kind: "relation", Name: name})
		for column := range strings.FieldsSeq(r.samples) {
			out = append(out, sqlguard.Revealed{Group: r.group, Kind: "column", Name: name + "." + column, Samples: true})
		}
	}
	for name, group := range revealedColumns {
		out = append(out, sqlguard.Revealed{Group: group, Kind: "column", Name: name})
	}
	for name, columns := range sourceColumns {
		for _, column := range columns {
			out = append(out, sqlguard.Revealed{Group: sqlguard.GroupDefinitions, Kind: "column", Name: name + "." + column})
		}
	}
	for name, group := range revealedFunctions {
		out = append(out, sqlguard.Revealed{Group: group, Kind: "function", Name: name})
	}
	for name, group := range revealedSettings {
		out = append(out, sqlguard.Revealed{Group: group, Kind: "setting", Name: name})
	}
	return out
}

// revealFacts completes the facts about a relation that a group reveals: the columns
// that need more than the group.
func revealFacts(name string, facts *relationFacts) {
	facts.relations = name
	if r, ok := revealedRelations[name]; ok && !facts.Allowed {
		facts.reveal = r.group
		facts.columns = r.samples + r.never // a relation has columns of one kind only
	}
}

// revealOf returns the group that reveals a refused column of a relation.
func (r relationFacts) revealOf(column string) (group sqlguard.Group, samples bool) {
	for name := range strings.FieldsSeq(r.relations) {
		of := revealedColumns[name+"."+column]
		if relation, ok := revealedRelations[name]; ok && slices.Contains(strings.Fields(relation.samples), column) {
			of, samples = relation.group, true
		}
		if of == "" {
			if refused, system := systemRelation("", name); system && !refused.ColumnRefused(column) && !slices.Contains(strings.Fields(revealedRelations[name].never), column) {
				continue // a column of another relation of the join
			}
			return "", false
		}
		if group != "" && of != group {
			return "", false
		}
		group = of
	}
	return group, samples
}

// revealOfAll returns the group that reveals all refused columns.
func (r relationFacts) revealOfAll() (group sqlguard.Group, samples bool) {
	for column := range strings.FieldsSeq(r.columns) {
		of, sample := r.revealOf(column)
		if of == "" || group != "" && of != group {
			return "", false
		}
		group, samples = of, samples || sample
	}
	return group, samples
}

// settingValues are the columns of pg_settings with the values of settings.
var settingValues = []string{"boot_val", "reset_val", "setting"}

// settingsHint says how a query may read these columns.
const settingsHint = "for the values of settings add WHERE name = '…' to the query that reads pg_settings, or call current_setting('…')"

// settle notes a query whose result no expression of another query sees before its
// WHERE was applied: the server does not move conditions into it.
func (w *walker) settle(n *selectStmt) {
	if n == nil {
		return
	}
	if w.settled == nil {
		w.settled = map[*selectStmt]bool{}
	}
	w.settled[n] = true
}

// settleParts notes the parts of such a query for which the same holds. A query in FROM
// is one if no condition beside it can read its columns.
func (w *walker) settleParts(n *selectStmt) {
	if n.Op != setopNone {
		w.settle(n.Larg)
		w.settle(n.Rarg)
		return
	}
	if !unconditional(n) {
		return
	}
	for _, item := range n.FromClause {
		w.settle(item.GetRangeSubselect().GetSubquery().GetSelectStmt())
	}
}

// unconditional reports whether nothing in a query but its result reads the columns of
// its FROM.
func unconditional(n *selectStmt) bool {
	return n.Op == setopNone && n.WhereClause.GetNode() == nil && n.HavingClause.GetNode() == nil &&
		!slices.ContainsFunc(n.FromClause, func(item *node) bool {
			sub := item.GetRangeSubselect()
			return item.GetRangeVar() == nil && (sub == nil || sub.Lateral)
		})
}

// settleWith notes the common table expressions of such a query that only its own FROM
// reads, once.
func (w *walker) settleWith(n *selectStmt, with *withClause) {
	if with.Recursive || !unconditional(n) || !strings.Contains(w.sql, "pg_settings") {
		return
	}
	for _, c := range with.Ctes {
		cte := c.GetCommonTableExpr()
		if cte != nil && slices.ContainsFunc(n.FromClause, func(item *node) bool {
			rv := item.GetRangeVar()
			return rv.GetRelname() == cte.Ctename && rv.GetSchemaname() == ""
		}) && w.mentions(cte.Ctename) == 2 {
			w.settle(cte.Ctequery.GetSelectStmt())
		}
	}
}

// mentions counts the places of a text where a name stands and is no qualifier. It counts
// a name with escapes as the name too.
func (w *walker) mentions(name string) int {
	count := 0
	l := lexer{sql: w.sql}
	var before sqlguard.Token
	for t, ok := l.code(); ok; t, ok = l.code() {
		if before.End > 0 && t.Kind != sqlguard.TokenDot {
			count++
		}
		before = sqlguard.Token{}
		text := t.Text(w.sql)
		word := t.Kind == sqlguard.TokenWord && strings.EqualFold(text, name)
		quoted := t.Kind == sqlguard.TokenQuotedName &&
			(text[0] != '"' || strings.Contains(text, `""`) || strings.EqualFold(strings.Trim(text, `"`), name))
		if word || quoted {
			before = t
		}
	}
	if before.End > 0 {
		count++
	}
	return count
}

// showSettings judges a query over pg_settings. Its value columns may be read when WHERE
// restricts the settings to ones that may be shown. WHERE, HAVING and FROM may not read
// them: the server may compute a condition on a value, and report the value in an error,
// before it looks at the name. It returns a function that restores the query.
func (w *walker) showSettings(n *selectStmt) func() {
	relaxed := false
	for i := range w.items[w.level:] {
		item := &w.items[w.level+i]
		if item.settings && settingsNamed(n.WhereClause, item.name) {
			relaxed = true
		}
	}
	if !relaxed {
		return func() {}
	}
	where, having, from := n.WhereClause, n.HavingClause, n.FromClause
	w.list(from)
	for _, clause := range []*node{where, having} {
		if clause != nil {
			w.node(clause)
		}
	}
	n.WhereClause, n.HavingClause, n.FromClause = nil, nil, nil
	for i := range w.items[w.level:] {
		item := &w.items[w.level+i]
		if item.settings && settingsNamed(where, item.name) {
			facts := *item.facts
			facts.columns = strings.Join(slices.DeleteFunc(strings.Fields(facts.columns), func(column string) bool { return slices.Contains(settingValues, column) }), " ")
			if item.facts, item.named = &facts, true; !facts.Restricted() {
				item.facts = nil
			}
		}
	}
	return func() { n.WhereClause, n.HavingClause, n.FromClause = where, having, from }
}

// namedSetting reports whether an expression is the column name of pg_settings, under a
// condition that restricts it to settings that may be shown. The server computes what is
// selected after WHERE, so that a function of the name sees no other. The reference has a
// qualifier that the query itself gives: a name alone could be a column of another relation.
func (w *walker) namedSetting(n *node) bool {
	ref := n.GetColumnRef()
	if ref == nil || len(ref.Fields) != 2 || lastName(ref.Fields) != "name" {
		return false
	}
	alias, found := ref.Fields[0].GetString_().GetSval(), 0
	for _, item := range w.items[w.level:] {
		if item.name == alias {
			if found++; !item.named {
				return false
			}
		}
	}
	return found == 1
}

// settingsNamed reports whether a condition restricts the rows of pg_settings under an
// alias to settings that may be shown: name = 'x', name IN ('x', 'y'), name = ANY (…), or
// the same for vartype without the type string. Settings with a secret are strings. A
// pattern for one name, as psql writes it, restricts them too.
func settingsNamed(n *node, alias string) bool {
	if and := n.GetBoolExpr(); and != nil && and.Boolop == boolAnd {
		return slices.ContainsFunc(and.Args, func(arg *node) bool { return settingsNamed(arg, alias) })
	}
	e := n.GetAExpr()
	if e != nil && e.Kind == exprOp && lastName(e.Name) == "~" {
		return patternNames(e, alias)
	}
	if e == nil || lastName(e.Name) != "=" || len(e.Name) > 1 && e.Name[0].GetString_().GetSval() != "pg_catalog" {
		return false
	}
	left, right := e.Lexpr, e.Rexpr
	if left.GetColumnRef() == nil {
		left, right = right, left
	}
	var of func(string) bool
	switch settingsColumn(left.GetColumnRef(), alias) {
	case "name":
		of = settingAllowed
	case "vartype":
		of = func(t string) bool { return t == "bool" || t == "integer" || t == "real" || t == "enum" }
	default:
		return false
	}
	var values []*node
	switch e.Kind { //nolint:exhaustive // other kinds name no values
	case exprOp:
		values = []*node{right}
	case exprIn:
		values = right.GetList().GetItems()
	case exprOpAny:
		for right.GetTypeCast() != nil {
			right = right.GetTypeCast().Arg
		}
		values = right.GetAArrayExpr().GetElements()
	}
	for _, value := range values {
		if cast := value.GetTypeCast(); cast != nil && lastName(cast.TypeName.GetNames()) == "text" && len(cast.TypeName.ArrayBounds) == 0 {
			value = cast.Arg
		}
		text := value.GetAConst().GetSval()
		if text == nil || !of(text.Sval) {
			return false
		}
	}
	return len(values) > 0
}

// patternNames reports whether a condition is what psql makes of a name without wildcards,
// with all its qualifiers: lower(name) ~ '^(work_mem)$'. The pattern has no character that
// stands for others, so that only this name matches.
func patternNames(e *aExpr, alias string) bool {
	lower := e.Lexpr.GetFuncCall()
	if len(e.Name) != 2 || e.Name[0].GetString_().GetSval() != "pg_catalog" ||
		lower == nil || len(lower.Funcname) != 2 || lower.Funcname[0].GetString_().GetSval() != "pg_catalog" || lastName(lower.Funcname) != "lower" ||
		len(lower.Args) != 1 || settingsColumn(lower.Args[0].GetColumnRef(), alias) != "name" {
		return false
	}
	right := e.Rexpr
	if c := right.GetCollateClause(); c != nil && len(c.Collname) == 2 && c.Collname[0].GetString_().GetSval() == "pg_catalog" {
		right = c.Arg
	}
	text, begins := strings.CutPrefix(right.GetAConst().GetSval().GetSval(), "^(")
	name, ends := strings.CutSuffix(text, ")$")
	return begins && ends && settingAllowed(name) && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// settingsColumn returns the column's name if a reference names a column of pg_settings
// under the alias.
func settingsColumn(n *columnRef, alias string) string {
	if n == nil || len(n.Fields) == 0 || len(n.Fields) > 2 || len(n.Fields) == 2 && n.Fields[0].GetString_().GetSval() != alias {
		return ""
	}
	return n.Fields[len(n.Fields)-1].GetString_().GetSval()
}
