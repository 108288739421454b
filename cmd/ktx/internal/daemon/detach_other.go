//go:build !unix

package daemon

import "os/exec"

// detach does nothing where there are no sessions of processes.
func detach(*exec.Cmd) {}
