package mysql

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// showUse says how the walk treats a form of SHOW.
type showUse uint8

const (
	showRefused   showUse = iota // not on the list
	showPlain                    // lists no object, or only objects of the session's database
	showSchema                   // lists objects of a database that the statement can name
	showRelation                 // describes one table, view or sequence
	showVariables                // shows settings; only allowed if the statement names them
	showStatus                   // shows counters; only allowed if the statement names them
	showSource                   // shows the source text of a view, a routine or triggers
	showSecret                   // shows accounts, privileges or the statements of other sessions
)

// showSpecial are the reasons of refused forms.
var showSpecial = map[showUse]string{ //nolint:gosec // reasons, no secrets
	showRefused: "this form of SHOW is not on the list of permitted forms",
	showSource:  "this form of SHOW shows source text of views, routines or triggers, in which passwords can stand; SHOW COLUMNS FROM name shows the columns of a view",
	showSecret:  "this form of SHOW shows accounts, privileges or other sessions",
}

// refuseShow refuses a form of SHOW.
func (w *walker) refuseShow(use showUse) {
	w.refuse(sqlguard.CodeStatementNotAllowed, w.st.Span, showSpecial[use])
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
			Ruling: sqlguard.Ruling{Reason: "SHOW VARIABLES and SHOW STATUS need LIKE 'name', or WHERE Variable_name = 'name'"},
		})
		return
	}
	for _, name := range names {
		name = strings.ReplaceAll(name, `\_`, "_")
		switch {
		case use == showStatus:
			read := sqlguard.SettingRead{Name: foldName(name), Span: w.span(-1)}
			read.Ruling.Allowed = counter(foldName(name))
			w.st.Settings = append(w.st.Settings, read)
		case foldName(name) == "collation_%" || foldName(name) == "collation%":
			// All three settings with that prefix may be read.
		default:
			w.setting(name, scope, w.span(-1))
		}
	}
}

// counters lists prefixes of the names of status variables that are counters.
var counters = []string{
	"aborted_", "bytes_", "com_", "connections", "created_tmp_", "handler_", "innodb_buffer_pool_", "innodb_row_",
	"innodb_rows_", "key_", "last_query_cost", "max_used_connections", "open_", "opened_", "queries", "questions",
	"select_", "slow_queries", "sort_", "table_", "threads_", "uptime",
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
