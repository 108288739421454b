package corpus_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
)

func TestReadJSONLines(t *testing.T) {
	t.Parallel()
	const good = `{"id":"a","dialect":"postgres","sql":"SELECT 1","expect":"allow"}`
	for _, tt := range []struct {
		name, in string
		want     []corpus.Case
		err      string
	}{
		{"one", good, []corpus.Case{{ID: "a", Dialect: "postgres", SQL: "SELECT 1", Expect: corpus.Allow}}, ""},
		{"no new line at the end, CR LF, empty lines", "\r\n" + good + "\r\n\n", []corpus.Case{{ID: "a", Dialect: "postgres", SQL: "SELECT 1", Expect: corpus.Allow}}, ""},
		{"further fields are dropped", `{"id":"a","dialect":"sqlite","sql_b64":"/w==","expect":"reject","source":"s","subset":3}`, []corpus.Case{{ID: "a", Dialect: "sqlite", SQL: "\xff", Expect: corpus.Reject}}, ""},
		{"empty text", `{"id":"a","dialect":"sqlite","sql":"","expect":"reject"}`, []corpus.Case{{ID: "a", Dialect: "sqlite", Expect: corpus.Reject}}, ""},
		{"surrogate pair", `{"id":"a","dialect":"sqlite","sql":"\ud83d\ude00 \\ud800","expect":"reject"}`, []corpus.Case{{ID: "a", Dialect: "sqlite", SQL: `😀 \ud800`, Expect: corpus.Reject}}, ""},
		{"nothing", "\n\n", nil, "no statements"},
		{"not JSON", good + "\nSELECT 1\n", nil, "line 2: invalid character"},
		{"an array", `[1]`, nil, "line 1: "},
		{"no id", `{"dialect":"postgres","sql":"x","expect":"allow"}`, nil, `line 1: "id" is missing`},
		{"no text", `{"id":"a","dialect":"postgres","expect":"allow"}`, nil, "line 1: neither"},
		{"unknown dialect", `{"id":"a","dialect":"pg","sql":"x","expect":"allow"}`, []corpus.Case{{ID: "a", Dialect: "pg", SQL: "x", Expect: corpus.Allow}}, ""},
		{"no dialect", `{"id":"a","sql":"x","expect":"allow"}`, nil, `line 1: case a: "dialect" is missing; it is one of postgres, mysql`},
		{"no expect", `{"id":"a","dialect":"postgres","sql":"x"}`, nil, `case a: expect is ""`},
		{"used twice", good + "\n" + good, nil, `line 2: id "a" is already used in line 1`},
		{"bytes that JSON would lose", "{\"id\":\"a\",\"dialect\":\"postgres\",\"sql\":\"\xff\",\"expect\":\"allow\"}", nil, "line 1: not valid UTF-8; use sql_b64"},
		{"half a surrogate pair", `{"id":"a","dialect":"postgres","sql":"\ud800","expect":"allow"}`, nil, "line 1: half a surrogate pair; use sql_b64"},
		{"the other half", `{"id":"a","dialect":"postgres","sql":"\\\uDC00","expect":"allow"}`, nil, "line 1: half a surrogate pair"},
		{"first half, then another escape", `{"id":"a","dialect":"postgres","sql":"\ud800\u0041","expect":"allow"}`, nil, "line 1: half a surrogate pair"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, bad, err := corpus.ReadJSONLines(strings.NewReader(tt.in))
			if err == nil && len(bad) > 0 {
				err = bad[0]
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v does not say %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadJSONLinesGoesOn checks that a line that holds no case costs no other line.
func TestReadJSONLinesGoesOn(t *testing.T) {
	t.Parallel()
	good := func(id string) string {
		return `{"id":"` + id + `","dialect":"postgres","sql":"SELECT 1","expect":"allow"}`
	}
	in := strings.Join([]string{
		"SELECT 1", good("a"), strings.Repeat("x", corpus.MaxLine+1), "", good("a"), good("b"), `{"id":"c"`,
	}, "\n")
	cases, bad, err := corpus.ReadJSONLines(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) != 2 || cases[0].ID != "a" || cases[1].ID != "b" {
		t.Errorf("the cases are %v, not a and b", cases)
	}
	var lines []int
	for _, b := range bad {
		lines = append(lines, b.Line)
	}
	if diff := cmp.Diff([]int{1, 3, 5, 7}, lines); diff != "" {
		t.Errorf("lines without a case (-want +got):\n%s", diff)
	}
}

func TestReadJSONLinesLong(t *testing.T) {
	t.Parallel()
	line := func(total int) string {
		const head, tail = `{"id":"a","dialect":"postgres","expect":"allow","sql":"`, `"}`
		return head + strings.Repeat("x", total-len(head)-len(tail)) + tail
	}
	for _, end := range []string{"", "\n", "\r\n"} {
		cases, bad, err := corpus.ReadJSONLines(strings.NewReader(line(corpus.MaxLine) + end))
		if err != nil || len(bad) > 0 || len(cases) != 1 {
			t.Errorf("a line of the longest length: %d cases, %v, %v", len(cases), bad, err)
		}
		_, bad, err = corpus.ReadJSONLines(strings.NewReader("\n" + line(corpus.MaxLine+1) + end))
		if err != nil || len(bad) != 1 || !strings.HasPrefix(bad[0].Error(), "line 2: longer than") {
			t.Errorf("a longer line: %v, %v", bad, err)
		}
	}
}

func FuzzReadJSONLines(f *testing.F) {
	f.Add(`{"id":"a","dialect":"postgres","sql":"SELECT 1","expect":"allow"}`)
	f.Add("{\"id\":\"a\",\"dialect\":\"sqlite\",\"sql_b64\":\"/w==\",\"expect\":\"reject\"}\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		cases, _, err := corpus.ReadJSONLines(strings.NewReader(in))
		if err != nil || len(cases) == 0 {
			return
		}
		var out strings.Builder
		if err := corpus.WriteJSONLines(&out, cases); err != nil {
			t.Fatal(err)
		}
		again, bad, err := corpus.ReadJSONLines(strings.NewReader(out.String()))
		if err != nil || len(bad) > 0 {
			t.Fatal(err, bad)
		}
		if diff := cmp.Diff(cases, again); diff != "" {
			t.Errorf("read again (-first +second):\n%s", diff)
		}
	})
}
