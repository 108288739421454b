package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/rootfile"
)

// Status says how far a run is.
type Status string

// The statuses. A run that is not done when its process ends becomes an error.
const (
	StatusRunning Status = "running"
	StatusDone    Status = "done"
	StatusError   Status = "error"
)

// Stage is a step of a run.
type Stage string

// The stages, in order. A run that failed keeps the stage in which it did.
const (
	StageSignals  Stage = "signals"
	StageWiki     Stage = "wiki"
	StageSemantic Stage = "semantic-layer"
	StageCommit   Stage = "commit"
	StageDone     Stage = "done"
)

// Run is the record of one text.
type Run struct {
	RunID          string   `json:"runId"`
	Status         Status   `json:"status"`
	Stage          Stage    `json:"stage"`
	Done           bool     `json:"done"` // the run has ended, well or not
	Captured       Captured `json:"captured"`
	Error          *string  `json:"error"`
	CommitHash     *string  `json:"commitHash"`
	SignalDetected bool     `json:"signalDetected"`
	Signals        Signals  `json:"signals"`

	ConnectionID string `json:"connectionId,omitempty"`
	Source       string `json:"source,omitempty"`
	Client       string `json:"client,omitempty"`
	StartedAt    string `json:"startedAt"`
	EndedAt      string `json:"endedAt,omitempty"`
}

// Captured is what a run wrote. It is empty if the text brought nothing new.
type Captured struct {
	Wiki  []string `json:"wiki"`  // keys of pages
	SL    []string `json:"sl"`    // sources of the semantic layer
	Xrefs []string `json:"xrefs"` // sources that the page is linked to
}

// maxReasons is how many reasons a run keeps.
const maxReasons = 30

// note adds a reason to the run.
func (r *Run) note(text string) {
	if len(r.Signals.Reasons) < maxReasons && !slices.Contains(r.Signals.Reasons, text) {
		r.Signals.Reasons = append(r.Signals.Reasons, text)
	}
}

// ErrNoRun says that no run has an id.
var ErrNoRun = errors.New("no run has this id")

const (
	memoryDir = ".ktx/memory"
	runsDir   = memoryDir + "/runs"
	stateFile = memoryDir + "/state.json"
)

// The limits of records.
const (
	maxRecord = 64 << 10 // bytes
	maxRuns   = 1000     // the oldest are removed
)

// validRun reports whether id can be the name of a run.
func validRun(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-' && i > 0:
		default:
			return false
		}
	}
	return true
}

// Run returns the record of a run. The error wraps [ErrNoRun] if there is none. A
// run whose process has ended before the run did is returned as failed.
func (s *Store) Run(id string) (*Run, error) {
	run, err := s.readRun(id)
	if err != nil || run.Status != StatusRunning {
		return run, err
	}
	lock, free, err := s.tryLock()
	if err != nil || !free {
		return run, err
	}
	defer func() { _ = lock.Close() }()
	if _, err := s.recover(); err != nil {
		return nil, err
	}
	if run, err = s.readRun(id); err == nil && run.Status == StatusRunning {
		// It is not the run that the state names, and no other can be at work.
		err = s.orphan(run)
	}
	return run, err
}

func (s *Store) readRun(id string) (*Run, error) {
	if !validRun(id) {
		return nil, fmt.Errorf("run %q: %w", excerpt(id), ErrNoRun)
	}
	text, err := readLimited(s.root, runFile(id), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run %q: %w", id, ErrNoRun)
	}
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	run := &Run{}
	if err := json.Unmarshal(text, run); err != nil {
		return nil, fmt.Errorf("read run %s: its record is damaged: %w", id, err)
	}
	run.RunID = id
	for _, list := range []*[]string{&run.Captured.Wiki, &run.Captured.SL, &run.Captured.Xrefs, &run.Signals.Reasons} {
		if *list == nil {
			*list = []string{}
		}
	}
	return run, nil
}

func runFile(id string) string { return path.Join(runsDir, id+".json") }

func (s *Store) writeRun(run *Run) error { return s.writeJSON(runFile(run.RunID), run) }

// state is what a store keeps between runs.
type state struct {
	Run         string        `json:"run"` // the run that is at work, or ""
	Uncommitted []uncommitted `json:"uncommitted"`
}

// uncommitted is a file that a run wrote and has not committed. It is committed only
// while it has this content.
type uncommitted struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// maxUncommitted is how many files are kept to be committed.
const maxUncommitted = 100

func (s *Store) writeState(state state) error {
	if extra := len(state.Uncommitted) - maxUncommitted; extra > 0 {
		state.Uncommitted = state.Uncommitted[extra:]
	}
	return s.writeJSON(stateFile, state)
}

// recover marks the run that the last process did not end as failed. The caller
// holds the lock, so that no process can be at it. A damaged state counts as none.
func (s *Store) recover() (state, error) {
	var st state
	text, err := readLimited(s.root, stateFile, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil || json.Unmarshal(text, &st) != nil {
		return state{}, nil //nolint:nilerr // what it would have said is lost, and a run can do without
	}
	if st.Run == "" || !validRun(st.Run) {
		return st, nil
	}
	run, err := s.readRun(st.Run)
	if err == nil && run.Status == StatusRunning {
		if err := s.orphan(run); err != nil {
			return st, err
		}
	}
	st.Run = ""
	return st, s.writeState(st)
}

// orphan marks a run as failed because its process ended.
func (s *Store) orphan(run *Run) error {
	message := fmt.Sprintf("the process ended while the run was at the stage %s; send the text again, which captures nothing twice", run.Stage)
	run.Status, run.Done, run.Error = StatusError, true, &message
	return s.writeRun(run)
}

// prune removes the oldest runs, of which there are too many.
func (s *Store) prune() error {
	dir, err := s.root.Open(runsDir)
	if err != nil {
		return fmt.Errorf("read the runs: %w", err)
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close()
	if err != nil {
		return fmt.Errorf("read the runs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), rootfile.Temporary) {
			_ = s.root.Remove(path.Join(runsDir, e.Name())) // of a process that was killed
		} else if strings.HasSuffix(e.Name(), ".json") {
			names = append(names, e.Name())
		}
	}
	if len(names) <= maxRuns {
		return nil
	}
	slices.Sort(names) // ids begin with their time
	for _, name := range names[:len(names)-maxRuns] {
		_ = s.root.Remove(path.Join(runsDir, name))
	}
	return nil
}

// writeJSON writes a file whole or not at all.
func (s *Store) writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := s.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return rootfile.Replace(s.root, name, 0o600, rootfile.Bytes(append(text, '\n')))
}

// readLimited reads a file of at most limit bytes.
func readLimited(root *os.Root, name string, limit int64) ([]byte, error) {
	f, _, err := rootfile.Open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return text, err
}
