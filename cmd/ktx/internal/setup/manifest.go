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

// ManifestVersion is the version of the manifest.
const ManifestVersion = 1

// maxManifest bounds a manifest, in bytes.
const maxManifest = 4 << 20

// ManifestPath is where the manifest of a project stands.
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

// Manifest lists what was written for a project. What it lists may not be there:
// it is written before the files are.
type Manifest struct {
	SchemaVersion int         `json:"schemaVersion"`
	Installed     []Installed `json:"installed"`
	// Directories are those that were made for the files.
	Directories []string `json:"directories,omitempty"`
}

// Installed is one entry or file.
type Installed struct {
	Target string   `json:"target"`
	Scope  Scope    `json:"scope"`
	Kind   Kind     `json:"kind"`
	Path   string   `json:"path"` // relative to the project where it lies in it
	Key    []string `json:"key,omitempty"`
	// SHA256 is that of the entry's value, in canonical JSON, or of the file.
	SHA256 string `json:"sha256"`
	// Created says that the settings file was made for the entry.
	Created bool         `json:"created,omitempty"`
	Change  *edit.Splice `json:"change,omitempty"` // of the settings file
}

// readManifest reads the manifest of a project, and its text. Without a file it
// is empty.
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
			return Manifest{}, nil, fmt.Errorf("read %s: ktx writes no such manifest (entry %d)", path, i+1)
		}
	}
	return m, text, nil
}

// encode writes m as it stands in the file: nothing where it lists nothing.
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

// at returns what is listed for a place, whoever it was installed for.
func (m Manifest) at(path string, key []string) []Installed {
	var out []Installed
	for _, e := range m.Installed {
		if e.Path == path && slices.Equal(e.Key, key) {
			out = append(out, e)
		}
	}
	return out
}

// with returns m with e in the place of what is listed for the same client,
// scope and place.
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

// without returns m without what is listed for the client, scope and place of e.
func (m Manifest) without(e Installed) Manifest {
	m.Installed = slices.DeleteFunc(slices.Clone(m.Installed), e.sameSlot)
	return m
}

// union returns m and what only other lists.
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

// sameSlot reports whether both are for the same client, scope and place.
func (e Installed) sameSlot(other Installed) bool {
	return e.Target == other.Target && e.Scope == other.Scope && e.Path == other.Path && slices.Equal(e.Key, other.Key)
}
