package console

import "io"

// App is one run of the command line.
type App struct {
	Stdin    io.Reader // standard input itself
	In       io.Reader // standard input; a read ends when the command's context ends
	Out, Err *Stream
	Lookup   func(string) (string, bool) // looks up an environment variable
	Args     []string                    // the arguments of the process, without its name
	Version  string                      // the version of ktx

	Started bool // the arguments were valid and the command runs

	ProjectDir string // --project-dir
	JSON       bool   // --json
	Color      string // --color: auto, always or never
}
