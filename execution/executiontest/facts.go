package executiontest

import (
	"slices"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// topics are the topics that findings may have.
var topics = []execution.ProbeTopic{execution.TopicRole, execution.TopicSession, execution.TopicTransport, execution.TopicServer}

// testFacts checks that a backend reports facts about its server, and that they
// are correct.
func testFacts(t *testing.T, s *suite) {
	t.Helper()
	c, _ := s.open(t, 2)
	t.Run("catalogue", func(t *testing.T) {
		catalog, err := c.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(catalog.SearchPath) == 0 {
			t.Error("the catalogue has no search path")
		}
		again, err := c.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if catalog.Major != again.Major || catalog.Database != again.Database || !slices.Equal(catalog.SearchPath, again.SearchPath) {
			t.Errorf("the catalogue has changed from %+v to %+v", catalog, again)
		}
	})
	t.Run("probe", func(t *testing.T) {
		report, err := c.Probe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !report.ReadOnly {
			t.Error("the server did not refuse the write that the probe tried")
		}
		if report.Server == "" {
			t.Error("the report does not name the server")
		}
		for _, f := range report.Findings {
			if f.Level != execution.ProbeWarning && f.Level != execution.ProbeNote || f.Message == "" || !slices.Contains(topics, f.Topic) {
				t.Errorf("finding %+v, want a warning or a note with a topic and a message", f)
			}
		}
		s.answers(t, c)
	})
}

// executionCodes are the codes that an [execution.Error] may have.
func executionCodes() []sqlguard.Code {
	var codes []sqlguard.Code
	for _, info := range sqlguard.Codes() {
		if info.Family == sqlguard.FamilyExecution {
			codes = append(codes, info.Code)
		}
	}
	return codes
}
