package wiring_test

import (
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// TestKnownDrivers: what ktx reads is a driver that a configuration can name.
func TestKnownDrivers(t *testing.T) {
	names := wiring.DialectNames()
	if len(names) < 15 {
		t.Errorf("only %d dialects: %v", len(names), names)
	}
	for _, name := range names {
		if !project.KnownDriver(name) {
			t.Errorf("ktx has a reader for %s, and a configuration with this driver is told that it is no engine", name)
		}
	}
}
