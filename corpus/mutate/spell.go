package mutate

import "strings"

// letters changes the letter case of keywords, and of names where it has no
// meaning: in PostgreSQL, which folds unquoted names, in SQLite, and in SQL
// Server with a collation that ignores case. In the MySQL family, the names of
// tables and aliases may depend on letter case, so only reserved words and
// functions change there. A word gets the same spelling everywhere in the text.
func (t *text) letters() {
	for i, part := range t.tokens {
		if part.kind == word && t.folds(i) {
			t.tokens[i].text = alternate(part.text)
		}
	}
}

// folds reports whether the letter case of the word has no meaning.
func (t *text) folds(i int) bool {
	part, called := t.tokens[i], i+1 < len(t.tokens) && t.tokens[i+1].is("(")
	qualified := t.before(i).is(".")
	switch t.Dialect {
	case "postgres", "sqlite":
		return true
	case "sqlserver": // Methods of a type, such as xml, depend on letter case.
		return (!called || !qualified) && !t.before(i).is(":")
	case "mysql":
		if qualified {
			return false
		}
		return part.in(reserved) || called && !t.defined(i)
	}
	return false
}

// defined reports whether the word before a parenthesis may be the name of a
// table, an index or a query of WITH instead of a function.
func (t *text) defined(i int) bool {
	if before := t.before(i); before.kind == name || before.kind == word && !before.in(reserved) || before.in(naming) {
		return true
	}
	for j, other := range t.tokens {
		if j != i && other.kind == word && strings.EqualFold(other.text, t.tokens[i].text) && !t.after(j).is("(") {
			return true
		}
	}
	return false
}

// naming are words that a name follows, never a call.
var naming = set("into table with recursive references as from join update index key on view trigger exists handler")

// alternate returns a word with every other letter in upper case, or with the
// opposite letters if the word has that spelling already.
func alternate(text string) string {
	spelled := every(text, 0)
	if spelled == text {
		return every(text, 1)
	}
	return spelled
}

func every(text string, from int) string {
	out := []byte(text)
	for i, c := range out {
		switch {
		case i%2 == from && 'a' <= c && c <= 'z':
			out[i] -= 'a' - 'A'
		case i%2 != from && 'A' <= c && c <= 'Z':
			out[i] += 'a' - 'A'
		}
	}
	return string(out)
}

// gaps puts comments where white space is, and before the parenthesis of a call
// where white space may be. It puts none beside another comment, which may be a
// hint, and none where it could separate what belongs together: adjacent
// literals, a qualified name, a variable.
func (t *text) gaps() {
	var out []token
	comments := []string{"/**/", "/* ; */"}
	if t.Dialect == "postgres" || t.Dialect == "sqlserver" {
		comments = append(comments, "/* a /* b */ c */")
	}
	made := 0
	put := func() {
		out = append(out, token{comment, comments[made%len(comments)]})
		made++
	}
	for i, part := range t.tokens {
		out = append(out, part)
		switch {
		case part.kind == space && i > 0 && i < len(t.tokens)-1 && joins(t.tokens[i-1], -1) && joins(t.tokens[i+1], +1):
			before, after := t.tokens[i-1], t.tokens[i+1]
			switch introduced := before.kind == word && strings.HasPrefix(before.text, "_"); {
			case before.kind == literal && after.kind == literal, introduced && after.kind == literal, before.is("go"), after.is("go"):
			case before.is("uescape"), after.is("uescape"): // libpg_query refuses a comment there
			case after.in(clauses):
				out = append(out, token{comment, "-- gap"}, token{space, "\n"})
			default:
				put()
				out = append(out, token{space, " "})
			}
		// MySQL recognises some functions only if the parenthesis follows
		// directly.
		case part.kind == word && t.Dialect != "mysql" && i+1 < len(t.tokens) && t.tokens[i+1].is("("):
			put()
		}
	}
	t.tokens = out
}

// joins reports whether a comment may be on this side of a token.
func joins(part token, side int) bool {
	switch part.kind {
	case word, name, literal:
		return true
	case symbol:
		switch part.text {
		case "(", ")", ",", "*", "=":
			return true
		}
	case space, comment:
		return false
	case marker:
		return side > 0 // It is not certain where a variable ends.
	}
	return false
}

// clauses are words that no client treats as a command at the start of a line.
var clauses = set("select from where and or join on order group having limit union as")

// quote puts names in quotes. In PostgreSQL and SQLite, every word that is not
// a keyword is a name. In the other dialects it depends on the position: names
// beside a dot, names of tables, and functions that may be quoted.
func (t *text) quote() {
	if t.Class == "ddl" && t.Dialect == "sqlite" {
		return // Table options are words that are compared as written.
	}
	quoted := map[int]string{}
	for i, part := range t.tokens {
		if part.kind == word && t.nameable(i) {
			quoted[i] = inQuotes(t.Dialect, part.text)
		}
	}
	for i, text := range quoted {
		t.tokens[i] = token{name, text}
	}
}

// nameable reports whether the word is certainly a name.
func (t *text) nameable(i int) bool {
	part := t.tokens[i]
	for _, r := range part.text {
		if r > 0x7e {
			return false // How it folds depends on the locale of the server.
		}
	}
	if i > 0 && t.tokens[i-1].kind == literal || i+1 < len(t.tokens) && t.tokens[i+1].kind == literal {
		return false // They may be one literal.
	}
	before, after := t.before(i), t.after(i)
	switch t.Dialect {
	case "postgres":
		return !part.in(keywords["postgres"])
	case "sqlite":
		return !part.in(keywords["sqlite"])
	case "mysql", "sqlserver":
		switch {
		case after.is("("):
			return t.Dialect == "mysql" && part.in(natives) && t.tokens[i+1].is("(") && !before.is(".")
		case part.in(reserved), strings.ContainsAny(part.text, "$#"), before.is(":"), after.is(":"):
			return false
		case before.is("."), after.is("."):
			return before.kind != literal
		}
		return before.is("from") || before.is("join") || before.is("into") && t.inserts(i)
	}
	return false
}

// inserts reports whether the INTO before word i belongs to a statement that
// writes rows.
func (t *text) inserts(i int) bool {
	for i--; i >= 0; i-- {
		if t.tokens[i].is("into") {
			return t.before(i).in(inserting)
		}
	}
	return false
}

var inserting = set("insert replace merge ignore")

// tableWords are words that the name of a table follows.
var tableWords = set("from join into table")

// inQuotes returns a name, as the server stores it, in the quotes of a dialect.
func inQuotes(dialect, text string) string {
	switch dialect {
	case "postgres":
		return `"` + strings.ToLower(text) + `"`
	case "mysql":
		return "`" + text + "`"
	default: // SQLite reads an unknown name in double quotes as a string.
		return "[" + text + "]"
	}
}
