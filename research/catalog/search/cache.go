package search

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/rank"
)

const (
	// cacheForm begins the file of a stored index.
	cacheForm = "ktx search index\n"
	// cacheVersion changes when equal tables become another index than before.
	cacheVersion = 1
	// minCached is how many columns are read into an index faster than a cache is worth.
	minCached = 1_000
)

// Cache returns the file that keeps the index of a connection for the next process.
func Cache(store *catalog.Store, connectionID string) *catalog.CacheFile {
	return store.CacheFile("search", connectionID, cacheForm)
}

// Open returns what [Build] returns. It takes the index from the cache if it was made of
// the same input, and otherwise builds it and, if it is large, writes it to the cache.
// identity is equal only for equal tables and relationships, as
// [catalog.Snapshot.Identity] is. A cache that is missing, damaged or of something else
// only costs time.
func Open(a *rank.Analyzer, in Input, identity string, cache *catalog.CacheFile) *Index {
	x := outline(in)
	if x.Columns() < minCached {
		x.build(a)
		return x
	}
	key := cacheKey(a, in.Connection, identity)
	if !x.load(a, key, cache) {
		x.build(a)
		if body, ok := x.encode(key); ok {
			cache.Write(body)
		}
	}
	return x
}

// cacheKey returns a text that is equal only for indexes that are equal.
func cacheKey(a *rank.Analyzer, c Connection, identity string) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q %q %q %+v", cacheVersion, rank.Version, a.ID(), identity, c, chosen))
	return sum[:]
}

// encode returns what is stored of an index: the key, and each part after its length.
func (x *Index) encode(key []byte) ([]byte, bool) {
	parts := [...]*rank.Index{x.table, x.column, x.place}
	size := len(key)
	for _, part := range parts {
		size += 8 + part.BinarySize()
	}
	b := append(make([]byte, 0, size), key...)
	for _, part := range parts {
		at := len(b)
		b = append(b, make([]byte, 8)...)
		var err error
		if b, err = part.AppendBinary(b); err != nil {
			return nil, false
		}
		binary.LittleEndian.PutUint64(b[at:], uint64(len(b)-at-8)) //nolint:gosec // a length
	}
	return b, true
}

// load takes the parts of the index from the cache. It reports false if they are not
// there.
func (x *Index) load(a *rank.Analyzer, key []byte, cache *catalog.CacheFile) bool {
	var file bytes.Buffer
	if !cache.Read(&file) {
		return false
	}
	rest, ok := bytes.CutPrefix(file.Bytes(), key)
	if !ok {
		return false
	}
	parts := [...]struct {
		into   **rank.Index
		docs   int
		fields int
	}{{&x.table, len(x.tables), len(matchedOn)}, {&x.column, len(x.owners), len(matchedOn)}, {&x.place, x.schemas, 1}}
	var wait sync.WaitGroup
	for _, part := range parts {
		if len(rest) < 8 {
			ok = false
			break
		}
		size := binary.LittleEndian.Uint64(rest)
		if rest = rest[8:]; size > uint64(len(rest)) {
			ok = false
			break
		}
		body := rest[:size]
		rest = rest[size:]
		wait.Go(func() {
			read, err := rank.ReadIndex(a, body)
			if err == nil && read.Docs() == part.docs && len(read.Fields()) == part.fields {
				*part.into = read
			}
		})
	}
	wait.Wait()
	return ok && len(rest) == 0 && x.table != nil && x.column != nil && x.place != nil
}
