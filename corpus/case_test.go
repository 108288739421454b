package corpus_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
)

func TestCaseRoundTrip(t *testing.T) {
	t.Parallel()
	contained := false
	for _, sql := range []string{
		"", "SELECT 1", "SELECT 'é😀\u202e\u2028\x7f<&>'", "SELECT 1\x00; DROP TABLE t", "SELECT '\xff'", "SELECT '\xed\xa0\x80'", "a\r\n\tb",
	} {
		want := corpus.Case{
			ID: "x", Class: "ddl", Dialect: "postgres", Flavour: "f", Title: "t", SQL: sql, Expect: corpus.Reject, Codes: []string{"a"},
			Policy: &corpus.PolicyNote{Key: "k", Default: corpus.Allow}, Engine: &corpus.Engine{Name: "postgresql", Min: "13", Needs: []string{"n"}},
			Effect: &corpus.Effect{Kind: "none", ContainedByReadOnlyTx: &contained}, Refs: corpus.Refs{CWE: []string{"CWE-1"}},
			Evidence: []corpus.Evidence{{Engine: "postgresql", Version: "15.1", Outcome: "executed", Date: "2026-11-20"}}, BenignTwin: "xB", Since: "0.1.0",
		}
		var lines bytes.Buffer
		if err := corpus.WriteJSONLines(&lines, []corpus.Case{want}); err != nil {
			t.Fatal(err)
		}
		if i := bytes.IndexFunc(lines.Bytes(), func(r rune) bool { return r > '~' || r < ' ' && r != '\n' }); i >= 0 {
			t.Errorf("%q: the line holds a character beyond printable ASCII at %d: %s", sql, i, lines.Bytes())
		}
		got, bad, err := corpus.ReadJSONLines(&lines)
		if err != nil || len(bad) > 0 {
			t.Fatalf("%q: %v, %v", sql, err, bad)
		}
		if diff := cmp.Diff([]corpus.Case{want}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", sql, diff)
		}
	}
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := corpus.WriteJSON(&out, "9.8.7", []corpus.Case{{ID: "a", SQL: "SELECT 1"}, {ID: "b", SQL: "é"}}); err != nil {
		t.Fatal(err)
	}
	want := "{\n\"schema\": \"ktx-corpus/1\",\n\"version\": \"9.8.7\",\n\"cases\": [\n" +
		`{"id":"a","sql":"SELECT 1"},` + "\n" + `{"id":"b","sql":"\u00e9"}` + "\n]\n}\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !json.Valid(out.Bytes()) {
		t.Error("not JSON")
	}
}

func TestDecodeFile(t *testing.T) {
	t.Parallel()
	file := func(cases string) string {
		return `{"schema":"ktx-corpus/1","class":"ddl","dialect":"postgres","cases":[` + cases + `]}`
	}
	for _, tt := range []struct {
		name, path, doc string
		sql             []string
		err             string
	}{
		{"text", "postgres/ddl.yaml", file(`{"id":"a","sql":"x"},{"id":"b","sql_b64":"AA=="}`), []string{"x", "\x00"}, ""},
		{"parts", "", file(`{"id":"a","sql_parts":[{"text":"a","times":3},{"text":"b"}]}`), []string{"aaab"}, ""},
		{"no text", "", file(`{"id":"a"}`), nil, "case 1: neither"},
		{"two texts", "", file(`{"id":"a","sql":"x","sql_b64":"AA=="}`), nil, "more than once"},
		{"bad base64", "", file(`{"id":"a","sql_b64":"!"}`), nil, "sql_b64: illegal base64"},
		{"base64 without need", "", file(`{"id":"a","sql_b64":"eA=="}`), nil, "sql_b64 is not needed"},
		{"unknown field", "", file(`{"id":"a","sql":"x","note":"y"}`), nil, `unknown field "note"`},
		{"unknown field of the file", "", strings.Replace(file(``), `"class"`, `"klass"`, 1), nil, `unknown field "klass"`},
		{"wrong place", "sqlite/ddl.yaml", file(``), nil, "belongs into postgres/ddl.yaml"},
		{"wrong schema", "", strings.Replace(file(``), "ktx-corpus/1", "ktx-corpus/2", 1), nil, `schema is "ktx-corpus/2"`},
		{"bomb", "", file(`{"id":"a","sql_parts":[{"text":"aaaaaaaa","times":1000000}]}`), nil, "longer than"},
		{"bomb of overflow", "", file(`{"id":"a","sql_parts":[{"text":"aaaa","times":4611686018427387904}]}`), nil, "longer than"},
		{"negative", "", file(`{"id":"a","sql_parts":[{"text":"a","times":-1}]}`), nil, "longer than"},
		{"trailing text", "", file(``) + "x", nil, "after the end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cases, err := corpus.DecodeFile(tt.path, []byte(tt.doc))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v does not say %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range cases {
				got = append(got, c.SQL)
				if c.Class != "ddl" || c.Dialect != "postgres" {
					t.Errorf("%s: class %q, dialect %q", c.ID, c.Class, c.Dialect)
				}
			}
			if diff := cmp.Diff(tt.sql, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
