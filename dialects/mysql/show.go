package mysql

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// showUse says how the walk treats a form of SHOW.
type showUse uint8

const (
	showRefused     showUse = iota // not on the list
	showPlain                      // lists no object, or only objects of the session's database
	showSchema                     // lists objects of a database that the statement can name
	showRelation                   // describes one table, view or sequence
	showVariables                  // shows settings; only allowed if the statement names them
	showStatus                     // shows counters; only allowed if the statement names them
	showSource                     // shows the source text of a view, a routine or triggers
	showSecret                     // shows accounts, privileges or the statements of other sessions
	showActivity                   // shows the sessions and what they run
	showReplication                // shows the state of replication
)

// showSpecial are the reasons of refused forms.
var showSpecial = map[showUse]string{ //nolint:gosec // reasons, no secrets
	showRefused: "this form of SHOW is not on the list of permitted forms",
	showSource:  "this form of SHOW shows source text of views, routines or triggers, in which passwords can stand",
	showSecret:  "this form of SHOW shows accounts, privileges or other sessions",

	showActivity:    "this form of SHOW shows other sessions and what they run",
	showReplication: "this form of SHOW shows the state of replication",
}

// showGroups are the groups that reveal refused forms.
var showGroups = map[showUse]sqlguard.Group{
	showSource:      sqlguard.GroupDefinitions,
	showActivity:    sqlguard.GroupActivity,
	showReplication: sqlguard.GroupReplication,
}

// refuseShow refuses a form of SHOW.
func (w *walker) refuseShow(use showUse) {
	w.effect(sqlguard.Finding{Code: sqlguard.CodeStatementNotAllowed, Span: w.st.Span, Message: showSpecial[use], Reveal: showGroups[use]})
}

// exactShow is a form of SHOW that is judged by its words alone.
type exactShow struct {
	group   sqlguard.Group
	samples bool
	shows   string
}

// exactShows are forms of SHOW that have no arguments. InnoDB's status has the last
// deadlock and the last failed foreign key, with values of rows.
var exactShows = map[string]exactShow{
	"show engine innodb status":              {sqlguard.GroupActivity, true, "statements of other sessions, and values of rows that they locked"},
	"show engine innodb mutex":               {sqlguard.GroupStatistics, false, "counters of the server"},
	"show engine performance_schema status":  {sqlguard.GroupStatistics, false, "counters of the server"},
	"show engine rocksdb transaction status": {sqlguard.GroupActivity, true, "statements of other sessions, and values of rows that they locked"},
	"show engine rocksdb status":             {sqlguard.GroupStatistics, false, "counters of the server"},
	"show engine tokudb status":              {sqlguard.GroupStatistics, false, "counters of the server"},
	"show open tables":                       {sqlguard.GroupStatistics, false, "tables of all databases"},
	"show plugins":                           {sqlguard.GroupSettings, false, "the files of the server's libraries"},
	"show binary logs":                       {sqlguard.GroupReplication, false, "the state of replication"},
	"show master logs":                       {sqlguard.GroupReplication, false, "the state of replication"},
	"show all slaves status":                 {sqlguard.GroupReplication, false, "the state of replication"},
	"show all replicas status":               {sqlguard.GroupReplication, false, "the state of replication"},
	// A server that was started to show passwords of replicas shows them here. The
	// backend gives no such answer.
	"show replicas":      {sqlguard.GroupReplication, false, "the replicas of the server"},
	"show replica hosts": {sqlguard.GroupReplication, false, "the replicas of the server"},
	"show slave hosts":   {sqlguard.GroupReplication, false, "the replicas of the server"},
}

// longestShow is the number of words of the longest of them.
const longestShow = 5

// showExactly refuses a statement that consists of the words of exactShows, for a policy
// that reveals what it shows. It reports whether the statement is one.
func (w *walker) showExactly() bool {
	if len(w.items) == 0 || len(w.items) > longestShow || !w.word(0, "show") {
		return false
	}
	words := make([]string, len(w.items))
	for i := range w.items {
		words[i] = strings.ToLower(w.items[i].Text(w.sql))
	}
	form, ok := exactShows[strings.Join(words, " ")]
	if !ok {
		return false
	}
	*w.st = sqlguard.Statement{Span: sqlguard.Span{Start: w.items[0].Start, End: w.items[len(w.items)-1].End}, Verb: sqlguard.VerbShow}
	w.effect(sqlguard.Finding{
		Code: sqlguard.CodeStatementNotAllowed, Span: w.st.Span, Reveal: form.group, Samples: form.samples,
		Message: "this form of SHOW shows " + form.shows,
	})
	return true
}

// shownSchema states the database whose objects SHOW lists.
func (w *walker) shownSchema(schema string) {
	if schema == "" {
		return
	}
	at := w.name(schema)
	if systemSchema(schema) {
		if foldName(schema) != "information_schema" {
			w.refuse(sqlguard.CodeRelationNotAllowed, at, "a schema of the server's own, of which no list may be read")
		}
		return
	}
	w.st.Relations = append(w.st.Relations, sqlguard.Relation{
		Schema: schema, Name: "*", Access: sqlguard.AccessRead, Span: at, Ruling: sqlguard.Ruling{Allowed: true},
	})
}

// shownRelation states a relation whose structure SHOW or DESCRIBE returns. source says
// that the statement returns the source text of a view.
func (w *walker) shownRelation(schema, name, database string, source bool) {
	at := w.names(schema, name, "")
	if database != "" {
		schema = database
		if found := w.find1(database); found.Start > at.End {
			at.End = found.End
		}
	}
	w.relationAt(at, schema, name, "", sqlguard.AccessRead)
	if n := len(w.st.Relations); source && n > 0 {
		w.st.Relations[n-1].Source = true
	}
}

// find1 meets a name after FROM or IN.
func (w *walker) find1(name string) sqlguard.Span { return w.name(name) }

// shownNames judges the settings or counters that SHOW names: those of LIKE
// without a % in it, or compared with Variable_name in WHERE.
func (w *walker) shownNames(use showUse, scope string, names []string) {
	if len(names) == 0 {
		w.st.Settings = append(w.st.Settings, sqlguard.SettingRead{
			Span:   w.st.Span,
			Ruling: sqlguard.Ruling{Reason: "SHOW VARIABLES and SHOW STATUS need LIKE 'name', or WHERE Variable_name = 'name'", Reveal: shownGroup(use)},
		})
		return
	}
	for _, name := range names {
		name = strings.ReplaceAll(name, `\_`, "_")
		switch {
		case use == showStatus:
			read := sqlguard.SettingRead{Name: foldName(name), Span: w.span(-1)}
			if read.Ruling.Allowed = counter(foldName(name)); !read.Ruling.Allowed {
				read.Ruling.Reveal = shownGroup(use)
			}
			w.st.Settings = append(w.st.Settings, read)
		case harmlessPattern(foldName(name)):
		default:
			w.setting(name, scope, w.span(-1))
		}
	}
}

// shownGroup returns the group that reveals all that a form of SHOW shows. No group
// reveals all variables: plugins keep keys in theirs.
func shownGroup(use showUse) sqlguard.Group {
	if use == showStatus {
		return sqlguard.GroupStatistics
	}
	return ""
}

// harmlessStarts and harmlessEnds are the beginnings and the ends of names that only
// variables without paths, addresses and secrets have, in MySQL 5.7 to 9 and MariaDB
// 10.6 to 11, with the plugins that they ship.
var (
	harmlessStarts = []string{
		"auto_increment", "autocommit", "back_log", "binlog_cache", "binlog_format", "binlog_row", "event_scheduler",
		"innodb_buffer_pool_instances", "innodb_buffer_pool_size", "innodb_flush", "innodb_io_", "innodb_lock", "innodb_log_file",
		"innodb_purge", "innodb_stats", "innodb_thread", "long_query", "performance_schema", "slow_launch", "sync_", "thread_cache", "collation", "character_set_c", "character_set_d", "character_set_r", "character_set_se",
		"character_set_sy", "have_", "join_", "lower_case", "lower_case_table", "max_", "net_", "query_cache", "sort_", "sql_mode", "sql_safe",
		"sql_select", "table_open", "time_zone", "tmp_table", "transaction_", "tx_", "version", "wait_timeout",
	}
	harmlessEnds = []string{"_timeout", "_isolation", "time_zone", "timeout", "_buffer_size", "_cache_size", "sql_mode"}
)

// harmlessPattern reports whether a pattern of LIKE matches only such variables: it has
// one wildcard, at its end or its beginning, and the rest is listed. The wildcard _ of the
// rest matches a character of the listed name.
func harmlessPattern(pattern string) bool {
	listed := func(list []string, text string, is func(text, part string) bool) bool {
		for _, part := range list {
			if text != "" && is(text, part) {
				return true
			}
		}
		return false
	}
	if start, ok := strings.CutSuffix(pattern, "%"); ok && !strings.Contains(start, "%") {
		return listed(harmlessStarts, start, strings.HasPrefix)
	}
	if end, ok := strings.CutPrefix(pattern, "%"); ok && !strings.Contains(end, "%") {
		return listed(harmlessEnds, end, strings.HasSuffix)
	}
	return false
}

// counters lists prefixes of the names of status variables that are counters, or facts of
// the session itself.
var counters = []string{
	"aborted", "bytes", "com_", "connections", "created_tmp", "handler", "innodb_buffer_pool", "innodb_row",
	"innodb_rows_", "key_", "last_query_cost", "max_used_connections", "open_", "opened", "queries", "questions",
	"select", "slow_queries", "sort", "table", "threads", "uptime",
	"ssl_cipher", "ssl_version", // how the session itself is encrypted, which drivers ask for
}

// counter reports whether a status variable, or every variable that a pattern matches, is
// a counter.
func counter(name string) bool {
	for _, prefix := range counters {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// systemVariable states a read of @@name. It uses the tokens, because the trees leave out
// parts of it.
func (w *walker) systemVariable(treeName string) {
	i := w.cursor
	for i < len(w.items) && (w.items[i].Kind != sqlguard.TokenOperator || w.items[i].Text(w.sql) != "@@") {
		i++
	}
	if i >= len(w.items) {
		w.setting("", "", w.span(-1))
		return
	}
	at := w.items[i].Start
	var parts []string
	for i++; i < len(w.items); i++ {
		it := &w.items[i]
		if it.class&classCall == 0 || w.items[i-1].End != it.Start {
			break
		}
		it.met = true
		parts = append(parts, it.text)
		if w.kind(i+1) != sqlguard.TokenDot {
			i++
			break
		}
		i++
	}
	w.cursor = i
	span := sqlguard.Span{Start: at, End: w.items[i-1].End}
	name, scope := strings.Join(parts, "."), ""
	if len(parts) > 1 {
		switch s := foldName(parts[0]); s {
		case "global", "session", "local":
			scope, name = s, strings.Join(parts[1:], ".")
		}
	}
	if !strings.EqualFold(name, treeName) && !strings.HasSuffix(foldName(treeName), foldName(name)) {
		w.setting("", "", span)
		return
	}
	w.setting(name, scope, span)
}
