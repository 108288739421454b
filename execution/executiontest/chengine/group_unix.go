//go:build unix

package chengine

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own: SYSTEM SHUTDOWN sends a signal to all of
// its group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// yieldTo lets the test run before the engine. A server has a machine of its own; here its
// threads would keep a client from the processor for as long as they compute.
func yieldTo(cmd *exec.Cmd) error { return syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, 10) }
