package audit

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

// runPrefix begins the names of the files by which processes know of each other: each
// Writer holds the lock of its own file until it is closed, or its process ends.
const runPrefix = "run-"

const (
	// maxRuns bounds how many files of ended processes one opening looks at.
	maxRuns = 1000
	// maxRunName bounds the name of such a file.
	maxRunName = 48
)

// newRun returns a name for a run. It need not be secret, only rare.
func newRun() string {
	var b [6]byte
	n := rand.Uint64() //nolint:gosec // a name, not a secret
	for i := range b {
		b[i] = byte(n >> (8 * i) & 0xff)
	}
	return hex.EncodeToString(b[:])
}

// runFile returns the name of the file of this run. The file is empty, so that a full
// disk does not matter.
func (w *Writer) runFile() string { return runPrefix + w.run + "-" + strconv.Itoa(os.Getpid()) }

// announce creates the file of this run, locked. Its name appears when it is locked. Under
// Wine a file that was renamed while it was open is another one for os.SameFile, so
// runInfo is by the name.
func (w *Writer) announce(s *store) error {
	name := w.runFile()
	f, err := s.create(name + ".tmp")
	if err != nil {
		return err
	}
	if err = tryLock(f); err == nil {
		err = s.root.Rename(name+".tmp", name)
	}
	if err == nil {
		w.runInfo, err = s.root.Lstat(name)
	}
	if err != nil {
		return errors.Join(err, f.Close(), ignoreMissing(s.root.Remove(name+".tmp")))
	}
	w.running = f
	return nil
}

// bury records a crash for each run whose process has ended without closing its
// Writer, and removes its file. What cannot be recorded now is left for the next opening.
func (w *Writer) bury(root *os.Root) {
	list, err := names(root)
	if err != nil {
		return
	}
	seen := 0
	for _, name := range list {
		rest, ok := strings.CutPrefix(name, runPrefix)
		run, number, named := strings.Cut(rest, "-")
		pid, err := strconv.ParseInt(number, 10, 64)
		if !ok || !named || err != nil || run == w.run || len(name) > maxRunName {
			continue
		}
		if seen++; seen > maxRuns {
			return
		}
		w.buryRun(root, name, Process{Run: run, PID: pid})
	}
}

func (w *Writer) buryRun(root *os.Root, name string, crashed Process) {
	if regular(root, name) != nil {
		return
	}
	f, err := root.OpenFile(name, os.O_RDWR, fileMode)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if tryLock(f) != nil {
		return // it runs
	}
	// Another process may have buried it between the opening and the lock.
	held, err := f.Stat()
	now, nowErr := root.Lstat(name)
	if err != nil || nowErr != nil || !os.SameFile(held, now) {
		return
	}
	if _, err := w.record(Event{Type: GatewayCrashed, Process: crashed}, time.Now().Add(w.wait)); err == nil {
		_ = root.Remove(name)
	}
}

// leave removes the file of this run.
func (w *Writer) leave() error {
	if w.running == nil {
		return nil
	}
	f := w.running
	w.running = nil
	var err error
	if root, openErr := os.OpenRoot(w.path); openErr == nil {
		if now, nowErr := root.Lstat(w.runFile()); nowErr == nil && os.SameFile(w.runInfo, now) {
			err = root.Remove(w.runFile())
		}
		err = errors.Join(err, root.Close())
	} else if !errors.Is(openErr, fs.ErrNotExist) {
		err = openErr
	}
	return errors.Join(err, f.Close())
}
