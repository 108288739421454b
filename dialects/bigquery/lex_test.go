package bigquery_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	zetalexer "github.com/sqlc-dev/zetajones/lexer"
	"github.com/sqlc-dev/zetajones/token"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestLex(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{" \t\n\f\r\v", ""},
		{"a\u00a0b é", "word a | invalid \u00a0 | word b | invalid é"},
		{"a_1 _x a$b", "word a_1 | word _x | word a | invalid $b"},
		{`'a\'b' "c""d" r'\' e' b"f" Rb'g' x'h'`, `string 'a\'b' | string "c" | string "d" | string r'\' e' | string b"f" | string Rb'g' | word x | string 'h'`},
		{`'''a'b''c\'''' """d""" ''''''`, `string '''a'b''c\'''' | string """d""" | string ''''''`},
		{"'a\nb", "unterminated 'a | word b"},
		{"'a\rb'", "invalid 'a\rb'"},
		{"'''a\nb'''", "string '''a\nb'''"},
		{"`a.b-c` `d\\x65` `` `e", "name `a.b-c` | invalid `d\\x65` | invalid `` | unterminated `e"},
		{"1 1.5 5. .5 1e5 1E-5 1.e+5 0x1F 1e 1a", "number 1 | number 1.5 | number 5. | number .5 | number 1e5 | number 1E-5 | number 1.e+5 | number 0x1F | number 1 | word e | number 1 | word a"},
		{"t.1 t.1b f().2 select.5 a[1].3", "word t | dot . | word 1 | word t | dot . | word 1b | word f | open ( | close ) | dot . | word 2 | word select | number .5 | word a | open [ | number 1 | close ] | dot . | word 3"},
		{"a -- b\nc # d\n/* /* */ e */", "word a | comment -- b | word c | comment # d | comment /* /* */ | word e | op * | op /"},
		{"/* a", "unterminated /* a"},
		{"#standardSQL\n#legacySQL\n# LEGACYSQL x\n-- legacySQL", "comment #standardSQL | executable #legacySQL | executable # LEGACYSQL x | comment -- legacySQL"},
		{"a|>b||c->d=>e<=f<>g!=h<<i>>j|k&l^m~n%o:p", "word a | op |> | word b | op || | word c | op -> | word d | op => | word e | op <= | word f | op <> | word g | op != | word h | op << | word i | op >> | word j | op | | word k | op & | word l | op ^ | word m | op ~ | word n | op % | word o | op : | word p"},
		{"@a @@b.c ? @{d=1} @5 $ $1 !", "param @a | op @@b | dot . | word c | param ? | op @ | open { | word d | op = | number 1 | close } | op @ | number 5 | op $ | invalid $1 | invalid !"},
		{"a;b", "word a | end ; | word b"},
	} {
		if diff := cmp.Diff(c.want, dialecttest.Tokens(bigquery.Dialect{}, c.sql)); diff != "" {
			t.Errorf("%q: %s", c.sql, diff)
		}
		dialecttest.CheckTokens(t, bigquery.Dialect{}, c.sql, "")
	}
}

// checkLexers compares the tokens with those of the parser's own lexer, and reports whether
// both read the text.
func checkLexers(t *testing.T, sql string) bool {
	t.Helper()
	theirs, err := zetalexer.Lex(sql)
	if err != nil {
		return false
	}
	var want, got []sqlguard.Span
	for _, tok := range theirs {
		if tok.Kind != token.EOF {
			want = append(want, sqlguard.Span{Start: tok.Pos, End: tok.End})
		}
	}
	for _, tok := range (bigquery.Dialect{}).Lex(sql).List {
		switch tok.Kind { //nolint:exhaustive // the others are tokens
		case sqlguard.TokenInvalid, sqlguard.TokenUnterminated:
			return false
		case sqlguard.TokenComment, sqlguard.TokenExecutableComment:
		default:
			got = append(got, sqlguard.Span{Start: tok.Start, End: tok.End})
		}
	}
	if !slices.Equal(want, got) {
		t.Errorf("%q: the parser's tokens are %v, ours %v", sql, want, got)
	}
	return true
}
