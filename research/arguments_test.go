package research_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research"
)

// TestOnlyTexts compares arguments that are decoded at once with the same ones that are
// validated member by member.
func TestOnlyTexts(t *testing.T) {
	t.Parallel()
	long := 12
	s := &research.Schema{
		Type: "object", Required: []string{"connectionId", "sql"},
		Properties: map[string]*research.Schema{
			"connectionId": {Type: "string", MaxLength: &long}, "sql": {Type: "string"}, "name": {Type: "string"},
			"mode": {Type: "string", Enum: []string{"a", "b"}}, "maxRows": {Type: "integer"},
		},
	}
	type input struct {
		ConnectionID string `json:"connectionId"`
		SQL          string `json:"sql"`
		Name         string `json:"name"`
		Mode         string `json:"mode"`
		MaxRows      int    `json:"maxRows"`
	}
	if !s.OnlyTexts([]byte(` {"sql" : "SELECT \"a\"", "connectionId":"b"} `)) {
		t.Error("plain arguments are not decoded at once")
	}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]string{`"connectionId"`, `"sql"`, `"name"`, `"mode"`, `"maxRows"`, `"SQL"`, `"s\u0071l"`, `"other"`, `"sql`, `sql`, `""`})
		values := rapid.SampledFrom([]string{`"a"`, `"SELECT 1"`, `"a\"b\\"`, `"a\u00e9\n"`, `"\ud83d\ude00"`, `"longer than twelve"`, `"\q"`, "\"a\nb\"", `"a`, `""`, `null`, `5`, `"5"`, `{}`, `["a"]`, `true`, ``})
		spaces := rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r", "\v", "x"})
		var members []string
		if rapid.Bool().Draw(t, "complete") {
			members = []string{`"connectionId":"a"`, `"sql":"SELECT 1"`}
		}
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			members = append(members, spaces.Draw(t, "s")+names.Draw(t, "name")+spaces.Draw(t, "s")+":"+spaces.Draw(t, "s")+values.Draw(t, "value"))
		}
		raw := json.RawMessage(spaces.Draw(t, "s") + "{" + strings.Join(members, ",") + rapid.SampledFrom([]string{"}", "} ", "}}", "", ",}", "} {}"}).Draw(t, "end"))
		var got, want input
		notes, err := research.DecodeArguments(raw, s, nil, &got)
		wantNotes, wantErr := research.DecodeArguments(raw, s, func(map[string]any) {}, &want) // is validated
		if wantErr == nil && got != want || !reflect.DeepEqual(notes, wantNotes) || !reflect.DeepEqual(err, wantErr) {
			t.Fatalf("%s\n%+v, %q, %v\nwant %+v, %q, %v", raw, got, notes, err, want, wantNotes, wantErr)
		}
	})
}
