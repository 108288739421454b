package semantic

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/research/rootfile"
)

// The limits of a connection's files.
const (
	maxFiles     = 20_000
	maxFileBytes = 16 << 20 // of one file; a larger one is not read
	maxAllBytes  = 256 << 20
)

// settled is how old a file must be for its size and time to say that it is the same.
// A file that was written in the same moment as it was read could have changed since.
const settled = 2 * time.Second

// A stamp is what tells without reading that a file is the same.
type stamp struct {
	name     string // relative to the connection's folder, with slashes
	size     int64
	modified time.Time
}

func sameStamps(a, b []stamp) bool {
	return slices.EqualFunc(a, b, func(x, y stamp) bool {
		return x.name == y.name && x.size == y.size && x.modified.Equal(y.modified)
	})
}

// young reports whether a file was written too short a time before now.
func young(stamps []stamp, now time.Time) bool {
	return slices.ContainsFunc(stamps, func(s stamp) bool { return now.Sub(s.modified) < settled })
}

// list returns the files of sources in a connection's folder, sorted by name: those in
// it, and those in its folder _schema.
func list(dir *os.Root) ([]stamp, error) {
	var out []stamp
	for _, name := range []string{".", schemaFolder} {
		folder, err := rootfile.OpenFolder(dir, name)
		if errors.Is(err, fs.ErrNotExist) && name != "." {
			continue
		}
		if err != nil {
			return nil, err
		}
		out, err = listFolder(out, dir, folder, name)
		_ = folder.Close()
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b stamp) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// listFolder adds the files of one folder of dir to out.
func listFolder(out []stamp, dir *os.Root, folder *rootfile.Folder, prefix string) ([]stamp, error) {
	entries, err := fs.ReadDir(folder.Root().FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !isSource(e) {
			continue
		}
		name := path.Join(prefix, e.Name())
		info, err := folder.Lstat(e.Name())
		if err == nil && info.Mode&fs.ModeSymlink != 0 {
			info, err = rootfile.Stat(dir, name)
		}
		if err != nil || info.Mode.IsDir() {
			continue // it is gone, or leads out of the project
		}
		if len(out) == maxFiles {
			return nil, errors.New("there are more than 20,000 files")
		}
		out = append(out, stamp{name: name, size: info.Size, modified: info.Modified})
	}
	return out, nil
}

// isSource reports whether an entry of a folder is a file of sources.
func isSource(e fs.DirEntry) bool {
	ext := path.Ext(e.Name())
	return (ext == ".yaml" || ext == ".yml") && !e.IsDir() && !strings.HasPrefix(e.Name(), ".")
}

// schemaFolder holds the files that a scan writes.
const schemaFolder = "_schema"

// files are the contents of a connection's files, by their names relative to its folder.
type files = map[string][]byte

// read reads the files of the stamps. A file that is too large, or cannot be read, is
// one that the model reports; the latter has nil as its content.
func read(dir *os.Root, stamps []stamp) (files, error) {
	out := files{}
	total := 0
	for _, s := range stamps {
		content, err := readFile(dir, s.name, s.size)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			content = nil
		}
		if total += len(content); total > maxAllBytes {
			return nil, errors.New("the files have more than 256 MiB")
		}
		out[s.name] = content
	}
	return out, nil
}

// readFile reads a file that was seen with a size.
func readFile(dir *os.Root, name string, size int64) (content []byte, err error) {
	f, _, err := rootfile.Open(dir, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// One byte more than allowed makes the file one that the model refuses.
	limited := io.LimitReader(f, maxFileBytes+1)
	b := bytes.NewBuffer(make([]byte, 0, min(size, maxFileBytes)+bytes.MinRead))
	_, err = b.ReadFrom(limited)
	return b.Bytes(), err
}

// open opens the folder of a connection, or returns an error that wraps
// [fs.ErrNotExist].
func open(root *os.Root, connectionID string) (*os.Root, error) {
	return root.OpenRoot(path.Join(Folder, connectionID))
}
