package project

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Secret is a value that may be a credential. It never prints itself.
type Secret string

// String returns three stars.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// GoString returns three stars.
func (s Secret) GoString() string { return s.String() }

// LogValue logs three stars.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns three stars.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Literal reports whether the value itself stands in the file.
func (s Secret) Literal() bool {
	return s != "" && !strings.HasPrefix(string(s), "env:") && !strings.HasPrefix(string(s), "file:")
}

// Resolve returns the value: of the environment variable after "env:", the
// content of the file after "file:" without trailing line ends, or the text
// itself. A variable that is not set is an error, never an empty value.
func (s Secret) Resolve(lookup func(string) (string, bool)) (string, error) {
	if name, ok := strings.CutPrefix(string(s), "env:"); ok {
		value, set := lookup(name)
		if !set {
			return "", fmt.Errorf("environment variable %s is not set", name)
		}
		return value, nil
	}
	path, ok := strings.CutPrefix(string(s), "file:")
	if !ok {
		return string(s), nil
	}
	if rest, home := strings.CutPrefix(path, "~/"); home {
		dir, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", path, err)
		}
		path = filepath.Join(dir, rest)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s: a secret's file must be an absolute path or begin with ~/", path)
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// Bytes is a size such as 8MiB, 256KiB, 1000 or 1MB.
type Bytes int64

var byteUnits = []struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
	{"", 1},
}

// UnmarshalText reads a size.
func (b *Bytes) UnmarshalText(text []byte) error {
	for _, unit := range byteUnits {
		digits, ok := strings.CutSuffix(string(text), unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > (1<<50)/unit.factor {
			break
		}
		*b = Bytes(n * unit.factor)
		return nil
	}
	return fmt.Errorf("%q is not a size; expected a number with KiB, MiB or GiB, such as 8MiB", text)
}

// MarshalText writes the size with the largest unit that divides it.
func (b Bytes) MarshalText() ([]byte, error) {
	for _, unit := range []int{2, 1, 0} {
		if u := byteUnits[unit]; b != 0 && int64(b)%u.factor == 0 {
			return fmt.Appendf(nil, "%d%s", int64(b)/u.factor, u.suffix), nil
		}
	}
	return strconv.AppendInt(nil, int64(b), 10), nil
}

// Duration is a time such as 30s, 500ms or 2m.
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v <= 0 || v > 24*time.Hour {
		return fmt.Errorf("%q is not a duration; expected a number with ms, s or m, such as 30s", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
