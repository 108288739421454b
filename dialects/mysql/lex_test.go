package mysql_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/mysql"
)

func TestLex(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"SELECT a", "word SELECT | word a"},
		{"'it''s' 'a\\'b' \"x\"\"y\" \"\\\"\"", `string 'it''s' | string 'a\'b' | string "x""y" | string "\""`},
		{"'a\\\\' b", `string 'a\\' | word b`},
		{"'open\\'", `unterminated 'open\'`},
		{"`a``b` `c\\`", "name `a``b` | name `c\\`"},
		{"N'x' n'y' x'0F' B'01' _utf8mb4'z' _binary 'w'", "string N'x' | string n'y' | string x'0F' | string B'01' | word _utf8mb4 | string 'z' | word _binary | string 'w'"},
		{"nx'y'", "word nx | string 'y'"},
		{"1 1.5 .5 1. 1e5 1E-5 1.5e+3 0x1F 0b01", "number 1 | number 1.5 | number .5 | number 1. | number 1e5 | number 1E-5 | number 1.5e+3 | number 0x1F | number 0b01"},
		{"1a 0x1G 0b12 0X1F 1e 1e5a", "word 1a | word 0x1G | word 0b12 | word 0X1F | word 1e | number 1e5 | word a"},
		{"t.1a t.1 `t`.1 t . 1 a.b.c", "word t | dot . | word 1a | word t | dot . | word 1 | name `t` | dot . | word 1 | word t | dot . | word 1 | word a | dot . | word b | dot . | word c"},
		{"a.x'1'", "word a | dot . | word x | string '1'"},
		{"a->'$.b' a->>'$.b' a<=>b a:=1 @v @@global.x", "word a | op -> | string '$.b' | word a | op ->> | string '$.b' | word a | op <=> | word b | word a | op := | number 1 | op @ | word v | op @@ | word global | dot . | word x"},
		{"@'v' @`v`", "op @ | string 'v' | op @ | name `v`"},
		{"a--b", "word a | op - | op - | word b"},
		{"a-- b\nc --\td\n--", "word a | comment -- b | word c | comment --\td | comment --"},
		{"a # b ; c\nd", "word a | comment # b ; c | word d"},
		{"a /* b ' */ c /*+ HINT() */ /**/", "word a | comment /* b ' */ | word c | comment /*+ HINT() */ | comment /**/"},
		{"/* a /* b */ c */", "comment /* a /* b */ | word c | op * | op /"},
		{"/*/ a */", "comment /*/ a */"},
		{"/*! a */ /*M!1 a */ /*T![x] a */ /*m! a */", "executable /*! a */ | executable /*M!1 a */ | executable /*T![x] a */ | comment /*m! a */"},
		{"/* x /*! y */ -- /*! z", "executable /* x /*! y */ | executable -- /*! z"},
		{"'/*! no */' `/*!`", "string '/*! no */' | name `/*!`"},
		{"/* open", "unterminated /* open"},
		{"/*! open", "executable /*! open"},
		{"a ? b", "word a | param ? | word b"},
		{"a; b;", "word a | end ; | word b | end ;"},
		{"a \\G\nb", "word a | command \\G | end \n | word b"},
		{"DELIMITER //\na; b //\nc//", "command DELIMITER // | end \n | word a | op ; | word b | end // | word c | end //"},
		{"delimiter $$\na $$\ndelimiter ;\nb;", "command delimiter $$ | end \n | word a | end $$ | command delimiter ; | end \n | word b | end ;"},
		{"delimiter $$\nEND$$\na$b 1$$\ndelimiter ;\nEND$$;", "command delimiter $$ | end \n | word END | end $$ | word a$b | word 1 | end $$ | command delimiter ; | end \n | word END$$ | end ;"},
		{"SELECT delimiter a", "word SELECT | word delimiter | word a"},
		{"a\vb\fc", "word a | word b | word c"},
		{"{d '2020-01-01'}", "open { | word d | string '2020-01-01' | close }"},
		{"naïve $a é", "word naïve | word $a | word é"},
	} {
		if diff := cmp.Diff(c.want, dialecttest.Tokens(mysql.Dialect{}, c.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}
