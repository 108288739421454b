package scan

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
)

// tally counts the values of one column.
type tally struct {
	engine   engine
	table    catalog.Ref
	column   *catalog.Column
	class    class
	measured bool   // the length of a text is read beside its beginning
	name     string // the column as a statement has it
	at       int    // its first position in the rows

	included bool // the configuration asks for its values
	excluded bool // its values are not kept

	rows, nulls int64
	counts      map[string]int64 // by value; of a long text by its beginning and length
	minLength   int
	maxLength   int
	lengths     int64 // of all texts together
}

func newTally(p *profiler, t *table, i int) *tally {
	c := &tally{engine: p.engine, table: t.Ref(), column: &t.Columns[i], class: t.columns[i].class, name: p.quote(t.Columns[i].Name)}
	c.measured = c.class == classText && (t.columns[i].maxLength == 0 || t.columns[i].maxLength > prefixLength)
	c.included = p.options.Include.match(c.table, c.column.Name)
	c.excluded = p.options.Exclude.match(c.table, c.column.Name) ||
		!c.included && (excludedByName(c.column.Name) || t.Kind == catalog.KindView && p.options.Readable.DeniesColumns())
	return c
}

func (c *tally) reset() {
	c.rows, c.nulls, c.counts = 0, 0, map[string]int64{}
	c.minLength, c.maxLength, c.lengths = math.MaxInt, 0, 0
}

// expressions are what a statement reads of the column.
func (c *tally) expressions() []string {
	switch {
	case c.class == classOpaque:
		return []string{c.engine.absent(c.name)}
	case c.class == classPlain:
		return []string{c.name}
	case c.measured:
		return []string{c.engine.prefix(c.name, prefixLength), c.engine.length(c.name)}
	default:
		return []string{c.engine.prefix(c.name, prefixLength)}
	}
}

// add counts a row. Its first values are those of the expressions.
func (c *tally) add(row []execution.Value) {
	c.rows++
	v := row[0]
	if c.class == classOpaque {
		if v.Text != "0" {
			c.nulls++
		}
		return
	}
	if v.Kind == execution.Null {
		c.nulls++
		return
	}
	if c.class == classPlain {
		c.counts[v.Text]++
		return
	}
	length := utf8.RuneCountInString(v.Text)
	if c.measured {
		if n, err := strconv.Atoi(row[1].Text); err == nil {
			length = n
		}
	}
	c.minLength, c.maxLength = min(c.minLength, length), max(c.maxLength, length)
	c.lengths += int64(length)
	if length > prefixLength {
		c.counts[v.Text+"\x00"+strconv.Itoa(length)]++
		return
	}
	c.counts[v.Text]++
}

// keepsValues reports whether the values of the column go to the dictionary.
func (c *tally) keepsValues() bool {
	switch c.column.NormalizedType {
	case typeString, typeEnum:
		return c.showsValues()
	case typeOther: // a column of SQLite without a type
		return c.class == classText && c.showsValues()
	default:
		return false
	}
}

// showsValues reports whether values of the column may be kept: its name does not
// exclude it, and its texts are not long.
func (c *tally) showsValues() bool {
	if c.excluded || c.class == classOpaque {
		return false
	}
	filled := c.rows - c.nulls
	return c.included || filled == 0 || c.lengths <= freeText*filled
}

// profile returns what the artifact says of the column.
func (c *tally) profile() catalog.ProfileColumn {
	out := catalog.ProfileColumn{
		Table: c.table, Column: c.column.Name, NativeType: c.column.NativeType,
		RowCount: c.rows, NullCount: c.nulls, DistinctCount: int64(len(c.counts)), SampleValues: []string{},
	}
	if c.rows > 0 {
		out.NullRate = ratio(c.nulls, c.rows)
		out.UniquenessRatio = ratio(out.DistinctCount, c.rows)
	}
	if c.class == classText && c.rows > c.nulls {
		low, high := c.minLength, c.maxLength
		out.MinTextLength, out.MaxTextLength = &low, &high
	}
	if !c.showsValues() {
		return out
	}
	values, _, _ := c.values(true)
	for _, v := range values {
		if len(out.SampleValues) == shownValues {
			break
		}
		if v.Text != "" && utf8.RuneCountInString(v.Text) <= shownLength {
			// A copy: the text of an answer may be a part of the text of all its values.
			out.SampleValues = append(out.SampleValues, strings.Clone(v.Text))
		}
	}
	return out
}

// ratio is a share with six decimals, so that its text is the same everywhere.
func ratio(part, whole int64) float64 {
	return math.Round(float64(part)/float64(whole)*1e6) / 1e6
}

// values returns the values that were read, most frequent first. If all rows of the
// table were read, their number is the true one.
func (c *tally) values(allRows bool) (values []dictionary.Value, distinct int64, complete bool) {
	complete = allRows
	values = make([]dictionary.Value, 0, len(c.counts))
	for text, n := range c.counts {
		if utf8.RuneCountInString(text) > keptLength {
			complete = false
			continue
		}
		values = append(values, dictionary.Value{Text: text, Count: n})
	}
	sortValues(values)
	distinct = int64(-1)
	if allRows {
		distinct = int64(len(c.counts))
	}
	return values, distinct, complete
}
