package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
)

// Apply writes the plan. It writes the manifest first, which then lists the old
// and the new state, so that an interrupted Apply can be undone. If a file is
// no longer as it was when the plan was made, Apply leaves it alone and returns
// an error.
func (p *Plan) Apply() error {
	changes := p.Files()
	if err := p.announce(changes); err != nil {
		return err
	}
	var failures []error
	for _, c := range changes {
		f := p.files[c.Path]
		if err := p.write(f); err != nil {
			failures = append(failures, err)
			p.keep(f)
		}
	}
	p.manifest.Directories = p.tidy()
	return errors.Join(append(failures, p.save(p.manifest))...)
}

// announce writes a manifest that lists what will be written in addition to
// what was.
func (p *Plan) announce(changes []FileChange) error {
	p.during = p.before.union(p.manifest)
	if len(changes) == 0 {
		return nil
	}
	return p.save(p.during)
}

// keep puts back what the manifest listed for a file that could not be written,
// unless the file was written after all.
func (p *Plan) keep(f file) {
	if now, err := openFile(f.path); err == nil && now.was == f.will && bytes.Equal(now.before, f.after) {
		return
	}
	path := p.stored(f.path)
	at := func(e Installed) bool { return e.Path == path }
	p.manifest.Installed = slices.DeleteFunc(slices.Clone(p.manifest.Installed), at)
	for _, e := range p.before.Installed {
		if at(e) {
			p.manifest.Installed = append(p.manifest.Installed, e)
		}
	}
}

// write creates, replaces or deletes one file.
func (p *Plan) write(f file) error {
	now, err := openFile(f.path)
	if err != nil {
		return err
	}
	if now.was != f.was || !bytes.Equal(now.before, f.before) {
		return fmt.Errorf("%s: %w; nothing was changed in it", f.path, atomicfile.ErrChanged)
	}
	switch {
	case !f.will:
		if err := os.Remove(f.path); err != nil {
			return fmt.Errorf("remove %s: %w", f.path, err)
		}
		return nil
	case f.was:
		return atomicfile.Replace(f.path, f.before, f.after)
	}
	dirs, mode := fs.FileMode(0o700), fs.FileMode(0o600)
	if !filepath.IsAbs(p.stored(f.path)) { // it may be shared through version control
		dirs, mode = 0o755, 0o644
	}
	if err := os.MkdirAll(filepath.Dir(f.path), dirs); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return atomicfile.WriteNew(f.path, mode, f.after)
}

// save writes the manifest, or removes it if it lists nothing.
func (p *Plan) save(m Manifest) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	path := ManifestPath(p.machine.Project)
	switch {
	case bytes.Equal(text, p.text):
		return nil
	case text == nil:
		now, err := openFile(path)
		if err == nil && !bytes.Equal(now.before, p.text) {
			err = atomicfile.ErrChanged
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return fmt.Errorf("remove the manifest: %w", err)
		}
		_ = os.Remove(filepath.Dir(path)) // fails if something else is in it
	case p.text == nil:
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write the manifest: %w", err)
		}
		if err := atomicfile.WriteNew(path, 0o600, text); err != nil {
			return fmt.Errorf("write the manifest: %w", err)
		}
	default:
		if err := atomicfile.Replace(path, p.text, text); err != nil {
			return fmt.Errorf("write the manifest: %w", err)
		}
	}
	p.text = text
	return nil
}

// tidy removes the empty folders that were made for files that are no longer
// listed. It returns the folders that stay listed, because a listed file is in
// them.
func (p *Plan) tidy() []string {
	dirs := p.manifest.Directories
	left := map[string]bool{}
	for _, e := range p.during.Installed {
		if slices.ContainsFunc(p.manifest.Installed, e.sameSlot) || p.known(e) != nil {
			continue
		}
		for dir := filepath.Dir(p.path(e.Path)); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			left[dir] = true
		}
	}
	innermostFirst := slices.SortedFunc(maps.Keys(left), func(a, b string) int { return len(b) - len(a) })
	for _, dir := range innermostFirst {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && slices.Contains(dirs, p.stored(dir)) {
			_ = os.Remove(dir) // fails if it is not empty
		}
	}
	return slices.DeleteFunc(slices.Clone(dirs), func(d string) bool {
		return !slices.ContainsFunc(p.manifest.Installed, func(e Installed) bool {
			return strings.HasPrefix(p.path(e.Path), p.path(d)+string(filepath.Separator))
		})
	})
}
