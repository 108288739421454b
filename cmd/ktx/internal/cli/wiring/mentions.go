package wiring

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/sqlcheck"
)

const (
	maxMentioned = 4       // places that are kept of a word
	maxMentioner = 4 << 20 // bytes of a file that is read for its words
	minMentioned = 3       // letters of a word that is worth a place
)

// Mentions returns what finds the places in the current folder that name a table or a
// column, such as "app/orders.py:12". Files that git ignores and migrations do not count.
// The files are read when somebody asks for the first time.
func (g *FileGuards) Mentions(ignored *sqlcheck.Ignored, profile string) func(name string) []string {
	words := sync.OnceValue(func() map[string][]string {
		inputs, err := sqlcheck.Find([]string{"."}, "")
		if err != nil {
			return nil // the check itself says what cannot be read
		}
		migrates := g.Migrations(ProfileAuto, nil)
		found := map[string][]string{}
		for _, in := range ignored.Without(inputs) {
			if _, skipped := migrates(in.Path); skipped || profile == ProfileMigration && filepath.Ext(in.Path) == ".sql" {
				continue
			}
			if info, err := os.Lstat(in.Path); err != nil || !info.Mode().IsRegular() || info.Size() > maxMentioner {
				continue
			}
			if text, err := os.ReadFile(in.Path); err == nil {
				mention(found, in.Path, text)
			}
		}
		return found
	})
	return func(name string) []string {
		name = strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "\"`[]")
		if len(name) < minMentioned {
			return nil
		}
		return words()[strings.ToLower(name)]
	}
}

// mention notes the places of the words of a text, one for each line.
func mention(found map[string][]string, path string, text []byte) {
	path = filepath.ToSlash(path)
	for n, line := range bytes.Split(text, []byte{'\n'}) {
		for word := range bytes.FieldsFuncSeq(line, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r < 0x80
		}) {
			if len(word) < minMentioned || len(word) > 128 {
				continue
			}
			key := strings.ToLower(string(word))
			places := found[key]
			place := fmt.Sprintf("%s:%d", path, n+1)
			if len(places) < maxMentioned && (len(places) == 0 || places[len(places)-1] != place) {
				found[key] = append(places, place)
			}
		}
	}
}
