package execution_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

// The gateway refuses a role that may do more than read, and a session that
// does not stop writes. It does not refuse one because of a clock or a
// certificate.
func TestWarningsThatRefuse(t *testing.T) {
	for _, v := range []struct {
		finding execution.ProbeFinding
		refused bool
	}{
		{execution.ProbeFinding{Level: execution.ProbeWarning, Topic: execution.TopicRole}, true},
		{execution.ProbeFinding{Level: execution.ProbeWarning, Topic: execution.TopicSession}, true},
		{execution.ProbeFinding{Level: execution.ProbeWarning}, true}, // a warning without a topic
		{execution.ProbeFinding{Level: execution.ProbeWarning, Topic: execution.TopicTransport}, false},
		{execution.ProbeFinding{Level: execution.ProbeWarning, Topic: execution.TopicServer}, false},
		{execution.ProbeFinding{Level: execution.ProbeNote, Topic: execution.TopicRole}, false},
	} {
		v.finding.Message = "what was found"
		backend := &spy{report: execution.ProbeReport{Findings: []execution.ProbeFinding{v.finding}}}
		g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) { c.RefuseWritableRole = true }))
		_, err := query(t.Context(), g, "SELECT 1")
		if (execution.CodeOf(err) == sqlguard.CodeNotConfigured) != v.refused || v.refused != (len(backend.sent) == 0) {
			t.Errorf("%+v: %v", v.finding, err)
		}
		if v.refused && !strings.Contains(err.Error(), "what was found") {
			t.Errorf("the refusal does not say why: %v", err)
		}
	}
}

// A role that may do more than before is refused when the server is next asked.
func TestRoleIsProbedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &spy{}
		g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) { c.RefuseWritableRole = true }))
		if _, err := query(t.Context(), g, "SELECT 1"); err != nil {
			t.Fatal(err)
		}
		backend.report.Findings = []execution.ProbeFinding{{Level: execution.ProbeWarning, Topic: execution.TopicRole, Message: "is a superuser now"}}
		time.Sleep(execution.DefaultRefreshEvery)
		sent := len(backend.sent)
		for range 2 {
			_, err := query(t.Context(), g, "SELECT 1")
			if execution.CodeOf(err) != sqlguard.CodeNotConfigured || !strings.Contains(err.Error(), "is a superuser now") {
				t.Errorf("error %v, want that of the role", err)
			}
		}
		if len(backend.sent) != sent {
			t.Error("a statement ran")
		}
		backend.report.Findings = nil
		if _, err := query(t.Context(), g, "SELECT 1"); err != nil {
			t.Errorf("once the role may only read: %v", err)
		}
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
