// Package denied has the tables of functions that a dialect refuses by their names.
package denied

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Rule refuses functions, with a code and a reason. A name that ends with a star stands
// for all names that begin so. White space separates names; their case does not count.
type Rule struct {
	Names  string
	Code   sqlguard.Code
	Reason string
}

// Ruling is the refusal of the rule.
func (r *Rule) Ruling() sqlguard.Ruling { return sqlguard.Ruling{Code: r.Code, Reason: r.Reason} }

// Table finds the rule of a function.
type Table struct {
	Names    map[string]*Rule // those without a star, in lower case
	prefixes []prefix
}

type prefix struct {
	text string
	rule *Rule
}

// NewTable returns the table of rules.
func NewTable(rules []Rule) Table {
	t := Table{Names: map[string]*Rule{}}
	for i := range rules {
		rule := &rules[i]
		for name := range strings.FieldsSeq(strings.ToLower(rule.Names)) {
			if text, ok := strings.CutSuffix(name, "*"); ok {
				t.prefixes = append(t.prefixes, prefix{text, rule})
			} else {
				t.Names[name] = rule
			}
		}
	}
	return t
}

// Find returns the rule for the function of that name, in lower case, or nil.
func (t Table) Find(name string) *Rule {
	if rule := t.Names[name]; rule != nil {
		return rule
	}
	for _, p := range t.prefixes {
		if strings.HasPrefix(name, p.text) {
			return p.rule
		}
	}
	return nil
}
