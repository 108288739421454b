package duckdb_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

func TestLex(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{" \t\n\f\r\v", ""},
		{"a\u00a0b", "word a | invalid \u00a0 | word b"},
		{"a_1$ _x é", "word a_1$ | word _x | word é"},
		{"'a''b' e'a\\'b' x'ab' N'c'", "string 'a''b' | string e'a\\'b' | string x'ab' | string N'c'"},
		{"'a\\' 'b'", "string 'a\\' | string 'b'"},
		{"\"a\"\"b\" `a`", "name \"a\"\"b\" | invalid ` | word a | invalid `"},
		{"$$a'$$ $x$ $$ $x$ $y $1 $", "string $$a'$$ | string $x$ $$ $x$ | param $y | param $1 | invalid $"},
		{"$x$ a", "unterminated $x$ a"},
		{"1 1.5 5. .5 1e5 1E-5 1.e+5 1_000", "number 1 | number 1.5 | number 5. | number .5 | number 1e5 | number 1E-5 | number 1.e+5 | number 1_000"},
		{"1a 0x1f 1__2 1e 1.2.3", "invalid 1a | invalid 0x1f | invalid 1__2 | invalid 1e | invalid 1.2 | number .3"},
		{"a -- b\nc", "word a | comment -- b | word c"},
		{"/* a /* b */ c */ d /* e", "comment /* a /* b */ c */ | word d | unterminated /* e"},
		{"a->>'b' <=> <= == != || :: := ? ?1 :", "word a | op ->> | string 'b' | op <=> | op <= | op == | op != | op || | op :: | op := | param ? | param ?1 | op :"},
		{"a*-1 a~-1 a--b", "word a | op * | op - | number 1 | word a | op ~- | number 1 | word a | comment --b"},
		{"a+-+b*+-c@+-d", "word a | op + | op - | op + | word b | op * | op + | op - | word c | op @+- | word d"},
		{"a+-+/*b*/-c", "word a | op + | op - | op + | comment /*b*/ | op - | word c"},
		{"a+/*b*/-c", "word a | op + | comment /*b*/ | op - | word c"},
		{"{'a': [1]} #1", "open { | string 'a' | op : | open [ | number 1 | close ] | close } | op # | number 1"},
		{"u&'a' U&\"b\"", "invalid u | op & | string 'a' | invalid U | op & | name \"b\""},
		{"'a", "unterminated 'a"},
		{"a;b", "word a | end ; | word b"},
	} {
		if diff := cmp.Diff(c.want, dialecttest.Tokens(duckdb.Dialect{}, c.sql)); diff != "" {
			t.Errorf("%q: %s", c.sql, diff)
		}
		dialecttest.CheckTokens(t, duckdb.Dialect{}, c.sql, "")
	}
}

// TestLexIsLinear: a run of operator characters is read once, not once for each of its tokens.
func TestLexIsLinear(t *testing.T) {
	t.Parallel()
	const n = 4 << 20 // the square of it takes hours
	for _, run := range []string{"+", "-+", "+-", "=+", "<>", "*-"} {
		sql := strings.Repeat(run, n/len(run))
		if got := len(duckdb.Dialect{}.Lex(sql).List); got == 0 {
			t.Errorf("%s: no token", run)
		}
	}
}
