package sqlcheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// The limits of a cache.
const (
	maxCache    = 64 << 20            // bytes of its file
	maxUnused   = 30 * 24 * time.Hour // an entry that was not used for this time is dropped
	maxFindings = 1_000               // in a file; a file with more is not cached
)

// Cache holds verdicts on files, by the content of the file and everything else
// that a verdict depends on. It lies in a folder of the user, not in the tree
// that is checked: the author of the tree could otherwise put false verdicts
// into it.
type Cache struct {
	file  string
	build string

	mu      sync.Mutex
	entries map[cacheKey]cacheEntry
	files   map[string]knownFile // by absolute path, with slashes
	needs   []needed
	changed bool
	now     int64
}

type cacheKey [sha256.Size]byte

// cacheEntry is the verdict on one content. It depends on its key and nothing
// else. Suppressions are stored as written, because whether they have ended
// depends on the day.
type cacheEntry struct {
	Used     int64 // Unix time
	Dialect  string
	Judged   int
	Refused  int
	Findings []report.Finding
	Allows   []allow
}

// OpenCache reads the cache below dir for the files in folder. The cache is
// empty if another build of ktx wrote it or if it cannot be read.
func OpenCache(dir, folder, build string, now time.Time) *Cache {
	name := sha256.Sum256([]byte(folder))
	c := &Cache{file: filepath.Join(dir, fmt.Sprintf("check-%x", name[:16])), build: build, entries: map[cacheKey]cacheEntry{}, files: map[string]knownFile{}, now: now.Unix()}
	info, err := os.Stat(c.file)
	if err != nil || info.Size() > maxCache {
		return c
	}
	content, err := os.ReadFile(c.file)
	if err != nil || len(content) < sha256.Size {
		return c
	}
	// The sum detects a file that was cut off.
	sum, body := content[:sha256.Size], content[sha256.Size:]
	if actual := sha256.Sum256(body); !bytes.Equal(sum, actual[:]) {
		return c
	}
	d := gob.NewDecoder(bytes.NewReader(body))
	var made string
	entries := map[cacheKey]cacheEntry{}
	files := map[string]knownFile{}
	var needs []needed
	if d.Decode(&made) != nil || made != build || d.Decode(&entries) != nil || d.Decode(&needs) != nil || d.Decode(&files) != nil {
		return c
	}
	c.entries, c.files, c.needs = entries, files, needs
	return c
}

// key identifies a content together with how it is read and the guard that
// judges it.
func (c *Cache) key(guard *sqlguard.Guard, kind, content string) cacheKey {
	id := guard.ID()
	h := sha256.New()
	_, _ = h.Write(id[:])
	_, _ = fmt.Fprintf(h, "%d %s %s", len(kind), kind, content)
	return cacheKey(h.Sum(nil))
}

// unread identifies a content that no guard judged.
func (c *Cache) unread(content string) cacheKey {
	return sha256.Sum256([]byte("unread " + content))
}

// keyOf returns the key with those bytes.
func keyOf(text string) (key cacheKey) {
	copy(key[:], text)
	return key
}

// aged reports whether an entry has to be marked as used now: once a day is enough.
func (c *Cache) aged(used int64) bool { return c.now-used > int64(24*time.Hour/time.Second) }

func (c *Cache) get(key cacheKey) (cacheEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if ok && c.aged(e.Used) {
		e.Used, c.changed = c.now, true
		c.entries[key] = e
	}
	return e, ok
}

// put stores the verdict on a file with that text, and reports whether it did.
func (c *Cache) put(key cacheKey, file *report.File, text string, allows []allow) bool {
	if len(file.Findings) > maxFindings {
		return false
	}
	e := cacheEntry{Used: c.now, Dialect: file.Dialect, Judged: file.Judged, Refused: file.Refused, Findings: append([]report.Finding{}, file.Findings...), Allows: append([]allow{}, allows...)}
	for i := range e.Findings {
		e.Findings[i].Quote(text)
	}
	for i := range e.Allows {
		f := report.Finding{Finding: sqlguard.Finding{Span: e.Allows[i].Span}}
		f.Quote(text)
		e.Allows[i].Quoted = f.Quoted
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[key], c.changed = e, true
	return true
}

// known returns what the cache has of a file.
func (c *Cache) known(path string) (knownFile, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.files[path]
	if ok && c.aged(k.Used) {
		k.Used, c.changed = c.now, true
		c.files[path] = k
	}
	return k, ok
}

// learn stores what a run found out about files, and on what they depend: uses
// has the files and folders that a file or folder needs, and was tells what each
// of them was when the run read it. unchanged are the numbers of those that the
// run found as they had been before.
func (c *Cache) learn(files map[string]knownFile, uses map[string][]string, was func(path string) (at identity, settled bool), unchanged map[int]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, users := map[string]identity{}, map[string][]string{}
	var unsettled []string
	for path, others := range uses {
		for _, other := range others {
			if users[other] == nil {
				now, settled := was(other)
				if at[other] = now; !settled {
					unsettled = append(unsettled, other)
				}
			}
			users[other] = append(users[other], path)
		}
	}
	lost := map[string]bool{}
	for len(unsettled) > 0 {
		path := unsettled[len(unsettled)-1]
		unsettled = unsettled[:len(unsettled)-1]
		if !lost[path] {
			lost[path] = true
			unsettled = append(unsettled, users[path]...)
		}
	}
	numbers := map[string]int{}
	for n := range unchanged {
		if need := c.needs[n]; need.At == at[need.Path] {
			numbers[need.Path] = n
		}
	}
	for path, now := range at {
		if _, have := numbers[path]; !have && !lost[path] {
			numbers[path] = len(c.needs)
			c.needs = append(c.needs, needed{Path: path, At: now})
		}
	}
	numbered := func(path string, needs []int) []int {
		for _, other := range uses[path] {
			needs = append(needs, numbers[other])
		}
		slices.Sort(needs)
		return slices.Compact(needs)
	}
	for path, n := range numbers {
		if !lost[path] {
			c.needs[n].Needs = numbered(path, c.needs[n].Needs)
		}
	}
	for path, k := range files {
		if !lost[path] {
			k.Used, k.Needs = c.now, numbered(path, nil)
			c.files[path], c.changed = k, true
		}
	}
}

// drop removes what no file depends on any more.
func (c *Cache) drop() {
	kept := map[int]int{}
	var needs []needed
	keep := func(numbers []int) {
		for i, n := range numbers {
			to, have := kept[n]
			if !have {
				to = len(needs)
				kept[n] = to
				needs = append(needs, c.needs[n])
			}
			numbers[i] = to
		}
	}
	for _, k := range c.files {
		keep(k.Needs)
	}
	for i := 0; i < len(needs); i++ {
		keep(needs[i].Needs)
	}
	c.needs = needs
}

// Save writes the cache if it has changed. If two processes save it, the last
// one wins.
func (c *Cache) Save() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed {
		return nil
	}
	for key, e := range c.entries {
		if c.now-e.Used > int64(maxUnused/time.Second) {
			delete(c.entries, key)
		}
	}
	for path, k := range c.files {
		if _, ok := c.entries[keyOf(k.Key)]; k.Key != "" && !ok || c.now-k.Used > int64(maxUnused/time.Second) {
			delete(c.files, path)
		}
	}
	c.drop()
	var body bytes.Buffer
	e := gob.NewEncoder(&body)
	if err := errors.Join(e.Encode(c.build), e.Encode(c.entries), e.Encode(c.needs), e.Encode(c.files)); err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	if body.Len() > maxCache-sha256.Size {
		return nil // it would not be read
	}
	dir := filepath.Dir(c.file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	f, err := os.CreateTemp(dir, ".check-*")
	if err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	sum := sha256.Sum256(body.Bytes())
	_, first := f.Write(sum[:])
	_, second := f.Write(body.Bytes())
	if err := errors.Join(first, second, f.Close()); err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	if err := os.Rename(f.Name(), c.file); err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	return nil
}
