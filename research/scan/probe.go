package scan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate"
)

// probeKeys is how many distinct keys of one end point are compared.
const probeKeys = 10_000

// prober compares keys of two tables. It asks for equal counts once.
type prober struct {
	*profiler
	journal *journal
	tables  map[catalog.Ref]*table
	unique  map[string]target
	lost    error // why no further statement can be sent
}

// target is what is known of the end point that a key refers to.
type target struct {
	Rows   int64
	Unique bool
}

var _ relate.Prober = (*prober)(nil)

// Overlap implements [relate.Prober].
func (p *prober) Overlap(ctx context.Context, from, to catalog.EndPoint) (relate.Overlap, error) {
	key := endPointKey(from) + " > " + endPointKey(to)
	if o, ok := p.journal.probe(key); ok {
		return o, nil
	}
	o, err := p.measure(ctx, from, to)
	if err != nil {
		if lost(err) && ctx.Err() == nil {
			p.lost = err
			return o, fmt.Errorf("%w: %w", relate.ErrStopped, err)
		}
		return o, err
	}
	return o, p.journal.add(entry{Probe: &probeEntry{Key: key, Overlap: o}})
}

func endPointKey(e catalog.EndPoint) string { return jsonText(e) }

func (p *prober) measure(ctx context.Context, from, to catalog.EndPoint) (relate.Overlap, error) {
	var o relate.Overlap
	source, err := p.sampled(ctx, from)
	if err != nil {
		return o, err
	}
	target := p.tables[to.Table]
	if target == nil || len(from.Columns) != len(to.Columns) || len(from.Columns) == 0 {
		return o, fmt.Errorf("%s or its columns are not in the scan", display(to.Table))
	}
	kinds := p.comparable(from, to)
	var present, keys, others, pairs []string
	for i := range from.Columns {
		column := p.quote(from.Columns[i])
		present = append(present, column+" IS NOT NULL")
		keys = append(keys, fmt.Sprintf("%s AS k%d", p.compared(column, kinds[i]), i))
		others = append(others, fmt.Sprintf("%s AS t%d", p.compared(p.quote(to.Columns[i]), kinds[i]), i))
		pairs = append(pairs, fmt.Sprintf("o.t%d = s.k%d", i, i))
	}
	counts, err := p.numbers(ctx, fmt.Sprintf("SELECT count(*), sum(CASE WHEN %s THEN 0 ELSE 1 END) FROM %s", strings.Join(present, " AND "), p.bounded(from, source)), 2)
	if err != nil {
		return o, err
	}
	o.Rows, o.NullRows = counts[0], counts[1]
	greatest := "NULL"
	if len(to.Columns) == 1 && p.typeOf(to.Table, to.Columns[0]) == typeInteger {
		greatest = fmt.Sprintf("(SELECT max(%s) FROM %s)", p.quote(to.Columns[0]), name(p.engine, to.Table))
	}
	counts, err = p.numbers(ctx, fmt.Sprintf("SELECT count(*), count(o.t0), %s FROM (%s) s LEFT JOIN (SELECT DISTINCT %s FROM %s) o ON %s",
		greatest, p.rows("DISTINCT "+strings.Join(keys, ", "), withCondition(source, present), probeKeys),
		strings.Join(others, ", "), name(p.engine, to.Table), strings.Join(pairs, " AND ")), 3)
	if err != nil {
		return o, err
	}
	o.Distinct, o.Found = counts[0], counts[1]
	if counts[2] > 0 {
		o.TargetMax = &counts[2]
	}
	known, err := p.target(ctx, to)
	if err != nil {
		return o, err
	}
	o.TargetRows = known.Rows
	if known.Rows > 0 || known.Unique {
		o.TargetUnique = &known.Unique
	}
	return o, nil
}

// bounded is the sample of a table as a derived table of one column each.
func (p *prober) bounded(from catalog.EndPoint, src source) string {
	var columns []string
	for _, c := range from.Columns {
		columns = append(columns, p.quote(c))
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	return "(" + p.rows(strings.Join(columns, ", "), src, p.limit()) + ") s"
}

func (p *prober) limit() int { return max(p.options.SampleRows, probeKeys) * 10 }

// withCondition adds conditions to a source.
func withCondition(src source, conditions []string) source {
	if src.where != "" {
		conditions = append([]string{"(" + src.where + ")"}, conditions...)
	}
	return source{from: src.from, where: strings.Join(conditions, " AND ")}
}

// sampled returns the rows of a table that are compared: all of them, or a sample
// across the table if it has many.
func (p *prober) sampled(ctx context.Context, from catalog.EndPoint) (source, error) {
	t := p.tables[from.Table]
	if t == nil {
		return source{}, fmt.Errorf("%s is not in the scan", display(from.Table))
	}
	whole := source{from: name(p.engine, from.Table)}
	rows := t.EstimatedRows
	if profile := p.journal.table(t); profile != nil && profile.Rows != nil {
		rows = profile.Rows
	}
	if rows == nil || *rows <= int64(p.limit()) {
		return whole, nil
	}
	src, ok, err := p.spread(ctx, p.asker, t, int64(p.limit()), *rows)
	if err != nil {
		return source{}, err
	}
	if !ok {
		return whole, nil
	}
	return src, nil
}

// comparable reports for each pair of columns whether the server can compare their
// values as they are. Otherwise they are compared by their text.
func (p *prober) comparable(from, to catalog.EndPoint) []bool {
	out := make([]bool, len(from.Columns))
	for i := range from.Columns {
		a, b := p.typeOf(from.Table, from.Columns[i]), p.typeOf(to.Table, to.Columns[i])
		numbers := isNumber(a) && isNumber(b)
		out[i] = a != "" && (a == b && a != typeEnum || numbers)
	}
	return out
}

func isNumber(normalized string) bool {
	return normalized == typeInteger || normalized == typeDecimal || normalized == typeFloat
}

func (p *prober) typeOf(ref catalog.Ref, column string) string {
	t := p.tables[ref]
	if t == nil {
		return ""
	}
	for i := range t.Columns {
		if t.Columns[i].Name == column && t.columns[i].readable {
			return t.Columns[i].NormalizedType
		}
	}
	return ""
}

func (p *prober) compared(column string, same bool) string {
	if same {
		return column
	}
	return p.text(column)
}

// target counts the rows of a table, and looks for a key that occurs twice.
func (p *prober) target(ctx context.Context, to catalog.EndPoint) (target, error) {
	key := endPointKey(to)
	if known, ok := p.unique[key]; ok {
		return known, nil
	}
	var columns, present []string
	for _, c := range to.Columns {
		columns = append(columns, p.quote(c))
		present = append(present, p.quote(c)+" IS NOT NULL")
	}
	table := name(p.engine, to.Table)
	t := p.tables[to.Table]
	var known target
	if profile := p.journal.table(t); profile != nil && profile.Rows != nil {
		known.Rows = *profile.Rows
	} else {
		counts, err := p.numbers(ctx, "SELECT count(*) FROM "+table, 1)
		if err != nil {
			return known, err
		}
		known.Rows = counts[0]
	}
	known.Unique = sameNames(t.primary, to.Columns)
	if !known.Unique && known.Rows > 0 {
		list := strings.Join(columns, ", ")
		res, err := p.askWithin(ctx, p.rows("k", source{from: fmt.Sprintf("(SELECT count(*) AS k FROM %s WHERE %s GROUP BY %s HAVING count(*) > 1) g",
			table, strings.Join(present, " AND "), list)}, 1), exactTimeout)
		if err != nil {
			return known, err
		}
		known.Unique = len(res.Rows) == 0
	}
	p.unique[key] = known
	return known, nil
}

// sameNames reports whether two lists have the same names, in any order.
func sameNames(a, b []string) bool {
	x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return len(x) > 0 && slices.Equal(x, y)
}

// numbers runs a statement whose answer is one row of n counts. A sum over no rows is
// null and counts as 0.
func (p *prober) numbers(ctx context.Context, sql string, n int) ([]int64, error) {
	res, err := p.askWithin(ctx, sql, exactTimeout)
	if err != nil {
		return nil, err
	}
	if len(res.Rows) != 1 || len(res.Rows[0]) != n {
		return nil, fmt.Errorf("a count returned %d rows", len(res.Rows))
	}
	out := make([]int64, n)
	for i, v := range res.Rows[0] {
		if count := number(v.Text, v.Text == ""); count != nil {
			out[i] = *count
		}
	}
	return out, nil
}
