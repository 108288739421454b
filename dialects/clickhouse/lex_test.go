package clickhouse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

func TestLex(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{" \t\n\f\r\v", ""},
		{"a_1$ _x 2024_x", "word a_1$ | word _x | word 2024_x"},
		{"'a''b' 'a\\'b' x'ab' b'01'", "string 'a''b' | string 'a\\'b' | string x'ab' | string b'01'"},
		{"`a\\`b` \"a\"\"b\"", "name `a\\`b` | name \"a\"\"b\""},
		{"$$a'$$ $x$ $$ $x$ $y", "string $$a'$$ | string $x$ $$ $x$ | invalid $ | word y"},
		{"$x$ a", "unterminated $x$ a"},
		{"1 1.5 5. 1e5 1E-5 1.e+5 1_000 0xff 0b11 0xbad_cafe 0b1_1", "number 1 | number 1.5 | number 5. | number 1e5 | number 1E-5 | number 1.e+5 | number 1_000 | number 0xff | number 0b11 | number 0xbad_cafe | number 0b1_1"},
		{"-.5 t.1.2 (1).1 1e+", "op - | number .5 | word t | dot . | number 1 | dot . | number 2 | open ( | number 1 | close ) | dot . | number 1 | invalid 1e+"},
		{"1a 1.5x 1a$b$", "word 1a | invalid 1.5x | invalid 1a$b$"},
		{"a -- b\nc // d\ne # f\ng #! h", "word a | comment -- b | word c | comment // d | word e | comment # f | word g | comment #! h"},
		{"#a", "invalid # | word a"},
		{"/* a /* b */ c */ d /* e", "comment /* a /* b */ c */ | word d | unterminated /* e"},
		{"a->b <=> <= == != || :: ? :", "word a | op -> | word b | op <=> | op <= | op == | op != | op || | op :: | op ? | op :"},
		{"{a:UInt8} {'a':1}", "param {a: | word UInt8 | close } | open { | string 'a' | op : | number 1 | close }"},
		{"'a", "unterminated 'a"},
		{"‘a’ @@b", "invalid ‘ | word a | invalid ’ | invalid @ | invalid @ | word b"},
	} {
		if diff := cmp.Diff(c.want, dialecttest.Tokens(clickhouse.Dialect{}, c.sql)); diff != "" {
			t.Errorf("%q: %s", c.sql, diff)
		}
		dialecttest.CheckTokens(t, clickhouse.Dialect{}, c.sql, "")
	}
}
