package setup

import (
	"errors"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

// SkillBody returns the skill without its head.
func SkillBody() string { return skillBody }

// Config returns the settings file of a client, or "".
func (t *Target) Config(m Machine, scope Scope) string {
	if p, ok := t.Place(scope); ok && p.config != nil {
		return p.file(m)
	}
	return ""
}

// Skill returns the skill file of a client, or "".
func (t *Target) Skill(m Machine, scope Scope) string {
	if p, ok := t.Place(scope); ok && p.skill != nil {
		return p.skill(m)
	}
	return ""
}

// Key returns the path of a client's entry in its settings.
func (t *Target) Key(m Machine, scope Scope) []string {
	p, _ := t.Place(scope)
	return p.key(m)
}

// Language returns the language of the client's settings.
func (t *Target) Language() edit.Language { return t.language }

// ApplyPartly does what Apply does for some files, and then stops as if the
// program had crashed.
func (p *Plan) ApplyPartly(files int) error {
	changes := p.Files()
	err := p.announce(changes)
	for _, c := range changes[:files] {
		err = errors.Join(err, p.write(p.files[c.Path]))
	}
	return err
}
