package relate

import (
	"slices"

	"github.com/ktxhq/ktx/research/catalog"
)

const (
	maxKeyWidth      = 3  // columns of a composite key
	maxSharedMember  = 64 // tables whose composite key has a member of one name, before the name says nothing
	scoreComposite   = 0.80
	scoreCompositeBy = 0.90 // a member is named after the target
)

// compositeKey is a key of two or three columns, declared or supposed.
type compositeKey struct {
	table    *table
	columns  []int
	declared bool
	names    [][]string // of each column, see memberNames
	own      []bool     // whether a column identifies the rows of the table, see isOwnMember
	bare     []bool     // whether the name of a column is a key word only, as id is in every table
}

// composite returns the proposals for composite keys: another table has a column for
// each member, with the member's name, with a role before it, or with the name of
// the table before it.
func (f *finder) composite(supposed bool) []*proposal {
	wanted := map[string][]*compositeKey{}
	byTable := map[*table][]*compositeKey{}
	for _, key := range f.compositeKeys() {
		if !key.declared && !supposed {
			continue
		}
		byTable[key.table] = append(byTable[key.table], key)
		for place := range key.columns {
			names := key.memberNames(place)
			key.names = append(key.names, names)
			key.own = append(key.own, f.isOwnMember(key, place))
			rs := key.table.columns[key.columns[place]].readings
			key.bare = append(key.bare, len(rs) > 0 && rs[0].key != "" && len(rs[0].entity) == 0)
			for _, name := range names {
				wanted[name] = append(wanted[name], key)
			}
		}
	}
	if len(byTable) == 0 {
		return nil
	}
	var found []*proposal
	for _, t := range f.tables {
		seen := map[*compositeKey]map[string]bool{} // by key and role
		try := func(key *compositeKey, role string) {
			if seen[key][role] {
				return
			}
			if seen[key] == nil {
				seen[key] = map[string]bool{}
			}
			seen[key][role] = true
			if p := f.match(t, key, role); p != nil {
				found = append(found, p)
			}
		}
		for i := range t.columns {
			words := t.columns[i].plain
			for at := range words {
				if list := wanted[t.columns[i].tail(at)]; len(list) <= maxSharedMember {
					for _, key := range list {
						try(key, join(words[:at]))
					}
				}
			}
			for _, r := range t.columns[i].readings {
				tables, _ := f.names.named(r.entity)
				for _, to := range near(t, tables, maxSameName) {
					for _, key := range byTable[to] {
						try(key, "")
					}
				}
			}
		}
	}
	return found
}

// memberNames returns the names by which other tables may hold a member: its own,
// and its own after the name of its table.
func (k *compositeKey) memberNames(place int) []string {
	own := k.table.columns[k.columns[place]].joined
	list := []string{own}
	for _, entity := range []string{join(k.table.words), k.table.label.phrase} {
		if name := entity + own; entity != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// compositeKeys returns the composite keys that tables declare, and for tables with
// no key the first columns that look like members of one.
func (f *finder) compositeKeys() []*compositeKey {
	var list []*compositeKey
	for _, t := range f.tables {
		if n := len(t.primary); n >= 2 && n <= maxKeyWidth {
			list = append(list, &compositeKey{table: t, columns: t.primary, declared: true})
			continue
		}
		if len(t.primary) > 0 || t.key >= 0 || t.Kind == catalog.KindView {
			continue
		}
		var members []int
		for i := range t.columns[:min(len(t.columns), 5)] {
			c := &t.columns[i]
			if len(members) < maxKeyWidth && c.kind.keyable() && c.kind != fraction && c.kind != binary && c.unique != yes && !c.empty && (i < 2 || f.isMember(c)) {
				members = append(members, i)
			}
		}
		for n := 2; n <= len(members); n++ {
			if slices.ContainsFunc(members[:n], func(i int) bool { return f.isOwn(t, &t.columns[i]) }) {
				list = append(list, &compositeKey{table: t, columns: members[:n]})
			}
		}
	}
	return list
}

// isMember reports whether the name of a column is that of a member of a key.
func (f *finder) isMember(c *column) bool {
	return len(c.readings) > 0 && c.readings[0].key != "" || memberWords[c.joined]
}

// memberWords are names of the members that count the rows of a group.
var memberWords = set("line", "seq", "sequence", "position", "pos", "item", "revision", "version", "zeile", "ligne", "linea", "linha", "riga", "pozycja", "строка", "позиция", "行", "行番号", "明細", "序号")

// isOwn reports whether a member tells rows of its own table apart. A member that
// names another table refers to it, and a generic one such as year or status is part
// of many keys.
func (f *finder) isOwn(t *table, c *column) bool {
	if memberWords[c.joined] {
		return true
	}
	if len(c.readings) == 0 || generic[c.joined] || c.kind == moment {
		return false
	}
	r := c.readings[0]
	if len(r.entity) == 0 || nameLevel(r.label, t) >= 0.9 {
		return true
	}
	if slices.ContainsFunc(f.names.key[c.joined], func(k target) bool { return k.table != t }) {
		return false
	}
	return !f.names.known(r.entity) && len(f.names.tail[r.label.phrase]) == 0 && (r.key != "" || c.kind == integer)
}

// match returns the proposal that t refers to the key, or nil if t lacks a member.
func (f *finder) match(t *table, key *compositeKey, role string) *proposal {
	to := key.table
	if to == t && role == "" {
		return nil
	}
	p := &proposal{from: t, to: to, targets: key.columns, score: scoreComposite, byName: true, evidence: "the columns have the names of a composite key"}
	if !key.declared {
		p.score -= 0.1
	}
	withRole := false
	for place, k := range key.columns {
		column, named, roled := f.memberOf(t, key, place, role, p.columns)
		if column < 0 {
			return nil
		}
		withRole = withRole || roled
		p.own = p.own || f.isOwn(to, &to.columns[k])
		if named {
			p.score, p.named = max(p.score, scoreCompositeBy), true
		}
		if !t.columns[column].kind.keyable() || key.table.columns[k].kind == fraction {
			return nil
		}
		p.columns = append(p.columns, column)
	}
	if role != "" && !withRole {
		return nil
	}
	p.extended = key.declared && len(t.primary) > len(p.columns) && !slices.ContainsFunc(p.columns, func(c int) bool { return !slices.Contains(t.primary, c) })
	if t.hasKey(p.relationship().From.Columns) && !p.named {
		p.score -= 0.2 // both tables may be details of a third one
	}
	end := catalog.EndPoint{Table: t.ref}
	for _, c := range p.columns {
		end.Columns = append(end.Columns, t.columns[c].name)
	}
	if f.formalFrom[endKey(end)] {
		return nil
	}
	if to.isDetailOf(t) {
		return nil // order_items does not own orders
	}
	f.adjust(p)
	return p
}

// isDetailOf reports whether the name of a table continues that of another, as
// order_item_notes continues order_items.
func (t *table) isDetailOf(other *table) bool {
	if len(t.words) <= len(other.words) {
		return false
	}
	return phrase(t.words[:len(other.words)]) == phrase(other.words)
}

// memberOf returns the column of t for one member of the key, or -1.
func (f *finder) memberOf(t *table, key *compositeKey, place int, role string, taken []int) (column int, named, roled bool) {
	names := key.names[place]
	best, rank := -1, 0
	for i := range t.columns {
		c := &t.columns[i]
		if slices.Contains(taken, i) {
			continue
		}
		name, r := c.joined, 0
		switch {
		case role != "" && name == role+names[0] && !key.bare[place]:
			r = 5
		case role != "" && slices.ContainsFunc(names[1:], func(n string) bool { return name == role+n }):
			r = 4
		case slices.Contains(names[1:], name):
			r = 3
		case name == names[0] && !key.bare[place]:
			r = 2
		case role == "" && key.own[place] && f.refersTo(c, key.table):
			r = 1
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best, rank == 5 || rank == 4 || rank == 3 || rank == 1, rank >= 4
}

// isOwnMember reports whether a member identifies the rows of its table, and not
// those of another one.
func (f *finder) isOwnMember(key *compositeKey, place int) bool {
	rs := key.table.columns[key.columns[place]].readings
	return len(rs) > 0 && rs[0].key != "" && (len(rs[0].entity) == 0 || nameLevel(rs[0].label, key.table) >= 0.9)
}

// refersTo reports whether the name of a column is that of the table with a key word.
func (f *finder) refersTo(c *column, to *table) bool {
	for _, r := range c.readings {
		if r.key != "" && nameLevel(r.label, to) >= 0.9 {
			return true
		}
	}
	return false
}
