package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
)

// Selection is one client in one scope.
type Selection struct {
	Target *Target
	Scope  Scope
}

// Action is what becomes of a place.
type Action string

// The actions.
const (
	Add       Action = "add"
	Update    Action = "update"
	Remove    Action = "remove"
	Unchanged Action = "unchanged" // it was written before and stands as it should
	Present   Action = "present"   // it stands as it should, and was not written by ktx setup
	Edited    Action = "edited"    // it was written by ktx setup and changed since: left alone
	Gone      Action = "gone"      // there is nothing left to remove
	Shared    Action = "shared"    // another client that stays uses it: left alone
	Skipped   Action = "skipped"   // not written, for another place of the client is refused
	Refused   Action = "refused"   // it cannot be done; Reason says why
)

// Reasons of steps.
const (
	editedSince = "it was edited since ktx setup wrote it"
	notOurs     = "it was not written by ktx setup of this project"
)

// Step is what becomes of one place.
type Step struct {
	Target string
	Scope  Scope
	Kind   Kind
	Path   string
	Key    []string
	Action Action
	Reason string // why, where the action alone does not tell
}

// FileChange is a file before and after. Nil is no file.
type FileChange struct {
	Path          string
	Before, After []byte
}

// Diff returns the change as a unified diff.
func (c FileChange) Diff() []byte {
	from, to := c.Path, c.Path
	if c.Before == nil {
		from = "/dev/null"
	}
	if c.After == nil {
		to = "/dev/null"
	}
	return diff.Diff(from, c.Before, to, c.After)
}

// Plan is what is to be done. It reads files and writes none before Apply.
type Plan struct {
	Steps []Step

	machine  Machine
	manifest Manifest // as it will be
	before   Manifest // as it is
	during   Manifest // while files are written
	text     []byte   // of before
	files    map[string]file
}

func newPlan(m Machine) (*Plan, error) {
	manifest, text, err := readManifest(m.Project)
	if err != nil {
		return nil, err
	}
	return &Plan{machine: m, manifest: manifest, before: manifest, text: text, files: map[string]file{}}, nil
}

// Files returns the files that change, in the order of their paths.
func (p *Plan) Files() []FileChange {
	var out []FileChange
	for _, path := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[path]
		if f.changed() {
			c := FileChange{Path: path}
			if f.was {
				c.Before = append([]byte{}, f.before...)
			}
			if f.will {
				c.After = append([]byte{}, f.after...)
			}
			out = append(out, c)
		}
	}
	return out
}

func (f file) changed() bool { return f.was != f.will || string(f.before) != string(f.after) }

// Refused reports whether something cannot be done.
func (p *Plan) Refused() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Action == Refused })
}

// open returns a file as it will be by now.
func (p *Plan) open(path string) (file, error) {
	if f, ok := p.files[path]; ok {
		return f, nil
	}
	return openFile(path)
}

// put settles what becomes of a file.
func (p *Plan) put(f file) error {
	if err := f.writable(); err != nil {
		return err
	}
	p.files[f.path] = f
	return nil
}

// stored is a path as the manifest has it.
func (p *Plan) stored(path string) string {
	if rel, err := filepath.Rel(p.machine.Project, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// path is a path of the manifest as it is on the machine.
func (p *Plan) path(stored string) string {
	if filepath.IsAbs(stored) {
		return stored
	}
	return filepath.Join(p.machine.Project, filepath.FromSlash(stored))
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// sumJSON is the sum of a value, however it is written.
func sumJSON(value json.RawMessage) string {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return sum(value)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return sum(value)
	}
	return sum(text)
}

// refused is a step that cannot be done.
func (s Step) refused(err error) Step {
	s.Action, s.Reason = Refused, err.Error()
	return s
}

// about names the file of an error.
func about(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }
