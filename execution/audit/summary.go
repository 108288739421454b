package audit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"
)

// Summary counts the events of a log.
type Summary struct {
	Events int64 `json:"events"`
	// Bytes is the length of the lines counted, including newlines.
	Bytes int64     `json:"bytes"`
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Types counts events. Verdicts, Connections and Principals count
	// decisions. Codes counts the codes of decisions and of results.
	Types       map[Type]int64   `json:"types"`
	Verdicts    map[string]int64 `json:"verdicts"`
	Codes       map[string]int64 `json:"codes"`
	Connections map[string]int64 `json:"connections"`
	Principals  map[string]int64 `json:"principals"`
	// LatencyUS is over decisions. ExecMS is over statements that ended.
	LatencyUS Quantiles `json:"latencyUs"`
	ExecMS    Quantiles `json:"execMs"`
	// Lost counts the events that log.gap events report as lost.
	Lost int64 `json:"lost"`
	// Unfinished counts statements that were allowed and whose end is not
	// recorded: they are running, or their process was killed and none has opened the
	// log since. OpenQueries are the last 20 of their ids, oldest first. Crashed counts
	// those that a gateway.crashed event ended.
	Crashed     int64    `json:"crashed"`
	Unfinished  int64    `json:"unfinished"`
	OpenQueries []string `json:"openQueries"`
	// BadLines counts lines that are not events; Verify says what is wrong with
	// them.
	BadLines int64 `json:"badLines"`
}

// Quantiles are exact quantiles by the nearest-rank method.
type Quantiles struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	Max   float64 `json:"max"`
}

// MaxOpenQueries bounds Summary.OpenQueries.
const MaxOpenQueries = 20

// Summarize counts the events in dir that meet filter. It holds 8 bytes of
// memory for each statement, for the quantiles.
func Summarize(ctx context.Context, dir string, filter Filter) (Summary, error) {
	r, err := OpenReader(dir)
	if err != nil {
		return Summary{}, err
	}
	s, err := summarize(ctx, r, filter)
	return s, errors.Join(err, r.Close())
}

func summarize(ctx context.Context, r *Reader, filter Filter) (Summary, error) {
	s := Summary{
		Types: map[Type]int64{}, Verdicts: map[string]int64{}, Codes: map[string]int64{},
		Connections: map[string]int64{}, Principals: map[string]int64{}, OpenQueries: []string{},
	}
	var latency, exec []float64
	open, runs := map[string]int64{}, map[string]string{}
	for rec, err := range r.All(ctx) {
		if _, bad := errors.AsType[*LineError](err); bad {
			s.BadLines++
			continue
		}
		if err != nil {
			return Summary{}, err
		}
		e := rec.Event
		if e.Type == QueryFinished || e.Type == QueryCancelled {
			delete(open, e.QueryID) // whether or not its end meets the filter
			delete(runs, e.QueryID)
		}
		if e.Type == GatewayCrashed {
			for id, run := range runs {
				if run == e.Process.Run {
					delete(open, id)
					delete(runs, id)
					s.Crashed++
				}
			}
		}
		if !filter.Match(e) {
			continue
		}
		s.Events++
		s.Bytes += int64(len(rec.Raw)) + 1
		s.Types[e.Type]++
		if s.First.IsZero() || e.Time.Before(s.First) {
			s.First = e.Time
		}
		if e.Time.After(s.Last) {
			s.Last = e.Time
		}
		switch e.Type { //nolint:exhaustive // the other events are only counted, above
		case QueryDecision:
			s.Verdicts[e.Decision.Verdict]++
			s.Connections[e.Connection.ID]++
			s.Principals[e.Principal]++
			for _, code := range e.Decision.Codes {
				s.Codes[code]++
			}
			latency = append(latency, float64(e.Decision.LatencyUS))
			if e.Decision.Verdict == VerdictAllow {
				open[e.QueryID], runs[e.QueryID] = e.Seq, e.Process.Run
			}
		case QueryFinished, QueryCancelled:
			if e.Result.Code != "" {
				s.Codes[e.Result.Code]++
			}
			exec = append(exec, e.Result.ExecMS)
		case LogGap:
			s.Lost += e.Log.Lost
		}
	}
	s.LatencyUS, s.ExecMS = NewQuantiles(latency), NewQuantiles(exec)
	s.Unfinished = int64(len(open))
	ids := make([]string, 0, len(open))
	for id := range open {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(open[a], open[b]) })
	s.OpenQueries = append(s.OpenQueries, ids[max(0, len(ids)-MaxOpenQueries):]...)
	return s, nil
}

// NewQuantiles returns the quantiles of values, and changes their order.
func NewQuantiles(values []float64) Quantiles {
	if len(values) == 0 {
		return Quantiles{}
	}
	rank := func(q float64) float64 { return nth(values, int(math.Ceil(q*float64(len(values))))-1) }
	return Quantiles{Count: int64(len(values)), P50: rank(0.5), P95: rank(0.95), Max: slices.Max(values)}
}

// nth returns the value that stands at place k when values are sorted. It divides them
// around a value in the middle until few are left (quickselect), and sorts what is left
// when that goes on for long.
func nth(values []float64, k int) float64 {
	low, high := 0, len(values)-1
	for try := 0; high-low > 32 && try < 100; try++ {
		middle := []float64{values[low], values[(low+high)/2], values[high]}
		slices.Sort(middle)
		i, j := low, high
		for i <= j {
			for values[i] < middle[1] {
				i++
			}
			for values[j] > middle[1] {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return values[k]
		}
	}
	slices.Sort(values[low : high+1])
	return values[k]
}
