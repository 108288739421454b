package wiki

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/rootfile"
)

// InvalidPageError says why a text cannot be a page.
type InvalidPageError struct {
	Key      string
	Problems []Problem
}

// Error lists the problems, one a line.
func (e *InvalidPageError) Error() string {
	var parts []string
	for _, p := range e.Problems {
		parts = append(parts, fmt.Sprintf("line %d: %s", p.Line, p.Message))
	}
	return fmt.Sprintf("the page %q is not valid:\n%s", e.Key, strings.Join(parts, "\n"))
}

// ErrChanged says that a page changed since its writer read it.
var ErrChanged = errors.New("the page was changed meanwhile; read it again")

// Validate returns an *[InvalidPageError] if a text cannot be a page: it is too
// large, it is not UTF-8 text, or its head has errors.
func Validate(key string, text []byte) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	invalid := &InvalidPageError{Key: key}
	add := func(line int, message string) {
		invalid.Problems = append(invalid.Problems, Problem{Line: line, Level: LevelError, Message: message})
	}
	switch {
	case len(text) > MaxPage:
		add(1, fmt.Sprintf("it has %d bytes, and a page has at most %d; divide it", len(text), MaxPage))
	case !utf8.Valid(text):
		add(1, "it is not valid UTF-8")
	default:
		for i, c := range text {
			if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
				add(1+bytes.Count(text[:i], []byte("\n")), fmt.Sprintf("it has the control character 0x%02x", c))
				break
			}
		}
		for _, p := range Parse(Global, key, "", text).Problems {
			if p.Level == LevelError {
				invalid.Problems = append(invalid.Problems, p)
			}
		}
	}
	if len(invalid.Problems) > 0 {
		return invalid
	}
	return nil
}

// Write writes a page whole or not at all. It validates it first. Before is the
// content that the caller read, and nil if the page must not exist yet; if the file
// has another content, the error is [ErrChanged].
func (s *Store) Write(scope Scope, key string, before, text []byte) error {
	if err := Validate(key, text); err != nil {
		return err
	}
	name := s.Path(scope, key)
	if err := s.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write wiki page %q: %s", key, reason(err))
	}
	if err := s.replace(name, before, text); err != nil {
		if errors.Is(err, ErrChanged) {
			return fmt.Errorf("write wiki page %q: %w", key, ErrChanged)
		}
		return fmt.Errorf("write wiki page %q: %s", key, reason(err))
	}
	return nil
}

func (s *Store) replace(name string, before, text []byte) error {
	if before == nil {
		err := rootfile.Create(s.root, name, 0o644, rootfile.Bytes(text))
		if errors.Is(err, fs.ErrExist) {
			return ErrChanged
		}
		return err
	}
	mode := os.FileMode(0o644)
	if info, err := s.root.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return rootfile.Change(s.root, name, mode, rootfile.Bytes(text), func() error {
		now, err := readLimited(s.root, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !bytes.Equal(now, before) {
			return ErrChanged
		}
		return nil
	})
}

// Sweep removes what processes left in the folder of a scope that were killed while
// they wrote a page. Files of the last hour stay, because they may be at work.
func (s *Store) Sweep(scope Scope) {
	rootfile.Sweep(s.root, s.dir(scope), s.now().Add(-time.Hour), 20*MaxPages)
}
