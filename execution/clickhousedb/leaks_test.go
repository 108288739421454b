package clickhousedb_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestRulesDoNotLeakOnTheEngine puts the cases of rules to ClickHouse itself.
func TestRulesDoNotLeakOnTheEngine(t *testing.T) {
	chengine.Need(t)
	executiontest.Leaks(t, "clickhouse", func(t *testing.T, setup []string, deny func(string) sqlguard.Policy) *execution.Gateway {
		t.Helper()
		if strings.HasSuffix(t.Name(), "/KTX-CH-LEAK-0007") {
			t.Skip("ktx reads no definition of a view of ClickHouse: under rules on columns it refuses every view")
		}
		e := chengine.Start(t, chengine.Config{})
		for _, script := range setup {
			e.Exec(t, statements(script)...)
		}
		address, policy := e.Serve(t, chengine.Door{}).URL("default"), deny("")
		g, err := execution.NewGateway(t.Context(), &audittest.Log{}, execution.Connection{
			ID: "leaks", Engine: "CLICKHOUSE", Dialect: clickhouse.Dialect{}, Policy: policy,
			Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
				return clickhousedb.Open(ctx, clickhousedb.Config{URL: execution.NewSecret(address), Access: sqlguard.ReadRulesOf(clickhouse.Dialect{}, policy)}, guard)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = g.Close(context.Background()) })
		return g
	})
}

// statements returns the statements of a script.
func statements(script string) (out []string) {
	from := 0
	for _, token := range (clickhouse.Dialect{}).Lex(script + ";").List {
		if token.Kind != sqlguard.TokenTerminator {
			continue
		}
		if text := strings.TrimSpace(script[min(from, len(script)):token.Start]); text != "" {
			out = append(out, text)
		}
		from = token.End
	}
	return out
}
