package index

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net/url"
	"path/filepath"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// SQLite does not notice when a byte of a row changes. So each page of the file, and of
// its write-ahead log, ends with a checksum, which is compared whenever the page is read.
// SQLite leaves the last bytes of each page alone when the header says so (reserved space,
// https://sqlite.org/fileformat2.html#resbytes); here they are the checksum on the disk,
// and zeros to SQLite. The driver has checksums too, but crashes with several connections,
// and does not look at the write-ahead log.

const (
	checkedName = "ktx-checked" // of the file system, to SQLite
	pageSize    = 4096          // the default of SQLite
	sumBytes    = 4
)

var register = sync.OnceFunc(func() { vfs.Register(checkedName, checkedFS{vfs.Find("")}) })

// address names a file and the file system that checks it.
func address(path string) (string, error) {
	path, err := filepath.Abs(path)
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "vfs=" + checkedName}
	return u.String(), err
}

// checkedFS is the file system of the operating system, with checksums.
type checkedFS struct{ vfs.VFS }

// OpenFilename implements vfs.VFSFilename.
func (fs checkedFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, got, err := vfsutil.WrapOpenFilename(fs.VFS, name, flags)
	if err != nil || flags&(vfs.OPEN_MAIN_DB|vfs.OPEN_WAL) == 0 || !checking {
		return f, got, err
	}
	return &checkedFile{File: f, wal: flags&vfs.OPEN_WAL != 0}, got, nil
}

// checking is off in a benchmark, to see what it costs.
var checking = true

// checkedFile is the database, or its write-ahead log.
type checkedFile struct {
	vfs.File
	wal bool
}

// castagnoli is the polynomial that processors compute.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the checksum of a page, and the place where the page has it. In the database
// it covers the page's number too, so that a page in the place of another one is noticed.
func (f *checkedFile) sum(page []byte, offset int64) (sum uint32, place []byte) {
	number := int64(0)
	if !f.wal {
		number = 1 + offset/pageSize
	}
	text := page[:pageSize-sumBytes]
	of := crc32.Checksum(binary.LittleEndian.AppendUint64(nil, uint64(number)), castagnoli)
	return crc32.Update(of, castagnoli, text), page[pageSize-sumBytes : pageSize]
}

// whole reports whether a page is as it was written, and sets the checksum to zeros.
func (f *checkedFile) whole(page []byte, offset int64) bool {
	sum, place := f.sum(page, offset)
	ok := binary.LittleEndian.Uint32(place) == sum
	if ok {
		clear(place)
	}
	return ok
}

// The write-ahead log is a header and frames, and a frame is a header and a page
// (https://sqlite.org/fileformat2.html#walformat).
const (
	walHeader   = 32
	frameHeader = 24
	frameSize   = frameHeader + pageSize
)

// ReadAt implements io.ReaderAt.
func (f *checkedFile) ReadAt(p []byte, offset int64) (int, error) {
	if f.wal && offset == 0 && len(p) == walHeader {
		// SQLite only reads the header when it finds out what the log has, and nobody
		// else uses it.
		if err := f.checkLog(); err != nil {
			return 0, err
		}
	}
	n, err := f.File.ReadAt(p, offset)
	switch {
	case f.wal && n == frameSize:
		f.whole(p[frameHeader:], offset) // if not, SQLite's own sum is wrong too
	case f.wal && n == pageSize:
		if !f.whole(p, offset) {
			return 0, sqlite3.IOERR_DATA
		}
	case f.wal:
	case n == pageSize && offset%pageSize == 0:
		if !f.whole(p, offset) {
			return 0, sqlite3.IOERR_DATA
		}
	case n == 0 || offset+int64(len(p)) <= pageSize && n == len(p):
		// Nothing, or a part of the first page, which is read again as a whole.
	default:
		return 0, sqlite3.IOERR_DATA
	}
	return n, err
}

// errPage says that SQLite writes in another way than this file knows.
var errPage = errors.New("a page of the audit index has an unknown form")

// WriteAt implements io.WriterAt.
func (f *checkedFile) WriteAt(p []byte, offset int64) (int, error) {
	if len(p) != pageSize {
		if !f.wal || len(p) > walHeader {
			return 0, errPage
		}
		return f.File.WriteAt(p, offset) // a header
	}
	sum, place := f.sum(p, offset)
	if binary.LittleEndian.Uint32(place) != 0 {
		return 0, errPage
	}
	binary.LittleEndian.PutUint32(place, sum)
	defer clear(place) // p is the memory of SQLite
	return f.File.WriteAt(p, offset)
}

// checkLog looks at a whole write-ahead log that a process left behind. SQLite takes its
// beginning up to the first frame that is not whole, because a process can end while it
// writes one. When a frame is damaged, this would lose what was committed after it, and some
// of that may be in the database already. So any frame that belongs to the log has to be
// whole. A process that is killed in the moment between the two parts of a frame leaves one
// that is not; then the index is made anew, too.
func (f *checkedFile) checkLog() error {
	size, err := f.Size()
	if err != nil || size <= walHeader {
		return err // it has no frames
	}
	var header [walHeader]byte
	if _, err := f.File.ReadAt(header[:], 0); err != nil {
		return err
	}
	sum := walSum([2]uint32{}, header[:24])
	const magic = 0x377f0682 // with sums of little-endian numbers
	if binary.BigEndian.Uint32(header[:]) != magic || binary.BigEndian.Uint32(header[8:]) != pageSize || !hasSum(header[24:], sum) {
		return sqlite3.IOERR_DATA
	}
	salt := [2]uint32{binary.BigEndian.Uint32(header[16:]), binary.BigEndian.Uint32(header[20:])}
	frame := make([]byte, frameSize)
	ended := false
	for at := int64(walHeader); at+frameSize <= size; at += frameSize {
		if _, err := f.File.ReadAt(frame, at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		first, second := binary.BigEndian.Uint32(frame[8:]) == salt[0], binary.BigEndian.Uint32(frame[12:]) == salt[1]
		if !first && !second { // it is left of an earlier log
			ended = true
			continue
		}
		ok := first && second && !ended && f.whole(frame[frameHeader:], at)
		sum = walSum(walSum(sum, frame[:8]), frame[frameHeader:])
		if !ok || !hasSum(frame[16:], sum) {
			return sqlite3.IOERR_DATA
		}
	}
	return nil
}

// walSum continues a checksum of the write-ahead log.
func walSum(sum [2]uint32, data []byte) [2]uint32 {
	for ; len(data) >= 8; data = data[8:] {
		sum[0] += binary.LittleEndian.Uint32(data) + sum[1]
		sum[1] += binary.LittleEndian.Uint32(data[4:]) + sum[0]
	}
	return sum
}

func hasSum(at []byte, sum [2]uint32) bool {
	return binary.BigEndian.Uint32(at) == sum[0] && binary.BigEndian.Uint32(at[4:]) == sum[1]
}

// DeviceCharacteristics implements vfs.File: SQLite has to read whole pages.
func (f *checkedFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() &^ vfs.IOCAP_SUBPAGE_READ
}

// The rest hands on what the file of the operating system can do beside vfs.File. Pages in
// mapped memory would not be read through this file, so there is no vfs.FileMemoryMapper.

// Unwrap implements vfs.FileUnwrap.
func (f *checkedFile) Unwrap() vfs.File { return f.File }

// SharedMemory implements vfs.FileSharedMemory.
func (f *checkedFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }

// LockState implements vfs.FileLockState.
func (f *checkedFile) LockState() vfs.LockLevel { return vfsutil.WrapLockState(f.File) }

// PersistWAL implements vfs.FilePersistWAL.
func (f *checkedFile) PersistWAL() bool { return vfsutil.WrapPersistWAL(f.File) }

// SetPersistWAL implements vfs.FilePersistWAL.
func (f *checkedFile) SetPersistWAL(keep bool) { vfsutil.WrapSetPersistWAL(f.File, keep) }

// PowersafeOverwrite implements vfs.FilePowersafeOverwrite.
func (f *checkedFile) PowersafeOverwrite() bool { return vfsutil.WrapPowersafeOverwrite(f.File) }

// SetPowersafeOverwrite implements vfs.FilePowersafeOverwrite.
func (f *checkedFile) SetPowersafeOverwrite(safe bool) {
	vfsutil.WrapSetPowersafeOverwrite(f.File, safe)
}

// HasMoved implements vfs.FileHasMoved.
func (f *checkedFile) HasMoved() (bool, error) { return vfsutil.WrapHasMoved(f.File) }

// SizeHint implements vfs.FileSizeHint.
func (f *checkedFile) SizeHint(size int64) error { return vfsutil.WrapSizeHint(f.File, size) }
