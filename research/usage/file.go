package usage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/ktxhq/ktx/research/catalog"
)

// JoinEvidence is the number of statements that must have joined two columns
// before the pair is a candidate for a relationship.
const JoinEvidence = 5

// maxFile bounds the artifact, in bytes.
const maxFile = 64 << 20

// File is the artifact of one connection. Its lists are sorted by name.
type File struct {
	ConnectionID string `json:"connectionId"`
	BuiltAt      string `json:"builtAt"` // RFC 3339, UTC
	// From and To are the times of the first and the last statement; "" without
	// statements.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Statements counts the accepted statements that were read. Unread counts
	// accepted statements whose normal form could not be parsed again.
	Statements int64    `json:"statements"`
	Unread     int64    `json:"unread"`
	Tables     []Table  `json:"tables"`
	Columns    []Column `json:"columns"`
	Joins      []Join   `json:"joins"`
}

// Table counts the statements that read a table.
type Table struct {
	Table      catalog.Ref `json:"table"`
	Statements int64       `json:"statements"`
	LastUsed   string      `json:"lastUsed"` // RFC 3339, UTC
}

// Column counts the statements that named a column.
type Column struct {
	Table      catalog.Ref `json:"table"`
	Column     string      `json:"column"`
	Statements int64       `json:"statements"`
	LastUsed   string      `json:"lastUsed"`
}

// Join counts the statements that compared two columns of two tables with "=".
// The lesser end by name is From.
type Join struct {
	From       End   `json:"from"`
	To         End   `json:"to"`
	Statements int64 `json:"statements"`
}

// End is one column of a [Join].
type End struct {
	Table  catalog.Ref `json:"table"`
	Column string      `json:"column"`
}

// Path returns the path of the artifact of a connection, with slashes, relative
// to the project.
func Path(connectionID string) string {
	return path.Join("raw-sources", connectionID, "usage", "usage.json")
}

// Read reads the artifact of a connection. When there is none, the error is
// [fs.ErrNotExist].
func Read(root *os.Root, connectionID string) (*File, error) {
	text, err := load(root, connectionID)
	if err != nil {
		return nil, err
	}
	return decode(text, connectionID)
}

// load reads the bytes of the artifact.
func load(root *os.Root, connectionID string) ([]byte, error) {
	info, err := root.Stat(Path(connectionID))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // to open a pipe would wait for a writer
		return nil, fmt.Errorf("read %s: it is not a regular file", Path(connectionID))
	}
	f, err := root.Open(Path(connectionID))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", Path(connectionID), err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("read %s: it is larger than %d MiB", Path(connectionID), maxFile>>20)
	}
	return text, nil
}

// decode reads an artifact, which may come from another tool or another hand.
func decode(text []byte, connectionID string) (*File, error) {
	var out File
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read %s: %w", Path(connectionID), err)
	}
	if out.ConnectionID != connectionID {
		return nil, fmt.Errorf("read %s: it is of the connection %q", Path(connectionID), out.ConnectionID)
	}
	for _, t := range out.Tables {
		if !counted(t.Statements) || !stamp(t.LastUsed) {
			return nil, fmt.Errorf("read %s: table %q has a count or a time that is not valid", Path(connectionID), t.Table.Name)
		}
	}
	for _, c := range out.Columns {
		if !counted(c.Statements) || !stamp(c.LastUsed) {
			return nil, fmt.Errorf("read %s: column %q has a count or a time that is not valid", Path(connectionID), c.Column)
		}
	}
	for _, j := range out.Joins {
		if !counted(j.Statements) {
			return nil, fmt.Errorf("read %s: a join has the count %d", Path(connectionID), j.Statements)
		}
	}
	return &out, nil
}

// counted reports whether n can be a count. A larger one would lose digits in JSON.
func counted(n int64) bool { return n >= 0 && n < 1<<53 }

func stamp(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

// Encode returns the bytes of the artifact. Equal files have equal bytes.
func (f *File) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("encode usage: %w", err)
	}
	return b.Bytes(), nil
}

// Missing reports whether err says that the connection has no artifact.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
