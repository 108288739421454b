package project_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

const password = "hunter2"

// holders returns values that contain a secret in different ways.
func holders() map[string]any {
	secret := project.NewSecret(password)
	type hidden struct{ s project.Secret }
	type deep struct {
		h hidden
		m map[string]project.Connection
	}
	connection := project.Connection{URL: secret, Password: secret}
	return map[string]any{
		"value":      secret,
		"pointer":    &secret,
		"hidden":     hidden{secret},
		"to hidden":  &hidden{secret},
		"slice":      []project.Secret{secret},
		"map":        map[string]project.Secret{"k": secret},
		"any":        []any{secret, hidden{secret}},
		"connection": connection,
		"config":     project.Config{Connections: map[string]project.Connection{"a": connection}},
		"project":    &project.Project{Config: project.Config{Connections: map[string]project.Connection{"a": connection}}},
		"deep":       deep{hidden{secret}, map[string]project.Connection{"a": connection}},
		"error":      fmt.Errorf("open %v: %w", hidden{secret}, fmt.Errorf("at %+v", connection)),
	}
}

func TestSecretNeverPrintsItself(t *testing.T) {
	t.Parallel()
	for name, v := range holders() {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%T", "%o", "%b", "%c", "%e", "%U", "%z", "%10s", "%-3q"} {
			if out := fmt.Sprintf(verb, v); leaks(out) {
				t.Errorf("%s with %s: %s", name, verb, out)
			}
		}
		for kind, handler := range map[string]func(*bytes.Buffer) slog.Handler{
			"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(handler(&b)).Info("x", "v", v, slog.Group("g", "v", v))
			if leaks(b.String()) {
				t.Errorf("%s in a %s log: %s", name, kind, b.String())
			}
		}
		if out, err := json.Marshal(v); err == nil && leaks(string(out)) {
			t.Errorf("%s as JSON: %s", name, out)
		}
		if out, err := yaml.Marshal(v); err == nil && leaks(string(out)) {
			t.Errorf("%s as YAML: %s", name, out)
		}
		var b bytes.Buffer
		_ = gob.NewEncoder(&b).Encode(v)
		if leaks(b.String()) {
			t.Errorf("%s as gob", name)
		}
	}
	if got := fmt.Sprint(project.NewSecret(password)); got != "***" {
		t.Errorf("printed as %q", got)
	}
	if got := fmt.Sprint(project.Secret{}); got != "" {
		t.Errorf("an unset secret is printed as %q", got)
	}
}

// leaks looks for the password as text and in hex.
func leaks(out string) bool {
	lower := strings.ToLower(out)
	return strings.Contains(lower, password) || strings.Contains(lower, fmt.Sprintf("%x", password))
}

func TestSecretIsNotRepeatedByProblems(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"password: *hunter2",
		"password: !hunter2 x",
		"password: !!hunter2 x",
		"password: [hunter2]",
		"password: {hunter2: x}",
		"password: hunter2\n    password: hunter2",
		"url: [hunter2",
		"url: 'hunter2",
		"url: \"hunter2",
		"url: \"postgres://u:hunter2@h/d\"\n    host: h",
		"url: env:hunter2: x",
		"url: @hunter2",
		"url: %hunter2",
		"url: &hunter2 &hunter2 x",
		"url: |hunter2",
	} {
		_, problems := project.Parse([]byte("connections:\n  a:\n    driver: postgres\n    "+text+"\n"), anyPattern)
		if len(problems) == 0 {
			t.Errorf("%s has no problem", text)
		}
		for _, p := range problems {
			if strings.Contains(p.Message, password) {
				t.Errorf("%s: %s", text, p)
			}
		}
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("home", "from home\n")
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"SET": "value", "EMPTY": "", "BLANK": " \n"}[name]
		return value, ok
	}
	for _, test := range []struct{ text, want, err string }{
		{"", "", ""},
		{"literal", "literal", ""},
		{"env:SET", "value", ""},
		{"env:UNSET", "", "environment variable UNSET is not set"},
		{"env:EMPTY", "", "environment variable EMPTY is set but blank"},
		{"env:BLANK", "", "environment variable BLANK is set but blank"},
		{"file:" + write("plain", "s3cret"), "s3cret", ""},
		{"file:" + write("lines", "a\r\n\r\n"), "a", ""},
		{"file:" + write("inner", " a b \n"), " a b ", ""},
		{"file:~/home", "from home", ""},
		{"file:" + write("blank", "\n"), "", "is empty"},
		{"file:" + write("large", strings.Repeat("x", 1<<16+1)), "", "larger than 64 KiB"},
		{"file:home", "", "must be an absolute path or begin with ~/"},
		{"file:~home", "", "must be an absolute path"},
		{"file:" + filepath.Join(dir, "none"), "", "no such file"},
		{"file:" + dir, "", "read secret"},
	} {
		got, err := project.NewSecret(test.text).Resolve(lookup)
		switch {
		case test.err == "" && (err != nil || got != test.want):
			t.Errorf("%s: %q, %v", test.text, got, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || got != ""):
			t.Errorf("%s: %q, %v; want %s", test.text, got, err, test.err)
		}
	}
}

func TestLiteralPassword(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                                    false,
		"env:URL":                             false,
		"file:/x":                             false,
		"postgres://u@h/d":                    false,
		"postgres://h/d?sslmode=verify":       false,
		"postgres://u:p@h/d":                  true,
		"postgres://u:@h/d":                   true,
		"postgres://h/d?user=u&password=p":    true,
		"postgres://u:p@[bad":                 true,
		"host=h user=u password=hunter2 a=%z": true,
	} {
		if got := project.NewSecret(text).LiteralPassword(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
