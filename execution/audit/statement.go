package audit

import "iter"

// The values of [Statement.Status] beside those of [Result.Status].
const (
	// StatusRefused: the guard refused the statement, so it did not run.
	StatusRefused = "refused"
	// StatusUnfinished: the statement was allowed, and its end is not recorded.
	// It runs now, its process was killed, or the log could not be written.
	StatusUnfinished = "unfinished"
	// StatusUndecided: an end whose decision is not in the log.
	StatusUndecided = "undecided"
)

// Statement is one statement with its decision and its outcome.
type Statement struct {
	// Decision is the zero Event for an outcome whose decision is not there.
	Decision Event
	// Outcome is the zero Event for a statement that was refused, and for one
	// whose end is not recorded.
	Outcome Event
}

// Status says how the statement ended.
func (s Statement) Status() string {
	switch {
	case s.Decision.Type == "":
		return StatusUndecided
	case s.Decision.Decision.Verdict != VerdictAllow:
		return StatusRefused
	case s.Outcome.Type == "":
		return StatusUnfinished
	default:
		return s.Outcome.Result.Status
	}
}

// Event is the decision with the result of the outcome, or the outcome alone
// where there is no decision.
func (s Statement) Event() Event {
	if s.Decision.Type == "" {
		return s.Outcome
	}
	e := s.Decision
	e.Result = s.Outcome.Result
	return e
}

// isOutcome reports whether t ends a statement.
func isOutcome(t Type) bool { return t == QueryFinished || t == QueryCancelled }

// maxWaiting bounds the outcomes that NewestStatements and the statements that
// Statements hold while the other half of each has not been read yet.
const maxWaiting = 10_000

// NewestStatements joins the events of a reading backwards ([Reader.Newest])
// into statements, the latest decision first. Errors are passed on; events of
// other types are left out. What it holds in memory is the outcomes of the
// statements that ran at one time; of those without a decision, 10,000.
func NewestStatements(events iter.Seq2[Record, error]) iter.Seq2[Statement, error] {
	return func(yield func(Statement, error) bool) {
		ends := newWaiting[Event]()
		for rec, err := range events {
			e := rec.Event
			switch {
			case err != nil:
				if !yield(Statement{}, err) {
					return
				}
			case isOutcome(e.Type):
				if old, full := ends.add(e.QueryID, e); full && !yield(Statement{Outcome: old}, nil) {
					return
				}
			case e.Type == QueryDecision:
				s := Statement{Decision: e}
				s.Outcome, _ = ends.take(e.QueryID)
				if !yield(s, nil) {
					return
				}
			}
		}
		for _, e := range ends.rest() {
			if !yield(Statement{Outcome: e}, nil) {
				return
			}
		}
	}
}

// maxAhead bounds the finished statements that Statements holds back because
// one that was decided before them has not ended yet.
const maxAhead = 1000

// Statements joins the events of a reading forwards ([Reader.All]) into
// statements in the order of their decisions. A statement that still has no
// end when 1,000 decided after it are ready is passed over: it comes when it
// ends, or when everything has been read. Errors are passed on at once; events
// of other types are left out. Of statements without an end it holds 10,000; the oldest
// beyond that comes as unfinished, and its end, should there be one, alone.
func Statements(events iter.Seq2[Record, error]) iter.Seq2[Statement, error] {
	return func(yield func(Statement, error) bool) {
		q := queue{running: newWaiting[*entry]()}
		for rec, err := range events {
			e := rec.Event
			switch {
			case err != nil:
				if !yield(Statement{}, err) {
					return
				}
				continue
			case e.Type == QueryDecision:
				q.decided(e)
			case isOutcome(e.Type):
				q.ended(e)
			default:
				continue
			}
			for s, ok := q.next(); ok; s, ok = q.next() {
				if !yield(s, nil) {
					return
				}
			}
		}
		for _, s := range q.rest() {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// entry is a statement in a queue.
type entry struct {
	Statement
	ready  bool // complete
	passed bool // no longer in line
}

// queue brings statements back into the order of their decisions.
type queue struct {
	line    []*entry // in the order of their decisions
	ready   int      // of those in line
	out     []Statement
	running *waiting[*entry]
}

func (q *queue) decided(e Event) {
	n := &entry{Statement: Statement{Decision: e}, ready: e.Decision.Verdict != VerdictAllow}
	q.line = append(q.line, n)
	if n.ready {
		q.ready++
		return
	}
	if old, full := q.running.add(e.QueryID, n); full {
		q.complete(old)
	}
}

func (q *queue) ended(e Event) {
	n, ok := q.running.take(e.QueryID)
	if !ok {
		q.out = append(q.out, Statement{Outcome: e})
		return
	}
	n.Outcome = e
	q.complete(n)
}

func (q *queue) complete(n *entry) {
	if n.ready = true; n.passed {
		q.out = append(q.out, n.Statement)
		return
	}
	q.ready++
}

// next returns the statement that is due.
func (q *queue) next() (Statement, bool) {
	if len(q.out) > 0 {
		s := q.out[0]
		q.out = q.out[1:]
		return s, true
	}
	for len(q.line) > 0 && (q.line[0].ready || q.ready >= maxAhead) {
		n := q.line[0]
		q.line[0], q.line = nil, q.line[1:]
		if n.ready {
			q.ready--
			return n.Statement, true
		}
		n.passed = true
	}
	return Statement{}, false
}

// rest returns what is left: that still in line, behind those passed over.
func (q *queue) rest() []Statement {
	out := q.out
	for _, n := range q.running.rest() {
		if n.passed {
			out = append(out, n.Statement)
		}
	}
	for _, n := range q.line {
		out = append(out, n.Statement)
	}
	return out
}

// waiting holds at most maxWaiting values by query id, the oldest first.
type waiting[V any] struct {
	byID  map[string]*held[V]
	order []*held[V]
	taken int // of order
}

type held[V any] struct {
	id    string
	value V
	gone  bool
}

func newWaiting[V any]() *waiting[V] { return &waiting[V]{byID: map[string]*held[V]{}} }

// add holds v. When there are too many, or there is one of this id, the old
// one is returned.
func (w *waiting[V]) add(id string, v V) (old V, full bool) {
	if h := w.byID[id]; h != nil {
		old, full = w.drop(h), true
	} else if len(w.byID) >= maxWaiting {
		for w.order[0].gone {
			w.order, w.taken = w.order[1:], w.taken-1
		}
		old, full = w.drop(w.order[0]), true
	}
	h := &held[V]{id: id, value: v}
	w.byID[id] = h
	w.order = append(w.order, h)
	return old, full
}

// take returns the value of id and no longer holds it.
func (w *waiting[V]) take(id string) (v V, ok bool) {
	h := w.byID[id]
	if h == nil {
		return v, false
	}
	return w.drop(h), true
}

func (w *waiting[V]) drop(h *held[V]) V {
	v := h.value
	var zero V
	h.value, h.gone = zero, true
	delete(w.byID, h.id)
	if w.taken++; w.taken > len(w.order)/2 {
		kept := w.order[:0]
		for _, o := range w.order {
			if !o.gone {
				kept = append(kept, o)
			}
		}
		clear(w.order[len(kept):])
		w.order, w.taken = kept, 0
	}
	return v
}

// rest returns what is still held, the oldest first.
func (w *waiting[V]) rest() []V {
	var out []V
	for _, h := range w.order {
		if !h.gone {
			out = append(out, h.value)
		}
	}
	return out
}
