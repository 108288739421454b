package source

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// javaScriptSinks are functions and methods that take SQL as their first
// argument: those of node-postgres, mysql2, better-sqlite3, node-sqlite3, Knex, Lucid,
// Sequelize, TypeORM, Prisma, Drizzle, MikroORM, db-migrate and postgres.js.
var javaScriptSinks = map[string]certainty{
	"query": likely, "execute": likely, "raw": likely, "unsafe": likely, "prepare": possible, "exec": possible, "run": possible, "all": possible, "get": possible, "each": possible,
	"$queryRawUnsafe": certain, "$executeRawUnsafe": certain, "queryRaw": certain, "executeSql": certain, "multi": possible, "one": possible, "none": possible,
	"manyOrNone": certain, "oneOrNone": certain, "any": possible, "many": possible, "addSql": certain, "runSql": certain, "rawQuery": likely,
	"queryObject": likely, "queryArray": likely, "queryAsync": likely, "executeMultiple": likely, "batch": possible, "executeBatch": possible, "Cursor": possible, "QueryStream": possible, "Query": possible,
	"command":   possible,
	"execAsync": possible, "runAsync": possible, "getAllAsync": possible, "getFirstAsync": possible, "getEachAsync": possible,
}

// javaScriptQueries are the classes of node-postgres whose objects a client queries.
var javaScriptQueries = map[string]bool{"Query": true, "Cursor": true, "QueryStream": true}

// javaScriptTags are the tags of templates whose text is SQL. The driver gets
// the values of such a template as parameters.
var javaScriptTags = map[string]bool{
	"sql": true, "SQL": true, "pgsql": true, "$queryRaw": true, "$executeRaw": true, "literal": false, "raw": false, "query": false, "queryObject": true, "queryArray": true,
}

// javaScriptUnchanged are the tags of templates whose value is their text, but for space.
var javaScriptUnchanged = map[string]bool{"dedent": true, "outdent": true, "stripIndent": true, "stripIndents": true, "oneLine": true}

// javaScriptForeign are the tags of templates in languages other than SQL.
var javaScriptForeign = map[string]bool{"gql": true, "graphql": true, "html": true, "css": true, "cypher": true, "groq": true, "aql": true}

// javaScript is a source of JavaScript or TypeScript.
type javaScript struct {
	options *Options
	passing map[string]int // functions of the file that pass an argument to a database
}

func findJavaScript(source string, o *Options) (*Source, error) {
	p, top, err := parseJavaScript(source, o.name)
	if err != nil {
		return nil, err
	}
	lang := &javaScript{options: o}
	_, lang.passing = resolveCalls(top, true, jsMutates, lang.passes)
	texts := follow(top, lang)
	for i, t := range texts {
		if t.Sink == "raw" && !t.Tagged {
			texts[i] = t.unescaped()
		}
	}
	return &Source{Texts: texts, Comments: p.comments}, nil
}

// unescaped returns a text of Knex as it sends it: \? is an operator there, and ? a
// parameter.
func (t *Text) unescaped() *Text {
	const escape = `\?`
	sql := string(t.sql)
	if !strings.Contains(sql, escape) {
		return t
	}
	out := *t
	out.sql, out.pieces, out.Holes = nil, nil, slices.Clone(t.Holes)
	from := 0
	for at := 0; ; at = from + 1 {
		n := strings.Index(sql[at:], escape)
		if n < 0 {
			break
		}
		at += n
		out.run(t, from, at)
		for i := range out.Holes {
			if t.Holes[i].At > at {
				out.Holes[i].At--
			}
		}
		from = at + 1 // the backslash is not sent
	}
	out.run(t, from, len(sql))
	return &out
}

// parseJavaScript reads a file. The name says whether it can have JSX: files of
// JavaScript can, as those of TypeScript whose extension says so.
func parseJavaScript(source, name string) (p *jsParser, top *function, err error) {
	defer func() {
		if r := recover(); r != nil {
			syntax, ok := r.(*SyntaxError)
			if !ok {
				panic(r)
			}
			err = syntax
		}
	}()
	p = &jsParser{source: source, noArrow: map[int]bool{}, exports: map[string]*node{}}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".ts", ".mts", ".cts":
	default:
		p.jsx = true
	}
	top = p.program()
	return p, top, nil
}

// jsMutates calls change with each list that a call adds to or changes.
func jsMutates(n *node, change func(*node, bool)) {
	if n.x == nil || n.x.kind != nodeMember {
		return
	}
	switch n.x.name {
	case "push":
		change(n.x.x, true)
	case "pop", "shift", "unshift", "splice", "sort", "reverse", "fill":
		change(n.x.x, false)
	}
}

func (j *javaScript) outer(*flow, *node) *value { return nil }

// member returns the empty part of a statement that a library names.
func (j *javaScript) member(_ *flow, n *node) *value {
	if n.name == "empty" && n.x.kind == nodeName && (n.x.name == "Prisma" || n.x.name == "sql") {
		return &value{texts: []*Text{{}}, fragment: true}
	}
	return nil
}

// imported returns what another file of the project exports under a name.
func (j *javaScript) imported(f *flow, n *node) *value {
	return j.options.Library.exported(j.options.Path, n.keys[0], n.name, f.imports+1).moved(n.span)
}

// jsLast returns the last name of an expression.
func jsLast(n *node) string {
	if n != nil && (n.kind == nodeName || n.kind == nodeMember) {
		return n.name
	}
	return ""
}

// jsTag returns the name of the tag of a template. Slonik has sql.unsafe, sql.fragment,
// sql.type(…) and sql.typeAlias(…) for sql.
func jsTag(tag *node) string {
	of := tag
	if tag.kind == nodeCall {
		of = tag.x
	}
	if of != nil && of.kind == nodeMember && jsLast(of.x) == "sql" {
		switch called := tag.kind == nodeCall; of.name {
		case "type", "typeAlias", "unsafe", "fragment":
			if called == strings.HasPrefix(of.name, "type") {
				return "sql"
			}
		}
	}
	return jsLast(tag)
}

// tagged returns the value of a template with a tag. Only parts that are made by
// such a tag too are SQL; all other values are parameters.
func (j *javaScript) tagged(f *flow, n *node) *value {
	template := n.list[0]
	name := jsTag(n.x)
	if name == "raw" && jsLast(n.x.x) == "String" {
		return f.eval(template)
	}
	if !j.judges(n) {
		if v := f.eval(template); javaScriptUnchanged[name] {
			return v
		}
		return nil
	}
	values, spans := make([]*value, len(template.list)), make([]sqlguard.Span, len(template.list))
	var holes, bound []sqlguard.Span
	for i, part := range template.list {
		v := f.eval(part)
		if part.kind != nodeLiteral {
			if v != nil && !v.fragment {
				if len(v.texts) > 0 || v.number {
					bound = append(bound, part.span)
				}
				v = nil
			}
			if v == nil {
				holes = append(holes, part.span)
			}
		}
		values[i], spans[i] = v, part.span
	}
	v := f.concat(values, spans)
	if v == nil {
		return nil
	}
	out := *v
	out.fragment = true
	for i, t := range out.texts {
		t = t.clone()
		t.values(holes, bound)
		out.texts[i] = t
	}
	j.template(f, n, &out)
	return &out
}

// judges reports whether the text of a template with a tag is SQL by its tag.
func (j *javaScript) judges(n *node) bool {
	name := jsTag(n.x)
	_, known := javaScriptTags[name]
	return known && (name != "raw" || jsLast(n.x.x) != "String") || j.options.sink(name)
}

// template adds the text of a template with a tag.
func (j *javaScript) template(f *flow, n *node, v *value) {
	name := jsTag(n.x)
	sure := javaScriptTags[name] || j.options.sink(name)
	if !f.once(n) {
		return
	}
	as := Text{Call: n.span.Start, Sink: name, Certain: sure, Span: n.span, Tagged: true}
	f.pass(v, as, sure, func(t *Text) bool {
		return LooksLikeSQL(t.SQL()) && !strings.EqualFold(strings.TrimSpace(t.SQL()), "desc") || // else it is a part of ORDER BY
			strings.HasPrefix(name, "$") && (strings.TrimSpace(t.SQL()) != "" || len(t.Holes) > 0)
	})
}

// call returns the result of methods of texts and lists, and of functions that
// return their argument.
func (j *javaScript) call(f *flow, n *node, receiver *value, args []*value) (*value, bool) {
	if n.x == nil || n.x.kind != nodeMember {
		return nil, false
	}
	method := n.x.name
	isText, isList := receiver != nil && len(receiver.texts) > 0, receiver != nil && receiver.list
	switch {
	case isText && (strings.HasPrefix(method, "trim") || method == "toString" || method == "valueOf"):
		return receiver, true
	case isText && method == "concat":
		return f.concat(append([]*value{receiver}, args...), append([]sqlguard.Span{n.x.span}, spansOf(n.list)...)), true
	case isList && method == "join":
		separator := textValue(&Text{sql: []byte(",")})
		if len(args) > 0 {
			separator = args[0]
		}
		return f.join(receiver, separator, n.span), true
	case isList && method == "push":
		if n.x.x.kind == nodeName && n.x.x.v != nil {
			f.set(n.x.x.v, appended(append([]*value{receiver}, args...), &node{list: append([]*node{n.x.x}, n.list...)}))
		}
		return &value{number: true}, true
	case isList && method == "concat" && len(args) == 1 && args[0] != nil && args[0].list:
		return &value{list: true, items: append(slices.Clip(receiver.items), args[0].items...)}, true
	case isList && (method == "filter" || method == "map"):
		return nil, true
	case isList && n.x.x.kind == nodeName && n.x.x.v != nil:
		switch method {
		case "pop", "shift", "unshift", "splice", "sort", "reverse", "fill":
			f.set(n.x.x.v, nil)
			return nil, true
		}
	case (method == "raw" || method == "unsafe") && (jsLast(n.x.x) == "sql" || jsLast(n.x.x) == "Prisma") && len(args) == 1 && args[0] != nil:
		out := *args[0]
		out.fragment = true
		return &out, true
	}
	return nil, false
}

// sink adds the text that a call passes to a database.
func (j *javaScript) sink(f *flow, n *node, args []*value) {
	name := jsLast(n.x)
	if n.x != nil && n.x.kind == nodeMember && len(n.list) > 1 && (name == "call" || name == "apply") && n.x.x.kind == nodeMember { // db.query.call(db, "…")
		if !f.once(n) {
			return
		}
		inner := &node{kind: nodeCall, x: n.x.x, list: n.list[1:], span: n.span}
		args = args[1:]
		if list := inner.list[0]; name == "apply" && list.kind == nodeList && args[0] != nil {
			inner.list = list.list
			args = make([]*value, len(list.list))
			for i := range args {
				args[i] = f.eval(list.list[i])
			}
		}
		j.sink(f, inner, args)
		return
	}
	sure, ok := javaScriptSinks[name]
	if j.options.sink(name) {
		sure, ok = certain, true
	}
	at := 0
	switch i, passes := j.passing[name]; {
	case !ok && passes:
		at, ok = i, true // possible
	case name == "sql" && n.x.kind == nodeMember && jsLast(n.x.x) == "pgm": // node-pg-migrate
		sure, ok = likely, true
	case name == "sql" && n.x.kind == nodeName: // Neon
		ok = true // possible
	}
	if !ok || len(n.list) <= at || !f.once(n) {
		return
	}
	if n.x.kind == nodeMember && !j.options.sink(name) {
		sure = sure.of(jsLast(n.x.x))
	}
	first, v := n.list[at], args[at]
	isObject := first.kind == nodeObject || v != nil && v.object
	if name == "command" && !isObject || name == "Query" && isObject { // of a program, not of ClickHouse; of no driver
		return
	}
	as := Text{Call: n.span.Start, Sink: name, Certain: sure == certain, Span: first.span}
	if n.x.kind == nodeMember { // the name of the method
		as.Call = max(n.x.span.End-len(name), n.x.span.Start)
		as.Receiver = jsLast(n.x.x)
	}
	if (name == "batch" || name == "executeBatch") && v != nil && v.list {
		j.batch(f, first, v, as)
		return
	}
	if isObject { // query({text: "…"})
		found := false
		for _, key := range []string{"text", "sql", "query", "statement"} {
			if first.kind == nodeObject {
				if i := slices.Index(first.keys, key); i >= 0 {
					as.Span, v, found = first.list[i].span, v.fields[key], true
					first = first.list[i]
					break
				}
			} else if part, has := v.fields[key]; has {
				v, found = part, true
				break
			}
		}
		if !found {
			if sure == certain {
				as.Span.End = as.Span.Start + 1
				f.add(unknown(&as))
			}
			return
		}
	}
	switch {
	case v != nil && len(v.texts) > 0:
		if first.kind == nodeTagged && j.judges(first) {
			return // it is judged on its own
		}
		f.pass(promised(v), as, sure >= likely, sure.judges)
	case sure < likely || v != nil && (v.number || v.list || v.object || v.fn != nil):
	case first.kind == nodeCall && javaScriptQueries[jsLast(first.x)]: // new Query("…") is judged on its own
	case first.kind == nodeTagged && (j.judges(first) || javaScriptForeign[jsLast(first.x)]) || first.kind == nodeFunction || first.kind == nodeNumber || first.kind == nodeList:
	default:
		f.add(unknown(&as))
	}
}

// batch adds the statements of a list: texts, objects with one, and lists that begin with
// one, as libsql, Cassandra's driver and op-sqlite take them.
func (j *javaScript) batch(f *flow, list *node, v *value, as Text) {
	var others []sqlguard.Span
	took := false
	for i, it := range v.items {
		as.Span = it.span
		tagged := false
		if list.kind == nodeList && i < len(list.list) {
			as.Span = list.list[i].span
			tagged = list.list[i].kind == nodeTagged
		}
		one := it.value
		switch {
		case one != nil && one.object:
			for _, key := range []string{"sql", "query", "text"} {
				if text, has := one.fields[key]; has {
					one = text
					break
				}
			}
		case one != nil && one.list && len(one.items) > 0:
			as.Span, one = one.items[0].span, one.items[0].value
		}
		switch {
		case tagged: // it is judged on its own
		case one != nil && len(one.texts) > 0:
			f.pass(promised(one), as, false, func(t *Text) bool {
				judged := possible.judges(t)
				took = took || judged
				return judged
			})
		case one == nil || !one.object:
			others = append(others, as.Span)
		}
	}
	for _, span := range others {
		if took { // so the others are statements too
			as.Span = span
			rest := as
			f.add(unknown(&rest))
		}
	}
}

// promised returns texts in which the variables of pg-promise are parameters, such as
// ${name} in a text that is no template. With a filter, such as ${name:name}, they are
// names that it quotes, or parts of the statement.
func promised(v *value) *value {
	if !slices.ContainsFunc(v.texts, func(t *Text) bool { return promiseVariable().MatchString(t.SQL()) }) {
		return v
	}
	out := *v
	out.texts = nil
	for _, t := range v.texts {
		sql := t.SQL()
		found := promiseVariable().FindAllStringSubmatchIndex(sql, -1)
		if len(found) == 0 || len(t.Holes) > 0 {
			out.texts = append(out.texts, t)
			continue
		}
		made := &Text{Emptied: t.Emptied}
		from := 0
		for _, m := range found {
			made.run(t, from, m[0])
			from = m[1]
			made.hole(sqlguard.Span{Start: t.place(m[0], false), End: t.place(m[1], true)}, false)
			h := &made.Holes[len(made.Holes)-1]
			filter := max(m[2], m[4])
			switch sql[filter:max(m[3], m[5])] {
			case "", ":csv", ":list", ":json":
				h.Bound = true
			case "~", ":name", ":alias":
				h.Quoted = true
			}
		}
		made.run(t, from, len(sql))
		out.texts = append(out.texts, made)
	}
	return &out
}

// promiseVariable is a variable of pg-promise, and its filter. $1 without one is a
// parameter of the server.
var promiseVariable = lazily(`\$(?:\{|\(|<|\[|/)\s*(?:this\.)?[A-Za-z_$][\w$.]*\s*((?::[a-z]+|[~^#])?)\s*(?:\}|\)|>|\]|/)|\$\d+(:(?:name|alias|csv|list|json|raw|value)\b)`)

// passes returns the argument that a call passes to a database, or nil.
func (j *javaScript) passes(n *node) *node {
	if n.x == nil || n.x.kind != nodeMember || len(n.list) == 0 {
		return nil
	}
	if sure := javaScriptSinks[n.x.name]; sure < likely || sure.of(jsLast(n.x.x)) < likely {
		return nil
	}
	return n.list[0]
}

// jsLineEnd returns the length of the line end at the start of s, or 0 (12.3).
func jsLineEnd(s string) int {
	if strings.HasPrefix(s, "\u2028") || strings.HasPrefix(s, "\u2029") {
		return len("\u2028")
	}
	return lineEnd(s)
}

// jsSpace returns the length of the white space at the start of s, without line
// ends (12.2).
func jsSpace(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] < utf8.RuneSelf:
		if strings.IndexByte(" \t\v\f", s[0]) >= 0 {
			return 1
		}
		return 0
	}
	if r, n := utf8.DecodeRuneInString(s); r == '\ufeff' || unicode.Is(unicode.Zs, r) {
		return n
	}
	return 0
}

func jsNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf || c >= '0' && c <= '9'
}

// jsRegularEnd returns the offset after the regular expression at i, or 0 if
// there is none.
func jsRegularEnd(source string, i int) int {
	class := false
	for i++; i < len(source); i++ {
		if jsLineEnd(source[i:]) > 0 {
			return 0
		}
		switch source[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				for i++; i < len(source) && jsNameByte(source[i]); i++ {
				}
				return i
			}
		}
	}
	return 0
}

func jsStringEnd(source string, i int) (int, bool) {
	quote := source[i]
	for i++; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i += max(lineEnd(source[i+1:]), 1)
		case quote:
			return i + 1, true
		case '\n', '\r':
			return 0, false
		}
	}
	return 0, false
}

// jsContent appends the content of a literal with its escapes decoded (12.9.4).
func jsContent(body string, at int, t *Text) {
	start := 0
	for i := 0; i < len(body); {
		if body[i] != '\\' || i+1 >= len(body) {
			i++
			continue
		}
		t.lines(body[start:i], at+start)
		value, n := jsEscape(body[i:])
		t.escaped(value, sqlguard.Span{Start: at + i, End: at + i + n})
		i += n
		start = i
	}
	t.lines(body[start:], at+start)
}

// jsEscape decodes the escape at the start of s, and returns its length.
func jsEscape(s string) (string, int) {
	number := func(digits string, n int) (string, int) {
		if v, err := strconv.ParseInt(digits, 16, 64); err == nil && v >= 0 && v <= utf8.MaxRune {
			return string(rune(v)), n
		}
		return s[1:2], 2
	}
	if n := jsLineEnd(s[1:]); n > 0 {
		return "", 1 + n
	}
	switch c := s[1]; c {
	case 'n', 't', 'r', 'b', 'f', 'v':
		return string("\n\t\r\b\f\v"[strings.IndexByte("ntrbfv", c)]), 2
	case '0', '1', '2', '3', '4', '5', '6', '7': // B.1.2, of which \0 is one
		n := 2
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' && (n < 3 || c <= '3') {
			n++
		}
		v, _ := strconv.ParseInt(s[1:n], 8, 16)
		return string(rune(v)), n
	case 'x':
		if len(s) >= 4 {
			return number(s[2:4], 4)
		}
	case 'u':
		if strings.HasPrefix(s[2:], "{") {
			if end := strings.IndexByte(s, '}'); end > 3 {
				return number(s[3:end], end+1)
			}
		} else if len(s) >= 6 {
			if len(s) >= 12 && s[6:8] == `\u` { // a pair is one character
				high, first := strconv.ParseUint(s[2:6], 16, 16)
				low, second := strconv.ParseUint(s[8:12], 16, 16)
				if r := utf16.DecodeRune(rune(high), rune(low)); first == nil && second == nil && r != utf8.RuneError {
					return string(r), 12
				}
			}
			return number(s[2:6], 6)
		}
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return s[1 : 1+size], 1 + size
}
