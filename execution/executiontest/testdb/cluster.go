package testdb

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The time limits for one start and one stop. A machine under load needs
// seconds.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
	startTries   = 10
)

// errPortTaken says that another program took the port between the choice and
// the start.
var errPortTaken = errors.New("port taken")

// cluster is one data directory and the server process on it, if one runs.
type cluster struct {
	system   system
	bin      string
	dir      string
	owner    account
	password string
	tls      bool
	settings map[string]string
	reaper   *reaper
	pick     func(ctx context.Context) (int, error) // a port to try

	mu     sync.Mutex
	port   int
	cmd    *exec.Cmd
	exited chan struct{} // closed when cmd has been waited for
	closed bool
}

// newCluster makes a data directory for the programs in bin; no server runs on
// it yet.
func newCluster(ctx context.Context, s system, bin string, o Options) (_ *cluster, err error) {
	c := &cluster{system: s, bin: bin, tls: o.TLS, settings: o.Settings, password: rand.Text(), pick: freePort}
	if o.pick != nil {
		c.pick = o.pick
	}
	if c.owner, err = serverAccount(s); err != nil {
		return nil, err
	}
	if c.dir, err = c.owner.tempDir(s); err != nil {
		return nil, err
	}
	if c.reaper, err = startReaper(c.dir, s); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.dir))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close(ctx))
		}
	}()
	if !c.owner.reaches(c.bin) {
		if c.bin, err = copyInstallation(c.bin, filepath.Join(c.dir, "installation"), c.owner); err != nil {
			return nil, fmt.Errorf("%s: %w", s.product(), err)
		}
	}
	if c.tls {
		if err := c.writeCertificate(); err != nil {
			return nil, err
		}
	}
	return c, s.initialise(ctx, c)
}

// startCluster makes a data directory and starts a server on it.
func startCluster(ctx context.Context, s system, bin string, o Options) (*cluster, error) {
	c, err := newCluster(ctx, s, bin, o)
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	return c, nil
}

func (c *cluster) data() string    { return filepath.Join(c.dir, "data") }
func (c *cluster) pidFile() string { return filepath.Join(c.dir, c.system.pidFile()) }

// command prepares a program of the server to run as the owner, in an
// environment without the caller's variables.
func (c *cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = c.owner.attributes()
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	if path, ok := os.LookupEnv("LD_LIBRARY_PATH"); ok {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+path)
	}
	return cmd
}

// write creates a file that only the owner can read.
func (c *cluster) write(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	return c.owner.own(path)
}

// start starts the server and returns when it accepts connections. The first
// start chooses the port, and chooses again when another program took it
// meanwhile. Later starts use the same port.
func (c *cluster) start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.New("start the server: the cluster is gone")
	}
	if c.running() {
		return errors.New("start the server: it runs already")
	}
	if c.port != 0 {
		return c.startOn(ctx, c.port)
	}
	for try := 1; ; try++ {
		port, err := c.pick(ctx)
		if err != nil {
			return err
		}
		err = c.startOn(ctx, port)
		if err == nil {
			c.port = port
			return nil
		}
		if !errors.Is(err, errPortTaken) || try == startTries {
			return err
		}
	}
}

func (c *cluster) startOn(ctx context.Context, port int) (err error) {
	log, err := os.OpenFile(logFile(c.dir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	before, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}

	// The server must outlive the context. Only stop ends it.
	cmd := c.system.serve(context.WithoutCancel(ctx), c, port)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()             // The log says more than the exit status.
		_ = os.Remove(c.pidFile()) // A server that was killed leaves it.
		close(exited)
	}()
	c.cmd, c.exited = cmd, exited

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.waitReady(ctx); err != nil {
		_ = c.stopLocked(context.WithoutCancel(ctx), Immediate) // The start's error is the one to report.
		text := logFrom(c.dir, before)
		if strings.Contains(text, "Address already in use") {
			return fmt.Errorf("start the server on port %d: %w", port, errPortTaken)
		}
		return fmt.Errorf("start the server: %w; its log:\n%s", err, text)
	}
	return nil
}

// waitReady returns when the server accepts connections.
func (c *cluster) waitReady(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-c.exited:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("not ready in time: %w", ctx.Err())
		case <-tick.C:
		}
		if ready, err := c.system.ready(ctx, c); ready || err != nil {
			return err
		}
	}
}

// running reports whether the server process exists. The caller holds mu.
func (c *cluster) running() bool {
	if c.cmd == nil {
		return false
	}
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// stop ends the server and waits for its process. It does nothing when the
// server does not run. If mode does not end the server in time, stop kills it
// and returns an error.
func (c *cluster) stop(ctx context.Context, mode StopMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopLocked(ctx, mode)
}

func (c *cluster) stopLocked(ctx context.Context, mode StopMode) error {
	signal, err := c.system.signal(mode)
	if err != nil {
		return err
	}
	if !c.running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if err := c.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the server: %w", err)
	}
	select {
	case <-c.exited:
		return nil
	case <-ctx.Done():
	}
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the server: %w", err)
	}
	<-c.exited
	return fmt.Errorf("stop the server: killed, since it did not end: %w", ctx.Err())
}

// pid returns the server's process ID, or 0 when it does not run.
func (c *cluster) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running() {
		return 0
	}
	return c.cmd.Process.Pid
}

// close stops the server and removes the directory. A second call does nothing.
func (c *cluster) close(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return errors.Join(c.stopLocked(context.WithoutCancel(ctx), Fast), c.reaper.finish())
}

func logFile(dir string) string { return filepath.Join(dir, "log") }

// logFrom returns the log of the server in dir, from an offset on.
func logFrom(dir string, offset int64) string {
	text, err := os.ReadFile(logFile(dir))
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(text[min(offset, int64(len(text))):]))
}

// freePort returns a port of 127.0.0.1 that nobody listens on.
func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	if !ok {
		return 0, fmt.Errorf("find a free port: %v has none", addr)
	}
	return addr.Port, nil
}
