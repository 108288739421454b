package wiki

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
	"unicode/utf8"
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

// temporary begins the names of files that are not renamed yet. It is no key, so
// readers do not see them.
const temporary = ".ktx-page-"

func (s *Store) replace(name string, before, text []byte) (err error) {
	other := path.Join(path.Dir(name), temporary+rand.Text())
	mode := os.FileMode(0o644)
	if info, err := s.root.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := s.root.OpenFile(other, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = s.root.Remove(other)
		}
	}()
	if _, err := f.Write(text); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if before == nil {
		err := s.root.Link(other, name) // unlike a rename it never replaces
		switch {
		case errors.Is(err, fs.ErrExist):
			_ = s.root.Remove(other)
			return ErrChanged
		case err == nil:
			return errors.Join(s.root.Remove(other), s.flush(path.Dir(name)))
		}
		if _, exists := s.root.Lstat(name); exists == nil {
			return ErrChanged
		}
	} else {
		now, err := readLimited(s.root, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !bytes.Equal(now, before) {
			return ErrChanged
		}
	}
	if err := s.root.Rename(other, name); err != nil {
		return err
	}
	return s.flush(path.Dir(name))
}

// Sweep removes what processes left in the folder of a scope that were killed while
// they wrote a page. Files of the last hour stay, because they may be at work.
func (s *Store) Sweep(scope Scope) {
	dir, err := s.root.Open(s.dir(scope))
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(20 * MaxPages)
	_ = dir.Close()
	for _, name := range names {
		name = path.Join(s.dir(scope), name)
		if !strings.HasPrefix(path.Base(name), temporary) {
			continue
		}
		if info, err := s.root.Lstat(name); err == nil && s.now().Sub(info.ModTime()) > time.Hour {
			_ = s.root.Remove(name)
		}
	}
}

// flush writes a folder to disk, where the system can.
func (s *Store) flush(dir string) error {
	d, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // some systems cannot
	return d.Close()
}
