package project_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// TestTrustNeedsTheCatalog: an entry with types of arguments can be held to them only with the
// server's catalogue. The guard block of the file counts too.
func TestTrustNeedsTheCatalog(t *testing.T) {
	t.Parallel()
	const connection = `connections:
  shop:
    driver: postgres
    host: db.example.com
    functions: {allow: [{function: "public.plus(integer, text)", trust: true}]}
`
	for text, accepted := range map[string]bool{
		connection: false,
		connection + "    guard: {catalog: false}\n":                              false,
		connection + "    guard: {catalog: true}\n":                               true,
		"guard: {catalog: true}\n" + connection:                                   true,
		"guard: {catalog: true}\n" + connection + "    guard: {catalog: false}\n": false,
	} {
		_, problems := project.Parse([]byte(text), anyPattern)
		said := false
		for _, p := range problems {
			said = said || strings.Contains(p.Message, "needs guard.catalog: true")
		}
		if said == accepted {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
