package wiki

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// A Mention says which words a wiki uses for a table or a column.
type Mention struct {
	// Identifier is a name as a page has it, such as orders.net_amount. It may
	// name a table, a column, or nothing at all.
	Identifier string
	// Text has the titles, summaries and tags of the pages that name it, and the
	// lines that do.
	Text string
}

// The limits of mentions.
const (
	maxMentions    = 200 // identifiers of a page
	maxMentionText = 600 // bytes for an identifier
	maxMentionLine = 200 // bytes of a line
	maxIdentifier  = 200 // bytes
	allMentions    = 50_000
)

// mentions collects the identifiers of pages, sorted.
func mentions(pages []*Page) []Mention {
	texts := map[string]string{}
	for _, p := range pages {
		if !p.Searchable() {
			continue
		}
		about := collapse(p.Title + " " + p.Summary + " " + strings.Join(p.Tags, " "))
		for _, m := range p.mentions() {
			if _, known := texts[m.Identifier]; !known && len(texts) == allMentions {
				continue
			}
			texts[m.Identifier] = cut(collapse(texts[m.Identifier]+" "+about+" "+m.Text), maxMentionText)
		}
	}
	out := make([]Mention, 0, len(texts))
	for name, text := range texts {
		out = append(out, Mention{name, text})
	}
	slices.SortFunc(out, func(a, b Mention) int { return cmp.Compare(a.Identifier, b.Identifier) })
	return out
}

// mentions returns the identifiers that a page has, in order, with the line of the
// first place of each. Those of the head have no line.
func (p *Page) mentions() []Mention {
	var out []Mention
	seen := map[string]bool{}
	add := func(name, text string) {
		if name == "" || len(name) > maxIdentifier || seen[name] || len(out) == maxMentions {
			return
		}
		seen[name] = true
		out = append(out, Mention{name, text})
	}
	for _, name := range slices.Concat(p.Tables, p.SLRefs) {
		add(name, "")
	}
	for l := range lines(p.Body) {
		text := ""
		if !l.code {
			text = cut(collapse(l.text), maxMentionLine)
		}
		for _, name := range identifiers(l.text, l.code) {
			add(name, text)
		}
	}
	return out
}

// identifiers returns the words of a line that look like the names of tables and
// columns: those with _ or with a dot between letters, and single words between
// backquotes. In fenced code, only names with _ or a dot count, because most other
// words there are SQL.
func identifiers(text string, code bool) []string {
	var out []string
	quoted := false
	start := -1
	flush := func(end int) {
		if start < 0 {
			return
		}
		word := strings.Trim(text[start:end], ".-")
		alone := !code && quoted && start > 0 && text[start-1] == '`' && end < len(text) && text[end] == '`'
		start = -1
		if named(word) || alone && strings.IndexFunc(word, unicode.IsLetter) >= 0 {
			out = append(out, word)
		}
	}
	for i, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' || r == '.' || r == '$' {
			if start < 0 {
				start = i
			}
			continue
		}
		flush(i)
		if r == '`' {
			quoted = !quoted
		}
	}
	flush(len(text))
	return out
}

// named reports whether a word has _ or a dot between letters, and is not a number,
// a file, an address, or an abbreviation such as "e.g".
func named(word string) bool {
	parts := strings.Split(word, ".")
	letters, long := 0, false
	for _, part := range parts {
		if part == "" || len(parts) > 4 {
			return false
		}
		if strings.IndexFunc(part, func(r rune) bool { return unicode.IsLetter(r) || r == '_' }) >= 0 {
			letters++
		}
		long = long || len(part) > 2
	}
	if len(parts) > 1 {
		switch strings.ToLower(parts[len(parts)-1]) {
		case "md", "com", "org", "net", "io", "html", "yaml", "yml", "json", "csv", "txt", "sql", "py", "go", "js", "ts", "pdf", "png":
			return false
		}
		return letters == len(parts) && long
	}
	return letters > 0 && strings.Contains(strings.Trim(word, "_"), "_")
}
