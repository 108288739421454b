package sqlserver

import "strings"

// word is a word that the grammar knows.
type word struct {
	text     string // in lower case
	reserved bool   // no name unless quoted
}

// maxWord is the length of the longest word of the grammar.
const maxWord = 37

// lookupWord returns the word that text spells in any case of its letters, or
// nil. It allocates nothing.
func lookupWord(text string) *word {
	if len(text) > maxWord || len(text) < 2 {
		return nil
	}
	var buf [maxWord]byte
	for i := range len(text) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return words[string(buf[:len(text)])]
}

var words = func() map[string]*word {
	m := make(map[string]*word)
	for _, list := range []struct {
		text     string
		reserved bool
	}{{reservedWords, true}, {contextWords, false}} {
		for text := range strings.FieldsSeq(list.text) {
			m[text] = &word{text: text, reserved: list.reserved}
		}
	}
	return m
}()

// reservedWords are the words of the reference's page Reserved Keywords
// (Transact-SQL), in its list for SQL Server and Azure Synapse Analytics. The
// page lists WITHIN GROUP as two words; WITHIN alone is a name. So is PRECISION,
// although the page lists it: servers read it as the column of sys.columns.
const reservedWords = `
	add all alter and any as asc authorization backup begin between break browse bulk by cascade case check checkpoint
	close clustered coalesce collate column commit compute constraint contains containstable continue convert create
	cross current current_date current_time current_timestamp current_user cursor database dbcc deallocate declare
	default delete deny desc disk distinct distributed double drop dump else end errlvl escape except exec execute
	exists exit external fetch file fillfactor for foreign freetext freetexttable from full function goto grant group
	having holdlock identity identity_insert identitycol if in index inner insert intersect into is join key kill left
	like lineno load merge national nocheck nonclustered not null nullif of off offsets on open opendatasource openquery
	openrowset openxml option or order outer over percent pivot plan primary print proc procedure public
	raiserror read readtext reconfigure references replication restore restrict return revert revoke right rollback
	rowcount rowguidcol rule save schema securityaudit select semantickeyphrasetable semanticsimilaritydetailstable
	semanticsimilaritytable session_user set setuser shutdown some statistics system_user table tablesample textsize
	then to top tran transaction trigger truncate try_convert tsequal union unique unpivot update updatetext use user
	values varying view waitfor when where while with writetext`

// contextWords mean something in some places and are names in all others.
const contextWords = `
	absent apply approx approximate array at auto base64 binary both change_tracking_context changes concat
	contained content conversation copy cube dialog disable distributed_agg document elements enable expand
	explicit fast first following force forcescan forceseek get graph grouping hash hint ignore
	ignore_nonclustered_columnstore_index include_null_values json keep keepfixed label language last_node leading
	loop match max max_grant_percent maxdop maxrecursion metric move next no_performance_spool noexpand nolock noop
	nowait nulls offset oj only optimize paglock partition path preceding precision range raw readcommitted
	readcommittedlock readpast readuncommitted receive recompile remote rename repeatable repeatableread respect
	returning robust rollup root row rowlock rows send serializable sets shortest_path similar_to snapshot
	spatial_window_max_cells system system_time tablock tablockx throw ties time timestamp top_n trailing type
	unbounded unknown updlock using value version views window within without_array_wrapper wrapper xlock xml
	xmldata xmlnamespaces xmlschema xsinil zone`
