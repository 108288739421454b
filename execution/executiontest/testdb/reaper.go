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

// reap is a shell script. It waits for the end of its input. Then it stops the
// server with the signal $3, if the file $2 has the process ID of one that
// runs, and removes $1. It ignores signals, because an interrupt at the
// terminal reaches the whole process group and would end the script first.
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

// reaper is a process that outlives this one and cleans up after it.
type reaper struct {
	cmd   *exec.Cmd
	input io.WriteCloser
}

// startReaper starts a process that stops the server of s in dir and removes
// dir, when finish is called or when this process has ended.
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

// finish makes the reaper clean up, and waits until it has.
func (r *reaper) finish() error {
	if err := r.input.Close(); err != nil {
		return fmt.Errorf("tell the clean-up process: %w", err)
	}
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("clean-up process: %w", err)
	}
	return nil
}
