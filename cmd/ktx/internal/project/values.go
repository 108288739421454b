package project

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size such as 8MiB, 256KiB, 1000 or 1MB.
type Bytes int64

var byteUnits = []struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
	{"", 1},
}

// maxBytes bounds a size: 1 PiB.
const maxBytes = 1 << 50

// UnmarshalText reads a size.
func (b *Bytes) UnmarshalText(text []byte) error {
	for _, unit := range byteUnits {
		digits, ok := strings.CutSuffix(string(text), unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimRight(digits, " "), 10, 64)
		if err != nil || n <= 0 || n > maxBytes/unit.factor || digits[0] == '+' {
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

const maxDuration = 24 * time.Hour

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v <= 0 || v > maxDuration || text[0] == '+' {
		return fmt.Errorf("%q is not a duration; expected a number with ms, s or m up to 24h, such as 30s", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
