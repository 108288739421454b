package sqlcheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// Bounds of a cache.
const (
	maxCache    = 64 << 20            // bytes of its file
	maxUnused   = 30 * 24 * time.Hour // for which an entry is kept
	maxFindings = 1_000               // of a file that is kept
)

// Cache holds what the guards said of files, by the content of the file and
// all that the guard judges by. It lies in a folder of the user's: one in the
// tree that is checked could be made to say that all is well.
type Cache struct {
	file  string
	build string

	mu      sync.Mutex
	entries map[cacheKey]cacheEntry
	changed bool
	now     int64
}

type cacheKey [sha256.Size]byte

// cacheEntry is what is known of one content. It depends on nothing else than
// its key: suppressions are kept as they are written, since they end.
type cacheEntry struct {
	Used     int64 // Unix time
	Dialect  string
	Judged   int
	Refused  int
	Findings []report.Finding
	Allows   []allow
}

// OpenCache reads the cache of a folder of files under dir. A cache that was
// made by another build of ktx, or that cannot be read, is empty.
func OpenCache(dir, folder, build string, now time.Time) *Cache {
	name := sha256.Sum256([]byte(folder))
	c := &Cache{file: filepath.Join(dir, fmt.Sprintf("check-%x", name[:16])), build: build, entries: map[cacheKey]cacheEntry{}, now: now.Unix()}
	info, err := os.Stat(c.file)
	if err != nil || info.Size() > maxCache {
		return c
	}
	content, err := os.ReadFile(c.file)
	if err != nil || len(content) < sha256.Size {
		return c
	}
	// The sum tells a file that was cut off from a whole one.
	sum, body := content[:sha256.Size], content[sha256.Size:]
	if actual := sha256.Sum256(body); !bytes.Equal(sum, actual[:]) {
		return c
	}
	d := gob.NewDecoder(bytes.NewReader(body))
	var made string
	entries := map[cacheKey]cacheEntry{}
	if d.Decode(&made) != nil || made != build || d.Decode(&entries) != nil {
		return c
	}
	c.entries = entries
	return c
}

// key names a content, what it is read as and what it is judged by.
func (c *Cache) key(guard *sqlguard.Guard, kind, content string) cacheKey {
	id := guard.ID()
	h := sha256.New()
	_, _ = h.Write(id[:])
	_, _ = fmt.Fprintf(h, "%d %s %s", len(kind), kind, content)
	return cacheKey(h.Sum(nil))
}

func (c *Cache) get(key cacheKey) (cacheEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if ok && c.now-e.Used > int64(24*time.Hour/time.Second) {
		e.Used, c.changed = c.now, true
		c.entries[key] = e
	}
	return e, ok
}

func (c *Cache) put(key cacheKey, file *report.File, allows []allow) {
	if len(file.Findings) > maxFindings {
		return
	}
	e := cacheEntry{Used: c.now, Dialect: file.Dialect, Judged: file.Judged, Refused: file.Refused, Findings: append([]report.Finding{}, file.Findings...), Allows: append([]allow{}, allows...)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[key], c.changed = e, true
}

// Save writes the cache where it has changed. Whoever saves last wins.
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
	var body bytes.Buffer
	e := gob.NewEncoder(&body)
	if err := errors.Join(e.Encode(c.build), e.Encode(c.entries)); err != nil {
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
