package sqlcheck

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

const baselineSchema = "ktx-baseline/1"

// Baseline is the set of findings that are accepted because they existed when
// the baseline was written. A finding is identified by its code and the
// fingerprint of its statement. So a statement may move within its file or be
// reformatted. If its file no longer exists, the statement may be in another
// file.
type Baseline struct {
	dir     string // the folder that the paths are relative to
	entries map[known]int
}

type known struct {
	code              sqlguard.Code
	fingerprint, path string
}

// baselineEntry is a finding in the baseline's file.
type baselineEntry struct {
	Code        sqlguard.Code `json:"code"`
	Fingerprint string        `json:"fingerprint"`
	Path        string        `json:"path"`
	Count       int           `json:"count"`
}

type baselineFile struct {
	Schema   string          `json:"schema"`
	Findings []baselineEntry `json:"findings"`
}

// NewBaseline returns an empty baseline for a file of that name.
func NewBaseline(name string) (*Baseline, error) {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("find the baseline: %w", err)
	}
	return &Baseline{dir: dir, entries: map[known]int{}}, nil
}

// ReadBaseline parses the content of the baseline file of that name.
func ReadBaseline(name string, content []byte) (*Baseline, error) {
	b, err := NewBaseline(name)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	var doc baselineFile
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("%s is not a baseline: %w", name, err)
	}
	if doc.Schema != baselineSchema {
		return nil, fmt.Errorf("%s is not a baseline: its schema is %q, not %s", name, doc.Schema, baselineSchema)
	}
	for _, e := range doc.Findings {
		if e.Count <= 0 || e.Code == "" || e.Fingerprint == "" || e.Path == "" {
			return nil, fmt.Errorf("%s is not a baseline: an entry lacks code, fingerprint, path or a count above 0", name)
		}
		b.entries[known{e.Code, e.Fingerprint, e.Path}] += e.Count
	}
	return b, nil
}

// relative returns the path of a report relative to the folder of the baseline.
func (b *Baseline) relative(path string) string {
	abs, err := filepath.Abs(filepath.FromSlash(path))
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(b.dir, abs)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// Apply marks the findings that the baseline contains. It returns how many
// findings of the baseline no longer exist. If partly is set, only parts of the
// files were judged, and Apply looks for a finding in its own file only.
func (b *Baseline) Apply(files []report.File, partly bool) (gone int) {
	left := maps.Clone(b.entries)
	checked := map[string]bool{}
	paths := make([]string, len(files))
	for i := range files {
		paths[i] = b.relative(files[i].Path)
		checked[paths[i]] = true
		each(&files[i], func(f *report.Finding) {
			if k := (known{f.Code, f.Fingerprint, paths[i]}); left[k] > 0 {
				left[k]--
				f.State = report.StateBaseline
			}
		})
	}
	if partly {
		return 0
	}
	moved := map[known]int{} // without a path: findings that are no longer where they were
	for k, n := range left {
		if n == 0 {
			continue
		}
		if _, err := os.Lstat(filepath.Join(b.dir, filepath.FromSlash(k.path))); err == nil && !checked[k.path] {
			continue // it may still exist in a part that was not judged
		}
		moved[known{k.code, k.fingerprint, ""}] += n
		gone += n
	}
	for i := range files {
		each(&files[i], func(f *report.Finding) {
			if k := (known{f.Code, f.Fingerprint, ""}); f.Counts() && moved[k] > 0 {
				moved[k]--
				gone--
				f.State = report.StateBaseline
			}
		})
	}
	return gone
}

// Update replaces the baseline of the given files by their current findings. It
// keeps the findings of other files as long as those files exist.
func (b *Baseline) Update(files []report.File) {
	checked := map[string]bool{}
	for i := range files {
		checked[b.relative(files[i].Path)] = true
	}
	for k := range b.entries {
		if _, err := os.Lstat(filepath.Join(b.dir, filepath.FromSlash(k.path))); checked[k.path] || err != nil {
			delete(b.entries, k)
		}
	}
	for i := range files {
		path := b.relative(files[i].Path)
		each(&files[i], func(f *report.Finding) {
			b.entries[known{f.Code, f.Fingerprint, path}]++
			f.State = report.StateBaseline
		})
	}
}

// each calls f with every finding about a statement, except suppressed ones.
func each(file *report.File, f func(*report.Finding)) {
	for i := range file.Findings {
		if found := &file.Findings[i]; found.Statement >= 0 && found.State != report.StateSuppressed {
			f(found)
		}
	}
}

// JSON returns the content of the baseline file.
func (b *Baseline) JSON() ([]byte, error) {
	doc := baselineFile{baselineSchema, []baselineEntry{}}
	for k, n := range b.entries {
		doc.Findings = append(doc.Findings, baselineEntry{k.code, k.fingerprint, k.path, n})
	}
	slices.SortFunc(doc.Findings, func(x, y baselineEntry) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Code, y.Code), cmp.Compare(x.Fingerprint, y.Fingerprint))
	})
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the baseline: %w", err)
	}
	return append(text, '\n'), nil
}
