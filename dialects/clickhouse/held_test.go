package clickhouse_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// TestHeldStatementsOfTheEngine reads statements that others wrote from the file that
// KTX_CLICKHOUSE_HELD names, with a line {"source": …, "sql": …} for each. None that is
// allowed may be anything but one read to the engine, and of those that are one read it
// counts the refused ones by their source and code.
func TestHeldStatementsOfTheEngine(t *testing.T) {
	path := os.Getenv("KTX_CLICKHOUSE_HELD")
	if path == "" {
		t.Skip("KTX_CLICKHOUSE_HELD names no file")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	e := startEngine(t)
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	reads, refused, others, wrong := map[string]int{}, map[string]int{}, 0, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var s struct{ Source, SQL string }
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		v := g.CheckOnce(s.SQL)
		fault := judge(t, e, s.SQL)
		switch {
		case fault != "" && v.Allowed:
			wrong++
			t.Errorf("allowed: %q\nto the engine: %s", s.SQL, fault)
		case fault != "":
			others++
		case v.Allowed:
			reads[s.Source]++
		default:
			reads[s.Source]++
			refused[fmt.Sprint(s.Source, " ", v.Code)]++
			t.Logf("refused\t%s\t%s\t%s\t%q", s.Source, v.Code, v.Findings[0].Message, s.SQL)
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	for _, source := range slices.Sorted(maps.Keys(reads)) {
		t.Logf("%s: %d reads", source, reads[source])
	}
	for _, k := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%d refused: %s", refused[k], k)
	}
	t.Logf("%d texts are no single read to the engine; %d of them allowed", others, wrong)
}
