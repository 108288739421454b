package mysql

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// walker collects the facts of one statement. It does not depend on a parser: the
// walks over the syntax trees (tidb*.go and marino*.go) report what they visit to
// it, in the order of the text.
type walker struct {
	*ledger
	dialect Dialect
	st      *sqlguard.Statement
	scope   *scope
	path    string          // the path to the current common table expression
	types   map[string]bool // the types of the statement so far
	depth   int             // number of queries around the current one
	strings []string        // room for qualifiers
	// explained says that the statement begins with words such as ANALYZE, which the
	// parser does not see and which explain the statement.
	explained bool
}

// scope is a list of the common table expressions in scope, the innermost first. An entry
// without a name marks the start of a WITH.
type scope struct {
	name string
	up   *scope
}

// refuse adds a finding that no policy permits.
func (w *walker) refuse(code sqlguard.Code, at sqlguard.Span, message string) {
	w.effect(sqlguard.Finding{Code: code, Span: at, Message: message})
}

// maxEffects bounds the number of effects of one statement.
const maxEffects = 1000

func (w *walker) effect(f sqlguard.Finding) {
	if f.Span == (sqlguard.Span{}) {
		f.Span = w.st.Span
	}
	if len(w.st.Effects) >= maxEffects || w.told(f) {
		return
	}
	f.Path = w.path
	w.st.Effects = append(w.st.Effects, f)
}

// told reports whether the statement already has a finding with the same code and
// span.
func (w *walker) told(f sqlguard.Finding) bool {
	for i := range min(len(w.st.Effects), 16) {
		if e := &w.st.Effects[i]; e.Code == f.Code && e.Span == f.Span && e.Message == f.Message {
			return true
		}
	}
	return false
}

// unknown refuses a node that the walk does not know.
func (w *walker) unknown(kind string) {
	w.effect(sqlguard.Finding{
		Code: sqlguard.CodeStatementNotAllowed, Span: w.span(-1), Object: kind,
		Message: "the statement holds a construct that the guard does not know",
	})
}

// name meets an identifier in any notation, and returns its span.
func (w *walker) name(text string) sqlguard.Span {
	if text == "" {
		return sqlguard.Span{}
	}
	return w.span(w.meet(text, className))
}

// alias meets a name that can also be written as a string.
func (w *walker) alias(text string) {
	if text != "" {
		w.meet(text, className|classString)
	}
}

func (w *walker) names(first, second, third string) sqlguard.Span {
	span := w.name(first)
	for _, text := range [...]string{second, third} {
		if text == "" {
			continue
		}
		if next := w.name(text); span == (sqlguard.Span{}) || next.Start < span.Start {
			span = next
		} else {
			span.End = next.End
		}
	}
	return span
}

// text meets a string literal.
func (w *walker) text(value string) { w.meet(value, classString) }

// binary meets a literal of bits or hexadecimal digits.
func (w *walker) binary(value string) { w.meet(value, classBinary) }

func (w *walker) number(canonical string) { w.meet(canonical, classNumber) }

func (w *walker) integer(value uint64) { w.number(strconv.FormatUint(value, 10)) }

// magnitude is an integer without the sign, which is an operator in the text.
func magnitude(value int64) uint64 {
	if value < 0 {
		return -uint64(value) //nolint:gosec // two's complement
	}
	return uint64(value)
}

// enter opens a query. The names of WITH before it are in scope there. It returns the value
// that leave needs to close the query.
func (w *walker) enter() (outer *scope) {
	w.depth++
	return w.scope
}

func (w *walker) leave(outer *scope) {
	w.scope = outer
	w.depth--
}

// define adds a common table expression to the scope.
func (w *walker) define(name string) { w.scope = &scope{name: name, up: w.scope} }

// begin opens a WITH.
func (w *walker) begin() { w.scope = &scope{up: w.scope} }

// defined reports whether an unqualified name is a common table expression here.
// A name that differs in case is taken for a table, because it is one on servers
// whose names are case-sensitive.
//
// A name of an outer WITH is also taken for a table inside an inner WITH: MariaDB
// does not look it up everywhere after the inner WITH, and MySQL does not after a
// WITH in brackets that is an operand of UNION. In a statement with UNION and
// more than one WITH, every name may be a table.
func (w *walker) defined(name string) bool {
	for s := w.scope; s != nil; s = s.up {
		switch s.name {
		case name:
			return name != "" && !w.entangled()
		case "":
			return false
		}
	}
	return false
}

// entangled reports whether a statement has more than one WITH, and UNION, EXCEPT
// or INTERSECT.
func (w *walker) entangled() bool {
	first := w.first("with")
	if first < 0 || w.after(first, "with") < 0 {
		return false
	}
	return w.first("union") >= 0 || w.first("except") >= 0 || w.first("intersect") >= 0
}

// relation states a table or view that the statement names, and returns its span.
func (w *walker) relation(schema, name, alias string, access sqlguard.Access) {
	w.relationAt(w.names(schema, name, ""), schema, name, alias, access)
}

func (w *walker) relationAt(span sqlguard.Span, schema, name, alias string, access sqlguard.Access) {
	if schema == "" && access == sqlguard.AccessRead && w.defined(name) {
		return
	}
	r := sqlguard.Relation{Schema: schema, Name: name, Alias: alias, Access: access, Span: span}
	system, ruling := relationRuling(schema, name)
	if w.dialect.profile.owns(schema) {
		system, ruling = true, sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "it is in a schema of the server's own"}
	}
	r.System, r.Ruling = system, ruling
	if !system {
		r.Ruling = sqlguard.Ruling{Allowed: true}
	}
	if w.st.Relations == nil {
		w.st.Relations = make([]sqlguard.Relation, 0, 2)
	}
	w.st.Relations = append(w.st.Relations, r)
}

// columnRef states the mention of a column. MariaDB reads seq.nextval as a call
// in some modes.
func (w *walker) columnRef(schema, table, name string) {
	ref := sqlguard.ColumnRef{Name: name, Span: w.names(schema, table, name)}
	if table != "" {
		ref.Qualifier = w.qualifier(schema, table)
		if sequenceName(name) {
			w.effect(sqlguard.Finding{
				Code: sqlguard.CodeFunctionSideEffect, Span: ref.Span, Object: name,
				Message: fmt.Sprintf("%s behind a dot reads or advances a sequence", name),
			})
		}
	}
	ref.Alias = foldName(name) == "_rowid" // an integer key may have this name too
	w.column(ref)
}

// sequenceName reports whether a name behind a dot can mean a sequence function.
func sequenceName(name string) bool {
	switch foldName(name) {
	case "nextval", "currval", "lastval", "setval":
		return true
	default:
		return false
	}
}

// star states * or t.*.
func (w *walker) star(schema, table string) {
	ref := sqlguard.ColumnRef{Star: true, Span: w.names(schema, table, "")}
	if table != "" {
		ref.Qualifier = w.qualifier(schema, table)
	}
	w.column(ref)
}

// qualifier returns the names before a column. Its results share arrays.
func (w *walker) qualifier(schema, table string) []string {
	if cap(w.strings)-len(w.strings) < 2 {
		w.strings = make([]string, 0, 16)
	}
	from := len(w.strings)
	if schema != "" {
		w.strings = append(w.strings, schema)
	}
	w.strings = append(w.strings, table)
	return w.strings[from:len(w.strings):len(w.strings)]
}

func (w *walker) column(ref sqlguard.ColumnRef) {
	if w.st.ColumnRefs == nil {
		w.st.ColumnRefs = make([]sqlguard.ColumnRef, 0, 4+len(w.items)/8)
	}
	w.st.ColumnRefs = append(w.st.ColumnRefs, ref)
}

// call states the call of a function that the statement names, or that the parser makes
// from syntax. aliases are other names that the parser replaces by that name.
func (w *walker) call(schema, name string, args int, aliases ...string) {
	span := w.name(schema)
	i := w.meet(name, classCall)
	for _, alias := range aliases {
		if i >= 0 {
			break
		}
		if i = w.meet(alias, classCall); i >= 0 {
			name = alias
		}
	}
	made := i < 0 && schema == ""
	if i >= 0 {
		at := w.span(i)
		if schema == "" {
			span = at
		} else {
			span.End = max(span.End, at.End)
		}
	} else if schema == "" {
		span = w.span(-1)
	}
	c := sqlguard.Call{Schema: schema, Name: foldName(name), Notation: sqlguard.NotationCall, Span: span}
	switch {
	case schema == "" && !made && w.items[i].class == classQuoted && wordOnly(c.Name):
		c.Ruling = sqlguard.Ruling{Reason: "in quotes the name means a user-defined function, not the built-in one"}
	case schema == "" && !made && w.apart(i) && w.dialect.adherent(c.Name):
		c.Ruling = sqlguard.Ruling{Reason: "with a space before the bracket the name means a user-defined function, not the built-in one"}
	default:
		c.Ruling, c.Builtin = w.dialect.functionRuling(schema, c.Name, args)
	}
	c.Arguments, c.Syntax = args, c.Builtin // no other function has the name of a built-in one
	if w.st.Calls == nil {
		w.st.Calls = make([]sqlguard.Call, 0, 2)
	}
	w.st.Calls = append(w.st.Calls, c)
}

// apart reports whether there is any character between a name and its opening
// bracket.
func (w *walker) apart(i int) bool {
	return i >= 0 && w.kind(i+1) == sqlguard.TokenOpen && w.items[i+1].Start != w.items[i].End
}

// overRows reports whether (*) follows the name that was met last.
func (w *walker) overRows() bool {
	i := w.cursor
	return i > 0 && w.items[i-1].class&classCall != 0 && w.kind(i) == sqlguard.TokenOpen && w.kind(i+1) == sqlguard.TokenOperator &&
		w.items[i+1].Text(w.sql) == "*" && w.kind(i+2) == sqlguard.TokenClose
}

// trimsSpaces reports whether a call of TRIM, whose name was met last, names a side and not
// what it removes: TRIM(BOTH FROM s). The tree has a space for it, which is not in the text.
func (w *walker) trimsSpaces() bool {
	i := w.cursor
	return w.kind(i) == sqlguard.TokenOpen && (w.word(i+1, "both") || w.word(i+1, "leading") || w.word(i+1, "trailing")) && w.word(i+2, "from")
}

// separated reports whether SEPARATOR stands in the call of GROUP_CONCAT whose name was
// met last. Where that cannot be seen, it may.
func (w *walker) separated() bool {
	depth := 0
	for i := w.cursor; i < len(w.items); i++ {
		switch w.kind(i) { //nolint:exhaustive // the others stand in the bracket
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			depth--
		}
		switch {
		case depth <= 0:
			return i == w.cursor
		case depth == 1 && w.word(i, "separator"):
			return true
		}
	}
	return true
}

// typeWords meets the words of a type in a cast or a column of JSON_TABLE: one of
// its names, the numbers in brackets behind it, and what a character type adds.
func (w *walker) typeWords(names ...string) {
	found := -1
	for i := w.cursor; i < len(w.items) && i < w.cursor+maxSteps && found < 0; i++ {
		if w.items[i].class&classAny == 0 || w.items[i].met {
			continue
		}
		for _, name := range names {
			if w.word(i, name) && w.typePlace(i-1) {
				found = i
			}
		}
	}
	if found < 0 {
		return
	}
	w.typeName(foldName(w.items[found].text), w.span(found))
	i := w.typeBrackets(found + 1)
	for ; i < len(w.items); i++ {
		switch {
		case w.word(i, "unsigned"), w.word(i, "signed"), w.word(i, "integer"), w.word(i, "int"), w.word(i, "zerofill"),
			w.word(i, "varying"), w.word(i, "precision"), w.word(i, "binary"), w.word(i, "ascii"), w.word(i, "unicode"), w.word(i, "byte"), w.word(i, "array"):
			w.items[i].met = true
			i = w.typeBrackets(i+1) - 1
		case w.word(i, "character") && w.word(i+1, "set"):
			w.items[i].met, w.items[i+1].met = true, true
			i = w.setName(i + 2)
		case w.word(i, "charset"), w.word(i, "collate"):
			w.items[i].met = true
			i = w.setName(i + 1)
		default:
			w.cursor = max(w.cursor, i)
			return
		}
	}
	w.cursor = i
}

// typePlace reports whether a type can follow an item: AS in a cast, the comma in
// CONVERT, RETURNING in JSON_VALUE, and the name of a column in JSON_TABLE.
func (w *walker) typePlace(i int) bool {
	return w.word(i, "as") || w.word(i, "returning") || w.kind(i) == sqlguard.TokenComma || i >= 0 && w.items[i].class&className != 0 && w.items[i].met
}

// typeBrackets meets the numbers in brackets at i and returns what follows.
func (w *walker) typeBrackets(i int) int {
	if w.items[i-1].class&classAny != 0 {
		w.items[i-1].met = true
	}
	if w.kind(i) != sqlguard.TokenOpen {
		return i
	}
	for j := i + 1; j < len(w.items); j++ {
		switch {
		case w.items[j].class == classNumber:
			w.items[j].met = true
		case w.kind(j) == sqlguard.TokenClose:
			return j + 1
		case w.kind(j) != sqlguard.TokenComma:
			return i
		}
	}
	return i
}

// setName meets the name of a character set or collation at i.
func (w *walker) setName(i int) int {
	if i < len(w.items) && w.items[i].class&(className|classString) != 0 {
		w.items[i].met = true
	}
	return i
}

// typeName states a type, each once. All that the grammar knows are the
// server's own.
func (w *walker) typeName(name string, at sqlguard.Span) {
	if w.types[name] {
		return
	}
	if w.types == nil {
		w.types = make(map[string]bool)
	}
	w.types[name] = true
	w.st.Types = append(w.st.Types, sqlguard.Type{Name: name, Span: at, Builtin: true})
}

// setting states a read of a system variable.
func (w *walker) setting(name, scope string, at sqlguard.Span) {
	name = foldName(name)
	w.st.Settings = append(w.st.Settings, sqlguard.SettingRead{Name: name, Span: at, Ruling: w.dialect.settingRuling(scope, name)})
}

// keyword marks a word that is syntax in a position where a name is possible.
func (w *walker) keyword(word string) { w.meet(word, classAny) }

// endOfValues marks FROM FIRST and FROM LAST of NTH_VALUE, which come between its
// bracket and its window.
func (w *walker) endOfValues(name string) {
	if foldName(name) != "nth_value" {
		return
	}
	for i := w.cursor; i < len(w.items)-1 && i < w.cursor+4; i++ {
		if w.kind(i-1) == sqlguard.TokenClose && w.word(i, "from") && (w.word(i+1, "first") || w.word(i+1, "last")) {
			w.items[i].met, w.items[i+1].met = true, true
			w.cursor = i + 2
			return
		}
	}
}

// sequence refuses NEXT VALUE FOR and PREVIOUS VALUE FOR, and reports whether
// the text has it.
func (w *walker) sequence(which string) bool {
	at, ok := w.find(which, "value", "for")
	if ok {
		w.refuse(sqlguard.CodeFunctionSideEffect, at, strings.ToUpper(which)+" VALUE FOR reads or advances a sequence")
	}
	return ok
}

// userVariable refuses @name, read or assigned.
func (w *walker) userVariable(name string, assigned bool) {
	i := w.cursor
	for i < len(w.items) && (w.items[i].Kind != sqlguard.TokenOperator || w.items[i].Text(w.sql) != "@") {
		i++
	}
	at := w.span(-1)
	if i < len(w.items)-1 {
		at = sqlguard.Span{Start: w.items[i].Start, End: w.items[i+1].End}
		w.items[i+1].met = true
		w.cursor = i + 2
	}
	what := "reads"
	if assigned {
		what = "assigns"
	}
	w.effect(sqlguard.Finding{
		Code: sqlguard.CodeSessionChange, Span: at, Object: "@" + name,
		Message: fmt.Sprintf("the statement %s the user variable @%s, which belongs to the session", what, name),
		Hint:    "write the value itself, or compute it in a sub-query",
	})
}

// format marks the name of a format of EXPLAIN. The parsers invent a name when
// the statement has none.
func (w *walker) format() {
	for i := 1; i < 3 && i+2 < len(w.items); i++ {
		if w.word(i, "format") && w.items[i+1].Text(w.sql) == "=" {
			w.items[i+2].met = true
			w.cursor = i + 3
			return
		}
	}
}

// parameter refuses an unbound marker.
func (w *walker) parameter() {
	at := w.span(-1)
	for i := w.cursor; i < len(w.items); i++ {
		if w.items[i].Kind == sqlguard.TokenParameter {
			at, w.cursor = w.span(i), i+1
			break
		}
	}
	w.refuse(sqlguard.CodeParameterNotAllowed, at, "the parameter ? has no value here")
}

// into refuses INTO.
func (w *walker) into(what string) {
	at, _ := w.find("into")
	w.refuse(sqlguard.CodeSelectInto, at, what)
}

// lock refuses a locking clause. words are its first words.
func (w *walker) lock(words ...string) {
	at, _ := w.find(words...)
	w.refuse(sqlguard.CodeLockingClause, at, strings.ToUpper(strings.Join(words, " "))+" locks the rows that the query reads")
}

func joinPath(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}

// nodeName returns the name of a node's type. It returns "" for a type outside of
// the package path, which contains a parser's nodes.
func nodeName(n any, path string) string {
	t := reflect.TypeOf(n)
	if t == nil {
		return ""
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() != path {
		return ""
	}
	return t.Name()
}
