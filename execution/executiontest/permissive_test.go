package executiontest_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/sqlguard"
)

// The permissive guard approves every statement that can be sent at all.
func TestApprove(t *testing.T) {
	for _, sql := range []string{
		"DROP TABLE t",
		"SELECT 1; DELETE FROM t",
		"not SQL at all ('",
		"SELECT\u00a0'\u202e'\r\v",
		"SELECT " + strings.Repeat("(", 5000),
		"SELECT 1 " + strings.Repeat("+ 1", 50_000),
		" ",
	} {
		a, id := executiontest.Approve(t, "some dialect", sql)
		got, err := a.SQLFor(id)
		if err != nil || got != sql {
			t.Errorf("%.40q came back as %.40q, error %v", sql, got, err)
		}
	}
}

// The guard applies the raw screen's rules on bytes before any dialect.
func TestApproveNot(t *testing.T) {
	g := executiontest.Guard(t, "some dialect", 0)
	for sql, code := range map[string]sqlguard.Code{
		"SELECT '\x00'": sqlguard.CodeInvalidCharacters,
		"SELECT '\xff'": sqlguard.CodeInvalidCharacters,
		strings.Repeat(" ", sqlguard.CeilingMaxBytes+1): sqlguard.CodeInputTooLarge,
	} {
		if v := g.Check(sql); v.Allowed || v.Code != code {
			t.Errorf("%.40q: allowed %t, code %s, want %s", sql, v.Allowed, v.Code, code)
		}
	}
}

func TestGuardIDs(t *testing.T) {
	ids := map[sqlguard.ID]string{}
	for _, g := range []struct {
		dialect string
		number  int
	}{{"a", 0}, {"a", 1}, {"b", 0}} {
		id := executiontest.Guard(t, g.dialect, g.number).ID()
		if other, taken := ids[id]; taken {
			t.Errorf("guard %v has the ID of guard %s", g, other)
		}
		ids[id] = g.dialect
	}
	one, other := executiontest.Guard(t, "a", 0), executiontest.Guard(t, "a", 0)
	if one.ID() != other.ID() {
		t.Error("two guards of the same name and number have different IDs")
	}
}
