// Package wire is the protocol between ktx and the process that runs DuckDB.
//
// Both sides write frames to pipes: one byte of [Kind], four bytes with the length of the
// payload, and the payload. A statement is answered with at most one [Columns] frame, any
// number of [Rows] frames, at most one [Cut] frame, and one [Done] or [Failed] frame. A
// reader names the longest payload that it takes, and trusts no length before it has read
// that many bytes.
package wire

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ktxhq/ktx/execution"
)

// Argument is the first argument of ktx that makes it run the engine.
const Argument = "duckdb-engine"

// Kind says what a frame contains.
type Kind byte

// The kinds of frames.
const (
	Setup   Kind = 'S' // to the engine, first: [Settings]
	Query   Kind = 'Q' // to the engine: [Statement]
	Ready   Kind = 'R' // from the engine, after Setup: [Greeting]
	Columns Kind = 'C' // from the engine: [Header]
	Rows    Kind = 'D' // from the engine: whole rows; see [AppendCell]
	Cut     Kind = 'X' // from the engine: [Excess]
	Done    Kind = 'Z' // from the engine: no payload
	Failed  Kind = 'E' // from the engine: [Failure]
)

// MaxControl is the longest payload of every frame except [Rows].
const MaxControl = 8 << 20

// Settings say which database the engine opens, and within which limits.
type Settings struct {
	// Name is the name under which statements may name the database.
	Name string `json:"name"`
	// Database is the absolute path of a database file. Otherwise Tables are the tables.
	Database string  `json:"database,omitempty"`
	Tables   []Table `json:"tables,omitempty"`
	// Readable are patterns of files, and further files, that a statement may name.
	Readable []string `json:"readable,omitempty"`
	// Temp is an empty folder for temporary files, which may take TempBytes.
	Temp      string        `json:"temp"`
	TempBytes int64         `json:"tempBytes"`
	Memory    int64         `json:"memory"` // bytes
	Threads   int           `json:"threads"`
	Idle      time.Duration `json:"idle"` // the engine ends itself when it gets no statement for so long
}

// Table is a table made of files, or a database file whose tables are those of a schema.
type Table struct {
	Schema string   `json:"schema"`
	Name   string   `json:"name,omitempty"` // empty for a database file
	Format Format   `json:"format"`
	Files  []string `json:"files"` // absolute paths
}

// Format is the format of a file.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	JSON    Format = "json"
	Parquet Format = "parquet"
	DuckDB  Format = "duckdb"
)

// Greeting says that the engine is ready.
type Greeting struct {
	Version string `json:"version"`
}

// Statement is one statement to run.
type Statement struct {
	SQL string `json:"sql"`
	// Any permits every kind of statement. It is set only for statements of ktx's own,
	// to try whether the session refuses them.
	Any    bool             `json:"any,omitempty"`
	Limits execution.Limits `json:"limits"`
}

// Header describes the columns of an answer.
type Header struct {
	Columns []Column `json:"columns"` // within the limit
	Wide    int      `json:"wide"`    // how many there are
}

// Column is one column.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Excess says which limit ended the rows early.
type Excess struct {
	By execution.TruncatedBy `json:"by"` // rows, bytes or cell
	// Column and Size are those of the value that is too long.
	Column int   `json:"column,omitempty"`
	Size   int64 `json:"size,omitempty"`
}

// Failure is an error of the engine.
type Failure struct {
	// Type is the engine's name for the kind of error, such as Binder. It is one of the
	// Type constants for an error of ktx's own.
	Type    string `json:"type"`
	Message string `json:"message"`
	// Position is the byte offset into the statement plus one; 0 when unknown.
	Position int `json:"position,omitempty"`
}

// The types of failures of ktx's own.
const (
	TypeNoEngine = "ktx no engine" // this build has no DuckDB
	TypeSession  = "ktx session"   // the session is not as it was set up
	TypeRefused  = "ktx refused"   // the statement is not one read
)

// Conn is one end of the pipes. One goroutine at a time may write, and one may read.
type Conn struct {
	r *bufio.Reader
	w io.Writer
	b []byte
}

// New returns a Conn that reads from r and writes to w.
func New(r io.Reader, w io.Writer) *Conn { return &Conn{r: bufio.NewReaderSize(r, 64<<10), w: w} }

// Write writes a frame of any kind except [Query] with v as JSON, or without a payload when v
// is nil.
func (c *Conn) Write(kind Kind, v any) error {
	if kind == Query {
		return errors.New("write a statement with SendStatement")
	}
	return c.encode(kind, v)
}

// SendStatement writes a statement.
func (c *Conn) SendStatement(s Statement) error { return c.encode(Query, s) }

func (c *Conn) encode(kind Kind, v any) error {
	var payload []byte
	if v != nil {
		var err error
		if payload, err = json.Marshal(v); err != nil {
			return fmt.Errorf("encode %c: %w", kind, err)
		}
	}
	return c.WriteRaw(kind, payload)
}

// WriteRaw writes a frame.
func (c *Conn) WriteRaw(kind Kind, payload []byte) error {
	if len(payload) > MaxControl && kind != Rows {
		return fmt.Errorf("%w: %d bytes of %c", ErrTooLong, len(payload), kind)
	}
	c.b = append(c.b[:0], byte(kind))
	c.b = binary.BigEndian.AppendUint32(c.b, uint32(len(payload))) //nolint:gosec // the engine's rows are within the limits of a call
	c.b = append(c.b, payload...)
	_, err := c.w.Write(c.b)
	if cap(c.b) > 1<<20 {
		c.b = nil
	}
	return err
}

// ErrTooLong says that a frame is longer than permitted.
var ErrTooLong = errors.New("a frame is too long")

// piece bounds how much Read allocates ahead of what has arrived.
const piece = 1 << 20

// Read reads a frame. Its payload has at most limit bytes and is valid until the next Read.
func (c *Conn) Read(limit int64) (Kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[1:]))
	if n > limit {
		return 0, nil, fmt.Errorf("%w: %d bytes, more than %d", ErrTooLong, n, limit)
	}
	payload := make([]byte, 0, min(n, piece))
	for int64(len(payload)) < n {
		from := len(payload)
		next := min(n-int64(from), piece)
		payload = append(payload, make([]byte, next)...)
		if _, err := io.ReadFull(c.r, payload[from:]); err != nil {
			return 0, nil, err
		}
	}
	return Kind(head[0]), payload, nil
}

// AppendCell appends a value of a row to the payload of a [Rows] frame: its length plus one
// as a varint, and its bytes. NULL is the length 0.
func AppendCell(b, value []byte, null bool) []byte {
	if null {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(value))+1)
	return append(b, value...)
}

// ErrMalformed says that a payload is not of its form.
var ErrMalformed = errors.New("a frame is malformed")

// NextRow reads one row into cells, nil for NULL, and returns the rest of the payload. The
// cells are parts of the payload.
func NextRow(payload []byte, cells [][]byte) ([]byte, error) {
	for i := range cells {
		n, used := binary.Uvarint(payload)
		if used <= 0 {
			return nil, ErrMalformed
		}
		payload = payload[used:]
		if n == 0 {
			cells[i] = nil
			continue
		}
		if n-1 > uint64(len(payload)) {
			return nil, ErrMalformed
		}
		cells[i] = payload[: n-1 : n-1]
		payload = payload[n-1:]
	}
	return payload, nil
}
