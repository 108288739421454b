package executiontest

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// Leaks puts the corpus's cases of the class rule-leak to gateways on real databases. Under
// the rule that a case names, its statement is refused, and its benign twin runs.
//
// Open makes a database with the statements of setup and opens a gateway on it, with one
// connection of the ID leaks. Deny returns the policy; schema, when not empty, stands for
// the schema that the case's rule names.
func Leaks(t *testing.T, dialect string, open func(t *testing.T, setup []string, deny func(schema string) sqlguard.Policy) *execution.Gateway) {
	t.Helper()
	fixture, err := fs.ReadFile(corpus.Files(), "fixtures/"+dialect+".sql")
	if err != nil {
		t.Fatal(err)
	}
	cases := corpus.Cases()
	twins := map[string]corpus.Case{}
	for _, c := range cases {
		twins[c.ID] = c
	}
	for _, c := range cases {
		if c.Dialect != dialect || c.Policy == nil || c.Policy.Deny == nil {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			setup := []string{string(fixture)}
			if c.Setup != nil {
				setup = append(setup, c.Setup.Database...)
			}
			g := open(t, setup, func(schema string) sqlguard.Policy { return Denying(c, schema) })
			ask := func(sql string) error {
				_, err := g.Query(t.Context(), execution.Request{ConnectionID: "leaks", SQL: sql})
				return err
			}
			if err := ask(c.SQL); !slices.Contains(c.Codes, string(execution.CodeOf(err))) {
				t.Errorf("%s: %v, want one of %v", c.SQL, err, c.Codes)
			}
			if twin := twins[c.BenignTwin]; twin.SQL == "" {
				t.Error("the case has no twin")
			} else if err := ask(twin.SQL); err != nil {
				t.Errorf("%s: %v, want an answer", twin.SQL, err)
			}
		})
	}
}

// Denying returns the policy with the rule of a case. Schema, when not empty, stands for
// the schema that the rule names.
func Denying(c corpus.Case, schema string) sqlguard.Policy {
	p := sqlguard.DefaultPolicy()
	for _, name := range c.Policy.Deny {
		if own, rest, ok := strings.Cut(name, "."); ok && schema != "" {
			name = strings.Replace(name, own+"."+rest, schema+"."+rest, 1)
		}
		if strings.Count(name, ".") == 1 {
			p.Tables.Deny = append(p.Tables.Deny, name)
		} else {
			p.Columns = append(p.Columns, sqlguard.ColumnRule{Match: name})
		}
	}
	return p
}
