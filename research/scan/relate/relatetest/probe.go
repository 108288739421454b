package relatetest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate"
)

// Memory is a Prober over the rows of a Sample.
type Memory struct {
	Sample *Sample
	Probes int // sent so far
}

var _ relate.Prober = (*Memory)(nil)

// Overlap compares all rows.
func (m *Memory) Overlap(ctx context.Context, from, to catalog.EndPoint) (relate.Overlap, error) {
	m.Probes++
	var o relate.Overlap
	if err := ctx.Err(); err != nil {
		return o, err
	}
	targets := map[string]int{}
	unique := true
	rows, err := m.Sample.tuples(to)
	if err != nil {
		return o, err
	}
	o.TargetRows = int64(len(rows))
	for _, key := range rows {
		if key != Null {
			targets[key]++
			unique = unique && targets[key] == 1
		}
	}
	o.TargetUnique, o.TargetMax = &unique, m.Sample.greatest(to, rows)
	rows, err = m.Sample.tuples(from)
	if err != nil {
		return o, err
	}
	o.Rows = int64(len(rows))
	seen := map[string]bool{}
	for _, key := range rows {
		switch {
		case key == Null:
			o.NullRows++
		case !seen[key]:
			seen[key] = true
			o.Distinct++
			if targets[key] > 0 {
				o.Found++
			}
		}
	}
	return o, nil
}

// greatest returns the greatest of the keys of an end point that is one column of
// integers, else nil.
func (s *Sample) greatest(end catalog.EndPoint, keys []string) *int64 {
	if len(end.Columns) != 1 || !strings.Contains(strings.ToLower(s.column(end).NativeType), "int") {
		return nil
	}
	var most *int64
	for _, key := range keys {
		if n, err := strconv.ParseInt(key, 10, 64); err == nil && (most == nil || n > *most) {
			most = &n
		}
	}
	return most
}

// column returns the first column of an end point, or an empty one.
func (s *Sample) column(end catalog.EndPoint) catalog.Column {
	for _, t := range s.Tables {
		for i := range t.Columns {
			if t.Ref() == end.Table && t.Columns[i].Name == end.Columns[0] {
				return t.Columns[i]
			}
		}
	}
	return catalog.Column{}
}

// tuples returns the keys of an end point, row by row. A key with a null is Null.
func (s *Sample) tuples(end catalog.EndPoint) ([]string, error) {
	i := slices.IndexFunc(s.Tables, func(t *catalog.Table) bool { return t.Ref() == end.Table })
	if i < 0 {
		return nil, fmt.Errorf("there is no table %v", end.Table)
	}
	var places []int
	for _, name := range end.Columns {
		n := slices.IndexFunc(s.Tables[i].Columns, func(c catalog.Column) bool { return c.Name == name })
		if n < 0 {
			return nil, fmt.Errorf("table %s has no column %s", end.Table.Name, name)
		}
		places = append(places, n)
	}
	rows := s.Rows[end.Table]
	keys := make([]string, len(rows))
	for r, row := range rows {
		parts := make([]string, len(places))
		for n, p := range places {
			parts[n] = row[p]
			if row[p] == Null {
				keys[r] = Null
			}
		}
		if keys[r] == "" {
			keys[r] = strings.Join(parts, "\x00")
		}
	}
	return keys, nil
}

// Profile counts the values of all rows, as a scan does with a sample of them.
func (s *Sample) Profile() *catalog.Profile {
	p := &catalog.Profile{Columns: map[string]catalog.ProfileColumn{}}
	for _, t := range s.Tables {
		rows := s.Rows[t.Ref()]
		p.Tables = append(p.Tables, catalog.ProfileTable{Table: t.Ref(), RowCount: int64(len(rows))})
		for i := range t.Columns {
			c := catalog.ProfileColumn{Table: t.Ref(), Column: t.Columns[i].Name, NativeType: t.Columns[i].NativeType, RowCount: int64(len(rows))}
			seen := map[string]bool{}
			low, high := math.MaxInt, 0
			for _, row := range rows {
				if row[i] == Null {
					c.NullCount++
				} else {
					seen[row[i]] = true
					n := utf8.RuneCountInString(row[i])
					low, high = min(low, n), max(high, n)
				}
			}
			if text := strings.ToLower(c.NativeType); len(seen) > 0 && (strings.Contains(text, "char") || strings.Contains(text, "text")) {
				c.MinTextLength, c.MaxTextLength = &low, &high
			}
			c.SampleValues = slices.Sorted(maps.Keys(seen))[:min(len(seen), 5)]
			c.DistinctCount = int64(len(seen))
			if n := c.RowCount - c.NullCount; n > 0 {
				c.UniquenessRatio = float64(c.DistinctCount) / float64(n)
			}
			if c.RowCount > 0 {
				c.NullRate = float64(c.NullCount) / float64(c.RowCount)
			}
			p.Columns[fmt.Sprintf("%s.%s.%s", t.Ref().DB, t.Name, c.Column)] = c
		}
	}
	return p
}
