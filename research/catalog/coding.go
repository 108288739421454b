package catalog

import (
	"encoding/binary"
	"maps"
	"slices"
)

// encoder appends values in the form that decoder reads.
type encoder struct {
	b      []byte
	shared map[string]uint64 // number of each text that was written as shared
}

func (e *encoder) number(n int64) { e.b = binary.AppendVarint(e.b, n) }
func (e *encoder) count(n int)    { e.b = binary.AppendUvarint(e.b, uint64(n)) } //nolint:gosec // a length
func (e *encoder) text(s string)  { e.count(len(s)); e.b = append(e.b, s...) }
func (e *encoder) optional(s *string) {
	e.flag(s != nil)
	if s != nil {
		e.text(*s)
	}
}

func (e *encoder) flag(f bool) {
	if f {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

// repeated writes a text that many others equal: the first time as it is, and then
// its number.
func (e *encoder) repeated(s string) {
	n, known := e.shared[s]
	if !known {
		n = uint64(len(e.shared))
		e.shared[s] = n
	}
	e.b = binary.AppendUvarint(e.b, n)
	if !known {
		e.text(s)
	}
}

func (e *encoder) source(src *source) {
	s := src.seen.Load()
	e.repeated(string(src.problem))
	e.b = append(e.b, src.hash[:]...)
	e.number(s.size)
	e.number(s.modified)
	e.flag(s.settled)
}

func (e *encoder) descriptions(m map[string]string) {
	e.count(len(m))
	for _, source := range slices.Sorted(maps.Keys(m)) {
		e.repeated(source)
		e.text(m[source])
	}
}

func (e *encoder) table(t *Table) {
	e.repeated(text(t.Catalog))
	e.repeated(text(t.DB))
	e.text(t.Name)
	e.repeated(string(t.Kind))
	e.optional(t.Comment)
	e.flag(t.EstimatedRows != nil)
	if t.EstimatedRows != nil {
		e.number(*t.EstimatedRows)
	}
	e.descriptions(t.Descriptions)
	e.count(len(t.Columns))
	for i := range t.Columns {
		e.column(&t.Columns[i])
	}
	e.count(len(t.ForeignKeys))
	for i := range t.ForeignKeys {
		k := &t.ForeignKeys[i]
		e.text(k.FromColumn)
		e.repeated(text(k.ToCatalog))
		e.repeated(text(k.ToDB))
		e.repeated(k.ToTable)
		e.text(k.ToColumn)
		e.optional(k.ConstraintName)
	}
}

func (e *encoder) texts(list []string) {
	e.count(len(list))
	for _, s := range list {
		e.text(s)
	}
}

func (e *encoder) column(c *Column) {
	e.text(c.Name)
	e.repeated(c.NativeType)
	e.repeated(c.NormalizedType)
	e.repeated(string(c.DimensionType))
	e.flag(c.Nullable)
	e.flag(c.PrimaryKey)
	e.optional(c.Comment)
	e.descriptions(c.Descriptions)
	e.texts(c.SampleValues)
	e.repeated(c.Generated)
	e.texts(c.EnumValues)
	e.flag(c.Stats != nil)
	if c.Stats != nil {
		for _, n := range []int64{c.Stats.Rows, c.Stats.Nulls, c.Stats.Distinct, int64(c.Stats.MinLength), int64(c.Stats.MaxLength)} {
			e.number(n)
		}
	}
}

// decoder reads what encoder writes. The texts that it returns are parts of what it
// reads. After damage it returns zero values.
type decoder struct {
	rest   string
	failed bool
	shared []string
}

func (d *decoder) fail() {
	d.failed, d.rest = true, ""
}

func (d *decoder) unsigned() uint64 {
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		b := d.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.fail()
	return 0
}

func (d *decoder) number() int64 {
	n := d.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}

// count reads how many items follow, of which each has at least size bytes.
func (d *decoder) count(size int) int {
	n := d.unsigned()
	if n > uint64(len(d.rest)/size) { //nolint:gosec // a length
		d.fail()
		return 0
	}
	return int(n) //nolint:gosec // at most the length of a text
}

func (d *decoder) text() string {
	n := d.count(1)
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) flag() bool {
	if d.rest == "" || d.rest[0] > 1 {
		d.fail()
		return false
	}
	f := d.rest[0] == 1
	d.rest = d.rest[1:]
	return f
}

func (d *decoder) optional() *string {
	if !d.flag() {
		return nil
	}
	s := d.text()
	return &s
}

func (d *decoder) repeated() string {
	n := d.unsigned()
	switch {
	case n < uint64(len(d.shared)):
		return d.shared[n]
	case n == uint64(len(d.shared)) && !d.failed:
		s := d.text()
		d.shared = append(d.shared, s)
		return s
	default:
		d.fail()
		return ""
	}
}

// pointer is repeated, with nil for "".
func (d *decoder) pointer() *string { return nullable(d.repeated()) }

func (d *decoder) source() *source {
	src := &source{problem: problem(d.repeated())}
	if len(d.rest) < len(src.hash) {
		d.fail()
	}
	d.rest = d.rest[copy(src.hash[:], d.rest):]
	src.seen.Store(&seen{size: d.number(), modified: d.number(), settled: d.flag()})
	return src
}

func (d *decoder) descriptions() map[string]string {
	n := d.count(2)
	if n == 0 {
		return nil
	}
	m := make(map[string]string, n)
	for range n {
		source := d.repeated()
		m[source] = d.text()
	}
	return m
}

func (d *decoder) table() *Table {
	t := &Table{Catalog: d.pointer(), DB: d.pointer(), Name: d.text(), Kind: Kind(d.repeated()), Comment: d.optional()}
	if d.flag() {
		n := d.number()
		t.EstimatedRows = &n
	}
	t.Descriptions = d.descriptions()
	t.Columns = make([]Column, d.count(12))
	for i := range t.Columns {
		d.column(&t.Columns[i])
	}
	if n := d.count(6); n > 0 {
		t.ForeignKeys = make([]ForeignKey, n)
	}
	for i := range t.ForeignKeys {
		t.ForeignKeys[i] = ForeignKey{
			FromColumn: d.text(), ToCatalog: d.pointer(), ToDB: d.pointer(), ToTable: d.repeated(), ToColumn: d.text(), ConstraintName: d.optional(),
		}
	}
	return t
}

func (d *decoder) texts() []string {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.text()
	}
	return list
}

func (d *decoder) column(c *Column) {
	c.Name, c.NativeType, c.NormalizedType = d.text(), d.repeated(), d.repeated()
	c.DimensionType = DimensionType(d.repeated())
	c.Nullable, c.PrimaryKey = d.flag(), d.flag()
	c.Comment, c.Descriptions = d.optional(), d.descriptions()
	c.SampleValues, c.Generated, c.EnumValues = d.texts(), d.repeated(), d.texts()
	if d.flag() {
		c.Stats = &Stats{Rows: d.number(), Nulls: d.number(), Distinct: d.number(), MinLength: int32(d.number()), MaxLength: int32(d.number())} //nolint:gosec // written from such
	}
}
