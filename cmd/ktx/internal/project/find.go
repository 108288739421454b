package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// FileName is the name of the configuration file.
const FileName = "ktx.yaml"

// MissingError says that no project was found.
type MissingError struct {
	Dir string // where the search began
}

// Error says what is missing and what to do.
func (e *MissingError) Error() string {
	return fmt.Sprintf("no %s in %s or any folder above it", FileName, e.Dir)
}

// Hints are the two ways out.
func (*MissingError) Hints() []string {
	return []string{
		"run `ktx init` to make a project here",
		"or name one with --project-dir DIR or KTX_PROJECT_DIR",
	}
}

// Find returns the project directory: flag, else the environment variable
// KTX_PROJECT_DIR (which must not be blank when set), else the nearest folder
// at or above the current one that holds a ktx.yaml. The error is a
// *[MissingError] when there is none.
func Find(flag string, lookup func(string) (string, bool)) (string, error) {
	dir := flag
	if dir == "" {
		value, set := lookup("KTX_PROJECT_DIR")
		if set && value == "" {
			return "", errors.New("KTX_PROJECT_DIR is set but blank")
		}
		dir = value
	}
	if dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("project directory: %w", err)
		}
		if !has(dir) {
			return "", &MissingError{Dir: dir}
		}
		return dir, nil
	}
	current, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("project directory: %w", err)
	}
	for dir := current; ; dir = filepath.Dir(dir) {
		if has(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", &MissingError{Dir: current}
		}
	}
}

func has(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, FileName))
	return err == nil && !info.IsDir()
}
