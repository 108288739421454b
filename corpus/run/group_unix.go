//go:build unix

package run

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup lets what the program starts be ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the process, which has not been waited for, and its group.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
