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

// Attack is a statement that a real guard refuses. The suite sends it with a
// guard that refuses nothing.
type Attack struct {
	// Name says what the attack tries. It is the key of the row in the report.
	Name string
	// SQL is the statement. The Victim replaces the names in braces.
	SQL string
	// Group is the heading under which the report lists the attack.
	Group string
	// Discloses says that a successful answer is the damage.
	Discloses bool
	// Since is the first major version of the server that supports the
	// statement.
	Since int
	// StoppedSince is the first major version whose server itself refuses or
	// undoes the statement. On older versions only the session can stop it. The
	// report shows the older versions.
	StoppedSince int
	// Beyond says why no read-only session can stop the attack. If it is empty,
	// the attack must leave no trace and disclose nothing, in any role.
	Beyond string
}

// Victim is a database that attacks may damage. The suite can also reach it as
// its owner, without the backend.
type Victim interface {
	// Major is the server's major version.
	Major() int
	// Address returns the address with which the backend connects as role.
	Address(tb testing.TB, role string) string
	// Text replaces the names in braces in the statement of an attack.
	Text(tb testing.TB, role, sql string) string
	// State returns everything that an attack may change.
	State(tb testing.TB) []Fact
	// Session is a query for the state that a session of the backend keeps. The
	// suite runs it through the backend before and after an attack.
	Session() string
	// Restore repairs a database that an attack has changed.
	Restore(tb testing.TB)
}

// Fact is one piece of a database's state. Kind is what the report calls it.
type Fact struct{ Kind, Name, Value string }

// outcome is the result of an attack.
type outcome struct {
	stoppedBy string   // the control that refused it; empty if it ran
	left      []string // the kinds of facts that it changed permanently
	disclosed bool
}

// harmed reports whether the attack did any damage.
func (o outcome) harmed() bool { return len(o.left) > 0 || o.disclosed }

// String returns the outcome as the report shows it.
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
	// undoneWithin is how long a backend may take to undo the changes of an
	// attack, for example by a rollback after the answer. It applies to attacks
	// that the session may fail to stop.
	undoneWithin = 250 * time.Millisecond
	// seenWithin is how long it may take until the effect of an attack can be
	// seen.
	seenWithin = time.Second
)

// testAttacks sends every attack as every role. It reads the state of the
// database without the backend before and after each attack, and compares the
// outcomes with the report.
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

// guardRefuses checks that the engine's real guard refuses every attack.
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

// observation is the state that an attack may change: the facts about the
// database, and the state of the backend's session.
type observation struct {
	facts   []Fact
	session string
}

// attack sends one attack and returns its outcome. Last is the state after the
// previous attack, or nil.
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
			t.Errorf("%s: the error %v belongs to no known control (SQLState %s)", a.Name, e, e.SQLState)
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

// session returns the state that a session of the backend keeps. The attack may
// have ended the backend's connection, so the first error is ignored.
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

// changed returns the kinds of the facts that differ, in sorted order.
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
