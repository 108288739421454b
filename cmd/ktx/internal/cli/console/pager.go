package console

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// Page writes text to standard output. On a terminal that is too low for it, a pager
// shows it: the program of the variable PAGER, or less. An empty PAGER means none.
func (a *App) Page(ctx context.Context, text []byte) {
	f, ok := a.Out.w.(*os.File)
	if !ok || !a.Out.Terminal || a.automated() {
		_, _ = a.Out.Write(text)
		return
	}
	_, height, err := term.GetSize(int(f.Fd()))
	command, set := a.Lookup("PAGER")
	if !set {
		command = "less"
	}
	words := strings.Fields(command)
	if err != nil || height <= 0 || bytes.Count(text, []byte("\n")) < height || len(words) == 0 {
		_, _ = a.Out.Write(text)
		return
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the user's own pager
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), f, os.Stderr
	cmd.Env = os.Environ()
	if _, set := a.Lookup("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRSX") // colours, long lines, and no pager for what fits after all
	}
	if err := cmd.Start(); err != nil {
		_, _ = a.Out.Write(text)
		return
	}
	_ = cmd.Wait() // what the pager made of it is for the user to see
}
