package sql

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

// keywords are those that begin clauses of a read. The shell completes no others: they
// are short, or stand in the way of names.
var keywords = []string{
	"SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "OFFSET", "DISTINCT", "WITH", "UNION ALL", "INTERSECT", "EXCEPT",
	"LEFT JOIN", "INNER JOIN", "CROSS JOIN", "BETWEEN", "EXISTS", "EXPLAIN",
}

var (
	// wordEnd is the word before the cursor, with the names before it.
	wordEnd = regexp.MustCompile("[\\pL\\pN_$\"`\\[\\].]*$")
	// plainName is a name that needs no quotes in any dialect.
	plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
)

// complete completes the word before the cursor. pos is in characters.
func (s *shell) complete(line string, pos int) (head string, found []string, tail string) {
	at := 0
	for range pos {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	head, tail = line[:at], line[at:]
	word := wordEnd.FindString(head)
	head = head[:len(head)-len(word)]
	if s.before == "" {
		switch name, _, _ := strings.Cut(strings.TrimSpace(head), " "); name {
		case `\c`:
			return head, begins(word, slices.Collect(maps.Keys(s.open.Project.Config.Connections))), tail
		case `\d`:
			return head, begins(word, s.tableNames()), tail
		}
		if strings.HasPrefix(strings.TrimSpace(head), `\`) {
			return head, nil, tail
		}
	}
	if i := strings.LastIndexByte(word, '.'); i >= 0 {
		owner := word[:i]
		for _, name := range begins(word[i+1:], s.within(owner, s.before+line)) {
			found = append(found, owner+"."+name)
		}
		return head, found, tail
	}
	names := s.tableNames()
	if words := s.words(s.before + head); len(words) > 0 && slices.Contains([]string{"from", "join"}, strings.ToLower(words[len(words)-1])) {
		return head, begins(word, names), tail
	}
	read := s.readBy(s.before + line)
	if len(read) == 0 {
		read = s.tables
	}
	for _, t := range read {
		names = append(names, s.columnNames(t)...)
	}
	found = begins(word, names)
	if word != "" {
		found = append(found, begins(word, keywords)...)
	}
	return head, found, tail
}

// begins returns the names that begin with a word, in any case, sorted.
func begins(word string, names []string) []string {
	word = strings.ToLower(unquoted.Replace(word))
	var out []string
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(unquoted.Replace(name)), word) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// tableNames returns the names of the tables, and of their schemas.
func (s *shell) tableNames() []string {
	var names []string
	for _, t := range s.tables {
		names = append(names, s.quoted(t.Name))
		if schema := t.Ref().DB; schema != "" {
			names = append(names, s.quoted(schema))
		}
	}
	return names
}

func (s *shell) columnNames(t *catalog.Table) []string {
	var names []string
	for _, c := range t.Columns {
		names = append(names, s.quoted(c.Name))
	}
	return names
}

// within returns the names behind that name and a dot: the columns of a table or alias
// of the statement, or the tables of a schema.
func (s *shell) within(owner, statement string) []string {
	var names []string
	plain := unquoted.Replace(owner)
	for _, t := range s.tables {
		if strings.EqualFold(t.Ref().DB, plain) {
			names = append(names, s.quoted(t.Name))
		}
	}
	for _, t := range matching(s.tables, owner) {
		names = append(names, s.columnNames(t)...)
	}
	for _, t := range s.aliased(plain, statement) {
		names = append(names, s.columnNames(t)...)
	}
	return names
}

// words returns the words and names of a text, without their quotes.
func (s *shell) words(text string) []string {
	if s.dialect == nil {
		return nil
	}
	var out []string
	for _, t := range s.dialect.Lex(text).List {
		switch t.Kind { //nolint:exhaustive // others are no names
		case sqlguard.TokenWord, sqlguard.TokenQuotedName, sqlguard.TokenQuotedText:
			out = append(out, unquoted.Replace(t.Text(text)))
		default:
			out = append(out, "")
		}
	}
	return out
}

// readBy returns the tables that a text names.
func (s *shell) readBy(text string) []*catalog.Table {
	var out []*catalog.Table
	for _, word := range s.words(text) {
		for _, t := range s.tables {
			if strings.EqualFold(t.Name, word) && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// aliased returns the tables that a text gives that name.
func (s *shell) aliased(alias, text string) []*catalog.Table {
	var out []*catalog.Table
	words := s.words(text)
	for i, word := range words {
		next := i + 1
		if next < len(words) && strings.EqualFold(words[next], "as") {
			next++
		}
		if next >= len(words) || !strings.EqualFold(words[next], alias) || word == "" {
			continue
		}
		for _, t := range s.tables {
			if strings.EqualFold(t.Name, word) && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// quoted returns a name as statements of the connection spell it.
func (s *shell) quoted(name string) string {
	switch {
	case plainName.MatchString(name), strings.ContainsAny(name, "\"`[]."):
		return name // the second kind is rare, and left to the user
	case s.connection.Dialect == "mysql":
		return "`" + name + "`"
	default:
		return `"` + name + `"`
	}
}
