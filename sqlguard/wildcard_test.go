package sqlguard_test

import (
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

// qualified is a reader for a server whose names of relations commonly have a database.
type qualified struct{ reader }

func (qualified) NamesHaveDatabases() bool { return true }

// TestRelationsByPrefix checks that a relation which stands for all with a prefix passes
// only if the rules permit each of them.
func TestRelationsByPrefix(t *testing.T) {
	deny := func(names ...string) sqlguard.Policy { return sqlguard.Policy{Tables: sqlguard.Names{Deny: names}} }
	allow := func(names ...string) sqlguard.Policy { return sqlguard.Policy{Tables: sqlguard.Names{Allow: names}} }
	for _, test := range []struct {
		policy       sqlguard.Policy
		schema, name string
		want         string
	}{
		{sqlguard.Policy{}, "s", "a*", ""},
		{deny("s.ab"), "s", "a*", "relation_not_allowed"},
		{deny("s.ab"), "s", "ab*", "relation_not_allowed"},
		{deny("s.ab"), "s", "abc*", ""},
		{deny("s.ab"), "s", "A*", "relation_not_allowed"},
		{deny("S.ab"), "s", "a*", "relation_not_allowed"},
		{deny("s.ab"), "x", "a*", ""},
		{deny("s.ab*"), "s", "abc*", "relation_not_allowed"},
		{deny("s.ab*"), "s", "a*", "relation_not_allowed"},
		{deny("s.ab*"), "s", "b*", ""},
		{deny("s.*"), "s", "b*", "relation_not_allowed"},
		{deny("s.ab"), "s", "*", "relation_not_allowed"},
		{deny("s.\u212aelvin"), "s", "kel*", "relation_not_allowed"}, // a kelvin sign folds to k
		{deny("s.kelvin"), "s", "\u212ael*", "relation_not_allowed"},
		{allow("s.a*"), "s", "ab*", ""},
		{allow("s.a*"), "s", "a*", ""},
		{allow("s.ab*"), "s", "a*", "relation_not_allowed"},
		{allow("s.ab"), "s", "ab*", "relation_not_allowed"},
		{allow("s.*"), "s", "*", ""},
		{allow("s.A*"), "s", "ab*", "relation_not_allowed"},
		{sqlguard.Policy{Schemas: sqlguard.Names{Deny: []string{"s"}}}, "S", "a*", "relation_not_allowed"},
		{sqlguard.Policy{Schemas: sqlguard.Names{Allow: []string{"s"}}}, "s", "a*", ""},
		{sqlguard.Policy{Schemas: sqlguard.Names{Allow: []string{"s"}}}, "x", "a*", "relation_not_allowed"},
		{deny("s.ab"), "", "a*", "unresolved_object"},
		{sqlguard.Policy{Columns: []sqlguard.ColumnRule{{Match: "s.ab.c"}}}, "s", "a*", "column_not_allowed"},
		{sqlguard.Policy{Columns: []sqlguard.ColumnRule{{Match: "s.ab.c"}}}, "s", "b*", "unresolved_object"},
	} {
		d := selecting(func(s *sqlguard.Statement) {
			s.Relations = []sqlguard.Relation{{Schema: test.schema, Name: test.name, Prefix: true, Ruling: sqlguard.Ruling{Allowed: true}}}
			s.ColumnRefs = []sqlguard.ColumnRef{{Name: "c"}}
		})
		if got := codes(newGuard(t, d, test.policy, nil).Check("SELECT 1")); got != test.want {
			t.Errorf("%+v: %s.%s: codes = %q, want %q", test.policy, test.schema, test.name, got, test.want)
		}
	}
}

// TestDatabasesWithoutConnection checks names with a database when the connection's own one
// is not known.
func TestDatabasesWithoutConnection(t *testing.T) {
	for _, test := range []struct {
		name    string
		policy  sqlguard.Policy
		catalog *sqlguard.Catalog
		want    string
	}{
		{"no rule", sqlguard.Policy{}, nil, ""},
		{"another is denied", sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"s.u"}}}, nil, ""},
		{"denied in every database", sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"s.t"}}}, nil, "relation_not_allowed"},
		{"allowed, perhaps of another database", sqlguard.Policy{Tables: sqlguard.Names{Allow: []string{"s.t"}}}, nil, "external_relation"},
		{"schema allowed, perhaps of another database", sqlguard.Policy{Schemas: sqlguard.Names{Allow: []string{"s"}}}, nil, "external_relation"},
		{"listed", sqlguard.Policy{Databases: []string{"p"}, Tables: sqlguard.Names{Allow: []string{"s.t"}}}, nil, ""},
		{"own", sqlguard.Policy{}, &sqlguard.Catalog{Database: "p"}, ""},
		{"another", sqlguard.Policy{}, &sqlguard.Catalog{Database: "q"}, "external_relation"},
	} {
		d := qualified{selecting(func(s *sqlguard.Statement) {
			s.Relations = []sqlguard.Relation{{Database: "p", Schema: "s", Name: "t", Ruling: sqlguard.Ruling{Allowed: true}}}
		})}
		if got := codes(newGuard(t, d, test.policy, test.catalog).Check("SELECT 1")); got != test.want {
			t.Errorf("%s: codes = %q, want %q", test.name, got, test.want)
		}
	}
}
