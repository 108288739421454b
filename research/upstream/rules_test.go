package upstream_test

import (
	"errors"
	"testing"

	"github.com/ktxhq/ktx/research/upstream"
)

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		list []string
		yes  []string
		no   []string
	}{
		{[]string{"github_*"}, []string{"github_issue", "GitHub_", "ＧＩＴＨＵＢ_x"}, []string{"my_github_x", "github"}},
		{[]string{"*github*"}, []string{"my_github_x", "GITHUB"}, []string{"git"}},
		{[]string{"get_?"}, []string{"get_a", "GET_ä"}, []string{"get_", "get_ab"}},
		{[]string{"get_[ab]"}, []string{"get_a", "get_B"}, []string{"get_c"}},
		{[]string{"get_[!a-c]"}, []string{"get_d"}, []string{"get_b"}},
		{[]string{"a.b"}, []string{"A.B"}, []string{"axb"}},
		{[]string{"/^read_.*file$/"}, []string{"read_file", "READ_text_FILE"}, []string{"xread_file"}},
		{[]string{"/file/"}, []string{"a_file_b"}, []string{"fil"}},
		{[]string{"*", "!delete_*"}, []string{"read"}, []string{"delete_x"}},
		{[]string{"!delete_*", "*"}, []string{"read"}, []string{"delete_x"}}, // in any order
		{[]string{"!delete_*"}, []string{"read"}, []string{"Delete_x"}},      // an implied *
		{[]string{"!/^(rm|del)/i", "files*"}, []string{"files_a"}, []string{"rmfiles", "other"}},
		{[]string{"s:get*"}, []string{"get_a"}, []string{"set"}},
		{[]string{"other:get*"}, nil, []string{"get_a"}},
		{[]string{"straße"}, []string{"STRASSE"}, nil},
		{nil, nil, []string{"x"}},
	} {
		p, err := upstream.ParsePatterns(tt.list)
		if err != nil {
			t.Errorf("%q: %v", tt.list, err)
			continue
		}
		for _, name := range tt.yes {
			if !p.Match("S", name) {
				t.Errorf("%q does not match %q", tt.list, name)
			}
		}
		for _, name := range tt.no {
			if p.Match("S", name) {
				t.Errorf("%q matches %q", tt.list, name)
			}
		}
	}
	for _, bad := range []string{"", "!", "/", "/(/", "/a/g", "[", "a[", "[]", "[!]", "[z-a]", "/(?<x>a)(?=b)/"} {
		_, err := upstream.ParsePatterns([]string{"*", bad})
		if p, ok := errors.AsType[*upstream.PatternError](err); !ok || p.Index != 1 {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestStanding(t *testing.T) {
	yes, no := true, false
	rule := func(server string, enabled *bool, match ...string) upstream.Rule {
		return upstream.Rule{Match: match, Server: server, Enabled: enabled}
	}
	for _, tt := range []struct {
		name     string
		rules    []upstream.Rule
		server   string
		tool     string
		readOnly bool
		want     bool
		reason   string
	}{
		{"read-only by default", nil, "a", "get", true, true, "annotated read-only"},
		{"not read-only by default", nil, "a", "set", false, false, "not annotated read-only"},
		{"the first rule decides", []upstream.Rule{rule("", &no, "g*"), rule("", &yes, "get")}, "a", "get", true, false, "rule 1"},
		{"tags alone decide nothing", []upstream.Rule{rule("", nil, "*"), rule("", &yes, "set")}, "a", "set", false, true, "rule 2"},
		{"whitelist", []upstream.Rule{rule("", &yes, "set")}, "a", "get", true, false, "rule 1 enables other tools only"},
		{"whitelist of another server", []upstream.Rule{rule("b", &yes, "set")}, "a", "get", true, true, "annotated read-only"},
		{"whitelist of this server", []upstream.Rule{rule("A", &yes, "set")}, "a", "get", true, false, "rule 1 enables other tools only"},
		{"a later rule enables after the whitelist", []upstream.Rule{rule("", &yes, "set"), rule("", &yes, "get")}, "a", "get", true, true, "rule 2"},
	} {
		got, err := upstream.StandingOf(tt.rules, tt.server, tt.tool, tt.readOnly)
		if err != nil || got.Enabled != tt.want || got.Reason != tt.reason {
			t.Errorf("%s: %+v, %v; want %t, %s", tt.name, got, err, tt.want, tt.reason)
		}
	}
	got, err := upstream.StandingOf([]upstream.Rule{
		{Match: []string{"*"}, Tags: []string{"b", "a"}}, {Match: []string{"q*"}, Tags: []string{"a", "c"}, SQL: &upstream.SQLRule{Argument: "sql", Dialect: "postgres"}},
	}, "s", "query", true)
	if err != nil || len(got.Tags) != 3 || got.Tags[0] != "a" || len(got.SQL) != 1 {
		t.Errorf("tags do not accumulate: %+v, %v", got, err)
	}
}
