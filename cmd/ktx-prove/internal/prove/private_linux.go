package prove

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// privateMark tells the process to mount its own temporary folders. sharedMark
// tells it not to: tests use it, because their files are in these folders.
const (
	privateMark = "KTX_PROVE_PRIVATE"
	sharedMark  = "KTX_PROVE_SHARED"
)

// ownNetwork makes the network usable that the process has for itself: it has this
// machine, and the addresses of documents lead to it.
func ownNetwork() error {
	commands := [][]string{{"link", "set", "lo", "up"}}
	for _, block := range documentNetworks {
		commands = append(commands, []string{"route", "add", "local", block, "dev", "lo"})
	}
	for _, args := range commands {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil { //nolint:gosec,noctx // constants of this program
			return fmt.Errorf("make a network (the program ip is in the package iproute2): %w\n%s", err, out)
		}
	}
	return alone.listen()
}

// private runs the program again with its own temporary folders, in memory, and in a
// network that leads nowhere. Nobody else sees what a statement writes there, and it is
// gone afterwards.
// This needs root; otherwise done is false, and a case that names an existing
// path is not run.
func private(args []string, out, errs io.Writer) (code int, done bool, err error) {
	if os.Getenv(privateMark) != "" {
		for _, dir := range []string{"/tmp", "/var/tmp"} {
			if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=1777,size=3g"); err != nil {
				return 0, false, fmt.Errorf("make %s private: %w", dir, err)
			}
		}
		if err := ownNetwork(); err != nil {
			return 0, false, err
		}
		return 0, false, os.Unsetenv(privateMark)
	}
	self, err := os.Executable()
	if os.Geteuid() != 0 || os.Getenv(sharedMark) != "" || err != nil {
		return 0, false, err
	}
	cmd := exec.Command(self, args...) //nolint:gosec,noctx // this program, which answers to signals itself
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.Env = append(os.Environ(), privateMark+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, fmt.Errorf("start with private folders: %w", err)
	}
	err = cmd.Wait()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), true, nil
	}
	return exitOK, true, err
}
