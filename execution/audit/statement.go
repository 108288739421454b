package audit

import "iter"

// The values of [Statement.Status], in addition to those of [Result.Status].
const (
	// StatusRefused: the guard refused the statement, so it did not run.
	StatusRefused = "refused"
	// StatusUnfinished: the statement was allowed, and its end is not recorded.
	// It is running, its process was killed and none has opened the log since, or the
	// log could not be written.
	StatusUnfinished = "unfinished"
	// StatusUndecided: the log has the end of the statement, but not its
	// decision.
	StatusUndecided = "undecided"
)

// Statement is one statement with its decision and its outcome.
type Statement struct {
	// Decision is the zero Event when the log has only the outcome.
	Decision Event
	// Outcome is the zero Event when the statement was refused, and when its
	// end is not recorded.
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

// Event returns the decision with the result of the outcome, or the outcome
// alone when there is no decision.
func (s Statement) Event() Event {
	if s.Decision.Type == "" {
		return s.Outcome
	}
	e := s.Decision
	e.Result = s.Outcome.Result
	return e
}

// Joined returns the statement of a decision and the event that ended it. Either may
// be the zero Event. A gateway.crashed event ends a statement as crashed.
func Joined(decision, end Event) Statement {
	if end.Type == GatewayCrashed {
		end = crashed(decision, end)
	}
	return Statement{Decision: decision, Outcome: end}
}

// crashed returns the outcome of a statement whose process crashed.
func crashed(decision, crash Event) Event {
	crash.QueryID, crash.Result.Status = decision.QueryID, StatusCrashed
	return crash
}

// isOutcome reports whether t ends a statement.
func isOutcome(t Type) bool { return t == QueryFinished || t == QueryCancelled }

// maxWaiting bounds how many outcomes NewestStatements, and how many statements
// Statements, hold while they have not yet read the other event of each.
const maxWaiting = 10_000

// NewestStatements joins events read backwards ([Reader.Newest]) into
// statements, the latest decision first. It passes errors on and leaves out
// events of other types. In memory it holds the outcomes of the statements that
// ran at the same time, and at most 10,000 outcomes without a decision.
func NewestStatements(events iter.Seq2[Record, error]) iter.Seq2[Statement, error] {
	return func(yield func(Statement, error) bool) {
		ends := newWaiting[Event]()
		crashes := newWaiting[Event]() // by their run
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
			case e.Type == GatewayCrashed:
				crashes.add(e.Process.Run, e)
			case e.Type == QueryDecision:
				s := Statement{Decision: e}
				var ended bool
				if s.Outcome, ended = ends.take(e.QueryID); !ended && e.Decision.Verdict == VerdictAllow {
					if h := crashes.byID[e.Process.Run]; h != nil {
						s.Outcome = crashed(e, h.value)
					}
				}
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

// maxAhead bounds the finished statements that Statements holds back because a
// statement that was decided before them has not ended yet.
const maxAhead = 1000

// Statements joins events read forwards ([Reader.All]) into statements in the
// order of their decisions. When a statement has no end yet and 1,000 later
// ones are ready, they no longer wait for it. It is yielded when it ends, or
// when all events have been read. Statements passes errors on at once and
// leaves out events of other types. It holds at most 10,000 statements without
// an end. Beyond that it yields the oldest as unfinished; the outcome of that
// statement, if there is one, is then yielded alone.
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
			case e.Type == GatewayCrashed:
				for _, n := range q.running.rest() {
					if n.Decision.Process.Run == e.Process.Run && e.Process.Run != "" {
						q.ended(crashed(n.Decision, e))
					}
				}
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
	passed bool // no longer in the queue
}

// queue brings statements back into the order of their decisions.
type queue struct {
	line    []*entry // in the order of their decisions
	ready   int      // number of ready entries in line
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

// next returns the next statement to yield.
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

// rest returns the remaining statements: first those passed over, then those
// still in line.
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
	taken int // number of entries of order already taken
}

type held[V any] struct {
	id    string
	value V
	gone  bool
}

func newWaiting[V any]() *waiting[V] { return &waiting[V]{byID: map[string]*held[V]{}} }

// add holds v. When there are too many values, it returns the oldest. When
// there is already a value with this id, it returns that one.
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

// take returns the value of id and removes it.
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

// rest returns the values still held, oldest first.
func (w *waiting[V]) rest() []V {
	var out []V
	for _, h := range w.order {
		if !h.gone {
			out = append(out, h.value)
		}
	}
	return out
}
