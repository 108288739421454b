package dialecttest

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

var kindNames = map[sqlguard.TokenKind]string{
	sqlguard.TokenInvalid: "invalid", sqlguard.TokenWord: "word", sqlguard.TokenQuotedName: "name", sqlguard.TokenQuotedText: "text",
	sqlguard.TokenString: "string", sqlguard.TokenNumber: "number", sqlguard.TokenOperator: "op", sqlguard.TokenOpen: "open",
	sqlguard.TokenClose: "close", sqlguard.TokenComma: "comma", sqlguard.TokenDot: "dot", sqlguard.TokenTerminator: "end",
	sqlguard.TokenParameter: "param", sqlguard.TokenComment: "comment", sqlguard.TokenExecutableComment: "executable",
	sqlguard.TokenClientCommand: "command", sqlguard.TokenUnterminated: "unterminated",
}

// Tokens returns the kind and the text of every token of sql, such as
// "word SELECT | number 1".
func Tokens(d sqlguard.Dialect, sql string) string {
	var out []string
	for _, t := range d.Lex(sql).List {
		out = append(out, kindNames[t.Kind]+" "+t.Text(sql))
	}
	return strings.Join(out, " | ")
}
