package research

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/search"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/wiki"
)

// The lengths of texts in an answer, in UTF-16 units, by which clients count.
const (
	maxShown     = 200 // a summary or a snippet
	windowBefore = 60  // before the first word that matched
)

// The fields of matchedOn. The body of a page is its text. That of a table is the names
// of its columns, the tables that its keys lead to or come from, and the pages that name
// it; that of a column is such pages. TestMatchedOnIsTrue compares answers with them.
const (
	onName        = "name"
	onDisplay     = "display"
	onDescription = "description"
	onComment     = "comment"
	onSample      = "sample_value"
	onBody        = "body"
)

// pageRef shows a page of the wiki.
func pageRef(h *wiki.Hit) DiscoverRef {
	ref := DiscoverRef{
		Kind: KindWiki, ID: h.Page.Key, Summary: shown(h.Page.Summary), MatchedOn: pageField(h), Untrusted: h.Page.Untrusted(),
	}
	switch {
	case ref.MatchedOn == onName || h.Start == h.End:
		ref.Snippet = shown(h.Page.Body)
	default:
		ref.Snippet = window(h.Page.Body, h.Start)
	}
	return ref
}

// pageField returns the field of a page that matched, by the names of this tool.
func pageField(h *wiki.Hit) string {
	names := map[string]string{"key": onName, "title": onName, "summary": onDescription, "heading": onBody, "body": onBody, "tags": onDisplay}
	if name, ok := names[h.Field]; ok {
		return name
	}
	return onBody
}

// tableOrColumn shows a table or a column of a scan.
func tableOrColumn(q *rank.Query, found *catalog.Snapshot, h *search.Hit) DiscoverRef {
	table := h.Table.Ref()
	ref := DiscoverRef{MatchedOn: h.MatchedOn, ConnectionID: found.ConnectionID(), TableRef: &table}
	if h.Column < 0 {
		ref.Kind, ref.ID = KindTable, found.Display(table)
		ref.Summary = shown(catalog.Describe(h.Table.Descriptions, h.Table.Comment))
		if ref.Snippet = textSnippet(q, h.MatchedOn, h.Table.Descriptions, h.Table.Comment); ref.Snippet == nil {
			ref.Snippet = columnNames(h.Table)
		}
		return ref
	}
	c := &h.Table.Columns[h.Column]
	ref.Kind, ref.ID, ref.ColumnName = KindColumn, found.DisplayColumn(table, c.Name), c.Name
	ref.Summary = shown(catalog.Describe(c.Descriptions, c.Comment))
	switch ref.Snippet = textSnippet(q, h.MatchedOn, c.Descriptions, c.Comment); {
	case ref.Snippet != nil:
	case h.MatchedOn == onSample:
		ref.Snippet = samplesSnippet(q, c)
	default:
		ref.Snippet = shown(c.NativeType)
	}
	return ref
}

// semanticRef shows a source, a measure or a column of the semantic layer.
func semanticRef(q *rank.Query, x *semantic.Index, connectionID string, h *semantic.Hit) DiscoverRef {
	source := x.Snapshot().Model().Sources[h.Source]
	ref := DiscoverRef{Kind: semanticKinds[h.Kind], ID: x.ID(h), MatchedOn: h.MatchedOn, ConnectionID: connectionID}
	described := source.Description
	switch h.Kind {
	case semantic.KindMeasure:
		m := source.Measures[h.Item]
		described = m.Description
		ref.Summary, ref.Snippet = shown(described), shown(m.Text)
		return ref
	case semantic.KindDimension:
		c := source.Columns[h.Item]
		described = c.Description
		ref.Snippet = shown(fmt.Sprintf("%s (%s)", c.Name, c.Type))
	case semantic.KindSource:
		var names []string
		for _, m := range source.Measures {
			names = append(names, m.Name)
		}
		for _, c := range source.Columns {
			if c.Visibility == model.Public {
				names = append(names, c.Name)
			}
		}
		ref.Snippet = shown(source.Name + ": " + strings.Join(names, ", "))
		if start, _, found := q.Find(described); found && h.MatchedOn == onDescription {
			ref.Snippet = window(described, start)
		}
	}
	ref.Summary = shown(described)
	return ref
}

// textSnippet returns the part of a description or comment around the word that
// matched, or nil if something else matched.
func textSnippet(q *rank.Query, matchedOn string, descriptions map[string]string, comment *string) *string {
	text := ""
	switch {
	case matchedOn == onDescription:
		text = catalog.Describe(descriptions, nil)
	case matchedOn == onComment && comment != nil:
		text = *comment
	}
	start, _, found := q.Find(text)
	if !found {
		return shown(text)
	}
	return window(text, start)
}

// columnNames returns the names of the first columns.
func columnNames(t *catalog.Table) *string {
	const most = 5
	line := ""
	for i := range t.Columns[:min(len(t.Columns), most)] {
		next := collapse(t.Columns[i].Name)
		if line != "" {
			next = line + ", " + next
		}
		if units(next) > maxShown && line != "" {
			break
		}
		line = next
	}
	return shown(line)
}

// samplesSnippet returns the type and the sample values of a column. When they are
// too long, the value that matched comes first.
func samplesSnippet(q *rank.Query, c *catalog.Column) *string {
	start := "samples: "
	if c.NativeType != "" {
		start = c.NativeType + " · " + start
	}
	line := collapse(start + strings.Join(c.SampleValues, ", "))
	if units(line) <= maxShown {
		return shown(line)
	}
	values := make([]string, 0, len(c.SampleValues))
	for _, v := range c.SampleValues {
		if _, _, found := q.Find(v); found && len(values) == 0 {
			values = append(values, v)
		}
	}
	for _, v := range c.SampleValues {
		if len(values) == 0 || v != values[0] {
			values = append(values, v)
		}
	}
	return shown(start + strings.Join(values, ", "))
}

// shown returns the first maxShown units of a text in one line, or nil for a blank
// one.
func shown(text string) *string {
	line := firstUnits(collapse(firstBytes(text)), maxShown)
	if line == "" {
		return nil
	}
	return &line
}

// window returns at most maxShown units of a text in one line: those around the
// offset start, or all of it if it is short.
func window(text string, start int) *string {
	if len(text) <= 4*maxShown {
		if line := collapse(text); units(line) <= maxShown {
			return shown(line)
		}
	}
	// White space at the border is kept as one space.
	before := collapseKeepingEnds(lastBytes(text[:start]))
	line := lastUnits(before, windowBefore) + collapseKeepingEnds(firstBytes(text[start:]))
	return shown(strings.TrimSpace(line))
}

// The parts of a text that can be seen. A run of white space may be longer than what
// is shown, and is then shown as less.
const maxRead = 16 << 10

func firstBytes(s string) string {
	if len(s) <= maxRead {
		return s
	}
	n := maxRead
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func lastBytes(s string) string {
	if len(s) <= maxRead {
		return s
	}
	n := len(s) - maxRead
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return s[n:]
}

// collapse makes one space of each run of white space and control characters, and
// trims the text.
func collapse(s string) string { return strings.TrimSpace(collapseKeepingEnds(s)) }

func collapseKeepingEnds(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}

// units counts UTF-16 units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// firstUnits returns the first characters of s that have at most n units.
func firstUnits(s string, n int) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// lastUnits returns the last characters of s that have at most n units.
func lastUnits(s string, n int) string {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if n -= utf16.RuneLen(r); n < 0 {
			return s[i:]
		}
		i -= size
	}
	return s
}
