package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

// Uninstall plans to remove what the manifest lists for the clients and scopes
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
				continue // the last client that uses the file removes it
			}
		}
		if step.Action == Remove || step.Action == Gone || step.Action == Shared {
			p.manifest = p.manifest.without(e)
		}
		p.Steps = append(p.Steps, step)
	}
	return p, nil
}

// known refuses a location that is not one of the client's. A manifest that
// came with a project could name any file.
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
		return fmt.Errorf("%s is not a location of %s on this machine; the client's environment variables may have changed since", path, t.Name)
	}
	return fmt.Errorf("the manifest names a client %q with scope %q, which ktx does not know", e.Target, e.Scope)
}

// hasKey reports whether key is the path of the entry, for any location of the
// project.
func (pl Place) hasKey(m Machine, key []string) bool {
	return slices.EqualFunc(key, pl.key(m), func(a, b string) bool { return a == b || filepath.IsAbs(a) && filepath.IsAbs(b) })
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

// blank returns text without white space.
func blank(text []byte) string { return strings.Join(strings.Fields(string(text)), "") }

// removeSkill plans to delete a listed skill file, unless another client uses
// it too.
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
