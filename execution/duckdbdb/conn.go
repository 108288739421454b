package duckdbdb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// idleFor is how long a process waits for a statement before it ends itself. While a
	// process has a database file open, no other program can write to it.
	idleFor = 20 * time.Second
	// idleSpare is how long before that the process is no longer used.
	idleSpare = 2 * time.Second
	// maxGreeting bounds what a process says first.
	maxGreeting = 64 << 10
	// maxComplaint bounds what is kept of what a process writes to its standard error.
	maxComplaint = 4 << 10
)

// conn is one process that runs the engine. One goroutine at a time uses it. Other
// goroutines may only destroy it.
type conn struct {
	*wire.Conn

	source  source
	found   *folder // what was at the source when the process opened it
	rules   bool    // rules may deny a table or a column
	version string
	temp    string
	used    time.Time // when its last statement ended
	cmd     *exec.Cmd
	pipe    []*os.File // this end of its input and output
	said    complaint
	gone    chan struct{} // closed when the process has ended
	end     sync.Once
}

// dial starts a process and has it open the source.
func (d *DB) dial(ctx context.Context) (*conn, error) {
	found, err := d.source.look()
	if err != nil {
		return nil, err
	}
	argv, err := d.start()
	if err != nil {
		return nil, notStarted(err)
	}
	c := &conn{source: d.source, found: found, rules: d.access.Restricts(), used: time.Now(), gone: make(chan struct{})}
	if c.temp, err = os.MkdirTemp("", "ktx-duckdb-"); err != nil {
		return nil, notStarted(err)
	}
	if err := c.launch(argv); err != nil {
		_ = os.RemoveAll(c.temp)
		return nil, notStarted(err)
	}
	stop := context.AfterFunc(ctx, c.Destroy)
	err = c.greet(wire.Settings{
		Name: d.source.catalogue(), Database: d.source.database, Tables: found.tables, Readable: found.readable(), Temp: c.temp, TempBytes: d.limits.Temp,
		Memory: memory, Threads: threads, Idle: idleFor,
	})
	if err == nil {
		err = d.inspect(c)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return c, nil
	}
	c.Destroy()
	if ctx.Err() != nil {
		return nil, pool.Ended(context.Cause(ctx), err, 0)
	}
	if e, ok := errors.AsType[*execution.Error](err); ok {
		return nil, e
	}
	return nil, c.lost(err)
}

// launch starts the process with pipes for its input and output, and nothing else of this
// process.
func (c *conn) launch(argv []string) error {
	c.cmd = exec.Command(argv[0], argv[1:]...) //nolint:gosec,noctx // this program; Destroy ends it
	c.cmd.Args[0] = "ktx"
	c.cmd.Env = []string{}
	c.cmd.Dir = c.temp
	if c.source.folder != "" {
		c.cmd.Dir = c.source.folder // statements name files below it
	}
	c.cmd.Stderr = &c.said
	c.cmd.SysProcAttr = apart()
	// With the pipes of exec.Cmd, Wait would drop what the process wrote last.
	theirIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirIn.Close(), in.Close())
	}
	c.cmd.Stdin, c.cmd.Stdout = theirIn, theirOut
	err = c.cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close() // the process has them
	if err != nil {
		return errors.Join(err, in.Close(), out.Close())
	}
	c.Conn, c.pipe = wire.New(out, in), []*os.File{in, out}
	go func() {
		_ = c.cmd.Wait() // how it ended says nothing
		close(c.gone)
	}()
	return nil
}

// greet sends the settings and waits until the process is ready.
func (c *conn) greet(s wire.Settings) error {
	if err := c.Write(wire.Setup, s); err != nil {
		return err
	}
	kind, payload, err := c.Read(maxGreeting)
	if err != nil {
		return err
	}
	switch kind { //nolint:exhaustive // everything else is no greeting
	case wire.Ready:
		var g wire.Greeting
		if err := json.Unmarshal(payload, &g); err != nil {
			return fmt.Errorf("%w: %w", wire.ErrMalformed, err)
		}
		c.version = g.Version
		return nil
	case wire.Failed:
		f, err := readFailure(payload)
		if err != nil {
			return err
		}
		return c.notOpened(f)
	default:
		return wire.ErrMalformed
	}
}

// Ready reports whether a process that was idle can be used: it runs, and its files are
// those that it opened.
func (c *conn) Ready(context.Context) bool {
	select {
	case <-c.gone:
		return false
	default:
	}
	now, err := c.source.look()
	return err == nil && c.found.same(now) && time.Since(c.used) < idleFor-idleSpare
}

// Destroy kills the process and waits until it is gone.
func (c *conn) Destroy() {
	c.end.Do(func() {
		_ = c.cmd.Process.Kill() // it may be gone
		<-c.gone
		for _, p := range c.pipe {
			_ = p.Close() // nothing is lost
		}
		_ = os.RemoveAll(c.temp)
	})
}

// Bye ends an idle process.
func (c *conn) Bye() { c.Destroy() }

// complaint keeps the end of what a process writes to its standard error.
type complaint struct {
	mu   sync.Mutex
	tail []byte
}

func (w *complaint) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail = append(w.tail, b...)
	if over := len(w.tail) - maxComplaint; over > 0 {
		w.tail = append(w.tail[:0], w.tail[over:]...)
	}
	return len(b), nil
}

func (w *complaint) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(bytes.TrimSpace(w.tail))
}

func notStarted(err error) error {
	return execution.NewError(sqlguard.CodeConnectionLost, "the process that runs DuckDB could not be started", err)
}
