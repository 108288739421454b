//go:build unix

package upstream

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// lowerGroup lets the scheduler prefer other processes to those of the group.
func lowerGroup(cmd *exec.Cmd) { _ = syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, 19) }

// watcher kills the group of a process when ktx is gone, however it ended. It is a shell
// that waits for a line of ktx: the system closes the pipe of a ktx that is killed.
type watcher struct {
	cmd *exec.Cmd
	end *os.File
}

const watchScript = `read -r line && exit 0; kill -s KILL -- "-$1"`

// watch starts a watcher, which is nil on a machine without a shell.
func watch(group int) *watcher {
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	cmd := exec.Command("/bin/sh", "-c", watchScript, "ktx-upstream", strconv.Itoa(group)) //nolint:gosec,noctx // a constant script; it ends with the group
	cmd.Stdin, cmd.Env = read, []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = read.Close()
	if err != nil {
		_ = write.Close()
		return nil
	}
	return &watcher{cmd, write}
}

// stop ends the watcher without killing the group.
func (w *watcher) stop() {
	if w == nil {
		return
	}
	_, _ = w.end.WriteString("\n")
	_ = w.end.Close()
	_ = w.cmd.Wait()
}
