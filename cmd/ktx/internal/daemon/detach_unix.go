//go:build unix

package daemon

import (
	"os/exec"
	"syscall"
)

// detach puts a process into a session of its own, so that it outlives the terminal
// from which it was started.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
