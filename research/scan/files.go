package scan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// The folders and files of a scan, below the folder of the project.
const (
	rawFolder   = "raw-sources"
	liveFolder  = "live-database"
	stateFolder = ".ktx/scan"
	reportFile  = "scan-report.json"
)

// syncFolder is the folder of the artifacts of a scan.
func syncFolder(connection, sync string) string {
	return path.Join(rawFolder, connection, liveFolder, sync)
}

// writeJSON writes a value as an indented JSON file.
func writeJSON(root *os.Root, name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return writeFile(root, name, b.Bytes())
}

// writeFile writes a file whole or not at all: it writes a temporary file beside it,
// flushes that, and renames it.
func writeFile(root *os.Root, name string, content []byte) error {
	temporary := path.Join(path.Dir(name), ".ktx-"+path.Base(name)+".tmp")
	if err := writeSynced(root, temporary, content); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), ignoreMissing(root.Remove(temporary)))
	}
	if err := root.Rename(temporary, name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func writeSynced(root *os.Root, name string, content []byte) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// maxArtifact bounds a file of an earlier scan, in bytes. A table of 1,600 columns with
// long comments is below it.
const maxArtifact = 16 << 20

// errTooLarge says that a file is larger than maxArtifact.
var errTooLarge = errors.New("the file is too large")

// readJSON reads a file of an earlier scan.
func readJSON(root *os.Root, name string, v any) (err error) {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("read %s: it is not a file", name))
	}
	b, err := io.ReadAll(io.LimitReader(f, maxArtifact+1))
	if err != nil {
		return err
	}
	if len(b) > maxArtifact {
		return fmt.Errorf("read %s: %w", name, errTooLarge)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// maxEntries bounds how many entries of a folder are read.
const maxEntries = 1_000_000

// entries returns the names in a folder, none if there is no such folder.
func entries(root *os.Root, folder string) ([]fs.DirEntry, error) {
	f, err := root.Open(folder)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	list, err := f.ReadDir(maxEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return list, errors.Join(err, f.Close())
}
