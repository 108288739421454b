package source

import (
	"slices"

	"github.com/ktxhq/ktx/sqlguard"
)

// nodeKind is the kind of an expression.
type nodeKind uint8

const (
	nodeUnknown  nodeKind = iota // list has the expressions in it
	nodeNumber                   // a number
	nodeLiteral                  // text
	nodeConcat                   // the operands in list, one after the other
	nodeChoice                   // one of list
	nodeName                     // name
	nodeMember                   // name of x
	nodeIndex                    // list[0] of x
	nodeCall                     // x with the arguments list, of which some have names (keys)
	nodeTagged                   // a template list[0] with the tag x
	nodeList                     // list
	nodeObject                   // list, with a key for each
	nodeFunction                 // fn
	nodeAssign                   // do, as an expression
	nodeImport                   // what the file keys[0] calls name
)

// node is an expression of a program, in the same form for all languages.
type node struct {
	kind nodeKind
	span sqlguard.Span
	text *Text
	name string
	x    *node
	list []*node
	keys []string
	fn   *function
	do   *stmt
	v    *variable // of a name
	// constant says that it is the value of a constant.
	constant bool
}

// stmtKind is the kind of a statement.
type stmtKind uint8

const (
	stmtExpr     stmtKind = iota // value
	stmtAssign                   // target = value
	stmtAppend                   // target += value
	stmtDeclare                  // target is a new name, with value, or without one if it has names
	stmtBlock                    // list, with names of its own if scoped
	stmtBranch                   // one of list; none of them unless complete
	stmtLoop                     // list[0] any number of times; target takes each element of value
	stmtReturn                   // the function ends with value, or with an error if it has names
	stmtFunction                 // target is the function value.fn, from the start of the block
	stmtNames                    // names are those of an enclosing block (Python's global and nonlocal)
	stmtTry                      // list[0], and one of the others if it fails anywhere
)

// stmt is a statement of a program, in the same form for all languages.
type stmt struct {
	kind     stmtKind
	target   *node
	value    *node
	list     []*stmt
	names    []string
	scoped   bool
	complete bool
	falls    bool       // what a branch ends with goes on with the next one
	assigned []assigned // in a loop
}

// assigned is a variable to which a loop assigns.
type assigned struct {
	v      *variable
	append bool // and only by adding to its end
	span   sqlguard.Span
}

// function is a function of a program.
type function struct {
	name   string // if it has one
	span   sqlguard.Span
	params []*node // names; of a pattern, each name
	values []*node // the default of each parameter, or nil
	locals []string
	body   *stmt
	outer  *function
	// later says that the function runs some time after it is declared, not
	// where it stands.
	later bool
	// method says that its first parameter is the object that it is called on.
	method bool
}

// variable is a name that a program declares.
type variable struct {
	fn    *function // in which it is declared
	times int       // how often it is assigned
	last  int       // the offset of the last assignment
	init  *node     // the value of the first assignment
	open  bool      // something else may assign it
	inner bool      // a function within its function assigns it, whenever that runs, or something else through its address
}

// scope is the names of a block.
type scope struct {
	outer *scope
	fn    *function
	names map[string]*variable
}

// resolver connects each name with its variable.
type resolver struct {
	scope   *scope
	hoist   bool // a name is known in its whole block
	loops   []*stmt
	mutates func(n *node, change func(target *node, adds bool))
	// passes returns the argument that a call passes to a database, or nil.
	passes func(n *node) *node
	passed []*variable // what calls pass to a database
}

// resolve connects the names in the body of a file with their variables.
func resolve(top *function, hoist bool, mutates func(*node, func(*node, bool))) *scope {
	names, _ := resolveCalls(top, hoist, mutates, nil)
	return names
}

// resolveCalls is resolve. It also returns the functions of the file that pass a
// parameter of theirs to a database as it is: the index of that argument, by the name of
// the function.
func resolveCalls(top *function, hoist bool, mutates func(*node, func(*node, bool)), passes func(*node) *node) (*scope, map[string]int) {
	r := &resolver{hoist: hoist, mutates: mutates, passes: passes}
	r.function(top)
	passing := map[string]int{}
	for _, v := range r.passed {
		if v.times != 1 || v.fn.name == "" {
			continue
		}
		i := slices.IndexFunc(v.fn.params, func(p *node) bool { return p.kind == nodeName && p.v == v })
		if i > 0 && v.fn.params[0].kind == nodeUnknown && v.fn.method {
			i-- // self, which callers do not write
		}
		if i >= 0 {
			passing[v.fn.name] = i
		}
	}
	return r.scope, passing
}

// passing notes the parameter of a function that a call passes to a database.
func (r *resolver) passing(n *node) {
	if r.passes == nil {
		return
	}
	arg := r.passes(n)
	if arg != nil && arg.kind == nodeObject { // query({text: name})
		i := slices.IndexFunc(arg.keys, func(key string) bool { return key == "text" || key == "sql" })
		if i < 0 {
			return
		}
		arg = arg.list[i]
	}
	if arg != nil && arg.kind == nodeName && arg.v != nil {
		r.passed = append(r.passed, arg.v)
	}
}

func (r *resolver) function(fn *function) {
	outer, loops := r.scope, r.loops
	if outer != nil {
		fn.outer = outer.fn
	}
	r.scope, r.loops = &scope{outer: outer, fn: fn, names: map[string]*variable{}}, nil
	for i, p := range fn.params {
		if fn.values[i] != nil {
			r.node(fn.values[i])
		}
		eachName(p, func(n *node) { r.declare(n.name) })
		r.target(p)
	}
	for _, name := range fn.locals {
		r.declare(name)
	}
	if fn.body != nil {
		r.hoisted(fn.body.list)
		for _, s := range fn.body.list {
			r.stmt(s)
		}
	}
	if outer != nil {
		r.scope, r.loops = outer, loops
	}
}

// hoisted declares the names that are known in a whole block.
func (r *resolver) hoisted(list []*stmt) {
	if !r.hoist && r.scope.outer != nil {
		return
	}
	for _, s := range list {
		if s.kind == stmtDeclare || s.kind == stmtFunction {
			eachName(s.target, func(n *node) { r.declare(n.name) })
		}
	}
}

// eachName calls f with each name in a target.
func eachName(n *node, f func(*node)) {
	switch {
	case n == nil:
	case n.kind == nodeName:
		f(n)
	case n.kind == nodeList || n.kind == nodeObject:
		for _, part := range n.list {
			eachName(part, f)
		}
	case n.kind == nodeAssign: // with a default
		eachName(n.do.target, f)
	}
}

func (r *resolver) declare(name string) {
	if r.scope.names[name] != nil {
		return
	}
	if r.scope.names == nil {
		r.scope.names = map[string]*variable{}
	}
	r.scope.names[name] = &variable{fn: r.scope.fn}
}

func (s *scope) find(name string) *variable {
	for ; s != nil; s = s.outer {
		if v := s.names[name]; v != nil {
			return v
		}
	}
	return nil
}

// bind counts an assignment of a value to a name.
func (r *resolver) bind(n, value *node, at int) {
	if n.v = r.scope.find(n.name); n.v == nil {
		return
	}
	n.v.times++
	n.v.inner = n.v.inner || r.scope.fn != n.v.fn
	n.v.last = max(n.v.last, at)
	if n.v.times == 1 {
		n.v.init = value
	}
	for _, loop := range r.loops {
		loop.assigned = append(loop.assigned, assigned{v: n.v, span: n.span})
	}
}

// adds counts something that is added to the end of a name's value.
func (r *resolver) adds(n *node) {
	if n.v = r.scope.find(n.name); n.v == nil {
		return
	}
	n.v.times++
	n.v.inner = n.v.inner || r.scope.fn != n.v.fn
	n.v.last = max(n.v.last, n.span.Start)
	for _, loop := range r.loops {
		loop.assigned = append(loop.assigned, assigned{n.v, true, n.span})
	}
}

func (r *resolver) stmt(s *stmt) {
	if s == nil {
		return
	}
	switch s.kind {
	case stmtDeclare:
		r.node(s.value)
		if s.target.kind == nodeName {
			s.value.call(s.target.name)
			r.declare(s.target.name)
			r.bind(s.target, s.value, s.target.span.Start)
			return
		}
		eachName(s.target, func(n *node) { r.declare(n.name) })
		r.target(s.target)
	case stmtAssign:
		r.node(s.value)
		if s.target.kind == nodeName {
			if sum := s.value; sum != nil && sum.kind == nodeConcat && sum.list[0].kind == nodeName && sum.list[0].name == s.target.name {
				r.adds(s.target)
				return
			}
			r.bind(s.target, s.value, s.target.span.Start)
			return
		}
		r.target(s.target)
	case stmtAppend:
		r.node(s.value)
		if s.target.kind == nodeName {
			r.adds(s.target)
			return
		}
		r.target(s.target)
	case stmtBlock:
		r.block(s)
	case stmtBranch, stmtTry:
		r.node(s.value)
		for _, b := range s.list {
			r.stmt(b)
		}
	case stmtLoop:
		r.loop(s)
	case stmtFunction:
		s.value.call(s.target.name)
		r.declare(s.target.name)
		r.bind(s.target, s.value, s.target.span.Start)
		r.node(s.value)
	case stmtNames:
		for _, name := range s.names {
			if v := r.enclosing(name); v != nil {
				r.scope.names[name] = v
			}
		}
	case stmtExpr, stmtReturn:
		r.node(s.value)
	}
}

// enclosing returns the variable with a name in an enclosing function.
func (r *resolver) enclosing(name string) *variable {
	for s := r.scope.outer; s != nil; s = s.outer {
		if v := s.names[name]; v != nil {
			return v
		}
	}
	return nil
}

func (r *resolver) block(s *stmt) {
	if s.scoped {
		outer := r.scope
		r.scope = &scope{outer: outer, fn: outer.fn}
		defer func() { r.scope = outer }()
		r.hoisted(s.list)
	}
	for _, inner := range s.list {
		r.stmt(inner)
	}
}

func (r *resolver) loop(s *stmt) {
	r.node(s.value)
	if s.scoped {
		outer := r.scope
		r.scope = &scope{outer: outer, fn: outer.fn}
		defer func() { r.scope = outer }()
	}
	r.loops = append(r.loops, s)
	if s.target != nil {
		if s.scoped {
			eachName(s.target, func(n *node) { r.declare(n.name) })
		}
		r.target(s.target)
	}
	for _, inner := range s.list {
		r.stmt(inner)
	}
	r.loops = r.loops[:len(r.loops)-1]
}

// target counts assignments of unknown values to the names in a target.
func (r *resolver) target(n *node) {
	switch {
	case n == nil:
	case n.kind == nodeName:
		r.bind(n, nil, n.span.Start)
	case n.kind == nodeList || n.kind == nodeObject:
		for _, part := range n.list {
			r.target(part)
		}
	case n.kind == nodeAssign:
		r.node(n.do.value)
		r.target(n.do.target)
	default: // a part of something
		r.node(n)
		if v := r.scope.owner(n); v != nil {
			v.times++
			v.inner = v.inner || r.scope.fn != v.fn
			v.last = max(v.last, n.span.Start)
			for _, loop := range r.loops {
				loop.assigned = append(loop.assigned, assigned{v: v, span: n.span})
			}
		}
	}
}

// owner returns the variable of which an expression is a part. The object that a method
// belongs to is none.
func (s *scope) owner(n *node) *variable {
	for n != nil && (n.kind == nodeMember || n.kind == nodeIndex) {
		n = n.x
	}
	if n == nil || n.kind != nodeName || n.isSelf() {
		return nil
	}
	return s.find(n.name)
}

// isSelf reports whether a name is the one of the object that a method belongs to. The
// fields that methods assign are left out when the class is read.
func (n *node) isSelf() bool { return n.name == "this" || n.name == "self" || n.name == "cls" }

func (r *resolver) node(n *node) {
	if n == nil {
		return
	}
	switch n.kind { //nolint:exhaustive // the others have only parts
	case nodeName:
		n.v = r.scope.find(n.name)
		return
	case nodeFunction:
		r.function(n.fn)
		return
	case nodeAssign:
		r.stmt(n.do)
		return
	case nodeUnknown:
		if n.name == addressed { // something else may assign what is there, at any time
			if v := r.scope.owner(n.x); v != nil {
				v.inner = true
			}
		}
	case nodeCall:
		if r.mutates != nil {
			r.mutates(n, func(target *node, adds bool) {
				switch {
				case target.kind != nodeName:
				case adds:
					r.adds(target)
				default:
					r.bind(target, nil, n.span.Start)
				}
			})
		}
	}
	r.node(n.x)
	for _, part := range n.list {
		if n.kind == nodeCall && part.kind == nodeUnknown && part.name == addressed { // the call assigns it, if anything does
			part = part.x
		}
		r.node(part)
	}
	if n.kind == nodeCall {
		r.passing(n)
	}
}

// call gives a name to a function that has none.
func (n *node) call(name string) {
	if n != nil && n.kind == nodeFunction && n.fn.name == "" {
		n.fn.name = name
	}
}
