package sqlguard

import (
	"container/list"
	"strings"
	"sync"
)

// Bounds of the verdict cache of one guard.
const (
	cacheEntries  = 4096
	cacheMaxBytes = 8 << 10 // longer texts are judged each time
)

// verdictCache is a least-recently-used cache. Its key is the whole statement, because
// an attacker could make two statements with the same hash. The zero value is empty
// and ready.
type verdictCache struct {
	mu      sync.Mutex
	entries map[string]*list.Element
	recent  list.List // of *cacheEntry, most recent first
}

type cacheEntry struct {
	sql     string
	verdict Verdict
}

func (c *verdictCache) get(sql string) (Verdict, bool) {
	if len(sql) > cacheMaxBytes {
		return Verdict{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[sql]
	if !ok {
		return Verdict{}, false
	}
	c.recent.MoveToFront(e)
	entry, ok := e.Value.(*cacheEntry)
	if !ok {
		return Verdict{}, false
	}
	return entry.verdict, true
}

func (c *verdictCache) put(sql string, v Verdict) {
	if len(sql) > cacheMaxBytes {
		return
	}
	sql = strings.Clone(sql) // the caller's text may be a slice of a large one
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = make(map[string]*list.Element)
	}
	if _, ok := c.entries[sql]; ok {
		return
	}
	c.entries[sql] = c.recent.PushFront(&cacheEntry{sql: sql, verdict: v})
	if c.recent.Len() > cacheEntries {
		oldest := c.recent.Back()
		if entry, ok := c.recent.Remove(oldest).(*cacheEntry); ok {
			delete(c.entries, entry.sql)
		}
	}
}
