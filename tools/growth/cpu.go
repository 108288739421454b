package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpuOf returns a clock of the processor time that a process has used. It is
// undisturbed by other work on the machine. It needs Linux, and a server on this
// machine.
func cpuOf(pid int) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil {
			return 0, err
		}
		var total int64
		read := 0
		for _, f := range files {
			text, err := os.ReadFile(f) //nolint:gosec // a file of the kernel
			if err != nil {
				continue // the thread has ended
			}
			ran, _, _ := strings.Cut(string(text), " ")
			n, err := strconv.ParseInt(ran, 10, 64)
			if err != nil {
				return 0, err
			}
			total, read = total+n, read+1
		}
		if read == 0 {
			return 0, fmt.Errorf("process %d cannot be observed", pid)
		}
		return time.Duration(total), nil
	}
}

// processOf returns the process that runs the statements of a connection.
func processOf(ctx context.Context, engine string, ask asker) (int, error) {
	switch engine {
	case "postgres":
		text, err := ask(ctx, "SELECT pg_backend_pid()")
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(text)
	case "mariadb":
		file, err := ask(ctx, "SELECT @@pid_file")
		if err != nil {
			return 0, err
		}
		text, err := os.ReadFile(file) //nolint:gosec // the server names it
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(string(text)))
	default:
		return os.Getpid(), nil
	}
}
