package dialects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestDenied: each line of testdata/rules/DIALECT.denied.txt tries to read customers.email,
// customers.ssn or api_keys, which rules deny, or could do so through a view. A guard that
// knows nothing of the server refuses all of them.
func TestDenied(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/rules/*.denied.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, file := range files {
		d, ok := dialects.Lookup(strings.TrimSuffix(filepath.Base(file), ".denied.txt"))
		if !ok {
			t.Fatalf("%s: no such dialect", file)
		}
		policy := sqlguard.DefaultPolicy()
		policy.Columns = []sqlguard.ColumnRule{{Match: "main.customers.email"}, {Match: "main.customers.ssn"}}
		policy.Tables.Deny = []string{"main.api_keys"}
		guard, err := sqlguard.New(d, policy, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for sql := range strings.Lines(string(text)) {
			if guard.CheckOnce(strings.TrimSpace(sql)).Allowed {
				t.Errorf("%s allows %s", d.Name(), sql)
			}
		}
	}
}
