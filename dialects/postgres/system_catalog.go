package postgres

import (
	"slices"
	"sort"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// relationFacts is the table's entry for a relation of a system schema. The zero
// value refuses.
type relationFacts struct {
	// Allowed says that the relation may be read, except for RefusedColumns.
	Allowed bool
	// Code and Reason explain the refusal: of the relation if Allowed is false, else of
	// its refused columns. Reason completes a sentence that begins with the name.
	Code   sqlguard.Code
	Reason string
	// columns are the refused columns, separated by spaces.
	columns string
	majors  majorSet
	known   bool
	// reveal is the group that admits a refused relation. relations are the names of the
	// relations whose columns these are.
	reveal    sqlguard.Group
	relations string // separated by spaces
}

// Restricted says that some columns of an allowed relation are refused. Then its whole row
// and * are refused too.
func (r relationFacts) Restricted() bool { return r.columns != "" }

// ColumnRefused says whether a column of the relation is refused.
func (r relationFacts) ColumnRefused(column string) bool {
	for refused := range strings.SplitSeq(r.columns, " ") {
		if refused == column {
			return column != ""
		}
	}
	return false
}

// relationEntry is a row of the generated table.
type relationEntry struct {
	schema  string // empty: found in any schema
	name    string
	columns string
	code    sqlguard.Code
	reason  string
	majors  majorSet
	allowed bool
}

// systemRelation judges a relation by the schema and name of a reference after
// decoding. The second result says whether it is a system relation: one in
// pg_catalog, information_schema or another schema whose name begins with pg_,
// an unqualified name that begins with pg_, or a relation that an extension is
// known to install. Every system relation that is not on the list is refused.
func systemRelation(schema, name string) (relationFacts, bool) {
	if entry, ok := findRelation(schema, name); ok {
		facts := relationFacts{
			Allowed: entry.allowed, Code: entry.code, Reason: entry.reason,
			columns: entry.columns, majors: entry.majors, known: true,
		}
		if entry.schema != "information_schema" {
			revealFacts(name, &facts)
		}
		return facts, true
	}
	refused := relationFacts{Code: sqlguard.CodeRelationNotAllowed}
	switch {
	case schema == "" && strings.HasPrefix(name, "pg_"), schema == "pg_catalog", schema == "information_schema":
		refused.Reason = "is not on the list of system relations"
	case strings.HasPrefix(schema, "pg_"):
		refused.Reason = "is in a schema of the server's own storage"
	default:
		return relationFacts{}, false
	}
	return refused, true
}

// findRelation finds the row for a reference. Relations of pg_catalog are found
// unqualified too: the server always searches that schema first.
func findRelation(schema, name string) (relationEntry, bool) {
	i, ok := sort.Find(len(relationTable), func(i int) int { return strings.Compare(name, relationTable[i].name) })
	if !ok {
		return relationEntry{}, false
	}
	for ; i < len(relationTable) && relationTable[i].name == name; i++ {
		e := relationTable[i]
		if e.schema == "" || e.schema == schema || schema == "" && e.schema == "pg_catalog" {
			return e, true
		}
	}
	return relationEntry{}, false
}

// settingAllowed says whether SHOW and current_setting may read a setting.
// Names are compared without regard to case, as the server does. SHOW TIME
// ZONE, SHOW TRANSACTION ISOLATION LEVEL and SHOW SESSION AUTHORIZATION are the
// settings timezone, transaction_isolation and session_authorization.
func settingAllowed(name string) bool {
	_, ok := slices.BinarySearch(settingTable[:], strings.ToLower(name))
	return ok
}

// builtinOperator says whether an operator name belongs to the server or to a
// reviewed extension. The function of every such operator is allowed. The caller refuses
// a schema other than pg_catalog in OPERATOR(schema.name).
func builtinOperator(name string) bool {
	_, ok := slices.BinarySearch(operatorTable[:], name)
	return ok
}

// typeEntry is a row of the generated table.
type typeEntry struct {
	schema string // empty: belongs to a reviewed extension
	name   string
}

// builtinType says whether a type belongs to the server or to a reviewed
// extension, by the schema and name of a reference after decoding, with the
// server's internal spelling: int4, bool, varchar, timestamptz, _text.
//
// Every such type is harmless as the target of a cast. The input functions read at most
// names of objects (regclass and similar types), and a refcursor is only a name until a
// statement fetches from it.
func builtinType(schema, name string) bool {
	i, ok := sort.Find(len(typeTable), func(i int) int { return strings.Compare(name, typeTable[i].name) })
	if !ok {
		return false
	}
	switch schema {
	case "":
		return typeTable[i].schema != "information_schema"
	default:
		return typeTable[i].schema == schema
	}
}

// typeSpellings are the names of SQL and of the grammar for built-in types that
// are stored under another name.
var typeSpellings = [...]struct{ spelling, name string }{
	{"bigint", "int8"},
	{"bit varying", "varbit"},
	{"boolean", "bool"},
	{"character", "bpchar"},
	{"character varying", "varchar"},
	{"dec", "numeric"},
	{"decimal", "numeric"},
	{"double precision", "float8"},
	{"float", "float8"},
	{"int", "int4"},
	{"integer", "int4"},
	{"real", "float4"},
	{"smallint", "int2"},
	{"time with time zone", "timetz"},
	{"time without time zone", "time"},
	{"timestamp with time zone", "timestamptz"},
	{"timestamp without time zone", "timestamp"},
}

// builtinTypeText says whether a written type, as in an argument of pg_input_is_valid,
// names a built-in type. It reads plain names, the spellings of SQL, a type modifier in
// parentheses and array brackets. It refuses everything else, including quoted names.
func builtinTypeText(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	for strings.HasSuffix(text, "]") {
		open := strings.LastIndexByte(text, '[')
		if open < 0 || strings.Trim(text[open+1:len(text)-1], "0123456789") != "" {
			return false
		}
		text = strings.TrimSpace(text[:open])
	}
	if open := strings.IndexByte(text, '('); open >= 0 {
		end := strings.IndexByte(text, ')')
		if end < open || strings.Trim(text[open+1:end], "0123456789, -") != "" {
			return false
		}
		text = strings.TrimSpace(text[:open]) + text[end+1:]
	}
	text = strings.Join(strings.Fields(text), " ")
	for _, t := range typeSpellings {
		if t.spelling == text {
			text = t.name
		}
	}
	if strings.ContainsAny(text, ` "`) {
		return false
	}
	schema, name, qualified := strings.Cut(text, ".")
	if !qualified {
		schema, name = "", text
	}
	return builtinType(schema, name)
}
