package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution/audit"
)

// Page says which part of a list is wanted.
type Page struct {
	// Limit is the most statements; 0 means 100.
	Limit int
	// After continues a list: the Next of the page before. 0 begins it.
	After int64
	// Oldest lists the oldest first.
	Oldest bool
}

// Statements is a page of statements.
type Statements struct {
	Statements []audit.Statement
	// Next is the After of the next page; 0 when there is none.
	Next int64
	// First and Last are the places of the first and the last statement, as a
	// [Page.After]; 0 when there are no statements.
	First, Last int64
	State       State
}

// Statements lists the statements that meet f, the newest first, in the order of
// their decisions. A statement whose decision is not in the log stands where its
// outcome is.
func (x *Index) Statements(ctx context.Context, f audit.Filter, p Page) (out Statements, err error) {
	if p.Limit <= 0 {
		p.Limit = 100
	}
	err = x.with(ctx, func(v *view) error {
		out = Statements{State: v.state, Statements: []audit.Statement{}}
		found, err := v.find(f, p, p.Limit+1)
		if err != nil {
			return err
		}
		if len(found) > p.Limit {
			found = found[:p.Limit]
			out.Next = found[p.Limit-1].n
		}
		if len(found) > 0 {
			out.First, out.Last = found[0].n, found[len(found)-1].n
		}
		out.Statements = make([]audit.Statement, 0, len(found))
		for _, at := range found {
			s, err := v.statement(at)
			if err != nil {
				return err
			}
			out.Statements = append(out.Statements, s)
		}
		return nil
	})
	return out, err
}

// All yields every statement that meets f, in pages. The state is that of the first
// page. An error ends the iteration.
func (x *Index) All(ctx context.Context, f audit.Filter, oldest bool) iter.Seq2[audit.Statement, error] {
	return func(yield func(audit.Statement, error) bool) {
		for p := (Page{Limit: 1000, Oldest: oldest}); ; {
			page, err := x.Statements(ctx, f, p)
			if err != nil {
				yield(audit.Statement{}, err)
				return
			}
			for _, s := range page.Statements {
				if !yield(s, nil) {
					return
				}
			}
			if p.After = page.Next; p.After == 0 {
				return
			}
		}
	}
}

// place is where the events of a statement lie in the log.
type place struct {
	n           int64
	segment, at int64
	seq, hash   int64
	endSegment  int64
	endAt       int64
	endSeq      int64
	endHash     int64
}

// find returns the places of at most limit statements.
func (v *view) find(f audit.Filter, p Page, limit int) ([]place, error) {
	c, err := v.condition(f)
	if err != nil || c.none {
		return nil, err
	}
	order := `DESC`
	switch {
	case p.Oldest:
		order = `ASC`
		c.first = max(c.first, p.After+1)
	case p.After > 0:
		c.last = min(c.last, p.After-1)
	}
	from, args, few, err := v.from(c)
	if err != nil {
		return nil, err
	}
	const columns = `SELECT n, segment, place, seq, hash, end_segment, end_place, end_seq, end_hash`
	var found []place
	scan := func(from string, args []any) error {
		return v.each(v.ctx, columns+from+` ORDER BY n `+order+` LIMIT ?`, append(args, limit-len(found)), func(s *sqlite3.Stmt) bool {
			found = append(found, place{
				s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4),
				s.ColumnInt64(5), s.ColumnInt64(6), s.ColumnInt64(7), s.ColumnInt64(8),
			})
			return true
		})
	}
	if few || !c.whole || len(c.tests) == 0 {
		err = scan(from, args)
		return found, err
	}
	// Blocks say which rows meet the conditions, as far as they are packed.
	until, err := v.packedUntil()
	if err != nil {
		return nil, err
	}
	inBlocks := func() error {
		var rows []int64
		err := v.blocks(c.tests, c.first, min(c.last, until), !p.Oldest, func(b *block, met []int) bool {
			if !p.Oldest {
				slices.Reverse(met)
			}
			for _, i := range met {
				rows = append(rows, b.column(columnN)[i])
			}
			return len(found)+len(rows) < limit
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		return scan(` FROM statement WHERE n IN array(?)`, []any{rows[:min(len(rows), limit-len(found))]})
	}
	inRows := func() error {
		args[0] = max(c.first, until+1)
		return scan(from, args)
	}
	steps := []func() error{inRows, inBlocks}
	if p.Oldest {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
		if len(found) >= limit {
			break
		}
	}
	return found, nil
}

// statement reads the events of a statement from the log.
func (v *view) statement(p place) (audit.Statement, error) {
	decision, err := v.event(p.segment, p.at, p.seq, p.hash)
	if err != nil {
		return audit.Statement{}, err
	}
	end, err := v.event(p.endSegment, p.endAt, p.endSeq, p.endHash)
	return audit.Joined(decision, end), err
}

// event reads one event, or returns none for segment 0.
func (v *view) event(segment, at, seq, hash int64) (audit.Event, error) {
	if segment == 0 {
		return audit.Event{}, nil
	}
	rec, err := v.log.At(int(segment), at)
	if err != nil {
		if _, bad := errors.AsType[*audit.LineError](err); bad {
			err = errors.Join(errStale, err)
		}
		return audit.Event{}, err
	}
	if lineNumber(rec.Raw) != hash {
		return audit.Event{}, fmt.Errorf("%w: event %d", errStale, seq)
	}
	return rec.Event, nil
}
