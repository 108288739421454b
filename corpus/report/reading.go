package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// treeDialect is a dialect whose parser has a syntax tree to show.
type treeDialect interface {
	// Tree returns the syntax tree of each statement of a text that Analyze
	// accepts.
	Tree(sql string) ([]sqlguard.Node, error)
}

// Read asks a guard about a text, and the dialect for what it read.
func Read(g *sqlguard.Guard, sql string) Reading { return ReadAs(g.Dialect(), g.Check(sql), sql) }

// ReadAs adds to a verdict the syntax tree of the text, or the facts that the guard
// judged if the dialect has no tree. There is neither for a text that the guard did not
// pass to the parser, or that does not parse.
func ReadAs(dialect sqlguard.Dialect, v sqlguard.Verdict, sql string) Reading {
	r := Reading{Verdict: v}
	if v.Statements == 0 {
		return r // a deeply nested text can crash a parser
	}
	if d, ok := dialect.(treeDialect); ok {
		if nodes, err := d.Tree(sql); err == nil {
			r.Nodes = nodes
			return r
		}
	}
	if statements, err := dialect.Analyze(sql); err == nil {
		r.Nodes, r.Facts = facts(statements), true
	}
	return r
}

// facts returns the facts about statements as a tree.
func facts(statements []sqlguard.Statement) []sqlguard.Node {
	nodes := make([]sqlguard.Node, len(statements))
	for i := range statements {
		s := &statements[i]
		n := &nodes[i]
		*n = sqlguard.Node{Kind: "statement", Text: cmp.Or(string(s.Verb), "unknown"), Span: s.Span}
		add := func(kind, text string, span sqlguard.Span) {
			n.Children = append(n.Children, sqlguard.Node{Kind: kind, Text: text, Span: span})
		}
		for _, f := range s.Effects {
			add("effect", cmp.Or(f.Object, f.Message), f.Span)
		}
		for _, r := range s.Relations {
			add("relation", dotted(r.Database, r.Schema, r.Name)+" ("+string(r.Access)+")", r.Span)
		}
		for _, c := range s.Calls {
			add("call", dotted(c.Schema, c.Name), c.Span)
		}
		for _, t := range s.Types {
			add("type", dotted(t.Schema, t.Name), t.Span)
		}
		for _, r := range s.Settings {
			add("setting", cmp.Or(r.Name, "computed"), r.Span)
		}
		for _, c := range s.ColumnRefs {
			name := c.Name
			if c.Star {
				name = "*"
			}
			add("column", dotted(append(slices.Clone(c.Qualifier), name)...), c.Span)
		}
		slices.SortStableFunc(n.Children, func(a, b sqlguard.Node) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	}
	return nodes
}

func dotted(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ".")
}

// nodeView is a node as the page shows it.
type nodeView struct {
	Role, Kind, Text string
	Codes            []string // of the findings that are about it
	Children         []nodeView
	More             int // nodes below that are left out
}

// The limits of what is shown of a tree.
const (
	maxNodes = 300
	maxDepth = 60
)

// trees returns views of the nodes, with each finding at the node that it is
// about.
func trees(nodes []sqlguard.Node, findings []sqlguard.Finding) []nodeView {
	marks := map[*sqlguard.Node][]string{}
	for _, f := range findings {
		if n := offending(nodes, f, marks); n != nil && !slices.Contains(marks[n], line(string(f.Code))) {
			marks[n] = append(marks[n], line(string(f.Code)))
		}
	}
	left := maxNodes
	var view func(n *sqlguard.Node, depth int) nodeView
	list := func(nodes []sqlguard.Node, depth int) (out []nodeView, more int) {
		for i := range nodes {
			if left <= 0 || depth > maxDepth {
				more += size(nodes[i:])
				break
			}
			left--
			out = append(out, view(&nodes[i], depth))
		}
		return out, more
	}
	view = func(n *sqlguard.Node, depth int) nodeView {
		v := nodeView{Role: line(n.Role), Kind: line(n.Kind), Text: short(n.Text, 80), Codes: marks[n]}
		v.Children, v.More = list(n.Children, depth+1)
		return v
	}
	out, _ := list(nodes, 0)
	return out
}

func size(nodes []sqlguard.Node) int {
	n := len(nodes)
	for i := range nodes {
		n += size(nodes[i].Children)
	}
	return n
}

// parts are words in the node names of parsers, by the code of the findings
// about such nodes.
var parts = map[sqlguard.Code][]string{
	sqlguard.CodeLockingClause:       {"Lock"},
	sqlguard.CodeSelectInto:          {"Into"},
	sqlguard.CodeParameterNotAllowed: {"Param"},
}

// offending returns the node that a finding is about, or nil. It prefers the
// node at the position of the finding. Then it takes a node with the name of
// the finding's object, or of a kind that fits the code. Else it takes the
// smallest node around the finding. taken has the nodes of other findings: a
// node without a position is used once.
func offending(nodes []sqlguard.Node, f sqlguard.Finding, taken map[*sqlguard.Node][]string) *sqlguard.Node {
	var best *sqlguard.Node
	score := 0 // higher is better
	var visit func(nodes []sqlguard.Node)
	visit = func(nodes []sqlguard.Node) {
		for i := range nodes {
			n := &nodes[i]
			s := closeness(n, f)
			if (n.Span == sqlguard.Span{}) && len(taken[n]) > 0 {
				s /= 2
			}
			// Of equally close nodes, take the innermost. Of those without a
			// position, take the first.
			if s > score || s == score && s > 0 && n.Span != (sqlguard.Span{}) {
				best, score = n, s
			}
			visit(n.Children)
		}
	}
	visit(nodes)
	return best
}

// closeness rates how well a node fits a finding. 0 means not at all.
func closeness(n *sqlguard.Node, f sqlguard.Finding) int {
	const (
		around = 1 << 20 // contains the finding; minus its length
		meant  = 2 << 20 // has the name or the kind that the finding is about
		within = 4 << 20 // begins with the finding and ends inside of it
		exact  = 8 << 20
	)
	var (
		placed = n.Span != sqlguard.Span{}
		covers = placed && n.Span.Start <= f.Span.Start && n.Span.End >= f.Span.End
		length = min(n.Span.End-n.Span.Start, around-1)
		named  = f.Object != "" && names(n.Text, f.Object) ||
			slices.ContainsFunc(parts[f.Code], func(word string) bool { return strings.Contains(n.Kind, word) })
	)
	switch {
	case placed && n.Span == f.Span:
		return exact
	case placed && n.Span.Start == f.Span.Start && n.Span.End <= f.Span.End:
		return within - around + length
	case named && (covers || !placed):
		return meant + around - length
	case covers:
		return around - length
	default:
		return 0
	}
}

// names reports whether the text of a node is the name of an object, or ends
// with it.
func names(text, object string) bool {
	if strings.EqualFold(text, object) {
		return true
	}
	text, _, _ = strings.Cut(text, " ")
	text, object = text[strings.LastIndexByte(text, '.')+1:], object[strings.LastIndexByte(object, '.')+1:]
	return text != "" && strings.EqualFold(text, object)
}
