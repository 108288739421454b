package execution

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"
	"time"

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
	// many more statements may wait; default 32 times Concurrency.
	Concurrency int
	Queue       int
	// Open connects to the database. The gateway calls it when the connection
	// is first used, with the ID of the guard whose approvals the backend
	// accepts. When Open is nil, statements cannot run, and Unavailable says
	// why.
	Open        func(ctx context.Context, guard sqlguard.ID) (Backend, error)
	Unavailable *Error
	// Settings is a string that changes whenever something changes that Open
	// depends on. A reload replaces a connection when its Settings differ or
	// are empty.
	Settings string
	// Objects says that the backend's catalogue lists the objects of the
	// database. A guard that knows the objects may allow statements that it
	// refuses without them.
	Objects bool
	// Refresh says how long a guard may rely on the server's last answer about
	// itself.
	Refresh Refresh
	// RefuseWritableRole makes the gateway refuse statements when the probe
	// says that the role can do more than read. The gateway probes at the first
	// use and whenever it asks the server again (see [Refresh]), and a backend
	// that is a [RoleChecker] checks each new connection. OnProbe, when set, gets
	// the report of the first use.
	RefuseWritableRole bool
	OnProbe            func(id string, report ProbeReport)
}

// DefaultConcurrency is the number of statements that one connection runs at
// once when its configuration says nothing.
const DefaultConcurrency = 8

const defaultQueueFactor = 32

var connectionID = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)

// door is a connection in use by a gateway.
type door struct {
	Connection
	origin
	queue *queue
	// state is replaced as a whole, so that no statement sees an old guard with
	// a new backend, or a new guard with an old backend.
	state  atomic.Pointer[doorState]
	loader loader
}

type doorState struct {
	guard   *sqlguard.Guard // nil without a dialect
	backend Backend         // nil until first use
	// catalog is what guard knows of the server. loaded is when the gateway
	// asked the server for it.
	catalog *sqlguard.Catalog
	loaded  time.Time
	doubted bool // the server may have been replaced since then
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
	c.Refresh = c.Refresh.WithDefaults()
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

// probe asks the backend what the role may do, when the configuration needs the
// answer. After the first use, only a connection that refuses some roles needs it.
func (d *door) probe(ctx context.Context, backend Backend, first bool) error {
	if !d.RefuseWritableRole && (!first || d.OnProbe == nil) {
		return nil
	}
	report, err := backend.Probe(ctx)
	if err != nil {
		return openError(ctx, d.ID, err)
	}
	if first && d.OnProbe != nil {
		d.OnProbe(d.ID, report)
	}
	if !d.RefuseWritableRole {
		return nil
	}
	for _, f := range report.Findings {
		if f.Writable() {
			return RoleRefused(fmt.Sprintf("connection %s is configured to refuse a role that can do more than read: %s", d.ID, f.Message))
		}
	}
	if checker, ok := backend.(RoleChecker); ok && first {
		checker.CheckRole()
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
