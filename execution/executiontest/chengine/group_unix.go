//go:build unix

package chengine

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own: SYSTEM SHUTDOWN sends a signal to all of
// its group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
