package catalog

import "strings"

// Access says what the rules of a connection permit to be read. sqlguard.Readable
// implements it.
type Access interface {
	// Relation reports whether a table may be read. The schema of an engine whose
	// schemas are databases is the database.
	Relation(schema, name string) bool
	// Column reports whether a column may be read, and its table too.
	Column(schema, table, column string) bool
	// DeniesColumns reports whether any rule denies a column.
	DeniesColumns() bool
	// ID is equal for two values that give the same answers.
	ID() string
}

// filter applies access rules to what the files of a scan hold.
type filter struct {
	access  Access
	driver  string
	columns bool // a rule denies a column somewhere
}

func newFilter(access Access, driver string) filter {
	return filter{access: access, driver: driver, columns: access.DeniesColumns()}
}

// schema returns the schema by which rules name the tables of r. Artifacts of
// SQLite may leave main out.
func (f filter) schema(r Ref) string {
	if r.DB == "" && isSQLite(f.driver) {
		return "main"
	}
	return r.DB
}

func (f filter) table(r Ref) bool { return f.access.Relation(f.schema(r), r.Name) }

func (f filter) column(r Ref, column string) bool {
	return f.access.Column(f.schema(r), r.Name, column)
}

// end reports whether a table and these columns of it may be read.
func (f filter) end(r Ref, columns ...string) bool {
	if !f.table(r) {
		return false
	}
	for _, c := range columns {
		if !f.column(r, c) {
			return false
		}
	}
	return true
}

// apply returns what may be read of a table, or nil if that is nothing. It returns
// t itself if all of it may be read. Keys that point to another table stay: they
// are judged by keys, when all tables are known.
func (f filter) apply(t *Table) *Table {
	r := t.Ref()
	if !f.table(r) {
		return nil
	}
	if !f.columns {
		return t
	}
	// A view may show a denied column under another name, so its values cannot be
	// judged.
	view := t.Kind == KindView
	changed := false
	for i := range t.Columns {
		if view && t.Columns[i].hasValues() || !f.column(r, t.Columns[i].Name) {
			changed = true
			break
		}
	}
	if !changed {
		return t
	}
	out := *t
	out.Columns = make([]Column, 0, len(t.Columns))
	for _, c := range t.Columns {
		if !f.column(r, c.Name) {
			continue
		}
		if view {
			c.SampleValues, c.EnumValues = nil, nil
			c.NativeType, c.NormalizedType = withoutLabels(c.NativeType), withoutLabels(c.NormalizedType)
		}
		out.Columns = append(out.Columns, c)
	}
	return &out
}

// hasValues reports whether the artifacts tell values of a column, or what they may
// be.
func (c *Column) hasValues() bool {
	return len(c.SampleValues) > 0 || len(c.EnumValues) > 0 || strings.Contains(c.NativeType+c.NormalizedType, "'")
}

// withoutLabels returns a type without its list of texts: that of an enum of MySQL.
func withoutLabels(name string) string {
	if open := strings.IndexByte(name, '('); open >= 0 && strings.Contains(name, "'") {
		return name[:open]
	}
	return name
}

// keys returns t with the foreign keys whose ends may both be read. A composite
// key of which one pair is denied is left out as a whole. known reports whether a
// table is in the snapshot.
func (f filter) keys(t *Table, known func(Ref) bool) *Table {
	var denied []int
	for i := range t.ForeignKeys {
		if !f.key(t.Ref(), &t.ForeignKeys[i], known) {
			denied = append(denied, i)
		}
	}
	if len(denied) == 0 {
		return t
	}
	out := *t
	out.ForeignKeys = make([]ForeignKey, 0, len(t.ForeignKeys))
	for i := range t.ForeignKeys {
		drop := false
		for _, d := range denied {
			drop = drop || d == i || sameKey(&t.ForeignKeys[d], &t.ForeignKeys[i])
		}
		if !drop {
			out.ForeignKeys = append(out.ForeignKeys, t.ForeignKeys[i])
		}
	}
	return &out
}

func (f filter) key(from Ref, k *ForeignKey, known func(Ref) bool) bool {
	to := k.To()
	if to.DB == "" && to.Catalog == "" && from.DB != "" {
		// An artifact may leave the schema out where it is that of the key.
		if here := (Ref{Catalog: from.Catalog, DB: from.DB, Name: to.Name}); known(here) {
			to = here
		}
	}
	return f.end(from, k.FromColumn) && f.end(to, k.ToColumn)
}

// sameKey reports whether two pairs belong to one composite key.
func sameKey(a, b *ForeignKey) bool {
	return a.ConstraintName != nil && b.ConstraintName != nil && *a.ConstraintName == *b.ConstraintName && a.To() == b.To()
}

func isSQLite(driver string) bool { return strings.HasPrefix(strings.ToLower(driver), "sqlite") }
