//go:build unix && !linux

package upstream

import (
	"os/exec"
	"syscall"
)

// own puts a command into a process group of its own.
func own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func start(cmd *exec.Cmd) error { return cmd.Start() }
