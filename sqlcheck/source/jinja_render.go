package source

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Rendered is what dbt can make of a template, as far as it can be known
// without dbt.
type Rendered struct {
	// Texts are the texts that the query can become, at least one. Where a
	// condition is not known, there is a text with each of its branches. A hole
	// stands for the result of Jinja that is not known.
	Texts []*Text
	// Unknown are the spans of Jinja whose effect is not known and is no hole.
	Unknown []sqlguard.Span
	// Hooks are the statements that config(…) makes dbt run before or after the
	// query. Runs are those that it runs while it compiles the query. The spans
	// are those of hooks and of calls whose statement is not known.
	Hooks, Runs []Run
	// Disabled reports whether config(enabled=…) turns the query off.
	Disabled                  bool
	UnknownHooks, UnknownRuns []sqlguard.Span
}

// Run is a statement that dbt runs besides the query.
type Run struct {
	Text *Text
	Call sqlguard.Span // of the Jinja that makes dbt run it
}

// Renderings limits the texts of one template, and how much is read for each.
const (
	maxRenderings  = 12
	maxRenderSteps = 100_000
	maxRenderBytes = 1 << 20
	maxMacroDepth  = 8
)

// Render returns what dbt can make of the template: ref, source and this are
// names of relations, dbt.type_string() and the like are types, conditions about
// target.type are decided by the dialect, values that the file sets are known,
// and its own macros are called. name is the name of the file's own relation, and
// quote quotes a name for SQL.
func (t *Template) Render(d sqlguard.Dialect, name string, quote func(string) string) *Rendered {
	out := &Rendered{}
	covered := map[branchKey]bool{}
	var asked []string
	seen := map[string]bool{}
	render := func(usual bool, truths map[string]bool) {
		r := &renderer{dialect: d, relation: name, quote: quote, source: t.source, usual: usual, truths: truths, out: out, covered: covered, scope: &jinjaScope{names: map[string]jinjaValue{}}}
		text := &Text{Span: t.Span}
		r.nodes(t.nodes, text)
		for _, key := range r.asked {
			if !slices.Contains(asked, key) {
				asked = append(asked, key)
			}
		}
		if key := text.key(); !seen[key] {
			seen[key] = true
			out.Texts = append(out.Texts, text)
		}
	}
	render(true, nil)
	if len(asked) > 0 {
		render(false, nil)
	}
	for i := 0; i < len(asked) && len(asked) > 1 && i+2 < maxRenderings; i++ {
		render(false, map[string]bool{asked[i]: true})
	}
	for key, reached := range covered {
		if !reached {
			out.Unknown = append(out.Unknown, key.node.open)
		}
	}
	slices.SortStableFunc(out.Texts, func(x, y *Text) int { // the first one has something, if any has
		return cmp.Compare(blank(x), blank(y))
	})
	for _, spans := range []*[]sqlguard.Span{&out.Unknown, &out.UnknownHooks, &out.UnknownRuns} {
		slices.SortFunc(*spans, func(x, y sqlguard.Span) int { return cmp.Or(x.Start-y.Start, x.End-y.End) })
		*spans = slices.Compact(*spans)
	}
	out.Hooks, out.Runs = distinct(out.Hooks), distinct(out.Runs)
	return out
}

// Render returns what dbt can make of the statement, which it renders again.
// source is the file that the statement stands in.
func (run Run) Render(d sqlguard.Dialect, source, name string, quote func(string) string) (*Rendered, error) {
	text := run.Text
	if sql := text.SQL(); !strings.Contains(sql, "{{") && !strings.Contains(sql, "{%") && !strings.Contains(sql, "{#") {
		return &Rendered{Texts: []*Text{text}}, nil
	}
	if len(text.Holes) == 0 && len(text.pieces) == 1 && text.pieces[0].verbatim {
		t, err := parseTemplate(source, text.pieces[0].file)
		if err != nil {
			return nil, err
		}
		return t.Render(d, name, quote), nil
	}
	var b strings.Builder
	from := 0
	for _, h := range text.Holes {
		b.Write(text.sql[from:h.At])
		b.WriteString("{{ hole }}") // a name that nothing defines
		from = h.At
	}
	b.Write(text.sql[from:])
	t, err := ParseTemplate(b.String())
	if err != nil {
		return nil, err
	}
	return t.Render(d, name, quote).At(run.Call), nil
}

// At returns the same of a text that does not stand in the file, all of it at a
// span of the file.
func (r *Rendered) At(span sqlguard.Span) *Rendered {
	out := &Rendered{}
	for _, t := range r.Texts {
		moved := t.moved(span)
		moved.Span = span
		for i := range moved.Holes {
			moved.Holes[i].Value = t.Holes[i].Value
		}
		out.Texts = append(out.Texts, moved)
	}
	at := func(spans []sqlguard.Span) []sqlguard.Span {
		if len(spans) > 0 {
			return []sqlguard.Span{span}
		}
		return nil
	}
	runs := func(all []Run) (moved []Run) {
		for _, run := range all {
			moved = append(moved, Run{run.Text.moved(span), span})
		}
		return moved
	}
	out.Hooks, out.Runs = runs(r.Hooks), runs(r.Runs)
	out.Unknown, out.UnknownHooks, out.UnknownRuns = at(r.Unknown), at(r.UnknownHooks), at(r.UnknownRuns)
	return out
}

func blank(t *Text) int {
	if len(t.Holes) == 0 && strings.TrimFunc(string(t.sql), PythonSpace) == "" {
		return 1
	}
	return 0
}

// distinct removes what stands at the same place and is the same.
func distinct(all []Run) []Run {
	type place struct {
		call sqlguard.Span
		key  string
	}
	seen := map[place]bool{}
	return slices.DeleteFunc(all, func(run Run) bool {
		p := place{run.Call, run.Text.key()}
		again := seen[p]
		seen[p] = true
		return again
	})
}

// branchKey is a branch of an if.
type branchKey struct {
	node   *jinjaNode
	branch int
}

// jinjaScope has the names that are set in a part of a template.
type jinjaScope struct {
	names map[string]jinjaValue
	outer *jinjaScope
}

// renderer renders a template once.
type renderer struct {
	dialect  sqlguard.Dialect
	relation string
	quote    func(string) string
	source   string
	out      *Rendered

	usual   bool            // whether conditions that are not known are true
	truths  map[string]bool // of single conditions
	asked   []string
	covered map[branchKey]bool // branches of conditions that are not known

	scope     *jinjaScope
	macros    map[string]*jinjaNode // of the file
	depth     int                   // of macros
	steps     int
	foreign   int         // calls of macros that the file does not define
	undecided bool        // the last condition was not known
	returned  *jinjaValue // of the macro
}

// decide returns the truth of a condition that is not known.
func (r *renderer) decide(key string) bool {
	r.undecided = true
	if !slices.Contains(r.asked, key) {
		r.asked = append(r.asked, key)
	}
	if truth, ok := r.truths[key]; ok {
		return truth
	}
	return r.usual
}

// value evaluates an expression.
func (r *renderer) value(tokens []jinjaToken, span sqlguard.Span) jinjaValue {
	e := &jinjaExpr{r: r, tokens: tokens, span: span}
	v := e.ternary(false)
	if !e.failed && e.at < len(tokens) && e.peek() == "," { // a tuple
		items := []jinjaValue{v}
		for e.op(",") && e.at < len(tokens) {
			items = append(items, e.ternary(false))
		}
		v = list(items)
	}
	if e.failed || e.at < len(tokens) {
		r.misread(tokens, span)
		return jinjaValue{}
	}
	return v
}

// misread looks for SQL that is run in an expression that cannot be read here.
func (r *renderer) misread(tokens []jinjaToken, span sqlguard.Span) {
	if runsSQL(tokens) {
		r.runUnknown(span)
	}
}

func (r *renderer) runUnknown(span sqlguard.Span) {
	r.out.UnknownRuns = append(r.out.UnknownRuns, span)
}

func (r *renderer) unknown(span sqlguard.Span) { r.out.Unknown = append(r.out.Unknown, span) }

// emit appends the text of a value that the Jinja at a span produces.
func (r *renderer) emit(out *Text, v jinjaValue, span sqlguard.Span) {
	if len(out.sql) > maxRenderBytes {
		r.unknown(span)
		return
	}
	switch v.kind {
	case jinjaString, jinjaRelation, jinjaNumber:
		out.add(v.text)
	case jinjaBool:
		text := "False"
		if v.truth {
			text = "True"
		}
		out.escaped(text, span)
	case jinjaNone:
		out.escaped("None", span)
	case jinjaUnknown, jinjaList, jinjaDict, jinjaGlobal, jinjaAdapter, jinjaMethod:
		out.Holes = append(out.Holes, Hole{At: len(out.sql), Span: span, Value: v.ours()})
	}
}

func (r *renderer) set(name string, v jinjaValue) { r.scope.names[name] = v }

func (r *renderer) nodes(nodes []*jinjaNode, out *Text) {
	for _, n := range nodes {
		if r.steps++; r.steps > maxRenderSteps || len(out.sql) > maxRenderBytes {
			r.unknown(n.span)
			return
		}
		if r.returned != nil {
			return
		}
		switch n.kind {
		case jinjaText:
			out.add(n.text)
		case jinjaSilent:
			r.silent(n)
		case jinjaOutput:
			if n.tag != "" {
				r.unknown(n.span)
				continue
			}
			r.emit(out, r.value(n.tokens, n.span), n.span)
		case jinjaBlock:
			r.block(n, out)
		}
	}
}

// silent reads {% set x = … %} and {% do … %}.
func (r *renderer) silent(n *jinjaNode) {
	before := r.foreign
	switch n.tag {
	case "set":
		at := slices.IndexFunc(n.tokens, func(t jinjaToken) bool { return t.text == "=" && t.kind == 'o' })
		v := r.value(n.tokens[at+1:], n.span)
		if at == 1 {
			r.set(n.tokens[0].text, v)
		} else { // several names, or an attribute
			for i, t := range n.tokens[:at] {
				if t.kind != 'n' || i > 0 && n.tokens[i-1].text == "." {
					continue
				}
				part := jinjaValue{own: v.ours()}
				if v.kind == jinjaList && i%2 == 0 && i/2 < len(*v.items) && at > 2 && n.tokens[1].text == "," {
					part = (*v.items)[i/2]
				}
				r.set(t.text, part)
			}
		}
	case "do":
		r.value(n.tokens, n.span)
	}
	if r.foreign > before { // a macro can run SQL
		r.unknown(n.span)
	}
}

func (r *renderer) block(n *jinjaNode, out *Text) {
	body := n.branches[0].nodes
	switch {
	case n.tag == "macro":
		if len(n.tokens) > 0 {
			if r.macros == nil {
				r.macros = map[string]*jinjaNode{}
			}
			r.macros[n.tokens[0].text] = n
		}
	case definitions[n.tag]:
	case n.tag == "if":
		r.conditional(n, out)
	case n.tag == "for":
		r.loop(n, out)
	case n.tag == "set":
		text := &Text{Span: n.branches[0].span}
		r.nodes(body, text)
		v := known(text)
		if len(n.tokens) != 1 {
			v = jinjaValue{own: v.ours()}
			r.unknown(n.open)
		}
		if len(n.tokens) > 0 {
			r.set(n.tokens[0].text, v)
		}
	case n.tag == "call":
		text := &Text{Span: n.branches[0].span}
		r.inner(body, text)
		e := &jinjaExpr{r: r, tokens: n.tokens, span: n.open}
		callee := ""
		if len(n.tokens) > 0 {
			callee = n.tokens[0].text
		}
		for e.at = 1; e.at+1 < len(n.tokens) && n.tokens[e.at].text == "."; e.at += 2 {
			callee = n.tokens[e.at+1].text
		}
		if callee == "statement" || callee == "set_sql_header" {
			e.arguments()
			r.out.Runs = append(r.out.Runs, Run{text, n.open})
			return
		}
		r.unknown(n.open)
		r.emit(out, jinjaValue{}, n.open)
	case n.tag == "filter" || n.tag == "trans" || n.tag == "analysis":
		r.unknown(n.open)
		r.nodes(body, out)
	default: // with, autoescape, block
		r.scope = &jinjaScope{names: map[string]jinjaValue{}, outer: r.scope}
		if n.tag == "with" && len(n.tokens) > 2 && n.tokens[1].text == "=" {
			r.set(n.tokens[0].text, r.value(n.tokens[2:], n.open))
		}
		r.nodes(body, out)
		r.scope = r.scope.outer
	}
}

// inner renders nodes whose names are not seen outside of them.
func (r *renderer) inner(nodes []*jinjaNode, out *Text) {
	r.scope = &jinjaScope{names: map[string]jinjaValue{}, outer: r.scope}
	r.nodes(nodes, out)
	r.scope = r.scope.outer
}

func (r *renderer) conditional(n *jinjaNode, out *Text) {
	open := false // a condition so far was not known
	chosen := -1
	for i := range n.branches {
		tokens := n.branches[i].tokens
		if i == 0 {
			tokens = n.tokens
		}
		truth := true
		if i == 0 || len(tokens) > 0 {
			r.undecided = false
			e := &jinjaExpr{r: r, tokens: tokens, span: n.open}
			truth = e.condition()
			if e.failed || e.at < len(tokens) {
				r.misread(tokens, n.open)
				e.at = len(tokens)
				truth = r.decide(e.key(0))
			}
			open = open || r.undecided
		}
		key := branchKey{n, i}
		if truth && chosen < 0 {
			chosen = i
			r.covered[key] = true
		} else if open && !r.covered[key] && (truth || r.undecided) {
			r.covered[key] = false // it is to be reached with other conditions
		}
		if truth && !open {
			break
		}
	}
	if chosen >= 0 {
		r.nodes(n.branches[chosen].nodes, out)
	}
}

// loop renders the body for each item of a list that is known, and twice for one
// that is not.
func (r *renderer) loop(n *jinjaNode, out *Text) {
	in := slices.IndexFunc(n.tokens, func(t jinjaToken) bool { return t.text == "in" && t.kind == 'n' })
	if in < 0 {
		r.misread(n.tokens, n.open)
		r.unknown(n.open)
		r.nodes(n.branches[0].nodes, out)
		return
	}
	var names []string
	for _, t := range n.tokens[:in] {
		if t.kind == 'n' {
			names = append(names, t.text)
		}
	}
	over := r.value(n.tokens[in+1:], n.open)
	var items []jinjaValue
	if over.kind == jinjaDict {
		over = r.method(over, "keys", nil, n.open)
	}
	switch {
	case over.kind == jinjaList && len(*over.items) == 0:
		if len(n.branches) > 1 {
			r.nodes(n.branches[1].nodes, out)
		}
		return
	case over.kind == jinjaList:
		items = slices.Clone(*over.items)
	default:
		r.unknown(n.open)
		element := jinjaValue{own: over.ours()}
		items = []jinjaValue{element, element}
		if len(n.branches) > 1 && !r.decide("for "+(&jinjaExpr{tokens: n.tokens, at: len(n.tokens)}).key(0)) {
			r.nodes(n.branches[1].nodes, out)
			return
		}
	}
	for i, item := range items {
		r.scope = &jinjaScope{names: map[string]jinjaValue{}, outer: r.scope}
		r.set("loop", dictionary([]string{"first", "last", "index", "index0", "length"}, boolean(i == 0), boolean(i == len(items)-1),
			jinjaValue{own: true}, jinjaValue{own: true}, jinjaValue{own: true}))
		for k, name := range names {
			v := item
			if len(names) > 1 {
				v = jinjaValue{own: item.ours()}
				if item.kind == jinjaList && k < len(*item.items) {
					v = (*item.items)[k]
				}
			}
			r.set(name, v)
		}
		r.nodes(n.branches[0].nodes, out)
		r.scope = r.scope.outer
		if r.steps > maxRenderSteps || len(out.sql) > maxRenderBytes {
			r.unknown(n.open)
			return
		}
	}
}

func dictionary(keys []string, values ...jinjaValue) jinjaValue {
	return jinjaValue{kind: jinjaDict, keys: keys, items: &values}
}

// name returns the value of a name.
func (r *renderer) name(name string, span sqlguard.Span) jinjaValue {
	for s := r.scope; s != nil; s = s.outer {
		if v, ok := s.names[name]; ok {
			return v
		}
	}
	switch name {
	case "true", "True":
		return boolean(true)
	case "false", "False":
		return boolean(false)
	case "none", "None":
		return jinjaValue{kind: jinjaNone}
	case "execute": // dbt looks once without it, and makes the text with it
		return boolean(true)
	case "this":
		return r.relationOf(span, r.relation)
	default:
		return jinjaValue{kind: jinjaGlobal, path: name}
	}
}

// settings are the names of dbt whose parts are values of the project or of the
// run.
var settings = map[string]bool{
	"target": true, "model": true, "flags": true, "loop": true, "invocation_id": true, "run_started_at": true, "dbt_version": true,
	"project_name": true, "graph": true, "node": true, "thread_id": true, "invocation_args_dict": true, "database": true, "schema": true, "var": true, "selected_resources": true,
}

// resolved returns the value of a name that is not called.
func (r *renderer) resolved(v jinjaValue, span sqlguard.Span) jinjaValue {
	if v.kind != jinjaGlobal {
		return v
	}
	root, method, _ := strings.Cut(v.path, ".")
	if runs[root] || root == "adapter" && !harmlessAdapter[method] {
		r.runUnknown(span) // it may be called under another name
	}
	return jinjaValue{own: settings[root]}
}

func (r *renderer) relationOf(span sqlguard.Span, names ...string) jinjaValue {
	sql, ok := relation(r.quote, names...)
	if !ok {
		return jinjaValue{}
	}
	text := &Text{Span: span}
	text.escaped(sql, span)
	return jinjaValue{kind: jinjaRelation, text: text}
}

// call returns the result of a call.
func (e *jinjaExpr) call(f jinjaValue, args []argument) jinjaValue {
	r := e.r
	given := values(args)
	own := !slices.ContainsFunc(given, func(v jinjaValue) bool { return !v.ours() })
	if f.kind == jinjaMethod {
		return r.method((*f.items)[0], f.path, given, e.span)
	}
	if f.kind != jinjaGlobal {
		r.foreign++
		return jinjaValue{}
	}
	path := strings.TrimPrefix(f.path, "builtins.")
	last := path[strings.LastIndexByte(path, '.')+1:]
	if node := r.macros[path]; node != nil {
		return r.macro(node, args, e.span)
	}
	if prefix := strings.TrimSuffix(path, last); prefix == "dbt." || prefix == "dbt_utils." || prefix == "" && strings.HasPrefix(last, "type_") {
		if sql := cmp.Or(dbtTypes[r.dialect.Name()][last], dbtTypes[""][last]); sql != "" && len(args) == 0 {
			text := &Text{Span: e.span}
			text.escaped(sql, e.span)
			return known(text)
		}
	}
	switch path {
	case "ref", "source":
		return e.related(path, args)
	case "config":
		for _, a := range args {
			e.hooks(a.name, a.value)
			if a.name == "enabled" {
				truth, certain := a.value.is()
				r.out.Disabled = certain && !truth
			}
		}
		return known(&Text{Span: e.span})
	case "return":
		if len(given) == 1 && r.depth > 0 {
			v := given[0]
			r.returned = &v
			return known(&Text{Span: e.span})
		}
	case "before_begin", "after_commit", "in_transaction":
		if len(given) > 0 {
			return given[0]
		}
	case "log", "print", "exceptions.raise_compiler_error", "exceptions.warn", "depends_on":
		return known(&Text{Span: e.span})
	case "namespace", "dict":
		v := list(given)
		v.kind = jinjaUnknown
		return jinjaValue{own: v.ours() || own}
	case "var", "env_var", "config.get", "config.require", "is_incremental", "should_full_refresh", "load_result", "load_relation", "set", "range", "zip", "fromjson", "fromyaml", "tojson", "toyaml", "adapter.quote", "adapter.quote_as_configured":
		return jinjaValue{own: own}
	case "run_query", "dbt.run_query", "dbt_utils.get_single_value", "dbt_utils.get_query_results_as_dict", "adapter.execute":
		e.runs(args)
		return jinjaValue{}
	}
	root, method, _ := strings.Cut(path, ".")
	switch {
	case root == "modules" || root == "run_started_at" || root == "graph" || root == "target" || root == "model" || root == "flags" || root == "loop" || root == "exceptions":
		return jinjaValue{own: own}
	case root == "api":
		return jinjaValue{}
	case root == "adapter" && harmlessAdapter[method]:
		return jinjaValue{}
	case root == "adapter" || runs[root] || runs[last]:
		r.runUnknown(e.span)
	default:
		r.foreign++
	}
	return jinjaValue{}
}

// related returns the relation of ref(…) or source(…).
func (e *jinjaExpr) related(function string, args []argument) jinjaValue {
	var names []string
	version := ""
	for _, a := range args {
		text, ok := a.value.whole()
		switch {
		case (a.name == "v" || a.name == "version") && a.value.kind == jinjaNumber: // ref('x', v=2) is named x_v2
			version = "_v" + a.value.text.SQL()
		case a.name != "" || !ok:
			return jinjaValue{}
		default:
			names = append(names, text)
		}
	}
	switch {
	case function == "source" && len(names) == 2 && version == "":
		return e.r.relationOf(e.span, names...)
	case function == "ref" && (len(names) == 1 || len(names) == 2):
		return e.r.relationOf(e.span, names[len(names)-1]+version)
	default:
		return jinjaValue{}
	}
}

// runs keeps the statement that a call runs while dbt compiles.
func (e *jinjaExpr) runs(args []argument) {
	for i, a := range args {
		if i > 0 && a.name == "" || a.name != "" && a.name != "sql" && a.name != "query" {
			continue
		}
		if a.value.kind == jinjaString && len(a.value.text.sql) > 0 {
			e.r.out.Runs = append(e.r.out.Runs, Run{a.value.text, e.span})
			return
		}
	}
	e.r.runUnknown(e.span)
}

// hooks keeps the statements of an argument of config.
func (e *jinjaExpr) hooks(name string, v jinjaValue) {
	r := e.r
	if name == "" && v.kind == jinjaDict { // config({'post-hook': …})
		for i, key := range v.keys {
			e.hooks(key, (*v.items)[i])
		}
		return
	}
	if !hookNames[name] {
		return
	}
	switch v.kind {
	case jinjaString:
		if len(v.text.sql) > 0 || len(v.text.Holes) > 0 {
			r.out.Hooks = append(r.out.Hooks, Run{v.text, e.span})
		}
	case jinjaList:
		for _, item := range *v.items {
			e.hooks(name, item)
		}
	case jinjaDict:
		if i := slices.Index(v.keys, "sql"); i >= 0 {
			e.hooks(name, (*v.items)[i])
			return
		}
		r.out.UnknownHooks = append(r.out.UnknownHooks, e.span)
	case jinjaNone, jinjaBool, jinjaNumber:
	case jinjaUnknown, jinjaGlobal, jinjaAdapter, jinjaRelation, jinjaMethod:
		r.out.UnknownHooks = append(r.out.UnknownHooks, e.span)
	}
}

// macro calls a macro that the file defines.
func (r *renderer) macro(n *jinjaNode, args []argument, span sqlguard.Span) jinjaValue {
	parameters, ok := callOf(n.tokens)
	if !ok || r.depth >= maxMacroDepth {
		return jinjaValue{}
	}
	outer, returned := r.scope, r.returned
	inner := &jinjaScope{names: map[string]jinjaValue{}, outer: outer}
	for inner.outer.outer != nil { // a macro sees the names of the file only
		inner.outer = inner.outer.outer
	}
	next := 0
	for i := 0; i < len(parameters); i++ {
		name := parameters[i].text
		end := i + 1
		for depth := 0; end < len(parameters) && (depth > 0 || parameters[end].text != ","); end++ {
			switch parameters[end].text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		v := jinjaValue{}
		if end > i+2 && parameters[i+1].text == "=" {
			v = r.value(parameters[i+2:end], span)
		}
		for k, a := range args {
			if a.name == name || a.name == "" && k == next {
				v = a.value
			}
		}
		inner.names[name] = v
		next++
		i = end
	}
	text := &Text{Span: span}
	r.scope, r.returned = inner, nil
	r.depth++
	r.nodes(n.branches[0].nodes, text)
	r.depth--
	result := known(text)
	if r.returned != nil {
		result = *r.returned
	}
	r.scope, r.returned = outer, returned
	return result
}
