package execution

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// The reasons of a config.reload event.
const (
	// ReloadDone: the configuration was replaced.
	ReloadDone = "reloaded"
	// ReloadRefused: the new configuration is not valid; the old one stays in force.
	ReloadRefused = "refused"
)

// Reloaded says what a reload did to the connections, each list in order.
type Reloaded struct {
	Added, Changed, Removed, Kept []string
}

// Reload replaces the connections with conns. Calls may run meanwhile.
//
// Every call keeps the connection that it began with, including the guard,
// limits, queue and backend. So a statement that one guard approved runs under
// the limits and on the backend of the same configuration. An unchanged
// connection keeps its backend. A changed or removed connection is closed when
// its last call has ended; until then a changed one may have two backends. A
// new connection opens when it is first used.
//
// The reload is recorded before it takes effect. When conns are not valid, or
// the reload cannot be recorded, nothing changes.
func (g *Gateway) Reload(ctx context.Context, conns ...Connection) (Reloaded, error) {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	next, err := newDoors(conns)
	if err != nil {
		err = fmt.Errorf("reload: %w", err)
		if recording := g.KeepConfiguration(ctx); recording != nil {
			return Reloaded{}, recording
		}
		return Reloaded{}, err
	}
	var did Reloaded
	old := g.doors.Load()
	for _, id := range next.ids {
		was := old.byID[id]
		switch {
		case was == nil:
			did.Added = append(did.Added, id)
		case was.unchanged(next.byID[id].configured):
			did.Kept = append(did.Kept, id)
			next.byID[id] = was
		default:
			did.Changed = append(did.Changed, id)
		}
	}
	for _, id := range old.ids {
		if next.byID[id] == nil {
			did.Removed = append(did.Removed, id)
		}
	}
	if g.stopping() {
		return Reloaded{}, drainingError()
	}
	if err := g.log.Append(ctx, audit.Event{Type: audit.ConfigReload, Reason: ReloadDone, Process: next.process()}); err != nil {
		return Reloaded{}, auditError(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.draining {
		return Reloaded{}, drainingError()
	}
	g.doors.Store(next)
	for _, id := range slices.Concat(did.Changed, did.Removed) {
		g.retire(old.byID[id])
	}
	return did, nil
}

// KeepConfiguration records that a new configuration is not valid and that the
// one in force stays.
func (g *Gateway) KeepConfiguration(ctx context.Context) error {
	if err := g.log.Append(ctx, audit.Event{Type: audit.ConfigReload, Reason: ReloadRefused, Process: g.doors.Load().process()}); err != nil {
		return auditError(err)
	}
	return nil
}

// retire closes a door as soon as its last call has left. No new call can enter
// the door. The caller holds mu.
func (g *Gateway) retire(d *door) {
	g.retiring[d] = struct{}{}
	g.retirements.Go(func() {
		d.calls.Wait()
		err := d.close()
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.retiring, d)
		if err != nil {
			g.retireErrs = append(g.retireErrs, fmt.Errorf("close %s: %w", d.ID, err))
		}
	})
}

// doors are the connections of one configuration.
type doors struct {
	byID map[string]*door
	ids  []string // sorted
}

// newDoors makes the doors of conns. It opens nothing.
func newDoors(conns []Connection) (*doors, error) {
	s := &doors{byID: make(map[string]*door, len(conns))}
	for _, c := range conns {
		if s.byID[c.ID] != nil {
			return nil, fmt.Errorf("two connections have the id %s", c.ID)
		}
		d, err := newDoor(c)
		if err != nil {
			return nil, err
		}
		d.configured = c
		if guard := d.state.Load().guard; guard != nil {
			d.base = guard.ID()
		}
		s.byID[c.ID] = d
		s.ids = append(s.ids, c.ID)
	}
	slices.Sort(s.ids)
	return s, nil
}

// process says which process this is and which configuration is in force.
// Config is one hash over every connection's guard and all other settings of
// the connections, except those that Settings represents, such as secrets. The
// server's later answers to a guard do not change it.
func (s *doors) process() audit.Process {
	h := sha256.New()
	for _, id := range s.ids {
		d := s.byID[id]
		c := data(d.Connection)
		c.Settings, c.Dialect, c.Policy, c.Unavailable = "", nil, sqlguard.Policy{}, nil // d.base, the guard's ID, covers dialect and policy
		_, _ = fmt.Fprintf(h, "%q %s %+v\n", id, d.base, c)
	}
	return audit.Process{PID: int64(os.Getpid()), Config: hex.EncodeToString(h.Sum(nil))}
}

// origin is the configuration that a door was made from, and the calls that use
// the door.
type origin struct {
	configured Connection
	base       sqlguard.ID // of the guard that knows no server
	calls      sync.WaitGroup
}

// unchanged reports whether c configures the same connection. It compares every
// field that is data. Functions cannot be compared, so Settings represents
// them.
func (o *origin) unchanged(c Connection) bool {
	return c.Settings != "" && reflect.DeepEqual(data(o.configured), data(c))
}

// data is c without its functions.
func data(c Connection) Connection {
	v := reflect.ValueOf(&c).Elem()
	for _, field := range v.Fields() {
		if field.Kind() == reflect.Func {
			field.SetZero()
		}
	}
	return c
}
