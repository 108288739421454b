package ktx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// commandLine is ktx as a user has it.
type commandLine struct {
	dir  string // of the binary
	tree map[string]*command
}

// newCommandLine builds ktx in the build that the tests run in.
func newCommandLine(t *testing.T) *commandLine {
	t.Helper()
	c := &commandLine{dir: t.TempDir(), tree: map[string]*command{}}
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", filepath.Join(c.dir, "ktx"), "./cmd/ktx")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build ktx: %v\n%s", err, out)
	}
	return c
}

// shell runs one line in a folder, with ktx on its path, and returns what it
// prints and its exit code.
func (c *commandLine) shell(t *testing.T, dir, line string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+c.dir+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(out), 0
}

// json runs a command that prints JSON and reads it into v.
func (c *commandLine) json(t *testing.T, line string, v any) {
	t.Helper()
	out, code := c.shell(t, t.TempDir(), line)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", line, code, out)
	}
	if err := json.Unmarshal([]byte(out), v); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

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
		for _, name := range []string{"README.md", "docs/ci.md", "docs/audit.md"} {
			c.examples(t, readDocument(t, name))
		}
	})
	t.Run("configurations are valid", func(t *testing.T) { c.configurations(t, all) })
	t.Run("client entries are those of the demo", func(t *testing.T) { c.clientEntries(t) })
	t.Run("rough edges are refused as told", func(t *testing.T) { c.roughEdges(t) })
	t.Run("generated parts", func(t *testing.T) {
		section(t, "docs/codes.md", "codes", c.codeTable(t))
		section(t, "docs/configuration.md", "keys", c.keyTable(t))
		section(t, "docs/mcp.md", "tools", toolTables(t))
		section(t, "docs/prove-it.md", "lines", lineTable(t, readDocument(t, "docs/prove-it.md").text))
		section(t, "ARCHITECTURE.md", "imports", importTable())
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
	d := parseDocument("docs/planted.md", strings.Join([]string{
		"# One heading, with `code`",
		"[here](ci.md) [nowhere](nowhere.md) [up](../README.md#two-commands) [up](../README.md#three-commands)",
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
		"links":    cmp.Diff([]string{"2 the link nowhere.md leads nowhere", "2 the link ../README.md#three-commands leads to no heading"}, lines(d.brokenLinks())),
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

// brokenLinks returns the links of a document to files and headings of the
// repository that are not there.
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

// unknownTargets returns the make targets that a document names and the
// Makefile does not have.
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

// code returns the pieces of code of a document: spans, and lines of blocks
// that are for a shell or a workflow.
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

// testCommandFault says what is wrong with a go test command that selects
// tests by name: a package or a test that is not there.
func testCommandFault(line string) string {
	words := shellWords(line)
	at := slices.Index(words, "-run")
	if len(words) < 2 || words[1] != "test" || at < 0 || at+1 >= len(words) {
		return ""
	}
	pattern, err := regexp.Compile(words[at+1])
	if err != nil {
		return err.Error()
	}
	for _, pkg := range words[2:at] {
		if strings.HasPrefix(pkg, "-") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*_test.go"))
		if err != nil || len(files) == 0 {
			return pkg + " has no tests"
		}
		found := false
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return err.Error()
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
				found = found || pattern.Match(m[1])
			}
		}
		if !found {
			return "no test of " + pkg + " has such a name"
		}
	}
	return ""
}

// code of the module: what is declared, and which files there are.
type sourceCode struct {
	names map[string]bool // Name, Type.Member, package.Name, package.Type.Member
	files map[string]bool // base names
}

func readCode(t *testing.T) sourceCode {
	t.Helper()
	code := sourceCode{names: map[string]bool{}, files: map[string]bool{}}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dir := range strings.FieldsSeq(string(out)) {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			code.files[filepath.Base(name)] = true
			code.declare(file)
		}
	}
	return code
}

func (c sourceCode) declare(file *ast.File) {
	pkg := strings.TrimSuffix(file.Name.Name, "_test")
	note := func(names ...string) {
		name := strings.Join(names, ".")
		c.names[name], c.names[pkg+"."+name] = true, true
	}
	members := func(owner string, fields *ast.FieldList) {
		for _, f := range fields.List {
			for _, id := range f.Names {
				note(owner, id.Name)
			}
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				note(decl.Name.Name)
				continue
			}
			owner := decl.Recv.List[0].Type
			if star, ok := owner.(*ast.StarExpr); ok {
				owner = star.X
			}
			if id, ok := owner.(*ast.Ident); ok {
				note(id.Name, decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						note(id.Name)
					}
				case *ast.TypeSpec:
					note(spec.Name.Name)
					switch body := spec.Type.(type) {
					case *ast.StructType:
						members(spec.Name.Name, body.Fields)
					case *ast.InterfaceType:
						members(spec.Name.Name, body.Methods)
					}
				}
			}
		}
	}
}

var (
	goName    = regexp.MustCompile(`^(?:[A-Za-z]\w*\.)+[A-Za-z]\w*$|^[A-Z]\w*[a-z]\w*$`)
	fileName  = regexp.MustCompile(`^[\w./*-]+\.(?:go|md|json|yaml|tsv|txtar)$|^[\w.*-]+/[\w./*-]*$`)
	localFile = []string{"ktx.yaml", "anchor.json", "copy.json"}
	notInCode = []string{"functions.allow", "guard.types"} // keys of ktx.yaml
)

// unknownNames returns the names of the code, and the files, that a document
// mentions and that are not there.
func (d document) unknownNames(code sourceCode) []span {
	var unknown []span
	for _, s := range d.spans {
		switch {
		case slices.Contains(localFile, s.text) || slices.Contains(notInCode, s.text):
		case fileName.MatchString(s.text):
			matches, err := filepath.Glob(filepath.FromSlash(strings.TrimSuffix(s.text, "/")))
			if (err != nil || len(matches) == 0) && !code.files[s.text] {
				unknown = append(unknown, span{s.text + " is no file", s.line})
			}
		case goName.MatchString(s.text) && !code.names[s.text]:
			unknown = append(unknown, span{s.text + " is not in the code", s.line})
		}
	}
	return unknown
}

// examples runs the blocks of a document that show a terminal, in one folder,
// and compares what is printed. A block with the name of a file makes it first.
func (c *commandLine) examples(t *testing.T, d document) {
	dir := t.TempDir()
	for _, f := range d.fences {
		name := f.file()
		if name == "" || name == "ktx.yaml" {
			continue
		}
		target := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, []byte(f.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	written, code := 0, 0
	for _, f := range d.fences {
		if f.info != "console" {
			continue
		}
		out.WriteString(d.text[written:f.start])
		for line := range strings.Lines(f.text) {
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			out.WriteString(line)
			if strings.TrimSpace(command) == "echo $?" {
				fmt.Fprintln(&out, code)
				continue
			}
			var printed string
			printed, code = c.shell(t, dir, command)
			out.WriteString(printed)
			if printed != "" && !strings.HasSuffix(printed, "\n") {
				out.WriteByte('\n')
			}
		}
		written = f.end
	}
	out.WriteString(d.text[written:])
	if out.String() == d.text {
		return
	}
	if !*update {
		t.Errorf("%s shows other output than ktx prints; run make golden (-document +ktx):\n%s", d.path, cmp.Diff(d.text, out.String()))
		return
	}
	if err := os.WriteFile(filepath.FromSlash(d.path), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// configurations validates the blocks that are a ktx.yaml.
func (c *commandLine) configurations(t *testing.T, all []document) {
	seen := 0
	for _, d := range all {
		for _, f := range d.fences {
			if f.file() != "ktx.yaml" {
				continue
			}
			seen++
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(f.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, code := c.shell(t, dir, "ktx config validate"); code != 0 || out != "ktx.yaml is valid\n" {
				t.Errorf("%s:%d: %s", d.path, f.line, out)
			}
		}
	}
	if seen == 0 {
		t.Error("no document shows a ktx.yaml")
	}
}

// clientEntries compares the entries for MCP clients with what the demo prints.
func (c *commandLine) clientEntries(t *testing.T) {
	var demo struct{ Client string }
	c.json(t, "ktx demo --json", &demo)
	for _, name := range []string{"README.md", "docs/mcp.md"} {
		d := readDocument(t, name)
		if !slices.ContainsFunc(d.fences, func(f fence) bool { return f.info == "json" && f.text == demo.Client+"\n" }) {
			t.Errorf("%s does not show the entry for MCP clients that ktx demo prints", name)
		}
	}
}
