package index

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution/audit"
)

// Summarize counts the events from since until until, as [audit.Summarize] does with a
// filter that has only these two. A zero time is no bound.
func (x *Index) Summarize(ctx context.Context, since, until time.Time) (out audit.Summary, state State, err error) {
	err = x.with(ctx, func(v *view) error {
		s := summing{view: v, from: math.MinInt64, to: math.MaxInt64}
		if !since.IsZero() {
			s.from = nanos(since)
		}
		if !until.IsZero() {
			s.to = nanos(until)
		}
		state = v.state
		out, err = s.all()
		return err
	})
	return out, state, err
}

// summing counts the events of one period.
type summing struct {
	*view
	from, to int64
	sum      audit.Summary
	first    int64
	last     int64
	latency  []float64
	ms       []float64
}

// within reports whether an event of this time counts, and counts it.
func (s *summing) within(at, bytes int64) bool {
	if at < s.from || at >= s.to && s.to != math.MaxInt64 {
		return false
	}
	s.sum.Events++
	s.sum.Bytes += bytes
	s.first, s.last = min(s.first, at), max(s.last, at)
	return true
}

func (s *summing) all() (audit.Summary, error) {
	s.sum = audit.Summary{
		Types: map[audit.Type]int64{}, Verdicts: map[string]int64{}, Codes: map[string]int64{},
		Connections: map[string]int64{}, Principals: map[string]int64{}, OpenQueries: []string{}, BadLines: s.state.BadLines,
	}
	s.first, s.last = math.MaxInt64, math.MinInt64
	names, err := s.names(nameVerdict, nameConnection, namePrincipal, nameType, nameStatus)
	if err != nil {
		return s.sum, err
	}
	codes, err := s.codesets()
	if err != nil {
		return s.sum, err
	}
	verdicts, connections, principals, types, decisions := map[int64]int64{}, map[int64]int64{}, map[int64]int64{}, map[int64]int64{}, int64(0)
	decided, results := map[int64]int64{}, map[int64]int64{}
	err = s.each(s.ctx, `SELECT segment, time, bytes, verdict, connection, principal, codes, latency, "end", end_type, end_time, end_bytes, coalesce(ms, 0), open, status
		FROM statement NOT INDEXED ORDER BY n`, nil, func(r *sqlite3.Stmt) bool {
		set := r.ColumnInt64(6)
		if r.ColumnInt64(0) != 0 && s.within(r.ColumnInt64(1), r.ColumnInt64(2)) {
			decisions++
			verdicts[r.ColumnInt64(3)]++
			connections[r.ColumnInt64(4)]++
			principals[r.ColumnInt64(5)]++
			decided[set]++
			s.latency = append(s.latency, r.ColumnFloat(7))
			if r.ColumnBool(13) {
				s.sum.Unfinished++
			}
			if names[r.ColumnInt64(14)] == audit.StatusCrashed {
				s.sum.Crashed++
			}
		}
		kind := r.ColumnInt64(9)
		if r.ColumnInt64(8) != 0 && names[kind] != string(audit.GatewayCrashed) && s.within(r.ColumnInt64(10), r.ColumnInt64(11)) {
			types[kind]++
			results[set]++
			s.ms = append(s.ms, r.ColumnFloat(12))
		}
		return true
	})
	if err != nil {
		return s.sum, err
	}
	err = s.each(s.ctx, `SELECT type, time, bytes, lost FROM event`, nil, func(r *sqlite3.Stmt) bool {
		if s.within(r.ColumnInt64(1), r.ColumnInt64(2)) {
			types[r.ColumnInt64(0)]++
			s.sum.Lost += r.ColumnInt64(3)
		}
		return true
	})
	if err != nil {
		return s.sum, err
	}
	for id, n := range types {
		s.sum.Types[audit.Type(names[id])] = n
	}
	if decisions > 0 {
		s.sum.Types[audit.QueryDecision] = decisions
	}
	for to, counts := range map[*map[string]int64]map[int64]int64{&s.sum.Verdicts: verdicts, &s.sum.Connections: connections, &s.sum.Principals: principals} {
		for id, n := range counts {
			(*to)[names[id]] = n
		}
	}
	for id, n := range decided {
		for _, code := range codes[id].Decision {
			s.sum.Codes[code] += n
		}
	}
	for id, n := range results {
		if code := codes[id].Result; code != "" {
			s.sum.Codes[code] += n
		}
	}
	if s.sum.Events > 0 {
		s.sum.First, s.sum.Last = time.Unix(0, s.first).UTC(), time.Unix(0, s.last).UTC()
	}
	s.sum.LatencyUS, s.sum.ExecMS = audit.NewQuantiles(s.latency), audit.NewQuantiles(s.ms)
	return s.sum, s.openQueries()
}

// openQueries finds the ids of the last statements without an end.
func (s *summing) openQueries() error {
	if s.sum.Unfinished == 0 {
		return nil
	}
	var found []place
	err := s.each(s.ctx, `SELECT segment, place, seq, hash FROM statement INDEXED BY statement_open WHERE open <> 0 AND time >= ? AND (time < ? OR ?) ORDER BY n DESC LIMIT ?`,
		[]any{s.from, s.to, boolean(s.to == math.MaxInt64), audit.MaxOpenQueries}, func(r *sqlite3.Stmt) bool {
			found = append(found, place{segment: r.ColumnInt64(0), at: r.ColumnInt64(1), seq: r.ColumnInt64(2), hash: r.ColumnInt64(3)})
			return true
		})
	if err != nil {
		return err
	}
	for _, p := range slices.Backward(found) {
		e, err := s.event(p.segment, p.at, p.seq, p.hash)
		if err != nil {
			return err
		}
		s.sum.OpenQueries = append(s.sum.OpenQueries, e.QueryID)
	}
	return nil
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// names returns the names of some kinds by their numbers.
func (v *view) names(kinds ...nameKind) (map[int64]string, error) {
	out := map[int64]string{}
	for _, kind := range kinds {
		if err := v.each(v.ctx, `SELECT id, text FROM name WHERE kind = ?`, []any{int(kind)}, func(s *sqlite3.Stmt) bool {
			out[s.ColumnInt64(0)] = s.ColumnText(1)
			return true
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// codesets returns the codes by their numbers.
func (v *view) codesets() (map[int64]codeset, error) {
	out := map[int64]codeset{}
	var bad error
	err := v.each(v.ctx, `SELECT id, key FROM codeset`, nil, func(s *sqlite3.Stmt) bool {
		var c codeset
		bad = s.ColumnJSON(1, &c)
		out[s.ColumnInt64(0)] = c
		return bad == nil
	})
	if bad != nil {
		return nil, errDamaged
	}
	return out, err
}
