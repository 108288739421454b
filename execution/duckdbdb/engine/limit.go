//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package engine

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// limitProcess sets the limits of the process that do not change.
func limitProcess(memory, temp int64) error {
	core := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	size := uint64(temp) //nolint:gosec // positive
	file := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size})
	// The engine counts what its operators keep against its own limit, but not every value
	// that a function makes.
	space := limitMemory(2*uint64(memory) + 512<<20) //nolint:gosec // positive
	if err := errors.Join(core, file, space); err != nil {
		return fmt.Errorf("limit the process: %w", err)
	}
	spent := make(chan os.Signal, 1)
	signal.Notify(spent, unix.SIGXCPU)
	go func() {
		<-spent
		os.Exit(2)
	}()
	return nil
}

// spareTime is processor time that a statement may use beyond that of its threads.
const spareTime = 2 * time.Second

// allowTime bounds the processor time of the process to what it has used, and what threads
// can use within limit. ktx ends a statement at its limit. This bound ends one for which ktx
// no longer can.
func allowTime(limit time.Duration, threads int) {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return
	}
	var old unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CPU, &old) != nil {
		return
	}
	seconds := used.Utime.Sec + used.Stime.Sec + int64((limit*time.Duration(threads)+spareTime)/time.Second) + 1
	_ = unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: min(uint64(seconds), old.Max), Max: old.Max}) //nolint:gosec // positive
}
