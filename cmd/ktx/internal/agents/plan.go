package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ktxhq/ktx/cmd/ktx/internal/edit"
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

// Install plans the entries and skill files of clients. What is refused for one
// of a client's places is not done for the others, and does not keep other
// clients from theirs. An error means that nothing can be planned.
func Install(m Machine, e Endpoint, selected []Selection) (*Plan, error) {
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	for _, s := range selected {
		place, ok := s.Target.Place(s.Scope)
		if !ok {
			return nil, fmt.Errorf("%s has no scope %s", s.Target.Name, s.Scope)
		}
		files, manifest := maps.Clone(p.files), p.manifest
		var steps []Step
		if place.config != nil {
			steps = append(steps, p.installEntry(s, place, e))
		}
		if place.skill != nil {
			steps = append(steps, p.installSkill(s, place))
		}
		if slices.ContainsFunc(steps, func(s Step) bool { return s.Action == Refused }) {
			p.files, p.manifest = files, manifest
			for i := range steps {
				if steps[i].Action == Add || steps[i].Action == Update {
					steps[i].Action = Skipped
				}
			}
		}
		p.Steps = append(p.Steps, steps...)
	}
	p.addDirectories()
	return p, nil
}

// addDirectories lists the folders that must be made.
func (p *Plan) addDirectories() {
	dirs := slices.Clone(p.manifest.Directories)
	for _, c := range p.Files() {
		if c.Before != nil {
			continue
		}
		for _, d := range missingDirs(c.Path) {
			if stored := p.stored(d); !slices.Contains(dirs, stored) {
				dirs = append(dirs, stored)
			}
		}
	}
	p.manifest.Directories = dirs
}

// refused is a step that cannot be done.
func (s Step) refused(err error) Step {
	s.Action, s.Reason = Refused, err.Error()
	return s
}

// about names the file of an error.
func about(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }

func (p *Plan) installEntry(s Selection, place Place, e Endpoint) Step {
	t := s.Target
	path, key := place.file(p.machine), place.key(p.machine)
	step := Step{Target: t.Name, Scope: s.Scope, Kind: KindEntry, Path: path, Key: key}
	value, err := t.value(p.machine, e)
	if err != nil {
		return step.refused(err)
	}
	f, err := p.open(path)
	if err != nil {
		return step.refused(err)
	}
	text := f.after
	if !f.will {
		text = []byte(t.seed)
	}
	have, found, err := t.language.Lookup(text, key)
	if err != nil {
		return step.refused(about(path, err))
	}
	ours := p.manifest.at(p.stored(path), key)
	next := Installed{Target: t.Name, Scope: s.Scope, Kind: KindEntry, Path: p.stored(path), Key: key, SHA256: sumJSON(value)}
	next.Created = !f.was || slices.ContainsFunc(p.manifest.Installed, func(e Installed) bool { return e.Path == next.Path && e.Created })
	if found {
		sum := sumJSON(have)
		i := slices.IndexFunc(ours, func(e Installed) bool { return e.SHA256 == sum })
		switch {
		case i >= 0 && sum == next.SHA256:
			step.Action = Unchanged
			p.manifest = p.manifest.with(ours[i])
			return step
		case sum == next.SHA256:
			step.Action, step.Reason = Present, notOurs
			return step
		case i < 0 && len(ours) > 0:
			step.Action, step.Reason = Edited, editedSince
			return step
		case i < 0:
			return step.refused(fmt.Errorf("%s has %s already, not written by ktx setup of this project: it leads to %s; remove it, or choose another scope",
				path, strings.Join(key, "."), leadsTo(have)))
		}
		step.Action = Update
		if text, err = t.language.Remove(text, key, change(ours[i])); err != nil {
			return step.refused(about(path, err))
		}
	} else {
		step.Action = Add
	}
	splice, err := t.language.Set(text, key, value)
	if err != nil {
		return step.refused(about(path, err))
	}
	next.Change = &splice
	f.after, f.will = splice.Apply(text), true
	if err := p.put(f); err != nil {
		return step.refused(err)
	}
	p.manifest = p.manifest.with(next)
	return step
}

func change(e Installed) edit.Splice {
	if e.Change == nil {
		return edit.Splice{}
	}
	return *e.Change
}

func (p *Plan) installSkill(s Selection, place Place) Step {
	path, text := place.skill(p.machine), s.Target.wrap()
	step := Step{Target: s.Target.Name, Scope: s.Scope, Kind: KindSkill, Path: path}
	f, err := p.open(path)
	if err != nil {
		return step.refused(err)
	}
	ours := p.manifest.at(p.stored(path), nil)
	next := Installed{Target: s.Target.Name, Scope: s.Scope, Kind: KindSkill, Path: p.stored(path), SHA256: sum(text)}
	listed := func(sum string) bool {
		return slices.ContainsFunc(ours, func(e Installed) bool { return e.SHA256 == sum })
	}
	switch have := sum(f.after); {
	case !f.will:
		step.Action = Add
	case have == next.SHA256 && !listed(have):
		step.Action, step.Reason = Present, notOurs
		return step
	case have == next.SHA256:
		step.Action = Unchanged
	case listed(have):
		step.Action = Update
	case len(ours) > 0:
		step.Action, step.Reason = Edited, editedSince
		return step
	default:
		return step.refused(fmt.Errorf("%s is there already, not written by ktx setup of this project; remove it, or choose another scope", path))
	}
	if step.Action != Unchanged {
		f.after, f.will = text, true
		if err := p.put(f); err != nil {
			return step.refused(err)
		}
	}
	for _, e := range ours { // another client may have the same file
		e.SHA256 = next.SHA256
		p.manifest = p.manifest.with(e)
	}
	p.manifest = p.manifest.with(next)
	return step
}

// Uninstall plans to undo what the manifest lists: for all clients, or for those
// that chosen accepts.
func Uninstall(m Machine, chosen func(target string, scope Scope) bool) (*Plan, error) {
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	for i, e := range slices.Backward(p.before.Installed) {
		twice := slices.ContainsFunc(p.before.Installed[i+1:], e.sameSlot)
		if twice || !chosen(e.Target, e.Scope) {
			continue
		}
		step := Step{Target: e.Target, Scope: e.Scope, Kind: e.Kind, Path: p.path(e.Path), Key: e.Key}
		if err := p.known(e); err != nil {
			p.Steps = append(p.Steps, step.refused(err))
			continue
		}
		if e.Kind == KindEntry {
			step = p.removeEntry(e, step)
		} else {
			others := slices.DeleteFunc(p.manifest.at(e.Path, nil), e.sameSlot)
			step = p.removeSkill(step, p.manifest.at(e.Path, nil), len(others) > 0)
			if step.Action == Shared && slices.ContainsFunc(others, func(o Installed) bool { return chosen(o.Target, o.Scope) }) {
				p.manifest = p.manifest.without(e)
				continue // the file's last user removes it
			}
		}
		if step.Action == Remove || step.Action == Gone || step.Action == Shared {
			p.manifest = p.manifest.without(e)
		}
		p.Steps = append(p.Steps, step)
	}
	return p, nil
}

// known refuses a place that is none of the client's, as a manifest of a
// stranger might have it.
func (p *Plan) known(e Installed) error {
	for _, t := range Targets() {
		place, ok := t.Place(e.Scope)
		if t.Name != e.Target || !ok {
			continue
		}
		path := p.path(e.Path)
		switch {
		case e.Kind == KindSkill && place.skill != nil && path == place.skill(p.machine):
			return nil
		case e.Kind == KindEntry && place.config != nil && slices.Contains(place.config(p.machine), path) && place.hasKey(p.machine, e.Key):
			return nil
		}
		return fmt.Errorf("%s is no place of %s here; its variables may have been others when it was written", path, t.Name)
	}
	return fmt.Errorf("the manifest names a client %q with scope %q, which ktx does not know", e.Target, e.Scope)
}

// hasKey reports whether key is that of the entry, whatever the project was
// called.
func (pl Place) hasKey(m Machine, key []string) bool {
	now := pl.key(m)
	return slices.EqualFunc(key, now, func(a, b string) bool { return a == b || b == m.physical() && filepath.IsAbs(a) })
}

func (p *Plan) removeEntry(e Installed, step Step) Step {
	language := edit.JSON
	seed := ""
	for _, t := range Targets() {
		if t.Name == e.Target {
			language, seed = t.language, t.seed
		}
	}
	f, err := p.open(step.Path)
	if err != nil {
		return step.refused(err)
	}
	if !f.will {
		step.Action = Gone
		return step
	}
	have, found, err := language.Lookup(f.after, e.Key)
	if err != nil {
		return step.refused(about(step.Path, err))
	}
	if !found {
		step.Action = Gone
		return step
	}
	listed := p.manifest.at(e.Path, e.Key)
	i := slices.IndexFunc(listed, func(l Installed) bool { return l.SHA256 == sumJSON(have) })
	if i < 0 {
		step.Action, step.Reason = Edited, editedSince
		return step
	}
	step.Action = Remove
	if f.after, err = language.Remove(f.after, e.Key, change(listed[i])); err != nil {
		return step.refused(about(step.Path, err))
	}
	if listed[i].Created && !f.linked && (blank(f.after) == blank([]byte(seed)) || blank(f.after) == "{}") {
		f.will, f.after = false, nil
	}
	if err := p.put(f); err != nil {
		return step.refused(err)
	}
	return step
}

// blank is a text without what only separates.
func blank(text []byte) string { return strings.Join(strings.Fields(string(text)), "") }

// removeSkill plans to delete a skill file, which is listed so, unless it is
// another client's too.
func (p *Plan) removeSkill(step Step, listed []Installed, shared bool) Step {
	f, err := p.open(step.Path)
	if err != nil {
		return step.refused(err)
	}
	have := sum(f.after)
	switch {
	case !f.will:
		step.Action = Gone
		return step
	case shared:
		step.Action, step.Reason = Shared, "another client uses it"
		return step
	case !slices.ContainsFunc(listed, func(l Installed) bool { return l.SHA256 == have }):
		step.Action, step.Reason = Edited, editedSince
		return step
	}
	step.Action = Remove
	f.will, f.after = false, nil
	if err := p.put(f); err != nil {
		return step.refused(err)
	}
	return step
}

// leadsTo says what a foreign entry leads to, without anything that could be a
// secret in it.
func leadsTo(value json.RawMessage) string {
	var e struct {
		URL  string
		Args []string
	}
	if json.Unmarshal(value, &e) != nil {
		return "something else"
	}
	scheme, rest, ok := strings.Cut(e.URL, "://")
	if host, _, _ := strings.Cut(rest, "/"); ok && host != "" && !strings.ContainsAny(host, "@?#") {
		return scheme + "://" + host
	}
	for i, a := range e.Args {
		if a == "--project-dir" && i+1 < len(e.Args) {
			return "the project " + e.Args[i+1]
		}
	}
	return "something else"
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
