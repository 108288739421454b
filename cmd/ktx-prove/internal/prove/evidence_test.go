package prove_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
	"github.com/ktxhq/ktx/corpus"
)

const classText = `# A comment.
schema: ktx-corpus/1
class: ddl
dialect: sqlite
cases:
  - id: KTX-LITE-DDL-0001
    title: "It's # odd"
    sql: |
      SELECT 1

      -- evidence: none
    expect: reject # yes
    evidence:
      - {engine: sqlite, version: "3.52.0", outcome: executed, date: 2026-01-01}
      - {engine: sqlite, version: "3.53.1", outcome: executed, date: 2026-02-02}
      - {source: docs, ref: "https://example.com/"}
    benign_twin: KTX-LITE-DDL-0001B
    since: "0.1.0"

  - id: KTX-LITE-DDL-0001B
    title: b
    sql: SELECT 2
    expect: allow
`

func TestInsertEvidence(t *testing.T) {
	t.Parallel()
	seen := corpus.Evidence{Engine: "sqlite", Version: "3.53.4", Role: "r", Tx: "none", Outcome: "executed", Probe: `changed: file "a": b, # c`, Date: "2026-03-03"}
	const line = `      - {engine: "sqlite", version: "3.53.4", role: "r", tx: "none", outcome: "executed", probe: "changed: file \"a\": b, # c", date: "2026-03-03"}` + "\n"
	got, err := prove.InsertEvidence([]byte(classText), map[string][]corpus.Evidence{
		"KTX-LITE-DDL-0001": {seen}, "KTX-LITE-DDL-0001B": {seen}, "unknown": {seen},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		`      - {engine: sqlite, version: "3.52.0", outcome: executed, date: 2026-01-01}`, `      - {engine: "sqlite", version: "3.52.0", outcome: "executed", date: "2026-01-01"}`,
		`      - {engine: sqlite, version: "3.53.1", outcome: executed, date: 2026-02-02}`+"\n", "",
		`      - {source: docs, ref: "https://example.com/"}`+"\n", `      - {source: "docs", ref: "https://example.com/"}`+"\n"+line,
	).Replace(classText) + "    evidence:\n" + line
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, err := prove.InsertEvidence(got, map[string][]corpus.Evidence{"KTX-LITE-DDL-0001": {seen}, "KTX-LITE-DDL-0001B": {seen}}); err != nil || string(again) != string(got) {
		t.Errorf("a second run changes the text: %v", err)
	}
}

// TestEvidenceIsFolded checks that attempts with the same result become one
// line, and that a line never covers an attempt with another result.
func TestEvidenceIsFolded(t *testing.T) {
	t.Parallel()
	row := func(role, tx, outcome string) corpus.Evidence {
		return corpus.Evidence{Engine: "sqlite", Version: "3.53.4", Role: role, Tx: tx, Outcome: outcome, Date: "2026-03-03"}
	}
	const a, b, plain, contained = "root", "reader", "none", "read_only"
	for _, c := range []struct{ outcomes, want []string }{
		{[]string{"x", "x", "x", "x"}, []string{"root, reader | none, read_only | x"}},
		{[]string{"x", "y", "x", "y"}, []string{"root, reader | none | x", "root, reader | read_only | y"}},
		{[]string{"x", "x", "y", "y"}, []string{"root | none, read_only | x", "reader | none, read_only | y"}},
		{[]string{"x", "y", "y", "y"}, []string{"root | none | x", "root | read_only | y", "reader | none, read_only | y"}},
		{[]string{"x", "y", "y", "x"}, []string{"root | none | x", "root | read_only | y", "reader | none | y", "reader | read_only | x"}},
	} {
		o := c.outcomes
		list := []corpus.Evidence{row(a, plain, o[0]), row(a, contained, o[1]), row(b, plain, o[2]), row(b, contained, o[3])}
		for range 2 { // folding twice changes nothing
			list = prove.Fold(list)
			var got []string
			for _, e := range list {
				got = append(got, e.Role+" | "+e.Tx+" | "+e.Outcome)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", o, diff)
			}
		}
	}
}

func TestInsertEvidenceRefusesWhatItWouldHarm(t *testing.T) {
	t.Parallel()
	seen := map[string][]corpus.Evidence{"KTX-LITE-DDL-0001": {{Engine: "sqlite", Version: "3.53.4", Outcome: "executed", Date: "2026-03-03"}}}
	for name, text := range map[string]string{
		"not YAML":                 "a: [",
		"a list of another layout": "{schema: ktx-corpus/1, class: ddl, dialect: sqlite, cases: [{id: KTX-LITE-DDL-0001, sql: a}]}",
	} {
		if got, err := prove.InsertEvidence([]byte(text), seen); err == nil {
			t.Errorf("%s is written: %s", name, got)
		}
	}
}
