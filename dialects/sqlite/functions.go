package sqlite

import (
	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// allowedFunctions are the functions of SQLite's reference that compute from
// their arguments, the row or the clock, or read counters of the connection:
// https://sqlite.org/lang_corefunc.html, lang_aggfunc.html,
// windowfunctions.html, lang_datefunc.html, json1.html, lang_mathfunc.html,
// and the auxiliary functions of https://sqlite.org/fts5.html. They are listed
// by hand, because a function is not harmless just because a driver has it.
var allowedFunctions = lexical.Set(
	// core, except load_extension
	`abs changes char coalesce concat concat_ws format glob hex if ifnull iif
	instr last_insert_rowid length like likelihood likely lower ltrim max min
	nullif octet_length printf quote random randomblob replace round rtrim
	sign soundex sqlite_compileoption_get sqlite_compileoption_used
	sqlite_offset sqlite_source_id sqlite_version substr substring
	total_changes trim typeof unhex unicode unistr unistr_quote unlikely upper
	zeroblob`,
	// the functions behind the operators MATCH and REGEXP: without an
	// implementation they raise an error
	`match regexp`,
	// aggregate
	`avg count group_concat max median min percentile percentile_cont
	percentile_disc string_agg sum total`,
	// window
	`cume_dist dense_rank first_value lag last_value lead nth_value ntile
	percent_rank rank row_number`,
	// date and time
	`current_date current_time current_timestamp date datetime julianday
	strftime time timediff unixepoch`,
	// JSON
	`json json_array json_array_insert json_array_length json_error_position
	json_extract json_group_array json_group_object json_insert json_object
	json_patch json_pretty json_quote json_remove json_replace json_set
	json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract
	jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch
	jsonb_remove jsonb_replace jsonb_set`,
	// mathematics
	`acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp
	floor ln log log10 log2 mod pi pow power radians sin sinh sqrt tan tanh
	trunc`,
	// FTS5
	`bm25 highlight snippet`,
)

// deniedFunctions are functions of SQLite's source tree, its shell and its usual drivers
// that do more than compute. Each is refused with a specific code, and no policy can allow
// it.
var deniedFunctions = map[string]ruling{
	"load_extension": {sqlguard.CodeFunctionFileAccess, "loads code from a file"},
	"readfile":       {sqlguard.CodeFunctionFileAccess, "reads files"},
	"writefile":      {sqlguard.CodeFunctionFileAccess, "writes files"},
	"edit":           {sqlguard.CodeFunctionFileAccess, "starts an editor on a file"},
	"fsdir":          {sqlguard.CodeFunctionFileAccess, "lists and reads files"},
	"lsmode":         {sqlguard.CodeFunctionFileAccess, "belongs to the functions that read files"},
	"realpath":       {sqlguard.CodeFunctionFileAccess, "resolves paths of the host"},
	"zipfile":        {sqlguard.CodeFunctionFileAccess, "makes ZIP files"},
	"zipfile_cds":    {sqlguard.CodeFunctionFileAccess, "reads ZIP files"},
	"lines_read":     {sqlguard.CodeFunctionFileAccess, "reads files"},
	"fileio_read":    {sqlguard.CodeFunctionFileAccess, "reads files"},
	"fileio_write":   {sqlguard.CodeFunctionFileAccess, "writes files"},
	"fileio_append":  {sqlguard.CodeFunctionFileAccess, "writes files"},
	"fileio_mkdir":   {sqlguard.CodeFunctionFileAccess, "makes directories"},
	"fileio_symlink": {sqlguard.CodeFunctionFileAccess, "makes links"},
	"fileio_mode":    {sqlguard.CodeFunctionFileAccess, "belongs to the functions that read files"},

	"http_get":      {sqlguard.CodeFunctionNetworkAccess, "fetches from the network"},
	"http_get_body": {sqlguard.CodeFunctionNetworkAccess, "fetches from the network"},
	"http_post":     {sqlguard.CodeFunctionNetworkAccess, "sends to the network"},
	"http_do":       {sqlguard.CodeFunctionNetworkAccess, "sends to the network"},

	"eval":       {sqlguard.CodeDynamicSQL, "runs the SQL text of its argument"},
	"sha1_query": {sqlguard.CodeDynamicSQL, "runs the SQL text of its argument"},
	"sha3_query": {sqlguard.CodeDynamicSQL, "runs the SQL text of its argument"},
	"nextchar":   {sqlguard.CodeDynamicSQL, "runs SQL made from its arguments"},
	"rtreecheck": {sqlguard.CodeDynamicSQL, "runs SQL made from its arguments"},
	"readblob":   {sqlguard.CodeDynamicSQL, "reads a table named by its arguments"},
	"openblob":   {sqlguard.CodeDynamicSQL, "reads a table named by its arguments"},
	"writeblob":  {sqlguard.CodeFunctionSideEffect, "writes a table named by its arguments"},

	"optimize":            {sqlguard.CodeFunctionSideEffect, "rewrites a full-text index"},
	"sqlite_log":          {sqlguard.CodeFunctionSideEffect, "writes to the error log"},
	"icu_load_collation":  {sqlguard.CodeFunctionSideEffect, "changes the session"},
	"shell_putsnl":        {sqlguard.CodeFunctionSideEffect, "prints to the process's output"},
	"shell_add_schema":    {sqlguard.CodeFunctionAdmin, "serves the shell"},
	"shell_module_schema": {sqlguard.CodeFunctionAdmin, "serves the shell"},

	"fts3_tokenizer": {sqlguard.CodeFunctionAdmin, "reads and registers pointers to code"},
	"fts5":           {sqlguard.CodeFunctionAdmin, "hands out addresses of code"},
	"sqlite_dbpage":  {sqlguard.CodeFunctionAdmin, "reads and writes pages of the file"},
	"sqlite_dbdata":  {sqlguard.CodeFunctionAdmin, "reads pages of the file"},
	"sqlite_dbptr":   {sqlguard.CodeFunctionAdmin, "reads pages of the file"},

	"sqlite_rename_column":   {sqlguard.CodeFunctionAdmin, "is internal to ALTER TABLE"},
	"sqlite_rename_table":    {sqlguard.CodeFunctionAdmin, "is internal to ALTER TABLE"},
	"sqlite_rename_test":     {sqlguard.CodeFunctionAdmin, "is internal to ALTER TABLE"},
	"sqlite_rename_quotefix": {sqlguard.CodeFunctionAdmin, "is internal to ALTER TABLE"},
	"sqlite_drop_column":     {sqlguard.CodeFunctionAdmin, "is internal to ALTER TABLE"},
	"sqlite_drop_constraint": {sqlguard.CodeFunctionAdmin, "is internal to ALTER TABLE"},
	"sqlite_add_constraint":  {sqlguard.CodeFunctionAdmin, "is internal to ALTER TABLE"},
	"sqlite_find_constraint": {sqlguard.CodeFunctionAdmin, "is internal to ALTER TABLE"},
	"sqlite_fail":            {sqlguard.CodeFunctionAdmin, "is internal to ALTER TABLE"},
	"sqlite_attach":          {sqlguard.CodeFunctionAdmin, "is internal to ATTACH"},
	"sqlite_detach":          {sqlguard.CodeFunctionAdmin, "is internal to DETACH"},
	"sqlite_user_add":        {sqlguard.CodeFunctionAdmin, "manages users of the file"},
	"sqlite_user_change":     {sqlguard.CodeFunctionAdmin, "manages users of the file"},
	"sqlite_crypt":           {sqlguard.CodeFunctionAdmin, "manages users of the file"},
	"sqlcipher_export":       {sqlguard.CodeFunctionFileAccess, "copies one database into another"},
	"sqlite_filestat":        {sqlguard.CodeFunctionFileAccess, "reads facts of the file"},
}

// ruleFunction rules on a function by its folded name. SQLite functions have
// no schema.
func ruleFunction(name string) (rule sqlguard.Ruling, builtin bool) {
	if allowedFunctions[name] {
		return sqlguard.Ruling{Allowed: true}, true
	}
	if r, ok := deniedFunctions[name]; ok {
		return r.refuse(), true
	}
	return sqlguard.Ruling{}, false
}
