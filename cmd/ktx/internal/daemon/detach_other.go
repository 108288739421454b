//go:build !unix

package daemon

import "os/exec"

// detach does nothing on systems without sessions of processes.
func detach(*exec.Cmd) {}
