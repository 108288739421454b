package postgres_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestLexKinds(t *testing.T) {
	short := map[sqlguard.TokenKind]string{
		sqlguard.TokenInvalid: "bad", sqlguard.TokenWord: "word", sqlguard.TokenQuotedName: "name",
		sqlguard.TokenString: "str", sqlguard.TokenNumber: "num", sqlguard.TokenOperator: "op",
		sqlguard.TokenOpen: "open", sqlguard.TokenClose: "close", sqlguard.TokenComma: "comma",
		sqlguard.TokenDot: "dot", sqlguard.TokenTerminator: "end", sqlguard.TokenParameter: "param",
		sqlguard.TokenComment: "comment", sqlguard.TokenClientCommand: "client", sqlguard.TokenUnterminated: "open-ended",
	}
	for _, tt := range []struct {
		sql  string
		want []string // kind and text of each token
	}{
		{`select A_1$b é`, []string{"word select", "word A_1$b", "word é"}},
		{`"a""b" U&"\0061" u&"x"`, []string{`name "a""b"`, `name U&"\0061"`, `name u&"x"`}},
		{`'a''b' 'c\' d'`, []string{`str 'a''b'`, `str 'c\'`, `word d`, `open-ended '`}},
		{`E'a\'b' e'\\' E'''' x`, []string{`str E'a\'b'`, `str e'\\'`, `str E''''`, `word x`}},
		{`B'01' X'1f' N'n' U&'\0061' uescape '!'`, []string{`str B'01'`, `str X'1f'`, `str N'n'`, `str U&'\0061'`, "word uescape", `str '!'`}},
		{`B'1''0'`, []string{`str B'1'`, `str '0'`}},
		{"E'a'\n'\\'b' c", []string{`str E'a'`, `str '\'b'`, `word c`}},
		{"E'a' -- x\n '\\'b' c", []string{`str E'a'`, `comment -- x`, `str '\'b'`, `word c`}},
		{"E'a' '\\' c", []string{`str E'a'`, `str '\'`, `word c`}},
		{"E'a' /*\n*/ '\\' c", []string{`str E'a'`, "comment /*\n*/", `str '\'`, `word c`}},
		{`$$a;b$$ $x$ $$ $y$ $x$ $1 a$1 $x`, []string{`str $$a;b$$`, `str $x$ $$ $y$ $x$`, "param $1", "word a$1", "bad $", "word x"}},
		{`$é$ ' $é$ $1$ $`, []string{`str $é$ ' $é$`, "param $1", "bad $", "bad $"}},
		{"-- c\r\nx --", []string{"comment -- c", "word x", "comment --"}},
		{"/* a /* b */ ; */ x /*/ y", []string{"comment /* a /* b */ ; */", "word x", "open-ended /*/ y"}},
		{`1 1. .5 1.5e10 1e-5 1e 0x1F 0o17 0b01 1_000 1__0 1..2`, []string{
			"num 1", "num 1.", "num .5", "num 1.5e10", "num 1e-5", "num 1", "word e", "num 0x1F", "num 0o17", "num 0b01",
			"num 1_000", "num 1", "word __0", "num 1", "op ..", "num 2",
		}},
		{`a::int b:=1 c=>2 d[1:x] e.f`, []string{
			"word a", "op ::", "word int", "word b", "op :=", "num 1", "word c", "op =>", "num 2",
			"word d", "open [", "num 1", "op :", "word x", "close ]", "word e", "dot .", "word f",
		}},
		{`a-- b`, []string{"word a", "comment -- b"}},
		{`1+-2 1*-2 @-1 a#>>-b <=- >-/*x*/`, []string{
			"num 1", "op +", "op -", "num 2", "num 1", "op *", "op -", "num 2", "op @-", "num 1", "word a", "op #>>-", "word b",
			"op <=", "op -", "op >", "op -", "comment /*x*/",
		}},
		{`a ?| b ?& c ? d`, []string{"word a", "op ?|", "word b", "op ?&", "word c", "op ?", "word d"}},
		{"select 1 \\g x\nselect", []string{"word select", "num 1", `client \g x`, "word select"}},
		{`a;(b;c);d`, []string{"word a", "end ;", "open (", "word b", "op ;", "word c", "close )", "end ;", "word d"}},
		{`create or replace function f() returns int begin atomic select case when a then 1 end; select 2; end; x`, []string{
			"word create", "word or", "word replace", "word function", "word f", "open (", "close )", "word returns", "word int",
			"word begin", "word atomic", "word select", "word case", "word when", "word a", "word then", "num 1", "word end", "op ;",
			"word select", "num 2", "op ;", "word end", "end ;", "word x",
		}},
		{`begin; end;`, []string{"word begin", "end ;", "word end", "end ;"}},
		{`{}`, []string{"bad {", "bad }"}},
	} {
		var got []string
		for _, token := range (postgres.Dialect{}).Lex(tt.sql).List {
			got = append(got, short[token.Kind]+" "+token.Text(tt.sql))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Lex(%q) (-want +got):\n%s", tt.sql, diff)
		}
	}
}

// TestLexAgreesWithScanner: the boundaries of tokens must equal those of the parser's own
// scanner, on the statements of the tests and on combinations of difficult tokens.
func TestLexAgreesWithScanner(t *testing.T) {
	compared := 0
	for _, sql := range statements() {
		if compareWithScanner(t, sql) {
			compared++
		}
	}
	pieces := []string{
		"'", "''", "'a'", "E'", "e'\\'", "\\'", "\\", "U&'", "U&\"", "\"", "\"\"", "B'1", "X'", "N'", "$$", "$a$", "$1", "$a", "$",
		"--", "-", "+", "*", "/", "/*", "*/", "<", ">", "=", "!", "~", "@", "#", "%", "^", "&", "|", "`", "?", ":", "::", ":=", "..", ".",
		"(", ")", "[", "]", ",", ";", "\n", " ", "\r", "\t", "\f", "a", "e", "E", "x", "u", "n", "_", "é", "0", "1", "9", "0x", "0b1", "1e", "1_0",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 60_000 {
		var b strings.Builder
		for range 1 + random.IntN(9) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if compareWithScanner(t, b.String()) {
			compared++
		}
		if t.Failed() {
			break
		}
	}
	if compared < 20_000 {
		t.Errorf("only %d texts could be compared", compared)
	}
}

// compareWithScanner reports whether the scanner could read sql.
func compareWithScanner(t *testing.T, sql string) bool {
	t.Helper()
	want, err := scan(sql)
	if err != nil || strings.IndexByte(sql, 0) >= 0 { // a C string ends at NUL
		return false
	}
	list := (postgres.Dialect{}).Lex(sql).List
	i := 0
	for n := 0; n < len(want); n++ {
		token := want[n]
		// The scanner has N'…' as two tokens.
		if text := sql[token[0]:token[1]]; strings.EqualFold(text, "n") && n+1 < len(want) && want[n+1][0] == token[1] && sql[token[1]] == '\'' {
			token[1] = want[n+1][1]
			n++
		}
		if i >= len(list) || list[i].Start != token[0] {
			t.Errorf("Lex(%q): no token starts at %d, where %q is one", sql, token[0], sql[token[0]:token[1]])
			return true
		}
		if list[i].Kind == sqlguard.TokenClientCommand && sql[token[0]:token[1]] == `\` {
			return true // the scanner reads one stray character here, and the rest as SQL
		}
		// It has a string with its later pieces as one.
		pieces := 1
		for list[i].End < token[1] && i+1 < len(list) && (list[i].Kind == sqlguard.TokenString || list[i].Kind == sqlguard.TokenComment) {
			i++
			pieces++
		}
		if list[i].End != token[1] || pieces > 1 && !strings.ContainsAny(sql[token[0]:token[1]], "\r\n") {
			t.Errorf("Lex(%q): a token ends at %d, not at %d as %q does", sql, list[i].End, token[1], sql[token[0]:token[1]])
			return true
		}
		i++
	}
	if i < len(list) {
		t.Errorf("Lex(%q): token %q is one too many", sql, list[i].Text(sql))
	}
	return true
}
