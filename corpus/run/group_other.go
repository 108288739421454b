//go:build !unix

package run

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: the system has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup ends the process alone.
func killGroup(p *os.Process) error { return p.Kill() }
