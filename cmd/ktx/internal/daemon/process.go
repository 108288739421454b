package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Spawn starts cmd as a process that outlives this one, with the log at path as
// its standard output and error. It returns the length that the log had before, in
// bytes.
func Spawn(cmd *exec.Cmd, path string) (before int64, err error) {
	log, err := openLog(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = log.Close() }() // the process has its own
	info, err := log.Stat()
	if err != nil {
		return 0, fmt.Errorf("start in the background: %w", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start in the background: %w", err)
	}
	return info.Size(), nil
}

// stopTime is the time that a server has to stop before it is killed.
const stopTime = 10 * time.Second

// Stop ends the server of s and waits for the end of its process. It ends nothing
// unless the server answers with its nonce. It kills a server that does not end in
// time.
func (s State) Stop(ctx context.Context) (Answer, error) {
	// The handle is opened before the proof, so that it belongs to the process
	// that proves itself. On systems with handles of processes, a later process
	// with the same id is not mistaken for it.
	process, err := os.FindProcess(s.PID)
	if err != nil {
		return Nobody, nil
	}
	defer func() { _ = process.Release() }()
	if answer, _ := s.Probe(ctx); answer != Ours {
		return answer, nil
	}
	if err := process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return Ours, fmt.Errorf("stop process %d: %w", s.PID, err)
	}
	if gone(ctx, process, stopTime) {
		return Ours, nil
	}
	if ctx.Err() != nil {
		return Ours, ctx.Err()
	}
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return Ours, fmt.Errorf("kill process %d: %w", s.PID, err)
	}
	if !gone(ctx, process, stopTime) {
		return Ours, fmt.Errorf("process %d did not end", s.PID)
	}
	return Ours, nil
}

// gone waits until a process has ended or the limit has passed, and reports whether
// it has ended.
func gone(ctx context.Context, process *os.Process, limit time.Duration) bool {
	for end := time.Now().Add(limit); running(process); {
		if time.Now().After(end) || ctx.Err() != nil {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// running reports whether a process still runs. A process that has ended keeps its
// id until its parent waits for it.
func running(process *os.Process) bool {
	if errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process.Pid), "stat"))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || !hasProc()
	}
	_, state, _ := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(" "))
	return !bytes.HasPrefix(state, []byte("Z"))
}

// hasProc reports whether the system has /proc.
func hasProc() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}
