package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Anchor names an event that was in the log at a point in time. An anchor kept
// outside the log directory proves later that the log still contains the event
// and all before it.
type Anchor struct {
	// Seq is 0 before the first event.
	Seq  int64 `json:"seq"`
	Hash Hash  `json:"hash"`
	// Segment is the file the event is in.
	Segment string `json:"segment"`
}

// maxAnchor bounds an anchor file.
const maxAnchor = 4 << 10

// LoadAnchor reads an anchor file: the log's own anchor.json or a copy of it.
func LoadAnchor(path string) (Anchor, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return Anchor{}, unreadAnchor(path, err)
	}
	a, err := readAnchor(root, filepath.Base(path))
	return a, errors.Join(unreadAnchor(path, err), root.Close())
}

// unreadAnchor returns an error that names the file instead of the system call
// that failed.
func unreadAnchor(path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("read anchor %s: %w", path, p.Err)
	}
	return err
}

func readAnchor(root *os.Root, name string) (Anchor, error) {
	data, err := readSmall(root, name)
	if err != nil {
		return Anchor{}, err
	}
	return parseAnchor(name, data)
}

// readSmall reads a file that is small enough to be an anchor file.
func readSmall(root *os.Root, name string) ([]byte, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxAnchor))
	return data, errors.Join(err, f.Close())
}

func parseAnchor(name string, data []byte) (Anchor, error) {
	var v struct {
		Seq     *int64  `json:"seq"`
		Hash    *Hash   `json:"hash"`
		Segment *string `json:"segment"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return Anchor{}, fmt.Errorf("read %s: %w", name, err)
	}
	if v.Seq == nil || v.Hash == nil || v.Segment == nil || *v.Seq < 0 {
		return Anchor{}, fmt.Errorf("read %s: not an anchor: seq, hash and segment are required", name)
	}
	return Anchor{Seq: *v.Seq, Hash: *v.Hash, Segment: *v.Segment}, nil
}

// readOwnAnchor reads the log's own anchor. It must be byte for byte as ktx
// writes it.
func readOwnAnchor(root *os.Root) (Anchor, error) {
	data, err := readSmall(root, anchorName)
	if err != nil {
		return Anchor{}, err
	}
	a, err := parseAnchor(anchorName, data)
	if err != nil {
		return Anchor{}, err
	}
	written, err := a.encode()
	if err != nil {
		return Anchor{}, err
	}
	if !bytes.Equal(written, data) || a.Seq == 0 && a.Hash != (Hash{}) {
		return Anchor{}, fmt.Errorf("%s does not have the form that ktx writes", anchorName)
	}
	return a, nil
}

// encode returns the content of an anchor file.
func (a Anchor) encode() ([]byte, error) {
	data, err := json.Marshal(a)
	return append(data, '\n'), err
}

// setAnchor replaces the anchor. The caller holds the lock.
func (s *store) setAnchor(a Anchor, flush bool) error {
	data, err := a.encode()
	if err != nil {
		return err
	}
	return s.replace(anchorName, data, flush)
}
