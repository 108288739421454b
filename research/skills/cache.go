package skills

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/rootfile"
)

// The cache is one file. A file that is missing, damaged, or of other settings is not
// used.
const (
	cacheFolder  = ".ktx/skills"
	cacheFile    = cacheFolder + "/catalog.bin"
	cacheForm    = "ktx skills catalog\n"
	cacheVersion = 2
	maxCache     = 512 << 20
	// minCached is how many skills are read faster than a cache is worth.
	minCached = 50
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cached is the part of the cache before the indexes.
type cached struct {
	ID       string    `json:"id"` // of the settings
	Entries  []stored  `json:"entries"`
	Problems []Problem `json:"problems"`
	Indexes  []int     `json:"indexes"` // their sizes, by shard
}

// stored is an entry.
type stored struct {
	Source   int       `json:"i"`
	Folder   string    `json:"f"`
	Main     node      `json:"m"`
	Tree     []node    `json:"t"`
	Again    bool      `json:"a,omitempty"`
	Skill    *Skill    `json:"k,omitempty"`
	Draft    bool      `json:"d,omitempty"`
	Problems []Problem `json:"p,omitempty"`
}

// cacheID names what the cache depends on besides the files.
func (c *Catalog) cacheID() string {
	id := fmt.Appendf(nil, "%d %s %s", cacheVersion, rank.Version, c.analyzer.ID())
	for _, s := range c.sources {
		root := ""
		if s.Root != nil {
			root = s.Root.Name()
		}
		id = fmt.Appendf(id, "\n%q %q %q", s.Name, root, s.Folder)
	}
	for _, e := range c.builtins {
		if e.skill != nil {
			id = fmt.Appendf(id, "\n%s %s", e.skill.Name, e.skill.Digest())
		}
	}
	return string(id)
}

// writeCache writes the cache. A cache that cannot be written is not there.
func (c *Catalog) writeCache(s *Snapshot) {
	if c.cache == nil || len(s.skills) < minCached {
		return
	}
	if _, err := c.cache.Stat(".ktx"); err != nil {
		return
	}
	head := cached{ID: c.cacheID(), Problems: s.problems}
	for _, e := range s.entries {
		k := stored{Source: e.source, Folder: e.folder, Main: e.main, Tree: e.tree, Again: e.again, Skill: e.skill, Problems: e.problems}
		k.Draft = e.skill != nil && e.skill.draft
		head.Entries = append(head.Entries, k)
	}
	var indexes []byte
	for _, h := range s.shards {
		before := len(indexes)
		var err error
		if indexes, err = h.index.AppendBinary(indexes); err != nil {
			return
		}
		head.Indexes = append(head.Indexes, len(indexes)-before)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // heads come back byte for byte
	if err := e.Encode(head); err != nil {
		return
	}
	text := b.Bytes()
	if err := c.cache.MkdirAll(cacheFolder, 0o700); err != nil {
		return
	}
	sum := crc32.Update(crc32.Checksum(text, castagnoli), castagnoli, indexes)
	err := rootfile.Replace(c.cache, cacheFile, 0o600, func(w io.Writer) error {
		front := binary.LittleEndian.AppendUint32([]byte(cacheForm), sum)
		front = binary.LittleEndian.AppendUint32(front, uint32(len(text))) //nolint:gosec // at most maxCache is read again
		for _, part := range [][]byte{front, text, indexes} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		_ = c.cache.Remove(cacheFile)
	}
}

// readCache returns the snapshot that the cache holds, or nil.
func (c *Catalog) readCache() *Snapshot {
	if c.cache == nil {
		return nil
	}
	b, err := readFile(c.cache, cacheFile, maxCache)
	if err != nil || len(b) < len(cacheForm)+8 || string(b[:len(cacheForm)]) != cacheForm {
		return nil
	}
	b = b[len(cacheForm):]
	sum, size := binary.LittleEndian.Uint32(b), int(binary.LittleEndian.Uint32(b[4:]))
	b = b[8:]
	if crc32.Checksum(b, castagnoli) != sum || size > len(b) {
		return nil
	}
	var head cached
	if json.Unmarshal(b[:size], &head) != nil || head.ID != c.cacheID() {
		return nil
	}
	b = b[size:]
	s := &Snapshot{catalog: c, problems: head.Problems}
	for _, k := range head.Entries {
		if k.Source < 0 || k.Source >= len(c.sources) {
			return nil
		}
		if k.Skill != nil {
			k.Skill.draft = k.Draft
		}
		s.entries = append(s.entries, &entry{source: k.Source, folder: k.Folder, main: k.Main, tree: k.Tree, again: k.Again, skill: k.Skill, problems: k.Problems})
	}
	s.publish()
	s.shards = divide(s.skills)
	if len(s.shards) != len(head.Indexes) {
		return nil
	}
	for i, h := range s.shards {
		n := head.Indexes[i]
		if n < 0 || n > len(b) {
			return nil
		}
		index, err := rank.ReadIndex(c.analyzer, slices.Clip(b[:n]))
		if err != nil || index.Docs() != len(h.skills) {
			return nil
		}
		h.index, b = index, b[n:]
	}
	return s
}
