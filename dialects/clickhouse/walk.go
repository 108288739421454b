package clickhouse

import (
	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// facts is what the parser has read of a statement so far. There is no tree to walk: a
// production calls the methods here as soon as it has read a name, a call or a refused
// construct.
type facts struct {
	stmt sqlguard.Statement
	// ctes are the names of WITH that are visible here.
	ctes map[string]bool
	// lambdas are the names of WITH for lambdas that are visible here.
	lambdas map[string]bool
	// member is the name of the member of WITH RECURSIVE that is read next.
	member string
	// stands has the names that aliases of WITH stand for.
	stands map[string][]name
	// inner is the number of queries around the current place.
	inner int
	path  string // leads to the common table expression that is read
}

func (f *facts) effect(code sqlguard.Code, at sqlguard.Span, message string) {
	f.stmt.Effects = append(f.stmt.Effects, sqlguard.Finding{Code: code, Span: at, Message: message, Path: f.path})
}

// refuseConstruct states a construct that no policy permits.
func (f *facts) refuseConstruct(construct string, at sqlguard.Span) {
	rule := constructs[construct]
	f.effect(rule.code, at, rule.does)
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

// column states that the statement mentions a column. Any part of a name can be the
// column: t.c, c.element and d.t.c look alike. So do the parts of a quoted name: `c.size` is
// a part of the column c too.
func (f *facts) column(n *name) {
	if last := n.last(); partitionColumns[lexical.Lower(last)] { // it can show any column of the table
		f.columns(n.parts[:len(n.parts)-1:len(n.parts)-1], n.at)
	}
	for i, part := range n.parts {
		for at := range len(part) {
			if part[at] == '.' {
				f.stmt.ColumnRefs = append(f.stmt.ColumnRefs, sqlguard.ColumnRef{Qualifier: n.parts[:i:i], Name: part[:at], Span: n.at, Element: true})
			}
		}
		f.stmt.ColumnRefs = append(f.stmt.ColumnRefs, sqlguard.ColumnRef{Qualifier: n.parts[:i:i], Name: part, Span: n.at, Element: i < len(n.parts)-1})
	}
}

// columns states that the statement reads, or may read, all columns of the relation that
// the qualifier names, or of every one.
func (f *facts) columns(qualifier []string, at sqlguard.Span) {
	f.stmt.ColumnRefs = append(f.stmt.ColumnRefs, sqlguard.ColumnRef{Qualifier: qualifier, Star: true, Span: at})
}

// source states that the statement reads a table, unless the name belongs to WITH. It
// returns the index in the list, or -1.
func (f *facts) source(n *name) int {
	if meant := f.stands[n.parts[0]]; len(n.parts) == 1 && meant != nil {
		delete(f.stands, n.parts[0]) // an alias of itself stands for nothing more
		for i := range meant {
			f.source(&meant[i])
		}
		f.stands[n.parts[0]] = meant
	}
	if len(n.parts) == 1 && f.ctes[n.parts[0]] {
		return -1
	}
	return f.relation(n, sqlguard.AccessRead)
}

// relation states that the statement reads or writes a table. It returns the index in the
// list.
func (f *facts) relation(n *name, access sqlguard.Access) int {
	r := sqlguard.Relation{Name: n.last(), Access: access, Span: n.at}
	if len(n.parts) > 1 {
		r.Schema = n.parts[len(n.parts)-2]
	}
	r.Ruling, r.System = ruleRelation(r.Schema, r.Name)
	f.stmt.Relations = append(f.stmt.Relations, r)
	return len(f.stmt.Relations) - 1
}

// aliased states the alias of a relation.
func (f *facts) aliased(relation int, alias string) {
	if relation >= 0 {
		f.stmt.Relations[relation].Alias = alias
	}
}

// call states a call of a function.
func (f *facts) call(function string, at sqlguard.Span) {
	c := sqlguard.Call{Notation: sqlguard.NotationCall, Span: at}
	c.Name, c.Ruling, c.Builtin = ruleFunction(function)
	f.stmt.Calls = append(f.stmt.Calls, c)
}

// tableCall states a call of a table function.
func (f *facts) tableCall(function string, at sqlguard.Span) {
	f.stmt.Calls = append(f.stmt.Calls, sqlguard.Call{
		Name: function, Notation: sqlguard.NotationCall, Span: at, Builtin: true, Ruling: ruleTableFunction(function),
	})
}

// output states a name that the statement shows, if it is that of its own list.
func (f *facts) output(name string) {
	if f.inner == 1 && name != "" {
		f.stmt.Columns = append(f.stmt.Columns, name)
	}
}

func joinPath(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}
