package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// facts is what the parser has read of a statement so far. There is no tree to
// walk: a production calls the methods here as soon as it has read a name, a call
// or a refused construct.
type facts struct {
	stmt    sqlguard.Statement
	outputs bool   // the next list of items is that of the statement's result
	path    string // leads to the common table expression that is read
	// ctes are the names of WITH that are visible here, by their folded form.
	ctes map[string]string
	// methods are the calls that are methods only if the name before them is
	// a column, by their place in stmt.Calls.
	methods []methodCall
	// scopes are the queries of the statement. The first one represents what is
	// outside of them. scope is the one that is being read, and lastScope the
	// one that was read last.
	scopes           []scope
	scope, lastScope int
	// hints are the tokens that are hints of tables, bareHints the hints in
	// brackets directly behind a name.
	hints     []int
	bareHints []bareHint
}

// bareHint is a table with hints but without WITH, as in t (NOLOCK), which looks
// like the call of a function with a column. at is the position of the name, and
// token is the index of the first hint.
type bareHint struct {
	at    sqlguard.Span
	token int
}

// scope is the scope of one query: what its FROM, up to its HAVING, defines.
// outer is the query whose columns it can also name, or -1.
type scope struct {
	outer     int
	relations []int    // places in stmt.Relations
	exposed   []string // the names of other sources
	// columns is how many sources have some. What nodes() returns has one, whose
	// methods are the only use of it.
	columns int
}

// newFacts returns the facts of a statement before anything was read.
func newFacts() facts {
	return facts{outputs: true, scopes: append(make([]scope, 0, 4), scope{outer: -1})}
}

// within makes a scope the current one until the returned function is called.
func (f *facts) within(scope int) (leave func()) {
	outer := f.scope
	f.scope = scope
	return func() { f.scope = outer }
}

// current returns the scope that is read.
func (f *facts) current() *scope { return &f.scopes[f.scope] }

// methodCall is a call x.m() or y.x.m() that is a method if x is a column, and
// a function of the schema x otherwise. table is y, which then is a table.
type methodCall struct {
	call, scope   int
	schema, table string
}

func (f *facts) effect(code sqlguard.Code, at sqlguard.Span, message string) {
	f.stmt.Effects = append(f.stmt.Effects, sqlguard.Finding{Code: code, Span: at, Message: message, Path: f.path})
}

// spanOf returns the place of a token.
func spanOf(t token) sqlguard.Span { return sqlguard.Span{Start: t.start, End: t.end} }

// here returns the place of the current token.
func (p *parser) here() sqlguard.Span { return spanOf(p.tok) }

// since returns the place from start to the end of the last token read.
func (p *parser) since(start int) sqlguard.Span {
	end := start
	if p.at > 0 && p.at <= len(p.toks) {
		end = p.toks[p.at-1].end
	}
	return sqlguard.Span{Start: start, End: max(start, end)}
}

// column states that the statement mentions a column.
func (f *facts) column(n *name) {
	ref := sqlguard.ColumnRef{Qualifier: n.qualifier(1), Name: n.last().text, Span: n.at}
	switch {
	case n.star:
		ref.Qualifier, ref.Name, ref.Star = n.qualifier(0), "", true
	case !n.last().quoted && unnamedColumns[lexical.Lower(n.last().text)]:
		ref.Name, ref.Star = "", true
	}
	if f.stmt.ColumnRefs == nil {
		f.stmt.ColumnRefs = make([]sqlguard.ColumnRef, 0, 16)
	}
	f.stmt.ColumnRefs = append(f.stmt.ColumnRefs, ref)
}

// unnamedColumns are words that represent a column with another name.
var unnamedColumns = map[string]bool{"$identity": true, "$rowguid": true, "identitycol": true, "rowguidcol": true}

// allColumns states that the statement reads, or may read, columns that it
// does not name.
func (f *facts) allColumns(at sqlguard.Span) {
	f.stmt.ColumnRefs = append(f.stmt.ColumnRefs, sqlguard.ColumnRef{Star: true, Span: at})
}

// source states that the statement reads a table, unless the name belongs to
// WITH. It returns the index in the list, or -1.
func (f *facts) source(n *name) int {
	if n.n == 1 && !n.dotted && f.ctes != nil {
		// Names that differ in case are one only under some collations.
		if written, ok := f.ctes[lexical.Lower(n.parts[0].text)]; ok && written == n.parts[0].text {
			f.expose(written, true)
			return -1
		}
	}
	return f.relation(n, sqlguard.AccessRead)
}

// relation states that the statement reads or writes a table whose name does not
// belong to WITH. It returns the index in the list.
func (f *facts) relation(n *name, access sqlguard.Access) int {
	r := sqlguard.Relation{Name: n.last().text, Access: access, Span: n.at}
	if n.n > 1 {
		r.Schema = n.parts[n.n-2].text
	}
	if n.n > 2 {
		r.Database = n.parts[n.n-3].text
	}
	r.Ruling, r.System = ruleRelation(n)
	if r.System && r.Schema == "" && compatibilityViews[skeleton(r.Name)] != unknownView {
		r.Schema = "sys" // where the server finds it
	}
	if r.System && inEveryDatabase(&r) {
		r.Database = "" // the database does not change what it shows
	} else if r.System {
		inServerDatabase(&r)
	}
	f.stmt.Relations = append(f.stmt.Relations, r)
	at := len(f.stmt.Relations) - 1
	s := f.current()
	s.relations = append(s.relations, at)
	s.columns++
	return at
}

// inEveryDatabase reports whether a relation of the server shows the same wherever the
// statement runs: history of msdb, and views of the server read in master.
func inEveryDatabase(r *sqlguard.Relation) bool {
	name, schema := lexical.Lower(r.Name), lexical.Lower(r.Schema)
	switch lexical.Lower(r.Database) {
	case "msdb":
		return schema == "dbo" && revealedHistory[name] != ""
	case "master":
		return schema == "sys" && sameEverywhere(name)
	default:
		return false
	}
}

// aliased states the alias of a relation, or of a source that is not a relation.
func (f *facts) aliased(relation int, alias string) {
	if relation >= 0 {
		f.stmt.Relations[relation].Alias = alias
		return
	}
	f.expose(alias, false)
}

// call states a call of a function by a name of one or more parts.
func (f *facts) call(n *name, fn *function) {
	c := sqlguard.Call{Name: n.last().text, Notation: sqlguard.NotationCall, Span: n.at}
	if fn != nil {
		c.Name, c.Builtin, c.Ruling = fn.name, true, fn.ruling()
	}
	if n.n > 1 {
		c.Schema = strings.Join(n.qualifier(1), ".")
		if lexical.Lower(n.parts[n.n-2].text) != "sys" {
			c.Ruling.Reveal = "" // it could be a function of a user
		}
	}
	if fn == nil {
		c.Ruling, c.Builtin = ruleUnknown(n)
	}
	f.stmt.Calls = append(f.stmt.Calls, c)
}

// builtin states a call of a function of the server's own.
func (f *facts) builtin(fn *function, at sqlguard.Span) {
	f.stmt.Calls = append(f.stmt.Calls, sqlguard.Call{
		Name: fn.name, Notation: sqlguard.NotationCall, Span: at, Builtin: true, Ruling: fn.ruling(),
	})
}

// expose states the alias of a source of FROM that is no relation. rows says
// that its columns have names which the text can use.
func (f *facts) expose(alias string, rows bool) {
	s := f.current()
	s.exposed = append(s.exposed, alias)
	if rows {
		s.columns++
	}
}

// columns reports whether a query can name columns: of its own sources, or of
// those of the queries around it.
func (f *facts) columns(scope int) bool {
	for ; scope >= 0; scope = f.scopes[scope].outer {
		if f.scopes[scope].columns > 0 {
			return true
		}
	}
	return false
}

// exposes reports whether a source that a query can name has this name.
func (f *facts) exposes(scope int, source string) bool {
	folded := skeleton(source)
	for ; scope >= 0; scope = f.scopes[scope].outer {
		for _, at := range f.scopes[scope].relations {
			if r := &f.stmt.Relations[at]; skeleton(r.Name) == folded || r.Alias != "" && skeleton(r.Alias) == folded {
				return true
			}
		}
		for _, alias := range f.scopes[scope].exposed {
			if skeleton(alias) == folded {
				return true
			}
		}
	}
	return false
}

// finish decides what could not be decided when it was read: x.m() is a method of
// the column x, unless x is a schema of the statement's own relations, no source
// in scope has columns, or the table before x is not one of these sources.
func (f *facts) finish() {
	f.readSettings()
	if len(f.methods) == 0 {
		return
	}
	schemas := make(map[string]bool)
	for _, r := range f.stmt.Relations {
		if r.Schema != "" {
			schemas[skeleton(r.Schema)] = true
		}
	}
	for _, m := range f.methods {
		c := &f.stmt.Calls[m.call]
		var reason string
		switch {
		case !c.Ruling.Allowed: // refused as a method already
			continue
		case schemas[skeleton(m.schema)]:
			reason = "the name before it is a schema here, so it is a user-defined function"
		case m.table != "" && !f.exposes(m.scope, m.table):
			reason = "no table of the query has the name before it, so it is a user-defined function"
		case m.table == "" && !f.columns(m.scope):
			reason = "no table of the query has columns, so it is a user-defined function"
		default:
			continue
		}
		c.Ruling = sqlguard.Ruling{Reason: reason}
		c.Schema, c.Builtin, c.Notation = m.schema, false, sqlguard.NotationCall
	}
	f.methods = f.methods[:0]
}
