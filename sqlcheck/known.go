package sqlcheck

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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

// maxNeeds is the most files on which a file that is known may depend.
const maxNeeds = 10_000

// knownFile is what was found in a file that need not be read again while it,
// and the files on which it depends, are the same.
type knownFile struct {
	Used  int64
	At    identity
	Needs []int  // in the paths of the cache
	Sum   string // of what these files were
	Said  string // a first line that can name the dialect
	Kind  string // as what the file was read
	Guard string // the ID of the guard; empty if the file has no SQL
	Key   string // of the verdict
}

// identities are those of a run, in which each file is asked for once.
type identities struct {
	mu sync.Mutex
	of map[string]identity
}

func (i *identities) get(path string) identity {
	i.mu.Lock()
	at, known := i.of[path]
	i.mu.Unlock()
	if !known {
		at = identityOf(filepath.FromSlash(path))
		i.mu.Lock()
		i.of[path] = at
		i.mu.Unlock()
	}
	return at
}

// sumOf returns a sum of the identities of files.
func sumOf(n int, at func(i int) identity) string {
	h := sha256.New()
	for i := range n {
		_ = binary.Write(h, binary.LittleEndian, at(i))
	}
	return string(h.Sum(nil))
}

// remembers reports whether the cache may know the file without its content.
func (c *Checker) remembers(in Input) (path string, ok bool) {
	if c.Cache == nil || c.Whole || in.Stdin || in.partly || in.content != nil || c.readsTree(in.Path) || c.projects.of(filepath.Dir(in.Path)) != nil {
		return "", false
	}
	path, err := filepath.Abs(in.Path)
	return filepath.ToSlash(path), err == nil
}

// remember fills in the file from the cache, if neither it nor what it depends
// on has changed. It reads no file.
func (c *Checker) remember(in Input, path string, at identity, file *report.File) ([]allow, bool) {
	k, ok := c.Cache.known(path)
	if !ok || k.At != at || at == (identity{}) || k.Kind != c.reads(in) {
		return nil, false
	}
	if k.Sum != sumOf(len(k.Needs), func(i int) identity { return c.now.get(c.Cache.path(k.Needs[i])) }) {
		return nil, false
	}
	if k.Guard == "" {
		return nil, true
	}
	guard, problem := c.Choose(in.Path, k.Said, Known{})
	if problem != nil {
		return nil, false
	}
	if id := guard.ID(); k.Guard != string(id[:]) {
		return nil, false
	}
	e, ok := c.Cache.get(keyOf(k.Key))
	if !ok {
		return nil, false
	}
	file.Dialect = e.Dialect
	file.Judged, file.Refused, file.Findings = e.Judged, e.Refused, append([]report.Finding{}, e.Findings...)
	return e.Allows, true
}

// learn puts a file into the cache that was judged after the time since, when
// it was at.
func (c *Checker) learn(in Input, path string, at identity, since time.Time, found judged) {
	if at == (identity{}) || !at.settled(since) || identityOf(openedPath(in)) != at {
		return
	}
	var needs []string
	if source.Reads(in.Path) {
		needs = c.library.Needs(path)
	}
	if len(needs) > maxNeeds {
		return
	}
	were := make([]identity, len(needs))
	for i, name := range needs {
		was, seen := c.near.was(name)
		if !seen || !was.settled(since) {
			return
		}
		were[i] = was
	}
	c.Cache.learn(path, needs, knownFile{
		At: at, Sum: sumOf(len(were), func(i int) identity { return were[i] }), Said: found.said, Kind: c.reads(in), Guard: found.guard, Key: found.key,
	})
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

// firstLine returns the first line of a text if it can name a dialect.
func firstLine(text string) string {
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
	o := c.options(in)
	current, _ := os.Getwd() // it bounds which other files count
	return strings.ToLower(filepath.Ext(in.Path)) + "\x00" + strings.Join(o.Sinks, "\x00") + "\x00\x00" + current
}
