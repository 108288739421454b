package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// valueKind is what is known about a value of Jinja.
type valueKind byte

const (
	jinjaUnknown  valueKind = iota // anything
	jinjaString                    // a text, of which parts can be holes
	jinjaNumber                    // text has its digits
	jinjaBool                      // truth
	jinjaNone                      // None
	jinjaList                      // a list or a tuple
	jinjaDict                      // a dictionary
	jinjaGlobal                    // a name that the file does not define, such as dbt_utils.star
	jinjaAdapter                   // target.type, the kind of database
	jinjaRelation                  // a relation; text is its name in SQL
	jinjaMethod                    // a method of a list or a dictionary
)

// jinjaValue is a value of an expression of Jinja.
type jinjaValue struct {
	kind  valueKind
	text  *Text
	truth bool
	items *[]jinjaValue // of a list; the values of a dictionary
	keys  []string      // of a dictionary
	path  string        // of a global; the name of a method
	// own says of an unknown value that the project or dbt itself gives it, such
	// as a variable of the project, so that it is no SQL of a macro.
	own bool
}

func known(text *Text) jinjaValue        { return jinjaValue{kind: jinjaString, text: text} }
func boolean(truth bool) jinjaValue      { return jinjaValue{kind: jinjaBool, truth: truth} }
func list(items []jinjaValue) jinjaValue { return jinjaValue{kind: jinjaList, items: &items} }

// ours reports whether a value has no part that a macro made.
func (v jinjaValue) ours() bool {
	switch v.kind {
	case jinjaUnknown:
		return v.own
	case jinjaString, jinjaRelation:
		return !slices.ContainsFunc(v.text.Holes, func(h Hole) bool { return !h.Value })
	case jinjaList, jinjaDict:
		return !slices.ContainsFunc(*v.items, func(item jinjaValue) bool { return !item.ours() })
	case jinjaGlobal, jinjaMethod:
		return false
	case jinjaNumber, jinjaBool, jinjaNone, jinjaAdapter:
		return true
	default:
		return false
	}
}

// whole returns the text of a string of which every part is known.
func (v jinjaValue) whole() (string, bool) {
	if v.kind != jinjaString || len(v.text.Holes) > 0 {
		return "", false
	}
	return v.text.SQL(), true
}

// is reports whether a value counts as true. certain is false if that is not
// known.
func (v jinjaValue) is() (truth, certain bool) {
	switch v.kind {
	case jinjaBool:
		return v.truth, true
	case jinjaNone:
		return false, true
	case jinjaString:
		return len(v.text.sql) > 0, len(v.text.sql) > 0 || len(v.text.Holes) == 0
	case jinjaNumber:
		return strings.Trim(v.text.SQL(), "0.") != "", true
	case jinjaList, jinjaDict:
		return len(*v.items) > 0, true
	case jinjaAdapter:
		return true, true
	case jinjaUnknown, jinjaGlobal, jinjaRelation, jinjaMethod: // a relation of adapter.get_relation can be none
		return false, false
	default:
		return false, false
	}
}

// adapters are the kinds of databases that dbt knows, with the dialect that they
// speak.
var adapters = map[string]string{
	"postgres": "postgres", "mysql": "mysql", "mysql5": "mysql", "mariadb": "mysql", "sqlserver": "sqlserver", "sqlite": "sqlite",
	"clickhouse": "clickhouse", "bigquery": "bigquery", "duckdb": "duckdb",
	// These speak a dialect that has a reader only in part.
	"redshift": "postgres", "materialize": "postgres", "greenplum": "postgres", "alloydb": "postgres", "fabric": "sqlserver", "synapse": "sqlserver",
	"snowflake": "snowflake", "databricks": "spark", "spark": "spark", "trino": "trino", "presto": "trino", "athena": "trino", "oracle": "oracle",
	"teradata": "teradata", "vertica": "vertica", "dremio": "dremio", "exasol": "exasol", "starrocks": "starrocks", "doris": "doris",
}

// equal compares two values. certain is false if the result is not known.
func (r *renderer) equal(a, b jinjaValue, span sqlguard.Span) (same, certain bool) {
	if b.kind == jinjaAdapter {
		a, b = b, a
	}
	x, oka := a.whole()
	y, okb := b.whole()
	switch {
	case a.kind == jinjaAdapter && okb:
		switch speaks := adapters[y]; {
		case y == r.dialect.Name():
			return true, true
		case speaks == r.dialect.Name(): // a relative, whose text is not judged
			r.unknown(span)
			return false, true
		case speaks != "":
			return false, true
		default:
			return false, false
		}
	case oka && okb:
		return x == y, true
	case a.kind == jinjaNumber && b.kind == jinjaNumber:
		return a.text.SQL() == b.text.SQL(), true
	case a.kind == jinjaBool && b.kind == jinjaBool:
		return a.truth == b.truth, true
	case a.kind == jinjaNone && b.kind == jinjaNone:
		return true, true
	default:
		return false, false
	}
}

// decoded returns the value of a string of Jinja, which is written as in Python.
func decoded(t jinjaToken) *Text {
	out := &Text{Span: t.span}
	body, at := t.text[1:len(t.text)-1], t.span.Start+1
	for {
		i := strings.IndexAny(body, "\\\r")
		if i < 0 || i+1 == len(body) && body[i] == '\\' {
			out.verbatim(body, at)
			return out
		}
		out.verbatim(body[:i], at)
		n := 2
		span := sqlguard.Span{Start: at + i, End: at + i + 2}
		switch {
		case body[i] == '\r':
			n = lineEnd(body[i:])
			out.escaped("\n", sqlguard.Span{Start: at + i, End: at + i + n})
		case body[i+1] == 'n':
			out.escaped("\n", span)
		case body[i+1] == 't':
			out.escaped("\t", span)
		case body[i+1] == '\n':
		case strings.IndexByte(`\'"`, body[i+1]) >= 0:
			out.escaped(body[i+1:i+2], span)
		default: // \x41 and the like
			out.hole(span, false)
		}
		body, at = body[i+n:], at+i+n
	}
}

// method returns the result of a method of a value, or of a filter on it.
func (r *renderer) method(v jinjaValue, name string, args []jinjaValue, span sqlguard.Span) jinjaValue {
	switch name {
	case "as_bool", "as_native", "as_text", "as_number": // they change the type only
		return v
	}
	own := v.ours() && !slices.ContainsFunc(args, func(a jinjaValue) bool { return !a.ours() })
	unknown := jinjaValue{own: own}
	text, whole := v.whole()
	switch v.kind {
	case jinjaString:
		switch name {
		case "string", "safe":
			return v
		case "strip", "trim":
			if len(args) == 0 {
				return known(v.text.trimmed())
			}
		case "upper", "lower":
			if !whole {
				return unknown
			}
			changed := strings.ToUpper(text)
			if name == "lower" {
				changed = strings.ToLower(text)
			}
			if len(changed) != len(text) {
				return unknown
			}
			out := v.text.clone()
			out.sql = []byte(changed)
			return known(out)
		case "replace":
			if len(args) == 2 && whole {
				old, ok1 := args[0].whole()
				by, ok2 := args[1].whole()
				if ok1 && ok2 && old != "" {
					out := &Text{Span: span}
					out.escaped(strings.ReplaceAll(text, old, by), span)
					return known(out)
				}
			}
		case "length", "count":
			if whole {
				return number(strconv.Itoa(len([]rune(text))), span)
			}
		}
	case jinjaList:
		switch name {
		case "append":
			if len(args) == 1 && len(*v.items) < maxJinjaItems {
				*v.items = append(*v.items, args[0])
				return jinjaValue{kind: jinjaNone}
			}
		case "extend":
			if len(args) == 1 && args[0].kind == jinjaList && len(*v.items)+len(*args[0].items) < maxJinjaItems {
				*v.items = append(*v.items, *args[0].items...)
				return jinjaValue{kind: jinjaNone}
			}
		case "list":
			return list(slices.Clone(*v.items))
		case "length", "count":
			return number(strconv.Itoa(len(*v.items)), span)
		case "first":
			if len(*v.items) > 0 {
				return (*v.items)[0]
			}
		case "last":
			if len(*v.items) > 0 {
				return (*v.items)[len(*v.items)-1]
			}
		case "join":
			separator := known(&Text{})
			if len(args) == 1 {
				separator = args[0]
			}
			out := &Text{Span: span}
			for i, item := range *v.items {
				if i > 0 {
					r.emit(out, separator, span)
				}
				r.emit(out, item, span)
			}
			return known(out)
		}
		if name == "append" || name == "extend" || name == "insert" || name == "pop" || name == "remove" {
			r.forget(v) // what the list has from now on is not known
			return unknown
		}
	case jinjaDict:
		var all []jinjaValue
		for i, key := range v.keys {
			text := &Text{Span: span}
			text.escaped(key, span)
			switch name {
			case "items":
				all = append(all, list([]jinjaValue{known(text), (*v.items)[i]}))
			case "keys":
				all = append(all, known(text))
			case "values":
				all = append(all, (*v.items)[i])
			}
		}
		switch {
		case name == "items" || name == "keys" || name == "values":
			return list(all)
		case name == "get" && len(args) > 0:
			if key, ok := args[0].whole(); ok {
				if i := slices.Index(v.keys, key); i >= 0 {
					return (*v.items)[i]
				}
				if len(args) > 1 {
					return args[1]
				}
				return jinjaValue{kind: jinjaNone}
			}
		case name == "length" || name == "count":
			return number(strconv.Itoa(len(v.keys)), span)
		}
	case jinjaRelation:
		return v // include(), quote() and the like leave it the relation
	case jinjaNumber:
		if name == "int" || name == "string" || name == "as_number" {
			return v
		}
	case jinjaUnknown, jinjaBool, jinjaNone, jinjaGlobal, jinjaAdapter, jinjaMethod:
	}
	if name == "default" || name == "d" {
		if v.kind != jinjaUnknown && v.kind != jinjaGlobal {
			return v
		}
	}
	return unknown
}

// maxJinjaItems is how long a list may get.
const maxJinjaItems = 4096

// forget makes a list one of which nothing is known.
func (r *renderer) forget(v jinjaValue) {
	for s := r.scope; s != nil; s = s.outer {
		for name, held := range s.names {
			if held.items == v.items {
				s.names[name] = jinjaValue{}
			}
		}
	}
}

func number(digits string, span sqlguard.Span) jinjaValue {
	text := &Text{Span: span}
	text.escaped(digits, span)
	return jinjaValue{kind: jinjaNumber, text: text}
}

// trimmed returns a text without white space around it.
func (t *Text) trimmed() *Text {
	from := len(t.sql) - len(strings.TrimLeftFunc(string(t.sql), PythonSpace))
	to := max(from, len(strings.TrimRightFunc(string(t.sql), PythonSpace)))
	for _, h := range t.Holes {
		from, to = min(from, h.At), max(to, h.At)
	}
	out := &Text{Span: t.Span}
	out.run(t, from, to)
	for _, h := range t.Holes {
		h.At -= from
		out.Holes = append(out.Holes, h)
	}
	return out
}
