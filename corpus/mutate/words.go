package mutate

import "strings"

func set(words string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		all[w] = true
	}
	return all
}

// keywords are the words of a dialect that mean something else in quotes: the
// keywords of PostgreSQL 18 (pg_get_keywords), which include those of all
// earlier versions, and of SQLite 3.53, with the names that SQLite knows only
// without quotes.
var keywords = map[string]map[string]bool{
	"postgres": set(`
abort absent absolute access action add admin after aggregate all also alter always analyse analyze and any array as asc asensitive assertion
assignment asymmetric at atomic attach attribute authorization backward before begin between bigint binary bit boolean both breadth by cache call
called cascade cascaded case cast catalog chain char character characteristics check checkpoint class close cluster coalesce collate collation column
columns comment comments commit committed compression concurrently conditional configuration conflict connection constraint constraints content
continue conversion copy cost create cross csv cube current current_catalog current_date current_role current_schema current_time current_timestamp
current_user cursor cycle data database day deallocate dec decimal declare default defaults deferrable deferred definer delete delimiter delimiters
depends depth desc detach dictionary disable discard distinct do document domain double drop each else empty enable encoding encrypted end enforced
enum error escape event except exclude excluding exclusive execute exists explain expression extension external extract false family fetch filter
finalize first float following for force foreign format forward freeze from full function functions generated global grant granted greatest group
grouping groups handler having header hold hour identity if ilike immediate immutable implicit import in include including increment indent index
indexes inherit inherits initially inline inner inout input insensitive insert instead int integer intersect interval into invoker is isnull isolation
join json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize json_table json_value keep key keys
label language large last lateral leading leakproof least left level like limit listen load local localtime localtimestamp location lock locked logged
mapping match matched materialized maxvalue merge merge_action method minute minvalue mode month move name names national natural nchar nested new
next nfc nfd nfkc nfkd no none normalize normalized not nothing notify notnull nowait null nullif nulls numeric object objects of off offset oids old
omit on only operator option options or order ordinality others out outer over overlaps overlay overriding owned owner parallel parameter parser
partial partition passing password path period placing plan plans policy position preceding precision prepare prepared preserve primary prior
privileges procedural procedure procedures program publication quote quotes range read real reassign recursive ref references referencing refresh
reindex relative release rename repeatable replace replica reset restart restrict return returning returns revoke right role rollback rollup routine
routines row rows rule savepoint scalar schema schemas scroll search second security select sequence sequences serializable server session
session_user set setof sets share show similar simple skip smallint snapshot some source sql stable standalone start statement statistics stdin stdout
storage stored strict string strip subscription substring support symmetric sysid system system_user table tables tablesample tablespace target temp
template temporary text then ties time timestamp to trailing transaction transform treat trigger trim true truncate trusted type types uescape
unbounded uncommitted unconditional unencrypted union unique unknown unlisten unlogged until update user using vacuum valid validate validator value
values varchar variadic varying verbose version view views virtual volatile when where whitespace window with within without work wrapper write xml
xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable year yes zone`),
	"sqlite": set(`
abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case cast check
collate column commit conflict constraint create cross current current_date current_time current_timestamp database default
deferrable deferred delete desc detach distinct do drop each else end escape except exclude exclusive exists explain fail filter
first following for foreign from full generated glob group groups having if ignore immediate in index indexed initially inner
insert instead intersect into is isnull join key last left like limit match materialized natural no not nothing notnull null nulls
of offset on or order others outer over partition plan pragma preceding primary query raise range recursive references regexp reindex
release rename replace restrict returning right rollback row rows savepoint select set table temp temporary then ties to
transaction trigger unbounded union unique update using vacuum values view virtual when where window with without
true false rowid oid _rowid_`),
}

// reserved are words that are never names in the MySQL family or in SQL Server,
// in any letter case.
var reserved = set(`
accessible add all alter analyze and as asc before between both by case change check collate column constraint convert create cross
current_date current_time current_timestamp current_user database databases default delayed delete desc describe distinct distinctrow
div drop dual each else elseif enclosed escaped except exists exit explain fetch for force foreign from fulltext grant
group having high_priority if ignore in index infile inner insert intersect interval into is iterate join key keys kill leading leave
left like limit lines load localtime localtimestamp lock low_priority match mod natural not null on
optimize option or order outer outfile over partition primary procedure purge range read references regexp release rename
replace require restrict return revoke right rlike row rows schema schemas select separator set show sql_calc_found_rows
starting straight_join table terminated then to trailing trigger undo union unique unlock update usage use using
utc_date utc_time utc_timestamp values when where while window with write xor`)

// natives are functions of MySQL and MariaDB that can be called by a quoted
// name.
var natives = set("benchmark connection_id get_lock is_free_lock is_used_lock load_file release_all_locks release_lock sleep version")

// builtins are functions of PostgreSQL's pg_catalog that the cases call and
// that have no special syntax.
var builtins = set(`
avg chr convert_to count current_database current_query current_setting database_to_xml date_trunc encode generate_series length lo_export
lo_from_bytea lo_import lo_unlink lower lpad make_date make_interval max md5 nextval now obj_description pg_advisory_lock pg_backend_pid
pg_cancel_backend pg_current_wal_lsn pg_get_constraintdef pg_import_system_collations pg_logical_emit_message pg_logical_slot_get_changes pg_ls_dir
pg_ls_logdir pg_notify pg_postmaster_start_time pg_read_binary_file pg_read_file pg_relation_size pg_reload_conf pg_size_pretty pg_sleep pg_sleep_for
pg_stat_file pg_stat_get_activity pg_stat_reset pg_switch_wal pg_terminate_backend pg_total_relation_size pg_try_advisory_xact_lock plainto_tsquery
query_to_xml random regexp_split_to_table repeat row_number row_to_json set_config setseed setval sha256 string_agg string_to_array sum table_to_xml
to_jsonb to_tsvector translate trunc ts_rank ts_rewrite ts_stat txid_current unnest upper websearch_to_tsquery xmlagg`)

// rowSets are functions of PostgreSQL that return any number of rows.
var rowSets = set("generate_series unnest regexp_split_to_table regexp_matches json_each jsonb_each json_array_elements jsonb_array_elements pg_ls_dir")
