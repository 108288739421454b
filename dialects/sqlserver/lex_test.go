package sqlserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestLex(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{" \t\n\f\r\v", ""},
		{"a_1$é@#b #t ##g _x", "word a_1$é@#b | word #t | word ##g | word _x"},
		{"'a''b' N'c' n'' N 'd'", "string 'a''b' | string N'c' | string n'' | word N | string 'd'"},
		{`'\' "a""b" [g]]h] [[x]`, `string '\' | name "a""b" | name [g]]h] | name [[x]`},
		{"'a' 'b' '' \"\" []", "string 'a' | string 'b' | string '' | name \"\" | name []"},
		{"1 1.5 .5 5. 1e5 1E-5 1e+5 1.e5 1e", "number 1 | number 1.5 | number .5 | number 5. | number 1e5 | number 1E-5 | number 1e+5 | number 1.e5 | number 1e"},
		{"1a 1.5x 1ex 1e+ 1e-x", "number 1 | word a | number 1.5 | word x | invalid 1e | word x | number 1e+ | number 1e- | word x"},
		{"1..2 a.5 a.b", "number 1. | number .2 | word a | number .5 | word a | dot . | word b"},
		{"0x 0xAf 0xg 0X1", "number 0x | number 0xAf | invalid 0x | word g | number 0X1"},
		{"0xAB\\\nCD 0xAB\\\r\nCD", "number 0xAB\\\nCD | number 0xAB\\\r\nCD"},
		{"$ , $a $ 1 $\n1", "number $ | comma , | word $a | number $ 1 | number $ | number 1"},
		{"$1 $1.5 $.5 -$2 £3 €4.5", "number $1 | number $1.5 | number $.5 | op - | number $2 | number £3 | number €4.5"},
		{"$identity $node_id $action", "word $identity | word $node_id | word $action"},
		{"$(x) y", "invalid $( | word x | close ) | word y"},
		{"; GO\nGO", "end ; | command GO | command GO"},
		{"@a @@b @@ @ @1 a@b", "param @a | word @@b | param @@ | param @ | param @1 | word a@b"},
		{"- -- x", "op - | comment -- x"},
		{"-- x\ny", "comment -- x | word y"},
		{"--(*vendor(x) fn a() *)--\n-- ( *", "executable --(*vendor(x) fn a() *)-- | comment -- ( *"},
		{"/* a */ b", "comment /* a */ | word b"},
		{"/* a /* b */ c */ d", "comment /* a /* b */ c */ | word d"},
		{"/*/**/*/ x", "comment /*/**/*/ | word x"},
		{"/* a /* b */ c", "unterminated /* a /* b */ c"},
		{"/*/ x", "unterminated /*/ x"},
		{"/**/a*/b", "comment /**/ | word a | op * | op / | word b"},
		{"/*!1*/", "comment /*!1*/"},
		{"<> <= >= != !< !> << >> || :: < > ! | = + - * / % & ^ ~ :", "op <> | op <= | op >= | op != | op !< | op !> | op << | op >> | op || | op :: | op < | op > | op ! | op | | op = | op + | op - | op * | op / | op % | op & | op ^ | op ~ | op :"},
		{"a<-(b)->c", "word a | op < | op - | open ( | word b | close ) | op - | op > | word c"},
		{"(a,b){};", "open ( | word a | comma , | word b | close ) | open { | close } | end ;"},
		{"? \\ ` \x01", "invalid ? | invalid \\ | invalid ` | invalid \x01"},
		{"'a", "unterminated 'a"},
		{"N'a''", "unterminated N'a''"},
		{`"a""`, `unterminated "a""`},
		{"[a]]", "unterminated [a]]"},
		{"GO", "command GO"},
		{" go 5 \nSELECT 1", "command go 5 | word SELECT | number 1"},
		{"SELECT 1\nGO -- next\nSELECT 2", "word SELECT | number 1 | command GO -- next | word SELECT | number 2"},
		{"SELECT 1\r\nGo\r\n", "word SELECT | number 1 | command Go"},
		{"GO;\nx", "command GO; | word x"},
		{"GO SELECT 1", "word GO | word SELECT | number 1"},
		{"SELECT go\n", "word SELECT | word go"},
		{"gone\ngo_\ngo5", "word gone | word go_ | word go5"},
		{":r file.sql\nSELECT 1", "command :r file.sql | word SELECT | number 1"},
		{"a\n:b :connect x\n:Connect x", "word a | op : | word b | op : | word connect | word x | command :Connect x"},
		{"a :r b", "word a | op : | word r | word b"},
		{"!!dir\nx", "command !!dir | word x"},
		{"a::b", "word a | op :: | word b"},
		{"\u3042\u4e00 ſ", "word \u3042\u4e00 | word ſ"},
		{"\uff53\uff59\uff53", "word \uff53\uff59\uff53"},
		{"a\u00a0b", "word a | invalid \u00a0 | word b"},
	} {
		if got := dialecttest.Tokens(sqlserver.Dialect{}, c.sql); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestSplit checks that semicolons inside blocks and modules do not end a statement.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"SELECT 1; SELECT 2", []string{"SELECT 1", "SELECT 2"}},
		{";;/* x */; SELECT 1 ;; -- y", []string{"SELECT 1"}},
		{"SELECT ';'; SELECT [;]; SELECT \";\"", []string{"SELECT ';'", "SELECT [;]", "SELECT \";\""}},
		{"SELECT 1\nGO\nSELECT 2", []string{"SELECT 1", "GO", "SELECT 2"}},
		{"CREATE PROCEDURE p AS SELECT 1; SELECT 2;\nGO\nSELECT 3; SELECT 4", []string{"CREATE PROCEDURE p AS SELECT 1; SELECT 2;", "GO", "SELECT 3", "SELECT 4"}},
		{"create or alter function f() returns int as begin return 1; end; SELECT 1", []string{"create or alter function f() returns int as begin return 1; end; SELECT 1"}},
		{"BEGIN SELECT 1; SELECT 2; END; SELECT 3", []string{"BEGIN SELECT 1; SELECT 2; END", "SELECT 3"}},
		{"IF 1=1 BEGIN SELECT CASE WHEN 1=1 THEN 2 END; SELECT 3; END; SELECT 4", []string{"IF 1=1 BEGIN SELECT CASE WHEN 1=1 THEN 2 END; SELECT 3; END", "SELECT 4"}},
		{"BEGIN TRAN; SELECT 1; COMMIT", []string{"BEGIN TRAN", "SELECT 1", "COMMIT"}},
		{"BEGIN TRY SELECT 1; END TRY BEGIN CATCH SELECT 2; END CATCH; SELECT 3", []string{"BEGIN TRY SELECT 1; END TRY BEGIN CATCH SELECT 2; END CATCH", "SELECT 3"}},
		{"CREATE TABLE t (a int); SELECT 1", []string{"CREATE TABLE t (a int)", "SELECT 1"}},
	} {
		var got []string
		for _, s := range sqlguard.Split(sqlserver.Dialect{}, c.sql) {
			got = append(got, c.sql[s.Start:s.End])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q, - want, + got:\n%s", c.sql, diff)
		}
	}
}
