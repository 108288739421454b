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
