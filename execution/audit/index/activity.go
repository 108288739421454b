package index

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution/audit"
)

// Subject says whose activity is wanted.
type Subject struct {
	// Principal is the principal. It may be blank when Session is given: then it is the
	// one of the session's newest statement.
	Principal string
	// Session narrows the activity to one session. Otherwise it is everything since
	// Since.
	Session string
	Since   time.Time
	// After are the entries after which the lists of the answer begin.
	After Places
}

// Places are entries of the lists of an [Activity]: a day as 2006-01-02, the id of a
// session, the name of a table, and what [Streak.Place] returns. A list whose entry is
// blank or not there begins with its first one.
type Places struct{ Day, Session, Table, Streak string }

// part returns what of a list follows the entry at a place, at most most of it, and how
// much follows that.
func part[T any](list []T, at func(T) bool, most int) (found []T, more int) {
	list = list[1+slices.IndexFunc(list, at):]
	return list[:min(len(list), most)], max(0, len(list)-most)
}

// Activity is what a principal did in a session or in a period, and what is usual for that
// principal: what it did in other sessions, or before.
type Activity struct {
	Principal string
	Volume
	// Usual are earlier days of the principal, or its other sessions.
	Usual Usual
	// Days are the days with statements, in UTC, the newest first, at most maxDays.
	Days []Day
	// Sessions are the sessions with the newest statements, at most maxSessions.
	Sessions []Session
	// Tables are those that the statements name: first those that the principal had never
	// named before, then the most frequent ones, at most maxTables. NewTables counts all
	// of the first kind.
	Tables    []Table
	NewTables int
	// Streaks are refusals without an allowed statement of the session between them, the
	// longest first. Longest is the length of the longest one.
	Streaks []Streak
	Longest int64
	// The entries that follow those in the lists.
	MoreDays, MoreSessions, MoreTables, MoreStreaks int
	State                                           State
}

// Volume is how much statements are.
type Volume struct {
	Statements  int64
	Refused     int64
	Rows        int64
	First, Last time.Time
}

// Usual are the median and the 95th percentile of volumes, and of how many.
type Usual struct{ Statements, Refused, Rows audit.Quantiles }

// Day is the volume of one day.
type Day struct {
	Day time.Time
	Volume
}

// Session is the volume of one session.
type Session struct {
	ID string
	Volume
}

// Table is what statements do with a table. Refused ones are counted as well.
type Table struct {
	Name string
	// New says that no earlier statement of the principal names it.
	New bool
	Volume
}

// Streak is a run of refusals.
type Streak struct {
	Session     string
	Length      int64
	First, Last time.Time
}

// Place names the run in the list of an [Activity].
func (s Streak) Place() string { return s.First.Format(time.RFC3339Nano) + " " + s.Session }

const (
	maxDays     = 60
	maxSessions = 20
	maxTables   = 40
	maxStreaks  = 10
	// leastStreak is how many refusals make a streak.
	leastStreak = 3
)

// add counts a statement.
func (v *Volume) add(at int64, refused bool, rows int64) {
	t := time.Unix(0, at).UTC()
	if v.Statements == 0 || t.Before(v.First) {
		v.First = t
	}
	if v.Statements == 0 || t.After(v.Last) {
		v.Last = t
	}
	v.Statements++
	v.Rows += rows
	if refused {
		v.Refused++
	}
}

func (v *Volume) merge(o Volume) {
	if o.Statements == 0 {
		return
	}
	if v.Statements == 0 || o.First.Before(v.First) {
		v.First = o.First
	}
	if v.Statements == 0 || o.Last.After(v.Last) {
		v.Last = o.Last
	}
	v.Statements, v.Refused, v.Rows = v.Statements+o.Statements, v.Refused+o.Refused, v.Rows+o.Rows
}

// usual returns the quantiles of volumes.
func usual(volumes []Volume) Usual {
	quantiles := func(of func(Volume) int64) audit.Quantiles {
		values := make([]float64, len(volumes))
		for i, v := range volumes {
			values[i] = float64(of(v))
		}
		return audit.NewQuantiles(values)
	}
	return Usual{
		Statements: quantiles(func(v Volume) int64 { return v.Statements }),
		Refused:    quantiles(func(v Volume) int64 { return v.Refused }),
		Rows:       quantiles(func(v Volume) int64 { return v.Rows }),
	}
}

// Activity returns what the subject did. Statements is 0 when there is nothing of it.
func (x *Index) Activity(ctx context.Context, s Subject) (out Activity, err error) {
	err = x.with(ctx, func(v *view) error {
		a := watching{view: v, subject: s, days: map[int64]*Volume{}, sessions: map[int64]*Volume{}, shapes: map[int64]*used{}, streaks: map[int64]*Streak{}}
		out, err = a.all()
		out.State = v.state
		return err
	})
	return out, err
}

// used is what the statements of one shape do: all of the principal, and the subject's.
type used struct {
	first  int64 // the number of the principal's first one
	inside Volume
	begun  int64 // the number of the subject's first one
}

// watching reads the statements of one principal, the oldest first.
type watching struct {
	*view
	subject  Subject
	session  int64
	out      Activity
	days     map[int64]*Volume
	sessions map[int64]*Volume
	shapes   map[int64]*used
	streaks  map[int64]*Streak // of each session, the run that goes on
	found    []streak
}

type streak struct {
	session int64
	Streak
}

func (a *watching) all() (Activity, error) {
	var err error
	if a.subject.Session != "" {
		if a.session, err = a.name(nameSession, a.subject.Session); err != nil || a.session == 0 {
			return a.out, err
		}
	}
	principal := int64(0)
	if a.out.Principal = a.subject.Principal; a.out.Principal != "" {
		principal, err = a.name(namePrincipal, a.out.Principal)
	} else if a.session != 0 {
		if principal, err = a.number(a.ctx, `SELECT principal FROM statement INDEXED BY statement_session WHERE session = ? ORDER BY n DESC LIMIT 1`, a.session); err != nil {
			return a.out, err
		}
		err = a.each(a.ctx, `SELECT text FROM name WHERE id = ?`, []any{principal}, func(s *sqlite3.Stmt) bool { a.out.Principal = s.ColumnText(0); return false })
	}
	if err != nil || principal == 0 {
		return a.out, err
	}
	refused, err := a.name(nameStatus, audit.StatusRefused)
	if err != nil {
		return a.out, err
	}
	since := int64(0)
	if !a.subject.Since.IsZero() {
		since = nanos(a.subject.Since)
	}
	err = a.each(a.ctx, `SELECT n, time, session, shape, status, coalesce(rows, 0) FROM statement INDEXED BY statement_principal WHERE principal = ? ORDER BY n`, []any{principal}, func(s *sqlite3.Stmt) bool {
		session, at := s.ColumnInt64(2), s.ColumnInt64(1)
		inside := at >= since
		if a.session != 0 {
			inside = session == a.session
		}
		a.take(s.ColumnInt64(0), at, session, s.ColumnInt64(3), s.ColumnInt64(4) == refused, s.ColumnInt64(5), inside)
		return true
	})
	if err != nil || a.out.Statements == 0 {
		return a.out, err
	}
	for _, step := range []func() error{a.volumes, a.tables, a.runs} {
		if err := step(); err != nil {
			return a.out, err
		}
	}
	return a.out, nil
}

// name returns the number of a name, 0 when the index has none.
func (a *watching) name(kind nameKind, text string) (int64, error) {
	return a.number(a.ctx, `SELECT id FROM name WHERE kind = ? AND text = ?`, int(kind), text)
}

const day = int64(24 * time.Hour)

// take counts one statement.
func (a *watching) take(n, at, session, shape int64, refused bool, rows int64, inside bool) {
	count := func(in map[int64]*Volume, key int64) {
		v := in[key]
		if v == nil {
			v = &Volume{}
			in[key] = v
		}
		v.add(at, refused, rows)
	}
	count(a.days, at-((at%day)+day)%day)
	count(a.sessions, session)
	u := a.shapes[shape]
	if u == nil {
		u = &used{first: n}
		a.shapes[shape] = u
	}
	run := a.streaks[session]
	if !refused || !inside {
		if run != nil {
			a.over(session, run)
			delete(a.streaks, session)
		}
	}
	if !inside {
		return
	}
	a.out.add(at, refused, rows)
	if u.inside.Statements == 0 {
		u.begun = n
	}
	u.inside.add(at, refused, rows)
	if refused {
		if run == nil {
			run = &Streak{First: time.Unix(0, at).UTC()}
			a.streaks[session] = run
		}
		run.Length++
		run.Last = time.Unix(0, at).UTC()
	}
}

// over takes a run of refusals that has ended.
func (a *watching) over(session int64, s *Streak) {
	a.out.Longest = max(a.out.Longest, s.Length)
	if s.Length >= leastStreak {
		a.found = append(a.found, streak{session, *s})
	}
}

// volumes makes the days and sessions, and what is usual.
func (a *watching) volumes() error {
	var before []Volume
	if a.session == 0 {
		since := a.subject.Since.UTC()
		for at, v := range a.days {
			if d := time.Unix(0, at).UTC(); d.Add(time.Duration(day)).After(since) {
				a.out.Days = append(a.out.Days, Day{d, *v})
			} else {
				before = append(before, *v)
			}
		}
		slices.SortFunc(a.out.Days, func(a, b Day) int { return b.Day.Compare(a.Day) })
		a.out.Days, a.out.MoreDays = part(a.out.Days, func(d Day) bool { return d.Day.Format(time.DateOnly) == a.subject.After.Day }, maxDays)
	} else {
		for id, v := range a.sessions {
			if id != a.session && id != 0 {
				before = append(before, *v)
			}
		}
	}
	a.out.Usual = usual(before)
	ids := slices.SortedFunc(maps.Keys(a.sessions), func(x, y int64) int {
		return cmp.Or(a.sessions[y].Last.Compare(a.sessions[x].Last), cmp.Compare(y, x))
	})
	ids = slices.DeleteFunc(ids, func(id int64) bool {
		return id == 0 || a.session == 0 && a.sessions[id].Last.Before(a.subject.Since)
	})
	after := int64(0)
	if a.subject.After.Session != "" {
		var err error
		if after, err = a.name(nameSession, a.subject.After.Session); err != nil {
			return err
		}
	}
	ids, a.out.MoreSessions = part(ids, func(id int64) bool { return id == after }, maxSessions)
	for _, id := range ids {
		text, err := a.text(id)
		if err != nil {
			return err
		}
		a.out.Sessions = append(a.out.Sessions, Session{text, *a.sessions[id]})
	}
	return nil
}

func (a *watching) text(id int64) (text string, err error) {
	err = a.each(a.ctx, `SELECT text FROM name WHERE id = ?`, []any{id}, func(s *sqlite3.Stmt) bool { text = s.ColumnText(0); return false })
	return text, err
}

// tables finds the tables of the shapes.
func (a *watching) tables() error {
	type table struct {
		first, begun int64
		volume       Volume
	}
	tables := map[int64]*table{}
	err := a.each(a.ctx, `SELECT shape, name FROM relation`, nil, func(s *sqlite3.Stmt) bool {
		u := a.shapes[s.ColumnInt64(0)]
		if u == nil {
			return true
		}
		t := tables[s.ColumnInt64(1)]
		if t == nil {
			t = &table{first: u.first}
			tables[s.ColumnInt64(1)] = t
		}
		t.first = min(t.first, u.first)
		if u.inside.Statements > 0 {
			if t.begun == 0 || u.begun < t.begun {
				t.begun = u.begun
			}
			t.volume.merge(u.inside)
		}
		return true
	})
	if err != nil {
		return err
	}
	names, err := a.names(nameTable)
	if err != nil {
		return err
	}
	for id, t := range tables {
		if t.volume.Statements > 0 {
			a.out.Tables = append(a.out.Tables, Table{names[id], t.first == t.begun, t.volume})
			if t.first == t.begun {
				a.out.NewTables++
			}
		}
	}
	slices.SortFunc(a.out.Tables, func(x, y Table) int {
		switch {
		case x.New != y.New && x.New:
			return -1
		case x.New != y.New:
			return 1
		case x.New:
			return cmp.Or(y.First.Compare(x.First), cmp.Compare(x.Name, y.Name))
		}
		return cmp.Or(cmp.Compare(y.Statements, x.Statements), cmp.Compare(x.Name, y.Name))
	})
	a.out.Tables, a.out.MoreTables = part(a.out.Tables, func(t Table) bool { return t.Name == a.subject.After.Table }, maxTables)
	return nil
}

// runs makes the streaks.
func (a *watching) runs() error {
	for session, s := range a.streaks {
		a.over(session, s)
	}
	slices.SortFunc(a.found, func(x, y streak) int {
		return cmp.Or(cmp.Compare(y.Length, x.Length), y.Last.Compare(x.Last), cmp.Compare(x.session, y.session))
	})
	after := int64(0)
	first, session, _ := strings.Cut(a.subject.After.Streak, " ")
	if session != "" {
		var err error
		if after, err = a.name(nameSession, session); err != nil {
			return err
		}
	}
	var found []streak
	found, a.out.MoreStreaks = part(a.found, func(s streak) bool { return s.session == after && s.First.Format(time.RFC3339Nano) == first }, maxStreaks)
	for _, s := range found {
		if s.session != 0 {
			text, err := a.text(s.session)
			if err != nil {
				return err
			}
			s.Session = text
		}
		a.out.Streaks = append(a.out.Streaks, s.Streak)
	}
	return nil
}
