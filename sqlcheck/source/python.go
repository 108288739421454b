package source

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// pythonSinks are methods and functions that take SQL as their first argument:
// those of DB-API drivers (PEP 249), SQLAlchemy, asyncpg, pandas, Polars, Django, Spark,
// DuckDB, databases, Tortoise and Airflow.
var pythonSinks = map[string]certainty{
	"execute": likely, "executemany": certain, "executescript": certain, "execute_async": certain, "mogrify": certain, "copy_expert": certain,
	"exec_": likely, "exec_params": likely, "stream": possible,
	"text": possible, "exec_driver_sql": certain, "read_sql": certain, "read_sql_query": certain, "raw": likely, "RawSQL": likely,
	"fetch": possible, "fetchrow": certain, "fetchval": certain, "fetchmany": possible, "cursor": possible, "prepare": possible,
	"RunSQL": certain, "execute_sql": certain, "execute_values": certain, "execute_batch": certain, "sql": likely, "query": likely, "query_df": certain, "scalar": possible, "scalars": possible,
	"read_database": likely, "read_database_uri": likely, "fetch_all": possible, "fetch_one": possible, "fetch_val": possible, "copy": possible, "DDL": possible,
	"execute_query": likely, "execute_query_dict": likely, "execute_script": likely, "get_records": likely, "get_first": possible, "get_pandas_df": likely,
	"get_df": possible, "get_df_by_chunks": possible, "get_pandas_df_by_chunks": likely, "add_query": possible, "run_sql": likely,
	"SQLExecuteQueryOperator": likely, "PostgresOperator": likely, "MySqlOperator": likely, "MsSqlOperator": likely, "SqliteOperator": likely,
}

// pythonCommands are methods with the names of many others: they take SQL where the file
// imports a library whose connections have them, such as pg8000, clickhouse-connect and
// Airflow's hooks. Elsewhere only a text that is a whole statement is SQL.
var pythonCommands = map[string]func() *regexp.Regexp{
	"run":     lazily(`(?m)^[ \t]*(?:from|import)[ \t]+(?:pg8000|airflow)\b`),
	"command": lazily(`(?m)^[ \t]*(?:from|import)[ \t]+(?:clickhouse_connect|dbt\.adapters\.clickhouse)\b`),
}

// databaseName is how what such a method is called on is named.
var databaseName = lazily(`(?i)(?:hook|conn|connection|con|client|clickhouse|ch|db|database|cur|cursor|postgres|pg|sql)\d?$`)

// wholeStatement is the text of a statement that nothing else looks like.
var wholeStatement = lazily(sqlSpace + `(?:select\s.*\sfrom\s|with\s.*\sselect\s.*\sfrom\s|insert\s+into\s.*(?:\svalues\b|\sselect\s)|delete\s+from\s+\S+\s*(?:;?\s*$|where\s)|update\s+\S+\s+set\s+\S+\s*=|(?:create|drop|alter)\s+(?:temporary\s+|or\s+replace\s+)?(?:table|view|function)\s+\S+|truncate\s+table\s)`)

// pythonLists are functions that also take a list of statements.
var pythonLists = map[string]bool{
	"run": true, "get_records": true, "get_first": true,
	"SQLExecuteQueryOperator": true, "PostgresOperator": true, "MySqlOperator": true, "MsSqlOperator": true, "SqliteOperator": true,
}

// python is a source of Python.
type python struct {
	options *Options
	imports map[string]bool // which of pythonCommands the file's imports say to take SQL
	passing map[string]int  // functions of the file that pass an argument to a database
	yoyo    bool            // its migrations are steps
	asIs    bool            // the file names psycopg2's AsIs, a parameter that is SQL
}

func findPython(source string, o *Options) (*Source, error) {
	p, top, err := parsePython(source)
	if err != nil {
		return nil, err
	}
	lang := &python{options: o, imports: map[string]bool{}, asIs: strings.Contains(source, "AsIs"), yoyo: strings.Contains(source, "yoyo")}
	for name, imports := range pythonCommands {
		if strings.Contains(source, "."+name) && imports().MatchString(source) {
			lang.imports[name] = true
		}
	}
	names, passing := resolveCalls(top, false, pyMutates, lang.passes)
	for _, v := range names.names {
		v.open = p.dynamic
	}
	lang.passing = passing
	return &Source{Texts: follow(top, lang), Comments: p.comments}, nil
}

// parsePython reads a file.
func parsePython(source string) (p *pyParser, top *function, err error) {
	defer func() {
		if r := recover(); r != nil {
			syntax, ok := r.(*SyntaxError)
			if !ok {
				panic(r)
			}
			err = syntax
		}
	}()
	p = &pyParser{source: source, tokens: make([]pyToken, 0, len(source)/4)}
	top = p.program()
	p.tokens = nil
	return p, top, nil
}

// pyMutates calls change with each list that a call adds to or changes.
func pyMutates(n *node, change func(*node, bool)) {
	if n.x == nil || n.x.kind != nodeMember {
		return
	}
	switch n.x.name {
	case "append", "extend":
		change(n.x.x, true)
	case "pop", "insert", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem":
		change(n.x.x, false)
	}
}

func (p *python) outer(*flow, *node) *value { return nil }

func (p *python) tagged(*flow, *node) *value { return nil }

func (p *python) member(f *flow, n *node) *value {
	if n.x.kind == nodeName && n.x.v != nil && n.x.v.init != nil && n.x.v.times == 1 && n.x.v.init.kind == nodeImport { // a module
		i := n.x.v.init
		module := i.keys[0]
		if i.name != "*" {
			module = strings.TrimSuffix(module, ".") + map[bool]string{true: ".", false: ""}[module != "" && !strings.HasSuffix(module, ".")] + map[bool]string{true: ".", false: ""}[strings.Trim(module, ".") == "" && module != ""] + i.name
		}
		return p.options.Library.pyExported(p.options.Path, module, n.name, f.imports+1).moved(n.span)
	}
	return nil
}

// imported returns what another file of the project assigns to a name.
func (p *python) imported(f *flow, n *node) *value {
	if n.name == "*" {
		return nil
	}
	return p.options.Library.pyExported(p.options.Path, n.keys[0], n.name, f.imports+1).moved(n.span)
}

// call returns the result of methods of texts and lists, and of functions that
// return their argument.
func (p *python) call(f *flow, n *node, receiver *value, args []*value) (*value, bool) {
	if n.x == nil || n.x.kind != nodeMember && n.x.kind != nodeName {
		return nil, false
	}
	method := n.x.name
	isText, isList := receiver != nil && len(receiver.texts) > 0, receiver != nil && receiver.list
	switch {
	case n.name == "%" && isText:
		return p.percent(f, n, receiver, args[0]), true
	case n.x.kind == nodeMember && method == "format" && isText:
		return p.format(f, n, receiver, args), true
	case n.x.kind == nodeMember && method == "join" && isText:
		if len(args) == 1 {
			return f.join(args[0], receiver, n.span), true
		}
	case isText:
		switch method {
		case "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "bindparams", "execution_options", "encode", "as_string", "expandtabs":
			return receiver, true
		}
	case isList && (method == "append" || method == "extend"):
		if n.x.x.kind == nodeName && n.x.x.v != nil && len(args) == 1 {
			list := args
			if method == "extend" {
				if args[0] == nil || !args[0].list {
					f.set(n.x.x.v, nil)
					return nil, true
				}
				f.set(n.x.x.v, &value{list: true, items: append(slices.Clip(receiver.items), args[0].items...)})
				return nil, true
			}
			f.set(n.x.x.v, appended(append([]*value{receiver}, list...), &node{list: append([]*node{n.x.x}, n.list...)}))
		}
		return nil, true
	case isList && n.x.x.kind == nodeName && n.x.x.v != nil:
		switch method {
		case "pop", "insert", "remove", "clear", "sort", "reverse":
			f.set(n.x.x.v, nil)
			return nil, true
		}
	}
	if part, ok := p.composed(n, args); ok {
		return part, true
	}
	switch method {
	case "text", "dedent", "SQL", "cleandoc", "str":
		if len(args) > 0 && (n.x.kind == nodeName || receiver == nil) && n.keys[0] == "" {
			return args[0], args[0] != nil
		}
	case "len", "int", "float":
		if n.x.kind == nodeName {
			return &value{number: true}, true
		}
	case "tuple", "list", "sorted":
		if n.x.kind == nodeName && len(args) == 1 {
			return args[0], args[0] != nil && args[0].list
		}
	}
	return nil, false
}

// composed returns a part of a statement that psycopg's module sql makes: a name that it
// quotes, a literal, or the place of a parameter.
func (p *python) composed(n *node, args []*value) (part *value, ok bool) {
	if !ofPsycopg(n.x) {
		return nil, false
	}
	switch n.x.name {
	case "Identifier":
		name, dot := &Text{}, ""
		for i, arg := range args {
			if arg == nil || len(arg.texts) != 1 || arg.partial || len(arg.texts[0].Holes) > 0 || n.keys[i] != "" || n.list[i].name == "..." {
				return &value{quoted: true}, true
			}
			name.escaped(dot+`"`+strings.ReplaceAll(arg.texts[0].SQL(), `"`, `""`)+`"`, n.list[i].span)
			dot = "."
		}
		return textValue(name), true
	case "Placeholder":
		return &value{bound: true}, true
	case "Literal":
		return &value{bound: true}, true
	default:
		return nil, false
	}
}

// ofPsycopg reports whether a function is one of the module sql of psycopg, as the file
// imports it.
func ofPsycopg(n *node) bool {
	module := func(n *node) string { // the whole name of what a name stands for
		if n.kind != nodeName || n.v == nil || n.v.init == nil || n.v.times != 1 || n.v.init.kind != nodeImport {
			return ""
		}
		return strings.TrimSuffix(n.v.init.keys[0]+"."+n.v.init.name, ".*")
	}
	whole := ""
	switch {
	case n.kind == nodeName:
		whole = module(n)
	case n.x.kind == nodeName:
		whole = module(n.x) + "." + n.name
	case n.x.kind == nodeMember && n.x.x.kind == nodeName:
		whole = module(n.x.x) + "." + n.x.name + "." + n.name
	}
	return strings.HasPrefix(whole, "psycopg.sql.") || strings.HasPrefix(whole, "psycopg2.sql.")
}

// percent returns a format with its values (printf-style formatting).
func (p *python) percent(f *flow, n *node, format, arg *value) *value {
	one := func(i int, name string) *value {
		switch {
		case arg == nil:
			return nil
		case name != "":
			return arg.fields[name]
		case arg.list && i < len(arg.items) && !arg.items[i].repeat && !arg.items[i].absent:
			return arg.items[i].value
		case !arg.list && i == 0:
			return arg
		default:
			return nil
		}
	}
	return p.filled(f, n, format, func(t *Text) *Text { return percent(t, false) }, one)
}

// format returns the result of str.format.
func (p *python) format(f *flow, n *node, format *value, args []*value) *value {
	return p.filled(f, n, format, braces, func(i int, name string) *value {
		if name != "" {
			for k, key := range n.keys {
				if key == name {
					return args[k]
				}
			}
			at, err := strconv.Atoi(name)
			if err != nil {
				return nil
			}
			i = at
		}
		if i < len(args) && n.keys[i] == "" && !slices.ContainsFunc(n.list[:i+1], func(arg *node) bool { return arg.name == "..." }) {
			return args[i]
		}
		return nil
	})
}

// filled returns a format with the values in its fields that are known. holes
// returns a text with a hole for each field.
func (p *python) filled(f *flow, n *node, format *value, holes func(*Text) *Text, value1 func(i int, name string) *value) *value {
	out := &value{partial: format.partial}
	for _, t := range format.texts {
		made := holes(t)
		if len(t.Holes) > 0 { // the fields cannot be told from the holes
			out.texts = append(out.texts, made)
			continue
		}
		var parts []*value
		var spans []sqlguard.Span
		from := 0
		for i, h := range made.Holes {
			part := &Text{}
			part.run(made, from, h.At)
			v := value1(i, fieldName(t, h.Span))
			if v == nil || len(v.texts) == 0 {
				v = &value{number: h.Number || v != nil && v.number, bound: v != nil && v.bound, quoted: v != nil && v.quoted}
			}
			parts, spans = append(parts, textValue(part), v), append(spans, h.Span, h.Span)
			from = h.At
		}
		part := &Text{Emptied: made.Emptied}
		part.run(made, from, len(made.sql))
		parts, spans = append(parts, textValue(part)), append(spans, n.span)
		v := f.concat(parts, spans)
		if v == nil {
			return nil
		}
		out.texts = append(out.texts, v.texts...)
		out.partial = out.partial || v.partial
	}
	return limited(out)
}

// fieldName returns the name in a field, such as %(name)s or {name}.
func fieldName(t *Text, span sqlguard.Span) string {
	for i, p := range t.pieces {
		if !p.verbatim || span.Start < p.file.Start || span.End > p.file.End {
			continue
		}
		end := len(t.sql)
		if i+1 < len(t.pieces) {
			end = t.pieces[i+1].at
		}
		field := string(t.sql[p.at:end])[span.Start-p.file.Start : span.End-p.file.Start]
		switch {
		case strings.HasPrefix(field, "%("):
			return field[2:strings.IndexByte(field, ')')]
		case strings.HasPrefix(field, "{"):
			if name := strings.Trim(field, "{}"); !strings.ContainsAny(name, ":!.[") {
				return name
			}
			return "\x00"
		}
	}
	return ""
}

// sink adds the text that a call passes to a database.
func (p *python) sink(f *flow, n *node, args []*value) {
	name := jsLast(n.x)
	sure, ok := p.sinkOf(n)
	judges := sure.judges
	if pythonCommands[name] != nil && ok && sure == possible {
		judges = func(t *Text) bool { return wholeStatement().MatchString(t.SQL()) }
	}
	skip := 0 // arguments before the one with SQL
	switch i, passes := p.passing[name]; {
	case ok && (name == "execute_values" || name == "execute_batch"):
		skip = 1
	case passes && sure == possible && (!ok || pythonCommands[name] != nil):
		skip, ok, judges = i, true, possible.judges
	}
	if (name == "RunSQL" || name == "step" && p.yoyo) && f.once(n) {
		p.migration(f, n, args)
		return
	}
	if !ok || n.name == "%" || !f.once(n) {
		return
	}
	if n.x.kind == nodeMember && !p.options.sink(name) {
		sure = sure.of(jsLast(n.x.x))
	}
	at := -1
	for i := range n.list {
		if n.keys[i] == "" && i < skip {
			continue
		}
		if n.keys[i] == "" {
			at = i
			break
		}
		switch n.keys[i] {
		case "sql", "query", "statement", "operation":
			at = i
		case "cmd":
			if name == "command" {
				at = i
			}
		}
		if at >= 0 {
			break
		}
	}
	if at < 0 {
		return
	}
	as := Text{Call: n.span.Start, Sink: name, Certain: sure == certain, Span: n.list[at].span}
	if n.x.kind == nodeMember {
		as.Call = max(n.x.span.End-len(name), n.x.span.Start)
		as.Receiver = jsLast(n.x.x)
	}
	p.send(f, n.list[at], args[at], as, sure, judges)
}

// send adds the texts that an argument can be, or each of a list of them can.
func (p *python) send(f *flow, arg *node, v *value, as Text, sure certainty, judges func(*Text) bool) {
	switch {
	case v != nil && len(v.texts) > 0:
		driver := *v
		driver.texts = nil
		for _, t := range v.texts {
			if strings.Contains(t.SQL(), "%") { // parameters of drivers, as in PEP 249's pyformat
				t = percent(t, true)
				for i := range t.Holes {
					t.Holes[i].Bound = t.Holes[i].Bound && !p.asIs
				}
			}
			driver.texts = append(driver.texts, t)
		}
		f.pass(&driver, as, sure >= likely, judges)
	case v != nil && v.list && pythonLists[as.Sink]:
		for i, it := range v.items {
			at := &node{span: it.span}
			if arg.kind == nodeList && i < len(arg.list) {
				at = arg.list[i]
			}
			as.Span = at.span
			if it.value != nil && it.value.list {
				it.value = nil
			}
			p.send(f, at, it.value, as, sure, judges)
		}
	case sure >= likely && (v == nil || !v.number && v.fn == nil):
		f.add(unknown(&as))
	}
}

// sinkOf returns how much the function of a call says about whether its argument is SQL.
func (p *python) sinkOf(n *node) (sure certainty, ok bool) {
	name := jsLast(n.x)
	if p.options.sink(name) {
		return certain, true
	}
	if pythonCommands[name] == nil {
		sure, ok = pythonSinks[name]
		return sure, ok
	}
	if n.x.kind != nodeMember || !databaseName().MatchString(jsLast(n.x.x)) {
		return possible, false
	}
	if p.imports[name] {
		return likely, true
	}
	return possible, true
}

// bindings returns texts in which %s and its kind are parameters.
func bindings(v *value) *value {
	if v == nil || len(v.texts) == 0 {
		return v
	}
	out := *v
	out.texts = nil
	for _, t := range v.texts {
		out.texts = append(out.texts, percent(t, true))
	}
	return &out
}

// migration adds the texts of a migration: RunSQL of Django, and a step of yoyo. Each has
// SQL for the way forward and back, or lists of it, in which Django can have parameters.
func (p *python) migration(f *flow, n *node, args []*value) {
	for i, arg := range n.list {
		if n.keys[i] != "" && n.keys[i] != "sql" && n.keys[i] != "reverse_sql" && n.keys[i] != "apply" && n.keys[i] != "rollback" || n.keys[i] == "" && i > 1 {
			continue
		}
		if name := jsLast(arg); name == "noop" || name == "None" || arg.kind == nodeFunction || arg.kind == nodeName && args[i] != nil && args[i].fn != nil {
			continue
		}
		v := args[i]
		if v != nil && v.list {
			out := &value{list: true}
			for _, it := range v.items {
				if it.value != nil && it.value.list && len(it.value.items) > 0 { // with parameters
					it.value = bindings(it.value.items[0].value)
				}
				out.items = append(out.items, it)
			}
			v = out
		}
		f.passAll(v, arg, Text{Call: n.span.Start, Sink: jsLast(n.x), Certain: true})
	}
}

// passes returns the argument that a call passes to a database, or nil.
func (p *python) passes(n *node) *node {
	if n.x == nil || n.x.kind != nodeMember || len(n.list) == 0 || n.keys[0] != "" {
		return nil
	}
	if sure, _ := p.sinkOf(n); sure < likely || sure.of(jsLast(n.x.x)) < likely {
		return nil
	}
	return n.list[0]
}

func pyNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf || c >= '0' && c <= '9'
}

// pyPrefix reports whether a name before a quote is a string prefix.
func pyPrefix(name string) bool {
	switch strings.ToLower(name) {
	case "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt":
		return true
	default:
		return false
	}
}

// pyStringEnd returns the offset after the string whose quote is at i.
func pyStringEnd(source string, i int) (int, bool) {
	quote := pyQuote(source, i)
	long := len(quote) == 3
	for i += len(quote); i < len(source); i++ {
		switch {
		case source[i] == '\\':
			i += max(lineEnd(source[i+1:]), 1)
		case strings.HasPrefix(source[i:], quote):
			return i + len(quote), true
		case !long && lineEnd(source[i:]) > 0:
			return 0, false
		}
	}
	return 0, false
}

// pyLiteralEnd returns the offset after the string whose quote is at i. The
// prefix before it says whether the string is formatted.
func pyLiteralEnd(source string, i int) (int, bool) {
	from := i
	for from > 0 && pyNameByte(source[from-1]) {
		from--
	}
	prefix := strings.ToLower(source[from:i])
	if !strings.ContainsAny(prefix, "ft") || !pyPrefix(prefix) {
		return pyStringEnd(source, i)
	}
	if end, ok := pyFormattedEnd(source, i, strings.Contains(prefix, "r")); ok {
		return end, true
	}
	return pyStringEnd(source, i)
}

// pyFormattedEnd is pyStringEnd for a formatted string. Its replacement fields
// may contain the same quotes (PEP 701).
func pyFormattedEnd(source string, i int, raw bool) (int, bool) {
	quote := pyQuote(source, i)
	for i += len(quote); i < len(source); i++ {
		switch rest := source[i:]; {
		case strings.HasPrefix(rest, `\N{`) && !raw:
			i += len(`\N{`)
		case strings.HasPrefix(rest, `\{`):
		case rest[0] == '\\':
			i += max(lineEnd(rest[1:]), 1)
		case strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}"):
			i++
		case rest[0] == '{':
			end, ok := pyFieldEnd(source, i, quote)
			if !ok {
				return 0, false
			}
			i = end - 1
		case strings.HasPrefix(rest, quote):
			return i + len(quote), true
		case len(quote) == 1 && lineEnd(rest) > 0:
			return 0, false
		}
	}
	return 0, false
}

// pyQuote returns the quotes at i, one or three.
func pyQuote(source string, i int) string {
	if quote := strings.Repeat(source[i:i+1], 3); strings.HasPrefix(source[i:], quote) {
		return quote
	}
	return source[i : i+1]
}

// pyFieldEnd returns the offset after the replacement field at i, in a string
// with that quote.
func pyFieldEnd(source string, i int, quote string) (int, bool) {
	depth := 0
	for i++; i < len(source); i++ {
		switch c := source[i]; c {
		case '\'', '"':
			end, ok := pyLiteralEnd(source, i)
			if !ok {
				return 0, false
			}
			i = end - 1
		case '#':
			i += len(firstLine(source[i:])) - 1
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return i + 1, c == '}'
			}
			depth--
		case ':':
			if depth == 0 {
				return pySpecEnd(source, i+1, quote)
			}
		}
	}
	return 0, false
}

// pySpecEnd returns the offset after the replacement field whose format begins
// at i.
func pySpecEnd(source string, i int, quote string) (int, bool) {
	for ; i < len(source); i++ {
		switch {
		case source[i] == '}':
			return i + 1, true
		case source[i] == '{':
			end, ok := pyFieldEnd(source, i, quote)
			if !ok {
				return 0, false
			}
			i = end - 1
		case strings.HasPrefix(source[i:], quote), len(quote) == 1 && lineEnd(source[i:]) > 0:
			return 0, false
		}
	}
	return 0, false
}

// pyContent appends the content of a string with that quote. It decodes escapes
// unless the string is raw, and reads replacement fields if it is formatted
// (2.4.3).
func pyContent(body, quote string, at int, raw, formatted bool, t *Text) {
	start := 0
	flush := func(to int) { t.lines(body[start:to], at+start) }
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == '\\' && !raw && i+1 < len(body) && (!formatted || body[i+1] != '{'):
			flush(i)
			value, n := pyEscape(body[i:])
			if span := (sqlguard.Span{Start: at + i, End: at + i + n}); strings.HasPrefix(body[i:], `\N{`) && n > 2 { // a character by its name
				t.hole(span, false)
			} else {
				t.escaped(value, span)
			}
			i += n
			start = i
		case formatted && (c == '{' || c == '}') && i+1 < len(body) && body[i+1] == c:
			flush(i)
			t.escaped(body[i:i+1], sqlguard.Span{Start: at + i, End: at + i + 2})
			i += 2
			start = i
		case formatted && c == '{':
			flush(i)
			end, ok := pyFieldEnd(body, i, quote)
			if !ok {
				end = len(body)
			}
			t.hole(sqlguard.Span{Start: at + i, End: at + end}, strings.HasSuffix(body[i:end], ":d}"))
			i = end
			start = i
		default:
			i++
		}
	}
	flush(len(body))
}

// pyEscape decodes the escape at the start of s, and returns its length
// (2.4.1.1).
func pyEscape(s string) (string, int) {
	switch c := s[1]; c {
	case '\n', '\r':
		return "", 1 + lineEnd(s[1:])
	case '\\', '\'', '"':
		return s[1:2], 2
	case 'a', 'b', 'f', 'n', 'r', 't', 'v':
		return string("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)]), 2
	case 'x', 'u', 'U':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if len(s) >= 2+n {
			if v, err := strconv.ParseInt(s[2:2+n], 16, 64); err == nil && v <= utf8.MaxRune {
				return string(rune(v)), 2 + n //nolint:gosec // bounded above
			}
		}
		return s[:2], 2
	case 'N':
		if end := strings.IndexByte(s, '}'); strings.HasPrefix(s, `\N{`) && end > 0 {
			return "\uFFFD", end + 1
		}
		return s[:2], 2
	default:
		n := 1
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		if n > 1 {
			v, _ := strconv.ParseInt(s[1:n], 8, 16)
			return string(rune(v)), n
		}
		_, size := utf8.DecodeRuneInString(s[1:])
		return s[:1+size], 1 + size // Python keeps an unknown escape
	}
}

// percent returns a text with holes for the conversions of printf-style
// formatting (%s, %(name)s), and with % for %%. Some drivers use the same
// syntax for parameters.
func percent(t *Text, driver bool) *Text {
	out := &Text{Span: t.Span, Call: t.Call, Sink: t.Sink, Certain: t.Certain, Emptied: t.Emptied}
	sql, holes := t.SQL(), t.Holes
	copyTo := func(from, to int) {
		for len(holes) > 0 && holes[0].At <= to {
			out.run(t, from, holes[0].At)
			from = holes[0].At
			h := holes[0]
			h.At = len(out.sql)
			out.Holes = append(out.Holes, h)
			holes = holes[1:]
		}
		out.run(t, from, to)
	}
	from := 0
	for i := 0; i < len(sql); {
		if sql[i] != '%' {
			i++
			continue
		}
		n, conversion := pyConversion(sql[i:])
		if n == 0 || driver && conversion != '%' && conversion != 's' && conversion != 'b' && conversion != 't' {
			i++
			continue
		}
		copyTo(from, i)
		span := sqlguard.Span{Start: t.place(i, false), End: t.place(i+n, true)}
		if conversion == '%' {
			out.escaped("%", span)
		} else {
			out.hole(span, strings.IndexByte("dioxX", conversion) >= 0)
			out.Holes[len(out.Holes)-1].Bound = driver
		}
		i += n
		from = i
	}
	copyTo(from, len(sql))
	return out
}

// pyConversion returns the length and the type of the conversion at the start
// of s, or 0 if there is none.
func pyConversion(s string) (n int, conversion byte) {
	n = 1
	if strings.HasPrefix(s, "%(") {
		end := strings.IndexByte(s, ')')
		if end < 0 {
			return 0, 0
		}
		n = end + 1
	}
	for n < len(s) && strings.IndexByte("#0- +.123456789", s[n]) >= 0 {
		n++
	}
	if n >= len(s) || strings.IndexByte("diouxXeEfFgGcrsabt%", s[n]) < 0 || n > 1 && s[n] == ' ' {
		return 0, 0
	}
	return n + 1, s[n]
}

// braces returns a text with holes for the replacement fields of str.format.
func braces(t *Text) *Text {
	out := &Text{Span: t.Span, Call: t.Call, Sink: t.Sink, Certain: t.Certain, Holes: t.Holes, Emptied: t.Emptied}
	if len(t.Holes) > 0 {
		return t
	}
	sql := t.SQL()
	from := 0
	for i := 0; i < len(sql); {
		c := sql[i]
		switch {
		case (c == '{' || c == '}') && i+1 < len(sql) && sql[i+1] == c:
			out.run(t, from, i+1)
			i += 2
			from = i
		case c == '{':
			out.run(t, from, i)
			end := i + strings.IndexByte(sql[i:]+"}", '}') + 1
			end = min(end, len(sql))
			out.hole(sqlguard.Span{Start: t.place(i, false), End: t.place(end, true)}, false)
			i = end
			from = i
		default:
			i++
		}
	}
	out.run(t, from, len(sql))
	return out
}
