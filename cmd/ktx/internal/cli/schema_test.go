package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// command runs the command line in this process.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Main(args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestConfigSchema checks the printed schema against a validator of its own:
// it takes what ktx takes and rejects what ktx rejects.
func TestConfigSchema(t *testing.T) {
	t.Parallel()
	code, text, stderr := command(t, "config", "schema")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("ktx.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("ktx.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, flags := range [][]string{{}, {"--demo"}} {
		fresh := filepath.Join(dir, strings.Join(append(flags, "x"), ""))
		if code, _, stderr := command(t, append([]string{"init", fresh}, flags...)...); code != 0 {
			t.Fatal(stderr)
		}
		config, err := os.ReadFile(filepath.Join(fresh, project.FileName))
		if err != nil {
			t.Fatal(err)
		}
		checkConfig(t, schema, string(config), true)
	}
	for text, valid := range map[string]bool{
		"{}":                 true,
		"guard:":             true,
		"connections: ~":     true,
		"connections: {a: }": true, // the driver is missing, which the schema leaves to ktx
		"connections: {a: {driver: postgres, url: 'env:U', port: ~}}":                                          true,
		"connections: {a: {driver: sqlite, path: x.db, limits: {bytes: 8MiB, rows: 5, timeout: 1m30s}}}":       true,
		"connections: {a: {driver: sqlite, limits: {bytes: 4096}, user: 12, name: true}}":                      true,
		"connections: {a: {driver: sqlite, access: {columns: [{match: a.b.c, action: deny}]}}}":                true,
		"guard: {maxBytes: 64KiB, explainAnalyze: true, types: refuse, role: warn}":                            true,
		"audit: {path: x, sql: full, onFailure: degrade, sync: always, rotateBytes: 65536}":                    true,
		"check: {overrides: [{paths: [a], dialect: sqlite}]}":                                                  true,
		"embeddings: {provider: none}\nserver: {port: 1}\nscan:\nsearch:\nuser: me\nupstreams: {}\nskills: {}": true,
		"unknown: {}": true, // a warning

		"guard: {maxbytes: 64KiB}":                                        false,
		"guard: {explainAnalyse: true}":                                   false,
		"guard: {types: maybe}":                                           false,
		"guard: {maxBytes: lots}":                                         false,
		"guard: {explainAnalyze: 'yes'}":                                  false,
		"audit: {sycn: always}":                                           false,
		"audit: {sync: sometimes}":                                        false,
		"connections: {a: {driver: sqlite, guard: {rol: refuse}}}":        false,
		"connections: {a: {driver: sqlite, access: {table: {deny: []}}}}": false,
		"connections: {a: {driver: sqlite, access: {tables: {dny: []}}}}": false,
		"connections: {a: {driver: sqlite, access: {columns: [{match: a.b.c, action: allow}]}}}":      false,
		"connections: {a: {driver: sqlite, access: {columns: [{match: a.b.c, action: deny, x: 1}]}}}": false,
		"connections: {a: {driver: sqlite, functions: {alow: []}}}":                                   false,
		"connections: {a: {driver: sqlite, maxConnections: 0}}":                                       false,
		"connections: {a: {driver: sqlite, limits: {timeout: soon}}}":                                 false,
		"connections: {a: {driver: sqlite, schemas: public}}":                                         false,
		"connections: {a: {driver: sqlite, tls: maybe}}":                                              false,
		"connections: {-a: {driver: sqlite}}":                                                         false,
		"connections: []":                                                                             false,
		"check: {overrides: [{paths: [a], dialect: oracle}]}":                                         false,
		"[]": false,
	} {
		checkConfig(t, schema, text, valid)
	}
}

// checkConfig validates a file against the schema and with ktx. ktx may reject a file
// that the schema accepts, and never the other way round.
func checkConfig(t *testing.T, schema *jsonschema.Schema, text string, valid bool) {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	err := schema.Validate(value)
	if (err == nil) != valid {
		t.Errorf("%s: %v", text, err)
	}
	_, problems := project.Parse([]byte(text), func(string) bool { return true })
	faulty := false
	for _, p := range problems {
		faulty = faulty || !p.Warning
	}
	if !faulty && !valid {
		t.Errorf("%s: ktx accepts what its schema rejects", text)
	}
}
