package console

import (
	"io"
	"os"
)

// App is one run of the command line.
type App struct {
	Stdin    io.Reader // standard input itself
	In       io.Reader // standard input; a read ends when the command's context ends
	Out, Err *Stream
	Lookup   func(string) (string, bool) // looks up an environment variable
	Args     []string                    // the arguments of the process, without its name
	Version  string                      // the version of ktx

	// OwnInterrupts hands the interrupts of the terminal to the caller. Before, the
	// first one ends the context of the command, and the second the process. Nil if
	// nobody sends any.
	OwnInterrupts func() <-chan os.Signal

	// FreeSpace returns how many bytes a user may still write where path lies, if the
	// system tells.
	FreeSpace func(path string) (bytes uint64, ok bool)

	Started bool // the arguments were valid and the command runs

	ProjectDir string // --project-dir
	JSON       bool   // --json
	Color      string // --color: auto, always or never
}
