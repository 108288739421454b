package audit_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// TestEveryFieldIsClassified walks all fields of an event. Each has a class
// and is written exactly as its class says.
func TestEveryFieldIsClassified(t *testing.T) {
	t.Parallel()
	var e audit.Event
	marks := map[string]string{} // mark → class
	mark(t, reflect.ValueOf(&e).Elem(), "Event", marks)
	if len(marks) < 50 {
		t.Fatalf("only %d fields were found", len(marks))
	}
	for _, full := range []bool{false, true} {
		line, _, err := audit.Line(e, audit.Hash{}, full)
		if err != nil {
			t.Fatal(err)
		}
		for text, class := range marks {
			want := class == "public" || class == "identifier" || class == "sensitive" && full
			if got := strings.Contains(string(line), text); got != want {
				t.Errorf("%s field with the value %s: written %v, full %v", class, text, got, full)
			}
		}
	}
}

// mark gives every field below v a value of its own.
func mark(t *testing.T, v reflect.Value, path string, marks map[string]string) {
	t.Helper()
	for i := range v.NumField() {
		sf, field := v.Type().Field(i), v.Field(i)
		class := sf.Tag.Get("class")
		switch class {
		case "public", "identifier", "sensitive", "secret":
		default:
			t.Errorf("%s.%s has no class", path, sf.Name)
		}
		if sf.Tag.Get("json") == "" {
			t.Errorf("%s.%s has no JSON name", path, sf.Name)
		}
		if path+"."+sf.Name == "Event.Chain" { // written by the log from the hashes
			continue
		}
		n := len(marks) + 1
		switch {
		case sf.Type == reflect.TypeFor[time.Time]():
			at := time.Date(1000+n, 1, 1, 0, 0, 0, 0, time.UTC)
			field.Set(reflect.ValueOf(at))
			marks[at.Format(`"2006-`)] = class
		case field.Kind() == reflect.Struct:
			mark(t, field, path+"."+sf.Name, marks)
		case field.Kind() == reflect.String:
			text := fmt.Sprintf("mark-%d-", n)
			field.SetString(text)
			marks[text] = class
		case field.Kind() == reflect.Int64:
			field.SetInt(int64(1e12) + int64(n))
			marks[fmt.Sprint(int64(1e12)+int64(n))] = class
		case field.Kind() == reflect.Float64:
			field.SetFloat(float64(n) + 0.0625)
			marks[fmt.Sprint(float64(n)+0.0625)] = class
		case sf.Type == reflect.TypeFor[[]string]():
			text := fmt.Sprintf("mark-%d-", n)
			field.Set(reflect.ValueOf([]string{text}))
			marks[text] = class
		default:
			t.Errorf("%s.%s has the type %v, which is never written", path, sf.Name, sf.Type)
		}
	}
}

// TestUnclassifiedIsNeverWritten shows that the tag is what lets a field out.
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
