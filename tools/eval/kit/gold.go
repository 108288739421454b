package kit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// gold returns the tables and the columns of the database that the SQL reads, sorted.
// Columns of join conditions count too.
func gold(db *database, sql string) (tables []string, columns [][2]string) {
	g := goldReader{db: db}
	g.query(group(lex(sql)), nil)
	slices.Sort(g.tables)
	slices.SortFunc(g.columns, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(g.tables), slices.Compact(g.columns)
}

func lower(s string) string { return strings.ToLower(s) }

// A token is a word of the SQL, or a group in parentheses.
type token struct {
	text   string
	quoted bool // an identifier in quotes
	value  bool // a string or a number
	inner  []token
}

// word returns the lower case of a token that is no value and no group.
func (t *token) word() string {
	if t.value || t.quoted || t.inner != nil {
		return ""
	}
	return lower(t.text)
}

// lex splits the SQL. A text in double quotes is an identifier or a value; which of them
// is decided later, as SQLite does.
func lex(sql string) []token {
	var out []token
	for i := 0; i < len(sql); {
		c := sql[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '\'' || c == '"' || c == '`' || c == '[':
			end := c
			if c == '[' {
				end = ']'
			}
			n := strings.IndexByte(sql[i+1:], end)
			if n < 0 {
				n = len(sql) - i - 1
			}
			out = append(out, token{text: sql[i+1 : i+1+n], quoted: c != '\'', value: c == '\''})
			i = min(i+n+2, len(sql))
		case letter(c):
			j := i
			for j < len(sql) && letter(sql[j]) {
				j++
			}
			out = append(out, token{text: sql[i:j], value: c >= '0' && c <= '9' && strings.Trim(sql[i:j], "0123456789") == ""})
			i = j
		default:
			out = append(out, token{text: sql[i : i+1]})
			i++
		}
	}
	return out
}

func letter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// group puts what stands in parentheses into one token.
func group(tokens []token) []token {
	stack := [][]token{{}}
	for _, t := range tokens {
		top := len(stack) - 1
		switch {
		case t.word() == "(":
			stack = append(stack, []token{})
		case t.word() == ")" && top > 0:
			inner := stack[top]
			stack = stack[:top]
			stack[top-1] = append(stack[top-1], token{inner: inner})
		default:
			stack[top] = append(stack[top], t)
		}
	}
	for len(stack) > 1 { // parentheses that are not closed
		top := len(stack) - 1
		stack[top-1] = append(stack[top-1], token{inner: stack[top]})
		stack = stack[:top]
	}
	return stack[0]
}

// A scope is the tables of one SELECT.
type scope struct {
	outer  *scope
	names  map[string]*catalog.Table // by alias and name; nil for a query in FROM
	tables []*catalog.Table
}

// A goldReader collects what a query reads.
type goldReader struct {
	db      *database
	tables  []string
	columns [][2]string
}

// clauses end the list of tables.
var clauses = []string{"where", "group", "having", "order", "limit", "window"}

// query reads a query: one SELECT, or several with UNION, INTERSECT or EXCEPT.
func (g *goldReader) query(tokens []token, outer *scope) {
	start := 0
	for i := range tokens {
		switch tokens[i].word() {
		case "union", "intersect", "except":
			g.selection(tokens[start:i], outer)
			start = i + 1
		}
	}
	g.selection(tokens[start:], outer)
}

// selection reads one SELECT.
func (g *goldReader) selection(tokens []token, outer *scope) {
	s := &scope{outer: outer, names: map[string]*catalog.Table{}}
	names := g.from(tokens, s)
	for i := range tokens {
		t := &tokens[i]
		switch {
		case names[i]:
		case t.inner != nil:
			g.group(t.inner, s)
		case t.value || i > 0 && tokens[i-1].word() == ".":
		case i+2 < len(tokens) && tokens[i+1].word() == ".":
			g.qualified(t.text, tokens[i+2].text, s)
		default:
			g.bare(t.text, s)
		}
	}
}

// group reads what stands in parentheses: a query, or an expression of this SELECT.
func (g *goldReader) group(tokens []token, s *scope) {
	if len(tokens) > 0 && (tokens[0].word() == "select" || tokens[0].word() == "with") {
		g.query(tokens, s)
		return
	}
	inner := &scope{outer: s, names: map[string]*catalog.Table{}}
	for i := range tokens {
		t := &tokens[i]
		switch {
		case t.inner != nil:
			g.group(t.inner, inner)
		case t.value || i > 0 && tokens[i-1].word() == ".":
		case i+2 < len(tokens) && tokens[i+1].word() == ".":
			g.qualified(t.text, tokens[i+2].text, inner)
		default:
			g.bare(t.text, inner)
		}
	}
}

// from collects the tables after FROM, JOIN and commas, with their aliases. It reports
// which tokens are names of tables and aliases.
func (g *goldReader) from(tokens []token, s *scope) []bool {
	names := make([]bool, len(tokens))
	reading := false
	for i := 0; i < len(tokens); i++ {
		word := tokens[i].word()
		switch {
		case word == "from" || word == "join" || word == "," && reading:
			reading = true
			if i+1 >= len(tokens) {
				return names
			}
			i++
			names[i] = tokens[i].inner == nil
			table := g.db.byName[lower(tokens[i].text)]
			if tokens[i].inner != nil {
				table = nil
			}
			if table != nil {
				g.tables = append(g.tables, table.Name)
				s.tables = append(s.tables, table)
				s.names[lower(table.Name)] = table
			}
			if i+2 < len(tokens) && tokens[i+1].word() == "as" {
				s.names[lower(tokens[i+2].text)] = table
				names[i+2] = true
				i += 2
			} else if i+1 < len(tokens) && tokens[i+1].inner == nil && !keyword(tokens[i+1].word()) {
				s.names[lower(tokens[i+1].text)] = table
				names[i+1] = true
				i++
			}
		case slices.Contains(clauses, word):
			reading = false
		case word == "select" || word == "on":
			reading = false
		}
	}
	return names
}

// keyword reports whether the word may follow a table and is not its alias.
func keyword(word string) bool {
	return slices.Contains(clauses, word) || slices.Contains([]string{"on", "join", "inner", "left", "right", "full", "cross", "natural", "using", ",", ".", ";", "union", "intersect", "except"}, word)
}

// qualified reads alias.column.
func (g *goldReader) qualified(alias, column string, s *scope) {
	for ; s != nil; s = s.outer {
		if table, ok := s.names[lower(alias)]; ok {
			if table != nil {
				g.column(table, column)
			}
			return
		}
	}
}

// bare reads a word that is a column of the nearest table that has one of this name, or
// no column.
func (g *goldReader) bare(name string, s *scope) {
	for ; s != nil; s = s.outer {
		for _, table := range s.tables {
			if g.column(table, name) {
				return
			}
		}
	}
}

// column collects a column, if the table has it.
func (g *goldReader) column(table *catalog.Table, name string) bool {
	for i := range table.Columns {
		if strings.EqualFold(table.Columns[i].Name, name) {
			g.columns = append(g.columns, [2]string{table.Name, table.Columns[i].Name})
			return true
		}
	}
	return false
}
