package index

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// SetSizes sets how many events make a block, and how many rows are few. It returns what
// sets them back.
func SetSizes(block, few int64) (back func()) {
	oldBlock, oldFew := blockEvents, fewRows
	blockEvents, fewRows = block, few
	return func() { blockEvents, fewRows = oldBlock, oldFew }
}

// SetChecking switches the checksums of pages. It returns what sets it back.
func SetChecking(on bool) (back func()) {
	old := checking
	checking = on
	return func() { checking = old }
}

// Link is a connection to an index.
type Link struct{ c *conn }

// Connect opens a connection to the index at path.
func Connect(path string) (Link, error) {
	c, err := connect(path, readerCache)
	return Link{c}, err
}

// Run runs a statement, to the end of its result.
func (s Link) Run(ctx context.Context, text string) error { return s.c.run(ctx, text) }

// Close closes the connection.
func (s Link) Close() error { return s.c.close() }

// The sizes of a page, and of the parts of a write-ahead log.
const (
	PageSize    = pageSize
	WALHeader   = walHeader
	FrameHeader = frameHeader
)

// Ended is the mark beside an index whose last connection has ended.
const Ended = ended

// CheckLog checks a write-ahead log.
func CheckLog(data []byte) error {
	return (&checkedFile{File: &memory{data}, wal: true}).checkLog()
}

// Flips counts the bits of a page, read from its place, whose change is not noticed.
func Flips(page []byte, number int64) (unnoticed int) {
	offset := (number - 1) * pageSize
	m := &memory{make([]byte, number*pageSize)}
	f := &checkedFile{File: m}
	if _, err := f.WriteAt(page, offset); err != nil {
		return -1
	}
	at := m.data[offset:]
	got := make([]byte, pageSize)
	for i := range 8 * pageSize {
		at[i/8] ^= 1 << (i % 8)
		if n, err := f.ReadAt(got, offset); err == nil || n != 0 {
			unnoticed++
		}
		at[i/8] ^= 1 << (i % 8)
	}
	if _, err := f.ReadAt(got, offset); err != nil || !bytes.Equal(got, page) {
		return -1
	}
	return unnoticed
}

// memory is a file in memory.
type memory struct{ data []byte }

func (m *memory) ReadAt(p []byte, at int64) (int, error) {
	n := copy(p, m.data[min(at, int64(len(m.data))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memory) WriteAt(p []byte, at int64) (int, error)       { return copy(m.data[at:], p), nil }
func (m *memory) Size() (int64, error)                          { return int64(len(m.data)), nil }
func (*memory) Close() error                                    { return nil }
func (*memory) Truncate(int64) error                            { return nil }
func (*memory) Sync(vfs.SyncFlag) error                         { return nil }
func (*memory) Lock(vfs.LockLevel) error                        { return nil }
func (*memory) Unlock(vfs.LockLevel) error                      { return nil }
func (*memory) CheckReservedLock() (bool, error)                { return false, nil }
func (*memory) SectorSize() int                                 { return pageSize }
func (*memory) DeviceCharacteristics() vfs.DeviceCharacteristic { return 0 }

// ErrDamage is the error with which SQLite hears of a page that has changed.
const ErrDamage = sqlite3.IOERR_DATA

// Remade returns what State.Remade has for a question that ends now.
func (x *Index) Remade() (at time.Time, cause error) {
	if r := x.remade.Load(); r != nil {
		return r.Time, r.Cause
	}
	return time.Time{}, nil
}

// Occupy takes all places of those who ask. It returns what gives them back.
func (x *Index) Occupy(ctx context.Context) (leave func(), err error) {
	var all []func()
	for range maxAsking {
		leave, err := x.asking.enter(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, leave)
	}
	return func() {
		for _, leave := range all {
			leave()
		}
	}, nil
}

// SetTemporary sets the folders for an index that cannot be where it should be. It returns
// what sets them back.
func SetTemporary(folders ...string) (back func()) {
	old := temporary
	temporary = func() []string { return folders }
	return func() { temporary = old }
}
