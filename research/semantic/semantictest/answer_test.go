package semantictest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/semantic/semantictest"
)

// TestByHand holds the evaluator against answers that were computed on paper from the
// rules and the rows in export_test.go.
func TestByHand(t *testing.T) {
	want := map[string]string{
		"total by region":        "name, total | asia, NULL | eu, 15 | us, 2.5 | NULL, 5",
		"without empty members":  "name, total | eu, 15 | us, 2.5 | NULL, 5",
		"count of empty members": "name, count, mean | asia, 0, NULL | eu, 2, 7.5 | us, 1, 2.5 | NULL, 2, 2.5",
		"two facts":              "name, orders_total, returns_total | ann, 15, 3 | bob, 2.5, NULL | eve, NULL, 2 | NULL, 5, 1",
		"net of two facts":       "name, net | ann, 12 | bob, 2.5 | eve, -2 | NULL, 4",
		"no dimensions":          "orders_total, returns_total, mean | 22.5, 6, 4.5",
		"no rows":                "total, count | NULL, 0",
		"weeks":                  "placed_week, total | 2024-12-30, 21.5 | NULL, 1",
		"quarters":               "placed_quarter, total | 2024-10-01, 15 | 2025-01-01, 6.5 | NULL, 1",
		"years":                  "placed_year, total | 2024-01-01, 15 | 2025-01-01, 6.5 | NULL, 1",
		"measure filter":         "name, total | eu, 15 | NULL, 5",
		"filter on another fact": "name, total | ann, 15 | eve, NULL",
		"row filter":             "name, total | eu, 10 | us, 2.5 | NULL, 4",
		"filter on members":      "name, total | asia, NULL | us, 2.5",
		"segment":                "name, total | asia, NULL | eu, 10 | us, 2.5 | NULL, 4",
		"segment of a measure":   "name, paid, rest | eu, 10, 5 | us, 2.5, 0 | NULL, 4, 1",
		"dimensions only":        "regions_name, customers_name | eu, ann | eu, eve | us, bob",
		"computed column":        "tier, total | gold, 15 | plain, 2.5 | NULL, 5",
		"last balances":          "day_month, last, first, latest | 2024-01-01, 160, 150, 110 | 2024-02-01, 85, 85, -5 | NULL, NULL, NULL, NULL",
		"last of all":            "last, first, latest | 85, 150, -5",
		"order and limit":        "name, total | ann, 15 | NULL, 5 | bob, 2.5",
		"role":                   "name, count | ann, 0 | bob, 2 | eve, 0",
		"role as base":           "receiver_name, regions_name, count | ann, eu, 1 | bob, us, 1 | eve, eu, 1",
		"names that collide":     "name, orders_count, customers_count | asia, 0, 0 | eu, 2, 2 | us, 1, 1 | NULL, 2, 0",
		"ad hoc":                 "name, x0 | asia, NULL | eu, 7.5 | us, 2.5 | NULL, NULL",

		"fan out":                 "refused: fan_out",
		"disconnected":            "refused: disconnected",
		"ambiguous path":          "refused: ambiguous_join_path",
		"filter on one fact":      "refused: filter_not_applicable",
		"mixed filter":            "refused: mixed_filter",
		"segment of nothing":      "refused: segment_not_applicable",
		"hidden":                  "refused: hidden_field",
		"granularity of a text":   "refused: invalid_granularity",
		"empty":                   "refused: invalid_request",
		"twice":                   "refused: invalid_request",
		"dimensions of two facts": "refused: fan_out",
	}
	if d := cmp.Diff(want, semantictest.ByHand()); d != "" {
		t.Errorf("answers (-want +got):\n%s", d)
	}
}
