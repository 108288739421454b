package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

var _ sqlguard.HomeDialect = Dialect{}

// AnalyzeObjects is Analyze for a guard with the objects of a catalogue. The query of a
// view and the body of a function are the whole text of CREATE VIEW and CREATE FUNCTION,
// as sys.sql_modules has it. A function can be read if its body is RETURN and a query, or
// RETURN and an expression between BEGIN and END. Its parameters are values.
func (d Dialect) AnalyzeObjects(text string, part sqlguard.Part, _ sqlguard.ObjectNames) ([]sqlguard.Statement, error) {
	var ok bool
	switch part {
	case sqlguard.PartQuery:
		text, ok = viewQuery(text)
	case sqlguard.PartBody:
		text, ok = functionBody(text)
	case sqlguard.PartExpression:
		text, ok = "SELECT "+text, true
	case sqlguard.PartStatement:
		ok = true
	}
	if !ok {
		return nil, &sqlguard.SyntaxError{Message: "the source text has a form that cannot be read"}
	}
	statements, err := d.Analyze(text)
	for i := range statements {
		calls := statements[i].Calls
		for n := range calls {
			c := &calls[n]
			c.Arguments = -1
			if c.Ruling.Allowed { // a function or method of the server's own
				c.Builtin, c.Syntax = true, true
			}
		}
	}
	return statements, err
}

// ServerSchemas returns the schemas of the server's own.
func (Dialect) ServerSchemas() []string { return []string{"sys", "INFORMATION_SCHEMA"} }

// SearchFrom returns the schema of an object, and dbo: there the server looks up the names
// in its source. Reference: CREATE VIEW; "Name Resolution for Schema Objects".
func (Dialect) SearchFrom(schema string) []string { return []string{schema, "dbo"} }

// HidesObjects returns true: a user sees only the objects on which it has a permission.
func (Dialect) HidesObjects() bool { return true }

// codeTokens returns the tokens of a text without comments.
func codeTokens(text string) []token {
	l := lexer{text: text}
	var list []token
	for {
		t, ok := l.next()
		if !ok {
			return list
		}
		if t.kind != sqlguard.TokenComment {
			list = append(list, t)
		}
	}
}

func (t token) reads(text, word string) bool {
	return t.kind == sqlguard.TokenWord && strings.EqualFold(text[t.start:t.end], word)
}

// viewQuery returns what follows AS in CREATE VIEW, without WITH CHECK OPTION.
func viewQuery(text string) (string, bool) {
	list := codeTokens(text)
	if len(list) == 0 || !list[0].reads(text, "create") && !list[0].reads(text, "alter") {
		return "", false
	}
	depth := 0
	for i, t := range list {
		switch {
		case text[t.start:t.end] == "(":
			depth++
		case text[t.start:t.end] == ")":
			depth--
		case depth == 0 && t.reads(text, "as"):
			end := len(list)
			if end > i && text[list[end-1].start:list[end-1].end] == ";" {
				end--
			}
			if end-3 > i && list[end-3].reads(text, "with") && list[end-2].reads(text, "check") && list[end-1].reads(text, "option") {
				end -= 3
			}
			if end-1 <= i {
				return "", false
			}
			return text[t.end:list[end-1].end], true
		}
	}
	return "", false
}

// functionBody returns the body of CREATE FUNCTION as a query, with a number in place of
// each parameter.
func functionBody(text string) (string, bool) {
	list := codeTokens(text)
	at := 0
	for at < len(list) && !list[at].reads(text, "return") && !list[at].reads(text, "begin") {
		at++
	}
	end := len(list)
	if end > at && text[list[end-1].start:list[end-1].end] == ";" {
		end--
	}
	head := ""
	if at < end && list[at].reads(text, "begin") {
		if at++; at >= end || !list[at].reads(text, "return") || !list[end-1].reads(text, "end") {
			return "", false
		}
		head = "SELECT"
		if end--; text[list[end-1].start:list[end-1].end] == ";" {
			end--
		}
	}
	if at >= end-1 {
		return "", false
	}
	body := []byte(text)
	for _, t := range list[at:end] {
		if word := text[t.start:t.end]; word[0] == '@' && !strings.HasPrefix(word, "@@") {
			for i := t.start; i < t.end; i++ {
				body[i] = ' '
			}
			body[t.end-1] = '0'
		}
	}
	return head + string(body[list[at].end:list[end-1].end]), true
}
