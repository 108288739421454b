package upstream

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// own puts a command into a process group of its own, and has the kernel kill it when
// the thread that started it ends. That thread lives as long as ktx.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

type starting struct {
	cmd  *exec.Cmd
	done chan error
}

// starter returns the way to the thread that starts commands. It is started once and
// never ends, because the kernel would take the end of the thread for that of ktx.
var starter = sync.OnceValue(func() chan<- starting {
	c := make(chan starting)
	go func() {
		runtime.LockOSThread()
		for s := range c {
			s.done <- s.cmd.Start()
		}
	}()
	return c
})

func start(cmd *exec.Cmd) error {
	s := starting{cmd, make(chan error, 1)}
	starter() <- s
	return <-s.done
}
