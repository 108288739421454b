package mysql

import (
	"slices"

	"github.com/ktxhq/ktx/dialects/internal/denied"
	"github.com/ktxhq/ktx/sqlguard"
)

// profile describes a relative of MySQL or MariaDB: a server that reads the same
// language, with functions and schemas of its own. A nil profile is MySQL or MariaDB.
type profile struct {
	name, title string
	product     product
	version     release         // of MySQL, without a server
	denied      denied.Table    // functions that do more than read, in lower case
	allowed     map[string]bool // functions that only compute or report, in lower case
	schemas     []string        // schemas of the server's own
}

// Reasons that complete a sentence that begins with the name of a function or relation.
const (
	callsService = "it calls a service outside of the server"
	showsRows    = "it shows stored values of any table, or statements of others"
)

// profiles are the relatives. The names come from the manuals: Amazon Aurora User Guide,
// "Invoking a Lambda function with an Aurora MySQL native function" and "Using machine
// learning with Aurora MySQL"; TiDB documentation, "TiDB Specific Functions", "Vector
// Functions" and "Metrics Schema"; MariaDB documentation, "Galera Cluster".
var profiles = []*profile{
	{
		name: "aurora", title: "Aurora MySQL", product: productMySQL,
		denied: denied.NewTable([]denied.Rule{
			{Code: sqlguard.CodeFunctionNetworkAccess, Reason: callsService, Names: `
				lambda_sync lambda_async aws_comprehend_* aws_bedrock_* aws_sagemaker_*`},
		}),
		allowed: fieldSet("aurora_version"),
	},
	{name: "galera", title: "Galera Cluster", product: productMariaDB, version: MariaDB.version},
	{
		name: "tidb", title: "TiDB", product: productMySQL,
		denied: denied.NewTable([]denied.Rule{
			{Code: sqlguard.CodeFunctionAdmin, Reason: showsRows, Names: "tidb_mvcc_info tidb_decode_sql_digests tidb_decode_plan tidb_decode_binary_plan"},
			{Code: sqlguard.CodeFunctionNotAllowed, Reason: "it reads data of another time than the session", Names: "tidb_bounded_staleness"},
		}),
		allowed: fieldSet(`
			current_resource_group tidb_current_tso tidb_decode_key tidb_encode_index_key tidb_encode_record_key tidb_encode_sql_digest
			tidb_is_ddl_owner tidb_parse_tso tidb_parse_tso_logical tidb_row_checksum tidb_shard tidb_version vitess_hash
			vec_as_text vec_cosine_distance vec_dims vec_from_text vec_l1_distance vec_l2_distance vec_l2_norm vec_negative_inner_product`),
		schemas: []string{"metrics_schema"}, // the server asks its metrics server for them
	},
}

// Profile returns the dialect of a relative of MySQL or MariaDB, by the names that
// [Profiles] lists.
func Profile(name string) (Dialect, bool) {
	for _, p := range profiles {
		if p.name == name {
			return Dialect{product: p.product, version: p.version, profile: p}, true
		}
	}
	return Dialect{}, false
}

// Profiles returns the names of the relatives of MySQL and MariaDB, sorted.
func Profiles() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.name
	}
	slices.Sort(names)
	return names
}

// Profile returns the name of the relative that the dialect is for, or "".
func (d Dialect) Profile() string {
	if d.profile == nil {
		return ""
	}
	return d.profile.name
}

// ruling decides on a function of the relative's own, by its name in lower case.
func (p *profile) ruling(name string) (sqlguard.Ruling, bool) {
	if p == nil {
		return sqlguard.Ruling{}, false
	}
	if p.allowed[name] {
		return sqlguard.Ruling{Allowed: true}, true
	}
	if r := p.denied.Find(name); r != nil {
		return r.Ruling(), true
	}
	return sqlguard.Ruling{}, false
}

// owns reports whether a schema is the relative's own.
func (p *profile) owns(schema string) bool {
	return p != nil && slices.ContainsFunc(p.schemas, func(own string) bool { return resembles(schema, own) })
}
