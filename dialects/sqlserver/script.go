package sqlserver

import (
	"slices"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// Divide returns the spans of the statements in a script, in which statements
// need no separator. A span begins at a keyword that begins a statement and is
// not part of the statement before it. When that is in doubt, Divide does not
// split. The spans contain all tokens of the text except comments and semicolons.
// Divide does not split the bodies of procedures, functions and triggers, because
// they do not run when they are created.
//
// A guard must judge every span. A span that was cut inside a statement is either
// not a statement, or begins with what refuses the whole statement. The verdict
// on a statement that is sent to a server does not depend on Divide.
//
// Reference: Transact-SQL statements; Transact-SQL syntax conventions, which
// makes the semicolon optional.
func (Dialect) Divide(text string) []sqlguard.Span {
	var (
		l     = lexer{text: text}
		d     division
		spans []sqlguard.Span
		open  bool
	)
	t, ok := nextOfStatement(&l)
	for ok {
		following, more := nextOfStatement(&l)
		switch {
		case t.kind == sqlguard.TokenTerminator && !d.module:
			d, open = division{}, false
		case t.kind == sqlguard.TokenTerminator && !open:
		case !open || d.begins(t, following, text, l.text[l.at:]):
			d, open = division{}, true
			spans = append(spans, sqlguard.Span{Start: t.start, End: t.end})
			d.read(t)
		default:
			spans[len(spans)-1].End = t.end
			d.read(t)
		}
		t, ok = following, more
	}
	return spans
}

// nextOfStatement returns the next token that is not a comment.
func nextOfStatement(l *lexer) (token, bool) {
	for {
		t, ok := l.next()
		if !ok || t.kind != sqlguard.TokenComment {
			return t, ok
		}
	}
}

// division is the state of dividing one statement.
type division struct {
	first  string // its first word, of the grammar
	main   string // the first word of the statement after WITH
	last   token
	before token // the one before last
	n      int   // tokens
	depth  int   // brackets that are open
	cases  int   // CASE that are open outside of brackets
	module bool  // CREATE or ALTER makes a module, which extends to the end of the batch
	// bound says that the statement has already had its one word that begins statements
	// elsewhere. given says that GRANT has named its permissions.
	bound, given bool
}

// read adds a token to the statement.
func (d *division) read(t token) {
	switch t.kind { //nolint:exhaustive // others open nothing
	case sqlguard.TokenOpen:
		d.depth++
	case sqlguard.TokenClose:
		d.depth = max(d.depth-1, 0)
	}
	if t.kind == sqlguard.TokenWord && t.word != nil && d.depth == 0 {
		word := t.word.text
		switch {
		case d.n == 0:
			d.first = word
		case word == "case":
			d.cases++
		case word == "end":
			d.cases = max(d.cases-1, 0)
		}
		switch word {
		case "procedure", "proc", "function", "trigger":
			d.module = d.module || d.defines()
		case "to", "from":
			d.given = true
		case "values", "default":
			d.bound = d.bound || d.kind() == "insert"
		}
	}
	d.before, d.last = d.last, t
	d.n++
}

// defines reports whether the statement is CREATE, ALTER or CREATE OR ALTER with
// nothing else read of it.
func (d *division) defines() bool {
	switch d.n {
	case 1:
		return d.first == "create" || d.first == "alter"
	case 3:
		return d.first == "create" && d.before.spells("or") && d.last.spells("alter")
	default:
		return false
	}
}

// kind is the word that says what the statement is.
func (d *division) kind() string {
	if d.main != "" {
		return d.main
	}
	return d.first
}

// begins reports whether another statement certainly begins at t. following is the token
// after it, and rest is the rest of the text.
func (d *division) begins(t, following token, text, rest string) bool {
	if d.module || d.depth > 0 || t.kind != sqlguard.TokenWord || t.word == nil || !starters[t.word.text] {
		return false
	}
	word := t.word.text
	if d.cases > 0 && (word == "else" || word == "end") {
		return false
	}
	if d.first == "with" && d.main == "" { // the statement that its names are for
		d.main = word
		return false
	}
	switch d.last.kind { //nolint:exhaustive // others can end a statement
	case sqlguard.TokenComma, sqlguard.TokenDot, sqlguard.TokenOpen:
		return false
	case sqlguard.TokenOperator:
		if text[d.last.start:d.last.end] != ":" { // of a label
			return false
		}
	case sqlguard.TokenWord:
		if d.last.word != nil && continuing[d.last.word.text] {
			return false
		}
	}
	return !d.continues(word, following, rest)
}

// continues reports whether a word that can begin a statement is part of the current one.
func (d *division) continues(word string, following token, rest string) bool {
	after := func(words ...string) bool { return slices.ContainsFunc(words, d.last.spells) }
	once := func() bool { // only the first such word is
		was := d.bound
		d.bound = true
		return !was
	}
	kind := d.kind()
	defining := kind == "create" || kind == "alter" || kind == "drop"
	if (kind == "grant" || kind == "deny" || kind == "revoke") && !d.given {
		return true // it names a right
	}
	switch word {
	case "select", "execute", "exec":
		return kind == "insert" && once()
	case "set":
		return after("update", "delete") || (kind == "update" || kind == "alter") && once()
	case "update", "delete":
		return after("on") && defining || following.kind == sqlguard.TokenOpen && word == "update"
	case "insert":
		return after("bulk")
	case "bulk":
		return after("insert")
	case "alter", "drop":
		return kind == "alter" && once()
	case "if":
		return defining && following.spells("exists") && !opens(rest)
	case "merge":
		return following.spells("join")
	case "fetch":
		return after("row", "rows")
	default:
		return false
	}
}

// opens reports whether the next token of a text is an opening bracket.
func opens(text string) bool {
	l := lexer{text: text}
	t, ok := nextOfStatement(&l)
	return ok && t.kind == sqlguard.TokenOpen
}

// starters are the reserved words with which statements begin. WITH is not among
// them: the server requires a semicolon before a statement that begins with WITH.
var starters = lexical.Set(`
	select insert update delete merge truncate bulk writetext updatetext readtext create alter drop grant revoke deny
	commit rollback save set use setuser revert open close fetch deallocate declare if else while begin end return goto
	break continue waitfor print raiserror exec execute backup restore kill shutdown reconfigure checkpoint dbcc`)

// continuing are the words after which a statement continues.
var continuing = lexical.Set(`
	as for after or and not union all except intersect then with into from of by in is like between join
	where having group order over escape collate`)
