package wiki

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki/glove"
)

// Snapshot is the pages of a project at one time. It does not change.
type Snapshot struct {
	analyzer *rank.Analyzer
	files    []*file
	warnings []string
	id       string
	parts    []*part // by the order of scopes

	mentionsOnce sync.Once
	mentions     []Mention
}

// A part is the index of the pages of a scope.
type part struct {
	pages    []*Page // those that search returns
	index    *rank.Index
	passages []located       // by document
	known    map[string]bool // words of the thesaurus that the pages have

	sentences  *rank.Index
	sentenceOf []int // by document of sentences, the page in pages

	meanings []meaning      // by document
	titles   []glove.Vector // by page
	places   places
}

// located is a passage of a page.
type located struct {
	page int // in part.pages
	passage
}

// The fields of the index, in the order of [fields].
const (
	fieldTitle = iota
	fieldSummary
	fieldTags
	fieldHeading
	fieldBody
)

// fields are the fields of a passage. Title, summary and tags are those of its page. That
// all weights are small lets it count more that a word is there several times.
var fields = []rank.Field{
	{Name: "title", Weight: 1.6, B: 0.5},
	{Name: "summary", Weight: 1.6, B: 0.5},
	{Name: "tags", Weight: 1.6, B: 0.5},
	{Name: "heading", Weight: 1.2, B: 0.5},
	{Name: "body", Weight: 0.8, B: 0.75},
}

// sentenceFields is the field of a sentence.
var sentenceFields = []rank.Field{{Name: "sentence", Weight: 1, B: 0.5}}

// finish makes what is derived from the files. It keeps the indexes of the snapshot
// before for scopes whose pages are the same.
func (n *Snapshot) finish(s *Store, before *Snapshot) {
	h := sha256.New()
	for _, f := range n.files {
		if f.page == nil {
			n.warnings = append(n.warnings, s.Path(f.scope, f.key)+": "+f.fault)
			continue
		}
		_, _ = fmt.Fprintf(h, "%s %s %x\n", f.scope, f.key, f.sum)
		for _, p := range f.page.Problems {
			if p.Level == LevelError {
				n.warnings = append(n.warnings, fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Message))
			}
		}
	}
	n.id = hex.EncodeToString(h.Sum(nil))
	slices.Sort(n.warnings)
	for i, scope := range scopes {
		var pages []*Page
		for _, f := range n.files {
			if f.scope == scope && f.page != nil && f.page.Searchable() {
				pages = append(pages, f.page)
			}
		}
		if before != nil && slices.Equal(before.parts[i].pages, pages) {
			n.parts = append(n.parts, before.parts[i])
			continue
		}
		n.parts = append(n.parts, newPart(s.analyzer, pages))
	}
}

func newPart(a *rank.Analyzer, pages []*Page) *part {
	out := &part{pages: pages, known: map[string]bool{}, places: places{words: map[string][]uint32{}}}
	b, sentences := rank.NewBuilder(a, fields), rank.NewBuilder(a, sentenceFields)
	for i, p := range pages {
		out.titles = append(out.titles, titleMeaning(p.Title))
		for _, text := range []string{p.Title, p.Key, p.Summary, strings.Join(p.Tags, " "), p.Body} {
			vocabulary(out.known, text)
		}
		for _, g := range passages(p.Body) {
			var texts []rank.Text
			for f, text := range p.texts(g) {
				texts = append(texts, rank.Text{Field: f, Text: text})
				if f == fieldTags {
					continue
				}
				for sentence := range strings.FieldsFuncSeq(text, endsSentence) {
					sentences.Add(rank.Text{Text: sentence})
					out.sentenceOf = append(out.sentenceOf, i)
				}
			}
			b.Add(texts...)
			out.passages = append(out.passages, located{i, g})
		}
	}
	out.index, out.sentences = b.Index(), sentences.Index()
	out.meanings = out.findMeanings()
	return out
}

// texts returns what each field of a passage has.
func (p *Page) texts(g passage) [fieldBody + 1]string {
	return [...]string{
		fieldTitle:   p.Title + "\n" + p.Key,
		fieldSummary: p.Summary,
		fieldTags:    strings.Join(slices.Concat(p.Tags, p.SLRefs, p.Tables), "\n"),
		fieldHeading: g.heading,
		fieldBody:    p.Body[g.start:g.end],
	}
}

// Ranks returns the indexes of the pages, for [rank.Query.Within].
func (n *Snapshot) Ranks() []*rank.Index {
	var out []*rank.Index
	for _, p := range n.parts {
		out = append(out, p.index)
	}
	return out
}

// ID is equal for equal pages.
func (n *Snapshot) ID() string { return n.id }

// Warnings are about files that could not be read, and heads that are wrong, sorted.
func (n *Snapshot) Warnings() []string { return slices.Clone(n.warnings) }

// Pages returns all pages, sorted by key, those of the user first.
func (n *Snapshot) Pages() []*Page {
	var out []*Page
	for _, f := range slices.SortedFunc(slices.Values(n.files), byName) {
		if f.page != nil {
			out = append(out, f.page)
		}
	}
	return out
}

// Mentions returns the words that pages use for tables and columns, sorted by
// identifier. Pages that search leaves out have none.
func (n *Snapshot) Mentions() []Mention {
	n.mentionsOnce.Do(func() { n.mentions = mentions(n.Pages()) })
	return n.mentions
}
