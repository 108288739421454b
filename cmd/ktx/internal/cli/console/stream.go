package console

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/term"
)

// Logger returns a logger of warnings and errors to standard error.
func (a *App) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// automated reports whether a build system runs the command, by the variable CI.
func (a *App) automated() bool {
	value, _ := a.Lookup("CI")
	return value != "" && value != "false" && value != "0"
}

// Interactive reports whether the command can ask a person: standard input and
// standard error are a terminal, and no build system runs it.
func (a *App) Interactive() bool {
	f, ok := a.Stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && a.Err.Terminal && !a.automated()
}

// Stream is standard output or standard error. It keeps the first error of a
// write and writes nothing after it, so that no part of a result is missing in
// the middle. It is safe for concurrent use.
type Stream struct {
	w         io.Writer
	Terminal  bool   // w is a terminal
	OnFailure func() // called at the first error; may be nil

	mu  sync.Mutex
	err error
}

// NewStream returns a stream that writes to w.
func NewStream(w io.Writer) *Stream {
	f, ok := w.(*os.File)
	return &Stream{w: w, Terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// File returns the file that the stream writes to, or nil when it is something else.
func (s *Stream) File() *os.File {
	f, _ := s.w.(*os.File)
	return f
}

// Columns returns the width of the terminal, or 0 when there is none.
func (s *Stream) Columns() int {
	f := s.File()
	if f == nil || !s.Terminal {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Write implements io.Writer.
func (s *Stream) Write(p []byte) (int, error) {
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

// Fail ends the stream as a write that failed with err does.
func (s *Stream) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed(err)
}

// failed keeps the first error. The caller holds s.mu.
func (s *Stream) failed(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	if s.OnFailure != nil {
		s.OnFailure()
	}
}

// Failure returns the first error, or nil.
func (s *Stream) Failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Printf writes to standard output. The stream keeps an error.
func (a *App) Printf(format string, args ...any) { _, _ = fmt.Fprintf(a.Out, format, args...) }

// Errorf writes to standard error. The stream keeps an error.
func (a *App) Errorf(format string, args ...any) { _, _ = fmt.Fprintf(a.Err, format, args...) }

// Colored reports whether s gets colour. The flag --color decides; with auto, a
// terminal gets colour unless NO_COLOR is set and not empty (no-color.org) or
// TERM is dumb.
func (a *App) Colored(s *Stream) bool {
	switch a.Color {
	case "always":
		return true
	case "never":
		return false
	}
	if value, _ := a.Lookup("NO_COLOR"); value != "" {
		return false
	}
	if value, _ := a.Lookup("TERM"); value == "dumb" {
		return false
	}
	return s.Terminal
}

// The styles of terminal output (ECMA-48, SGR).
const (
	StyleBold   = "1"
	StyleRed    = "31"
	StyleGreen  = "32"
	StyleYellow = "33"
	StyleDim    = "2"
)

// Paint returns text in a style when s gets colour, and text itself otherwise.
func (a *App) Paint(s *Stream, style, text string) string {
	if !a.Colored(s) {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}
