package sqlite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sqlc-dev/meyer/lexer"
	"github.com/sqlc-dev/meyer/token"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestLex(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{" \t\n\f\r", ""},
		{"a_1$é", "word a_1$é"},
		{`"a""b" 'c''d' ` + "`e``f` [g[h]", `text "a""b" | string 'c''d' | name ` + "`e``f`" + ` | name [g[h]`},
		{`'\' "\"`, `string '\' | text "\"`},
		{`'' "" []`, `string '' | text "" | name []`},
		{"x'0f' X'' x'0 x", "string x'0f' | string X'' | unterminated x'0 x"},
		{"x'zz' xy x", "string x'zz' | word xy | word x"},
		{"1 1.5 .5 5. 1e5 1E-5 1e+5 1.e5", "number 1 | number 1.5 | number .5 | number 5. | number 1e5 | number 1E-5 | number 1e+5 | number 1.e5"},
		{"0x1F 0X_ 0x 1_000 1_0.0_1e1_0 0xf_f", "number 0x1F | number 0X_ | number 0x | number 1_000 | number 1_0.0_1e1_0 | number 0xf_f"},
		{"1a 1.5x 1e 1e+ 0x1g", "number 1a | number 1.5x | number 1e | number 1e | op + | number 0x1g"},
		{"1..2", "number 1. | number .2"},
		{"a.b.c a . b", "word a | dot . | word b | dot . | word c | word a | dot . | word b"},
		{"a.5", "word a | number .5"},
		{"? ?1 ?12a :n @n $n #1 :1 $a::b $a(b) $a::b(c)d", "param ? | param ?1 | param ?12 | word a | param :n | param @n | param $n | param #1 | param :1 | param $a::b | param $a(b) | param $a::b(c) | word d"},
		{"$a(b c", "unterminated $a(b | word c"},
		{": @ $ #", "invalid : | invalid @ | invalid $ | invalid #"},
		{"a::b", "word a | invalid : | param :b"},
		{"a$b", "word a$b"},
		{"- -- x", "op - | comment -- x"},
		{"-- x\ny", "comment -- x | word y"},
		{"a--", "word a | comment --"},
		{"/* a */ b /* c", "comment /* a */ | word b | comment /* c"},
		{"/**/a/*/*/b", "comment /**/ | word a | comment /*/*/ | word b"},
		{"a /*", "word a | op / | op *"},
		{"/*!1*/", "comment /*!1*/"},
		{"-> ->> || == = != <> <= >= << >> < > | ! + - * / % & ~", "op -> | op ->> | op || | op == | op = | op != | op <> | op <= | op >= | op << | op >> | op < | op > | op | | invalid ! | op + | op - | op * | op / | op % | op & | op ~"},
		{"a->>b|||c", "word a | op ->> | word b | op || | op | | word c"},
		{"(a,b);", "open ( | word a | comma , | word b | close ) | end ;"},
		{"{ } ^ \\ \x01", "invalid { | invalid } | invalid ^ | invalid \\ | invalid \x01"},
		{"'a", "unterminated 'a"},
		{`"a`, `unterminated "a`},
		{"`a", "unterminated `a"},
		{"[a", "unterminated [a"},
		{".tables", "command .tables"},
		{" .shell ls; x\nSELECT 1", "command .shell ls; x | end \n | word SELECT | number 1"},
		{"SELECT 1;\n.quit", "word SELECT | number 1 | end ; | command .quit"},
		{"SELECT 1\n.quit", "word SELECT | number 1 | dot . | word quit"},
		{"-- c\n.quit", "comment -- c | command .quit"},
		{".5", "number .5"},
		{"\uFEFFa\uFEFF", "word a\uFEFF"},
		{" \v a", "word a"},
		{"\va", "invalid \v | word a"},
	} {
		if got := dialecttest.Tokens(sqlite.Dialect{}, c.sql); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestSplit follows sqlite3_complete: a semicolon in a trigger's body ends no
// statement.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"SELECT 1; SELECT 2", []string{"SELECT 1", "SELECT 2"}},
		{";;/* x */; SELECT 1 ;; -- y", []string{"SELECT 1"}},
		{"SELECT ';'; SELECT \";\"; SELECT [;]; SELECT `;`", []string{"SELECT ';'", `SELECT ";"`, "SELECT [;]", "SELECT `;`"}},
		{"CREATE TABLE t (a); SELECT 1", []string{"CREATE TABLE t (a)", "SELECT 1"}},
		{"create trigger n after insert on t begin select 1; select 2; end; SELECT 3", []string{"create trigger n after insert on t begin select 1; select 2; end", "SELECT 3"}},
		{"CREATE TEMPORARY TRIGGER n AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END;SELECT 3", []string{"CREATE TEMPORARY TRIGGER n AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END", "SELECT 3"}},
		{"CREATE TEMP /* c */ TRIGGER n BEGIN SELECT 1; -- c\n /* d */ END /* e */ ; SELECT 3", []string{"CREATE TEMP /* c */ TRIGGER n BEGIN SELECT 1; -- c\n /* d */ END", "SELECT 3"}},
		{"EXPLAIN CREATE TRIGGER n BEGIN SELECT 1; END; SELECT 3", []string{"EXPLAIN CREATE TRIGGER n BEGIN SELECT 1; END", "SELECT 3"}},
		{"EXPLAIN QUERY PLAN CREATE TRIGGER n BEGIN SELECT 1; END; SELECT 3", []string{"EXPLAIN QUERY PLAN CREATE TRIGGER n BEGIN SELECT 1; END", "SELECT 3"}},
		{"EXPLAIN SELECT 1; SELECT 2", []string{"EXPLAIN SELECT 1", "SELECT 2"}},
		{"CREATE VIEW trigger AS SELECT 1; SELECT 2", []string{"CREATE VIEW trigger AS SELECT 1", "SELECT 2"}},
		{"CREATE TRIGGER n; SELECT 1; END x; SELECT 2", []string{"CREATE TRIGGER n; SELECT 1; END x; SELECT 2"}},
		{"CREATE TRIGGER n BEGIN SELECT 1; END END; SELECT 2; END; SELECT 3", []string{"CREATE TRIGGER n BEGIN SELECT 1; END END; SELECT 2; END", "SELECT 3"}},
		{".tables\nSELECT 1;\n.quit", []string{".tables", "SELECT 1", ".quit"}},
	} {
		var got []string
		for _, s := range sqlguard.Split(sqlite.Dialect{}, c.sql) {
			got = append(got, c.sql[s.Start:s.End])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q, - want, + got:\n%s", c.sql, diff)
		}
	}
}

// TestSplitAgainstEngine compares the terminators with the places where the
// engine ends a statement.
func TestSplitAgainstEngine(t *testing.T) {
	e := newEngine(t)
	if err := e.conn.SetAuthorizer(nil); err != nil {
		t.Fatal(err)
	}
	m := newMutator(t, 3)
	ran := 0
	for range 3000 {
		var parts []string
		for range 1 + m.Rand.IntN(3) {
			parts = append(parts, strings.Join(m.Seeds[m.Rand.IntN(len(m.Seeds))], " "))
		}
		text := strings.Join(parts, " ; ")
		if strings.Contains(text, "/*") || strings.Contains(text, "--") || strings.Contains(text, "#") {
			continue // joining tokens with spaces does not keep these
		}
		spans := sqlguard.Split(sqlite.Dialect{}, text)
		rest := text
		for _, s := range spans {
			stmt, tail, err := e.conn.Prepare(rest)
			if err != nil {
				break // the engine does not say where a faulty statement ends
			}
			if stmt == nil { // empty statements
				rest = tail
				continue
			}
			_ = stmt.Close()
			ran++
			consumed := strings.TrimRight(text[:len(text)-len(tail)], "; ")
			if len(consumed) != s.End {
				t.Errorf("%s\nthe engine ends a statement at %d, we at %d", text, len(consumed), s.End)
			}
			rest = tail
		}
	}
	if ran < 1000 {
		t.Errorf("only %d statements compared", ran)
	}
}

// TestLexAgainstParser compares our tokens with the parser's own.
func TestLexAgainstParser(t *testing.T) {
	m := newMutator(t, 5)
	for range 20_000 {
		sql := m.Next()
		compareTokens(t, sql)
	}
	for _, c := range readVerdicts(t) {
		compareTokens(t, c.sql)
	}
}

// compareTokens checks that both lexers find tokens at the same offsets, up to the first
// token that only our lexer knows.
func compareTokens(tb testing.TB, sql string) {
	tb.Helper()
	var ours, theirs []string
	for _, k := range (sqlite.Dialect{}).Lex(sql).List {
		if k.Kind == sqlguard.TokenClientCommand {
			return
		}
		if k.Kind == sqlguard.TokenComment {
			continue
		}
		ours = append(ours, fmt.Sprint(k.Start, k.End))
	}
	for _, k := range lexer.Lex(sql) {
		if k.Kind != token.EOF {
			theirs = append(theirs, fmt.Sprint(k.Pos, k.End))
		}
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		tb.Errorf("%q, - the parser's, + ours:\n%s", sql, diff)
	}
}

// TestWordClasses compares our table of keywords with the parser's.
func TestWordClasses(t *testing.T) {
	words := map[token.Kind][]string{
		token.JOIN_KW:  {"cross", "full", "inner", "left", "natural", "outer", "right"},
		token.LIKE_KW:  {"glob", "like", "regexp"},
		token.CTIME_KW: {"current_date", "current_time", "current_timestamp"},
		token.TEMP:     {"temp", "temporary"},
		token.AUTOINCR: {"autoincrement"},
		token.COLUMNKW: {"column"},
	}
	keywords := 0
	for kind := range token.KindCount {
		spellings := words[kind]
		if spellings == nil {
			spellings = []string{strings.ToLower(kind.String())}
		}
		for _, word := range spellings {
			if kind == token.ID || token.Lookup(word) != kind {
				continue // no keyword
			}
			keywords++
			want := "reserved"
			if token.IsName(kind) || kind == token.WINDOW || kind == token.OVER || kind == token.FILTER {
				want = "soft"
			}
			if got := sqlite.WordClass(word); got != want {
				t.Errorf("%s is %s, the parser has it %s", word, got, want)
			}
			if got := sqlite.WordClass(strings.ToUpper(word)); got != want {
				t.Errorf("%s is %s", strings.ToUpper(word), got)
			}
		}
	}
	if keywords < 147 {
		t.Errorf("only %d keywords tried", keywords)
	}
	for _, word := range []string{"", "a", "selec", "selects", "users", "current_timestampx", "ſelect"} {
		if got := sqlite.WordClass(word); got != "name" {
			t.Errorf("%q is %s", word, got)
		}
	}
}
