package relate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ktxhq/ktx/research/catalog"
)

// prober counts the probes of one call of Find.
type prober struct {
	Prober

	left    int
	stopped bool
}

// errSkipped says that a probe was not sent.
var errSkipped = errors.New("not probed")

// ask sends a probe. It returns errSkipped if no further probe may be sent, and the
// error of ctx.
func (q *prober) ask(ctx context.Context, p *proposal) (Overlap, error) {
	if q.left <= 0 || q.stopped {
		return Overlap{}, errSkipped
	}
	if err := ctx.Err(); err != nil {
		return Overlap{}, err
	}
	q.left--
	r := p.relationship()
	o, err := q.Overlap(ctx, r.From, r.To)
	if errors.Is(err, ErrStopped) {
		q.stopped = true
		return Overlap{}, errSkipped
	}
	if err != nil && ctx.Err() != nil {
		return Overlap{}, ctx.Err()
	}
	return o, err
}

// judged is a proposal with its verdict.
type judged struct {
	*proposal

	verdict verdict
	reason  string
	overlap *Overlap
	skipped bool
}

func (j *judged) relationship() catalog.Relationship {
	r := j.proposal.relationship()
	r.Confidence = j.confidence(j.verdict, j.overlap)
	if j.joined > 0 {
		r.Evidence = append(r.Evidence, fmt.Sprintf("%d statements joined the columns", j.joined))
	}
	if j.implied {
		r.Evidence = append(r.Evidence, "a composite key holds this reference too")
	}
	if j.reason != "" {
		r.Evidence = append(r.Evidence, j.reason)
	}
	if j.overlap != nil {
		r.Validation = j.overlap.validation()
	}
	return r
}

// judge decides about one proposal, by data if q is not nil.
func judge(ctx context.Context, p *proposal, q *prober) (judged, error) {
	j := judged{proposal: p}
	if q == nil {
		j.verdict, j.reason = p.byNamesAlone()
		return j, nil
	}
	o, err := q.ask(ctx, p)
	switch {
	case errors.Is(err, errSkipped):
		j.skipped, j.reason = true, "not compared: the number of probes or the budget of the scan was used up"
	case ctx.Err() != nil:
		return j, ctx.Err()
	case err != nil:
		j.verdict, j.reason = review, "the query that compares the values failed"
		if p.score < enoughNames {
			j.verdict = rejected
		}
	default:
		o = o.sane()
		j.overlap = &o
		j.verdict, j.reason = p.byData(o)
	}
	return j, nil
}

// sane bounds counts that contradict each other.
func (o Overlap) sane() Overlap {
	o.Rows, o.Distinct = max(o.Rows, 0), max(o.Distinct, 0)
	o.NullRows = min(max(o.NullRows, 0), o.Rows)
	o.Found = min(max(o.Found, 0), o.Distinct)
	return o
}

// choose decides about the proposals for each column. Each list is sorted, the best
// first. A worse proposal is only looked at if the better ones were refuted. Proposals
// with better names are probed first, so that a limit on the probes cuts the weak ones.
func (f *finder) choose(ctx context.Context, lists [][]*proposal, q *prober) error {
	type state struct {
		list []*proposal
		next int
		held *judged  // reviewed, and to be kept if no better one is found
		also []judged // worse ones than held that the values fit; a person has to choose
		fit  []judged // reviewed, of those that only values tell of
		done bool
	}
	states := make([]*state, 0, len(lists))
	for _, list := range lists {
		list = slices.DeleteFunc(list, func(p *proposal) bool { return p.score < leastNames })
		if len(list) > 0 {
			states = append(states, &state{list: list})
		}
	}
	for round := range maxByValues {
		slices.SortStableFunc(states, func(a, b *state) int {
			x, y := min(round, len(a.list)-1), min(round, len(b.list)-1)
			return cmp.Compare(b.list[y].score, a.list[x].score)
		})
		for _, s := range states {
			if s.done || s.next >= len(s.list) {
				continue
			}
			p := s.list[s.next]
			s.next++
			if f.hopeless(p) {
				continue
			}
			j, err := judge(ctx, p, q)
			if err != nil {
				return err
			}
			if o := j.overlap; o != nil && o.TargetMax != nil && p.targets[0] == p.to.key {
				f.greatest[p.to] = *o.TargetMax
			}
			switch {
			case j.skipped:
				if p.byName || p.joined > 0 {
					f.skip(j)
				}
				s.done = true
			case j.verdict == accepted:
				if rival, err := f.rival(ctx, s.list[s.next:], p, q); err != nil {
					return err
				} else if rival != nil {
					j.verdict, j.reason = review, j.reason+"; "+rival.to.full()+" fits as well"
				}
				if s.held != nil {
					f.reject(s.held.proposal, s.held.overlap)
					for _, j := range s.also {
						f.reject(j.proposal, j.overlap)
					}
					s.held, s.also = nil, nil
				}
				f.put(j)
				s.done = true
			case j.verdict == review && !p.byName && p.joined == 0:
				s.fit = append(s.fit, j)
			case j.verdict == review:
				switch {
				case s.held == nil:
					s.held = &j
				case j.overlap != nil && j.overlap.Distinct > 0 && j.overlap.coverage() >= fullCoverage && !p.mismatch:
					s.also = append(s.also, j)
				default:
					f.reject(p, j.overlap)
				}
				// A target with nearly as good a name may fit better.
				if s.next >= len(s.list) || q == nil || s.list[s.next].score < s.held.score-0.15 {
					s.done = true
				}
			case p.byName || p.joined > 0:
				f.put(j)
			}
		}
	}
	for _, s := range states {
		if s.held == nil {
			s.held = f.onlyOne(s.fit)
		}
		if s.held != nil {
			f.put(*s.held)
		}
		for _, j := range s.also {
			f.put(j)
		}
		for _, p := range s.list[s.next:] {
			if s.done && p.byName && p.score >= reviewNames {
				f.reject(p, nil)
			}
		}
	}
	return nil
}

// rival returns a proposal of the list with names as good as those of p, in another
// schema or layer, whose values fit as well.
func (f *finder) rival(ctx context.Context, list []*proposal, p *proposal, q *prober) (*proposal, error) {
	if len(list) == 0 || list[0].score < p.score-0.001 {
		return nil, nil
	}
	j, err := judge(ctx, list[0], q)
	if err != nil || j.verdict != accepted {
		return nil, err
	}
	return list[0], nil
}

// put adds a judged proposal to its list.
func (f *finder) put(j judged) {
	r := j.relationship()
	if j.verdict != rejected {
		f.remember(&r)
	}
	switch j.verdict {
	case accepted:
		f.out.Accepted = append(f.out.Accepted, r)
	case review:
		f.out.Review = append(f.out.Review, r)
	case rejected:
		f.out.Rejected = append(f.out.Rejected, r)
	}
}

func (f *finder) skip(j judged) {
	f.out.Skipped = append(f.out.Skipped, j.relationship())
}

// reject rejects a proposal because another target of its columns fits better.
func (f *finder) reject(p *proposal, o *Overlap) {
	f.put(judged{proposal: p, reason: "another target fits better", overlap: o})
}
