package cli

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// stream is standard output or standard error. It keeps the first failure and
// writes nothing after it, so that a result is never full of holes.
type stream struct {
	w         io.Writer
	terminal  bool
	onFailure func()

	mu  sync.Mutex
	err error
}

func newStream(w io.Writer) *stream {
	f, ok := w.(*os.File)
	return &stream{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	if err != nil {
		s.failed(err)
	}
	return n, err
}

// fail ends the stream for a reason of its own.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed(err)
}

// failed keeps the first failure; s.mu is held.
func (s *stream) failed(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	if s.onFailure != nil {
		s.onFailure()
	}
}

// failure returns the first error of writing.
func (s *stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// printf writes to standard output, errorf to standard error; the streams keep
// what fails.
func (a *app) printf(format string, args ...any) { _, _ = fmt.Fprintf(a.out, format, args...) }
func (a *app) errorf(format string, args ...any) { _, _ = fmt.Fprintf(a.err, format, args...) }

// colored reports whether s gets colour: as --color says, else on a terminal
// unless NO_COLOR is set and not empty (no-color.org) or TERM is dumb.
func (a *app) colored(s *stream) bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	if value, _ := a.lookup("NO_COLOR"); value != "" {
		return false
	}
	if value, _ := a.lookup("TERM"); value == "dumb" {
		return false
	}
	return s.terminal
}

// The styles of terminal output (ECMA-48, SGR).
const (
	styleBold   = "1"
	styleRed    = "31"
	styleGreen  = "32"
	styleYellow = "33"
	styleDim    = "2"
)

// paint puts text in a style when s gets colour.
func (a *app) paint(s *stream, style, text string) string {
	if !a.colored(s) {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}
