package setup

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

// Install plans the entries and skill files of the selected clients. If one
// location of a client is refused, the others of that client are skipped. Other
// clients are not affected. An error means that nothing can be planned.
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

func (p *Plan) installEntry(s Selection, place Place, e Endpoint) Step {
	t := s.Target
	path, key := place.file(p.machine), place.key(p.machine)
	step := Step{Target: t.Name, Scope: s.Scope, Kind: KindEntry, Path: path, Key: key}
	value, err := t.value(p.machine, e, place)
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
	next.Created = !f.was || slices.ContainsFunc(p.manifest.Installed, func(e Installed) bool {
		return e.Path == next.Path && e.Created && stands(t.language, text, e)
	})
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
			return step.refused(fmt.Errorf("%s already has %s, which ktx setup of this project did not write: it leads to %s; remove it, or choose another scope",
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

// stands reports whether text has an entry that the manifest lists.
func stands(language edit.Language, text []byte, e Installed) bool {
	value, found, err := language.Lookup(text, e.Key)
	return err == nil && found && sumJSON(value) == e.SHA256
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
		return step.refused(fmt.Errorf("%s already exists, and ktx setup of this project did not write it; remove it, or choose another scope", path))
	}
	if step.Action != Unchanged {
		f.after, f.will = text, true
		if err := p.put(f); err != nil {
			return step.refused(err)
		}
	}
	for _, e := range ours { // another client may use the same file
		e.SHA256 = next.SHA256
		p.manifest = p.manifest.with(e)
	}
	p.manifest = p.manifest.with(next)
	return step
}

// leadsTo describes where a foreign entry leads to, without anything that could
// be a secret.
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
