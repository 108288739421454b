package scan

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// rangeCount is in how many places of a table rows are read.
const rangeCount = 40

// ranges returns a source with the rows of a table in ranges of its integer key, which
// lie at equal distances from the lowest to the highest key. It returns false if the
// table is empty or a key does not fit into 64 bits.
func ranges(ctx context.Context, a *asker, e engine, t *table, want, total int64) (source, bool, error) {
	table := name(e, t.Ref())
	res, err := a.ask(ctx, fmt.Sprintf("SELECT min(%s), max(%[1]s) FROM %s", t.stride, table))
	if err != nil {
		return source{}, false, fmt.Errorf("read the range of keys: %w", err)
	}
	if len(res.Rows) != 1 || total <= 0 {
		return source{}, false, nil
	}
	low, errLow := strconv.ParseInt(res.Rows[0][0].Text, 10, 64)
	high, errHigh := strconv.ParseInt(res.Rows[0][1].Text, 10, 64)
	if errLow != nil || errHigh != nil || high < low {
		return source{}, false, nil //nolint:nilerr // the key is no integer of 64 bits, so it has no ranges
	}
	return source{from: table, where: strings.Join(strides(t.stride, low, high, want, total), " OR ")}, true, nil
}

// strides returns the conditions on a key for rangeCount ranges that together have
// want of total rows if the keys lie evenly.
func strides(key string, low, high, want, total int64) []string {
	span := float64(high) - float64(low) + 1
	step := math.Max(1, span/rangeCount)
	width := math.Max(1, math.Ceil(step*math.Min(1, float64(want)/float64(total))))
	var out []string
	last := low - 1
	for i := range rangeCount {
		begin := low + int64(math.Min(float64(i)*step, span-1))
		if begin <= last {
			continue
		}
		to := begin + int64(width) - 1
		if to < begin || to > high { // beyond the highest key, or beyond 64 bits
			to = high
		}
		out = append(out, fmt.Sprintf("%s BETWEEN %d AND %d", key, begin, to))
		last = to
	}
	return out
}
