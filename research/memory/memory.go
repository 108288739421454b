package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ktxhq/ktx/research/wiki"
)

// Store ingests texts, and keeps the runs. It is safe for concurrent use, also by
// several processes.
type Store struct {
	root    *os.Root
	options Options
	busy    sync.Mutex // one run at a time in this process
}

// Options are what a [Store] works with.
type Options struct {
	Wiki *wiki.Store
	// Committer commits what a run wrote. It may be nil.
	Committer Committer
	// Now tells the time, and Random returns a text of letters and digits that
	// never comes twice.
	Now    func() time.Time
	Random func() string
	// OnStage is called before each stage of a run. It may be nil.
	OnStage func(Stage)
}

// A Committer commits files to version control.
type Committer interface {
	// Commit commits these files and no others, with paths relative to the
	// project. It returns the hash of the commit, or "" if the project is in no
	// repository, or if nothing changed.
	Commit(ctx context.Context, message string, paths []string) (hash string, err error)
}

// New returns a store over the folder of a project. It opens no file, and the
// caller closes root.
func New(root *os.Root, o Options) *Store { return &Store{root: root, options: o} }

// Request is one text to remember.
type Request struct {
	Content string
	// ConnectionID is the connection that the text is about, or "".
	ConnectionID string
	// Semantic writes definitions to the semantic layer, as far as the caller may. If it
	// is nil, the run says that none were written.
	Semantic Semantic
	// Sources are the names of tables and sources that the text may be linked to.
	// The caller may see all of them.
	Sources []string
	// Source says how the text came, mcp or cli, and Client who sent it.
	Source, Client string
}

// commitTime bounds a commit.
const commitTime = 20 * time.Second

// Ingest remembers a text, and returns the id of its run. It returns when the run
// has ended. A run that failed is no error: [Store.Run] says why. The error is an
// *[InvalidError] if the text is refused, and then there is no run.
func (s *Store) Ingest(ctx context.Context, r Request) (id string, err error) {
	r.Content = strings.TrimPrefix(r.Content, "\uFEFF")
	if err := Validate(r.Content); err != nil {
		return "", err
	}
	s.busy.Lock()
	defer s.busy.Unlock()
	lock, err := s.lock(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	state, err := s.recover()
	if err != nil {
		return "", err
	}
	now := s.options.Now().UTC()
	run := &Run{
		RunID: now.Format("20060102T150405Z") + "-" + strings.ToLower(s.options.Random()), Status: StatusRunning,
		Captured: Captured{Wiki: []string{}, SL: []string{}, Xrefs: []string{}}, Signals: Signals{Reasons: []string{}},
		ConnectionID: r.ConnectionID, Source: r.Source, Client: label(r.Client), StartedAt: now.Format(time.RFC3339),
	}
	state.Run = run.RunID
	if err := s.writeState(state); err != nil {
		return "", err
	}
	if err := s.enter(run, StageSignals); err != nil {
		return "", err
	}
	// From here on the run ends in its record, and no cancellation stops it
	// between two files.
	ctx = context.WithoutCancel(ctx)
	failure := s.work(ctx, run, &state, r)
	run.Done, run.Status = true, StatusDone
	if failure != nil {
		message := failure.Error()
		run.Status, run.Error = StatusError, &message
	} else {
		run.Stage = StageDone
	}
	run.EndedAt = s.options.Now().UTC().Format(time.RFC3339)
	if err := s.writeRun(run); err != nil {
		return "", err
	}
	s.at(StageDone)
	state.Run = ""
	if err := s.writeState(state); err != nil {
		return "", err
	}
	s.options.Wiki.Sweep(wiki.Global)
	return run.RunID, s.prune()
}

// at calls OnStage.
func (s *Store) at(stage Stage) {
	if s.options.OnStage != nil {
		s.options.OnStage(stage)
	}
}

// enter records that a run begins a stage.
func (s *Store) enter(run *Run, stage Stage) error {
	run.Stage = stage
	if err := s.writeRun(run); err != nil {
		return err
	}
	s.at(stage)
	return nil
}

// work does all stages of a run.
func (s *Store) work(ctx context.Context, run *Run, state *state, r Request) error {
	run.Signals = Detect(r.Content)
	run.SignalDetected = run.Signals.Knowledge || run.Signals.SL || run.Signals.Dialect
	if err := s.enter(run, StageWiki); err != nil {
		return err
	}
	if err := s.capture(run, state, r); err != nil {
		return err
	}
	if err := s.enter(run, StageSemantic); err != nil {
		return err
	}
	if err := s.define(ctx, run, state, r); err != nil {
		return err
	}
	if err := s.enter(run, StageCommit); err != nil {
		return err
	}
	s.commit(ctx, run, state)
	return nil
}

// commit commits what this run wrote, and what runs wrote that ended before they
// could commit it. A failure is a note of the run.
func (s *Store) commit(ctx context.Context, run *Run, state *state) {
	var paths []string
	for _, u := range state.Uncommitted {
		if sum, err := s.sum(u.Path); err == nil && sum == u.SHA256 {
			paths = append(paths, u.Path)
		}
	}
	state.Uncommitted = nil
	if s.options.Committer == nil || len(paths) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	message := "Update the wiki from memory"
	if len(run.Captured.Wiki) > 0 {
		message = "Capture " + strings.Join(run.Captured.Wiki, ", ")
	}
	hash, err := s.options.Committer.Commit(ctx, message+"\n\nRun: "+run.RunID+"\n", paths)
	switch {
	case err != nil:
		run.note("the files are written, and not committed: " + err.Error())
	case hash != "":
		run.CommitHash = &hash
	}
}

// sum returns the hash of a file in the project.
func (s *Store) sum(path string) (string, error) {
	text, err := readLimited(s.root, path, wiki.MaxPage)
	if err != nil {
		return "", err
	}
	return digest(text), nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// label returns the name of a client for a head: one line of at most 80 characters.
func label(name string) string {
	return wiki.Excerpt(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r <= ' ' || hidden(r) }), " "), 80)
}

// ErrBusy says that another process ingests for a long time.
var ErrBusy = fmt.Errorf("another process has been ingesting for %s; try again", lockTime)
