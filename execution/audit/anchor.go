package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		return Anchor{}, err
	}
	a, err := readAnchor(root, filepath.Base(path))
	return a, errors.Join(err, root.Close())
}

func readAnchor(root *os.Root, name string) (Anchor, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return Anchor{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxAnchor))
	if err = errors.Join(err, f.Close()); err != nil {
		return Anchor{}, err
	}
	return parseAnchor(name, data)
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

// setAnchor replaces the anchor. The caller holds the lock.
func (s *store) setAnchor(a Anchor, flush bool) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return s.replace(anchorName, append(data, '\n'), flush)
}
