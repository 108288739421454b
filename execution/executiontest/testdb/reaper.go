package testdb

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// reap waits for the end of its input, then stops the server whose process ID
// stands in the file $2, if one runs, with the signal $3, and removes $1. It
// answers to nothing else, so that an interrupt at the terminal, which reaches
// the whole process group, does not end it first.
const reap = `
trap '' HUP INT TERM
read -r _
pid=
[ -f "$2" ] && read -r pid < "$2"
if [ -n "$pid" ]; then
	kill -"$3" "$pid"
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
		kill -0 "$pid" || break
		sleep 0.2
	done
	[ -f "$2" ] && kill -KILL "$pid"
fi
rm -rf -- "$1"
`

// reaper is the process that outlives this one to clean up after it.
type reaper struct {
	cmd   *exec.Cmd
	input io.WriteCloser
}

// startReaper starts the process that stops the server of s in dir and removes
// dir once finish is called or this process has ended.
func startReaper(dir string, s system) (*reaper, error) {
	end, err := s.signal(Fast)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", reap,
		"reap", dir, filepath.Join(dir, s.pidFile()), strconv.Itoa(int(end)))
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the clean-up process: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the clean-up process: %w", err)
	}
	return &reaper{cmd: cmd, input: input}, nil
}

// finish lets the reaper do its work and waits for it.
func (r *reaper) finish() error {
	if err := r.input.Close(); err != nil {
		return fmt.Errorf("tell the clean-up process: %w", err)
	}
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("clean-up process: %w", err)
	}
	return nil
}
