package sqlguard

import (
	"fmt"
	"slices"
	"strings"
)

// A Group is a set of facts that a server tells about itself. A policy reveals groups by
// name. No group has passwords, keys or connection strings.
type Group string

// The groups. The lists of each dialect say what belongs to them.
const (
	// GroupStatistics has what the planner knows of tables and columns, and counters of
	// the server.
	GroupStatistics Group = "statistics"
	// GroupSettings has the settings of the server and where they come from.
	GroupSettings Group = "settings"
	// GroupRoles has accounts, their rights and their members, without what proves an
	// identity.
	GroupRoles Group = "roles"
	// GroupActivity has what other sessions do, with the text of their statements.
	GroupActivity Group = "activity"
	// GroupReplication has the state of replicas, publishers and subscribers.
	GroupReplication Group = "replication"
	// GroupStorage has files, pages and buffers, without what is in them.
	GroupStorage Group = "storage"
	// GroupDefinitions has the source text of views, routines and triggers.
	GroupDefinitions Group = "definitions"
)

// Groups returns all groups, in the order of the documents.
func Groups() []Group {
	return []Group{GroupStatistics, GroupSettings, GroupRoles, GroupActivity, GroupReplication, GroupStorage, GroupDefinitions}
}

// Revealed is one member of a group: a relation, a column, a function, a setting or a
// kind of statement of a dialect.
type Revealed struct {
	Group Group
	Kind  string // "relation", "column", "function", "setting" or "statement"
	Name  string
	// Always says that it needs no policy, because it never shows the data of a table
	// or the statements of others.
	Always bool
	// Samples says that it shows values from tables. A policy with rules on schemas,
	// tables or columns does not reveal it.
	Samples bool
}

// reveals reports whether the policy admits a member of a group.
func (p *Policy) reveals(group Group, samples bool) bool {
	return group != "" && slices.Contains(p.Reveal, group) && (!samples || !p.rules())
}

// rules reports whether the policy has rules on schemas, tables or columns.
func (p *Policy) rules() bool {
	return len(p.Schemas.Allow)+len(p.Schemas.Deny)+len(p.Tables.Allow)+len(p.Tables.Deny)+len(p.Columns) > 0
}

// reveal admits in the facts of a statement what the policy reveals.
func (g *Guard) reveal(s *Statement) {
	p := &g.policy
	for i := range s.Relations {
		if r := &s.Relations[i].Ruling; r.Ruled && !p.rules() {
			*r = Ruling{Allowed: true}
		}
	}
	if len(p.Reveal) == 0 {
		return
	}
	admit := func(r *Ruling) {
		if !r.Allowed && p.reveals(r.Reveal, r.Samples) {
			*r = Ruling{Allowed: true}
		}
	}
	for i := range s.Relations {
		admit(&s.Relations[i].Ruling)
	}
	for i := range s.Calls {
		admit(&s.Calls[i].Ruling)
		admit(&s.Calls[i].Member)
	}
	for i := range s.Settings {
		admit(&s.Settings[i].Ruling)
	}
	s.Effects = slices.DeleteFunc(s.Effects, func(f Finding) bool { return p.reveals(f.Reveal, f.Samples) })
}

// by returns the finding with the group of the ruling that it reports.
func (f Finding) by(r Ruling) Finding {
	f.Reveal, f.Samples = r.Reveal, r.Samples
	if r.Excess {
		f.Hint = smallerHint
	}
	return f
}

// revealHint adds to a hint which group of the policy would admit what a finding names.
func revealHint(f *Finding) string {
	if f.Reveal == "" {
		return f.Hint
	}
	how := fmt.Sprintf("the operator can allow it with guard.reveal: [%s]", f.Reveal)
	if f.Samples {
		how += " on a connection without access rules"
	}
	if f.Hint == "" || strings.HasSuffix(f.Hint, how) {
		return how
	}
	return f.Hint + "; " + how
}

// validGroups returns an error for a group that does not exist.
func validGroups(groups []Group) error {
	for _, group := range groups {
		if !slices.Contains(Groups(), group) {
			names := make([]string, 0, len(Groups()))
			for _, known := range Groups() {
				names = append(names, string(known))
			}
			return fmt.Errorf("guard.reveal: %q is no group; the groups are %s", group, strings.Join(names, ", "))
		}
	}
	return nil
}
