package sqlguard

import (
	"fmt"
	"strings"
)

// nodeKind says what a node is.
type nodeKind uint8

const (
	nodeFunction nodeKind = iota
	nodeView
	nodeType
	nodeRow  // the row of a relation, as a type
	nodeRead // the code that a read of a relation runs and the SQL does not name
)

// node is an object of the catalogue on which SQL depends.
type node struct {
	kind   nodeKind
	index  int
	stored bool // see inquiry
	behind bool // see inquiry
}

// localVerdict is the verdict on the SQL of one object, without the objects on which it
// depends.
type localVerdict struct {
	code   Code // "" when nothing in its own SQL refuses it
	reason string
	needs  []need
}

// maxBehind bounds the number of objects of the catalogue on which one statement may
// depend.
const maxBehind = 20_000

// settle judges the needs of the SQL. A need holds when the SQL of every object that is
// reachable from it passes. Objects may depend on each other in cycles; the set of
// reachable objects is finite.
func (q *inquiry) settle() {
	for _, n := range q.needs {
		if len(q.v.Findings) >= maxFindings {
			return
		}
		code, why := q.g.objects.holds(q.g, n.node)
		if why == "" {
			continue
		}
		f := n.finding
		if f.Code == "" {
			f.Code = code
		}
		f.Message += ": " + why
		if f.Hint == "" && n.node.kind == nodeView {
			f.Hint = "read the tables behind the view, and leave out what is refused there"
		}
		q.refuse(f)
	}
}

// holds walks the objects that a node depends on. It returns the first reason to
// refuse one of them, with the path to it, or "".
func (o *objects) holds(g *Guard, root node) (Code, string) {
	type step struct {
		node node
		from int
		says string
	}
	steps := []step{{node: root, from: -1}}
	reached := map[node]bool{root: true}
	way := func(at int, reason string) string {
		var parts []string
		for ; at > 0; at = steps[at].from {
			parts = append([]string{steps[at].says}, parts...)
		}
		const shown = 4
		if len(parts) > shown {
			parts = append(append(parts[:2:2], "…"), parts[len(parts)-1])
		}
		return strings.Join(append(parts, reason), ": ")
	}
	for at := 0; at < len(steps); at++ {
		local := o.judged(g, steps[at].node)
		if local.code != "" {
			return local.code, way(at, local.reason)
		}
		for _, n := range local.needs {
			if reached[n.node] {
				continue
			}
			if len(steps) >= maxBehind {
				return CodeInputTooLarge, fmt.Sprintf("it depends on more than %d objects of the database", maxBehind)
			}
			reached[n.node] = true
			steps = append(steps, step{n.node, at, n.finding.Message})
		}
	}
	return "", ""
}

// judged returns the local verdict on a node. The verdict depends only on the guard,
// so it is computed once.
func (o *objects) judged(g *Guard, n node) *localVerdict {
	o.mu.Lock()
	known := o.local[n]
	o.mu.Unlock()
	if known != nil {
		return known
	}
	var v Verdict
	q := inquiry{g: g, objects: o, v: &v, inside: true, stored: n.stored, behind: n.behind, home: o.homeOf(n)}
	q.node(n)
	local := &localVerdict{needs: q.needs}
	if len(v.Findings) > 0 {
		local = &localVerdict{code: v.Findings[0].Code, reason: v.Findings[0].Message}
	}
	o.mu.Lock()
	o.local[n] = local
	o.mu.Unlock()
	return local
}

// homeOf returns the schemas in which the server looks up names without a schema in the
// source of an object, or nil when that is the session's search path.
func (o *objects) homeOf(n node) []string {
	switch {
	case o.home == nil:
		return nil
	case n.kind == nodeFunction:
		return o.home(o.Functions[n.index].Schema)
	case n.kind == nodeView:
		return o.home(o.Relations[n.index].Schema)
	default:
		return nil
	}
}

func (q *inquiry) node(n node) {
	o := q.objects
	switch n.kind {
	case nodeFunction:
		q.provenFunction(&o.Functions[n.index])
	case nodeView:
		if r := &o.Relations[n.index]; r.Definition == "" {
			q.against(CodeRelationNotAllowed, "its definition is not known")
		} else {
			q.text(r.Definition, PartQuery)
		}
	case nodeType:
		q.provenType(&o.Types[n.index])
	case nodeRead:
		q.parts(n.index)
	case nodeRow:
		for _, c := range o.Relations[n.index].Columns {
			q.typeNamed(c.Type)
		}
	}
}

// against refuses the object that is being judged.
func (q *inquiry) against(code Code, reason string) {
	q.refuse(Finding{Code: code, Message: reason})
}

// provenFunction judges the catalogue's entry of a function that a policy allows by
// name.
func (q *inquiry) provenFunction(f *CatalogFunction) {
	if q.stored {
		q.storedFunction(f)
		return
	}
	refuse := func(reason string) { q.against(CodeFunctionNotAllowed, reason) }
	for _, t := range f.Arguments {
		q.typeNamed(t)
	}
	for _, t := range f.Results {
		q.typeNamed(t)
	}
	if q.objects.constructor(f) {
		q.typeNamed(f.CatalogName)
		return
	}
	switch {
	case f.SecurityDefiner && !q.behind:
		refuse("it runs with the rights of its owner (SECURITY DEFINER)")
	case f.Kind != FunctionProcedure && q.trusts(f):
		// The operator vouches for what it runs.
	case len(f.Settings) > 0:
		refuse("it changes settings of the session while it runs")
	case f.Volatility != VolatilityStable && f.Volatility != VolatilityImmutable && (!q.behind || f.Language != "sql"):
		refuse("it is declared VOLATILE, so that it may have effects")
	case f.Kind == FunctionAggregate:
		if len(f.Runs) == 0 {
			refuse("the functions that the aggregate calls are not known")
		}
		for _, run := range f.Runs {
			q.functionRef(run, nil, Finding{Code: CodeFunctionNotAllowed, Message: "the aggregate runs " + run.String()})
		}
	case f.Kind != FunctionPlain:
		refuse(fmt.Sprintf("nothing can be proved of a function of kind %s", f.Kind))
	case f.Language != "sql":
		refuse(fmt.Sprintf("it is written in %s; only functions in SQL can be proved, and the operator does not vouch for this one", f.Language))
	case f.Body == "":
		refuse("its body is not known")
	default:
		q.body, q.values, q.returns = true, f.Arguments, f.Results
		q.text(f.Body, PartBody)
	}
	switch {
	case f.Defaults == 0:
	case f.DefaultValues == "":
		refuse("the default values of its arguments are not known")
	default:
		q.text(f.DefaultValues, PartExpression)
	}
}

// storedFunction judges what a function reads when its results were stored.
func (q *inquiry) storedFunction(f *CatalogFunction) {
	switch {
	case f.Kind == FunctionAggregate:
		for _, run := range f.Runs {
			for _, i := range q.objects.functions[run.Name] {
				if q.objects.Functions[i].Schema == run.Schema {
					q.require(node{kind: nodeFunction, index: i, stored: true}, Finding{Code: CodeRelationNotAllowed, Message: "the aggregate runs " + run.String()})
				}
			}
		}
	case f.Language == "sql" && f.Body != "":
		q.values = f.Arguments
		q.text(f.Body, PartBody)
	default:
		q.against(CodeRelationNotAllowed, fmt.Sprintf("a function in %s may have read what this connection's policy denies", f.Language))
	}
}

// text judges SQL from the catalogue. It may be as long as the largest statement that
// any policy can permit.
func (q *inquiry) text(text string, part Part) {
	limits := q.g.limits
	limits.Bytes = max(limits.Bytes, CeilingMaxBytes)
	if _, ok := q.g.screenWithin(text, nil, q.v, limits); !ok {
		return
	}
	statements, err := q.objects.dialect.AnalyzeObjects(text, part, q.objects)
	switch {
	case err != nil:
		q.against(CodeParseError, "its definition cannot be parsed")
		return
	case len(statements) != 1 && part != PartBody:
		q.against(CodeParseError, "its definition is not exactly one statement")
		return
	}
	for i := range statements {
		q.judge(&statements[i])
	}
}
