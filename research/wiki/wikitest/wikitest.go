// Package wikitest has pages of a company's wiki, and questions of people who look for
// one of them, mostly in other words than those of the page. It measures how well a
// search finds pages.
//
// Choose weights and synonyms on the questions for which [Question.Held] is false, and
// read the figures off on the others.
package wikitest

import (
	_ "embed"
	"fmt"
	"strings"
)

// fixture has a part for each page. It begins with "= key"; the lines that begin with
// "? " are questions for the page.
//
//go:embed quality.txt
var fixture string

// letting is a second fixture, of a company that lets homes. It was written before any
// search saw it: first what each page is about, then the questions, then the pages.
//
//go:embed letting.txt
var letting string

// office is a third fixture, of a company that sells software. It was written before any
// search saw it, and then settings were chosen on it.
//
//go:embed office.txt
var office string

// languages has pages in eight languages, and questions with other forms of their words.
// It was written before any search saw it.
//
//go:embed languages.txt
var languages string

// A Question asks for one page.
type Question struct {
	Key  string // of the page
	Text string
	Held bool // no setting was chosen on this question
}

// Fixture returns the pages as files, by their key, and their questions.
func Fixture() (pages map[string]string, questions []Question) { return parse(fixture) }

// Letting returns the second fixture. All its questions are held out.
func Letting() (pages map[string]string, questions []Question) {
	pages, questions = parse(letting)
	for i := range questions {
		questions[i].Held = true
	}
	return pages, questions
}

// Office returns the third fixture. Settings were chosen on all its questions.
func Office() (pages map[string]string, questions []Question) {
	pages, questions = parse(office)
	for i := range questions {
		questions[i].Held = false
	}
	return pages, questions
}

// Languages returns pages in German, French, Spanish, Russian, Turkish, Arabic, Chinese and
// Japanese. Keys begin with the code of the language.
func Languages() (pages map[string]string, questions []Question) { return parse(languages) }

func parse(fixture string) (pages map[string]string, questions []Question) {
	pages = map[string]string{}
	for _, part := range strings.Split("\n"+fixture, "\n= ")[1:] {
		key, rest, _ := strings.Cut(part, "\n")
		var head, body []string
		for line := range strings.SplitSeq(rest, "\n") {
			switch {
			case strings.HasPrefix(line, "? "):
				questions = append(questions, Question{Key: key, Text: line[2:], Held: len(questions)%2 == 1})
			case strings.HasPrefix(line, "title: "), strings.HasPrefix(line, "summary: "), strings.HasPrefix(line, "tags: "):
				name, value, _ := strings.Cut(line, ": ")
				head = append(head, fmt.Sprintf("%s: %q", name, value))
			default:
				body = append(body, line)
			}
		}
		pages[key] = "---\n" + strings.Join(head, "\n") + "\n---\n" + strings.Join(body, "\n")
	}
	return pages, questions
}
