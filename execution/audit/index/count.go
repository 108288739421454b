package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution/audit"
)

// Counts is what the statements that meet a filter add up to.
type Counts struct {
	Statements int64 `json:"statements"`
	// Refused counts the statements that the guard refused, and Rows the rows of
	// all results.
	Refused int64 `json:"refused"`
	Rows    int64 `json:"rows"`
	// LatencyUS is over decisions. ExecMS is over statements that ended.
	LatencyUS audit.Quantiles `json:"latencyUs"`
	ExecMS    audit.Quantiles `json:"execMs"`
	// By counts the statements with each value, the most frequent first, at most
	// maxValues of each: status, code, principal, client, connection, kind, table,
	// function. Statements without a value are not counted.
	By map[string][]Count `json:"by"`
	// Timeline counts the statements of equal periods, from the first of these
	// statements to the last.
	Timeline []Period `json:"timeline"`
	State    State    `json:"-"`
}

// Count is how many statements have a value.
type Count struct {
	Value      string `json:"value"`
	Statements int64  `json:"statements"`
}

// Period is a part of the time line. From is inclusive, Until is exclusive.
type Period struct {
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
	Allowed int64     `json:"allowed"`
	Refused int64     `json:"refused"`
	Rows    int64     `json:"rows"`
	// LatencyUS is over decisions. ExecMS is over statements that ended.
	LatencyUS Middle `json:"latencyUs"`
	ExecMS    Middle `json:"execMs"`
	// Codes counts the refused statements by the first of their codes, the most frequent
	// first.
	Codes []Count `json:"codes,omitempty"`
}

// Middle is the median and the 95th percentile of values, each within 2 percent.
type Middle struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

const (
	maxValues  = 20
	maxPeriods = 60
)

// Count counts the statements that meet f.
func (x *Index) Count(ctx context.Context, f audit.Filter) (out Counts, err error) {
	// Counting takes all of a processor, and memory.
	leave, err := x.counting.enter(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	err = x.with(ctx, func(v *view) error {
		out, err = v.counts(f)
		out.State = v.state
		return err
	})
	return out, err
}

// tally counts by number. The numbers of names are small.
type tally []int64

func (t *tally) add(id, n int64) {
	if id >= int64(len(*t)) {
		*t = append(*t, make(tally, id-int64(len(*t))+64)...)
	}
	(*t)[id] += n
}

func (v *view) counts(f audit.Filter) (Counts, error) {
	out := Counts{By: map[string][]Count{}, Timeline: []Period{}}
	c, err := v.condition(f)
	if err != nil {
		return out, err
	}
	if c.none {
		c.first, c.last = 1, 0
	}
	names, err := v.names(nameStatus, namePrincipal, nameClient, nameConnection, nameKindOf, nameCode, nameTable, nameFunction)
	if err != nil {
		return out, err
	}
	refused := int64(-1)
	for id, name := range names {
		if name == audit.StatusRefused {
			if n, err := v.number(v.ctx, `SELECT count(*) FROM name WHERE id = ? AND kind = ?`, id, int(nameStatus)); err != nil {
				return out, err
			} else if n == 1 {
				refused = id
			}
		}
	}
	sum := counted{refused: refused}
	if err := sum.all(v, c); err != nil {
		return out, err
	}
	out.Statements, out.Rows = sum.statements, sum.rows
	status, shape, codes := sum.status, sum.shape, sum.codes
	if refused >= 0 && refused < int64(len(status)) {
		out.Refused = status[refused]
	}
	out.LatencyUS, out.ExecMS = sum.latency.quantiles(), sum.ms.quantiles()
	sets, err := v.codesets()
	if err != nil {
		return out, err
	}
	out.Timeline = sum.times.list(sets)
	for name, t := range map[string]tally{"status": status, "principal": sum.principal, "client": sum.client, "connection": sum.connection} {
		out.By[name] = t.top(names)
	}
	for name, link := range map[string]struct {
		of   tally
		text string
	}{
		"kind":     {shape, `SELECT id, kind FROM shape`},
		"table":    {shape, `SELECT shape, name FROM relation`},
		"function": {shape, `SELECT shape, name FROM function`},
		"code":     {codes, `SELECT codeset, name FROM code`},
	} {
		var t tally
		if err := v.each(v.ctx, link.text, nil, func(s *sqlite3.Stmt) bool {
			if id := s.ColumnInt64(0); id < int64(len(link.of)) && link.of[id] > 0 {
				t.add(s.ColumnInt64(1), link.of[id])
			}
			return true
		}); err != nil {
			return out, err
		}
		out.By[name] = t.top(names)
	}
	return out, nil
}

// counted is what statements add up to, by the numbers of names.
type counted struct {
	refused                                             int64 // the number of this status
	statements, rows                                    int64
	status, principal, client, connection, shape, codes tally
	latency                                             histogram
	ms                                                  millis
	times                                               periods
}

// all counts the statements that meet a condition: in blocks as far as they are packed,
// and in the rows of the table where they are not, or where few rows are to be read.
func (c *counted) all(v *view, of *condition) error {
	from, args, few, err := v.from(of)
	if err != nil {
		return err
	}
	if !few && of.whole {
		until, err := v.packedUntil()
		if err != nil {
			return err
		}
		err = v.blocks(of.tests, of.first, min(of.last, until), false, func(b *block, met []int) bool {
			c.block(b, met)
			return true
		})
		if err != nil {
			return err
		}
		args[0] = max(of.first, until+1)
	}
	return c.scan(v, from, args)
}

// block counts the statements of a block at these places.
func (c *counted) block(b *block, met []int) {
	c.statements += int64(len(met))
	for _, of := range []struct {
		to *tally
		of column
	}{
		{&c.status, columnStatus},
		{&c.principal, columnPrincipal},
		{&c.client, columnClient},
		{&c.connection, columnConnection},
		{&c.shape, columnShape},
		{&c.codes, columnCodes},
	} {
		values := b.column(of.of)
		for _, i := range met {
			of.to.add(values[i], 1)
		}
	}
	at, status, latency, ended, rows := b.column(columnTime), b.column(columnStatus), b.column(columnLatency), b.column(columnEnded), b.column(columnRows)
	codes := b.column(columnCodes)
	for _, i := range met {
		c.latency.add(latency[i])
		period := c.times.at(at[i])
		period.add(latency[i], codes[i], status[i] == c.refused)
		if ended[i] != 0 {
			c.rows += rows[i]
			ms := b.ms(i)
			c.ms.add(ms)
			period.rows += rows[i]
			period.ms.add(ms)
		}
	}
}

// scan counts rows of the table.
func (c *counted) scan(v *view, from string, args []any) error {
	return v.each(v.ctx, `SELECT time, status, principal, client, connection, shape, codes, latency, rows, ms`+from, args, func(s *sqlite3.Stmt) bool {
		c.statements++
		how := s.ColumnInt64(1)
		c.status.add(how, 1)
		c.principal.add(s.ColumnInt64(2), 1)
		c.client.add(s.ColumnInt64(3), 1)
		c.connection.add(s.ColumnInt64(4), 1)
		c.shape.add(s.ColumnInt64(5), 1)
		c.codes.add(s.ColumnInt64(6), 1)
		c.latency.add(s.ColumnInt64(7))
		period := c.times.at(s.ColumnInt64(0))
		period.add(s.ColumnInt64(7), s.ColumnInt64(6), how == c.refused)
		if s.ColumnType(9) != sqlite3.NULL {
			rows, ms := s.ColumnInt64(8), s.ColumnFloat(9)
			c.rows += rows
			c.ms.add(ms)
			period.rows += rows
			period.ms.add(ms)
		}
		return true
	})
}

// top returns the most frequent names.
func (t tally) top(names map[int64]string) []Count {
	list := []Count{}
	for id, n := range t {
		if n > 0 && id > 0 {
			list = append(list, Count{names[int64(id)], n})
		}
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Statements, a.Statements), cmp.Compare(a.Value, b.Value))
	})
	return list[:min(len(list), maxValues)]
}

// histogram counts whole numbers. It keeps a count for each that is small, and the others.
type histogram struct {
	n     int64
	small tally
	large []float64
}

func (h *histogram) add(v int64) {
	h.n++
	if v >= 0 && v < 1<<16 {
		h.small.add(v, 1)
	} else {
		h.large = append(h.large, float64(v))
	}
}

// quantiles returns what [audit.NewQuantiles] returns for the numbers.
func (h *histogram) quantiles() audit.Quantiles {
	if h.n == 0 {
		return audit.Quantiles{}
	}
	slices.Sort(h.large)
	negative, _ := slices.BinarySearch(h.large, 0)
	at := func(k int64) float64 {
		if k < int64(negative) {
			return h.large[k]
		}
		k -= int64(negative)
		for v, n := range h.small {
			if k < n {
				return float64(v)
			}
			k -= n
		}
		return h.large[int64(negative)+k]
	}
	rank := func(q float64) float64 { return at(int64(math.Ceil(q*float64(h.n))) - 1) }
	return audit.Quantiles{Count: h.n, P50: rank(0.5), P95: rank(0.95), Max: at(h.n - 1)}
}

// millis are milliseconds. Nearly all are a number of microseconds, which takes half the
// room. They are in pieces, so that none is copied when they become many.
type millis struct {
	n      int64
	pieces []*piece  // in microseconds
	in     int       // how many the last piece has
	odd    []float64 // all others
}

type piece [1 << 14]uint32

var sparePieces = sync.Pool{New: func() any { return new(piece) }}

// each calls do for the numbers of each piece.
func (m *millis) each(do func([]uint32)) {
	for i, p := range m.pieces {
		if i == len(m.pieces)-1 {
			do(p[:m.in])
		} else {
			do(p[:])
		}
	}
}

func (m *millis) add(v float64) {
	m.n++
	us := math.Round(v * 1000)
	if us < 0 || us > math.MaxUint32 || us/1000 != v {
		m.odd = append(m.odd, v)
		return
	}
	if len(m.pieces) == 0 || m.in == len(piece{}) {
		m.pieces, m.in = append(m.pieces, sparePieces.Get().(*piece)), 0 //nolint:forcetypeassert // it has nothing else
	}
	m.pieces[len(m.pieces)-1][m.in] = uint32(us)
	m.in++
}

// quantiles returns what [audit.NewQuantiles] returns for the numbers, and empties m.
func (m *millis) quantiles() audit.Quantiles {
	if m.n == 0 {
		return audit.Quantiles{}
	}
	defer func() {
		for _, p := range m.pieces {
			sparePieces.Put(p)
		}
		*m = millis{}
	}()
	if len(m.odd) > 0 {
		all := slices.Clone(m.odd)
		m.each(func(part []uint32) {
			for _, us := range part {
				all = append(all, float64(us)/1000)
			}
		})
		return audit.NewQuantiles(all)
	}
	high := make([]int64, 1<<16)
	m.each(func(part []uint32) {
		for _, us := range part {
			high[us>>16]++
		}
	})
	low := make([]int64, 1<<16)
	at := func(k int64) float64 {
		top, k := locate(high, k)
		clear(low)
		m.each(func(part []uint32) {
			for _, us := range part {
				if us>>16 == top {
					low[us&(1<<16-1)]++
				}
			}
		})
		rest, _ := locate(low, k)
		return float64(top<<16|rest) / 1000
	}
	rank := func(q float64) float64 { return at(int64(math.Ceil(q*float64(m.n))) - 1) }
	return audit.Quantiles{Count: m.n, P50: rank(0.5), P95: rank(0.95), Max: at(m.n - 1)}
}

// locate returns where number k lies among counted ones, and its number there.
func locate(counts []int64, k int64) (at uint32, rest int64) {
	for i, n := range counts {
		if k < n {
			return uint32(i), k
		}
		k -= n
	}
	return 0, 0
}

// widths are the lengths that a period may have. Each is a multiple of the one before.
var widths = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
	12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 28 * 24 * time.Hour, 364 * 24 * time.Hour,
}

// periods divides the time from the first statement to the last into periods of one
// length. It begins with short ones, and joins them when they become too many.
type periods struct {
	first, last int64
	width       int               // an index of widths
	counts      map[int64]*counts // by the number of the period
	recent      *counts           // the one that was counted last
	number      int64
}

// counts is what the statements of a period add up to.
type counts struct {
	allowed, refused, rows int64
	latency, ms            spread
	codes                  map[int64]int64 // refused statements by the number of their codes
}

func (c *counts) add(latency, codes int64, refused bool) {
	c.latency.add(float64(latency))
	if !refused {
		c.allowed++
		return
	}
	c.refused++
	if c.codes == nil {
		c.codes = map[int64]int64{}
	}
	c.codes[codes]++
}

func (c *counts) merge(o *counts) {
	c.allowed, c.refused, c.rows = c.allowed+o.allowed, c.refused+o.refused, c.rows+o.rows
	c.latency.take(&o.latency)
	c.ms.take(&o.ms)
	if c.codes == nil {
		c.codes = o.codes
		return
	}
	for codes, n := range o.codes {
		c.codes[codes] += n
	}
}

// spread counts values by their size, in steps that are about 3 percent of the value. It
// is small, because there are many.
type spread struct {
	n     int64
	steps *steps // nil without a value
}

// The steps of a spread: 32 between a number and its double, from 2^-10 on. What is less
// is in step 0, and what is 2^44 or more in the last one.
const (
	stepBits  = 5
	leastStep = (1023 - 10) << stepBits
	mostStep  = (1023+44)<<stepBits - leastStep
)

type steps [mostStep + 1]uint32

// spare has steps that are all 0.
var spare = sync.Pool{New: func() any { return new(steps) }}

func (s *spread) add(v float64) {
	if s.steps == nil {
		s.steps = spare.Get().(*steps) //nolint:forcetypeassert // it has nothing else
	}
	step := 0
	if v > 0 {
		step = min(max(int(math.Float64bits(v)>>(52-stepBits))-leastStep, 0), mostStep)
	}
	s.steps[step]++
	s.n++
}

// take adds the values of o, and empties it.
func (s *spread) take(o *spread) {
	switch {
	case o.steps == nil:
		return
	case s.steps == nil:
		*s, *o = *o, *s
		return
	}
	for i, n := range o.steps {
		s.steps[i] += n
	}
	s.n += o.n
	o.middle()
}

// middle returns the values in the middle of the steps, and empties s.
func (s *spread) middle() Middle {
	if s.steps == nil {
		return Middle{}
	}
	rank := func(q float64) float64 {
		k := int64(math.Ceil(q * float64(s.n)))
		for i, c := range s.steps {
			if k -= int64(c); k <= 0 {
				if i == 0 {
					return 0
				}
				low := math.Float64frombits(uint64(i+leastStep) << (52 - stepBits))
				high := math.Float64frombits(uint64(i+leastStep+1) << (52 - stepBits))
				return (low + high) / 2
			}
		}
		return 0
	}
	m := Middle{rank(0.5), rank(0.95)}
	clear(s.steps[:])
	spare.Put(s.steps)
	*s = spread{}
	return m
}

// at returns the period of a time.
func (p *periods) at(at int64) *counts {
	if p.counts == nil {
		p.counts, p.first, p.last = map[int64]*counts{}, at, at
	}
	p.first, p.last = min(p.first, at), max(p.last, at)
	for p.width < len(widths)-1 && p.many() {
		p.widen()
	}
	if number := p.numberOf(at); p.recent == nil || number != p.number {
		p.number, p.recent = number, p.counts[number]
		if p.recent == nil {
			p.recent = &counts{}
			p.counts[number] = p.recent
		}
	}
	return p.recent
}

// many reports whether there are too many periods. The difference of two times may be more
// than an int64 can hold.
func (p *periods) many() bool {
	return (uint64(p.last)-uint64(p.first))/uint64(widths[p.width]) >= maxPeriods //nolint:gosec // above
}

// numberOf returns the number of the period of a time, rounded down.
func (p *periods) numberOf(at int64) int64 {
	width := int64(widths[p.width])
	number := at / width
	if at%width < 0 {
		number--
	}
	return number
}

func (p *periods) widen() {
	before := int64(widths[p.width])
	p.width++
	p.recent = nil
	wider := map[int64]*counts{}
	for number, c := range p.counts {
		to := p.numberOf(number * before)
		if wider[to] == nil {
			wider[to] = c
		} else {
			wider[to].merge(c)
		}
	}
	p.counts = wider
}

// list returns the periods, also those without statements. There are none over more than
// 200 years: such a log has times that are not its own.
func (p *periods) list(sets map[int64]codeset) []Period {
	list := []Period{}
	if p.counts == nil || float64(p.last)-float64(p.first) > 200*float64(365*24*time.Hour) {
		return list
	}
	width := int64(widths[p.width])
	for number := p.numberOf(p.first); number <= p.numberOf(p.last); number++ {
		one := Period{From: time.Unix(0, number*width).UTC(), Until: time.Unix(0, (number+1)*width).UTC()}
		if c := p.counts[number]; c != nil {
			one.Allowed, one.Refused, one.Rows = c.allowed, c.refused, c.rows
			one.LatencyUS, one.ExecMS = c.latency.middle(), c.ms.middle()
			one.Codes = firstCodes(c.codes, sets)
		}
		list = append(list, one)
	}
	return list
}

// firstCodes counts by the first of the codes of a decision.
func firstCodes(of map[int64]int64, sets map[int64]codeset) []Count {
	sum := map[string]int64{}
	for id, n := range of {
		if codes := sets[id].Decision; len(codes) > 0 {
			sum[codes[0]] += n
		}
	}
	var list []Count
	for code, n := range sum {
		list = append(list, Count{code, n})
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Statements, a.Statements), cmp.Compare(a.Value, b.Value))
	})
	return list
}
