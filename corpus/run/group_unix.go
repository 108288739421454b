//go:build unix

package run

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the program and all that it starts into a process group of
// their own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the group of a process that was not waited for yet.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
