package mutate

import "strings"

// letters changes the case of letters of keywords, and of names where their case
// means nothing: everywhere in PostgreSQL, which folds names without quotes, in
// SQLite, and in SQL Server, unless the collation of its database says
// otherwise. In the MySQL family the names of tables and aliases may depend on
// it, so there it is reserved words and functions. A word looks the same
// everywhere in the text.
func (t *text) letters() {
	for i, part := range t.tokens {
		if part.kind == word && t.folds(i) {
			t.tokens[i].text = alternate(part.text)
		}
	}
}

// folds reports whether the case of the word's letters means nothing.
func (t *text) folds(i int) bool {
	part, called := t.tokens[i], i+1 < len(t.tokens) && t.tokens[i+1].is("(")
	qualified := t.before(i).is(".")
	switch t.Dialect {
	case "postgres", "sqlite":
		return true
	case "sqlserver": // Methods of a type, as of xml, are to the letter.
		return (!called || !qualified) && !t.before(i).is(":")
	case "mysql":
		if qualified {
			return false
		}
		return part.in(reserved) || called && !t.defined(i)
	}
	return false
}

// defined reports whether the word before a bracket may be the name of a table,
// an index or a query of WITH instead of a function.
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

// naming are words behind which a name stands, and no call.
var naming = set("into table with recursive references as from join update index key on view trigger exists handler")

// alternate returns a word with every other letter large; one that is so already
// has every other letter small.
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

// gaps puts comments where white space stands, and before the bracket of a call
// where that may stand alone. None is put beside another comment, which may be a
// hint, nor where it could part what is one thing: literals in a row, a name with
// a point, a variable.
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
			case after.in(clauses):
				out = append(out, token{comment, "-- gap"}, token{space, "\n"})
			default:
				put()
				out = append(out, token{space, " "})
			}
		// MySQL takes some functions for such only where the bracket is next.
		case part.kind == word && t.Dialect != "mysql" && i+1 < len(t.tokens) && t.tokens[i+1].is("("):
			put()
		}
	}
	t.tokens = out
}

// joins reports whether a gap may stand on this side of a token.
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
		return side > 0 // What a variable ends with is not known for certain.
	}
	return false
}

// clauses are words that a line of their own means nothing else to, for no
// client.
var clauses = set("select from where and or join on order group having limit union as")

// quote puts names in quotes. In PostgreSQL and SQLite every word that is no
// keyword is a name. In the others it depends on where the word stands: names
// beside a point and of tables, and functions that are known to be callable so.
func (t *text) quote() {
	if t.Class == "ddl" && t.Dialect == "sqlite" {
		return // Options of a table are words that are compared as written.
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
			return false // How it folds depends on the server's locale.
		}
	}
	if i > 0 && t.tokens[i-1].kind == literal || i+1 < len(t.tokens) && t.tokens[i+1].kind == literal {
		return false // Perhaps they are one.
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

// inserts reports whether the INTO before word i is that of a statement which
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

// tableWords are words behind which the name of a table stands.
var tableWords = set("from join into table")

// inQuotes returns a name in the quotes of a dialect, as it is found.
func inQuotes(dialect, text string) string {
	switch dialect {
	case "postgres":
		return `"` + strings.ToLower(text) + `"`
	case "mysql":
		return "`" + text + "`"
	default: // SQLite takes an unknown name in double quotes for a string.
		return "[" + text + "]"
	}
}
