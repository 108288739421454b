package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// relation is the entry of the table for one relation.
type relation struct {
	schema, name string // schema "" is a relation that is found in any
	allowed      bool
	refusal      refusal  // code and reason of a refusal, of columns if allowed
	columns      []string // refused columns, sorted
	majors       majorSet
}

// catalogue has the other generated data.
type catalogue struct {
	relations []relation
	settings  []string // lower case, sorted
	operators []string // sorted
	types     []typeName
	problems  []string
}

type typeName struct{ schema, name string }

func (c *catalogue) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// judgeCatalogue applies the review to relations, settings, operators, casts
// and types. It compares operators and casts with the verdicts on the functions that
// implement them.
func judgeCatalogue(f *Facts, j *judgement) (*catalogue, error) {
	c := &catalogue{}
	c.judgeRelations(f)
	c.judgeSettings(f)
	c.judgeOperators(f, j)
	c.judgeTypes(f)
	if len(c.problems) > 0 {
		slices.Sort(c.problems)
		return nil, fmt.Errorf("the review does not fit the facts:\n%s", strings.Join(slices.Compact(c.problems), "\n"))
	}
	return c, nil
}

func (c *catalogue) judgeRelations(f *Facts) {
	type key struct{ schema, name string }
	majors := map[key]majorSet{}
	columns := map[key]map[string]bool{}
	private := map[key]bool{}
	f.each("relations.tsv", func(x []string, m majorSet) {
		k := key{x[0], x[1]}
		if strings.HasPrefix(x[0], "ext:") {
			k.schema = ""
		}
		majors[k] |= m
		private[k] = private[k] || strings.Contains(x[3], "X")
		if columns[k] == nil {
			columns[k] = map[string]bool{}
		}
		for column := range strings.SplitSeq(x[4], ",") {
			columns[k][column] = true
		}
	})
	seen := map[key]bool{}
	put := func(r relation) {
		k := key{r.schema, r.name}
		if seen[k] {
			c.problem("relation %s.%s is listed twice", k.schema, k.name)
		}
		seen[k] = true
		if majors[k] == 0 {
			c.problem("relation %s.%s is listed but no server has it", k.schema, k.name)
		}
		for _, column := range r.columns {
			if !columns[k][column] {
				c.problem("relation %s.%s has no column %s", k.schema, k.name, column)
			}
		}
		if r.allowed && private[k] {
			c.problem("relation %s.%s is allowed but closed to PUBLIC", k.schema, k.name)
		}
		if k.schema == "pg_catalog" && !strings.HasPrefix(k.name, "pg_") {
			c.problem("relation pg_catalog.%s lacks the prefix by which an unqualified name is recognised", k.name)
		}
		r.majors = majors[k]
		c.relations = append(c.relations, r)
	}
	group := func(schema, allowed string, restricted map[string]refusal, refused []refusal) {
		for name := range strings.FieldsSeq(allowed) {
			put(relation{schema: schema, name: name, allowed: true})
		}
		for name, r := range restricted {
			put(relation{schema: schema, name: name, allowed: true, refusal: r, columns: slices.Sorted(strings.FieldsSeq(r.names))})
		}
		for _, r := range refused {
			for name := range strings.FieldsSeq(r.names) {
				put(relation{schema: schema, name: name, refusal: r})
			}
		}
	}
	group("pg_catalog", allowedRelations, restrictedRelations, refusedRelations)
	group("information_schema", allowedInformationSchemaRelations, nil, refusedInformationSchemaRelations)
	group("", allowedExtensionRelations, restrictedExtensionRelations, refusedExtensionRelations)
	for k := range majors {
		if !seen[k] {
			c.problem("relation %s.%s is not reviewed", k.schema, k.name)
		}
	}
	for _, r := range refusedQualifiedRelations {
		for qualified := range strings.FieldsSeq(r.names) {
			schema, name, _ := strings.Cut(qualified, ".")
			c.relations = append(c.relations, relation{schema: schema, name: name, refusal: r})
		}
	}
	slices.SortFunc(c.relations, func(a, b relation) int {
		return strings.Compare(a.name+"\x00"+a.schema, b.name+"\x00"+b.schema)
	})
}

func (c *catalogue) judgeSettings(f *Facts) {
	hidden, known := map[string]bool{}, map[string]bool{}
	f.each("settings.tsv", func(x []string, _ majorSet) {
		name := strings.ToLower(x[0])
		known[name] = true
		hidden[name] = hidden[name] || strings.Contains(x[3], "X")
	})
	exceptions := strings.Fields(allowedSettings)
	patterns := strings.Fields(refusedSettingPatterns)
	used := map[string]bool{}
	for name := range known {
		refused := hidden[name]
		for _, pattern := range patterns {
			if ok, err := path.Match(pattern, name); err != nil {
				c.problem("pattern %s: %v", pattern, err)
			} else if ok {
				refused, used[pattern] = true, true
			}
		}
		if slices.Contains(exceptions, name) {
			if hidden[name] {
				c.problem("setting %s is allowed but hidden from plain roles", name)
			}
			refused = false
		}
		if !refused {
			c.settings = append(c.settings, name)
		}
	}
	for _, pattern := range patterns {
		if !used[pattern] {
			c.problem("pattern %s matches no setting", pattern)
		}
	}
	for name := range strings.FieldsSeq(unlistedSettings) {
		if known[name] {
			c.problem("setting %s is in the facts after all", name)
		}
		c.settings = append(c.settings, name)
	}
	slices.Sort(c.settings)
	for name := range strings.FieldsSeq(minimumSettings) {
		if !slices.Contains(c.settings, name) {
			c.problem("setting %s must be on the list", name)
		}
	}
}

// judgeOperators lists an operator when the functions of all operators of its name are
// harmless. Casts are not listed, but each must have a harmless function too.
func (c *catalogue) judgeOperators(f *Facts, j *judgement) {
	names := map[string]bool{}
	harmless := func(what, function string) {
		if j.verdicts[function].class != classAllowed && !j.unlisted[function] {
			c.problem("%s rests on %s, which is not allowed", what, function)
		}
	}
	f.each("operators.tsv", func(x []string, _ majorSet) {
		harmless("operator "+x[1], x[4])
		names[x[1]] = true
	})
	f.each("casts.tsv", func(x []string, _ majorSet) {
		harmless("the cast from "+x[1]+" to "+x[2], x[3])
	})
	for _, list := range manualOperators {
		for name := range strings.FieldsSeq(list) {
			names[name] = true
		}
	}
	for name := range names {
		c.operators = append(c.operators, name)
	}
	slices.Sort(c.operators)
}

func (c *catalogue) judgeTypes(f *Facts) {
	reviewed := map[string]bool{}
	for _, e := range harvestedExtensions {
		reviewed["ext:"+e.name] = e.allowed != ""
	}
	add := func(schema, name string) {
		c.types = append(c.types, typeName{schema, name})
	}
	f.each("types.tsv", func(x []string, _ majorSet) {
		switch origin := x[0]; {
		case !strings.HasPrefix(origin, "ext:"):
			add(origin, x[1])
		case reviewed[origin]:
			add("", x[1])
		}
	})
	for _, list := range manualTypes {
		for name := range strings.FieldsSeq(list) {
			add("", name)
			add("", "_"+name)
		}
	}
	slices.SortFunc(c.types, func(a, b typeName) int {
		return strings.Compare(a.name+"\x00"+a.schema, b.name+"\x00"+b.schema)
	})
	for i := 1; i < len(c.types); i++ {
		if c.types[i].name == c.types[i-1].name {
			c.problem("type %s is listed twice", c.types[i].name)
		}
	}
}
