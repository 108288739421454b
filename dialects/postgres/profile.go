package postgres

import (
	"slices"

	"github.com/ktxhq/ktx/dialects/internal/denied"
	"github.com/ktxhq/ktx/sqlguard"
)

// profile describes a relative of PostgreSQL: a server with the same grammar, and with
// functions and system relations of its own. A nil profile is PostgreSQL itself.
type profile struct {
	name, title string
	// denied are its functions that do more than read, by name or schema.name. Those of
	// whole are also called by the notation x.f, in which x is the only argument.
	denied denied.Table
	whole  map[string]bool
	// allowed are its own functions that only compute or report, in lower case.
	allowed map[string]bool
	// shared, when it is not nil, are the functions that it has of PostgreSQL's. Every
	// other name of PostgreSQL may be a user's function there.
	shared map[string]bool
	// relations judges its own system relations by their names, which are found without
	// a schema and in pg_catalog.
	relations denied.Table
	readable  map[string]string // those that may be read, with the columns that are refused
	// extensions are always there.
	extensions []string
}

// Profile returns the dialect of a relative of PostgreSQL, by the names that [Profiles]
// lists.
func Profile(name string) (Dialect, bool) {
	for _, p := range profiles {
		if p.name == name {
			return Dialect{profile: p}, true
		}
	}
	return Dialect{}, false
}

// Profiles returns the names of the relatives of PostgreSQL, sorted.
func Profiles() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.name
	}
	slices.Sort(names)
	return names
}

// Profile returns the name of the relative that the dialect is for, "" for PostgreSQL.
func (d Dialect) Profile() string {
	if d.profile == nil {
		return ""
	}
	return d.profile.name
}

// function is lookupFunction for the profile.
func (p *profile) function(schema, name string) (functionFacts, bool) {
	if p == nil {
		return lookupFunction(schema, name)
	}
	if p.allowed[name] && (schema == "" || schema == "pg_catalog") {
		return functionFacts{Class: functionAllowed, majors: allMajors}, true
	}
	if r := p.refusal(schema, name); r != nil {
		return functionFacts{Class: functionDenied, Code: r.Code, Reason: r.Reason, majors: allMajors}, true
	}
	facts, listed := lookupFunction(schema, name)
	if listed && schema == "" && p.shared != nil && !p.shared[name] && facts.Class != functionDenied {
		return functionFacts{}, false
	}
	return facts, listed
}

// refusal returns the rule that refuses a function, or nil. A function without a schema
// in the table is found in pg_catalog and public too.
func (p *profile) refusal(schema, name string) *denied.Rule {
	switch schema {
	case "", "pg_catalog", "public":
		return p.denied.Find(name)
	default:
		return p.denied.Find(schema + "." + name)
	}
}

// takesWholeRow reports whether x.name may call a function that the profile refuses.
func (p *profile) takesWholeRow(name string) bool { return p != nil && p.whole[name] }

// has reports whether an extension is always there.
func (p *profile) has(extension string) bool {
	return p != nil && slices.Contains(p.extensions, extension)
}

// relation is systemRelation for the profile.
func (p *profile) relation(schema, name string) (relationFacts, bool) {
	if p != nil && (schema == "" || schema == "pg_catalog") {
		if columns, ok := p.readable[name]; ok {
			facts := relationFacts{Allowed: true, columns: columns, majors: allMajors, known: true, relations: name}
			if columns != "" {
				facts.Code, facts.Reason = sqlguard.CodeColumnNotAllowed, "shows with which rights the server reaches others"
			}
			return facts, true
		}
		if r := p.relations.Find(name); r != nil {
			return relationFacts{Code: r.Code, Reason: r.Reason}, true
		}
	}
	return systemRelation(schema, name)
}
