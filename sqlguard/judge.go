package sqlguard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// listed is the set of names of one kind that a verdict already has. It searches a
// short list and looks names up in a map for a long one, so that the work stays
// linear.
type listed[K comparable] struct {
	few  []K
	many map[K]bool
}

// add adds key and reports whether it was new.
func (l *listed[K]) add(key K) bool {
	if l.many == nil {
		if slices.Contains(l.few, key) {
			return false
		}
		if l.few = append(l.few, key); len(l.few) < 32 {
			return true
		}
		l.many = make(map[K]bool, 2*len(l.few))
		for _, k := range l.few {
			l.many[k] = true
		}
		return true
	}
	if l.many[key] {
		return false
	}
	l.many[key] = true
	return true
}

// seen is the set of names that a verdict already has, by kind.
type seen struct {
	functions, types listed[string]
	relations        listed[VerdictRelation]
}

// judge turns the facts of one statement into findings.
func (g *Guard) judge(s *Statement, v *Verdict, listed *seen) {
	g.reveal(s)
	g.judgeKind(s, v)
	for i := range s.Calls {
		g.judgeCall(&s.Calls[i], v, listed)
	}
	for i := range s.Types {
		g.judgeType(&s.Types[i], v, listed)
	}
	for i := range s.Settings {
		g.judgeSetting(&s.Settings[i], v)
	}
	for i := range s.Relations {
		g.judgeRelation(&s.Relations[i], v, listed)
	}
	if g.traits.flat {
		g.judgeQualifiers(s, v)
	}
	if len(g.columns) > 0 {
		g.judgeColumns(s, v)
	}
	v.Columns = append(v.Columns, s.Columns...)
}

// judgeKind judges the kind of a statement and the effects that no policy permits.
func (g *Guard) judgeKind(s *Statement, v *Verdict) {
	v.Findings = append(v.Findings, s.Effects...)
	if !s.Verb.reads() && len(s.Effects) == 0 {
		what := "this kind of statement"
		if s.Verb != "" {
			what = strings.ToUpper(strings.ReplaceAll(string(s.Verb), "_", " "))
		}
		v.add(CodeStatementNotAllowed, s.Span, what+" is not a read")
	}
	if s.Executes && !g.policy.AllowExplainAnalyze {
		v.add(CodeExplainExecutes, s.Span, "EXPLAIN ANALYZE executes the statement; this connection permits EXPLAIN only")
	}
}

func (g *Guard) judgeCall(c *Call, v *Verdict, listed *seen) {
	name := qualified(c.Schema, c.Name)
	if c.Ruling.Allowed && !c.Possible && listed.functions.add(name) {
		v.Functions = append(v.Functions, name)
	}
	refuse := func(code Code, reason string) { v.Findings = append(v.Findings, callFinding(c, code, reason)) }
	refuseBy := func(r Ruling, fallback Code, reason string) {
		v.Findings = append(v.Findings, callFinding(c, cmp.Or(r.Code, fallback), cmp.Or(r.Reason, reason)).by(r))
	}
	if g.denies(c) {
		refuse(CodeFunctionNotAllowed, "denied by this connection's policy")
		return
	}
	if f, opens := g.opensFile(c); opens {
		v.Findings = append(v.Findings, f)
		return
	}
	if c.Possible {
		return
	}
	if g.inExtension(c) {
		if listed.functions.add(name) {
			v.Functions = append(v.Functions, name)
		}
		return
	}
	if f, missing := g.missesExtension(c); missing {
		v.Findings = append(v.Findings, f)
		return
	}
	unknownHere := c.Majors != 0 && g.catalog.Major != 0 && (g.catalog.Major > 63 || c.Majors&(1<<g.catalog.Major) == 0)
	allowed := c.Ruling.Allowed && !unknownHere
	if allowed {
		return
	}
	// The policy can allow names that no table of the dialect lists. It cannot
	// allow a built-in that the tables refuse. A built-in name that this server's
	// version does not have means a user-defined function.
	if (!c.Builtin || unknownHere && c.Ruling.Allowed) && c.Notation != NotationOperator && g.allows(c) {
		if listed.functions.add(name) {
			v.Functions = append(v.Functions, name)
		}
		return
	}
	if unknownHere && c.Ruling.Allowed {
		refuse(CodeFunctionNotAllowed, fmt.Sprintf("not a built-in of this server's version %d", g.catalog.Major))
		return
	}
	fallback := CodeFunctionNotAllowed
	if c.Notation == NotationOperator {
		fallback = CodeOperatorNotAllowed
	}
	refuseBy(c.Ruling, fallback, "not on the list of functions known to be pure")
}

// opensFile refuses a call of a function that reads the file which a value can name.
func (g *Guard) opensFile(c *Call) (f Finding, opens bool) {
	if c.Opens == "" || !slices.Contains(g.catalog.Extensions, c.Opens) || slices.Contains(g.catalog.Closed, c.Opens) {
		return f, false
	}
	f = callFinding(c, CodeFunctionFileAccess, fmt.Sprintf("a value of the extension %s can name a file or an address, and the settings of this server permit the function to read it", c.Opens))
	f.Hint = "leave the call out; or, when its argument is of another type, cast it to that type"
	return f, true
}

// inExtension reports whether a call names a function of a reviewed extension with the
// schema in which the server has the extension.
func (g *Guard) inExtension(c *Call) bool {
	return !c.Builtin && c.Schema != "" && c.Extension != "" && c.Member.Allowed && g.catalog.ExtensionSchemas[c.Extension] == c.Schema
}

// missesExtension refuses the unqualified name of an extension's function that this
// database does not have, or not where the session looks: it could be anybody's.
func (g *Guard) missesExtension(c *Call) (f Finding, missing bool) {
	// A server that has not told anything yet may tell that it has the extension here.
	could := !c.Builtin && c.Member.Allowed && !g.knows
	if c.Extension == "" || !c.Ruling.Allowed && !could || g.allows(c) {
		return f, false
	}
	schema := g.catalog.ExtensionSchemas[c.Extension]
	switch path := g.searchPath(); {
	case g.catalog.Extensions == nil && (c.Told || could):
		f = callFinding(c, CodeUnresolvedObject, fmt.Sprintf("it belongs to the extension %s, and no server told that it has the extension here; a function of that name could be anybody's", c.Extension))
		f.Hint = "use a built-in function, or ask the operator to list it under functions.allow as schema.name"
		return f, true
	case g.catalog.Extensions == nil:
		return f, false
	case !slices.Contains(g.catalog.Extensions, c.Extension):
		f = callFinding(c, CodeUnresolvedObject, fmt.Sprintf("it belongs to the extension %s, which this database does not have; a function of that name could be anybody's", c.Extension))
		f.Hint = "use a built-in function"
		return f, true
	case schema != "" && schema != "pg_catalog" && len(path) > 0 && !slices.Contains(path, schema):
		f = callFinding(c, CodeUnresolvedObject, fmt.Sprintf("it belongs to the extension %s, whose schema %s is not searched; a function of that name could be anybody's", c.Extension, schema))
		f.Hint = fmt.Sprintf("write %s.%s(…)", schema, c.Name)
		return f, true
	default:
		return f, false
	}
}

// callFinding refuses a call for a reason.
func callFinding(c *Call, code Code, reason string) Finding {
	name, noun := qualified(c.Schema, c.Name), "function"
	if c.Notation == NotationOperator {
		noun = "operator"
	}
	f := Finding{Code: code, Span: c.Span, Object: name, Message: fmt.Sprintf("%s %s: %s", noun, name, reason)}
	switch {
	case c.Notation == NotationColumn:
		f.Message = fmt.Sprintf("%s read as a column calls the function %s: %s", name, name, reason)
		f.Hint = "give the column another name in a sub-query's column list, or leave it out"
	case c.Notation == NotationAttribute:
		f.Message = fmt.Sprintf("the attribute %s calls the function %s: %s", name, name, reason)
	case code == CodeFunctionNotAllowed && !c.Builtin:
		f.Hint = "use a built-in function, or ask the operator to list it under functions.allow as schema.name"
	}
	return f
}

// matches reports whether a rule in list names c, by match. A call without a schema is
// matched in every schema to which it could resolve, or in any schema when these are
// not known.
func (g *Guard) matches(list []string, c *Call, match func(pattern, schema, name string) bool) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		if c.Schema != "" {
			return match(pattern, c.Schema, c.Name)
		}
		path := g.searchPath()
		if len(path) == 0 {
			schema, _, _ := strings.Cut(pattern, ".")
			path = []string{schema}
		}
		return slices.ContainsFunc(path, func(schema string) bool { return match(pattern, schema, c.Name) })
	})
}

func (g *Guard) denies(c *Call) bool {
	if c.Builtin && c.Schema == "" && slices.ContainsFunc(g.policy.Functions.Deny, func(pattern string) bool {
		_, name, _ := strings.Cut(pattern, ".")
		return foldMatch(name, c.Name)
	}) {
		return true // the server's own schema comes before the search path
	}
	return g.matches(g.policy.Functions.Deny, c, couldName)
}

func (g *Guard) allows(c *Call) bool {
	allowed := g.policy.Functions.Allow
	if len(g.policy.Trusted) > 0 {
		allowed = slices.Concat(allowed, g.trustedNames(c))
	}
	return g.matches(allowed, c, func(pattern, schema, name string) bool { return names(pattern, schema, name, g.traits.folds) })
}

func (g *Guard) judgeType(t *Type, v *Verdict, listed *seen) {
	if t.Builtin {
		return
	}
	name := qualified(t.Schema, t.Name)
	if listed.types.add(name) {
		v.Types = append(v.Types, VerdictType{Name: name})
	}
	if !g.policy.AllowUnresolvedTypes {
		v.Findings = append(v.Findings, Finding{
			Code: CodeTypeNotAllowed, Span: t.Span, Object: name,
			Message: fmt.Sprintf("type %s is not built in, so a cast to it may run code of its owner", name),
		})
	}
}

func (g *Guard) judgeSetting(s *SettingRead, v *Verdict) {
	if s.Ruling.Allowed {
		return
	}
	f := Finding{Code: cmp.Or(s.Ruling.Code, CodeSettingNotAllowed), Span: s.Span, Object: s.Name}.by(s.Ruling)
	if s.Name == "" {
		f.Message = "the name of the setting is computed: " + cmp.Or(s.Ruling.Reason, "only a literal name can be judged")
		f.Hint = "write the name of one setting as a literal"
	} else {
		f.Message = fmt.Sprintf("setting %s: %s", s.Name, cmp.Or(s.Ruling.Reason, "not on the list of settings that may be read"))
	}
	v.Findings = append(v.Findings, f)
}

// judgeRelation applies the dialect's ruling, then the connection's policy.
func (g *Guard) judgeRelation(r *Relation, v *Verdict, listed *seen) {
	shown := VerdictRelation{Database: r.Database, Schema: r.Schema, Name: r.Name, Access: r.Access}
	if listed.relations.add(shown) {
		v.Relations = append(v.Relations, shown)
	}
	refuse := func(code Code, reason string) { v.Findings = append(v.Findings, relationFinding(r, code, reason)) }
	if code, reason := g.outside(r); code != "" {
		v.Findings = append(v.Findings, relationFinding(r, code, reason).by(r.Ruling))
		return
	}
	if r.System {
		// Lists of allowed relations do not cover the server's own relations. Rules
		// that deny cover them.
		if g.deniesSystem(r) {
			refuse(CodeRelationNotAllowed, deniedByPolicy)
		}
		return
	}
	switch g.permits(r) {
	case permitted:
	case denied:
		f := relationFinding(r, CodeRelationNotAllowed, deniedByPolicy)
		if r.Prefix {
			f.Message = fmt.Sprintf("%s stands for every relation whose name begins so, and this connection's policy denies some of them", qualified(r.Schema, r.Name))
			f.Hint = "name one relation, or write more of the names before the star, so that the policy permits all of them"
		}
		v.Findings = append(v.Findings, f)
	case unresolved:
		f := relationFinding(r, CodeUnresolvedObject, "a rule of this connection's policy could apply, and the name has no schema")
		f.Hint = "write the name with its schema"
		for _, schema := range g.searchPath() {
			if g.policy.permitsIn(schema, r.Name, g.traits) {
				f.Hint += ", as in " + qualified(schema, r.Name)
				break
			}
		}
		v.Findings = append(v.Findings, f)
	}
}

// deniedByPolicy is why a rule refuses a relation.
const deniedByPolicy = "denied by this connection's policy"

// judgeQualifiers refuses columns of a database that the connection may not read. No
// relation of the statement can have such columns.
func (g *Guard) judgeQualifiers(s *Statement, v *Verdict) {
	own := g.database()
	if own == "" {
		return
	}
	for i := range s.ColumnRefs {
		ref := &s.ColumnRefs[i]
		if len(ref.Qualifier) < 2 {
			continue
		}
		database := ref.Qualifier[len(ref.Qualifier)-2]
		system := slices.ContainsFunc(s.Relations, func(r Relation) bool { return r.System && strings.EqualFold(r.Schema, database) })
		if database != own && !system && !slices.Contains(g.policy.Databases, database) {
			v.Findings = append(v.Findings, Finding{
				Code: CodeExternalRelation, Span: ref.Span, Object: strings.Join(ref.Qualifier, ".") + "." + ref.Name,
				Message: fmt.Sprintf("column %s.%s: it lies in database %s, outside this connection", strings.Join(ref.Qualifier, "."), ref.Name, database),
			})
		}
	}
}

// outside returns the code and the reason when no policy can permit a relation,
// because the dialect refuses it or it is in another database.
func (g *Guard) outside(r *Relation) (Code, string) {
	if !r.Ruling.Allowed {
		return cmp.Or(r.Ruling.Code, CodeRelationNotAllowed), cmp.Or(r.Ruling.Reason, "not on the list of system relations that may be read")
	}
	if database := g.foreign(r); database != "" {
		return CodeExternalRelation, fmt.Sprintf("it lies in database %s, outside this connection", database)
	}
	return "", ""
}

// foreign returns the database of a relation if the connection may not read that
// database, else "".
func (g *Guard) foreign(r *Relation) string {
	own := g.database()
	switch {
	case r.Database != "":
		if own != "" && strings.EqualFold(r.Database, own) || slices.Contains(g.policy.Databases, r.Database) {
			return ""
		}
		if own == "" && g.traits.qualified && len(g.policy.Schemas.Allow)+len(g.policy.Tables.Allow) == 0 {
			return "" // rules that deny hold in every database
		}
		return r.Database
	case !g.traits.flat || r.System || r.Schema == "":
		return ""
	case own == "": // without a connection no database is another one
		return ""
	case r.Schema == own || slices.Contains(g.policy.Databases, r.Schema):
		return ""
	default:
		return r.Schema
	}
}

// database returns the connection's own database, or "" when it is not known.
func (g *Guard) database() string { return cmp.Or(g.policy.Database, g.catalog.Database) }

func relationFinding(r *Relation, code Code, reason string) Finding {
	name := qualified(r.Schema, r.Name)
	f := Finding{Code: code, Span: r.Span, Object: name, Message: fmt.Sprintf("relation %s: %s", name, reason)}
	if reason == deniedByPolicy {
		f.Hint = "read another table or view: the operator has closed this one to the connection"
	}
	return f
}

type permission int

const (
	denied permission = iota
	permitted
	unresolved
)

// permits applies the schema and table rules to every schema that could have the
// relation.
func (g *Guard) permits(r *Relation) permission {
	p := &g.policy
	if len(p.Schemas.Allow)+len(p.Schemas.Deny)+len(p.Tables.Allow)+len(p.Tables.Deny) == 0 {
		return permitted
	}
	schemas := []string{r.Schema}
	if r.Schema == "" {
		if schemas = g.searchPath(); len(schemas) == 0 {
			return unresolved
		}
	}
	permits := func(schema string) bool { return p.permitsIn(schema, r.Name, g.traits) }
	if r.Prefix {
		permits = func(schema string) bool { return p.permitsAll(schema, r.Name, g.traits) }
	}
	allowed, refused := 0, 0
	for _, schema := range schemas {
		if permits(schema) {
			allowed++
		} else {
			refused++
		}
	}
	switch {
	case refused == 0:
		return permitted
	case allowed == 0:
		return denied
	default:
		return unresolved
	}
}

// deniesSystem reports whether a rule denies a relation of the server's own. A name
// without a schema matches a rule for any schema.
func (g *Guard) deniesSystem(r *Relation) bool {
	if home := cmp.Or(r.Schema, g.traits.systemSchema); home != "" && slices.ContainsFunc(g.policy.Schemas.Deny, func(pattern string) bool { return foldMatch(pattern, home) }) {
		return true
	}
	return slices.ContainsFunc(g.policy.Tables.Deny, func(pattern string) bool {
		schema, _, _ := strings.Cut(pattern, ".")
		return couldName(pattern, cmp.Or(r.Schema, schema), r.Name)
	})
}

// deniesIn reports whether a rule denies a relation.
func (p *Policy) deniesIn(schema, name string, t traits) bool {
	schema, name = t.fold(schema), t.fold(name)
	denied := func(list []string) bool {
		return slices.ContainsFunc(list, func(pattern string) bool { return couldName(t.fold(pattern), schema, name) })
	}
	return denied(p.Schemas.Deny) || denied(p.Tables.Deny)
}

func (p *Policy) permitsIn(schema, name string, t traits) bool {
	allowed := func(list []string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(pattern string) bool { return names(pattern, schema, name, t.folds) })
	}
	return !p.deniesIn(schema, name, t) && allowed(p.Schemas.Allow) && allowed(p.Tables.Allow)
}

// permitsAll reports whether the rules permit every relation of a schema whose name
// begins with a prefix, which a star follows.
func (p *Policy) permitsAll(schema, prefix string, t traits) bool {
	prefix = strings.TrimSuffix(prefix, "*")
	denied := func(list []string) bool {
		return slices.ContainsFunc(list, func(pattern string) bool {
			ps, pn, dotted := strings.Cut(t.fold(pattern), ".")
			return couldName(ps, t.fold(schema), "") && (!dotted || couldBegin(pn, t.fold(prefix)))
		})
	}
	allowed := func(list []string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(pattern string) bool {
			_, pn, dotted := strings.Cut(pattern, ".")
			return names(pattern, schema, prefix, t.folds) && (!dotted || strings.HasSuffix(pn, "*"))
		})
	}
	return !denied(p.Schemas.Deny) && !denied(p.Tables.Deny) && allowed(p.Schemas.Allow) && allowed(p.Tables.Allow)
}

// searchPath returns the schemas in which the session resolves unqualified names:
// those that the policy pins, else those that the server reported. It returns none
// when they are not known. For dialects whose schemas are databases it is the
// connection's own database.
func (g *Guard) searchPath() []string {
	if g.traits.flat {
		if own := g.database(); own != "" {
			return []string{own}
		}
		return nil
	}
	if len(g.policy.SearchPath) > 0 {
		return g.policy.SearchPath
	}
	return g.catalog.SearchPath
}

func qualified(schema, name string) string {
	if schema == "" {
		return name
	}
	return schema + "." + name
}
