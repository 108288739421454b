package plan_test

import (
	"testing"
	"testing/fstest"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// accounts and days are a model for what depends on how a model is written.
const (
	accounts = `
name: accounts
table: accounts
grain: [id]
columns: [{name: id, type: number}, {name: owner, type: string}]
measures:
  - {name: accounts, expr: count(*)}
`
	days = `
name: days
table: days
grain: [account_id, day]
columns: [{name: account_id, type: number}, {name: day, type: time}, {name: balance, type: number}, {name: open, type: boolean}]
joins: [{to: accounts, on: account_id = accounts.id, relationship: many_to_one}]
measures:
  - {name: closing, expr: sum(balance), semi_additive: {over: day, take: last, per: [account_id]}}
`
)

func TestModelsThatMakeARefusal(t *testing.T) {
	tests := []struct {
		name, measure, ask string
		class              expr.Class
	}{
		{"two measures of a chain are semi-additive", "{name: twice, expr: closing + 1, semi_additive: {over: day, take: first, per: []}}", "days.twice", expr.InvalidMeasure},
		{"semi-additive over another source", "{name: mixed, expr: accounts.accounts + sum(balance), semi_additive: {over: day, take: last, per: []}}", "days.mixed", expr.InvalidMeasure},
		{"a measure of itself", "{name: loop, expr: loop + 1}", "days.loop", expr.CircularMeasure},
		{"a filter that an aggregate below does not reach", "{name: open_accounts, expr: accounts.accounts, filter: open}", "days.open_accounts", expr.FanOut},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := model.Load(fstest.MapFS{
				"accounts.yaml": &fstest.MapFile{Data: []byte(accounts)},
				"days.yaml":     &fstest.MapFile{Data: []byte(days + "  - " + test.measure + "\n")},
			}, "bank", nil)
			p, err := plan.Build(m, ask(test.ask, "accounts.owner"))
			if err == nil {
				t.Fatalf("planned:\n%s", dump(p))
			}
			if err.Class != test.class {
				t.Errorf("want %s, got %v", test.class, err)
			}
			t.Log(err)
		})
	}
}
