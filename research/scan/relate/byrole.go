package relate

import (
	"slices"
	"strings"
)

const (
	scoreParent   = 0.85 // parent_id refers to a row of its own table
	scorePeople   = 0.66 // created_by and manager_id refer to people
	scoreAgent    = 0.44 // winner_id may refer to people
	scoreUsage    = 0.55 // statements join the columns
	usageBonus    = 0.10
	minStatements = 5
)

// byRole looks for roles in the name of a column: those that a row of the same table
// has (parent), and those that people have (created_by, reports_to, manager).
func (f *finder) byRole(t *table, i int, list []*proposal) []*proposal {
	c := &t.columns[i]
	if i == t.key || c.kind == moment {
		return list
	}
	for _, p := range list {
		if p.score >= scorePeople {
			return list
		}
	}
	if t.anyTable(c) {
		return list
	}
	for _, r := range c.readings {
		words := r.entity
		if len(words) == 0 {
			continue
		}
		first, last := words[0], words[len(words)-1]
		whole := join(words)
		switch {
		case selfWords[whole], len(words) > 1 && (selfWords[first] || selfWords[last]) && len(list) == 0 && (r.key != "" || nameLevel(labelOf(words[1:]), t) >= 0.7 || nameLevel(labelOf(words[:len(words)-1]), t) >= 0.7):
			score := scoreParent
			if !selfWords[whole] {
				score -= 0.2
			}
			list = f.toKey(t, i, t, score, "the name tells of another row of the table", list)
		case len(words) > 1 && personPreposition[last] && agentVerb(words), joinedRoles[whole]:
			by := strings.HasSuffix(whole, "by")
			people := f.people(t, by)
			if !by && f.isPeople(t) {
				people = []*table{t}
			}
			list = f.toPeople(t, i, people, scorePeople, "the name tells of a person who did something", list)
		case personWords[last] && len(words) <= 3, personWords[whole], r.front && personWords[first]:
			people := f.people(t, false)
			if f.isPeople(t) {
				people = []*table{t}
			}
			list = f.toPeople(t, i, people, scorePeople, "the name tells of a role that people have", list)
		case len(list) == 0 && len(words) == 1 && r.key != "" && len(whole) > 4 && hasAnySuffix(whole, "er", "or", "ee"):
			list = f.toPeople(t, i, f.people(t, false), scoreAgent, "the name may tell of a role that people have", list)
		}
	}
	return list
}

// anyTable reports whether a column refers to rows of several tables, because another
// column says to which (owner_id and owner_type).
func (t *table) anyTable(c *column) bool {
	if len(c.readings) == 0 || c.readings[0].key == "" {
		return false
	}
	entity := join(c.readings[0].entity)
	return entity != "" && slices.ContainsFunc(t.columns, func(other column) bool {
		return other.joined == entity+"type" || other.joined == entity+"class" || other.joined == entity+"kind"
	})
}

// agentVerb reports whether the words before "by" or "to" tell of something that a
// person does. sort_by and valid_to do not.
func agentVerb(words []string) bool {
	verb := words[len(words)-2]
	if words[len(words)-1] == "to" {
		return slices.Contains([]string{"report", "reports", "reporting", "assigned", "escalated", "responds", "delegated"}, verb)
	}
	return !slices.Contains([]string{"sort", "order", "group", "sorted", "ordered", "grouped", "divided", "multiplied", "followed", "stand", "caused"}, verb)
}

// toKey proposes the key of a table as the target.
func (f *finder) toKey(t *table, i int, to *table, score float64, evidence string, list []*proposal) []*proposal {
	if to.key < 0 || to == t && to.key == i {
		return list
	}
	if c := &t.columns[i]; !c.kind.fits(to.columns[to.key].kind) && (c.kind == textual || c.kind == anything) && c.readings[0].key == "" {
		return list // the name of a person in place of a reference
	}
	return propose(list, &proposal{from: t, to: to, columns: []int{i}, targets: []int{to.key}, score: score, evidence: evidence, byName: true})
}

func (f *finder) toPeople(t *table, i int, people []*table, score float64, evidence string, list []*proposal) []*proposal {
	for n, to := range people {
		list = f.toKey(t, i, to, score-float64(0.08*float64(n)), evidence, list)
	}
	return list
}

// isPeople reports whether t holds people.
func (f *finder) isPeople(t *table) bool { return f.peopleRank[t.number] > 0 }

// rankPeople gives each table of people its place in the list of words, from 1. The name of
// its key counts too where it is another form of the table's: the list has words in the
// singular, and in many languages no rule makes that of a plural.
func rankPeople(tables []*table, list []string) []int {
	words := map[string]int{}
	for i, w := range list {
		for _, key := range []string{phrase([]string{fold(w)}), stems([]string{fold(w)})} {
			if words[key] == 0 {
				words[key] = i + 1
			}
		}
	}
	ranks := make([]int, len(tables))
	for i, t := range tables {
		if len(t.words) == 0 {
			continue
		}
		last := t.words[len(t.words)-1:]
		forms := []string{phrase(t.words), stems(t.words), phrase(last)}
		if one := t.ownName(); len(one) > 0 {
			forms = append(forms, phrase(one), stems(one))
		}
		for _, key := range forms {
			if r := words[key]; r > 0 && ranks[i] == 0 {
				ranks[i] = r
				if len(t.words) > 1 && key == phrase(last) {
					ranks[i] += len(list) // "user" before "app_user"
				}
			}
		}
	}
	return ranks
}

// ownName returns what the name of the key calls a row of the table, or nil.
func (t *table) ownName() []string {
	if t.key < 0 {
		return nil
	}
	for _, r := range t.columns[t.key].readings {
		if r.key != "" && len(r.entity) > 0 && (nameLevel(r.label, t) > 0 || similarWords(r.entity, t.words) > 0) {
			return r.entity
		}
	}
	return nil
}

// people returns at most two tables of people, those of the schema of t first. With
// users, tables of users precede tables of employees.
func (f *finder) people(t *table, users bool) []*table {
	key := peopleKey{t.ref.Catalog, t.ref.DB, users}
	if list, ok := f.peopleOf[key]; ok {
		return list
	}
	var list []*table
	for i, r := range f.peopleRank {
		if r > 0 {
			list = append(list, f.tables[i])
		}
	}
	rank := func(p *table) int {
		r := f.peopleRank[p.number]
		if users && userWords[r%len(peopleTables)] {
			r -= 2 * len(peopleTables)
		}
		if p.ref.Catalog != t.ref.Catalog || p.ref.DB != t.ref.DB {
			r += 4 * len(peopleTables)
		}
		return r
	}
	slices.SortStableFunc(list, func(a, b *table) int { return rank(a) - rank(b) })
	list = list[:min(2, len(list))]
	f.peopleOf[key] = list
	return list
}

type peopleKey struct {
	catalog, db string
	users       bool
}

// userWords are the places of words for users in peopleTables.
var userWords = func() map[int]bool {
	places := map[int]bool{}
	inside := false
	for i, w := range peopleTables {
		switch w {
		case "user":
			inside = true
		case "person":
			inside = false
		}
		if inside {
			places[i+1] = true
		}
	}
	return places
}()

// byUsage adds the targets that statements joined the column with.
func (f *finder) byUsage(t *table, i int, list []*proposal) []*proposal {
	for _, j := range f.joins[columnKey{t.number, i}] {
		known := false
		for _, p := range list {
			if p.to == j.to && len(p.targets) == 1 && p.targets[0] == j.column {
				known = true
				p.score += usageBonus
				p.joined = j.statements
			}
		}
		if known {
			continue
		}
		list = append(list, &proposal{from: t, to: j.to, columns: []int{i}, targets: []int{j.column}, score: scoreUsage, evidence: "statements join the columns", joined: j.statements})
	}
	return list
}
