package wiring

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/sqlcheck"
)

const (
	maxMentioned = 4       // places that are kept of a word
	maxMentioner = 4 << 20 // bytes of a file that is read for its words
	minMentioned = 3       // letters of a word that is worth a place
	maxWord      = 128     // letters
)

// Mentions returns what finds the places in the repository of the current folder, or in
// the folder, that name a table or a column, such as "app/orders.py:12". Files that git
// ignores and migrations do not count. The files are read when somebody asks for the
// first time, for all words with which the migrations among the inputs drop or rename
// something, and for any other word when it is asked for.
func (g *FileGuards) Mentions(inputs []sqlcheck.Input, ignored *sqlcheck.Ignored, profile string) func(name string) []string {
	m := mentions{places: map[string][]mentioned{}}
	var mu sync.Mutex
	return func(name string) []string {
		name = strings.ToLower(strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "\"`[]"))
		if len(name) < minMentioned || len(name) > maxWord || strings.ContainsFunc(name, func(r rune) bool { return r < 0x80 && !inWord[r] }) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if m.words == nil {
			m.words = map[string]bool{}
			m.files = g.mentioning(ignored, profile)
			m.search(g.dropped(inputs, profile))
		}
		if !m.words[name] {
			m.search(map[string]bool{name: true})
		}
		return m.of(name)
	}
}

// mentioning returns the files that are searched: those with code or SQL that are no
// migrations.
func (g *FileGuards) mentioning(ignored *sqlcheck.Ignored, profile string) (files []string) {
	inputs, err := sqlcheck.Find([]string{repository()}, "")
	if err != nil {
		return nil // the check itself says what cannot be read
	}
	migrates := g.migrates(profile)
	for _, in := range ignored.Without(inputs) {
		if in.Problem == "" && !in.Stdin && !migrates(in.Path) {
			files = append(files, in.Path)
		}
	}
	return files
}

// migrates returns what reports whether a file is a migration.
func (g *FileGuards) migrates(profile string) func(path string) bool {
	var projects []*project.Project
	for _, p := range g.projects {
		if p != nil && len(p.Config.Check.Migrations.Paths) > 0 && !slices.Contains(projects, p) {
			projects = append(projects, p)
		}
	}
	return func(path string) bool {
		return slices.ContainsFunc(projects, func(p *project.Project) bool { return isMigration(p, path) }) || profile == ProfileMigration && (filepath.Ext(path) == ".sql" || migrationFolder.MatchString(path))
	}
}

var (
	// drops is what statements have that take a name away.
	drops = regexp.MustCompile(`(?i)drop|rename|change`)
	// remarks are comments.
	remarks = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*`)
)

// keywords are words of such statements that are seldom names.
var keywords = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`drop rename change alter table column constraint index create unique primary foreign key references cascade restrict
		add set not null default delete update insert into values select from where and for the with using only exists begin commit view function type enum
		text integer bigint boolean varchar timestamp timestamptz jsonb double precision true false current_timestamp public new old end then case when else return returns language`) {
		words[word] = true
	}
	return words
}()

// dropped returns the words of the statements in migrations that drop or rename something.
func (g *FileGuards) dropped(inputs []sqlcheck.Input, profile string) map[string]bool {
	words := map[string]bool{}
	migrates := g.migrates(profile)
	for _, in := range inputs {
		if in.Stdin || !migrates(in.Path) {
			continue
		}
		text, _ := readMentioner(in.Path, nil)
		for statement := range bytes.SplitSeq(remarks.ReplaceAll(text, nil), []byte(";")) {
			if drops.Match(statement) {
				eachWord(statement, func(_ int, word []byte) {
					if word := strings.ToLower(string(word)); !keywords[word] {
						words[word] = true
					}
				})
			}
		}
	}
	return words
}

// readMentioner returns the content of a regular file that is not too large. It uses a
// buffer, and returns the one to use next.
func readMentioner(path string, buffer []byte) (text, next []byte) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // a file of the tree that is checked
	if err != nil {
		return nil, buffer
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMentioner {
		return nil, buffer
	}
	buffer = slices.Grow(buffer[:0], int(info.Size()))
	n, err := io.ReadFull(f, buffer[:info.Size()])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, buffer
	}
	return buffer[:n], buffer
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

// mentions are the places of some words in some files.
type mentions struct {
	files  []string
	words  map[string]bool        // those that were searched, in lower case
	places map[string][]mentioned // of those
}

type mentioned struct{ file, line int }

// of returns the places of a word.
func (m *mentions) of(word string) (list []string) {
	for _, at := range m.places[word] {
		list = append(list, fmt.Sprintf("%s:%d", filepath.ToSlash(m.files[at.file]), at.line))
	}
	return list
}

// search notes the first places of words in the files.
func (m *mentions) search(words map[string]bool) {
	set := newWordSet(words)
	found := make([][]hit, len(m.files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			var text, buffer []byte
			last := make([]hit, len(set.words))
			for i := int(next.Add(1)) - 1; i < len(m.files); i = int(next.Add(1)) - 1 {
				text, buffer = readMentioner(m.files[i], buffer)
				found[i] = set.in(text, last)
			}
		})
	}
	wg.Wait()
	for i, hits := range found {
		for _, h := range hits {
			if word := set.words[h.word]; len(m.places[word]) < maxMentioned {
				m.places[word] = append(m.places[word], mentioned{i, h.line})
			}
		}
	}
	for word := range words {
		m.words[word] = true
	}
}

// hit is a line on which a word of a set stands. Of the last one it also says how many
// there are.
type hit struct{ word, line, lines int }

// wordSet finds the words of a set. Most others are told by their length and three of
// their letters.
type wordSet struct {
	words   []string
	numbers map[string]int
	may     [1 << 14]bool
}

func newWordSet(words map[string]bool) *wordSet {
	s := &wordSet{words: slices.Sorted(maps.Keys(words)), numbers: map[string]int{}}
	for i, word := range s.words {
		s.numbers[word] = i
		s.may[sketch([]byte(word))] = true
	}
	return s
}

// sketch is the same for words that differ in case only.
func sketch(word []byte) uint {
	n := len(word)
	return (uint(inLower[word[0]]) + 37*uint(inLower[word[n/2]]) + 1021*uint(inLower[word[n-1]]) + 4099*uint(n)) % (1 << 14)
}

// in returns the first lines of a text on which each word stands. last has room for each
// word.
func (s *wordSet) in(text []byte, last []hit) (hits []hit) {
	var room [maxWord]byte
	line, counted := 1, 0 // the line of the offset counted
	eachWord(text, func(at int, word []byte) {
		if !s.may[sketch(word)] {
			return
		}
		lower := room[:len(word)]
		for i, c := range word {
			lower[i] = inLower[c]
		}
		n, ok := s.numbers[string(lower)]
		if !ok {
			return
		}
		if hits == nil {
			clear(last)
		}
		if last[n].lines == maxMentioned {
			return
		}
		line += bytes.Count(text[counted:at], []byte("\n"))
		counted = at
		if last[n].lines == 0 || last[n].line != line {
			last[n] = hit{n, line, last[n].lines + 1}
			hits = append(hits, last[n])
		}
	})
	return hits
}

// eachWord calls f with each word of a text that is neither too short nor too long, and
// where it begins.
func eachWord(text []byte, f func(at int, word []byte)) {
	for i := 0; i < len(text); i++ {
		from := i
		for ; i < len(text) && inWord[text[i]]; i++ {
		}
		if n := i - from; n >= minMentioned && n <= maxWord {
			f(from, text[from:i])
		}
	}
}

// inWord are the bytes of words: letters, digits, and all that is not ASCII. inLower are
// the bytes with the letters of ASCII in lower case.
var inWord, inLower = func() (set [256]bool, lower [256]byte) {
	for c := range set {
		set[c] = c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
		lower[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			lower[c] |= 0x20
		}
	}
	return set, lower
}()
