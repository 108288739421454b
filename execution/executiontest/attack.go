package executiontest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// Attack is one text that a guard refuses, sent past a guard that refuses
// nothing.
type Attack struct {
	// Name says what is tried; it is the row's key in the report.
	Name string
	// SQL is the text. What stands in braces is filled in by the Victim.
	SQL string
	// Group is the heading under which the report lists the attack.
	Group string
	// Discloses says that an answer is the damage.
	Discloses bool
	// Since is the first major version of the server that knows the text.
	Since int
	// StoppedSince is the first major version whose server refuses or undoes
	// the text itself. Older ones leave it to the session, and are what the
	// report tells of.
	StoppedSince int
	// Beyond says why no read-only session can stop the attack. An attack
	// without it must leave no trace and disclose nothing, in any role.
	Beyond string
}

// Victim is a database that attacks may harm, with an independent way in as
// its owner.
type Victim interface {
	// Major is the server's major version.
	Major() int
	// Address returns what the backend is opened with to be role.
	Address(tb testing.TB, role string) string
	// Text fills in what stands in braces in an attack.
	Text(tb testing.TB, role, sql string) string
	// State returns everything that an attack may change.
	State(tb testing.TB) []Fact
	// Session is a text whose answer shows what a session of the backend has
	// kept; it is asked through the backend before and after an attack.
	Session() string
	// Restore brings a database back that an attack has changed.
	Restore(tb testing.TB)
}

// Fact is one piece of a database's state. Kind is what the report calls it.
type Fact struct{ Kind, Name, Value string }

// outcome is what became of an attack.
type outcome struct {
	stoppedBy string   // the control that refused it; empty when it ran
	left      []string // kinds of what it changed for good
	disclosed bool
}

// harmed reports whether the attack reached anything.
func (o outcome) harmed() bool { return len(o.left) > 0 || o.disclosed }

// String is the outcome in the words of the report.
func (o outcome) String() string {
	var parts []string
	if o.stoppedBy != "" {
		parts = append(parts, "refused: "+o.stoppedBy)
	}
	if len(o.left) > 0 {
		parts = append(parts, "**left behind: "+strings.Join(o.left, ", ")+"**")
	}
	switch {
	case o.disclosed:
		parts = append(parts, "**answered**")
	case len(parts) == 0:
		parts = append(parts, "ran, undone")
	}
	return strings.Join(parts, "; ")
}

const (
	// undoneWithin is how long a backend may take to undo what an attack
	// changed, such as by a rollback behind the answer, when the session may
	// also fail to stop the attack.
	undoneWithin = 250 * time.Millisecond
	// seenWithin is how long what an attack did may take to be seen.
	seenWithin = time.Second
)

// testAttacks sends every attack as every role, looks at the database from
// outside before and after, and compares the outcomes with the report.
func testAttacks(t *testing.T, s *suite) {
	t.Helper()
	victim := s.Victim(t)
	major := victim.Major()
	s.guardRefuses(t, victim)
	outcomes := make(map[string][]outcome) // by attack, in the order of roles
	for _, a := range s.Attacks {
		if a.Since <= major {
			outcomes[a.Name] = make([]outcome, len(s.Roles))
		}
	}
	for i, role := range s.Roles {
		t.Run(cmp.Or(role, "session"), func(t *testing.T) {
			c := s.openAt(t, victim.Address(t, role), 1)
			var last *observation
			for _, a := range s.Attacks {
				if a.Since > major {
					continue
				}
				o := s.attack(t, c, victim, role, a, &last)
				stopped := a.StoppedSince > 0 && a.StoppedSince <= major
				if o.harmed() && (a.Beyond == "" || stopped) {
					t.Errorf("%s: %s\n\t%s", a.Name, o, a.SQL)
				}
				if stopped {
					delete(outcomes, a.Name)
				} else {
					outcomes[a.Name][i] = o
				}
			}
		})
	}
	if t.Failed() {
		return // not every attack was sent
	}
	for _, a := range s.Attacks {
		if got := outcomes[a.Name]; a.Beyond != "" && got != nil && !slices.ContainsFunc(got, outcome.harmed) {
			t.Errorf("%s: is said to be beyond the session (%s), and did no harm in any role", a.Name, a.Beyond)
		}
	}
	if !t.Failed() {
		s.report(t, outcomes)
	}
}

// guardRefuses checks that what the session is tried with is what the engine's
// real guard refuses.
func (s *suite) guardRefuses(t *testing.T, victim Victim) {
	t.Helper()
	if s.Reader == nil {
		return
	}
	schema, _, _ := strings.Cut(s.Secrets, ".")
	policy := sqlguard.DefaultPolicy()
	policy.SearchPath = []string{schema}
	policy.Tables.Deny = []string{s.Secrets}
	g, err := sqlguard.New(s.Reader, policy, &sqlguard.Catalog{Major: victim.Major(), SearchPath: []string{schema}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Attacks {
		if v := g.Check(victim.Text(t, s.Roles[0], a.SQL)); v.Allowed {
			t.Errorf("%s: the guard allows %s", a.Name, a.SQL)
		}
	}
}

// observation is what an attack may change: the facts about the database, and
// what the backend's session has kept.
type observation struct {
	facts   []Fact
	session string
}

// attack sends one attack and returns what became of it. last is the state that
// the attack before it has left, or nil.
func (s *suite) attack(t *testing.T, c *Client, victim Victim, role string, a Attack, last **observation) outcome {
	t.Helper()
	if *last == nil {
		*last = &observation{session: s.session(t, c, victim), facts: victim.State(t)}
	}
	before, kept := (*last).facts, (*last).session
	res, err := c.Try(t.Context(), t, victim.Text(t, role, a.SQL), execution.Limits{Timeout: Patience})
	after := victim.State(t)
	look := func(until time.Duration, enough func() bool) {
		for end := time.Now().Add(until); !enough() && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
			after = victim.State(t)
		}
	}
	if a.Beyond != "" && !a.Discloses && err == nil {
		look(seenWithin, func() bool { return len(changed(before, after)) > 0 })
	}
	within := endWithin()
	if a.Beyond != "" {
		within = undoneWithin
	}
	look(within, func() bool { return len(changed(before, after)) == 0 })

	var o outcome
	if err != nil {
		e, ok := errors.AsType[*execution.Error](err)
		if !ok {
			t.Errorf("%s: error %v (%T), want an *execution.Error", a.Name, err, err)
			return o
		}
		if o.stoppedBy = s.StoppedBy(e); o.stoppedBy == "" {
			t.Errorf("%s: no control is known by the error %v (SQLState %s)", a.Name, e, e.SQLState)
		}
	}
	o.disclosed = a.Discloses && err == nil && res != nil && len(res.Rows) > 0
	o.left = changed(before, after)
	if len(o.left) > 0 {
		t.Logf("%s as %q changed the database (-before +after):\n%s", a.Name, role, gocmp.Diff(before, after))
	}
	now := s.session(t, c, victim)
	if now != kept {
		o.left = append(o.left, "session")
		t.Logf("%s as %q changed the session from\n%s\nto\n%s", a.Name, role, kept, now)
	}
	*last = &observation{after, now}
	if len(o.left) > 0 {
		victim.Restore(t)
		*last = nil
	}
	return o
}

// session returns what a session of the backend has kept. An attack may have
// cost the backend its connection, so one error is forgiven.
func (s *suite) session(t *testing.T, c *Client, victim Victim) string {
	t.Helper()
	res, err := c.Try(t.Context(), t, victim.Session(), execution.Limits{})
	if err != nil {
		res = c.Get(t, victim.Session(), execution.Limits{})
	}
	var b strings.Builder
	for _, row := range res.Rows {
		for _, v := range row {
			fmt.Fprintf(&b, "%q ", v.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// changed returns the kinds of the facts that differ, sorted.
func changed(before, after []Fact) []string {
	values := make(map[Fact]int)
	for _, f := range before {
		values[f]++
	}
	for _, f := range after {
		values[f]--
	}
	var kinds []string
	for f, n := range values {
		if n != 0 {
			kinds = append(kinds, f.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
