package project

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Secret is a value that may be a credential: the credential itself, or a reference
// to it (env:NAME, file:/path). It never prints itself, not even as part of another
// value. Only [Secret.Resolve] returns the credential. The zero Secret is unset.
type Secret struct {
	// text is a pointer, because fmt ignores the methods of a value in an unexported
	// field of another type, and would print a string field.
	text *string
}

// NewSecret returns a Secret of that text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// stars is printed instead of a secret.
const stars = "***"

// String returns three stars, or nothing when s is unset.
func (s Secret) String() string {
	if !s.Set() {
		return ""
	}
	return stars
}

// Format prints three stars for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue logs three stars.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns three stars.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the value as the file has it.
func (s *Secret) UnmarshalText(text []byte) error {
	for _, prefix := range []string{"env:", "file:"} {
		if string(text) == prefix {
			return fmt.Errorf("expected a name or path after %s", prefix)
		}
	}
	*s = NewSecret(string(text))
	return nil
}

// Set reports whether there is a value.
func (s Secret) Set() bool { return s.text != nil }

// Literal reports whether the file contains the value itself.
func (s Secret) Literal() bool {
	return s.Set() && !strings.HasPrefix(*s.text, "env:") && !strings.HasPrefix(*s.text, "file:")
}

// Variable returns the name of the environment variable that the value is a reference
// to, if it is one.
func (s Secret) Variable() (name string, ok bool) {
	if !s.Set() {
		return "", false
	}
	return strings.CutPrefix(*s.text, "env:")
}

// LiteralPassword reports whether the value is an address in the file that contains
// a password. An address that cannot be parsed counts as one with a password.
func (s Secret) LiteralPassword() bool {
	if !s.Literal() {
		return false
	}
	u, err := url.Parse(*s.text)
	if err != nil {
		return true
	}
	_, set := u.User.Password()
	return set || u.Query().Has("password")
}

// Resolve returns the value: of the environment variable after "env:", the
// content of the file after "file:" without trailing line ends, or the text
// itself. An empty variable or file is an error, because a driver would replace an
// empty value by a default of its own.
func (s Secret) Resolve(lookup func(string) (string, bool)) (string, error) {
	if !s.Set() {
		return "", nil
	}
	if name, ok := s.Variable(); ok {
		value, set := lookup(name)
		switch {
		case !set:
			return "", fmt.Errorf("environment variable %s is not set", name)
		case strings.TrimSpace(value) == "":
			return "", fmt.Errorf("environment variable %s is set but blank", name)
		}
		return value, nil
	}
	path, ok, err := s.File()
	switch {
	case err != nil:
		return "", err
	case ok:
		return readSecret(path)
	default:
		return *s.text, nil
	}
}

// File returns the absolute path of the file that holds the value, and whether
// there is one.
func (s Secret) File() (path string, ok bool, err error) {
	if !s.Set() {
		return "", false, nil
	}
	if path, ok = strings.CutPrefix(*s.text, "file:"); !ok {
		return "", false, nil
	}
	if rest, home := strings.CutPrefix(path, "~/"); home {
		dir, err := os.UserHomeDir()
		if err != nil {
			return "", true, fmt.Errorf("find the home directory for %s: %w", path, err)
		}
		path = filepath.Join(dir, rest)
	}
	if !filepath.IsAbs(path) {
		return "", true, fmt.Errorf("%s: a secret's file must be an absolute path or begin with ~/", path)
	}
	return path, true, nil
}

// maxSecret bounds the file of a secret, in bytes.
const maxSecret = 64 << 10

func readSecret(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	if len(text) > maxSecret {
		return "", fmt.Errorf("read secret: %s is larger than 64 KiB", path)
	}
	value := strings.TrimRight(string(text), "\r\n")
	if strings.TrimSpace(value) == "" {
		return "", fmt.Errorf("read secret: %s is empty", path)
	}
	return value, nil
}
