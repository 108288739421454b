package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

// ManifestVersion is the version of the manifest's format.
const ManifestVersion = 1

// maxManifest is the most bytes of a manifest.
const maxManifest = 4 << 20

// ManifestPath returns the path of the manifest of a project.
func ManifestPath(project string) string {
	return filepath.Join(project, ".ktx", "agents", "install-manifest.json")
}

// Kind is what was installed.
type Kind string

// The kinds.
const (
	KindEntry Kind = "entry" // in the settings of a client
	KindSkill Kind = "skill" // a file of its own
)

// Manifest lists what was written for a project. It is written before the
// files, so what it lists may not exist.
type Manifest struct {
	SchemaVersion int         `json:"schemaVersion"`
	Installed     []Installed `json:"installed"`
	// Directories are the folders that were made for the files.
	Directories []string `json:"directories,omitempty"`
}

// Installed is one entry or file.
type Installed struct {
	Target string   `json:"target"`
	Scope  Scope    `json:"scope"`
	Kind   Kind     `json:"kind"`
	Path   string   `json:"path"` // relative to the project if it is inside of it
	Key    []string `json:"key,omitempty"`
	// SHA256 is the hash of the entry's value in canonical JSON, or of the
	// skill file.
	SHA256 string `json:"sha256"`
	// Created reports whether the settings file was created for the entry.
	Created bool         `json:"created,omitempty"`
	Change  *edit.Splice `json:"change,omitempty"` // of the settings file
}

// readManifest returns the manifest of a project and its text. It is empty if
// there is no file.
func readManifest(project string) (Manifest, []byte, error) {
	path := ManifestPath(project)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{SchemaVersion: ManifestVersion}, nil, nil
	}
	if err != nil {
		return Manifest{}, nil, fmt.Errorf("read the manifest: %w", err)
	}
	if info.Size() > maxManifest {
		return Manifest{}, nil, fmt.Errorf("read %s: it is larger than a manifest", path)
	}
	text, err := os.ReadFile(path) //nolint:gosec // the place of the manifest
	if err != nil {
		return Manifest{}, nil, fmt.Errorf("read the manifest: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return Manifest{}, nil, fmt.Errorf("read %s: %w", path, err)
	}
	if m.SchemaVersion != ManifestVersion {
		return Manifest{}, nil, fmt.Errorf("read %s: it is of version %d, and this ktx reads %d", path, m.SchemaVersion, ManifestVersion)
	}
	for i, e := range m.Installed {
		if e.Kind != KindEntry && e.Kind != KindSkill || e.Path == "" || e.Change != nil && e.Change.Replaced {
			return Manifest{}, nil, fmt.Errorf("read %s: entry %d is not one that ktx writes", path, i+1)
		}
	}
	return m, text, nil
}

// encode returns the content of the manifest file, or nil if the manifest is
// empty.
func (m Manifest) encode() ([]byte, error) {
	if len(m.Installed) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	return b.Bytes(), nil
}

// at returns the entries for a location, of all clients.
func (m Manifest) at(path string, key []string) []Installed {
	var out []Installed
	for _, e := range m.Installed {
		if e.Path == path && slices.Equal(e.Key, key) {
			out = append(out, e)
		}
	}
	return out
}

// with returns m with e instead of the entry for the same client, scope and
// location.
func (m Manifest) with(e Installed) Manifest {
	kept := slices.Clone(m.Installed)
	i := slices.IndexFunc(kept, e.sameSlot)
	kept = slices.DeleteFunc(kept, e.sameSlot)
	if i < 0 {
		i = len(kept)
	}
	m.Installed = slices.Insert(kept, min(i, len(kept)), e)
	return m
}

// without returns m without the entry for the client, scope and location of e.
func (m Manifest) without(e Installed) Manifest {
	m.Installed = slices.DeleteFunc(slices.Clone(m.Installed), e.sameSlot)
	return m
}

// union returns m with the additional entries of other.
func (m Manifest) union(other Manifest) Manifest {
	m.Installed, m.Directories = slices.Clone(m.Installed), slices.Clone(m.Directories)
	for _, e := range other.Installed {
		if !slices.ContainsFunc(m.Installed, func(have Installed) bool { return e.sameSlot(have) && e.SHA256 == have.SHA256 }) {
			m.Installed = append(m.Installed, e)
		}
	}
	for _, d := range other.Directories {
		if !slices.Contains(m.Directories, d) {
			m.Directories = append(m.Directories, d)
		}
	}
	return m
}

// sameSlot reports whether both entries have the same client, scope and
// location.
func (e Installed) sameSlot(other Installed) bool {
	return e.Target == other.Target && e.Scope == other.Scope && e.Path == other.Path && slices.Equal(e.Key, other.Key)
}
