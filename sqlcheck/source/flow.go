package source

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// The limits of following values through a program.
const (
	maxAlternatives = 32      // texts that one expression can have
	maxFollowed     = 1 << 20 // bytes of a text
	maxDepth        = 200     // expressions in one another
	maxCalls        = 3       // functions that are entered in one another for their result
	maxEntered      = 10_000  // functions that are entered in a file
)

// value is what is known about the value of an expression. A nil value is not
// known at all.
type value struct {
	texts   []*Text           // it is one of these texts
	items   []item            // it is a list
	fields  map[string]*value // it is an object
	fn      *function         // it is a function
	list    bool
	object  bool
	number  bool
	builder bool // a buffer that collects a text
	partial bool // it can be more texts than these
	bound   bool // it is a value in a statement, whatever it is
	quoted  bool // a library quotes it as a name
	// fragment says that a library knows the text as a part of a statement.
	fragment bool
}

// item is an element of a list.
type item struct {
	value  *value
	span   sqlguard.Span
	absent bool // it may be missing
	repeat bool // there may be any number of it
}

func textValue(t ...*Text) *value { return &value{texts: t} }

// language is what differs between the languages.
type language interface {
	// call returns the value of a call of a known function. done reports
	// whether the function is known.
	call(f *flow, n *node, receiver *value, args []*value) (v *value, done bool)
	// sink adds the texts that a call passes to a database.
	sink(f *flow, n *node, args []*value)
	// outer returns the value of a name that the file does not declare.
	outer(f *flow, n *node) *value
	// imported returns the value of a name that another file exports.
	imported(f *flow, n *node) *value
	// tagged returns the value of a template with a tag, and adds its text.
	tagged(f *flow, n *node) *value
	// member returns the value of a member of something unknown.
	member(f *flow, n *node) *value
}

// flow follows the values of a program's expressions through its functions.
type flow struct {
	lang    language
	state   map[*variable]*value
	journal []change
	fn      *function
	quiet   int // above 0, calls add no texts
	depth   int
	calls   int
	imports int // files that refer to one another, up to this one
	later   []*function
	known   map[*node]bool // calls whose texts were added
	busy    map[*variable]bool
	first   map[*variable]*value // of names of the file that are assigned once
	plain   map[*function]bool   // whose result is not known to be a text
	entered int
	// returns is what the function that was entered last returns, if returned.
	returns  *value
	returned bool
	ended    bool
	texts    []*Text
}

type change struct {
	v   *variable
	old *value
	had bool
}

// follow runs through a file.
func follow(top *function, lang language) []*Text {
	f := newFlow(lang)
	f.run(top)
	return f.texts
}

func newFlow(lang language) *flow {
	return &flow{lang: lang, state: map[*variable]*value{}, known: map[*node]bool{}, busy: map[*variable]bool{}, first: map[*variable]*value{}, plain: map[*function]bool{}}
}

// reading returns a flow that finds the values of a file's names and adds no
// texts.
func reading(lang language, top *function, depth int) *flow {
	f := newFlow(lang)
	f.imports = depth
	f.quiet, f.fn = 1, &function{outer: top}
	return f
}

// run follows the body of a function, and then the functions in it that run
// later.
func (f *flow) run(fn *function) {
	outerFn, outerLater, outerEnded := f.fn, f.later, f.ended
	f.fn, f.later, f.ended = fn, nil, false
	for i, p := range fn.params {
		if fn.values[i] != nil {
			f.eval(fn.values[i])
		}
		if f.calls == 0 {
			f.assign(p, nil)
		}
	}
	f.stmt(fn.body)
	for len(f.later) > 0 && f.calls == 0 {
		list := f.later
		f.later = nil
		for _, inner := range list {
			f.ended = false
			f.run(inner)
		}
	}
	f.fn, f.later, f.ended = outerFn, outerLater, outerEnded
}

func (f *flow) set(v *variable, val *value) {
	if v == nil {
		return
	}
	old, had := f.state[v]
	f.journal = append(f.journal, change{v, old, had})
	f.state[v] = val
}

// back undoes the changes since a mark, and returns the values that they had.
func (f *flow) back(mark int) map[*variable]*value {
	after := map[*variable]*value{}
	for i := len(f.journal) - 1; i >= mark; i-- {
		c := f.journal[i]
		if _, seen := after[c.v]; !seen {
			after[c.v] = f.state[c.v]
		}
		if c.had {
			f.state[c.v] = c.old
		} else {
			delete(f.state, c.v)
		}
	}
	f.journal = f.journal[:mark]
	return after
}

func (f *flow) stmt(s *stmt) {
	if s == nil {
		return
	}
	switch s.kind {
	case stmtExpr:
		f.eval(s.value)
	case stmtDeclare, stmtAssign:
		if s.names != nil { // without a value
			return
		}
		f.assign(s.target, f.eval(s.value))
	case stmtAppend:
		added := f.eval(s.value)
		if s.target.kind != nodeName {
			f.assign(s.target, nil)
			return
		}
		if s.target.v == nil {
			return
		}
		old := f.state[s.target.v]
		defer f.shared(s.target.v, old)
		if old != nil && old.list && added != nil && added.list {
			f.set(s.target.v, &value{list: true, items: append(slices.Clip(old.items), added.items...)})
			return
		}
		f.set(s.target.v, f.concat([]*value{old, added}, []sqlguard.Span{s.target.span, nodeSpan(s.value)}))
	case stmtBlock:
		for _, inner := range s.list {
			f.stmt(inner)
		}
	case stmtBranch:
		f.branch(s)
	case stmtLoop:
		f.loop(s)
	case stmtTry:
		f.try(s)
	case stmtReturn:
		v := f.eval(s.value)
		if f.calls > 0 && s.names == nil {
			if f.returned {
				v = f.merge(f.returns, v)
			}
			f.returns, f.returned = v, true
		}
		f.ended = true
	case stmtFunction:
		f.set(s.target.v, &value{fn: s.value.fn})
		f.later = append(f.later, s.value.fn)
	case stmtNames:
	}
}

func nodeSpan(n *node) sqlguard.Span {
	if n == nil {
		return sqlguard.Span{}
	}
	return n.span
}

// branch follows each alternative, and joins what they assign.
func (f *flow) branch(s *stmt) {
	f.eval(s.value)
	f.alternatives(s, func(i int) { f.stmt(s.list[i]) }, len(s.list))
}

// alternatives follows n alternatives of a branch, and joins what they assign.
func (f *flow) alternatives(s *stmt, follow func(i int), n int) {
	type end struct {
		changed map[*variable]*value
		ended   bool
	}
	var ends []end
	for i := range n {
		mark := len(f.journal)
		f.ended = false
		if i > 0 && i <= len(s.list) && s.list[i-1].falls && !ends[i-1].ended { // it may come from there
			for v, val := range ends[i-1].changed {
				if old, has := f.state[v]; has || v.fn != f.fn {
					val = f.merge(old, val)
				}
				f.set(v, val)
			}
			ends[i-1].ended = true
		}
		follow(i)
		ended := f.ended
		ends = append(ends, end{f.back(mark), ended})
	}
	f.ended = false
	if !s.complete {
		ends = append(ends, end{})
	}
	changed := map[*variable]bool{}
	var order []*variable
	open := 0
	for _, e := range ends {
		if e.ended {
			continue
		}
		open++
		for v := range e.changed {
			if !changed[v] {
				changed[v] = true
				order = append(order, v)
			}
		}
	}
	f.ended = open == 0 && len(ends) > 0
	for _, v := range order {
		var merged *value
		first := true
		for _, e := range ends {
			if e.ended {
				continue
			}
			val, in := e.changed[v]
			if !in {
				var has bool
				if val, has = f.state[v]; !has && v.fn == f.fn {
					continue // it has no value there
				}
			}
			if first {
				merged, first = val, false
			} else {
				merged = f.merge(merged, val)
			}
		}
		f.set(v, merged)
	}
}

// try follows a body, and what handles that it fails. A handler, and what comes behind a
// body that may have failed, can see each of the values that the body assigned.
func (f *flow) try(s *stmt) {
	mark := len(f.journal)
	f.ended = false
	f.stmt(s.list[0])
	bodyEnded := f.ended
	// The values that each name had, from the last one to that before the body.
	during, next := map[*variable]*value{}, map[*variable]change{}
	for _, c := range slices.Backward(f.journal[mark:]) {
		if later, seen := next[c.v]; seen {
			during[c.v] = f.merge(later.old, during[c.v])
		} else {
			during[c.v] = f.state[c.v]
		}
		next[c.v] = c
	}
	for v, first := range next {
		if first.had || v.fn != f.fn {
			during[v] = f.merge(first.old, during[v])
		}
	}
	if len(s.list) == 1 { // only what runs in the end
		for v, val := range during {
			f.set(v, f.merge(f.state[v], val))
		}
		f.ended = bodyEnded
		return
	}
	done := f.back(mark)
	finish := &stmt{kind: stmtBranch, complete: true}
	f.alternatives(finish, func(i int) {
		if i == 0 {
			for v, val := range done {
				f.set(v, val)
			}
			f.ended = bodyEnded
			return
		}
		for v, val := range during {
			f.set(v, val)
		}
		f.stmt(s.list[i])
	}, len(s.list))
}

// loop follows a body that runs any number of times. What it adds to the end of
// a text is a hole, because its number is not known.
func (f *flow) loop(s *stmt) {
	elements := f.eval(s.value)
	grown := map[*variable]bool{}
	for _, a := range s.assigned {
		if _, seen := grown[a.v]; !seen {
			grown[a.v] = true
		}
		grown[a.v] = grown[a.v] && a.append
	}
	entry := map[*variable]*value{}
	for _, a := range s.assigned {
		if _, seen := entry[a.v]; seen {
			continue
		}
		old, has := f.state[a.v]
		if !has {
			continue
		}
		entry[a.v] = old
		if grown[a.v] {
			entry[a.v] = f.repeated(old, a.span)
			f.set(a.v, entry[a.v])
		} else {
			f.set(a.v, nil)
		}
	}
	if s.target != nil {
		f.assign(s.target, f.element(elements))
	}
	for _, inner := range s.list {
		f.stmt(inner)
	}
	f.ended = false
	for _, a := range s.assigned {
		old, in := entry[a.v]
		if !in {
			continue
		}
		delete(entry, a.v)
		if grown[a.v] {
			f.set(a.v, old)
		} else {
			f.set(a.v, f.merge(old, f.state[a.v]))
		}
	}
}

// repeated returns a value to which a loop adds something at a span.
func (f *flow) repeated(old *value, span sqlguard.Span) *value {
	switch {
	case old == nil:
		return nil
	case old.list:
		return &value{list: true, items: append(slices.Clip(old.items), item{span: span, absent: true, repeat: true})}
	case len(old.texts) > 0:
		out := &value{builder: old.builder, partial: old.partial}
		for _, t := range old.texts {
			more := t.clone()
			more.hole(span, false)
			out.texts = append(out.texts, t, more)
		}
		return limited(out)
	default:
		return nil
	}
}

// element returns the value that is one of the elements of another.
func (f *flow) element(v *value) *value {
	if v == nil || !v.list || len(v.items) == 0 || len(v.items) > maxAlternatives {
		return nil
	}
	out := &value{}
	for _, it := range v.items {
		if it.repeat || it.value == nil || len(it.value.texts) == 0 && !it.value.object {
			return nil
		}
		out.texts = append(out.texts, it.value.texts...)
		if it.value.object {
			out.object = true
			if out.fields != nil {
				out.fields = together(out.fields, it.value.fields)
			} else {
				out.fields = it.value.fields
			}
		}
	}
	if out.object && len(out.texts) > 0 {
		return nil
	}
	return limited(out)
}

// together returns the fields of two objects. A field is what it is in one of them: a
// list has the elements of both, of which any may be missing.
func together(a, b map[string]*value) map[string]*value {
	out := map[string]*value{}
	for name := range b {
		out[name] = nil
	}
	for name := range a {
		out[name] = nil
	}
	for name := range out {
		x, y := a[name], b[name]
		switch {
		case x == nil || y == nil:
			out[name] = cmp.Or(x, y)
			if one := out[name]; one != nil && len(one.texts) > 0 {
				out[name] = &value{texts: one.texts, partial: true}
			}
		case x.list && y.list:
			out[name] = &value{list: true, items: slices.Concat(x.items, y.items)}
		case len(x.texts) > 0 && len(y.texts) > 0:
			out[name] = limited(&value{texts: slices.Concat(x.texts, y.texts), partial: x.partial || y.partial})
		}
	}
	return out
}

// assign gives a value to a target.
func (f *flow) assign(target *node, v *value) {
	switch {
	case target == nil:
	case target.kind == nodeName:
		f.set(target.v, v)
	case target.kind == nodeList:
		for i, part := range target.list {
			var one *value
			if v != nil && v.list && i < len(v.items) && !slices.ContainsFunc(v.items[:i+1], func(it item) bool { return it.absent || it.repeat }) {
				one = v.items[i].value
			}
			f.assign(part, one)
		}
	case target.kind == nodeObject:
		for i, part := range target.list {
			var one *value
			if v != nil && v.object && target.keys[i] != "" {
				one = v.fields[target.keys[i]]
			}
			f.assign(part, one)
		}
	case target.kind == nodeAssign:
		f.eval(target.do.value)
		f.assign(target.do.target, nil)
	case target.kind == nodeMember || target.kind == nodeIndex:
		f.eval(target)
		for root := target.x; root != nil; root = root.x { // something in it changes
			if root.kind == nodeName && root.v != nil && !root.isSelf() {
				if old := f.state[root.v]; old != nil {
					f.set(root.v, nil)
					f.shared(root.v, old)
				}
			}
		}
	default:
		f.eval(target)
	}
}

// shared forgets the other names of a list, an object or a buffer that changed.
func (f *flow) shared(v *variable, old *value) {
	if old == nil || !old.list && !old.object && !old.builder || f.state[v] == old {
		return
	}
	for other, val := range f.state {
		if val == old && other != v {
			f.set(other, nil)
		}
	}
}

// merge returns a value that is one of two.
func (f *flow) merge(a, b *value) *value {
	switch {
	case a == b:
		return a
	case a == nil || b == nil:
		known := a
		if a == nil {
			known = b
		}
		if known == nil || len(known.texts) == 0 {
			return nil
		}
		out := &value{texts: known.texts, partial: true, builder: known.builder}
		return out
	case a.list && b.list:
		n := 0
		for n < min(len(a.items), len(b.items)) && a.items[n] == b.items[n] {
			n++
		}
		// Either what one adds to the same start or what the other adds: any of
		// these may be missing.
		out := &value{list: true, items: slices.Concat(a.items, b.items[n:])}
		if len(out.items) > maxJoined {
			return nil
		}
		for i := n; i < len(out.items); i++ {
			out.items[i].absent = true
		}
		return out
	case len(a.texts) > 0 && len(b.texts) > 0:
		return limited(&value{texts: append(slices.Clip(a.texts), b.texts...), partial: a.partial || b.partial, builder: a.builder || b.builder, fragment: a.fragment && b.fragment})
	default:
		return nil
	}
}

// limited drops what is there twice, and some of too many texts.
func limited(v *value) *value {
	if len(v.texts) < 2 {
		return v
	}
	seen := map[string]bool{}
	var kept []*Text
	for _, t := range v.texts {
		key := t.key()
		if !seen[key] {
			seen[key] = true
			kept = append(kept, t)
		}
	}
	if len(kept) > maxAlternatives {
		v.partial = true
		slices.SortStableFunc(kept, func(a, b *Text) int { return len(a.sql) - len(b.sql) })
		kept = append(slices.Clip(kept[:maxAlternatives/2]), kept[len(kept)-maxAlternatives/2:]...)
	}
	v.texts = kept
	return v
}

// concat returns the text of values one after the other. Their spans say where
// those that are not known stand. It returns nil if none is a text.
func (f *flow) concat(values []*value, spans []sqlguard.Span) *value {
	if !slices.ContainsFunc(values, func(v *value) bool { return v != nil && len(v.texts) > 0 }) {
		return nil
	}
	out := &value{texts: []*Text{{}}}
	for i, v := range values {
		out.partial = out.partial || v != nil && v.partial
		out.builder = out.builder || v != nil && v.builder
		if v == nil || len(v.texts) == 0 {
			for _, t := range out.texts {
				t.hole(spans[i], v != nil && v.number)
				if v != nil {
					h := &t.Holes[len(t.Holes)-1]
					h.Bound, h.Quoted = v.bound, v.quoted
				}
			}
			continue
		}
		if len(v.texts) == 1 {
			for _, t := range out.texts {
				if t.add(v.texts[0]); len(t.sql) > maxFollowed {
					return nil
				}
			}
			continue
		}
		var next []*Text
		size := 0
		for _, left := range out.texts {
			for _, right := range v.texts {
				t := left.clone()
				t.add(right)
				if size += len(t.sql); len(t.sql) > maxFollowed {
					return nil
				}
				next = append(next, t)
			}
		}
		if size > maxFollowed/4 {
			next, out.partial = next[:1], true
		}
		out.texts = next
		limited(out)
	}
	return out
}

// eval returns the value of an expression, and follows the calls in it.
func (f *flow) eval(n *node) *value {
	if n == nil {
		return nil
	}
	if f.depth++; f.depth > maxDepth {
		f.depth--
		return nil
	}
	defer func() { f.depth-- }()
	switch n.kind { //nolint:exhaustive // all others are not known
	case nodeNumber:
		for _, part := range n.list {
			f.eval(part)
		}
		return &value{number: true}
	case nodeLiteral:
		return &value{texts: []*Text{n.text}, builder: n.name == "buffer"}
	case nodeConcat:
		values, spans := make([]*value, len(n.list)), make([]sqlguard.Span, len(n.list))
		for i, part := range n.list {
			values[i], spans[i] = f.eval(part), part.span
		}
		return f.concat(values, spans)
	case nodeChoice:
		return f.choice(n)
	case nodeName:
		return f.name(n)
	case nodeMember:
		if owner := f.eval(n.x); owner != nil && owner.object {
			return owner.fields[n.name]
		}
		return f.lang.member(f, n)
	case nodeIndex:
		return f.index(n)
	case nodeCall:
		return f.call(n)
	case nodeTagged:
		f.eval(n.x)
		return f.lang.tagged(f, n)
	case nodeImport:
		return f.lang.imported(f, n)
	case nodeList:
		out := &value{list: true}
		for _, part := range n.list {
			out.items = append(out.items, item{value: f.eval(part), span: part.span, repeat: part.kind == nodeUnknown && part.name == "..."})
		}
		return out
	case nodeObject:
		out := &value{object: true, fields: map[string]*value{}}
		for i, part := range n.list {
			v := f.eval(part)
			switch {
			case n.keys[i] == anyKey || part.kind == nodeUnknown && part.name == "...": // it may be any of those before
				clear(out.fields)
			case n.keys[i] != "":
				out.fields[n.keys[i]] = v
			}
		}
		return out
	case nodeFunction:
		switch {
		case f.quiet > 0: // it is followed where it stands
		case n.fn.later:
			f.later = append(f.later, n.fn)
		default:
			f.closure(n.fn)
		}
		return &value{fn: n.fn}
	case nodeAssign:
		if n.do.kind != stmtBlock || f.quiet == 0 {
			f.stmt(n.do)
		}
		if n.do.kind == stmtBlock { // a class
			return f.eval(n.x)
		}
		if n.do.target.kind == nodeName && n.do.target.v != nil {
			return f.state[n.do.target.v]
		}
		return nil
	default:
		if n.name == "${}" { // in a template
			return f.eval(n.x)
		}
		f.eval(n.x)
		for _, part := range n.list {
			f.eval(part)
		}
		return nil
	}
}

// closure follows a function where it stands, with the values that variables
// have there.
func (f *flow) closure(fn *function) {
	mark, ended := len(f.journal), f.ended
	f.run(fn)
	f.back(mark)
	f.ended = ended
}

// choice returns the value of an expression that is one of several.
func (f *flow) choice(n *node) *value {
	out := &value{}
	known := false
	f.eval(n.x)
	fragment := true
	for _, part := range n.list {
		v := f.eval(part)
		fragment = fragment && v != nil && v.fragment
		if v != nil && len(v.texts) > 0 {
			known = true
			out.texts = append(out.texts, v.texts...)
			out.partial = out.partial || v.partial
			continue
		}
		t := &Text{}
		t.hole(part.span, v != nil && v.number)
		out.texts = append(out.texts, t)
	}
	if !known {
		return nil
	}
	out.fragment = fragment
	return limited(out)
}

// name returns the value of a variable where it is used.
func (f *flow) name(n *node) *value {
	v := n.v
	if v == nil {
		return f.lang.outer(f, n)
	}
	if v.open || v.inner {
		return nil
	}
	current, has := f.state[v]
	switch {
	case v.fn == f.fn:
		if has {
			return current
		}
	case v.times > 1:
		inner := f.fn
		for inner != nil && inner.outer != v.fn {
			inner = inner.outer
		}
		if inner == nil || inner.later || v.last > inner.span.Start || !has {
			return nil
		}
		return current
	case has:
		return current
	}
	if v.times != 1 || v.init == nil || f.busy[v] {
		return nil
	}
	if v.fn.outer == nil {
		if known, done := f.first[v]; done {
			return known
		}
	}
	f.busy[v] = true
	f.quiet++
	fn := f.fn
	f.fn = v.fn
	result := f.eval(v.init)
	f.fn = fn
	f.quiet--
	delete(f.busy, v)
	f.first[v] = result
	return result
}

// index returns the value of an element.
func (f *flow) index(n *node) *value {
	owner := f.eval(n.x)
	for _, part := range n.list {
		f.eval(part)
	}
	if owner == nil || len(n.list) != 1 {
		return nil
	}
	key := n.list[0]
	switch {
	case owner.object && key.kind == nodeLiteral && len(key.text.Holes) == 0:
		return owner.fields[key.text.SQL()]
	case owner.object && len(owner.fields) > 0 && len(owner.fields) <= maxAlternatives:
		out := &value{}
		for _, name := range sortedKeys(owner.fields) {
			v := owner.fields[name]
			if v == nil || len(v.texts) == 0 {
				return nil
			}
			out.texts = append(out.texts, v.texts...)
		}
		return limited(out)
	case owner.list:
		return f.element(owner)
	default:
		return nil
	}
}

func sortedKeys(m map[string]*value) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// call returns the value of a call.
func (f *flow) call(n *node) *value {
	if method := boundMethod(n.x); method != nil {
		n.x = method
	}
	var receiver *value
	if n.x != nil && n.x.kind == nodeMember {
		receiver = f.eval(n.x.x)
	} else if n.x != nil && n.x.kind != nodeName {
		receiver = f.eval(n.x)
	}
	args := make([]*value, len(n.list))
	for i, arg := range n.list {
		args[i] = f.eval(arg)
	}
	f.lang.sink(f, n, args)
	var owner *variable
	if n.x != nil && n.x.kind == nodeMember && n.x.x.kind == nodeName && !n.x.x.isSelf() {
		owner = n.x.x.v
	}
	v, done := f.lang.call(f, n, receiver, args)
	if owner != nil {
		f.shared(owner, receiver)
	}
	if done {
		return v
	}
	for i, arg := range n.list { // something that another function can change
		if args[i] != nil && (args[i].builder || args[i].list || args[i].object) && arg.kind == nodeName && arg.v != nil && !arg.isSelf() {
			f.set(arg.v, nil)
			f.shared(arg.v, args[i])
		}
	}
	if owner != nil && receiver != nil && receiver.object && receiver.fields[n.x.name] == nil && !readingMethods[n.x.name] { // that its method can change
		f.set(owner, nil)
		f.shared(owner, receiver)
	}
	var callee *value
	if n.x != nil && n.x.kind == nodeName {
		callee = f.name(n.x)
	} else if receiver != nil && receiver.object && n.x.kind == nodeMember {
		callee = receiver.fields[n.x.name]
	}
	if callee == nil || callee.fn == nil {
		return nil
	}
	return f.enter(callee.fn, n, args)
}

// anyKey is a key of an object that is computed.
const anyKey = "\x00[]"

// readingMethods do not change the object that they are called on.
var readingMethods = map[string]bool{"get": true, "items": true, "keys": true, "values": true, "copy": true, "hasOwnProperty": true, "toString": true}

// boundMethod returns the method that is the first value of a name, such as
// run after run = cursor.execute, or after run = db.query.bind(db).
func boundMethod(n *node) *node {
	if n == nil || n.kind != nodeName || n.v == nil || n.v.init == nil {
		return nil
	}
	method := n.v.init
	if method.kind == nodeCall && method.x != nil && method.x.kind == nodeMember && method.x.name == "bind" {
		method = method.x.x
	}
	if method.kind != nodeMember {
		return nil
	}
	return &node{kind: nodeMember, x: method.x, name: method.name, span: n.span}
}

// enter returns the result of a function of the file.
func (f *flow) enter(fn *function, n *node, args []*value) *value {
	if f.entered++; f.calls >= maxCalls || fn.body == nil || f.plain[fn] || f.entered > maxEntered {
		return nil
	}
	mark, returns, returned, ended, later := len(f.journal), f.returns, f.returned, f.ended, f.later
	f.calls++
	f.quiet++
	f.returns, f.returned = nil, false
	for i, p := range fn.params {
		if p.kind == nodeUnknown {
			continue
		}
		var v *value
		switch {
		case slices.ContainsFunc(n.keys, func(k string) bool { return k != "" }):
			for k := range n.list {
				if n.keys[k] == p.name || n.keys[k] == "" && k == i {
					v = args[k]
				}
			}
		case i < len(args):
			v = args[i]
		}
		if i >= len(args) && v == nil && fn.values[i] != nil {
			v = f.eval(fn.values[i])
		}
		f.assign(p, v)
	}
	f.run(fn)
	result := f.returns
	f.back(mark)
	f.returns, f.returned, f.ended, f.later = returns, returned, ended, later
	f.plain[fn] = result == nil
	f.calls--
	f.quiet--
	return result
}

// pass adds the texts that an expression can have, for a call that passes them
// to a database. usual reports whether the call usually does so, take whether a
// text counts.
func (f *flow) pass(v *value, as Text, usual bool, take func(*Text) bool) {
	took := false
	for _, t := range v.texts {
		t = t.clone()
		t.Call, t.Span, t.Sink, t.Receiver, t.Certain, t.Tagged = as.Call, as.Span, as.Sink, as.Receiver, as.Certain, as.Tagged
		if len(t.sql) == 0 && len(t.Holes) == 0 { // given its text elsewhere
			v = &value{texts: v.texts, partial: true}
			continue
		}
		if take(t) {
			took = true
			f.add(t)
		}
	}
	if v.partial && (took || as.Certain || usual) {
		rest := as
		f.add(unknown(&rest))
	}
}

// passAll adds the texts of an expression, or of the elements of a list, for what sends
// each of them to a database.
func (f *flow) passAll(v *value, n *node, as Text) {
	as.Span = n.span
	switch {
	case v != nil && v.list:
		for i, it := range v.items {
			at := &node{span: it.span}
			if n.kind == nodeList && i < len(n.list) {
				at = n.list[i]
			}
			f.passAll(it.value, at, as)
		}
	case v != nil && len(v.texts) > 0:
		f.pass(v, as, true, func(t *Text) bool { return len(t.Holes) > 0 || strings.TrimSpace(t.SQL()) != "" })
	case n.kind != nodeNumber && n.kind != nodeFunction:
		f.add(unknown(&as))
	}
}

func (f *flow) add(t *Text) {
	if f.quiet == 0 {
		f.texts = append(f.texts, t)
	}
}

// once reports whether the texts of a call are still to be added.
func (f *flow) once(n *node) bool {
	if f.quiet > 0 || f.known[n] {
		return false
	}
	f.known[n] = true
	return true
}

// clone returns a copy to which something can be added.
func (t *Text) clone() *Text {
	out := *t
	out.sql, out.pieces, out.Holes = slices.Clone(t.sql), slices.Clone(t.pieces), slices.Clone(t.Holes)
	return &out
}

// key is the same for texts that are judged the same.
func (t *Text) key() string {
	var b strings.Builder
	from := 0
	for _, h := range t.Holes {
		b.Write(t.sql[from:h.At])
		b.WriteString(mark)
		from = h.At
	}
	b.Write(t.sql[from:])
	if t.Emptied {
		b.WriteByte(0)
	}
	return b.String()
}

// moved returns a text of another file, all of it at a span of this one.
func (t *Text) moved(span sqlguard.Span) *Text {
	out := &Text{Emptied: t.Emptied}
	from := 0
	for _, h := range t.Holes {
		out.escaped(string(t.sql[from:h.At]), span)
		out.hole(span, h.Number)
		from = h.At
	}
	out.escaped(string(t.sql[from:]), span)
	return out
}

// join returns the elements of a list with a text between them. What may be
// missing makes alternatives.
func (f *flow) join(list, separator *value, span sqlguard.Span) *value {
	if list == nil || !list.list || len(list.items) > maxJoined {
		return nil
	}
	out := &value{texts: []*Text{{}}}
	known := false
	for _, it := range list.items {
		known = known || it.value != nil && (len(it.value.texts) > 0 || it.value.bound || it.value.quoted)
		var next []*Text
		for _, left := range out.texts {
			if it.absent || it.repeat {
				next = append(next, left)
			}
			start := []*Text{left}
			if len(left.sql) > 0 || len(left.Holes) > 0 {
				joined := f.concat([]*value{textValue(left), separator}, []sqlguard.Span{span, span})
				if joined == nil {
					return nil
				}
				start = joined.texts
			}
			for _, t := range start {
				one := f.concat([]*value{textValue(t), it.value}, []sqlguard.Span{span, it.span})
				if one == nil {
					return nil
				}
				out.partial = out.partial || one.partial
				next = append(next, one.texts...)
			}
		}
		out.texts = next
		limited(out)
	}
	if !known && len(list.items) > 0 {
		return nil
	}
	for i, t := range out.texts {
		if len(list.items) > 0 && len(t.sql) == 0 && len(t.Holes) == 0 {
			out.texts[i] = &Text{Emptied: true}
		}
	}
	return out
}

// maxJoined is the most elements of a list that is joined.
const maxJoined = 200
