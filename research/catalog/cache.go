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
	"sync/atomic"
	"syscall"
)

// cacheVersion is the version of the format of the cache and of what is derived
// from the files. It is in the identity of snapshots.
const cacheVersion = 2

// scanFolder holds one file for each connection with a large scan. A cache is what
// the files of a scan held, with their sizes and times. One that is corrupt, or of
// other files, is not used.
const scanFolder = "catalog"

const (
	scanForm = "ktx catalog cache\n"
	// minCached is how many table files are decoded faster than a cache is worth.
	minCached = 50
	maxCache  = 1 << 30 // bytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A CacheFile is a file below .ktx/ with what can be made again from other files. A file
// that is missing, damaged or of another form is never an error: it has no body.
type CacheFile struct {
	root               *os.Root
	folder, name, form string
}

// CacheFile returns the cache file of a connection in one folder below .ktx/. A body is
// read again only with the form that it was written with.
func (s *Store) CacheFile(folder, connectionID, form string) *CacheFile {
	return &CacheFile{root: s.root, folder: ".ktx/" + folder, name: connectionID + ".bin", form: form}
}

func (f *CacheFile) path() string { return f.folder + "/" + f.name }

// Write replaces the body at once: a reader finds the old one or the new one. A body
// that cannot be written leaves none. A project without .ktx has no caches.
func (f *CacheFile) Write(body []byte) {
	if _, err := f.root.Stat(".ktx"); err != nil || !connectionIDs.MatchString(strings.TrimSuffix(f.name, ".bin")) {
		return
	}
	if err := f.write(body); err != nil {
		_ = f.root.Remove(f.path())
	}
}

// writes tells the temporary files of this process apart.
var writes atomic.Int64

func (f *CacheFile) write(body []byte) (err error) {
	if len(body) > maxCache-len(f.form)-4 {
		return errors.New("the cache is too large")
	}
	if err := f.root.MkdirAll(f.folder, 0o700); err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d.%d", f.path(), os.Getpid(), writes.Add(1))
	file, err := f.root.OpenFile(temporary, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.root.Remove(temporary)
		}
	}()
	head := binary.LittleEndian.AppendUint32([]byte(f.form), crc32.Checksum(body, castagnoli))
	_, err = file.Write(head)
	if err == nil {
		_, err = file.Write(body)
	}
	// A file that is not whole after a crash has another checksum, so it is not
	// flushed.
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return f.root.Rename(temporary, f.path())
}

// Read writes the body to into. It reports false if there is no whole body; then into
// may hold a part of something else.
func (f *CacheFile) Read(into interface {
	io.Writer
	Grow(n int)
},
) bool {
	head := make([]byte, len(f.form)+4) // the checksum of the body follows the form
	info, err := f.root.Lstat(f.path())
	if err != nil || !info.Mode().IsRegular() || info.Size() < int64(len(head)) || info.Size() > maxCache {
		return false
	}
	file, err := f.root.OpenFile(f.path(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	if _, err := io.ReadFull(file, head); err != nil || string(head[:len(f.form)]) != f.form {
		return false
	}
	size := info.Size() - int64(len(head))
	into.Grow(int(size))
	sum := crc32.New(castagnoli)
	n, err := io.Copy(io.MultiWriter(into, sum), io.LimitReader(file, size+1))
	return err == nil && n == size && sum.Sum32() == binary.LittleEndian.Uint32(head[len(f.form):])
}

// keep writes the cache of a scan if decoded says that many files were read.
func (s *Store) keep(connectionID string, in *scan, decoded int) {
	if decoded >= minCached {
		s.CacheFile(scanFolder, connectionID, scanForm).Write(encodeScan(in))
	}
}

// kept returns the scan in the cache, or nil.
func (s *Store) kept(connectionID string) *scan {
	var body strings.Builder // the strings of the scan are parts of this one text
	if !s.CacheFile(scanFolder, connectionID, scanForm).Read(&body) {
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
