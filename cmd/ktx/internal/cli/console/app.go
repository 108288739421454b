package console

import "io"

// App is one run of the command line.
type App struct {
	Stdin    io.Reader
	In       io.Reader // stdin, of which a read ends with the command's context
	Out, Err *Stream
	Lookup   func(string) (string, bool) // the environment
	Args     []string
	Version  string // of the product

	Started bool // the arguments were understood and the command runs

	ProjectDir string
	JSON       bool
	Color      string
}
