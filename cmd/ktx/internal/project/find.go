package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// FileName is the name of the configuration file.
const FileName = "ktx.yaml"

// MissingError says that no project was found.
type MissingError struct {
	Dir   string // where the search began
	Named bool   // the user named the folder, so no other was searched
}

// Error says what is missing and what to do.
func (e *MissingError) Error() string {
	if e.Named {
		return fmt.Sprintf("no %s in %s", FileName, e.Dir)
	}
	return fmt.Sprintf("no %s in %s or any folder above it", FileName, e.Dir)
}

// Hints returns what the user can do.
func (*MissingError) Hints() []string {
	return []string{
		"run `ktx init` to make a project here",
		"or name one with --project-dir DIR or KTX_PROJECT_DIR",
	}
}

// Find returns the project directory. That is flag, or if it is empty, the environment
// variable KTX_PROJECT_DIR, which must not be blank when it is set. Without both it is
// the nearest folder at or above the current one that has a ktx.yaml. The error is a
// *[MissingError] when there is none.
func Find(flag string, lookup func(string) (string, bool)) (string, error) {
	dir := flag
	if dir == "" {
		value, set := lookup("KTX_PROJECT_DIR")
		if set && strings.TrimSpace(value) == "" {
			return "", errors.New("KTX_PROJECT_DIR is set but blank; unset it, or name a folder")
		}
		dir = value
	}
	if dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("project directory: %w", err)
		}
		if !Has(dir) {
			return "", &MissingError{Dir: dir, Named: true}
		}
		return dir, nil
	}
	current, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("project directory: %w", err)
	}
	return Above(current)
}

// Above returns the nearest folder at or above dir, an absolute path, that
// holds a ktx.yaml. The error is a *[MissingError] when there is none.
func Above(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if Has(at) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", &MissingError{Dir: dir}
		}
	}
}

// Has reports whether dir has a ktx.yaml. One that cannot be read counts too, because
// a project above dir would have another policy.
func Has(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, FileName))
	return err == nil && !info.IsDir()
}
