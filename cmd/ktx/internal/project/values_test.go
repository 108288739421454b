package project_test

import (
	"testing"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want project.Bytes
		back string
	}{
		{"1", 1, "1"},
		{"1000", 1000, "1000"},
		{"1024", 1024, "1KiB"},
		{"8MiB", 8 << 20, "8MiB"},
		{"256 KiB", 256 << 10, "256KiB"},
		{"3GiB", 3 << 30, "3GiB"},
		{"1kB", 1000, "1000"},
		{"1KB", 1000, "1000"},
		{"2MB", 2e6, "2000000"},
		{"1GB", 1e9, "1000000000"},
		{"2TiB", 2 << 40, "2048GiB"},
		{"7B", 7, "7"},
		{"1048576GiB", 1 << 50, "1048576GiB"},
	} {
		var b project.Bytes
		if err := b.UnmarshalText([]byte(test.text)); err != nil || b != test.want {
			t.Errorf("%s: %d, %v", test.text, b, err)
		}
		if back, err := b.MarshalText(); string(back) != test.back || err != nil {
			t.Errorf("%s is written as %s, %v", test.text, back, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "+1", "1.5MiB", "1PiB", "MiB", "1 M", "0x10", "1e3", "1MiBs", " 1", "1 \tB", "9999999999GiB", "99999999999999999999", "1048577GiB"} {
		b := project.Bytes(5)
		if err := b.UnmarshalText([]byte(text)); err == nil || b != 5 {
			t.Errorf("%q is read as %d", text, b)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"30s": 30 * time.Second, "500ms": 500 * time.Millisecond, "1m30s": 90 * time.Second, "24h": 24 * time.Hour, "1.5s": 1500 * time.Millisecond} {
		var d project.Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %d, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "0", "0s", "-1s", "+1s", "30", "25h", "1d", "s", "1 s", "tomorrow"} {
		d := project.Duration(5)
		if err := d.UnmarshalText([]byte(text)); err == nil || d != 5 {
			t.Errorf("%q is read as %d", text, d)
		}
	}
}
