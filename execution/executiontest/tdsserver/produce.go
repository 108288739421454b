package tdsserver

import (
	"fmt"
	"iter"
	"slices"
)

// rowOf evaluates a select list.
func rowOf(e *env, values []expr) ([]any, error) {
	out := make([]any, len(values))
	for i, x := range values {
		var err error
		if out[i], err = x.eval(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// filtered returns the rows of from for which the condition where is true.
func filtered(e *env, from relation, where cond) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for in, err := range from.rows(e) {
			if err == nil {
				err = e.r.ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			e.row = in
			if where != nil {
				ok, err := where(e)
				if err != nil {
					yield(nil, err)
					return
				}
				if ok != truthYes {
					continue
				}
			}
			if !yield(in, nil) {
				return
			}
		}
	}
}

// produce makes the rows of a query without groups.
func produce(values []expr, from relation, where cond) func(*env) iter.Seq2[[]any, error] {
	return func(outer *env) iter.Seq2[[]any, error] {
		return func(yield func([]any, error) bool) {
			e := *outer
			for _, err := range filtered(&e, from, where) {
				var out []any
				if err == nil {
					out, err = rowOf(&e, values)
				}
				if !yield(out, err) || err != nil {
					return
				}
			}
		}
	}
}

// group makes one row for each group, in the order of the groups' first rows.
// Without keys there is exactly one group, even if there are no rows.
func group(values []expr, folds []fold, keys []int, from relation, where cond) func(*env) iter.Seq2[[]any, error] {
	type one struct {
		row  []any
		sums []any
	}
	start := func(row []any) *one {
		g := &one{row: slices.Clone(row), sums: make([]any, len(folds))}
		for i, f := range folds {
			g.sums[i] = f.start()
		}
		return g
	}
	return func(outer *env) iter.Seq2[[]any, error] {
		return func(yield func([]any, error) bool) {
			e := *outer
			var order []*one
			byKey := make(map[string]*one)
			if len(keys) == 0 {
				order = append(order, start(nil))
				byKey[""] = order[0]
			}
			for row, err := range filtered(&e, from, where) {
				if err != nil {
					yield(nil, err)
					return
				}
				var key []byte
				for _, k := range keys {
					key = fmt.Appendf(key, "%T %v\x00", row[k], row[k])
				}
				g := byKey[string(key)]
				if g == nil {
					g = start(row)
					byKey[string(key)] = g
					order = append(order, g)
				}
				if err := step(&e, folds, g.sums); err != nil {
					yield(nil, err)
					return
				}
			}
			for _, g := range order {
				e.row, e.folded = g.row, g.sums
				out, err := rowOf(&e, values)
				if !yield(out, err) || err != nil {
					return
				}
			}
		}
	}
}

// unique leaves out rows that are equal to an earlier row.
func unique(rows func(*env) iter.Seq2[[]any, error]) func(*env) iter.Seq2[[]any, error] {
	return func(e *env) iter.Seq2[[]any, error] {
		return func(yield func([]any, error) bool) {
			seen := make(map[string]bool)
			for row, err := range rows(e) {
				key := fmt.Sprintf("%T %v", row, row)
				if err == nil && seen[key] {
					continue
				}
				seen[key] = true
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// firstRows is TOP.
func firstRows(rows func(*env) iter.Seq2[[]any, error], n int64) func(*env) iter.Seq2[[]any, error] {
	if n < 0 {
		return rows
	}
	return func(e *env) iter.Seq2[[]any, error] {
		return func(yield func([]any, error) bool) {
			if n == 0 {
				return
			}
			sent := int64(0)
			for row, err := range rows(e) {
				if sent++; !yield(row, err) || err != nil || sent == n {
					return
				}
			}
		}
	}
}

func step(e *env, folds []fold, sums []any) error {
	for i, f := range folds {
		v, err := f.value.eval(e)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		if sums[i], err = f.step(sums[i], v); err != nil {
			return err
		}
	}
	return nil
}
