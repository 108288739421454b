package bigquery

import (
	"github.com/sqlc-dev/zetajones/ast"
	"github.com/sqlc-dev/zetajones/parser"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// features are the parts of GoogleSQL that the parser reads: all that have meaning in
// BigQuery, and no paths with slashes, which have none.
var features = parser.Options{Features: parser.ParseFeatureSet("MAXIMUM,-ALLOW_SLASH_PATHS,-BRACED_PROTO_CONSTRUCTORS")}

// parse parses a text. The parser knows QUALIFY only behind WHERE, GROUP BY or HAVING, and
// takes it for an alias elsewhere. In BigQuery it is a reserved word, and may stand alone.
// There the parser gets HAVING in its place, which has the same parts in the same places.
func parse(sql string, tokens []sqlguard.Token) (*ast.Script, error) {
	const having = "HAVING "  // as long as QUALIFY
	filtered := []bool{false} // by level of brackets: whether SELECT has one of the three
	var text []byte
	behindDot := false // the token stands behind one, so that it is a name
	for _, t := range tokens {
		if t.Kind == sqlguard.TokenComment {
			continue
		}
		named := behindDot
		behindDot = t.Kind == sqlguard.TokenDot
		switch t.Kind { //nolint:exhaustive // the others do not matter
		case sqlguard.TokenOpen:
			filtered = append(filtered, false)
		case sqlguard.TokenClose:
			filtered = filtered[:max(len(filtered)-1, 1)]
		case sqlguard.TokenWord:
			if named {
				continue
			}
			now := &filtered[len(filtered)-1]
			switch lexical.Lower(t.Text(sql)) {
			case "select", "union", "intersect", "except":
				*now = false
			case "where", "group", "having":
				*now = true
			case "qualify":
				if !*now {
					if text == nil {
						text = []byte(sql)
					}
					copy(text[t.Start:], having)
				}
			}
		}
	}
	if text != nil {
		sql = string(text)
	}
	return parser.ParseScriptWithOptions(sql, features)
}

// leadingRules are statements that are refused by their first word when the parser cannot
// read them: some of BigQuery's are not in its grammar. Reference: DML, DDL, DCL, procedural
// language, load and export statements.
var leadingRules = map[string]nodeRule{
	"insert": ruleOf(&ast.InsertStatement{}), "update": ruleOf(&ast.UpdateStatement{}), "delete": ruleOf(&ast.DeleteStatement{}), "merge": ruleOf(&ast.MergeStatement{}),
	"truncate": ruleOf(&ast.TruncateStatement{}), "export": ruleOf(&ast.ExportDataStatement{}),
	"load":   {verb: "load_data", code: sqlguard.CodeWriteStatement, does: "LOAD DATA writes rows of files into a table"},
	"create": {verb: "create", code: sqlguard.CodeDDLStatement, does: "CREATE changes the schema"},
	"alter":  ruleOf(&ast.AlterStatement{}), "drop": ruleOf(&ast.DropStatement{}),
	"undrop": {verb: "undrop", code: sqlguard.CodeDDLStatement, does: "UNDROP changes the schema"},
	"grant":  ruleOf(&ast.GrantStatement{}), "revoke": ruleOf(&ast.RevokeStatement{}),
	"call": ruleOf(&ast.CallStatement{}), "execute": ruleOf(&ast.ExecuteImmediateStatement{}),
	"set": ruleOf(&ast.SystemVariableAssignment{}), "declare": ruleOf(&ast.VariableDeclaration{}), "begin": ruleOf(&ast.BeginEndBlock{}), "if": ruleOf(&ast.IfStatement{}),
	"loop": ruleOf(&ast.WhileStatement{}), "while": ruleOf(&ast.WhileStatement{}), "repeat": ruleOf(&ast.RepeatStatement{}), "for": ruleOf(&ast.ForInStatement{}),
}

// leading returns the statement that a text begins with, if its first word says that it is
// refused.
func leading(sql string, tokens []sqlguard.Token) ([]sqlguard.Statement, bool) {
	var st sqlguard.Statement
	var rule nodeRule
	for _, t := range tokens {
		switch {
		case t.Kind == sqlguard.TokenComment || t.Kind == sqlguard.TokenTerminator:
			continue
		case rule.verb == "":
			if rule = leadingRules[lexical.Lower(t.Text(sql))]; rule.verb == "" {
				return nil, false
			}
			st.Verb, st.Span.Start = rule.verb, t.Start
		}
		st.Span.End = t.End
	}
	st.Effects = []sqlguard.Finding{{Code: rule.code, Message: rule.does, Span: st.Span}}
	return []sqlguard.Statement{st}, rule.verb != ""
}
