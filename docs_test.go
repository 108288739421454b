package ktx_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocuments(t *testing.T) {
	c := newCommandLine(t)
	all := documents(t)
	t.Run("links lead somewhere", func(t *testing.T) {
		for _, d := range all {
			report(t, d, d.brokenLinks())
		}
	})
	t.Run("commands exist", func(t *testing.T) {
		for _, d := range all {
			for _, s := range d.commands("ktx") {
				if fault := c.fault(t, s.text); fault != "" {
					t.Errorf("%s:%d: %s: %s", d.path, s.line, s.text, fault)
				}
			}
		}
	})
	t.Run("make targets exist", func(t *testing.T) {
		targets := makeTargets(t)
		for _, d := range all {
			report(t, d, d.unknownTargets(targets))
		}
	})
	t.Run("named tests exist", func(t *testing.T) {
		for _, d := range all {
			for _, s := range d.commands("go") {
				if fault := testCommandFault(s.text); fault != "" {
					t.Errorf("%s:%d: %s: %s", d.path, s.line, s.text, fault)
				}
			}
		}
	})
	t.Run("names of the code exist", func(t *testing.T) {
		code := readCode(t)
		for _, name := range []string{"ARCHITECTURE.md", "docs/prove-it.md"} {
			d := readDocument(t, name)
			report(t, d, d.unknownNames(code))
		}
	})
	t.Run("examples are what ktx prints", func(t *testing.T) {
		for _, d := range all {
			if d.path == "README.md" || strings.HasPrefix(d.path, "docs/") {
				c.examples(t, d)
			}
		}
	})
	t.Run("configurations are valid", func(t *testing.T) { c.configurations(t, all) })
	t.Run("client entries equal those of ktx demo", func(t *testing.T) { c.clientEntries(t) })
	t.Run("rough edges are refused with the code on the page", func(t *testing.T) { c.roughEdges(t) })
	t.Run("generated parts", func(t *testing.T) {
		section(t, "docs/evidence/codes.md", "codes", c.codeTable(t))
		section(t, "docs/evidence/codes.md", "pages", c.codePages(t))
		section(t, "docs/evidence/configuration-keys.md", "keys", c.keyTable(t))
		section(t, "docs/evidence/tools.md", "tools", toolTables(t))
		section(t, "ARCHITECTURE.md", "imports", importTable())
		section(t, "ARCHITECTURE.md", "sizes", sizeTable(t, readDocument(t, "ARCHITECTURE.md").text))
	})
	t.Run("the checks find faults", func(t *testing.T) { checksFind(t, c) })
}

func report(t *testing.T, d document, faults []span) {
	t.Helper()
	for _, f := range faults {
		t.Errorf("%s:%d: %s", d.path, f.line, f.text)
	}
}

// checksFind plants one fault for each check of the documents.
func checksFind(t *testing.T, c *commandLine) {
	t.Helper()
	d := parseDocument("docs/planted.md", strings.Join([]string{
		"# One heading, with `code`",
		"[here](ci.md) [nowhere](nowhere.md) [up](../README.md#ktx) [up](../README.md#kty)",
		"`make demo` and `make coffee`; `ktx audit verify --anchor x` and `ktx audit varify`",
		"`Guard.Check` and `Guard.Chuck`, `sqlguard/guard.go` and `sqlguard/gaurd.go`, `TestDocuments` and `TestDocument`",
		"`go test ./corpus -run Lint` and `go test ./corpus -run NoSuchTest`",
		"```sh", "ktx sql check --dialect postgres x.sql | ktx nothing # ktx", "make nothing", "```", "",
	}, "\n"))
	lines := func(faults []span) (all []string) {
		for _, f := range faults {
			all = append(all, fmt.Sprint(f.line, " ", f.text))
		}
		return all
	}
	var commands []string
	for _, s := range append(d.commands("ktx"), span{"ktx sql check --dialct postgres", 0}, span{"ktx sql --max-rows 5 'SELECT 1'", 0}, span{"ktx explain CODE", 0}, span{"ktx version now", 0}) {
		if c.fault(t, s.text) != "" {
			commands = append(commands, s.text)
		}
	}
	var tests []string
	for _, s := range d.commands("go") {
		if testCommandFault(s.text) != "" {
			tests = append(tests, s.text)
		}
	}
	for what, diff := range map[string]string{
		"slugs":    cmp.Diff([]string{"one-heading-with-code"}, d.slugs),
		"links":    cmp.Diff([]string{"2 the link nowhere.md leads nowhere", "2 the link ../README.md#kty leads to no heading"}, lines(d.brokenLinks())),
		"targets":  cmp.Diff([]string{"3 make coffee: no such target", "8 make nothing: no such target"}, lines(d.unknownTargets(makeTargets(t)))),
		"names":    cmp.Diff([]string{"4 Guard.Chuck is not in the code", "4 sqlguard/gaurd.go is no file", "4 TestDocument is not in the code"}, lines(d.unknownNames(readCode(t)))),
		"commands": cmp.Diff([]string{"ktx audit varify", "ktx nothing", "ktx sql check --dialct postgres", "ktx version now"}, commands),
		"tests":    cmp.Diff([]string{"go test ./corpus -run NoSuchTest"}, tests),
	} {
		if diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// brokenLinks returns the links of a document to files and headings that do not exist
// in the repository.
func (d document) brokenLinks() []span {
	var broken []span
	for _, l := range d.links {
		if strings.Contains(l.text, "://") || strings.HasPrefix(l.text, "mailto:") {
			continue
		}
		target, fragment, _ := strings.Cut(l.text, "#")
		file := d.path
		if target != "" {
			file = path.Join(path.Dir(d.path), target)
		}
		text, err := os.ReadFile(filepath.FromSlash(file))
		info, statErr := os.Stat(filepath.FromSlash(file))
		switch {
		case statErr == nil && info.IsDir() && fragment == "":
		case target != "" && err != nil:
			broken = append(broken, span{"the link " + l.text + " leads nowhere", l.line})
		case fragment != "":
			slugs := d.slugs
			if target != "" {
				slugs = parseDocument(file, string(text)).slugs
			}
			if !slices.Contains(slugs, fragment) {
				broken = append(broken, span{"the link " + l.text + " leads to no heading", l.line})
			}
		}
	}
	return broken
}

var makeCommand = regexp.MustCompile(`(?:^|[\s=])make ([a-z][a-z-]*)`)

// unknownTargets returns the make targets in a document that the Makefile does not
// have.
func (d document) unknownTargets(targets []string) []span {
	var unknown []span
	for _, s := range d.code() {
		line, _, _ := strings.Cut(s.text, "#")
		for _, m := range makeCommand.FindAllStringSubmatch(line, -1) {
			if !slices.Contains(targets, m[1]) {
				unknown = append(unknown, span{"make " + m[1] + ": no such target", s.line})
			}
		}
	}
	return unknown
}

func makeTargets(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):`).FindAllSubmatch(text, -1) {
		targets = append(targets, string(m[1]))
	}
	return targets
}

// code returns the code in a document: the spans, and the lines of blocks for a shell
// or a workflow.
func (d document) code() []span {
	all := slices.Clone(d.spans)
	for _, f := range d.fences {
		language, _, _ := strings.Cut(f.info, " ")
		if !slices.Contains([]string{"", "sh", "console", "yaml"}, language) {
			continue
		}
		number := f.line
		for line := range strings.Lines(f.text) {
			line = strings.TrimSpace(line)
			if prompt, ok := strings.CutPrefix(line, "$ "); ok || language != "console" {
				line = strings.TrimPrefix(prompt, "- ")
				all = append(all, span{strings.TrimPrefix(line, "run: "), number})
			}
			number++
		}
	}
	return all
}
