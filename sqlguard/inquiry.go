package sqlguard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// inquiry judges one piece of SQL with the objects of a catalogue. The SQL is the
// client's statement, or SQL from the catalogue, such as the body of a function. When
// the verdict depends on other objects of the catalogue, it notes them as needs, which
// [inquiry.settle] judges.
type inquiry struct {
	g       *Guard
	objects *objects
	v       *Verdict
	listed  seen
	// inside says that the SQL is part of the catalogue. Lists of allowed relations
	// do not apply to it: they cover only the relations that a statement itself names.
	inside bool
	// stored says that the SQL does not run, because its rows are stored. Only rules
	// that deny apply.
	stored bool
	// behind says that the SQL belongs to a relation and runs on every read of it.
	// A statement does not see its rows, so no rule on names applies. Every
	// function that it runs must be proved.
	behind bool
	// home are the schemas in which names without a schema are looked up; nil means
	// the session's search path.
	home []string
	// body says that the SQL is a function's body. values and returns are the types
	// of its arguments and of its result.
	body            bool
	values, returns []CatalogName

	// statement is the statement being judged. made is the set of types whose values
	// may occur in it; it is nil until it is computed.
	statement *Statement
	made      *produced
	mentioned *mentioned
	meant     *targets

	needs  []need
	noted  map[node]bool
	nearby int // number of names for which similar names were searched
}

// need is an object of the catalogue that must pass for this SQL to pass.
type need struct {
	node node
	// finding is reported when the object does not pass. The path to the object is
	// appended to its message. If its code is empty, the code of the reason is used.
	finding Finding
}

func (q *inquiry) refuse(f Finding) { q.v.Findings = append(q.v.Findings, f) }

// require notes a need, each need once.
func (q *inquiry) require(n node, f Finding) {
	n.behind = n.behind || q.behind
	if q.noted[n] {
		return
	}
	if q.noted == nil {
		q.noted = make(map[node]bool)
	}
	q.noted[n] = true
	q.needs = append(q.needs, need{n, f})
}

// judge turns the facts of one statement into findings and needs.
func (q *inquiry) judge(s *Statement) {
	q.statement, q.made, q.mentioned, q.meant = s, nil, nil, nil
	q.g.reveal(s)
	if !q.stored {
		q.g.judgeKind(s, q.v)
		for i := range s.Calls {
			q.call(&s.Calls[i])
		}
		for i := range s.Types {
			q.typeName(&s.Types[i])
		}
		if !q.behind {
			for i := range s.Settings {
				q.g.judgeSetting(&s.Settings[i], q.v)
			}
		}
	} else {
		for i := range s.Calls {
			q.storedCall(&s.Calls[i])
		}
	}
	for i := range s.Relations {
		q.relation(&s.Relations[i])
	}
	if q.g.traits.flat && !q.inside {
		q.g.judgeQualifiers(s, q.v)
	}
	if len(q.g.columns) > 0 && !q.behind {
		q.columns(s)
	}
	if !q.stored {
		q.coercions(s)
		q.orders(s)
	}
	q.v.Columns = append(q.v.Columns, s.Columns...)
}

func (q *inquiry) list(name string) {
	if q.listed.functions.add(name) {
		q.v.Functions = append(q.v.Functions, name)
	}
}

// maxSearched is the number of findings after which the guard stops looking for more
// meanings of calls.
const maxSearched = 10 * maxFindings

// call judges everything that a call could mean: functions of the server, by the
// dialect's tables, and all functions and types of the catalogue with that name.
func (q *inquiry) call(c *Call) {
	g := q.g
	if len(q.v.Findings) > maxSearched {
		return // refused; a name may have many overloads
	}
	if c.Notation != NotationOperator && g.denies(c) {
		q.refuse(callFinding(c, CodeFunctionNotAllowed, "denied by this connection's policy"))
		return
	}
	if f, opens := g.opensFile(c); opens {
		q.refuse(f)
		return
	}
	unknownHere := c.Majors != 0 && g.catalog.Major != 0 && (g.catalog.Major > 63 || c.Majors&(1<<g.catalog.Major) == 0)
	if c.Builtin && !c.Ruling.Allowed && !unknownHere || c.Ruling.Code != "" {
		q.refuse(callFinding(c, cmp.Or(c.Ruling.Code, CodeFunctionNotAllowed), cmp.Or(c.Ruling.Reason, "not on the list of functions known to be pure")).by(c.Ruling))
		return
	}
	server := c.Builtin && c.Extension == "" && !unknownHere
	if c.Notation == NotationOperator {
		q.operator(c, server)
		return
	}
	if c.Syntax && server {
		q.list(c.Name)
		return
	}
	found := false
	for _, i := range q.objects.callable(q.home, c.Schema, c.Name, c.Arguments) {
		found = true
		if f := &q.objects.Functions[i]; !q.excluded(f.Arguments, f.Variadic, c) {
			q.function(c, i, server)
		}
	}
	if c.Arguments == 1 && q.objects.namesType(c.Name) {
		if ref, ok := q.objects.typeOf(c.Schema, c.Name); ok && (!ref.row || q.objects.nameOf(ref).Name != c.Name) {
			found = true // f(x) is a cast to the type f if no function f takes x
			q.typeRef(ref, c.Span)
		}
	}
	switch {
	case server && !c.Possible:
		q.list(qualified(c.Schema, c.Name))
	case !found && !server && !c.Possible:
		q.unknownFunction(c, unknownHere)
	}
}

// storedCall judges a call whose results were stored. A function in SQL is judged
// by what it reads. A function in another language could have read anything.
func (q *inquiry) storedCall(c *Call) {
	var runs []int
	if c.Notation == NotationOperator {
		for _, i := range q.objects.operatorsFor(c.Schema, c.Name, c.Arguments) {
			op := &q.objects.Operators[i]
			for _, f := range q.objects.functions[op.Function.Name] {
				if q.objects.Functions[f].Schema == op.Function.Schema && !q.excludedOperator(op, c) {
					runs = append(runs, f)
				}
			}
		}
	} else {
		for _, i := range q.objects.callable(q.home, c.Schema, c.Name, c.Arguments) {
			if f := &q.objects.Functions[i]; !q.excluded(f.Arguments, f.Variadic, c) {
				runs = append(runs, i)
			}
		}
	}
	for _, i := range runs {
		f := &q.objects.Functions[i]
		if f.Extension != "" && q.objects.dialect.Reviewed(f.Extension) || q.objects.constructor(f) {
			continue
		}
		q.require(node{kind: nodeFunction, index: i, stored: true}, callFinding(c, CodeRelationNotAllowed, "it may have run "+f.signature()))
	}
}

// function judges one function of the catalogue that a call could mean. With
// server, the call could also mean one of the server's own.
func (q *inquiry) function(c *Call, i int, server bool) {
	f := &q.objects.Functions[i]
	if f.Extension != "" && q.objects.dialect.Reviewed(f.Extension) && (c.Member.Allowed || c.Member.Code != "") {
		if !c.Member.Allowed {
			q.refuse(callFinding(c, c.Member.Code, fmt.Sprintf("%s: %s", f.signature(), c.Member.Reason)).by(c.Member))
			return
		}
		if !c.Possible {
			q.list(f.String())
		}
		return
	}
	finding := callFinding(c, CodeFunctionNotAllowed, "it resolves to "+f.signature())
	if server || c.Possible {
		finding = callFinding(c, CodeFunctionNotAllowed, "it may resolve to "+f.signature())
	}
	finding.Object = f.String()
	switch {
	case c.Possible:
	case server && c.Schema == "":
		finding.Hint = fmt.Sprintf("for the server's own function write %s.%s(…)", q.objects.server[0], c.Name)
	case q.allowsFunction(f.CatalogName):
		finding.Hint = "use a built-in function; the operator's list names what may be proved to read only"
	default:
		finding.Hint = "use a built-in function, or ask the operator to list it under functions.allow as schema.name"
	}
	if q.userFunction(i, finding) && !c.Possible {
		q.list(f.String())
	}
}

// userFunction judges a function that no table of the dialect lists. The policy
// must name it, and the catalogue must prove that it only reads. finding says why the
// SQL runs it. The result is false when the policy does not allow it.
func (q *inquiry) userFunction(i int, finding Finding) bool {
	f := &q.objects.Functions[i]
	if q.objects.constructor(f) {
		q.require(node{kind: nodeFunction, index: i}, finding)
		return true
	}
	var reason string
	switch {
	case q.deniesFunction(f.CatalogName):
		reason = "denied by this connection's policy"
	case !q.behind && !q.allowsFunction(f.CatalogName) && !q.trusts(f):
		reason = "it is not the server's own, and this connection's policy does not allow it"
		if f.Extension != "" {
			reason = fmt.Sprintf("of the extension %s it is not known to be pure, and this connection's policy does not allow it", f.Extension)
		}
	default:
		q.require(node{kind: nodeFunction, index: i}, finding)
		return true
	}
	finding.Message += ": " + reason
	q.refuse(finding)
	return false
}

func (q *inquiry) deniesFunction(n CatalogName) bool {
	return slices.ContainsFunc(q.g.policy.Functions.Deny, func(pattern string) bool { return couldName(pattern, n.Schema, n.Name) })
}

func (q *inquiry) allowsFunction(n CatalogName) bool {
	return slices.ContainsFunc(q.g.policy.Functions.Allow, func(pattern string) bool { return names(pattern, n.Schema, n.Name, q.g.traits.folds) })
}

// unknownFunction refuses a call of a function that neither the server nor the
// catalogue has. Its hint names the function with the nearest name.
func (q *inquiry) unknownFunction(c *Call, unknownHere bool) {
	f := callFinding(c, CodeUnresolvedObject, "no such function in this database")
	f.Hint = ""
	switch elsewhere := q.objects.callable(nil, "", c.Name, -1); {
	case unknownHere:
		f.Code, f.Message = CodeFunctionNotAllowed, callFinding(c, "", fmt.Sprintf("not a built-in of this server's version %d", q.g.catalog.Major)).Message
	case c.Extension != "":
		f.Message = callFinding(c, "", fmt.Sprintf("it belongs to the extension %s, which this database has not, or not in a schema that is searched", c.Extension)).Message
	case len(elsewhere) > 0 && c.Schema == "":
		f.Hint = fmt.Sprintf("there is %s, with another number of arguments", q.objects.Functions[elsewhere[0]].signature())
	}
	if f.Hint == "" {
		f.Hint = q.near(c.Name, q.objects.functionNames(q.g))
	}
	q.refuse(f)
}

// operator judges the operators that the statement could run: those of the name
// with this number of operands, and those that the server runs instead of them.
// With server, one of the server's own could be meant.
func (q *inquiry) operator(c *Call, server bool) {
	server = server || c.Builtin && !c.Ruling.Allowed
	found := false
	for _, i := range q.objects.operatorsFor(c.Schema, c.Name, c.Arguments) {
		found = true
		op := &q.objects.Operators[i]
		if q.excludedOperator(op, c) {
			continue
		}
		if op.Extension != "" && q.objects.dialect.ReviewedOperator(op.Extension, op.Name) {
			continue
		}
		finding := callFinding(c, CodeOperatorNotAllowed, fmt.Sprintf("it may resolve to %s, which runs %s", op.signature(), op.Function))
		if server {
			finding.Hint = fmt.Sprintf("for the server's own operator write OPERATOR(%s.%s)", q.objects.server[0], c.Name)
		}
		finding.Object = op.String()
		q.functionRef(op.Function, op.operands(), finding)
	}
	if !found && !server {
		f := callFinding(c, CodeUnresolvedObject, "no such operator in this database")
		q.refuse(f)
	}
}

// excludedOperator is like excluded, for an operator. An operator that runs instead
// of another may have its operands in the opposite order.
func (q *inquiry) excludedOperator(op *CatalogOperator, c *Call) bool {
	if operands := op.operands(); op.Name == c.Name || len(operands) == 2 && c.Typed == 3 && c.Scalar == 3 {
		return q.excluded(operands, false, c)
	}
	return false
}

// functionRef judges a function that an object of the catalogue runs. arguments are
// the types of its arguments, nil when they are not known.
func (q *inquiry) functionRef(name CatalogName, arguments []CatalogName, finding Finding) {
	var found []int
	for _, i := range q.objects.functions[name.Name] {
		f := &q.objects.Functions[i]
		if f.Schema != name.Schema {
			continue
		}
		if arguments != nil && slices.Equal(f.Arguments, arguments) {
			found = []int{i}
			break
		}
		found = append(found, i)
	}
	for _, i := range found {
		f := &q.objects.Functions[i]
		if f.Extension != "" && q.objects.dialect.Reviewed(f.Extension) {
			if ruling := q.objects.dialect.ServerFunction(f.Name); ruling.Allowed {
				continue
			}
		}
		q.userFunction(i, finding)
	}
	if len(found) > 0 {
		return
	}
	ruling := Ruling{Reason: "it is not in the catalogue"}
	if q.objects.serverOwn(name.Schema) {
		ruling = q.objects.dialect.ServerFunction(name.Name)
	}
	if !ruling.Allowed {
		finding.Message += ": " + cmp.Or(ruling.Reason, "not on the list of functions known to be pure")
		q.refuse(finding)
	}
}

// relation applies the dialect's ruling, then resolves the name and applies the
// connection's policy to what it means.
func (q *inquiry) relation(r *Relation) {
	g := q.g
	show := func(schema string) {
		shown := VerdictRelation{Database: r.Database, Schema: schema, Name: r.Name, Access: r.Access}
		if q.listed.relations.add(shown) {
			q.v.Relations = append(q.v.Relations, shown)
		}
	}
	if code, reason := g.outside(r); code != "" {
		show(r.Schema)
		if !q.stored && (!q.behind || !r.System || code != CodeRelationNotAllowed) {
			q.refuse(relationFinding(r, code, reason).by(r.Ruling))
		}
		return
	}
	if r.System || r.Access != AccessRead {
		show(r.Schema)
		switch {
		case r.System && q.behind:
		case r.System && g.deniesSystem(r):
			q.refuse(relationFinding(r, CodeRelationNotAllowed, deniedByPolicy))
		case r.System:
		case g.permits(r) != permitted:
			q.refuse(relationFinding(r, CodeRelationNotAllowed, deniedByPolicy))
		}
		return
	}
	if own := g.database(); r.Database != "" && own != "" && !strings.EqualFold(r.Database, own) {
		show(r.Schema)
		q.refuse(relationFinding(r, CodeExternalRelation, fmt.Sprintf("it lies in database %s, whose catalogue the guard does not know", r.Database)))
		return
	}
	i, ok := q.objects.relation(q.home, r.Schema, r.Name)
	if !ok {
		show(r.Schema)
		if q.objects.virtual(r) && !q.inside {
			if g.permits(r) != permitted {
				q.refuse(relationFinding(r, CodeRelationNotAllowed, "denied by this connection's policy"))
			}
			return
		}
		q.unknownRelation(r)
		return
	}
	at := &q.objects.Relations[i]
	show(at.Schema)
	if at.Kind == RelationSynonym {
		if reason := q.denied(i); reason != "" {
			q.refuse(relationFinding(r, CodeRelationNotAllowed, reason))
			return
		}
		if i, ok = q.objects.target(i); !ok {
			f := relationFinding(r, CodeExternalRelation, fmt.Sprintf("it is a synonym of %s, which is not a table or view of this database that the role may see", q.objects.Relations[i].Target))
			f.Object = at.String()
			q.refuse(f)
			return
		}
		at = &q.objects.Relations[i]
	}
	if reason := q.denied(i); reason != "" {
		f := relationFinding(r, CodeRelationNotAllowed, reason)
		f.Object = at.String()
		q.refuse(f)
		return
	}
	if foreign, ok := q.objects.foreign[i]; ok && !q.stored {
		reason := "it is a foreign table, whose rows another server gives"
		if foreign != at.CatalogName {
			reason = fmt.Sprintf("it reads %s, a foreign table, whose rows another server gives", foreign)
		}
		f := relationFinding(r, CodeExternalRelation, reason)
		f.Object = foreign.String()
		q.refuse(f)
		return
	}
	kind := at.Kind
	if kind == RelationView && at.Extension != "" && q.objects.dialect.Reviewed(at.Extension) {
		kind = RelationMaterialized // the functions that it runs were reviewed
	}
	switch kind {
	case RelationView:
		q.require(node{kind: nodeView, index: i, stored: q.stored}, relationFinding(r, "", fmt.Sprintf("the view %s reads", at.CatalogName)))
	case RelationMaterialized:
		if g.policy.deniesAny() && !q.behind {
			q.require(node{kind: nodeView, index: i, stored: true}, relationFinding(r, "", fmt.Sprintf("the materialized view %s was made from", at.CatalogName)))
		}
	case RelationMerged:
		if g.policy.deniesAny() && !q.behind {
			q.refuse(relationFinding(r, CodeRelationNotAllowed, showsOthers))
		}
	case RelationTable, RelationPartitioned, RelationSequence, RelationForeign:
	case RelationSynonym: // its target was judged
	default:
		q.refuse(relationFinding(r, CodeRelationNotAllowed, fmt.Sprintf("it is of a kind (%s) that the guard does not know", at.Kind)))
	}
	if q.objects.parts[i] && !q.stored {
		f := relationFinding(r, CodeFunctionNotAllowed, "a read of it runs code that the statement does not name")
		f.Hint = "no other statement on this table helps: read another table, or ask the operator"
		q.require(node{kind: nodeRead, index: i, behind: true}, f)
	}
}

// denied returns the rule that denies a relation, or that denies another relation with
// which it shares rows by inheritance.
func (q *inquiry) denied(i int) string {
	if q.behind {
		return ""
	}
	if why := q.g.deniedRelative(i); why != "" {
		return why
	}
	if n := q.objects.Relations[i].CatalogName; !q.inside && !q.g.policy.permitsIn(n.Schema, n.Name, q.g.traits) {
		return deniedByPolicy
	}
	return ""
}

// deniedRelative is denied without the lists of what may be read.
func (g *Guard) deniedRelative(i int) string {
	if !g.policy.deniesAny() {
		return ""
	}
	for _, at := range g.objects.relatives(i) {
		n := g.objects.Relations[at].CatalogName
		if !g.policy.deniesIn(n.Schema, n.Name, g.traits) {
			continue
		}
		if at != i {
			return fmt.Sprintf("it shares rows with %s, which is denied by this connection's policy", n)
		}
		return deniedByPolicy
	}
	return ""
}

// showsOthers is why a table of which the catalogue does not say what it reads is refused.
const showsOthers = "it shows rows of other tables, which rules of this connection's policy may deny"

// deniesAny reports whether a rule about relations or columns denies anything.
func (p *Policy) deniesAny() bool { return len(p.Schemas.Deny)+len(p.Tables.Deny)+len(p.Columns) > 0 }

// unknownRelation refuses a name for which this database has no relation.
func (q *inquiry) unknownRelation(r *Relation) {
	missing := "no such table or view in this database"
	switch {
	case q.objects.hides():
		missing = "no such table or view that the role of this connection may see"
	case r.Schema == "":
		missing = "no such table or view in the schemas that are searched"
	}
	f := relationFinding(r, CodeUnresolvedObject, missing)
	if r.Schema == "" {
		for _, schema := range q.objects.schemasOf(r.Name) {
			if q.g.policy.permitsIn(schema, r.Name, q.g.traits) {
				f.Hint = "did you mean " + schema + "." + r.Name + "?"
				break
			}
		}
	}
	if f.Hint == "" {
		f.Hint = q.near(r.Name, q.objects.relationNames(q.g, r.Schema))
	}
	q.refuse(f)
}

// columns applies the column rules to the objects that the names mean. For a relation
// other than the rule's table, the guard judges its definition.
func (q *inquiry) columns(s *Statement) {
	for _, rule := range q.g.columns {
		if len(q.v.Findings) >= maxFindings {
			return
		}
		schema, rest, _ := strings.Cut(rule.Match, ".")
		table, column, _ := strings.Cut(rest, ".")
		var covered, others []*Relation
		for i := range s.Relations {
			r := &s.Relations[i]
			if r.System {
				continue
			}
			if q.covers(r, schema, table) {
				covered = append(covered, r)
			} else {
				others = append(others, r)
			}
		}
		if len(covered) > 0 {
			q.v.refuseMentions(s, rule, column, covered, others, q.g)
		}
	}
}

// covers reports whether a relation is the table of a rule, or shares rows with
// it by inheritance. A relation that cannot be resolved is compared by its name.
func (q *inquiry) covers(r *Relation, schema, table string) bool {
	i, ok := q.objects.relation(q.home, r.Schema, r.Name)
	if ok {
		i, ok = q.objects.target(i)
	}
	if !ok {
		return q.g.couldBe(r, schema, table)
	}
	return slices.ContainsFunc(q.objects.relatives(i), func(at int) bool {
		n := q.objects.Relations[at].CatalogName
		return q.g.traits.same(n.Schema, schema) && q.g.traits.same(n.Name, table)
	})
}
