package sqlcheck

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlcheck/source"
)

// identity is what the system says about a file without opening it. It is zero
// for a file that does not exist.
type identity struct {
	Device, File      uint64
	Size              int64
	Modified, Changed int64 // Unix time in nanoseconds
}

// settled reports whether a write since then would give the file another
// identity. The clock of a file system may be coarse: a file that was written
// just now can be written again in the same tick.
func (i identity) settled(since time.Time) bool {
	tick := 100 * time.Millisecond
	if i.Changed%int64(time.Second) == 0 { // perhaps it counts seconds
		tick = 2 * time.Second
	}
	return max(i.Modified, i.Changed) < since.Add(-tick).UnixNano()
}

// knownFile is what was found in a file that need not be read again while it,
// and the files on which it depends, are the same.
type knownFile struct {
	Used  int64
	At    identity
	Needs []int  // numbers of what it depends on
	Said  string // what in the file says which dialect it has
	Kind  string // as what the file was read
	Guard string // the ID of the guard, or noGuard; empty if the file has no SQL
	Key   string // of the verdict
}

// noGuard says that there was no guard for a file with SQL, because nothing says
// which dialect it has. Its length is not that of an ID.
const noGuard = "none"

// needed is a file or folder on which others depend. It depends on others itself,
// perhaps in a circle.
type needed struct {
	Path  string // absolute, with slashes
	At    identity
	Needs []int
}

// comparison tells whether what files depend on is as it was. A run asks for each
// file once.
type comparison struct {
	mu      sync.Mutex
	same    map[int]bool // numbers of what is the same, with all that it depends on
	names   map[string]map[string]bool
	changed map[int]bool
}

func newComparison() *comparison {
	return &comparison{same: map[int]bool{}, names: map[string]map[string]bool{}, changed: map[int]bool{}}
}

// unchanged reports whether what has these numbers is the same, and all that it
// depends on.
func (c *comparison) unchanged(known []needed, numbers []int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	reached := map[int]bool{}
	next := slices.Clone(numbers)
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		if c.same[n] || reached[n] {
			continue
		}
		if n < 0 || n >= len(known) || c.changed[n] {
			return false
		}
		if c.identity(known[n].Path) != known[n].At {
			c.changed[n] = true
			return false
		}
		reached[n] = true
		next = append(next, known[n].Needs...)
	}
	maps.Copy(c.same, reached)
	return true
}

// identity returns the identity of a file. Most of those that do not exist are
// told by the names in their folder, without asking for each.
func (c *comparison) identity(name string) identity {
	folder, base := path.Split(name)
	names, known := c.names[folder]
	if !known {
		if entries, err := os.ReadDir(filepath.FromSlash(folder)); err == nil {
			names = map[string]bool{}
			for _, e := range entries {
				names[strings.ToLower(e.Name())] = true // some systems do not tell case apart
			}
		} else if errors.Is(err, fs.ErrNotExist) {
			names = map[string]bool{}
		}
		c.names[folder] = names
	}
	if names != nil && !names[strings.ToLower(base)] && !strings.ContainsFunc(base, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return identity{}
	}
	return identityOf(filepath.FromSlash(name))
}

// remembers reports whether the cache may know the file without its content.
func (c *Checker) remembers(in Input) (path string, ok bool) {
	if c.Cache == nil || c.Whole || in.Stdin || in.partly || in.content != nil || c.readsTree(in.Path) || c.projects.of(filepath.Dir(in.Path)) != nil {
		return "", false
	}
	return c.absolute(in.Path)
}

// absolute returns the absolute path of a file, with slashes.
func (c *Checker) absolute(file string) (path string, ok bool) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.folder, file)
	}
	return filepath.ToSlash(filepath.Clean(file)), filepath.IsAbs(file)
}

// remember fills in the file from the cache, if neither it nor what it depends
// on has changed. It reads no file.
func (c *Checker) remember(in Input, path string, at identity, file *report.File) ([]allow, bool) {
	k, ok := c.Cache.known(path)
	if !ok || k.At != at || at == (identity{}) || k.Kind != c.reads(in) {
		return nil, false
	}
	if !c.compared.unchanged(c.Cache.needs, k.Needs) {
		return nil, false
	}
	if k.Guard == "" {
		return nil, true
	}
	guard, problem := c.Choose(in.Path, k.Said, Known{})
	if (problem != nil) != (k.Guard == noGuard) {
		return nil, false
	}
	if problem == nil {
		if id := guard.ID(); k.Guard != string(id[:]) {
			return nil, false
		}
	}
	e, ok := c.Cache.get(keyOf(k.Key))
	if !ok {
		return nil, false
	}
	if problem != nil {
		file.Findings = append([]report.Finding{}, e.Findings...)
		c.unread(file, *problem)
		return nil, true
	}
	file.Dialect = e.Dialect
	file.Judged, file.Refused, file.Findings = e.Judged, e.Refused, append([]report.Finding{}, e.Findings...)
	return e.Allows, true
}

// learn notes for the cache how a file was judged after the time since, when it
// was at.
func (c *Checker) learn(in Input, path string, at identity, since time.Time, found judged) {
	if at == (identity{}) || !at.settled(since) || identityOf(openedPath(in)) != at {
		return
	}
	c.learning.Lock()
	defer c.learning.Unlock()
	c.learned[path] = knownFile{At: at, Said: found.said, Kind: c.reads(in), Guard: found.guard, Key: found.key}
}

// openedPath returns the path of the file that is opened for an input.
func openedPath(in Input) string {
	if in.target != "" {
		return in.target
	}
	return in.Path
}

// judged says how a file was judged.
type judged struct {
	cached bool // the cache has the verdict, or the file has no SQL
	said   string
	guard  string
	key    string
}

// said returns what in a file says which dialect it has.
func (c *Checker) said(path, text string) string {
	if c.Says != nil {
		return c.Says(path, text)
	}
	return FirstLine(text)
}

// FirstLine returns the first line of a text if it can name a dialect.
func FirstLine(text string) string {
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	if strings.Contains(text, "ktx:") {
		return text
	}
	return ""
}

// reads says as what a file is read, apart from its content and its guard.
func (c *Checker) reads(in Input) string {
	if !source.Reads(in.Path) {
		return c.kind(in, nil, nil)
	}
	o := c.options(in) // the current folder bounds which other files count
	return strings.ToLower(filepath.Ext(in.Path)) + "\x00" + strings.Join(o.Sinks, "\x00") + "\x00\x00" + c.folder + "\x00" + c.migrationKind(in)
}
