package catalog

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
)

// cacheVersion is the version of the format of the cache and of what is derived
// from the files. It is in the identity of snapshots.
const cacheVersion = 2

// cacheFolder holds one file for each connection with a large scan. A cache is what
// the files of a scan held, with their sizes and times. One that is corrupt, or of
// other files, is not used.
const cacheFolder = ".ktx/catalog"

const (
	cacheMagic = "ktx catalog cache\n"
	cacheHead  = len(cacheMagic) + 4 // the checksum of the body follows the magic
	// minCached is how many table files are decoded faster than a cache is worth.
	minCached = 200
	maxCache  = 1 << 30 // bytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func cacheFile(connectionID string) string { return cacheFolder + "/" + connectionID + ".bin" }

// keep writes the cache of a scan if decoded says that many files were read. A
// cache that cannot be written is none.
func (s *Store) keep(connectionID string, in *scan, decoded int) {
	if decoded < minCached {
		return
	}
	if _, err := s.root.Stat(".ktx"); err != nil {
		return
	}
	if err := s.writeCache(connectionID, encodeScan(in)); err != nil {
		_ = s.root.Remove(cacheFile(connectionID))
	}
}

func (s *Store) writeCache(connectionID string, body []byte) (err error) {
	if len(body) > maxCache {
		return errors.New("the cache is too large")
	}
	if err := s.root.MkdirAll(cacheFolder, 0o700); err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d", cacheFile(connectionID), os.Getpid())
	f, err := s.root.OpenFile(temporary, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = s.root.Remove(temporary)
		}
	}()
	head := binary.LittleEndian.AppendUint32([]byte(cacheMagic), crc32.Checksum(body, castagnoli))
	_, err = f.Write(head)
	if err == nil {
		_, err = f.Write(body)
	}
	// A file that is not whole after a crash has another checksum, so it is not
	// flushed.
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return s.root.Rename(temporary, cacheFile(connectionID))
}

// kept returns the scan in the cache, or nil.
func (s *Store) kept(connectionID string) *scan {
	info, err := s.root.Lstat(cacheFile(connectionID))
	if err != nil || !info.Mode().IsRegular() || info.Size() < int64(cacheHead) || info.Size() > maxCache {
		return nil
	}
	f, err := s.root.Open(cacheFile(connectionID))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, cacheHead)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:len(cacheMagic)]) != cacheMagic {
		return nil
	}
	// The strings of the scan are parts of this one text.
	var body strings.Builder
	body.Grow(int(info.Size()) - cacheHead)
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(io.MultiWriter(&body, sum), io.LimitReader(f, maxCache)); err != nil || sum.Sum32() != binary.LittleEndian.Uint32(head[len(cacheMagic):]) {
		return nil
	}
	in, err := decodeScan(body.String())
	if err != nil {
		return nil
	}
	return in
}

// cacheMeta is the part of a cache that is small.
type cacheMeta struct {
	Version   int
	SyncID    string
	Over      bool
	Driver    string
	Extracted string
	Profile   *ProfileInfo
	Relations []Relationship
	Faults    [len(extraFiles)]string
}

// encodeScan returns the body of a cache.
func encodeScan(in *scan) []byte {
	meta, err := json.Marshal(cacheMeta{
		Version: cacheVersion, SyncID: in.report.syncID, Over: in.over, Driver: in.head.Driver, Extracted: in.head.ExtractedAt,
		Profile: in.profile, Relations: in.relations, Faults: in.faults,
	})
	if err != nil { // a number that JSON lacks; then there is no cache
		return nil
	}
	e := &encoder{shared: map[string]uint64{}}
	e.text(string(meta))
	for _, src := range in.extras {
		e.source(src)
	}
	e.count(len(in.tables))
	for i, t := range in.tables {
		e.text(in.names[i])
		e.source(t.source)
		e.text(t.fault)
		e.flag(t.table != nil)
		if t.table != nil {
			e.table(t.table)
		}
	}
	return e.b
}

// decodeScan reads the body of a cache. Any text gives a scan or an error.
func decodeScan(body string) (*scan, error) {
	d := &decoder{rest: body}
	var meta cacheMeta
	if err := json.Unmarshal([]byte(d.text()), &meta); err != nil {
		return nil, err
	}
	if meta.Version != cacheVersion {
		return nil, errors.New("the cache is of another version")
	}
	in := &scan{over: meta.Over, profile: meta.Profile, relations: meta.Relations, faults: meta.Faults}
	in.report.syncID, in.head.Driver, in.head.ExtractedAt = meta.SyncID, meta.Driver, meta.Extracted
	for i := range in.extras {
		in.extras[i] = d.source()
	}
	n := d.count(40)
	in.names, in.tables = make([]string, n), make([]*tableInfo, n)
	for i := range n {
		in.names[i] = d.text()
		in.tables[i] = &tableInfo{source: d.source(), fault: d.text()}
		if d.flag() {
			in.tables[i].table = d.table()
		}
	}
	if d.failed || d.rest != "" {
		return nil, errors.New("the cache is damaged")
	}
	return in, nil
}
