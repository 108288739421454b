package wiring

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/sqlcheck"
)

const (
	maxMentioned = 4       // places that are kept of a word
	maxMentioner = 4 << 20 // bytes of a file that is read for its words
	minMentioned = 3       // letters of a word that is worth a place
)

// Mentions returns what finds the places in the repository of the current folder, or in
// the folder, that name a table or a column, such as "app/orders.py:12". Files that git
// ignores and migrations do not count. The files are read when somebody asks for the
// first time.
func (g *FileGuards) Mentions(ignored *sqlcheck.Ignored, profile string) func(name string) []string {
	words := sync.OnceValue(func() mentions {
		inputs, err := sqlcheck.Find([]string{repository()}, "")
		if err != nil {
			return mentions{} // the check itself says what cannot be read
		}
		var projects []*project.Project
		for _, p := range g.projects {
			if p != nil && len(p.Config.Check.Migrations.Paths) > 0 && !slices.Contains(projects, p) {
				projects = append(projects, p)
			}
		}
		found := mentions{places: map[string][]mentioned{}}
		for _, in := range ignored.Without(inputs) {
			if slices.ContainsFunc(projects, func(p *project.Project) bool { return isMigration(p, in.Path) }) || profile == ProfileMigration && filepath.Ext(in.Path) == ".sql" {
				continue
			}
			if info, err := os.Lstat(in.Path); err != nil || !info.Mode().IsRegular() || info.Size() > maxMentioner {
				continue
			}
			if text, err := os.ReadFile(in.Path); err == nil {
				found.add(in.Path, text)
			}
		}
		return found
	})
	return func(name string) []string {
		name = strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "\"`[]")
		if len(name) < minMentioned {
			return nil
		}
		return words().of(name)
	}
}

// repository returns the repository of the current folder as a relative path, or the
// folder.
func repository() string {
	if current, err := os.Getwd(); err == nil {
		if top, err := filepath.Rel(current, sqlcheck.Tree(current)); err == nil {
			return top
		}
	}
	return "."
}

// mentions are the places of the words of some files.
type mentions struct {
	files  []string
	places map[string][]mentioned // of words in lower case
}

type mentioned struct{ file, line int }

// of returns the places of a word.
func (m mentions) of(word string) (list []string) {
	for _, at := range m.places[strings.ToLower(word)] {
		list = append(list, fmt.Sprintf("%s:%d", m.files[at.file], at.line))
	}
	return list
}

// add notes the places of the words of a text, one for each line.
func (m *mentions) add(path string, text []byte) {
	m.files = append(m.files, filepath.ToSlash(path))
	at := mentioned{file: len(m.files) - 1}
	var lower []byte
	for line := range bytes.Lines(text) {
		at.line++
		for i := 0; i < len(line); i++ {
			from := i
			for ; i < len(line) && inWord[line[i]]; i++ {
			}
			word := line[from:i]
			if len(word) < minMentioned || len(word) > 128 {
				continue
			}
			lower = lower[:0]
			for _, c := range word {
				if c >= 'A' && c <= 'Z' {
					c |= 0x20
				}
				lower = append(lower, c)
			}
			places := m.places[string(lower)]
			if len(places) < maxMentioned && (len(places) == 0 || places[len(places)-1] != at) {
				m.places[string(lower)] = append(places, at)
			}
		}
	}
}

// inWord are the bytes of words: letters, digits, and all that is not ASCII.
var inWord = func() (set [256]bool) {
	for c := range set {
		set[c] = c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	return set
}()
