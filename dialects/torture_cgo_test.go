//go:build cgo

package dialects_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects"
)

// tortured lists the dialects that TestNoTextEndsTheProcess tries in this build:
// all of them.
const tortured = "bigquery clickhouse duckdb mysql postgres sqlite sqlserver"

func TestEveryDialectIsTortured(t *testing.T) {
	for _, d := range dialects.All() {
		if !slices.Contains(strings.Fields(tortured), d.Name()) {
			t.Errorf("%s is not in the list of dialects to try", d.Name())
		}
	}
}
