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

// Action is what happens to a location.
type Action string

// The actions.
const (
	Add       Action = "add"
	Update    Action = "update"
	Remove    Action = "remove"
	Unchanged Action = "unchanged" // ktx setup wrote it before, and it is up to date
	Present   Action = "present"   // it is as it should be, but ktx setup did not write it
	Edited    Action = "edited"    // ktx setup wrote it, and it was edited since: left alone
	Gone      Action = "gone"      // there is nothing left to remove
	Shared    Action = "shared"    // another client still uses it: left alone
	Skipped   Action = "skipped"   // not written, because another location of the client is refused
	Refused   Action = "refused"   // it cannot be done; Reason says why
)

// The reasons of steps.
const (
	editedSince = "it was edited since ktx setup wrote it"
	notOurs     = "it was not written by ktx setup of this project"
)

// Step is what happens to one location.
type Step struct {
	Target string
	Scope  Scope
	Kind   Kind
	Path   string
	Key    []string
	Action Action
	Reason string // why, if the action does not say it
}

// FileChange is a file before and after. Nil means that there is no file.
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

// Plan is a set of changes. It reads files, and writes none before Apply.
type Plan struct {
	Steps []Step

	machine  Machine
	manifest Manifest // after Apply
	before   Manifest // as it is now
	during   Manifest // while files are written
	text     []byte   // the text of before
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

// Refused reports whether a step is refused.
func (p *Plan) Refused() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Action == Refused })
}

// open returns a file with the changes that are planned already.
func (p *Plan) open(path string) (file, error) {
	if f, ok := p.files[path]; ok {
		return f, nil
	}
	return openFile(path)
}

// put plans the new content of a file.
func (p *Plan) put(f file) error {
	if err := f.writable(); err != nil {
		return err
	}
	p.files[f.path] = f
	return nil
}

// stored returns a path as the manifest spells it.
func (p *Plan) stored(path string) string {
	if rel, err := filepath.Rel(p.machine.Project, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// path returns the path on the machine of a path in the manifest.
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

// sumJSON returns the hash of a value in canonical JSON.
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

// refused returns the step with the action Refused and the reason.
func (s Step) refused(err error) Step {
	s.Action, s.Reason = Refused, err.Error()
	return s
}

// about returns err with the name of the file that it is about.
func about(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }
