package bigquery

import (
	"strings"

	"github.com/sqlc-dev/zetajones/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

const informationSchema = "INFORMATION_SCHEMA"

// systemViews are the views of INFORMATION_SCHEMA that show the shape of the data.
// Reference: Introduction to INFORMATION_SCHEMA.
var systemViews = lexical.Set(`schemata schemata_options schemata_links tables table_options table_constraints key_column_usage constraint_column_usage columns column_field_paths
	partitions views materialized_views routines parameters routine_options table_snapshots table_storage table_storage_by_project table_storage_usage_timeline
	table_storage_usage_timeline_by_project schemata_replicas search_indexes search_index_columns
	search_index_options vector_indexes vector_index_columns vector_index_options property_graphs effective_project_options`)

// projectViews are those whose one qualifier can be a project.
var projectViews = lexical.Set(`schemata schemata_options schemata_links schemata_replicas table_storage table_storage_by_project table_storage_usage_timeline
	table_storage_usage_timeline_by_project effective_project_options`)

// deniedViews are views of INFORMATION_SCHEMA with a reason of their own; a name that ends
// with a star stands for all that begin so.
var deniedViews = []struct {
	names  []string
	ruling sqlguard.Ruling
}{
	{[]string{"jobs*", "sessions*"}, sqlguard.Ruling{Code: sqlguard.CodeCredentialRelation, Reason: "it shows the statements of other users", Reveal: sqlguard.GroupActivity}},
	{[]string{"object_privileges", "shared_dataset_usage"}, sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "it shows who may do what", Reveal: sqlguard.GroupRoles}},
	{
		[]string{"reservation*", "assignment*", "capacity_commitment*", "bi_capacit*", "organization_options*", "project_options*"},
		sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "it shows how the project is set up and used", Reveal: sqlguard.GroupSettings},
	},
	{
		[]string{"streaming_timeline*", "write_api_timeline*", "recommendations*", "insights*"},
		sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "it shows how the project is set up and used", Reveal: sqlguard.GroupStatistics},
	},
	{
		[]string{"table_storage_by_*", "table_storage_usage_timeline_by_*", "search_indexes_by_*"},
		sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "it shows tables of other projects", Reveal: sqlguard.GroupStorage},
	},
}

// Reveals returns the members of the groups.
func (Dialect) Reveals() []sqlguard.Revealed {
	var out []sqlguard.Revealed
	for _, d := range deniedViews {
		for _, name := range d.names {
			out = append(out, sqlguard.Revealed{Group: d.ruling.Reveal, Kind: "relation", Name: informationSchema + "." + strings.ToUpper(name)})
		}
	}
	for view, columns := range sourceColumns {
		for _, column := range columns {
			out = append(out, sqlguard.Revealed{Group: sqlguard.GroupDefinitions, Kind: "column", Name: informationSchema + "." + strings.ToUpper(view) + "." + column})
		}
	}
	return out
}

// sourceColumns are the columns of system relations that hold the source text of views
// and routines.
var sourceColumns = map[string][]string{
	"tables": {"ddl"}, "views": {"view_definition"}, "materialized_views": {"materialized_view_definition"}, "routines": {"routine_definition", "ddl"},
	"search_indexes": {"ddl"}, "vector_indexes": {"ddl"}, "property_graphs": {"ddl", "property_graph_metadata_json"}, "schemata": {"ddl"},
}

// SourceColumns returns the columns of a system relation that hold the source text of
// views and routines.
func (Dialect) SourceColumns(_, name string) []string { return sourceColumns[lexical.Lower(name)] }

// ValueColumns returns the columns of a system relation that show values from rows: the
// name of a partition is the value of the column by which the table is partitioned.
// Reference: PARTITIONS view. No other view of systemViews shows one.
func (Dialect) ValueColumns(_, name string) []string {
	if lexical.Lower(name) == "partitions" {
		return []string{"partition_id"}
	}
	return nil
}

// tablePath states a relation of FROM, unless it is a common table expression or an array
// of a row.
func (w *walker) tablePath(n *ast.TablePathExpression) {
	w.node(n.UnnestExpr)
	w.node(n.Hint)
	w.node(n.Offset)
	w.node(n.ForSystemTime)
	alias := aliasOf(n.Alias)
	if n.Path != nil {
		w.relation(n.Path, alias)
		if last := n.Path.Names[len(n.Path.Names)-1]; alias == "" && !strings.Contains(last.Name, ".") {
			alias = last.Name
		}
	}
	w.node(n.Alias)
	w.nodes(n.PostfixOperators)
	w.visible(alias, n.PostfixOperators)
}

// relation states the relation that a path names.
func (w *walker) relation(path *ast.PathExpression, alias string) {
	w.unreserved(path.Names[0])
	if len(path.Names) == 1 && w.ctes.has(path.Names[0].Name) {
		w.words(path)
		return
	}
	parts := w.words(path)
	if len(path.Names) > 1 {
		if w.aliases.has(path.Names[0].Name) {
			w.mentioned(parts)
			return
		}
		// It could still be an array in a column of a relation that was there before, such
		// as address.lines.
		for i := range parts {
			if len(w.stmt.Relations) > 0 {
				w.column(sqlguard.ColumnRef{Qualifier: parts[:i:i], Name: parts[i], Element: true})
			}
		}
	}
	r := w.named(path)
	r.Alias = alias
	w.stmt.Relations = append(w.stmt.Relations, r)
}

// tableClause states the relation that a function or an operator gets whole.
func (w *walker) tableClause(n *ast.TableClause) {
	path, ok := n.Table.(*ast.PathExpression)
	if !ok {
		w.apart(n.Table)
		return
	}
	w.column(sqlguard.ColumnRef{Star: true})
	aliases := w.aliases
	w.aliases = nil
	w.relation(path, "")
	w.aliases = aliases
}

// named returns the relation that a path names.
func (w *walker) named(path *ast.PathExpression) sqlguard.Relation {
	var parts []string
	for _, id := range path.Names {
		parts = append(parts, w.split(id)...)
	}
	r := sqlguard.Relation{Access: sqlguard.AccessRead, Span: sqlguard.Span{Start: path.Pos(), End: path.End()}}
	if r.Span.Start >= r.Span.End || r.Span.End > len(w.sql) {
		r.Span = w.at
	}
	return ruleRelation(r, parts)
}

// ruleRelation rules on a relation by the parts of its name.
func ruleRelation(r sqlguard.Relation, parts []string) sqlguard.Relation {
	last := len(parts) - 1
	r.Name = parts[last]
	refuse := func(code sqlguard.Code, reason string) sqlguard.Relation {
		r.Schema = strings.Join(parts[:last], ".")
		r.Ruling = sqlguard.Ruling{Code: code, Reason: reason}
		return r
	}
	for i, part := range parts {
		switch {
		case part == "":
			return refuse(sqlguard.CodeRelationNotAllowed, "a part of its name is empty")
		case strings.ContainsAny(part, "$@"):
			return refuse(sqlguard.CodeRelationNotAllowed, "decorators after $ and @ belong to the older SQL of BigQuery; write FOR SYSTEM_TIME AS OF, or a condition on the partition")
		case strings.Contains(part, "*") && (i < last || strings.IndexByte(part, '*') < len(part)-1):
			return refuse(sqlguard.CodeRelationNotAllowed, "a star may stand only at the end of a name")
		case strings.EqualFold(part, informationSchema):
			return systemRelation(r, parts, i)
		}
	}
	if last > 2 {
		return refuse(sqlguard.CodeExternalRelation, "its name has more than three parts")
	}
	if last > 1 {
		r.Database = parts[last-2]
	}
	if last > 0 {
		r.Schema = parts[last-1]
	}
	r.Ruling.Allowed = true
	r.Prefix = strings.HasSuffix(r.Name, "*")
	r.System = strings.EqualFold(r.Name, "__TABLES__") || strings.EqualFold(r.Name, "__TABLES_SUMMARY__")
	return r
}

// systemRelation rules on a view of INFORMATION_SCHEMA, which is the part at index at.
func systemRelation(r sqlguard.Relation, parts []string, at int) sqlguard.Relation {
	r.System, r.Schema = true, informationSchema
	name := lexical.Lower(r.Name)
	if at != len(parts)-2 || at > 2 {
		r.Ruling.Reason = "INFORMATION_SCHEMA stands before the name of a view, after a project and a dataset or region"
		return r
	}
	region := at > 0 && strings.HasPrefix(lexical.Lower(parts[at-1]), "region-")
	if at == 2 || at == 1 && !region && projectViews[name] {
		r.Database = parts[0]
	}
	if r.Ruling.Allowed = systemViews[name]; r.Ruling.Allowed {
		return r
	}
	for _, d := range deniedViews {
		for _, pattern := range d.names {
			if begin, star := strings.CutSuffix(pattern, "*"); name == pattern || star && strings.HasPrefix(name, begin) {
				r.Ruling = d.ruling
				return r
			}
		}
	}
	return r
}

// tableFunction states a function of FROM. A function of a dataset is a relation too: its
// text can read any table.
func (w *walker) tableFunction(n *ast.TVF) {
	name := w.function(n.Name)
	call := &w.stmt.Calls[len(w.stmt.Calls)-1]
	switch {
	case tableFunctions[name]:
		call.Ruling, call.Builtin = sqlguard.Ruling{Allowed: true}, true
	case call.Builtin && call.Ruling.Allowed:
		call.Ruling = sqlguard.Ruling{Reason: "it is no function for FROM"}
	case !call.Builtin && len(n.Name.Names) > 0:
		r := w.named(n.Name)
		r.Alias = aliasOf(n.Alias)
		w.stmt.Relations = append(w.stmt.Relations, r)
	}
	aliases := w.aliases
	w.aliases = nil
	for _, arg := range n.Args {
		w.node(arg)
	}
	w.aliases = aliases
	w.node(n.Hint)
	w.node(n.Alias)
	w.nodes(n.PostfixOperators)
	w.visible(aliasOf(n.Alias), n.PostfixOperators)
}
