package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gowebpki/jcs"

	"github.com/ktxhq/ktx/execution/audit"
)

// TestEveryFieldIsClassified walks all fields of an event. Each has a class and
// is written exactly as its class says.
func TestEveryFieldIsClassified(t *testing.T) {
	t.Parallel()
	var e audit.Event
	marks := map[string]marked{}
	for _, problem := range mark(reflectOf(&e), "Event", marks) {
		t.Error(problem)
	}
	if len(marks) < 50 {
		t.Fatalf("only %d fields were found", len(marks))
	}
	for _, full := range []bool{false, true} {
		line, _, err := audit.Line(e, audit.Hash{}, full)
		if err != nil {
			t.Fatal(err)
		}
		for text, m := range marks {
			want := m.class == audit.ClassPublic || m.class == audit.ClassIdentifier || m.class == audit.ClassSensitive && full
			if got := strings.Contains(string(line), text); got != want {
				t.Errorf("%s field %s: written %v, full %v", m.class, m.field, got, full)
			}
		}
	}
}

// TestUnclassifiedFieldFails: the walk above finds a field that was added
// without a class, without a name, or with a type that is never written.
func TestUnclassifiedFieldFails(t *testing.T) {
	t.Parallel()
	var v struct {
		Public   string `json:"public" class:"public"`
		Untagged string `json:"untagged"`
		Mistyped string `json:"mistyped" class:"pubic"`
		Nameless string `class:"public"`
		Inner    struct {
			Deep string `json:"deep"`
		} `json:"inner" class:"public"`
		Map map[string]string `json:"map" class:"public"`
	}
	want := []string{
		"V.Untagged has no class", "V.Mistyped has no class", "V.Nameless has no JSON name",
		"V.Inner.Deep has no class", "V.Map has the type map[string]string, which is never written",
	}
	if diff := cmp.Diff(want, mark(reflectOf(&v), "V", map[string]marked{})); diff != "" {
		t.Error(diff)
	}
}

// reflectOf returns the struct at p.
func reflectOf(p any) reflect.Value { return reflect.ValueOf(p).Elem() }

// marked is the field that a mark is the value of.
type marked struct {
	class audit.Class
	field string // as in audit.Field.Path
}

// mark gives every field below v a distinct value, and returns what is wrong
// with the fields.
func mark(v reflect.Value, path string, marks map[string]marked) (problems []string) {
	return markIn(v, path, "", marks)
}

func markIn(v reflect.Value, path, prefix string, marks map[string]marked) (problems []string) {
	for i := range v.NumField() {
		sf, field := v.Type().Field(i), v.Field(i)
		class := audit.Class(sf.Tag.Get("class"))
		if class != audit.ClassSecret && !slices.Contains(audit.Classes(), class) {
			problems = append(problems, fmt.Sprintf("%s.%s has no class", path, sf.Name))
			class = audit.ClassSecret
		}
		if sf.Tag.Get("json") == "" {
			problems = append(problems, fmt.Sprintf("%s.%s has no JSON name", path, sf.Name))
		}
		if path+"."+sf.Name == "Event.Chain" { // the log computes it
			continue
		}
		n := len(marks) + 1
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		m := marked{class, prefix + name}
		switch {
		case sf.Type == reflect.TypeFor[time.Time]():
			at := time.Date(1000+n, 1, 1, 0, 0, 0, 0, time.UTC)
			field.Set(reflect.ValueOf(at))
			marks[at.Format(`"2006-`)] = m
		case field.Kind() == reflect.Struct:
			problems = append(problems, markIn(field, path+"."+sf.Name, prefix+name+".", marks)...)
		case field.Kind() == reflect.String:
			text := fmt.Sprintf("mark-%d-", n)
			field.SetString(text)
			marks[text] = m
		case field.Kind() == reflect.Int64:
			field.SetInt(int64(1e12) + int64(n))
			marks[fmt.Sprint(int64(1e12)+int64(n))] = m
		case field.Kind() == reflect.Float64:
			field.SetFloat(float64(n) + 0.0625)
			marks[fmt.Sprint(float64(n)+0.0625)] = m
		case sf.Type == reflect.TypeFor[[]string]():
			text := fmt.Sprintf("mark-%d-", n)
			field.Set(reflect.ValueOf([]string{text}))
			marks[text] = m
		default:
			problems = append(problems, fmt.Sprintf("%s.%s has the type %v, which is never written", path, sf.Name, sf.Type))
		}
	}
	return problems
}

// TestRedacted: a redacted line holds no field of a withheld class, no member
// that is not a field, and the chain of the original.
func TestRedacted(t *testing.T) {
	t.Parallel()
	var e audit.Event
	marks := map[string]marked{}
	if problems := mark(reflectOf(&e), "Event", marks); len(problems) > 0 {
		t.Fatal(problems)
	}
	line, hash, err := audit.Line(e, audit.Hash{1}, true)
	if err != nil {
		t.Fatal(err)
	}
	smuggled := bytes.Replace(bytes.TrimSpace(line), []byte(`"event":`), []byte(`"added_later":"a secret","event":`), 1)
	var back audit.Event
	if err := json.Unmarshal(smuggled, &back); err != nil {
		t.Fatal(err)
	}
	for _, withheld := range [][]audit.Class{nil, {audit.ClassSensitive}, {audit.ClassIdentifier}, {audit.ClassSensitive, audit.ClassIdentifier}} {
		got := string(audit.Redacted(back, withheld...))
		for text, m := range marks {
			want := m.class != audit.ClassSecret && !slices.Contains(withheld, m.class)
			if strings.Contains(got, text) != want {
				t.Errorf("%s field %s: without %v it is there: %v", m.class, m.field, withheld, !want)
			}
		}
		if strings.Contains(got, "secret") || !strings.HasPrefix(got, `{"chain":{"hash":"`+hash.String()+`","prev":"01`) {
			t.Errorf("without %v: %s", withheld, got)
		}
		if canonical, err := jcs.Transform([]byte(got)); err != nil || string(canonical) != got {
			t.Errorf("without %v: not canonical: %v", withheld, err)
		}
	}
	if got := string(audit.Redacted(back)); got != strings.TrimSpace(string(line)) {
		t.Errorf("with nothing withheld it is not the line:\n%s\n%s", got, line)
	}
	back.Chain = audit.Chain{Hash: `"},"x":{"`, Prev: "y"}
	if got := audit.Redacted(back); !json.Valid(got) || bytes.Contains(got, []byte(`"x"`)) {
		t.Errorf("an invalid hash: %s", got)
	}
}

// TestFieldsAreThoseWritten: Fields lists the members that a line can have.
func TestFieldsAreThoseWritten(t *testing.T) {
	t.Parallel()
	var e audit.Event
	if problems := mark(reflectOf(&e), "Event", map[string]marked{}); len(problems) > 0 {
		t.Fatal(problems)
	}
	line, _, err := audit.Line(e, audit.Hash{}, true)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(line, &doc); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for key, v := range doc {
		inner, ok := v.(map[string]any)
		if !ok {
			want = append(want, key)
			continue
		}
		for name := range inner {
			want = append(want, key+"."+name)
		}
	}
	for _, f := range audit.Fields() {
		got = append(got, f.Path)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestUnclassifiedIsNeverWritten: a field is written only when it has a class
// tag.
func TestUnclassifiedIsNeverWritten(t *testing.T) {
	t.Parallel()
	type inner struct {
		A string `json:"a" class:"public"`
	}
	v := struct {
		Public    string         `json:"public" class:"public"`
		Name      string         `json:"name" class:"identifier"`
		Sensitive string         `json:"sensitive" class:"sensitive"`
		Secret    string         `json:"secret" class:"secret"`
		Untagged  string         `json:"untagged"`
		Mistyped  string         `json:"mistyped" class:"pubic"`
		Nameless  string         `class:"public"`
		Hidden    string         `json:"-" class:"public"`
		Any       any            `json:"any" class:"public"`
		Map       map[string]any `json:"map" class:"public"`
		Raw       []byte         `json:"raw" class:"public"`
		Inner     inner          `json:"inner"`
		Outer     inner          `json:"outer" class:"public"`
	}{
		"1", "2", "3", "4", "5", "6", "7", "8", "9",
		map[string]any{"k": "v"},
		[]byte("r"),
		inner{"10"},
		inner{"11"},
	}
	if got, want := audit.Members(&v, false), `{"name":"2","outer":{"a":"11"},"public":"1"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := audit.Members(&v, true), `{"name":"2","outer":{"a":"11"},"public":"1","sensitive":"3"}`; got != want {
		t.Errorf("full: got %s, want %s", got, want)
	}
}
