package sqlguard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlguard"
)

// reader is a dialect whose answers a test chooses. Its lexer knows enough of
// SQL for the screen: words, 'strings', "names", numbers, brackets, operators.
type reader struct {
	statements []sqlguard.Statement
	err        error
	panics     any
	name       string
	vt         bool
}

func (r reader) Name() string {
	if r.name == "" {
		return "test"
	}
	return r.name
}
func (reader) Version() string             { return "test 1" }
func (reader) Session() []sqlguard.Setting { return nil }
func (r reader) Analyze(string) ([]sqlguard.Statement, error) {
	if r.panics != nil {
		panic(r.panics)
	}
	return r.statements, r.err
}

func (r reader) Lex(text string) sqlguard.Tokens {
	tokens := sqlguard.Tokens{VerticalTab: r.vt}
	add := func(kind sqlguard.TokenKind, start, end int) {
		tokens.List = append(tokens.List, sqlguard.Token{Kind: kind, Start: start, End: end})
	}
	word := func(c byte) bool {
		return c >= 0x80 || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	for i := 0; i < len(text); {
		c, start := text[i], i
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			i++
			continue
		case c == '\'' || c == '"' || strings.HasPrefix(text[i:], "/*"):
			closing, kind := string(c), sqlguard.TokenString
			switch c {
			case '"':
				kind = sqlguard.TokenQuotedName
			case '/':
				closing, kind = "*/", sqlguard.TokenComment
				if strings.HasPrefix(text[i:], "/*!") {
					kind = sqlguard.TokenExecutableComment
				}
			}
			end := strings.Index(text[i+len(closing):], closing)
			if end < 0 {
				i, kind = len(text), sqlguard.TokenUnterminated
			} else {
				i += end + 2*len(closing)
			}
			add(kind, start, i)
		case c >= '0' && c <= '9':
			for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.') {
				i++
			}
			add(sqlguard.TokenNumber, start, i)
		case word(c):
			for i < len(text) && word(text[i]) {
				i++
			}
			add(sqlguard.TokenWord, start, i)
		default:
			i++
			kind := sqlguard.TokenOperator
			switch c {
			case '(', '[', '{':
				kind = sqlguard.TokenOpen
			case ')', ']', '}':
				kind = sqlguard.TokenClose
			case ',':
				kind = sqlguard.TokenComma
			case '.':
				kind = sqlguard.TokenDot
			case ';':
				kind = sqlguard.TokenTerminator
			case '\\':
				kind = sqlguard.TokenClientCommand
			}
			add(kind, start, i)
		}
	}
	return tokens
}

func selecting(fill func(*sqlguard.Statement)) reader {
	s := sqlguard.Statement{Verb: sqlguard.VerbSelect}
	if fill != nil {
		fill(&s)
	}
	return reader{statements: []sqlguard.Statement{s}}
}

func newGuard(t *testing.T, d sqlguard.Dialect, p sqlguard.Policy, c *sqlguard.Catalog) *sqlguard.Guard {
	t.Helper()
	g, err := sqlguard.New(d, p, c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func codes(v sqlguard.Verdict) string {
	var out []string
	for _, f := range v.Findings {
		out = append(out, string(f.Code))
	}
	return strings.Join(out, " ")
}

func TestCheckStatementCounts(t *testing.T) {
	read := sqlguard.Statement{Verb: sqlguard.VerbSelect}
	for _, test := range []struct {
		name    string
		dialect reader
		want    string
	}{
		{"one read", reader{statements: []sqlguard.Statement{read}}, ""},
		{"none", reader{}, "empty_statement"},
		{"two reads", reader{statements: []sqlguard.Statement{read, read}}, "multiple_statements"},
		{"zero verb", reader{statements: []sqlguard.Statement{{}}}, "statement_not_allowed"},
		{"unknown verb", reader{statements: []sqlguard.Statement{{Verb: "frobnicate"}}}, "statement_not_allowed"},
		{"syntax error", reader{err: &sqlguard.SyntaxError{Message: "syntax error", Offset: 3}}, "parse_error"},
		{"fault", reader{err: errors.New("boom")}, "internal_error"},
		{"panic", reader{panics: "boom"}, "internal_error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := newGuard(t, test.dialect, sqlguard.Policy{}, nil).Check("SELECT 1")
			if got := codes(v); got != test.want {
				t.Errorf("codes = %q, want %q", got, test.want)
			}
			if v.Allowed != (test.want == "") {
				t.Errorf("Allowed = %v with codes %q", v.Allowed, test.want)
			}
			if strings.Contains(cmp.Diff(sqlguard.Verdict{}, v), "boom") {
				t.Error("the verdict shows the internal error")
			}
		})
	}
}

func TestPrimaryCodeAndOrder(t *testing.T) {
	finding := func(code sqlguard.Code, start int) sqlguard.Finding {
		return sqlguard.Finding{Code: code, Message: string(code), Span: sqlguard.Span{Start: start, End: start + 1}}
	}
	d := reader{statements: []sqlguard.Statement{
		{Verb: sqlguard.VerbSelect, Effects: []sqlguard.Finding{finding(sqlguard.CodeLockingClause, 9), finding(sqlguard.CodeSelectInto, 2), finding(sqlguard.CodeSelectInto, 2)}},
		{Verb: sqlguard.VerbSelect, Span: sqlguard.Span{Start: 20, End: 28}},
	}}
	v := newGuard(t, d, sqlguard.Policy{}, nil).Check("SELECT é\nFROM x;    SELECT 2")
	if got, want := codes(v), "select_into locking_clause multiple_statements"; got != want {
		t.Errorf("codes = %q, want %q", got, want)
	}
	if v.Code != sqlguard.CodeMultipleStatements {
		t.Errorf("Code = %s", v.Code)
	}
	if f := v.Findings[1]; f.Line != 1 || f.Column != 9 { // the line feed itself, after a two-byte letter
		t.Errorf("line %d column %d, want 1 9", f.Line, f.Column)
	}
	if v.Findings[0].Hint == "" || !v.Findings[0].Retryable {
		t.Error("the finding lacks the hint or retryability of its code")
	}
}

func TestRulings(t *testing.T) {
	allowed := sqlguard.Ruling{Allowed: true}
	call := func(schema, name string, r sqlguard.Ruling, more ...func(*sqlguard.Call)) func(*sqlguard.Statement) {
		c := sqlguard.Call{Schema: schema, Name: name, Notation: sqlguard.NotationCall, Ruling: r}
		for _, f := range more {
			f(&c)
		}
		return func(s *sqlguard.Statement) { s.Calls = append(s.Calls, c) }
	}
	builtin := func(c *sqlguard.Call) { c.Builtin = true }
	relation := func(r sqlguard.Relation) func(*sqlguard.Statement) {
		return func(s *sqlguard.Statement) { s.Relations = append(s.Relations, r) }
	}
	user := func(schema, name string) func(*sqlguard.Statement) {
		return relation(sqlguard.Relation{Schema: schema, Name: name, Ruling: allowed})
	}
	allow := func(names ...string) sqlguard.Policy {
		return sqlguard.Policy{Functions: sqlguard.Names{Allow: names}}
	}
	pg15 := &sqlguard.Catalog{Major: 15, SearchPath: []string{"public", "app"}, Database: "shop"}
	for _, test := range []struct {
		name    string
		fill    func(*sqlguard.Statement)
		policy  sqlguard.Policy
		catalog *sqlguard.Catalog
		want    string
	}{
		{"zero ruling of a call", call("", "f", sqlguard.Ruling{}), sqlguard.Policy{}, nil, "function_not_allowed"},
		{"zero ruling of an operator", func(s *sqlguard.Statement) {
			s.Calls = []sqlguard.Call{{Name: "@@@", Notation: sqlguard.NotationOperator}}
		}, allow("public.@@@"), pg15, "operator_not_allowed"},
		{"listed call", call("", "lower", allowed), sqlguard.Policy{}, nil, ""},
		{"denied call", call("", "lower", allowed, builtin), sqlguard.Policy{Functions: sqlguard.Names{Deny: []string{"pg_catalog.lower"}}}, nil, "function_not_allowed"},
		{"denied beats allowed", call("app", "f", sqlguard.Ruling{}), sqlguard.Policy{Functions: sqlguard.Names{Allow: []string{"app.f"}, Deny: []string{"app.f"}}}, pg15, "function_not_allowed"},
		{"own function allowed", call("app", "f", sqlguard.Ruling{}), allow("app.f"), pg15, ""},
		{"another function that differs in case", call("app", "F", sqlguard.Ruling{}), allow("app.f"), pg15, "function_not_allowed"},
		{"own table allowed", user("public", "t"), sqlguard.Policy{Tables: sqlguard.Names{Allow: []string{"public.t"}}}, nil, ""},
		{"another table that differs in case", user("public", "T"), sqlguard.Policy{Tables: sqlguard.Names{Allow: []string{"public.t"}}}, nil, "relation_not_allowed"},
		{"denied built-in by any schema", call("", "lower", allowed, builtin), sqlguard.Policy{Functions: sqlguard.Names{Deny: []string{"pg_catalog.lower"}}}, pg15, "function_not_allowed"},
		{"own function by prefix", call("app", "geo_dist", sqlguard.Ruling{}), allow("app.geo_*"), pg15, ""},
		{"own function unqualified in the path", call("", "f", sqlguard.Ruling{}), allow("app.f"), pg15, ""},
		{"own function unqualified outside the path", call("", "f", sqlguard.Ruling{}), allow("other.f"), pg15, "function_not_allowed"},
		{"refused built-in cannot be allowed", call("", "pg_read_file", sqlguard.Ruling{Code: sqlguard.CodeFunctionFileAccess}, builtin), allow("public.pg_read_file", "pg_catalog.pg_read_file"), pg15, "function_file_access"},
		{"built-in of another major", call("", "any_value", allowed, builtin, func(c *sqlguard.Call) { c.Majors = 1<<16 | 1<<17 }), sqlguard.Policy{}, pg15, "function_not_allowed"},
		{"built-in of this major", call("", "any_value", allowed, builtin, func(c *sqlguard.Call) { c.Majors = 1<<15 | 1<<17 }), sqlguard.Policy{}, pg15, ""},
		{"built-in without a server", call("", "any_value", allowed, builtin, func(c *sqlguard.Call) { c.Majors = 1 << 17 }), sqlguard.Policy{}, nil, ""},
		{"possible call", call("", "upper", allowed, builtin, func(c *sqlguard.Call) { c.Possible = true }), sqlguard.Policy{}, nil, ""},
		{"possible call that is denied", call("", "upper", allowed, builtin, func(c *sqlguard.Call) { c.Possible, c.Notation = true, sqlguard.NotationColumn }), sqlguard.Policy{Functions: sqlguard.Names{Deny: []string{"pg_catalog.upper"}}}, nil, "function_not_allowed"},
		{"type unknown, strict", func(s *sqlguard.Statement) { s.Types = []sqlguard.Type{{Name: "mood"}} }, sqlguard.Policy{}, nil, "type_not_allowed"},
		{"type unknown, default", func(s *sqlguard.Statement) { s.Types = []sqlguard.Type{{Name: "mood"}} }, sqlguard.DefaultPolicy(), nil, ""},
		{"setting", func(s *sqlguard.Statement) { s.Settings = []sqlguard.SettingRead{{Name: "x"}} }, sqlguard.Policy{}, nil, "setting_not_allowed"},
		{"explain analyze, strict", func(s *sqlguard.Statement) { s.Verb, s.Executes = sqlguard.VerbExplain, true }, sqlguard.Policy{}, nil, "explain_executes"},
		{"explain analyze, default", func(s *sqlguard.Statement) { s.Verb, s.Executes = sqlguard.VerbExplain, true }, sqlguard.DefaultPolicy(), nil, ""},
		{"zero ruling of a relation", relation(sqlguard.Relation{Name: "t"}), sqlguard.Policy{}, nil, "relation_not_allowed"},
		{"user relation", user("", "t"), sqlguard.Policy{}, nil, ""},
		{"other database", relation(sqlguard.Relation{Database: "other", Name: "t", Ruling: allowed}), sqlguard.Policy{}, pg15, "external_relation"},
		{"own database", relation(sqlguard.Relation{Database: "SHOP", Name: "t", Ruling: allowed}), sqlguard.Policy{}, pg15, ""},
		{"listed database", relation(sqlguard.Relation{Database: "other", Name: "t", Ruling: allowed}), sqlguard.Policy{Databases: []string{"other"}}, pg15, ""},
		{"database without a connection", relation(sqlguard.Relation{Database: "shop", Name: "t", Ruling: allowed}), sqlguard.Policy{}, nil, "external_relation"},
		{"schema not on the list", user("hr", "t"), sqlguard.Policy{Schemas: sqlguard.Names{Allow: []string{"public"}}}, nil, "relation_not_allowed"},
		{"schema denied", user("HR", "t"), sqlguard.Policy{Schemas: sqlguard.Names{Deny: []string{"hr"}}}, nil, "relation_not_allowed"},
		{"table denied", user("public", "api_keys"), sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"public.api_*"}}}, nil, "relation_not_allowed"},
		{"unqualified, path unknown", user("", "t"), sqlguard.Policy{Schemas: sqlguard.Names{Deny: []string{"hr"}}}, nil, "unresolved_object"},
		{"unqualified, path clear", user("", "t"), sqlguard.Policy{Schemas: sqlguard.Names{Deny: []string{"hr"}}}, pg15, ""},
		{"unqualified, path mixed", user("", "t"), sqlguard.Policy{Schemas: sqlguard.Names{Deny: []string{"app"}}}, pg15, "unresolved_object"},
		{"unqualified, path pinned", user("", "api_keys"), sqlguard.Policy{SearchPath: []string{"app"}, Tables: sqlguard.Names{Deny: []string{"public.api_keys"}}}, pg15, ""},
		{"system relation ignores schema rules", relation(sqlguard.Relation{Schema: "pg_catalog", Name: "pg_class", System: true, Ruling: allowed}), sqlguard.Policy{Schemas: sqlguard.Names{Allow: []string{"public"}}}, nil, ""},
		{"system relation denied by schema", relation(sqlguard.Relation{Schema: "information_schema", Name: "tables", System: true, Ruling: allowed}), sqlguard.Policy{Schemas: sqlguard.Names{Deny: []string{"information_schema"}}}, nil, "relation_not_allowed"},
		{"system relation denied by name", relation(sqlguard.Relation{Name: "pg_proc", System: true, Ruling: allowed}), sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"pg_catalog.pg_proc"}}}, nil, "relation_not_allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := newGuard(t, selecting(test.fill), test.policy, test.catalog).Check("SELECT 1")
			if got := codes(v); got != test.want {
				t.Errorf("codes = %q, want %q (%v)", got, test.want, v.Findings)
			}
		})
	}
}

func TestColumnRules(t *testing.T) {
	policy := sqlguard.Policy{Columns: []sqlguard.ColumnRule{{Match: "public.users.email"}}}
	catalog := &sqlguard.Catalog{SearchPath: []string{"public"}}
	users := sqlguard.Relation{Name: "users", Alias: "u", Ruling: sqlguard.Ruling{Allowed: true}}
	orders := sqlguard.Relation{Name: "orders", Alias: "o", Ruling: sqlguard.Ruling{Allowed: true}}
	for _, test := range []struct {
		name      string
		relations []sqlguard.Relation
		ref       sqlguard.ColumnRef
		want      string
	}{
		{"other column", []sqlguard.Relation{users}, sqlguard.ColumnRef{Name: "id"}, ""},
		{"the column", []sqlguard.Relation{users}, sqlguard.ColumnRef{Name: "EMAIL"}, "column_not_allowed"},
		{"star", []sqlguard.Relation{users}, sqlguard.ColumnRef{Star: true}, "column_not_allowed"},
		{"star of the alias", []sqlguard.Relation{users}, sqlguard.ColumnRef{Qualifier: []string{"u"}, Star: true}, "column_not_allowed"},
		{"whole row", []sqlguard.Relation{users}, sqlguard.ColumnRef{Name: "u"}, "column_not_allowed"},
		{"no such table", []sqlguard.Relation{orders}, sqlguard.ColumnRef{Name: "email"}, "unresolved_object"},
		{"beside a table that may be a view", []sqlguard.Relation{users, orders}, sqlguard.ColumnRef{Qualifier: []string{"o"}, Name: "email"}, "unresolved_object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := selecting(func(s *sqlguard.Statement) {
				s.Relations, s.ColumnRefs = test.relations, []sqlguard.ColumnRef{test.ref}
			})
			if got := codes(newGuard(t, d, policy, catalog).Check("SELECT 1")); got != test.want {
				t.Errorf("codes = %q, want %q", got, test.want)
			}
		})
	}
}

// folding is a reader for a server that folds the case of names.
type folding struct{ reader }

func (folding) FoldsNames() bool { return true }

// flat is a reader for a server whose databases are its schemas.
type flat struct{ reader }

func (flat) SchemasAreDatabases() bool { return true }

func TestRelationsWhereSchemasAreDatabases(t *testing.T) {
	allowed := sqlguard.Ruling{Allowed: true}
	shop := &sqlguard.Catalog{Database: "shop", SearchPath: []string{"sales"}}
	for _, test := range []struct {
		name     string
		relation sqlguard.Relation
		policy   sqlguard.Policy
		catalog  *sqlguard.Catalog
		want     string
	}{
		{"own", sqlguard.Relation{Schema: "shop", Name: "t", Ruling: allowed}, sqlguard.Policy{}, shop, ""},
		{"another", sqlguard.Relation{Schema: "hr", Name: "t", Ruling: allowed}, sqlguard.Policy{}, shop, "external_relation"},
		{"another that differs in case", sqlguard.Relation{Schema: "Shop", Name: "t", Ruling: allowed}, sqlguard.Policy{}, shop, "external_relation"},
		{"listed", sqlguard.Relation{Schema: "hr", Name: "t", Ruling: allowed}, sqlguard.Policy{Databases: []string{"hr"}}, shop, ""},
		{"listed in another case", sqlguard.Relation{Schema: "HR", Name: "t", Ruling: allowed}, sqlguard.Policy{Databases: []string{"hr"}}, shop, "external_relation"},
		{"of the server", sqlguard.Relation{Schema: "information_schema", Name: "tables", System: true, Ruling: allowed}, sqlguard.Policy{}, shop, ""},
		{"of the server, not listed", sqlguard.Relation{Schema: "mysql", Name: "user", System: true}, sqlguard.Policy{Databases: []string{"mysql"}}, shop, "relation_not_allowed"},
		{"without a connection", sqlguard.Relation{Schema: "hr", Name: "t", Ruling: allowed}, sqlguard.Policy{}, nil, ""},
		{"unqualified, denied", sqlguard.Relation{Name: "t", Ruling: allowed}, sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"shop.t"}}}, shop, "relation_not_allowed"},
		{"unqualified, denied elsewhere", sqlguard.Relation{Name: "t", Ruling: allowed}, sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"sales.t"}}}, shop, ""},
		{"unqualified, without a connection", sqlguard.Relation{Name: "t", Ruling: allowed}, sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"sales.t"}}}, nil, "unresolved_object"},
		{"listed and denied", sqlguard.Relation{Schema: "hr", Name: "t", Ruling: allowed}, sqlguard.Policy{Databases: []string{"hr"}, Schemas: sqlguard.Names{Deny: []string{"hr"}}}, shop, "relation_not_allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := flat{selecting(func(s *sqlguard.Statement) { s.Relations = []sqlguard.Relation{test.relation} })}
			if got := codes(newGuard(t, d, test.policy, test.catalog).Check("SELECT 1")); got != test.want {
				t.Errorf("codes = %q, want %q", got, test.want)
			}
		})
	}
}

// shaped is a reader for a server that ignores the width of letters in names.
type shaped struct{ reader }

func (shaped) FoldName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xff01 && r <= 0xff5e {
			return r - 0xfee0
		}
		return r
	}, name)
}

func TestRulesWhereFormsFold(t *testing.T) {
	policy := sqlguard.Policy{
		Tables:  sqlguard.Names{Deny: []string{"app.ke*", "app.\uff53ecret"}},
		Schemas: sqlguard.Names{Deny: []string{"hr"}},
		Columns: []sqlguard.ColumnRule{{Match: "app.users.email"}},
	}
	for _, test := range []struct {
		schema, table, column, want string
	}{
		{"app", "users", "id", ""},
		{"app", "\uff4beys", "id", "relation_not_allowed"},
		{"app", "secret", "id", "relation_not_allowed"},
		{"\uff48r", "t", "id", "relation_not_allowed"},
		{"app", "users", "\uff45mail", "column_not_allowed"},
		{"app", "\uff55sers", "EMAIL", "column_not_allowed"},
	} {
		d := shaped{selecting(func(s *sqlguard.Statement) {
			s.Relations = []sqlguard.Relation{{Schema: test.schema, Name: test.table, Ruling: sqlguard.Ruling{Allowed: true}}}
			s.ColumnRefs = []sqlguard.ColumnRef{{Name: test.column}}
		})}
		got := codes(newGuard(t, d, policy, nil).Check("SELECT 1"))
		if got != test.want && !strings.HasPrefix(got, test.want+" ") {
			t.Errorf("%s.%s.%s: codes = %q, want %q", test.schema, test.table, test.column, got, test.want)
		}
	}
}

func TestColumnsWhereSchemasAreDatabases(t *testing.T) {
	shop := &sqlguard.Catalog{Database: "shop"}
	for _, test := range []struct {
		qualifier []string
		catalog   *sqlguard.Catalog
		want      string
	}{
		{[]string{"t"}, shop, ""},
		{[]string{"shop", "t"}, shop, ""},
		{[]string{"hr", "t"}, shop, ""},
		{[]string{"information_schema", "tables"}, shop, ""},
		{[]string{"nowhere", "t"}, shop, "external_relation"},
		{[]string{"nowhere", "t"}, nil, ""},
	} {
		d := flat{selecting(func(s *sqlguard.Statement) {
			s.Relations = []sqlguard.Relation{
				{Name: "t", Ruling: sqlguard.Ruling{Allowed: true}},
				{Schema: "INFORMATION_SCHEMA", Name: "tables", System: true, Ruling: sqlguard.Ruling{Allowed: true}},
			}
			s.ColumnRefs = []sqlguard.ColumnRef{{Qualifier: test.qualifier, Name: "c"}}
		})}
		if got := codes(newGuard(t, d, sqlguard.Policy{Databases: []string{"hr"}}, test.catalog).Check("SELECT 1")); got != test.want {
			t.Errorf("%v: codes = %q, want %q", test.qualifier, got, test.want)
		}
	}
}

// homed is a reader whose system relations are in a schema of the server.
type homed struct{ reader }

func (homed) SystemSchema() string { return "sys" }

func TestSystemRelationWithoutSchema(t *testing.T) {
	d := homed{selecting(func(s *sqlguard.Statement) {
		s.Relations = []sqlguard.Relation{{Name: "objects", System: true, Ruling: sqlguard.Ruling{Allowed: true}}}
	})}
	for schema, want := range map[string]string{"SYS": "relation_not_allowed", "pg_catalog": "", "dbo": ""} {
		p := sqlguard.Policy{Schemas: sqlguard.Names{Deny: []string{schema}}}
		if got := codes(newGuard(t, d, p, nil).Check("SELECT 1")); got != want {
			t.Errorf("%s denied: codes = %q, want %q", schema, got, want)
		}
	}
}

// served is a reader that becomes another one for a server.
type served struct {
	reader
	none bool
}

func (s served) ForServer(product, version string) sqlguard.Dialect {
	if s.none {
		return nil
	}
	return reader{name: product + " " + version, statements: s.statements}
}

func TestDialectOfTheServer(t *testing.T) {
	of := func(c *sqlguard.Catalog) *sqlguard.Guard { return newGuard(t, served{}, sqlguard.Policy{}, c) }
	older, newer := of(&sqlguard.Catalog{Product: "mariadb", Version: "10.6.1"}), of(&sqlguard.Catalog{Product: "mariadb", Version: "11.8.2"})
	if got := newer.Dialect().Name(); got != "mariadb 11.8.2" {
		t.Errorf("the dialect is %q", got)
	}
	if older.ID() == newer.ID() {
		t.Error("guards of two versions have one ID")
	}
	if got := of(&sqlguard.Catalog{Database: "shop"}).Dialect().Name(); got != "test" {
		t.Errorf("without a product, the dialect is %q", got)
	}
	if _, err := sqlguard.New(served{none: true}, sqlguard.Policy{}, &sqlguard.Catalog{Product: "x"}); err == nil {
		t.Error("a dialect that does not know the server made a guard")
	}
}

func TestRulesWhereNamesFold(t *testing.T) {
	for table, want := range map[string]string{"users": "", "USERS": "", "u\u017fers": "relation_not_allowed", "other": "relation_not_allowed"} {
		d := folding{selecting(func(s *sqlguard.Statement) {
			s.Relations = []sqlguard.Relation{{Schema: "main", Name: table, Ruling: sqlguard.Ruling{Allowed: true}}}
		})}
		p := sqlguard.Policy{Tables: sqlguard.Names{Allow: []string{"main.Users"}}}
		if got := codes(newGuard(t, d, p, nil).Check("SELECT 1")); got != want {
			t.Errorf("%s: codes %q, want %q", table, got, want)
		}
		p = sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"main.users"}}}
		if got := codes(newGuard(t, d, p, nil).Check("SELECT 1")); (got == "") != (table == "other") {
			t.Errorf("%s denied: codes %q", table, got)
		}
	}
}

func TestLongListsAreLinear(t *testing.T) {
	d := selecting(func(s *sqlguard.Statement) {
		for i := range 100_000 {
			name := fmt.Sprintf("n%d", i)
			s.Relations = append(s.Relations, sqlguard.Relation{Name: name, Ruling: sqlguard.Ruling{Allowed: true}})
			s.Types = append(s.Types, sqlguard.Type{Name: name})
			s.Calls = append(s.Calls, sqlguard.Call{Name: name, Ruling: sqlguard.Ruling{Allowed: true}})
		}
	})
	v := newGuard(t, d, sqlguard.DefaultPolicy(), nil).Check("SELECT 1")
	if len(v.Relations) != 100_000 || len(v.Types) != 100_000 || len(v.Functions) != 100_000 || !v.Allowed {
		t.Errorf("%d relations, %d types, %d functions, allowed %v", len(v.Relations), len(v.Types), len(v.Functions), v.Allowed)
	}
}

func TestGuardID(t *testing.T) {
	base := newGuard(t, reader{}, sqlguard.Policy{}, nil)
	for name, other := range map[string]*sqlguard.Guard{
		"dialect": newGuard(t, reader{name: "other"}, sqlguard.Policy{}, nil),
		"policy":  newGuard(t, reader{}, sqlguard.DefaultPolicy(), nil),
		"catalog": newGuard(t, reader{}, sqlguard.Policy{}, &sqlguard.Catalog{Major: 15}),
	} {
		if other.ID() == base.ID() {
			t.Errorf("another %s has the same ID", name)
		}
	}
	if newGuard(t, reader{}, sqlguard.Policy{}, nil).ID() != base.ID() {
		t.Error("the same guard has another ID")
	}
}

func TestNewRefusesBadPolicies(t *testing.T) {
	for _, p := range []sqlguard.Policy{
		{MaxBytes: -1},
		{MaxBytes: 256<<10 + 1},
		{Functions: sqlguard.Names{Allow: []string{"haversine"}}},
		{Functions: sqlguard.Names{Allow: []string{"a.b.c"}}},
		{Functions: sqlguard.Names{Allow: []string{"public.h*v"}}},
		{Tables: sqlguard.Names{Deny: []string{"public."}}},
		{Schemas: sqlguard.Names{Deny: []string{"*x"}}},
		{Columns: []sqlguard.ColumnRule{{Match: "users.email"}}},
		{Columns: []sqlguard.ColumnRule{{Match: "public.users.*"}}},
	} {
		if _, err := sqlguard.New(reader{}, p, nil); err == nil {
			t.Errorf("New accepted %+v", p)
		}
	}
	if _, err := sqlguard.New(nil, sqlguard.Policy{}, nil); err == nil {
		t.Error("New accepted no dialect")
	}
}

func TestEveryCodeHasItsPage(t *testing.T) {
	seen := map[sqlguard.Code]bool{}
	for _, c := range sqlguard.Codes() {
		if seen[c.Code] {
			t.Errorf("%s is listed twice", c.Code)
		}
		seen[c.Code] = true
		if c.Title == "" || c.Summary == "" || c.Family == "" {
			t.Errorf("%s lacks its title, summary or family", c.Code)
		}
		if !strings.HasPrefix(c.Page, "# "+string(c.Code)+"\n") {
			t.Errorf("%s: its page does not begin with its name", c.Code)
		}
	}
}
