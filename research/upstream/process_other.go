//go:build !unix

package upstream

import "os/exec"

// own does nothing: only the process itself is ended, not those that it started.
func own(*exec.Cmd) {}

func start(cmd *exec.Cmd) error { return cmd.Start() }

func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func lowerGroup(*exec.Cmd) {}

// watcher does nothing on this system.
type watcher struct{}

func watch(int) *watcher { return nil }

func (*watcher) stop() {}
