//go:build !unix

package run

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: the system has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup ends only the process itself.
func killGroup(p *os.Process) error { return p.Kill() }
