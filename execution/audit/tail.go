package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"
)

// followEvery is the time between two looks for new events.
const followEvery = 200 * time.Millisecond

// Tail yields the last n events that meet filter, or all of them when n is
// negative. With follow, it then yields every new event until ctx ends, which
// is not an error. Lines that are not events do not count towards n. Tail
// yields an error for such a line only when the line is new.
func (r *Reader) Tail(ctx context.Context, n int, follow bool, filter Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		last, end, err := r.last(ctx, n, filter)
		if err != nil {
			if !errors.Is(err, ctx.Err()) || !follow {
				yield(Record{}, err)
			}
			return
		}
		for _, rec := range last {
			if !yield(rec, nil) {
				return
			}
		}
		if follow {
			r.follow(ctx, end, func(rec Record, err error) bool {
				if err == nil && !filter.Match(rec.Event) {
					return true
				}
				return yield(rec, err)
			})
		}
	}
}

// last collects the last n events and returns the place after them.
func (r *Reader) last(ctx context.Context, n int, filter Filter) (last []Record, end place, err error) {
	numbers, err := segments(r.root)
	if err != nil {
		return nil, place{}, fmt.Errorf("read audit log: %w", err)
	}
	for i, number := range slices.Backward(numbers) {
		newest, want := i == len(numbers)-1, n-len(last)
		if n < 0 {
			want = -1
		} else if want == 0 && !newest {
			break
		}
		from := place{number: number}
		if n >= 0 && filter.zero() {
			if from.spot, err = r.before(number, max(want, 1)); err != nil {
				return nil, place{}, err
			}
		}
		part, after, err := r.matching(ctx, from, want, filter)
		if err == nil && (len(part) < want || after.event.line == 0) && from.line > 0 {
			// Some of those lines are not events.
			part, after, err = r.matching(ctx, place{number: number}, want, filter)
		}
		if err != nil {
			return nil, place{}, err
		}
		if newest {
			end = after
		}
		last = append(part, last...)
	}
	return last, end, nil
}

// matching collects the last n events of a segment from p on that meet filter,
// or all of them when n is negative. It returns the place after them.
func (r *Reader) matching(ctx context.Context, p place, n int, filter Filter) (part []Record, after place, err error) {
	after, ok := r.read(ctx, p, func(rec Record, readErr error) bool {
		var line *LineError
		switch {
		case errors.As(readErr, &line):
		case readErr != nil:
			err = readErr
		case filter.Match(rec.Event):
			if part = append(part, rec); n >= 0 && len(part) > 2*n {
				part = slices.Clone(part[len(part)-n:])
			}
		}
		return true
	})
	if !ok {
		return nil, place{}, err
	}
	if n >= 0 && len(part) > n {
		part = part[len(part)-n:]
	}
	return part, after, nil
}

// before returns the spot n whole lines before the end of a segment.
func (r *Reader) before(number, n int) (spot, error) {
	f, err := openRegular(r.root, segmentName(number))
	if err != nil {
		return spot{}, fmt.Errorf("read audit log: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	// Count the lines forwards, so that a record can name its line. Keep the
	// ends of the last n lines and of the one before them.
	ends := make([]int64, n+1)
	total := 0
	buf := make([]byte, 256<<10)
	for offset := int64(0); ; {
		k, err := f.ReadAt(buf, offset)
		for at := 0; ; {
			i := bytes.IndexByte(buf[at:k], '\n')
			if i < 0 {
				break
			}
			at += i + 1
			total++
			ends[total%(n+1)] = offset + int64(at)
		}
		offset += int64(k)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return spot{}, fmt.Errorf("read %s: %w", segmentName(number), err)
		}
	}
	if total <= n {
		return spot{}, nil
	}
	return spot{line: total - n, offset: ends[(total-n)%(n+1)]}, nil
}

// follow yields the events written after p until ctx ends or yield returns
// false.
func (r *Reader) follow(ctx context.Context, p place, yield func(Record, error) bool) {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		numbers, err := segments(r.root)
		if err != nil {
			yield(Record{}, fmt.Errorf("read audit log: %w", err))
			return
		}
		for _, number := range numbers {
			if number < p.number {
				continue
			}
			if number > p.number {
				p = place{number: number}
			}
			var ok bool
			p, ok = r.read(ctx, r.within(p), func(rec Record, err error) bool {
				return ctx.Err() == nil && yield(rec, err)
			})
			if !ok {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// within returns p, or the place after the last event when the lines after that
// event were cut off.
func (r *Reader) within(p place) place {
	if info, err := r.root.Stat(segmentName(p.number)); err == nil && info.Size() < p.offset {
		p.spot = p.event
	}
	return p
}
