package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/corpus"
)

// writeFile writes a file whole or not at all: into a temporary file beside
// it, flushed, then renamed.
func writeFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".ktx-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", name, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeNew writes a file that must not exist yet.
func writeNew(name string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) //nolint:gosec // the user names the folder
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// decodeYAML reads a class file of the corpus: YAML becomes JSON, which the
// corpus package decodes, so that it needs no YAML parser itself.
func decodeYAML(text []byte) ([]corpus.Case, error) {
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	doc, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	return corpus.DecodeFile("", doc)
}
