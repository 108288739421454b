package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/ktxhq/ktx/research/wiki"
)

// capture writes the text to its page.
func (s *Store) capture(run *Run, state *state, r Request) error {
	vocabulary, err := s.vocabulary()
	if err != nil {
		return err
	}
	d := draftOf(r, vocabulary)
	before, err := s.options.Wiki.Raw(wiki.Global, d.key)
	if errors.Is(err, fs.ErrNotExist) {
		before = nil
	} else if err != nil {
		return fmt.Errorf("read the page %s: %w", d.key, err)
	}
	head, body, err := wiki.Split(before)
	if err != nil {
		return fmt.Errorf("the head of the page %s cannot be read, so nothing is added to it: %w; mend it, and send the text again", d.key, err)
	}
	page := wiki.Parse(wiki.Global, d.key, "", before)
	at := s.options.Now().UTC()
	switch {
	case before == nil:
		body = d.body
		head.Set("summary", d.summary)
	case has(page, d):
		if r.ConnectionID == "" || slices.Contains(page.Tags, r.ConnectionID) {
			run.note("wiki: the page " + d.key + " has this text already")
			return nil
		}
	default:
		body = section(body, d, r, at)
		if page.Summary == "" {
			head.Set("summary", d.summary)
		}
	}
	head.Add("tags", d.tags...)
	head.Add("sl_refs", d.sources...)
	if before == nil {
		head.Set("usage_mode", string(wiki.UsageAuto))
	}
	if !head.Has("source") {
		head.Set("source", r.Source)
	}
	if client := label(r.Client); client != "" && !head.Has("client") {
		head.Set("client", client)
	}
	head.AddCapture(wiki.Capture{At: at.Format(time.RFC3339), Source: r.Source, Client: label(r.Client), SHA256: d.sum})
	text, err := wiki.Join(head, body)
	if err != nil {
		return err
	}
	if len(text) > wiki.MaxPage {
		return fmt.Errorf("the page %s would have %d bytes, and a page has at most %d; divide it, or give the text another title", d.key, len(text), wiki.MaxPage)
	}
	// The state names the file before the file is written, so that a file is
	// committed later if the process ends in between.
	name := s.options.Wiki.Path(wiki.Global, d.key)
	state.Uncommitted = append(state.Uncommitted, uncommitted{name, digest(text)})
	if err := s.writeState(*state); err != nil {
		return err
	}
	if err := s.options.Wiki.Write(wiki.Global, d.key, before, text); err != nil {
		return err
	}
	run.Captured.Wiki = append(run.Captured.Wiki, d.key)
	run.Captured.Xrefs = appendNew(run.Captured.Xrefs, d.sources...)
	if !wiki.Parse(wiki.Global, d.key, "", text).Searchable() {
		run.note("wiki: the page " + d.key + " is archived or not for use, so search leaves it out")
	}
	return nil
}

// wrote remembers files that are to be committed.
func (s *Store) wrote(state *state, paths ...string) error {
	for _, p := range paths {
		sum, err := s.sum(p)
		if err != nil {
			return fmt.Errorf("read %s: %w", p, err)
		}
		state.Uncommitted = append(state.Uncommitted, uncommitted{p, sum})
	}
	return s.writeState(*state)
}

// A draft is what a text becomes.
type draft struct {
	key, title, summary string
	tags, sources       []string
	body                string
	sum                 string // of the text without differences in white space
}

func draftOf(r Request, vocabulary []string) draft {
	d := draft{title: titleOf(r.Content), sum: digest([]byte(normal(r.Content)))}
	if d.key = wiki.Slug(d.title); d.key == "" {
		d.key = "note-" + digest([]byte(normal(d.title)))[:12]
	}
	d.body = strings.TrimSpace(strings.ReplaceAll(r.Content, "\r\n", "\n")) + "\n"
	d.summary = summaryOf(r.Content)
	words := wordsOf(r.Content)
	d.sources = words.named(r.Sources, maxSources)
	d.tags = words.topics(vocabulary, maxTags)
	if r.ConnectionID != "" && !slices.Contains(d.tags, r.ConnectionID) {
		d.tags = append([]string{r.ConnectionID}, d.tags...)
	}
	return d
}

// normal returns a text in a form that is equal for texts that differ in white space
// or in how Unicode composes their letters.
func normal(text string) string { return norm.NFC.String(strings.Join(strings.Fields(text), " ")) }

// has reports whether a page has the text of a draft: it was captured before, or the
// page is this text.
func has(page *wiki.Page, d draft) bool {
	return normal(page.Body) == normal(d.body) ||
		slices.ContainsFunc(page.Captures, func(c wiki.Capture) bool { return c.SHA256 == d.sum })
}

// section returns the body with the text added as a section of its own. The text is
// without its heading if that is the title of the page.
func section(body string, d draft, r Request, at time.Time) string {
	text := d.body
	first, rest, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "#") && wiki.Slug(strings.TrimLeft(first, "# ")) == d.key && strings.TrimSpace(rest) != "" {
		text = strings.TrimLeft(rest, "\n")
	}
	by := r.Source
	if client := label(r.Client); client != "" {
		by += ", " + client
	}
	return strings.TrimRight(body, "\n \t") + "\n\n## " + at.Format(time.DateOnly) + " (" + by + ")\n\n" + text
}

// titleOf returns the title of a text: its first heading, else what it defines, else
// the first words of its first sentence.
func titleOf(content string) string {
	all := textLines(content)
	for _, l := range all {
		if m := headingLine().FindStringSubmatch(l.text); !l.code && m != nil {
			return m[1]
		}
	}
	sentence := summaryOf(content)
	if m := subject().FindStringSubmatch(sentence); m != nil {
		return strings.Trim(m[1], " \"'`*_“”„«»")
	}
	words := strings.Fields(sentence)
	return strings.Join(words[:min(len(words), 8)], " ")
}

// summaryOf returns the first sentence of a text that is no heading, else its first
// line.
func summaryOf(content string) string {
	var paragraph []string
	fallback := ""
	for _, l := range textLines(content) {
		text := strings.TrimSpace(l.text)
		if fallback == "" && strings.IndexFunc(text, letter) >= 0 {
			fallback = strings.TrimSpace(strings.TrimLeft(text, "#"))
		}
		prose := !l.code && text != "" && !headingLine().MatchString(l.text) && !strings.HasPrefix(text, "|") && strings.IndexFunc(text, letter) >= 0
		if !prose {
			if len(paragraph) > 0 {
				break
			}
			continue
		}
		if item := listItem().FindString(text); item != "" {
			if len(paragraph) > 0 {
				break
			}
			text = text[len(item):]
		}
		paragraph = append(paragraph, strings.TrimLeft(text, "> "))
	}
	text := strings.Join(strings.Fields(strings.Join(paragraph, " ")), " ")
	if text == "" {
		text = fallback
	}
	if text == "" {
		text = strings.Join(strings.Fields(content), " ")
	}
	return wiki.Excerpt(firstSentence(text), maxSummary)
}

// maxSummary is the maximum length of a summary, in characters.
const maxSummary = 180

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// firstSentence returns the text up to the end of its first sentence. A dot after a
// single letter, as in "e.g.", ends none.
func firstSentence(text string) string {
	var before, last rune
	for i, r := range text {
		if before != 0 && (r == ' ' && (last == '!' || last == '?' || last == '.' && !short(text[:i])) || last == '。' || last == '！' || last == '？') {
			return text[:i]
		}
		before, last = last, r
	}
	return text
}

// short reports whether a text ends with an abbreviation: its last word has one
// letter, or a dot inside.
func short(text string) bool {
	word := strings.TrimSuffix(text[strings.LastIndexByte(text, ' ')+1:], ".")
	return len([]rune(word)) < 2 || strings.Contains(word, ".") && !strings.ContainsAny(word, "_0123456789") && len(word) < 6 ||
		slices.Contains([]string{"vs", "etc", "approx", "incl", "excl", "no", "nr", "bzw"}, strings.ToLower(word))
}

func appendNew(list []string, items ...string) []string {
	for _, item := range items {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}
