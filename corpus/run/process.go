package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// The limits of a guard's process.
const (
	maxReply   = 64 << 10        // bytes of a line that it writes
	keptStderr = 4 << 10         // bytes of standard error that are kept, the last ones
	endGrace   = 2 * time.Second // to end by itself after its input is closed
	drainGrace = time.Second     // to read what it wrote before it ended
)

// process is a program that writes one line for each line that it is sent.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	lines  chan reply
	exited chan struct{} // closed when the program has ended
	ended  chan struct{} // closed when nobody reads lines any more
	state  error         // how it ended; valid after exited
	stderr tail
	work   sync.WaitGroup
}

// reply is one line, or the error instead of it.
type reply struct {
	text []byte
	err  error
}

var errTooLong = fmt.Errorf("a line is longer than %d bytes", maxReply)

// startProcess starts a program, in its own process group if the system has
// them. It is killed when ctx ends.
func startProcess(ctx context.Context, words []string) (*process, error) {
	p := &process{lines: make(chan reply), exited: make(chan struct{}), ended: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the user names the command
	p.cmd.WaitDelay = endGrace
	p.cmd.Stderr = &p.stderr
	ownGroup(p.cmd)
	p.cmd.Cancel = func() error { return killGroup(p.cmd.Process) }
	// Unlike the pipe of StdoutPipe, this pipe stays open when the program
	// ends, so that its last line is read.
	out, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.out, p.cmd.Stdout = out, write
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	_ = write.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	p.work.Go(p.read)
	p.work.Go(func() {
		p.state = p.cmd.Wait()
		close(p.exited)
	})
	return p, nil
}

// read sends the lines of the program until it writes no more.
func (p *process) read() {
	defer close(p.lines)
	r := bufio.NewReaderSize(p.out, maxReply)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			err = errTooLong
		case errors.Is(err, io.EOF) && len(line) > 0:
			err = nil // a last line without a line end; the next read returns EOF
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
		select {
		case p.lines <- reply{bytes.Clone(line), err}:
		case <-p.ended:
			return
		}
		if err != nil {
			return
		}
	}
}

// errEnded means that the program ended or closed its output without a reply.
var errEnded = errors.New("it ended without a reply")

// ask sends one line and returns the next line that the program writes. After
// an error, the program must be ended.
func (p *process) ask(ctx context.Context, limit time.Duration, line []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	written := make(chan struct{})
	p.work.Go(func() {
		_, _ = p.in.Write(line) // a program that does not read it does not answer
		close(written)
	})
	exited, drained := p.exited, (<-chan time.Time)(nil)
	var text []byte
	for written != nil || text == nil {
		lines := p.lines
		if text != nil {
			lines = nil
		}
		select {
		case <-written:
			written = nil
		case got, open := <-lines:
			if !open {
				return nil, errEnded
			}
			if got.err != nil {
				return nil, got.err
			}
			text = got.text
		case <-exited:
			exited = nil
			timer := time.NewTimer(drainGrace)
			defer timer.Stop()
			drained = timer.C
		case <-drained:
			return nil, errEnded
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return text, nil
}

// end ends the program and everything that it started. It closes the input, and
// kills the process group after grace.
func (p *process) end(grace time.Duration) {
	closeInput := sync.OnceFunc(func() { _ = p.in.Close() })
	if grace > 0 {
		closeInput()
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	close(p.ended)
	select {
	case <-p.exited:
	case <-timer.C:
		_ = killGroup(p.cmd.Process)
		<-p.exited
	}
	closeInput()
	_ = p.out.Close()
	p.work.Wait()
}

// lastWords returns how the program ended and the last line of its standard
// error. It is valid after end.
func (p *process) lastWords() string {
	var parts []string
	if p.state != nil {
		parts = append(parts, p.state.Error())
	} else {
		parts = append(parts, "exit status 0")
	}
	if line := p.stderr.lastLine(); line != "" {
		parts = append(parts, line)
	}
	return strings.Join(parts, ": ")
}

// tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-keptStderr):]...)
	t.kept = bytes.Clone(t.kept[max(0, len(t.kept)-keptStderr):])
	return len(b), nil
}

// String returns the kept bytes as valid UTF-8.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\uFFFD"))
}

func (t *tail) lastLine() string {
	s := t.String()
	return cut(strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:]), 300)
}

// cut shortens s to at most n bytes of whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
