package scan

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/ktxhq/ktx/research/rootfile"
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
	return replaceFile(root, name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}

// writeFile writes a file whole or not at all.
func writeFile(root *os.Root, name string, content []byte) error {
	return replaceFile(root, name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// replaceFile writes a temporary file beside the file, flushes it, and renames it.
func replaceFile(root *os.Root, name string, write func(io.Writer) error) error {
	temporary := path.Join(path.Dir(name), ".ktx-"+path.Base(name)+".tmp")
	if err := writeSynced(root, temporary, write); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), ignoreMissing(root.Remove(temporary)))
	}
	if err := root.Rename(temporary, name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func writeSynced(root *os.Root, name string, write func(io.Writer) error) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriter(f)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
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
	f, _, err := rootfile.Open(root, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
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
