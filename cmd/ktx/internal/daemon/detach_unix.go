//go:build unix

package daemon

import (
	"os/exec"
	"syscall"
)

// detach lets a process outlive the terminal that it was started from.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
