package sqlguard_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

func TestApprovedOpensOnlyForItsGuard(t *testing.T) {
	const sql = "SELECT 'sesame'"
	g := newGuard(t, selecting(nil), sqlguard.Policy{}, nil)
	other := newGuard(t, selecting(nil), sqlguard.DefaultPolicy(), nil)
	a, err := g.Approve(sql)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.SQLFor(g.ID()); err != nil || got != sql {
		t.Errorf("SQLFor(own) = %q, %v", got, err)
	}
	for name, id := range map[string]sqlguard.ID{"foreign": other.ID(), "zero": {}} {
		if got, err := a.SQLFor(id); err == nil || got != "" {
			t.Errorf("SQLFor(%s) = %q, %v", name, got, err)
		}
	}
	if seen, err := a.RelationsFor(g.ID()); err != nil || seen == nil {
		t.Errorf("RelationsFor(own) = %v, %v", seen, err)
	}
	if seen, err := a.RelationsFor(other.ID()); err == nil || seen != nil {
		t.Errorf("RelationsFor(foreign) = %v, %v", seen, err)
	}
	for name, id := range map[string]sqlguard.ID{"own": g.ID(), "zero": {}} {
		if got, err := (sqlguard.Approved{}).SQLFor(id); err == nil || got != "" {
			t.Errorf("zero value, SQLFor(%s) = %q, %v", name, got, err)
		}
	}
	if reflect.TypeFor[sqlguard.Approved]().Comparable() {
		t.Error("Approved can be compared")
	}
}

func TestApproveRefuses(t *testing.T) {
	g := newGuard(t, reader{statements: []sqlguard.Statement{{Verb: "delete"}}}, sqlguard.Policy{}, nil)
	a, err := g.Approve("DELETE FROM t")
	rejected, ok := errors.AsType[*sqlguard.RejectedError](err)
	if !ok || rejected.Verdict.Allowed || rejected.Verdict.Code != sqlguard.CodeStatementNotAllowed {
		t.Fatalf("err = %v", err)
	}
	if _, err := a.SQLFor(g.ID()); err == nil {
		t.Error("SQLFor returns a refused statement")
	}
}

// TestApprovedIsSealed prints, logs and serialises an approval in every way,
// directly and nested in exported and unexported fields.
func TestApprovedIsSealed(t *testing.T) {
	const secret = "open sesame"
	a, err := newGuard(t, selecting(nil), sqlguard.Policy{}, nil).Approve("SELECT '" + secret + "'")
	if err != nil {
		t.Fatal(err)
	}
	type exported struct{ A sqlguard.Approved }
	type unexported struct{ a sqlguard.Approved }
	type pointer struct{ a *sqlguard.Approved }
	values := map[string]any{
		"value": a, "pointer": &a, "exported": exported{a}, "unexported": unexported{a}, "nested pointer": pointer{&a},
		"slice": []sqlguard.Approved{a}, "map": map[string]sqlguard.Approved{"a": a}, "any": []any{a},
	}
	leaks := func(text string) bool {
		return strings.Contains(text, "sesame") || strings.Contains(text, fmt.Sprintf("%x", "sesame")) || strings.Contains(text, fmt.Sprintf("%X", "sesame"))
	}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%T", "%p", "%t", "%c", "%U", "%e", "%b", "%o", "%08v"} {
			if out := fmt.Sprintf(verb, v); leaks(out) {
				t.Errorf("%s prints with %s: %s", name, verb, out)
			}
		}
		for format, handler := range map[string]func(*bytes.Buffer) slog.Handler{
			"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(handler(&b)).Info("x", "v", v)
			if leaks(b.String()) {
				t.Errorf("%s is logged as %s: %s", name, format, b.String())
			}
		}
		if out, _ := json.Marshal(v); leaks(string(out)) {
			t.Errorf("%s as JSON: %s", name, out)
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(v); err == nil && leaks(b.String()) {
			t.Errorf("%s as gob", name)
		}
	}
	for name, err := range map[string]error{
		"json in":  json.Unmarshal([]byte(`{}`), &a),
		"json out": func() error { _, err := json.Marshal(a); return err }(),
		"gob in":   a.GobDecode(nil),
		"gob out":  gob.NewEncoder(&bytes.Buffer{}).Encode(a),
		"text in":  a.UnmarshalText([]byte("SELECT 1")),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
