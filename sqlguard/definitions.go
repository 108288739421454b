package sqlguard

import (
	"fmt"
	"slices"
	"strings"
)

// A sourceDialect is a Dialect that knows which columns of the server's own relations
// hold the source text of views, routines and triggers. Passwords stand in such texts.
type sourceDialect interface {
	// SourceColumns returns the columns of a system relation that hold source text.
	SourceColumns(schema, name string) []string
}

// A secretDialect is a Dialect that knows which columns of the server's own relations
// prove an identity. No group admits them.
type secretDialect interface {
	// SecretColumns returns such columns of a system relation.
	SecretColumns(schema, name string) []string
}

// A valueDialect is a Dialect that knows which columns of the server's own relations
// show values from rows of tables, such as the key of a partition. A policy with rules on
// schemas, tables or columns refuses them, because no rule knows whose values they are.
type valueDialect interface {
	// ValueColumns returns such columns of a system relation.
	ValueColumns(schema, name string) []string
}

// judgeSource refuses the columns of system relations that hold the source text of
// views, routines and triggers, those that prove an identity, and under rules of access
// those that show values of rows: by name, in * and in whole rows.
func (g *Guard) judgeSource(s *Statement, sql string, tokens []Token, v *Verdict) {
	columnsAt := "a view's columns are in information_schema.columns"
	if d, ok := g.dialect.(interface{ SourceHint() string }); ok {
		columnsAt = d.SourceHint()
	}
	for i := range s.Relations {
		r := &s.Relations[i]
		if !r.System || !r.Ruling.Allowed && !g.policy.reveals(r.Ruling.Reveal, r.Ruling.Samples) {
			continue
		}
		of := qualified(r.Schema, r.Name)
		if g.source != nil && !g.policy.reveals(GroupDefinitions, false) {
			for _, column := range g.source.SourceColumns(r.Schema, r.Name) {
				g.refuseSystemColumn(s, i, column, sql, tokens, v, Finding{
					Code: CodeColumnNotAllowed, Reveal: GroupDefinitions,
					Message: fmt.Sprintf("column %s of %s holds source text of views, routines or triggers, in which passwords can stand", column, of),
					Hint:    fmt.Sprintf("name the columns that you need, without %s; %s", column, columnsAt),
				})
			}
		}
		if g.secret != nil {
			for _, column := range g.secret.SecretColumns(r.Schema, r.Name) {
				g.refuseSystemColumn(s, i, column, sql, tokens, v, Finding{
					Code:    CodeCredentialRelation,
					Message: fmt.Sprintf("column %s of %s holds passwords or their hashes", column, of),
					Hint:    fmt.Sprintf("name the columns that you need, without %s", column),
				})
			}
		}
		if g.values != nil && g.policy.rules() {
			for _, column := range g.values.ValueColumns(r.Schema, r.Name) {
				if g.refuseSystemColumn(s, i, column, sql, tokens, v, Finding{
					Code:    CodeColumnNotAllowed,
					Message: fmt.Sprintf("column %s of %s shows values from rows of tables, and this connection has rules of access", column, of),
					Hint:    fmt.Sprintf("name the columns that you need, without %s, and in a join with the table before each name", column),
				}) {
					break // a * is a mention of each of them
				}
			}
		}
	}
}

// refuseSystemColumn adds a finding for the first mention of a column of a relation, and
// reports whether there is one.
func (g *Guard) refuseSystemColumn(s *Statement, at int, column, sql string, tokens []Token, v *Verdict, f Finding) bool {
	r := &s.Relations[at]
	var others []*Relation
	for n := range s.Relations {
		if n != at {
			others = append(others, &s.Relations[n])
		}
	}
	for n := range s.ColumnRefs {
		ref := &s.ColumnRefs[n]
		if !mentions(ref, column, []*Relation{r}, others, g) || starElsewhere(ref, r, sql, tokens) {
			continue
		}
		if g.traits.flat && !ref.Star && !g.traits.same(ref.Name, column) {
			continue // such a server has no whole rows: mysql.user has a column user
		}
		f.Span, f.Object = ref.Span, qualified(r.Schema, r.Name)+"."+column
		v.Findings = append(v.Findings, f)
		return true
	}
	return false
}

// judgeShown refuses statements that show the source text of a relation that is or may be
// a view. Without a server, every relation may be one.
func (g *Guard) judgeShown(s *Statement, v *Verdict) {
	if g.policy.reveals(GroupDefinitions, false) {
		return
	}
	for i := range s.Relations {
		r := &s.Relations[i]
		if !r.Source || r.System || !g.mayBeView(r) {
			continue
		}
		code := CodeStatementNotAllowed
		if !g.knows {
			code = CodeUnresolvedObject // a server may tell that it is a table
		}
		v.Findings = append(v.Findings, Finding{
			Code: code, Reveal: GroupDefinitions, Span: r.Span, Object: qualified(r.Schema, r.Name),
			Message: fmt.Sprintf("%s is or may be a view, and this statement shows the source text of a view, in which passwords can stand", qualified(r.Schema, r.Name)),
			Hint:    "SHOW COLUMNS FROM name shows the columns of a view",
		})
	}
}

// judgePlanned refuses, under rules of access, the plan of a query over a relation that is or
// may be a view, where plans show values of rows. The view may read what no rule permits.
// With the objects of the database, rules that deny hold for what a view reads.
func (g *Guard) judgePlanned(s *Statement, v *Verdict) {
	p := &g.policy
	if !s.Plan || !p.rules() || g.objects != nil && len(p.Schemas.Allow)+len(p.Tables.Allow) == 0 {
		return
	}
	for i := range s.Relations {
		r := &s.Relations[i]
		if r.System || !g.mayBeView(r) {
			continue
		}
		code := CodeRelationNotAllowed
		if !g.knows {
			code = CodeUnresolvedObject // a server may tell that it is a table
		}
		v.Findings = append(v.Findings, Finding{
			Code: code, Span: r.Span, Object: qualified(r.Schema, r.Name),
			Message: fmt.Sprintf("%s is or may be a view, whose plan shows values that it reads, and this connection has rules of access", qualified(r.Schema, r.Name)),
			Hint:    "run the statement without EXPLAIN, or explain a statement on tables",
		})
	}
}

// mayBeView reports whether a relation is a view, or could be one for all that the server
// told.
func (g *Guard) mayBeView(r *Relation) bool {
	if !g.knows {
		return true
	}
	if g.objects != nil {
		i, ok := g.objects.relation(nil, r.Schema, r.Name)
		return !ok || g.objects.Relations[i].Kind == RelationView
	}
	return g.catalog.Views == nil || slices.ContainsFunc(g.catalog.Views, func(view CatalogName) bool {
		return g.couldBe(r, view.Schema, view.Name)
	})
}

// starElsewhere reports whether a mention is a * in another query than the relation: it
// shows the columns of the FROM of its own query only. t.* can also name a relation of
// an outer query. A dialect may not say where a * stands. Then no * may stand in a query
// that has the relation's name, and no TABLE or NATURAL anywhere.
func starElsewhere(ref *ColumnRef, r *Relation, sql string, tokens []Token) bool {
	if !ref.Star || len(ref.Qualifier) > 0 {
		return false
	}
	if ref.Span != (Span{}) {
		return sql[ref.Span.Start:ref.Span.End] == "*" && queryAt(sql, tokens, ref.Span.Start) != queryAt(sql, tokens, r.Span.Start)
	}
	stars, names := map[int]bool{}, map[int]bool{}
	for i := range tokens {
		switch text := strings.ToLower(strings.Trim(tokens[i].Text(sql), "`\"")); {
		case text == "*":
			stars[queryAt(sql, tokens, tokens[i].Start)] = true
		case text == "table", text == "natural":
			return false
		case text == strings.ToLower(r.Name):
			names[queryAt(sql, tokens, tokens[i].Start)] = true
		}
	}
	for at := range names {
		if stars[at] {
			return false
		}
	}
	return len(names) > 0 && len(stars) > 0
}

// queryAt returns where the innermost query in brackets begins that contains an offset,
// or -1.
func queryAt(sql string, tokens []Token, offset int) int {
	var open []int // the offset of each open bracket, or -1 for one that begins no query
	for i := range tokens {
		t := &tokens[i]
		if t.Start >= offset {
			break
		}
		switch t.Text(sql) {
		case "(":
			at := -1
			next := i + 1
			for next < len(tokens) && tokens[next].Kind == TokenComment {
				next++
			}
			if next < len(tokens) && slices.Contains([]string{"select", "with", "values", "table", "from"}, strings.ToLower(tokens[next].Text(sql))) {
				at = t.Start
			}
			open = append(open, at)
		case ")":
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	for _, at := range slices.Backward(open) {
		if at >= 0 {
			return at
		}
	}
	return -1
}
