package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/rootfile"
)

// Folder is the folder of a connection's manifest, below the folder of the project.
func Folder(connection string) string { return path.Join("semantic-layer", connection, "_schema") }

// maxShard bounds a file that is compared, in bytes.
const maxShard = 64 << 20

// Write makes the folder have just these files of ktx. Replace writes one file whole or
// not at all. A file that has the content already is left as it is.
func Write(root *os.Root, connection string, shards []Shard, replace func(name string, content []byte) error) error {
	folder := Folder(connection)
	if err := root.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	var keep []string
	for _, s := range shards {
		name := path.Join(folder, s.Name)
		keep = append(keep, s.Name)
		old, err := read(root, name, maxShard)
		switch {
		case err == nil && bytes.Equal(old, s.Content):
			continue
		case err == nil && !bytes.HasPrefix(old, []byte(Header)):
			return fmt.Errorf("write the manifest: %s was not written by ktx scan; move it out of %s", name, folder)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("write the manifest: %w", err)
		}
		if err := replace(name, s.Content); err != nil {
			return err
		}
	}
	entries, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if slices.Contains(keep, e.Name()) || !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".yaml") {
			continue
		}
		if start, err := read(root, name, int64(len(Header))); err != nil || string(start) != Header {
			continue // not ours
		}
		if err := root.Remove(name); err != nil {
			return fmt.Errorf("write the manifest: %w", err)
		}
	}
	return nil
}

// read returns at most limit bytes of a file.
func read(root *os.Root, name string, limit int64) (b []byte, err error) {
	f, _, err := rootfile.Open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, limit))
}
