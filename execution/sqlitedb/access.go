package sqlitedb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/sqlitedb/engine"
	"github.com/ktxhq/ktx/sqlguard"
)

// The statements that find out what the rules of a connection mean in its file.
const (
	// textHold takes the read lock, and makes the engine read the schema again
	// if it changed. After it, no statement of the transaction is compiled again.
	textHold      = "SELECT 1 FROM sqlite_schema LIMIT 1"
	textCookie    = "PRAGMA schema_version"
	textRelations = "SELECT json_array(name, type, CASE WHEN type = 'table' AND sql LIKE 'CREATE VIRTUAL%' THEN sql END) FROM sqlite_schema WHERE type IN ('table', 'view')"
)

// shadowSuffixes end the names of the tables in which the virtual tables of
// SQLite (FTS3, FTS4, FTS5 and R*Tree) store their rows.
var shadowSuffixes = []string{"content", "data", "idx", "docsize", "config", "segments", "segdir", "stat", "node", "parent", "rowid"}

// auxiliary are the functions that read columns of a full-text table that a
// statement does not name (https://sqlite.org/fts5.html, section 5).
var auxiliary = map[string]bool{"bm25": true, "highlight": true, "snippet": true, "fts5_get_locale": true}

// access holds the rules of a connection, as its authorizer applies them to one
// state of the schema. The engine asks for each relation and column that a
// statement reads: by a view, by rowid, or in a shadow table, too.
type access struct {
	rules  sqlguard.ReadRules
	cookie string // of the schema that the maps below describe

	user    map[string]bool        // tables and views of the file
	virtual map[string]*restricted // virtual tables
	owners  map[string]string      // shadow tables, and the virtual table of each
	content map[string]bool        // tables that a full-text table reads as its content
	derived map[string][]string    // columns generated from denied columns, by table

	// Of the statement that is compiled now: whether it reads a virtual table with
	// a denied column and calls an auxiliary function, and what was denied first.
	searches, calls bool
	denied          *execution.Error
	// traced collects the reads of a view while its rules are found out.
	traced func(table, column string)
}

// restricted is what the rules deny of a virtual table.
type restricted struct {
	all     bool
	columns map[string]bool // in lower case
}

func (r *restricted) any() bool { return r != nil && (r.all || len(r.columns) > 0) }

// prepareAccess takes the read lock and finds out what the rules mean, if the schema
// changed. It runs at the start of a transaction.
func (s *session) prepareAccess() error {
	if s.access == nil {
		return nil
	}
	if err := s.runOwn(s.hold, nil); err != nil {
		return err
	}
	var cookie string
	if err := s.runOwn(s.cookie, func(stmt *engine.Stmt) { cookie = stmt.ColumnText(0) }); err != nil {
		return err
	}
	s.access.searches, s.access.calls, s.access.denied = false, false, nil
	if cookie == s.access.cookie {
		return nil
	}
	if err := s.readAccess(); err != nil {
		return err
	}
	s.access.cookie = cookie
	return nil
}

// relation is a table or view of the file.
type relation struct{ name, kind, text string }

// readAccess finds the virtual tables of the file, their shadow tables and the
// tables whose text they index.
func (s *session) readAccess() error {
	a := s.access
	a.cookie = ""
	a.user, a.virtual, a.owners, a.content = map[string]bool{}, map[string]*restricted{}, map[string]string{}, map[string]bool{}
	rows, err := s.askOwn(textRelations)
	if err != nil {
		return err
	}
	var relations, virtual []relation
	for _, row := range rows {
		var r relation
		if err := json.Unmarshal([]byte(row), &[]any{&r.name, &r.kind, &r.text}); err != nil {
			return fmt.Errorf("a name of the schema: %w", err)
		}
		a.user[lowerName(r.name)] = true
		relations = append(relations, r)
		if r.text != "" {
			virtual = append(virtual, r)
		}
	}
	if err := s.readDerived(relations); err != nil {
		return err
	}
	for _, v := range virtual {
		of := &restricted{all: a.rules.Denies("main", v.name), columns: map[string]bool{}}
		for _, column := range a.rules.DeniedColumns("main", v.name) {
			of.columns[lowerName(column)] = true
		}
		a.virtual[lowerName(v.name)] = of
		for _, suffix := range shadowSuffixes {
			if shadow := lowerName(v.name) + "_" + suffix; a.user[shadow] {
				a.owners[shadow] = lowerName(v.name)
			}
		}
	}
	// A virtual table without a content table of its own may read another table,
	// view or virtual table that its definition names. Such tables can depend on
	// each other, so the pass is repeated until nothing changes.
	for range len(virtual) + 1 {
		changed := false
		for _, v := range virtual {
			more, err := s.inherit(v, relations)
			if err != nil {
				return err
			}
			changed = changed || more
		}
		if !changed {
			break
		}
	}
	for name, of := range a.virtual {
		if len(of.columns) > 0 { // the hidden columns search or show every column
			of.columns[name], of.columns["rank"] = true, true
		}
	}
	return nil
}

// inherit restricts a virtual table by what is denied of the relations that its
// definition names. It reports whether that changed anything.
func (s *session) inherit(v relation, relations []relation) (changed bool, err error) {
	a, name := s.access, lowerName(v.name)
	if _, own := a.owners[name+"_content"]; own {
		return false, nil
	}
	of := a.virtual[name]
	before := len(of.columns)
	all := of.all
	for _, r := range relations {
		key := lowerName(r.name)
		if key == name || a.owners[key] == name || !mayName(v.text, r.name) {
			continue
		}
		a.content[key] = true
		if a.rules.Denies("main", r.name) {
			of.all = true
			continue
		}
		switch {
		case a.virtual[key] != nil:
			of.all = of.all || a.virtual[key].any()
		case r.kind == "view":
			denied, err := s.viewReadsDenied(r.name)
			if err != nil {
				return false, err
			}
			of.all = of.all || denied
		}
		for _, column := range a.deniedColumns(r.name) {
			of.columns[lowerName(column)] = true
			of.columns["rowid"] = true // the rowid may be the column
		}
	}
	return of.all != all || len(of.columns) != before, nil
}

// viewReadsDenied reports whether a view reads what a rule denies, or cannot be
// compiled.
func (s *session) viewReadsDenied(name string) (bool, error) {
	a := s.access
	denied := false
	a.traced = func(table, column string) { denied = denied || a.denies(table, column) != nil }
	defer func() { a.traced = nil }()
	compiled, err := s.compileView(name)
	return denied || !compiled, err // a view that cannot be compiled is not trusted
}

// denies returns the error for a read that a rule denies, through whatever it
// is. column is empty when the statement reads no column of the table.
func (a *access) denies(table, column string) *execution.Error {
	name, col := lowerName(table), lowerName(column)
	refuse := func(code sqlguard.Code, what, hint string) *execution.Error {
		e := execution.NewError(code, what+" is denied by this connection's policy, and the statement reads it", nil)
		e.Hint = hint
		return e
	}
	const another = "read another table; a view over this one cannot be read either"
	of := a.virtual[name]
	switch owner := a.owners[name]; {
	case a.rules.Denies("main", table), of != nil && of.all:
		return refuse(sqlguard.CodeRelationNotAllowed, "the table "+table, another)
	case owner != "" && a.virtual[owner].any():
		return refuse(sqlguard.CodeRelationNotAllowed, "the table "+table+" stores rows of "+owner+", which", another)
	case of != nil && (of.columns[col] || col == "rowid" && of.columns["_rowid_"]),
		slices.ContainsFunc(a.deniedColumns(table), func(c string) bool { return lowerName(c) == col }):
		return refuse(sqlguard.CodeColumnNotAllowed, "the column "+table+"."+column, "leave the column out, and name the others")
	case strings.HasPrefix(name, "sqlite_stat") && col == "sample":
		return refuse(sqlguard.CodeColumnNotAllowed, "the column "+table+"."+column, "leave the column out")
	default:
		return nil
	}
}

// read decides on one read of a statement. inner is the view or sub-query that
// reads. While a statement runs, only full-text tables compile statements: on
// their shadow tables, their content and themselves.
func (a *access) read(table, column, inner string, running bool) bool {
	name := lowerName(table)
	if running && (a.owners[name] != "" || a.virtual[name] != nil || a.content[name]) {
		return true
	}
	err := a.denies(table, column)
	if err == nil && inner == "" && a.user[name] && !a.rules.Permits("main", table) && !strings.HasSuffix(name, "_config") {
		err = execution.NewError(sqlguard.CodeRelationNotAllowed, "the table "+table+" is not on this connection's lists of allowed schemas and tables", nil)
		err.Hint = "read a table that is listed"
	}
	// A full-text table reads its settings while a statement on it is compiled.
	if owner := a.owners[name]; owner != "" && name == owner+"_config" && (column == "k" || column == "v") && !a.rules.Denies("main", table) {
		err = nil
	}
	if len(a.columnsOf(name)) > 0 {
		a.searches = true
		err = a.auxiliary(err)
	}
	if err != nil && a.denied == nil {
		a.denied = err
	}
	return err == nil
}

func (a *access) columnsOf(name string) map[string]bool {
	if of := a.virtual[name]; of != nil {
		return of.columns
	}
	return nil
}

// call decides on a call of a listed function.
func (a *access) call(name string) bool {
	if !auxiliary[name] {
		return true
	}
	a.calls = true
	err := a.auxiliary(nil)
	if err != nil && a.denied == nil {
		a.denied = err
	}
	return err == nil
}

// auxiliary refuses a statement that reads a full-text table with a denied column
// and calls a function that can show any column of it.
func (a *access) auxiliary(err *execution.Error) *execution.Error {
	if err != nil || !a.searches || !a.calls {
		return err
	}
	e := execution.NewError(sqlguard.CodeColumnNotAllowed, "bm25, highlight and snippet read every column of a full-text table, and this connection's policy denies a column of one that the statement reads", nil)
	e.Hint = "leave the function out, and search one column: title MATCH '…'"
	return e
}

// lowerName folds ASCII letters, as SQLite does for names.
func lowerName(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// mayName reports whether the text of a definition may contain a name, however it is
// quoted there.
func mayName(text, name string) bool {
	text, name = unquoted(text), unquoted(name)
	isPart := func(at int) bool {
		c := text[at]
		return c >= 0x80 || c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'
	}
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 || name == "" {
			return false
		}
		start, end := from+at, from+at+len(name)
		if (start == 0 || !isPart(start-1)) && (end == len(text) || !isPart(end)) {
			return true
		}
		from = start + 1
	}
}

// unquoted returns a text in lower case with one mark for each run of quotes.
func unquoted(text string) string {
	var b strings.Builder
	quoted := false
	for i := range len(text) {
		switch c := text[i]; c {
		case '"', '\'', '`', '[', ']':
			if !quoted {
				b.WriteByte(0)
			}
			quoted = true
		default:
			quoted = false
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}
