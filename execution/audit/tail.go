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

// Tail yields the last n events that meet filter, all of them when n is
// negative, and with follow then every new one until ctx ends, which is no
// error. Lines that are no events are left out of the n and reported when they
// are new.
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
		newest := i == len(numbers)-1
		if !newest && n >= 0 && len(last) >= n {
			break
		}
		from := place{number: number}
		if n >= 0 && filter.zero() {
			if from, err = r.before(number, n-len(last)); err != nil {
				return nil, place{}, err
			}
		}
		var part []Record
		after, ok := r.read(ctx, from, func(rec Record, lineErr error) bool {
			var line *LineError
			switch {
			case errors.As(lineErr, &line):
			case lineErr != nil:
				err = lineErr
			case filter.Match(rec.Event):
				part = append(part, rec)
				if n >= 0 && len(part) > 2*(n-len(last)) {
					part = slices.Clone(part[len(part)-(n-len(last)):])
				}
			}
			return true
		})
		if !ok {
			return nil, place{}, err
		}
		if newest {
			end = after
		}
		if n >= 0 && len(part) > n-len(last) {
			part = part[len(part)-(n-len(last)):]
		}
		last = append(part, last...)
	}
	return last, end, nil
}

// before returns the place n whole lines before the end of a segment.
func (r *Reader) before(number, n int) (place, error) {
	f, err := r.root.Open(segmentName(number))
	if err != nil {
		return place{}, fmt.Errorf("read audit log: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	// The lines are counted forwards, so that a record can name its line; the
	// ends of the last n, and of the one before, are kept.
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
			return place{}, fmt.Errorf("read %s: %w", segmentName(number), err)
		}
	}
	if total <= n {
		return place{number: number}, nil
	}
	return place{number: number, line: total - n, offset: ends[(total-n)%(n+1)]}, nil
}

// follow yields what is written after p until ctx ends or yield returns false.
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

// within returns p, or the end of its segment when that was cut before p.
func (r *Reader) within(p place) place {
	if info, err := r.root.Stat(segmentName(p.number)); err == nil && info.Size() < p.offset {
		p.offset = info.Size()
	}
	return p
}
