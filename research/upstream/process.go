package upstream

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// passed are the variables of ktx that a server gets. Others may hold secrets of ktx.
var passed = []string{"PATH", "HOME", "LANG"}

// The times that a process gets to end.
const (
	graceInput = 2 * time.Second // after its input is closed
	graceTerm  = 2 * time.Second // after SIGTERM
)

// graceStderr is how long ktx reads what a process has written to standard error before
// it ended.
const graceStderr = time.Second

// maxStderr is how much of what a process writes to standard error is kept.
const maxStderr = 8 << 10

// process is a server that ktx started.
type process struct {
	cmd     *exec.Cmd
	stdin   *os.File
	stdout  *os.File
	stderr  *ring
	secrets []string        // values that are blanked in what the process writes
	alive   context.Context //nolint:containedctx // ends with the process
	ended   chan struct{}   // closed when its group has ended too, and all that it wrote to standard error is read
	guard   *watcher
	once    sync.Once
}

// startProcess starts the command of a server, in a process group of its own.
func startProcess(s *Server) (*process, error) {
	var secrets []string
	read := func(v Value) (string, error) {
		text, err := v()
		secrets = append(secrets, text)
		return text, err
	}
	cmd := exec.Command(s.Command) //nolint:gosec,noctx // the operator names the command; its life is that of the process
	for _, v := range s.Args {
		arg, err := read(v)
		if err != nil {
			return nil, &Error{Code: CodeConfiguration, Server: s.Name, Message: "an argument of the command is not available: " + err.Error(), Hint: "set the variable or file that ktx.yaml names"}
		}
		cmd.Args = append(cmd.Args, arg)
	}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	for _, name := range sortedKeys(s.Env) {
		value, err := read(s.Env[name])
		if err != nil {
			return nil, &Error{Code: CodeConfiguration, Server: s.Name, Message: "env." + name + " is not available: " + err.Error(), Hint: "set the variable or file that ktx.yaml names"}
		}
		cmd.Env = append(slices.DeleteFunc(cmd.Env, func(e string) bool { return strings.HasPrefix(e, name+"=") }), name+"="+value)
	}
	cmd.Dir = s.Dir
	own(cmd)
	if strings.ContainsRune(s.Command, filepath.Separator) && !filepath.IsAbs(s.Command) && s.Dir != "" {
		cmd.Path = filepath.Join(s.Dir, s.Command)
	}
	p := &process{cmd: cmd, stderr: &ring{}, secrets: secrets, ended: make(chan struct{})}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inRead.Close(), inWrite.Close())
	}
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inRead.Close(), inWrite.Close(), outRead.Close(), outWrite.Close())
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, outWrite, errWrite
	p.stdin, p.stdout = inWrite, outRead
	err = start(cmd)
	_, _, _ = inRead.Close(), outWrite.Close(), errWrite.Close()
	if err != nil {
		_, _, _ = inWrite.Close(), outRead.Close(), errRead.Close()
		return nil, startError(s, err)
	}
	p.guard = watch(cmd.Process.Pid)
	alive, gone := context.WithCancel(context.Background())
	p.alive = alive
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		p.hear(errRead)
	}()
	go func() {
		_ = cmd.Wait()
		killGroup(cmd) // what the process started and left behind
		gone()
		select {
		case <-heard:
		case <-time.After(graceStderr): // a process that left the group may hold the other end open
		}
		_ = errRead.Close()
		p.guard.stop()
		close(p.ended)
	}()
	return p, nil
}

// hear keeps what the process writes to standard error, until it has ended. A process
// that writes very much has to wait.
func (p *process) hear(stderr *os.File) {
	unasked := newBudget(paceUnasked, p.demote)
	text := make([]byte, maxStderr)
	for {
		n, err := stderr.Read(text)
		if err != nil {
			return
		}
		p.stderr.add(text[:n])
		unasked.take(p.alive, n)
	}
}

// demote lets other processes go first, once the process has misbehaved.
func (p *process) demote() {
	if p.alive.Err() == nil {
		lowerGroup(p.cmd)
	}
}

// startError explains why a command did not start. The text of the system names the
// command or the folder, which are no secrets.
func startError(s *Server, err error) error {
	e := &Error{Code: CodeServerConnection, Server: s.Name, Message: "the command cannot be started", Err: err}
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		e.Message = "the command is not there: " + s.Command
		e.Hint = "install it, or give its whole path as command in ktx.yaml"
	case errors.Is(err, os.ErrPermission):
		e.Message = "the command may not be run: " + s.Command
		e.Hint = "check its permissions, and those of cwd"
	}
	return e
}

// stop ends the process and its group: it closes the input, waits, sends SIGTERM, waits,
// and kills. It returns when the process is gone.
func (p *process) stop() {
	p.once.Do(func() {
		_ = p.stdin.Close()
		if !p.within(graceInput) {
			terminateGroup(p.cmd)
			if !p.within(graceTerm) {
				killGroup(p.cmd)
			}
		}
	})
	<-p.ended
	_ = p.stdout.Close()
}

func (p *process) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.ended:
		return true
	case <-t.C:
		return false
	}
}

// said returns the last lines that the process wrote to standard error, without the
// secrets that it was given.
func (p *process) said() string {
	text := p.stderr.String()
	for _, secret := range p.secrets {
		if len(secret) > 3 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return clean(strings.Join(lines[max(0, len(lines)-5):], " | "), maxMessage)
}

// ring keeps the last bytes that are written to it.
type ring struct {
	mu   sync.Mutex
	data []byte
	lost bool
}

func (r *ring) add(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.data = append(r.data, b[max(0, len(b)-maxStderr):]...)
	if over := len(r.data) - maxStderr; over > 0 {
		r.data = append(r.data[:0], r.data[over:]...)
		r.lost = true
	}
}

// String returns what is kept, without a first line whose begin is lost.
func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := string(r.data)
	if _, rest, ok := strings.Cut(text, "\n"); ok && r.lost {
		return rest
	}
	return text
}
