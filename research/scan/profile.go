package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/sqlguard"
)

// The sizes of a profile.
const (
	shownValues  = 5   // sample values of a column in the artifact
	shownLength  = 200 // characters of such a value; longer ones are left out
	prefixLength = 256 // characters of a text that are read
	keptLength   = 200 // characters of a value of the dictionary; longer ones are left out
	freeText     = 100 // mean length above which a column is free text
	cellsPerRead = 200_000
	columnsAtOne = 64
	exactTimeout = 20 * time.Second // of counting all rows, and of collecting all values of a column
)

// Values keeps the values of text columns. [dictionary.Writer] does.
type Values interface {
	// Column gets the values of one column, most frequent first. Distinct is the true
	// number of distinct values, or -1 if it is not known. Complete says that values
	// has all of them.
	Column(ref catalog.Ref, column string, values []dictionary.Value, distinct int64, complete bool) error
	// Finish keeps the columns of a table, also if the process ends. Finished reports
	// whether an earlier scan with the same id has finished the table.
	Finish(ref catalog.Ref) error
	Finished(ref catalog.Ref) bool
	// Commit makes the values visible to readers. Warnings says what of them is lost.
	Commit() error
	Warnings() []string
}

var _ Values = (*dictionary.Writer)(nil)

// tableProfile is what the profile found in one table. The journal keeps it.
type tableProfile struct {
	Table    catalog.Ref             `json:"table"`
	Identity string                  `json:"identity"` // of the structure that was profiled
	Rows     *int64                  `json:"rows"`     // nil if they could not be counted
	Read     int64                   `json:"read"`     // rows that were read
	Columns  []catalog.ProfileColumn `json:"columns"`
	Warnings []catalog.Warning       `json:"warnings,omitempty"`
	Refused  string                  `json:"refused,omitempty"` // why the guard refused to read the table
}

// profiler profiles tables.
type profiler struct {
	engine
	*asker
	options *Options
}

// table profiles one table. An error ends the scan: what is wrong with one table only is
// a warning of its profile.
func (p *profiler) table(ctx context.Context, t *table) (*tableProfile, error) {
	out := &tableProfile{Table: t.Ref(), Identity: t.identity(), Columns: []catalog.ProfileColumn{}}
	w := &work{profiler: p, table: t, out: out}
	for i := range t.Columns {
		if t.columns[i].readable {
			w.columns = append(w.columns, newTally(p, t, i))
		}
	}
	if len(w.columns) == 0 {
		return out, nil
	}
	if err := w.run(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if lost(err) || errors.Is(err, errValues) {
			return nil, err
		}
		if r, refused := errors.AsType[*sqlguard.RejectedError](err); refused {
			// Not the messages: they may name what is denied.
			info, _ := sqlguard.LookupCode(r.Verdict.Code)
			out.Refused = fmt.Sprintf("%s (%s)", r.Verdict.Code, info.Title)
			if r.Verdict.Code == sqlguard.CodeUnresolvedObject && p.options.Driver != "sqlite" {
				out.Refused += "; with guard.catalog: true, ktx knows which tables are no views of what a rule denies"
			}
		} else {
			w.warn("", "profile_failed", "the table could not be profiled: %v", err)
		}
		out.Columns, out.Rows = []catalog.ProfileColumn{}, nil
	}
	if p.options.Values != nil {
		if err := p.options.Values.Finish(t.Ref()); err != nil {
			return nil, fmt.Errorf("keep the values of %s: %w", display(t.Ref()), err)
		}
	}
	return out, nil
}

// errValues marks an error of the store of values.
var errValues = errors.New("the values cannot be kept")

// work is the profile of one table as it is made.
type work struct {
	*profiler
	table    *table
	out      *tableProfile
	columns  []*tally
	complete bool // all rows of the table were read
}

func (w *work) warn(column, code, format string, args ...any) {
	w.out.Warnings = append(w.out.Warnings, catalog.Warning{
		Code: code, Message: fmt.Sprintf(format, args...), Recoverable: true, Table: display(w.table.Ref()), Column: column,
	})
}

// run reads the rows and the values.
func (w *work) run(ctx context.Context) error {
	want := int64(w.sampleRows())
	whole := source{from: name(w.engine, w.table.Ref())}
	estimate := w.table.EstimatedRows
	if estimate == nil || *estimate <= 2*want || w.table.Kind != catalog.KindTable {
		rows, all, err := w.read(ctx, whole, int(want)+1)
		if err != nil {
			return err
		}
		if all && rows <= want {
			w.complete = true
			w.out.Rows = &rows
			return w.finish(ctx, whole)
		}
	}
	total, err := w.count(ctx, whole, estimate)
	if err != nil {
		return err
	}
	w.out.Rows = total
	sample := whole
	if total != nil {
		spread, ok, err := w.spread(ctx, w.asker, w.table, want, *total)
		if err != nil && (ctx.Err() != nil || lost(err)) {
			return err
		}
		if ok && err == nil {
			sample = spread
		}
	}
	if sample == whole && w.out.Read > 0 {
		return w.finish(ctx, whole) // the first rows were read already
	}
	if err := w.sample(ctx, sample, whole, int(want)); err != nil {
		return err
	}
	return w.finish(ctx, whole)
}

// sample reads a sample, or the first rows if the sample takes too long, or has hardly
// any row because the keys do not lie evenly.
func (w *work) sample(ctx context.Context, sample, whole source, want int) error {
	_, _, err := w.read(ctx, sample, want)
	if ctx.Err() != nil || err != nil && lost(err) {
		return err
	}
	if (err == nil && w.out.Read >= int64(want)/10) || sample == whole {
		return err
	}
	_, _, err = w.read(ctx, whole, want)
	return err
}

// sampleRows is how many rows of a table are read at most.
func (w *work) sampleRows() int { return max(1, min(w.options.SampleRows, w.connection.Limits.Rows-1)) }

// count returns how many rows the table has: all rows are counted, unless that takes
// too long. Then it is the server's estimate, or nil.
func (w *work) count(ctx context.Context, whole source, estimate *int64) (*int64, error) {
	res, err := w.askWithin(ctx, "SELECT count(*) FROM "+whole.from, exactTimeout)
	if err == nil && len(res.Rows) == 1 {
		if n := number(res.Rows[0][0].Text, false); n != nil {
			return n, nil
		}
	}
	if err != nil && (ctx.Err() != nil || lost(err)) {
		return nil, err
	}
	if estimate == nil {
		w.warn("", "rows_not_counted", "the rows could not be counted, and the server has no estimate: %v", err)
	}
	return estimate, nil
}

// read reads at most n rows of a source, a few columns at a time. It returns how many
// there were, and whether no limit of bytes ended them.
func (w *work) read(ctx context.Context, src source, n int) (rows int64, all bool, err error) {
	n = max(1, min(n, w.connection.Limits.Rows))
	all = true
	for _, c := range w.columns {
		c.reset()
	}
	w.out.Read = 0
	for begin := 0; begin < len(w.columns); {
		group, statement, err := w.group(src, begin, n)
		if err != nil {
			return 0, false, err
		}
		res, err := w.ask(ctx, statement)
		if err != nil {
			return 0, false, err
		}
		if res.Truncated {
			all = false
			if len(res.Rows) == 0 || res.OmittedColumns > 0 {
				return 0, false, fmt.Errorf("a row is larger than the connection's limits: %s", res.Note)
			}
		}
		last := group[len(group)-1]
		if len(res.Columns) != last.at+len(last.expressions()) {
			return 0, false, fmt.Errorf("the answer has %d columns, which are not those that were asked for", len(res.Columns))
		}
		for _, row := range res.Rows {
			for _, c := range group {
				c.add(row[c.at:])
			}
		}
		if begin == 0 {
			rows = int64(len(res.Rows))
		}
		begin += len(group)
	}
	w.out.Read = rows
	return rows, all, nil
}

// group returns the next columns that one statement reads, and the statement. It has
// fewer columns when it would be longer than the guard permits.
func (w *work) group(src source, begin, n int) ([]*tally, string, error) {
	size := max(1, min(columnsAtOne, cellsPerRead/n, w.connection.Limits.Columns/2, len(w.columns)-begin))
	for ; size > 0; size /= 2 {
		group := w.columns[begin : begin+size]
		var list []string
		for _, c := range group {
			c.at = len(list)
			list = append(list, c.expressions()...)
		}
		statement := w.rows(strings.Join(list, ", "), src, n)
		if len(statement) <= w.options.maxBytes() {
			return group, statement, nil
		}
	}
	return nil, "", fmt.Errorf("a statement for one column is longer than guard.maxBytes permits (%d bytes)", w.options.maxBytes())
}

// finish writes the columns and collects the values of text columns.
func (w *work) finish(ctx context.Context, whole source) error {
	for _, c := range w.columns {
		w.out.Columns = append(w.out.Columns, c.profile())
		if w.options.Values == nil || !c.keepsValues() {
			continue
		}
		if err := w.values(ctx, c, whole); err != nil {
			return err
		}
	}
	return nil
}

// values hands the values of a column over. They are those of the sample if it has all
// rows of the table, or if the table is a view, whose rows may be expensive.
func (w *work) values(ctx context.Context, c *tally, whole source) error {
	values, distinct, complete := c.values(w.complete)
	if !w.complete && w.table.Kind == catalog.KindTable {
		all, total, whole, err := w.allValues(ctx, c, whole)
		switch {
		case err == nil:
			values, distinct, complete = all, total, whole
		case ctx.Err() != nil || lost(err):
			return err
		default:
			w.warn(c.column.Name, "values_incomplete", "the values are those of the sample, because collecting all of them failed: %v", err)
		}
	}
	if err := w.options.Values.Column(w.table.Ref(), c.column.Name, values, distinct, complete); err != nil {
		return fmt.Errorf("%w: %w", errValues, err)
	}
	return nil
}

// allValues asks the server for the distinct values of a column, most frequent first,
// and how many there are.
func (w *work) allValues(ctx context.Context, c *tally, whole source) (values []dictionary.Value, distinct int64, complete bool, err error) {
	limit := min(w.options.ValuesPerColumn, w.connection.Limits.Rows)
	statement := w.rows("v, n, count(*) OVER () AS d", source{from: fmt.Sprintf("(SELECT v, count(*) AS n FROM (SELECT %s AS v FROM %s) r GROUP BY v) g",
		w.prefix(w.exact(c.name), keptLength+1), whole.sql(c.name+" IS NOT NULL"))}, limit)
	statement = w.ordered(statement, limit)
	res, err := w.askWithin(ctx, statement, exactTimeout)
	if err != nil {
		return nil, 0, false, err
	}
	complete = !res.Truncated
	for _, row := range res.Rows {
		if n := number(row[2].Text, false); n != nil {
			distinct = *n
		}
		if utf8.RuneCountInString(row[0].Text) > keptLength {
			complete = false
			continue
		}
		if count := number(row[1].Text, false); count != nil {
			values = append(values, dictionary.Value{Text: row[0].Text, Count: *count})
		}
	}
	if int64(len(res.Rows)) < distinct {
		complete = false
	}
	sortValues(values)
	return values, distinct, complete, nil
}

// ordered adds an order to a statement that ends with LIMIT, or with its source.
func (w *work) ordered(statement string, limit int) string {
	const order = " ORDER BY n DESC, v"
	end := fmt.Sprintf(" LIMIT %d", limit)
	if head, ok := strings.CutSuffix(statement, end); ok {
		return head + order + end
	}
	return statement + order
}

// sortValues puts the most frequent values first.
func sortValues(values []dictionary.Value) {
	slices.SortFunc(values, func(a, b dictionary.Value) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Text, b.Text))
	})
}
