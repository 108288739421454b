//go:build cgo

package dialects_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects"
)

// tortured are the dialects whose parsers are in this build alone, and those
// that are the same in both.
const tortured = "mysql postgres sqlite sqlserver"

func TestEveryDialectIsTortured(t *testing.T) {
	for _, d := range dialects.All() {
		if !slices.Contains(strings.Fields(tortured), d.Name()) {
			t.Errorf("%s is not", d.Name())
		}
	}
}
