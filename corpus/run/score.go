package run

import (
	"cmp"
	"slices"

	"github.com/ktxhq/ktx/corpus"
)

// Score counts the answers of one dialect and class. Errors counts all cases
// without an answer. Crashes, TimeOuts and BadReplies count those of them that
// were faults of the guard.
type Score struct {
	Dialect      string `json:"dialect"`
	Class        string `json:"class"`            // "" over all classes
	Effect       string `json:"effect,omitempty"` // of [ScoresByEffect]
	Cases        int    `json:"cases"`
	Rejects      int    `json:"rejects"`
	Bypasses     int    `json:"bypasses"`
	Allows       int    `json:"allows"`
	FalseRejects int    `json:"falseRejects"`
	Errors       int    `json:"errors"`
	Crashes      int    `json:"crashes"`
	TimeOuts     int    `json:"timeouts"`
	BadReplies   int    `json:"badReplies"`
	Agreements   int    `json:"agreements"` // refusals whose code the case lists
	P50US        int64  `json:"p50_us"`
	P95US        int64  `json:"p95_us"`
	P99US        int64  `json:"p99_us"`
}

// Rates are the rates of a score. A rate is nil if there was no such case.
type Rates struct {
	Bypass      *float64 `json:"bypassRate"`      // of the cases that must be refused
	FalseReject *float64 `json:"falseRejectRate"` // of the cases that must pass
	Error       *float64 `json:"errorRate"`       // of all cases
	Crash       *float64 `json:"crashRate"`       // of all cases
	TimeOut     *float64 `json:"timeoutRate"`     // of all cases
}

// Rates returns the rates of s.
func (s Score) Rates() Rates {
	return Rates{
		Bypass: rate(s.Bypasses, s.Rejects), FalseReject: rate(s.FalseRejects, s.Allows),
		Error: rate(s.Errors, s.Cases), Crash: rate(s.Crashes, s.Cases), TimeOut: rate(s.TimeOuts, s.Cases),
	}
}

func rate(n, of int) *float64 {
	if of == 0 {
		return nil
	}
	share := float64(n) / float64(of)
	return &share
}

// Scores counts results: for each dialect over all classes, and then for each
// class.
func Scores(results []Result) []Score {
	return scores(results, func(r Result) []tally {
		if r.Class == "" {
			return []tally{{dialect: r.Dialect}}
		}
		return []tally{{dialect: r.Dialect}, {dialect: r.Dialect, class: r.Class}}
	})
}

// ScoresByEffect counts the results of cases that must be refused, for each
// dialect and each kind of effect.
func ScoresByEffect(results []Result) []Score {
	return scores(results, func(r Result) []tally {
		if r.Effect == "" {
			return nil
		}
		return []tally{{dialect: r.Dialect, effect: r.Effect}}
	})
}

// tally is what one score counts.
type tally struct{ dialect, class, effect string }

func scores(results []Result, of func(Result) []tally) []Score {
	sums := map[tally]*Score{}
	times := map[tally][]int64{}
	for _, r := range results {
		for _, k := range of(r) {
			s := sums[k]
			if s == nil {
				s = &Score{Dialect: k.dialect, Class: k.class, Effect: k.effect}
				sums[k] = s
			}
			s.count(r)
			times[k] = append(times[k], r.LatencyUS)
		}
	}
	out := make([]Score, 0, len(sums))
	for k, s := range sums {
		slices.Sort(times[k])
		at := func(percent int) int64 { return times[k][len(times[k])*percent/100] }
		s.P50US, s.P95US, s.P99US = at(50), at(95), at(99)
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Score) int {
		return cmp.Or(cmp.Compare(a.Dialect, b.Dialect), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Effect, b.Effect))
	})
	return out
}

func (s *Score) count(r Result) {
	s.Cases++
	switch r.Expect {
	case corpus.Reject:
		s.Rejects++
		if r.Decision == Allow {
			s.Bypasses++
		}
	case corpus.Allow:
		s.Allows++
		if r.Decision == Reject {
			s.FalseRejects++
		}
	case corpus.Policy:
	}
	if r.Decision == Error {
		s.Errors++
	}
	switch r.Fault {
	case Crash:
		s.Crashes++
	case TimeOut:
		s.TimeOuts++
	case BadReply:
		s.BadReplies++
	}
	if r.Agrees {
		s.Agreements++
	}
}
