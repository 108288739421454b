package pgdb

import (
	"errors"
	"io"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution"
)

// Bounds that the tests use.
const (
	MaxTextBody    = maxTextBody
	MaxMessageBody = maxMessageBody
)

// ErrFrame is the error for bytes that do not follow the protocol.
var ErrFrame = errFrame

// Frames is a frameReader with its limits set.
type Frames struct{ f *frameReader }

// NewFrames returns a reader of a server's messages.
func NewFrames(r io.Reader, cellBytes, rowBytes int64, columns int) *Frames {
	f := newFrameReader(r)
	f.limit(cellBytes, rowBytes, columns)
	return &Frames{f}
}

// Read reads from the server's messages.
func (f *Frames) Read(p []byte) (int, error) { return f.f.Read(p) }

// Cut returns the column and size of the cell that ended the rows.
func (f *Frames) Cut() (column int, size int64, ok bool) {
	if c := f.f.takeCut(); c != nil {
		return c.column, c.size, true
	}
	return 0, 0, false
}

// Held returns how many bytes the reader has buffered.
func (f *Frames) Held() int {
	return cap(f.f.buf) + cap(f.f.out) + cap(f.f.row.kept)
}

// Idle returns how many connections are idle.
func (d *DB) Idle() int {
	_, idle := d.pool.Count()
	return idle
}

// Open returns how many connections there are.
func (d *DB) Open() int {
	open, _ := d.pool.Count()
	return open
}

// Sealed returns how many idle connections have a seal.
func (d *DB) Sealed() (n int) {
	for l := d.pool.Idle(); l != nil; l = d.pool.Idle() {
		defer d.pool.Release(l)
		if l.Conn.seal != nil {
			n++
		}
	}
	return n
}

// Disturb runs a statement in the session of an idle connection, outside of a
// transaction.
func (d *DB) Disturb(sql string) error {
	l := d.pool.Idle()
	if l == nil {
		return errors.New("no connection is idle")
	}
	defer d.pool.Release(l)
	if err := l.Conn.settle(); err != nil {
		return err
	}
	_, err := l.Conn.question(sql)
	return err
}

// Unit returns a time limit as the server shows it.
var Unit = unit

// Pooled reports whether an idle connection has detected a pooler.
func (d *DB) Pooled() bool {
	for l := d.pool.Idle(); l != nil; l = d.pool.Idle() {
		defer d.pool.Release(l)
		if l.Conn.pooled {
			return true
		}
	}
	return false
}

// Reported returns the weakness that the URL leaves in transport security.
func (d *DB) Reported() string { return d.tls }

// LimitCatalog bounds the queries about objects. Call it before the first
// query.
func (d *DB) LimitCatalog(bytes, cell int64, rows int) {
	d.catalog.limits.Bytes, d.catalog.limits.CellBytes, d.catalog.limits.Rows = bytes, cell, rows
}

// Render returns a result of one row with these types and texts.
func Render(lim execution.Limits, oids []uint32, cells [][]byte) (*execution.Result, error) {
	s := newRowSet(lim.WithDefaults())
	var d pgproto3.RowDescription
	for _, oid := range oids {
		d.Fields = append(d.Fields, pgproto3.FieldDescription{Name: []byte("c"), DataTypeOID: oid})
	}
	s.describe(&d)
	err := s.add(cells, nil)
	return s.Result(), err
}

// TreeRuns reads an expression as the server stores it and returns the OIDs of
// the functions that the planner may run for a read. inlined lists the known
// functions and whether the server may inline them. operators maps operators to
// the functions that they run.
func TreeRuns(text string, inlined map[string]bool, operators map[string]string) ([]string, error) {
	n, err := readTree(text)
	if err != nil {
		return nil, err
	}
	l := newObjectLoader()
	l.operators = operators
	for oid, sql := range inlined {
		l.routines[oid] = routine{inlined: sql}
	}
	u := uses{l: l, runs: map[string]bool{}, makes: map[string]bool{}}
	u.plan(n)
	u.predicate(n)
	return sortedKeys(u.runs), nil
}
