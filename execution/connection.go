package execution

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"

	"github.com/ktxhq/ktx/sqlguard"
)

// Connection is one configured database.
type Connection struct {
	ID          string
	Name        string // shown to people; the ID when empty
	Description string
	Engine      string // such as "POSTGRESQL"
	// Dialect reads the connection's SQL; nil when there is no reader.
	Dialect sqlguard.Dialect
	Policy  sqlguard.Policy
	// Limits are the ceiling of every call.
	Limits Limits
	// Concurrency is how many statements run at once; default 8. Queue is how
	// many more may wait; default 32 times Concurrency.
	Concurrency int
	Queue       int
	// Open connects. It is called when the connection is first used, with the
	// ID of the guard whose approvals the backend accepts. Nil means that
	// statements cannot run, and Unavailable says why.
	Open        func(ctx context.Context, guard sqlguard.ID) (Backend, error)
	Unavailable *Error
	// Settings stands for everything that Open depends on. A reload takes a
	// connection whose Settings differ, or are empty, for another one.
	Settings string
	// RefuseWritableRole refuses to run statements with a role of which the
	// probe says that it can do more than read. OnProbe, when set, gets the report of the first use.
	RefuseWritableRole bool
	OnProbe            func(id string, report ProbeReport)
}

// DefaultConcurrency is the number of statements that one connection runs at
// once when its configuration says nothing.
const DefaultConcurrency = 8

const defaultQueueFactor = 32

var connectionID = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)

// door is a connection at work.
type door struct {
	Connection
	origin
	queue *queue
	// state is replaced as a whole, so that no statement sees the guard of
	// one moment and the backend of another.
	state atomic.Pointer[doorState]
	open  sync.Mutex // held while the backend is opened or replaced
}

type doorState struct {
	guard   *sqlguard.Guard // nil without a dialect
	backend Backend         // nil until first use
}

func newDoor(c Connection) (*door, error) {
	if !connectionID.MatchString(c.ID) {
		return nil, fmt.Errorf("connection %q: an id is letters, digits, _ and -, and begins with a letter or digit", c.ID)
	}
	if c.Open == nil && c.Unavailable == nil {
		return nil, fmt.Errorf("connection %s: neither a way to open it nor a reason why there is none", c.ID)
	}
	if c.Open != nil && c.Dialect == nil {
		return nil, fmt.Errorf("connection %s: a connection that runs statements needs a dialect", c.ID)
	}
	if c.Name == "" {
		c.Name = c.ID
	}
	if c.Concurrency <= 0 {
		c.Concurrency = DefaultConcurrency
	}
	if c.Queue <= 0 {
		c.Queue = defaultQueueFactor * c.Concurrency
	}
	c.Limits = c.Limits.WithDefaults()
	d := &door{Connection: c, queue: newQueue(c.Concurrency, c.Queue)}
	state := &doorState{}
	if c.Dialect != nil {
		guard, err := sqlguard.New(c.Dialect, c.Policy, nil)
		if err != nil {
			return nil, fmt.Errorf("connection %s: %w", c.ID, err)
		}
		state.guard = guard
	}
	d.state.Store(state)
	return d, nil
}

// ready returns the state with an open backend. The first use opens it and
// loads the catalogue; guard and backend then change together.
func (d *door) ready(ctx context.Context) (*doorState, error) {
	if s := d.state.Load(); s.backend != nil {
		return s, nil
	}
	d.open.Lock()
	defer d.open.Unlock()
	s := d.state.Load()
	if s.backend != nil {
		return s, nil
	}
	if d.Open == nil {
		return nil, d.Unavailable
	}
	backend, err := d.Open(ctx, s.guard.ID())
	if err != nil {
		return nil, openError(ctx, d.ID, err)
	}
	catalog, err := backend.Catalog(ctx)
	if err != nil {
		return nil, errors.Join(openError(ctx, d.ID, err), backend.Close())
	}
	guard, err := sqlguard.New(d.Dialect, d.Policy, catalog)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connection %s: %w", d.ID, err), backend.Close())
	}
	if err := d.probe(ctx, backend); err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	backend.SetGuard(guard.ID())
	s = &doorState{guard: guard, backend: backend}
	d.state.Store(s)
	return s, nil
}

// probe asks what the role may do, when someone wants to know.
func (d *door) probe(ctx context.Context, backend Backend) error {
	if !d.RefuseWritableRole && d.OnProbe == nil {
		return nil
	}
	report, err := backend.Probe(ctx)
	if err != nil {
		return openError(ctx, d.ID, err)
	}
	if d.OnProbe != nil {
		d.OnProbe(d.ID, report)
	}
	if !d.RefuseWritableRole {
		return nil
	}
	for _, f := range report.Findings {
		if f.Writable() {
			e := NewError(sqlguard.CodeNotConfigured, fmt.Sprintf("connection %s is configured to refuse a role that can do more than read: %s", d.ID, f.Message), nil)
			e.Hint = "the operator can print the script of a read-only role with ktx doctor --role-script"
			return e
		}
	}
	return nil
}

// openError types an error of opening that the backend did not type.
func openError(ctx context.Context, id string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return NewError(sqlguard.CodeCancelled, "cancelled while connecting to "+id, err)
	case ctx.Err() != nil:
		return NewError(sqlguard.CodeTimeout, "no answer in time while connecting to "+id, err)
	default:
		return NewError(sqlguard.CodeConnectionLost, "cannot connect to "+id, err)
	}
}

func (d *door) close() error {
	d.open.Lock()
	defer d.open.Unlock()
	s := d.state.Load()
	if s.backend == nil {
		return nil
	}
	d.state.Store(&doorState{guard: s.guard})
	return s.backend.Close()
}
