package wiki

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// UsageMode says when a page is offered to agents.
type UsageMode string

// The usage modes. A page with another mode, or without one, is [UsageAuto].
const (
	UsageAlways UsageMode = "always"
	UsageAuto   UsageMode = "auto"
	UsageNever  UsageMode = "never" // left out of search
)

// MaxPage is the maximum size of a page, in bytes. Larger files are no pages.
const MaxPage = 192 << 10

// Page is one page. The fields from the head are empty if the page has none.
type Page struct {
	Key   string
	Scope Scope
	Path  string // relative to the project, with slashes

	Title         string // of the head, else the first heading, else the key as words
	Summary       string
	Tags          []string
	Refs          []string // keys of other pages
	SLRefs        []string // names of semantic-layer sources
	Tables        []string
	Usage         UsageMode
	SortOrder     int
	Source        string    // who wrote the page; empty for authors of the project
	Client        string    // the MCP client that a captured page came from
	Captures      []Capture // what memory_ingest added to the page
	StaleSince    string
	ArchivedSince string

	// Body is the text without the head, as the author wrote it.
	Body string
	// bodyLine is the number of lines before the body.
	bodyLine int
	// Problems are what is wrong with the head, by line.
	Problems []Problem
}

// Searchable reports whether search returns the page.
func (p *Page) Searchable() bool { return p.Usage != UsageNever && p.ArchivedSince == "" }

// Untrusted reports whether the page came from outside of the project, such as from
// an agent. Its text is data, not instructions.
func (p *Page) Untrusted() bool { return p.Source != "" }

// A Problem is what is wrong with a page.
type Problem struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
}

// Level says how bad a [Problem] is.
type Level string

// The levels.
const (
	LevelError   Level = "error"   // something of the page is not read, or leads nowhere
	LevelWarning Level = "warning" // the page works, but is harder to find than it could be
)

// byteOrderMark stands at the beginning of files of some editors.
const byteOrderMark = "\uFEFF"

// Parse reads a page. It never fails: what the head says wrongly is in Problems,
// and the rest of the page is read.
func Parse(scope Scope, key, path string, text []byte) *Page {
	p := &Page{Key: key, Scope: scope, Path: path, Usage: UsageAuto}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
		p.problem(1, LevelError, "the page is not valid UTF-8; save it as UTF-8")
	}
	s := strings.TrimPrefix(string(text), byteOrderMark)
	head, body, found := cutHead(s)
	switch {
	case found:
		p.readHead(head)
		p.bodyLine = strings.Count(s[:len(s)-len(body)], "\n")
	case strings.HasPrefix(s, fence+"\n") || strings.HasPrefix(s, fence+"\r\n"):
		p.problem(1, LevelError, "the head has no end; write a line --- after it")
	}
	p.Body = body
	if p.Title == "" {
		p.Title = cut(collapse(title(body)), maxSummary)
	}
	if p.Title == "" {
		p.Title = strings.NewReplacer("-", " ", "_", " ").Replace(key)
	}
	return p
}

func (p *Page) problem(line int, level Level, message string) {
	if len(p.Problems) < maxProblems {
		p.Problems = append(p.Problems, Problem{Path: p.Path, Line: line, Level: level, Message: message})
	}
}

// maxProblems is how many problems of a page are kept.
const maxProblems = 50

// fence is the line before and after the head.
const fence = "---"

// cutHead divides a text at the end of its head. Without a head, body is the whole
// text.
func cutHead(text string) (head, body string, found bool) {
	rest, ok := strings.CutPrefix(text, fence+"\n")
	if !ok {
		if rest, ok = strings.CutPrefix(text, fence+"\r\n"); !ok {
			return "", text, false
		}
	}
	for at := 0; at <= len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		next := at + len(line)
		if more {
			next++
		}
		if strings.TrimRight(line, " \t\r") == fence {
			return rest[:at], rest[next:], true
		}
		if !more {
			break
		}
		at = next
	}
	return "", text, false
}

// title returns the text of the first heading of level 1, else of any level,
// outside of fenced code. It is "" without one.
func title(body string) string {
	first := ""
	for line := range lines(body) {
		if line.code {
			continue
		}
		level, text := heading(line.text)
		if level == 1 {
			return text
		}
		if level > 0 && first == "" {
			first = text
		}
	}
	return first
}
