package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// actCommand is a workflow command as act reads it.
type actCommand struct {
	Command, Arg string
	KVPairs      map[string]string
}

// act runs a workflow over the tree in host mode, and returns the commands that
// it read, and its log.
func (f *formats) act(t *testing.T, steps string) (commands []actCommand, log string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range formatTree() {
		f.write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	f.write(t, filepath.Join(dir, "action.yml"), f.repository(t, "action.yml"))
	f.write(t, filepath.Join(dir, "known.json"), f.file(t, filepath.Join(f.out, "known.json")))
	f.run(t, dir, 0, "git", "init", "-q")
	return f.actIn(t, dir, "exit 9", steps)
}

var setupGo = regexp.MustCompile(`uses: (actions/setup-go@\S+)`)

// actIn runs a workflow over a repository. The network is not asked for the
// action that installs Go: setup stands in its place.
func (f *formats) actIn(t *testing.T, dir, setup, steps string) (commands []actCommand, log string) {
	t.Helper()
	f.write(t, filepath.Join(dir, ".github/workflows/x.yml"), "on: push\njobs:\n  sql:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v6\n"+steps)
	stub := filepath.Join(t.TempDir(), "setup-go")
	f.write(t, filepath.Join(stub, "action.yml"), "name: stub\ndescription: stub\nruns: {using: composite, steps: [{run: "+setup+", shell: bash}]}\n")
	used := setupGo.FindStringSubmatch(f.repository(t, "action.yml"))
	if used == nil {
		t.Fatal("action.yml does not set Go up")
	}
	f.run(t, dir, 0, "git", "add", "-A")
	f.run(t, dir, 0, "git", "commit", "-q", "-m", "x")
	stdout, stderr, _ := f.try(t, dir, f.tool("act"), "push", "--json", "--workflows", ".github/workflows/x.yml", "--platform", "ubuntu-latest=-self-hosted", "--container-daemon-socket", "-",
		"--no-cache-server", "--action-offline-mode", "--local-repository", used[1]+"="+stub, "--action-cache-path", filepath.Join(f.out, "act"))
	log = stdout + stderr
	if !strings.Contains(log, `"jobResult"`) {
		t.Fatalf("act did not run the job: %s", log)
	}
	for line := range strings.Lines(log) {
		var c actCommand
		if json.Unmarshal([]byte(line), &c) == nil && c.Command != "" && c.Command != "set-output" {
			commands = append(commands, c)
		}
	}
	return commands, log
}

// actBuilds runs the action of the last commit as it is: it builds the ktx of its
// own checkout, without a network.
func (f *formats) actBuilds(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ktx")
	f.run(t, f.out, 0, "git", "clone", "-q", root, dir)
	f.write(t, filepath.Join(dir, "queries", "a.sql"), "SELECT 1;\nDROP TABLE t;\n")
	commands, log := f.actIn(t, dir, "exit 0", "      - uses: ./\n        with: {paths: queries/, dialect: postgres}\n")
	if diff := cmp.Diff([]string{"error queries/a.sql 2-2:1-12 ktx ddl_statement"}, readCommands(commands)); diff != "" {
		t.Errorf("%s\n%s", diff, log)
	}
}

func (f *formats) file(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// repository returns a file of the repository.
func (f *formats) repository(t *testing.T, name string) string {
	t.Helper()
	return f.file(t, filepath.Join("..", "..", "..", "..", filepath.FromSlash(name)))
}

// actCommands has the runner read the report back: the commands are those of the
// findings that count, and no text of the tree is one.
func (f *formats) actCommands(t *testing.T) {
	commands, log := f.act(t, "      - run: cat '"+f.report("github")+"'\n")
	if diff := cmp.Diff(f.wantCommands(), readCommands(commands)); diff != "" {
		t.Errorf("%s\n%s", diff, log)
	}
	// What is not escaped is read as a command.
	f.write(t, filepath.Join(f.out, "raw"), "::error file=x::y\n")
	if commands, _ := f.act(t, "      - run: cat '"+filepath.Join(f.out, "raw")+"'\n"); len(commands) != 1 {
		t.Errorf("act reads no commands: %v", commands)
	}
}

func (f *formats) wantCommands() (want []string) {
	for _, file := range f.files {
		for _, found := range f.counting(file) {
			level := map[string]string{"error": "error", "warning": "warning", "note": "notice"}[found.Severity]
			line := fmt.Sprint(level, " ", file.Path, " ", found.Line, "-", found.EndLine)
			if found.Line == found.EndLine {
				line += fmt.Sprint(":", found.Column, "-", max(found.Column, found.EndColumn-1))
			}
			want = append(want, line+" ktx "+found.Code)
		}
	}
	slices.Sort(want)
	return want
}

func readCommands(commands []actCommand) (got []string) {
	for _, c := range commands {
		line := fmt.Sprint(c.Command, " ", c.KVPairs["file"], " ", c.KVPairs["line"], "-", c.KVPairs["endLine"])
		if c.KVPairs["col"] != "" {
			line += fmt.Sprint(":", c.KVPairs["col"], "-", c.KVPairs["endColumn"])
		}
		got = append(got, line+" "+c.KVPairs["title"])
	}
	slices.Sort(got)
	return got
}

// actAction runs action.yml: with the report of the whole tree, with inputs that
// try to be more than they are, and with its exit code as an output.
func (f *formats) actAction(t *testing.T) {
	step := func(inputs map[string]string) string {
		text := "      - uses: ./\n        id: ktx\n        continue-on-error: true\n        with:\n          binary: " + strconv.Quote(f.tool("ktx")) + "\n"
		for _, name := range slices.Sorted(maps.Keys(inputs)) {
			text += "          " + name + ": " + strconv.Quote(inputs[name]) + "\n"
		}
		return text + "      - run: echo \"::warning title=code ${{ steps.ktx.outputs.exit-code }}::x\"\n"
	}
	code := func(n int) []string { return []string{fmt.Sprint("warning  - code ", n)} }
	commands, log := f.act(t, step(map[string]string{"dialect": "postgres", "args": "--no-cache\n--baseline=known.json"}))
	want := append(f.wantCommands(), code(3)...)
	slices.Sort(want)
	if diff := cmp.Diff(want, readCommands(commands)); diff != "" {
		t.Errorf("%s\n%s", diff, log)
	}
	commands, log = f.act(t, step(map[string]string{"dialect": "postgres", "paths": "clean.sql\n", "sarif-file": "out.sarif"})+
		"      - run: test -s out.sarif || echo '::error title=sarif::none'\n")
	if diff := cmp.Diff(code(0), readCommands(commands)); diff != "" {
		t.Errorf("%s\n%s", diff, log)
	}
	mark := filepath.Join(t.TempDir(), "mark")
	for _, hostile := range []string{"$(touch " + mark + ")", "`touch " + mark + "`", "'; touch " + mark + "; '", "\"; touch " + mark + "; \"", "x && touch " + mark} {
		for _, name := range []string{"paths", "dialect", "args", "format", "version", "sarif-file"} {
			if name == "version" || name == "sarif-file" && strings.Contains(hostile, "x && ") {
				continue // it is not looked at beside a binary; and a file of that name may be made
			}
			commands, log = f.act(t, step(map[string]string{"dialect": "postgres", "paths": "clean.sql", name: hostile}))
			if got := readCommands(commands); len(got) != 1 || got[0] == code(0)[0] && name != "sarif-file" {
				t.Errorf("%s %q: %q\n%s", name, hostile, got, log)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Fatalf("%s %q: it ran", name, hostile)
			}
		}
	}
}

// workflows returns the workflows that documents show, steps among them with a
// job around, by a file name.
func (f *formats) workflows(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"README.md", "docs/ci.md"} {
		open, block := "", ""
		for line := range strings.Lines(f.repository(t, name)) {
			mark, isMark := strings.CutPrefix(strings.TrimSpace(line), "```")
			switch {
			case isMark && open == "":
				open, block = mark+" ", ""
			case isMark:
				if kind, file, _ := strings.Cut(strings.TrimSpace(open), " "); kind == "yaml" && (file == "" || strings.HasPrefix(file, ".github/")) {
					all[fmt.Sprintf("%s-%d.yml", strings.ReplaceAll(name, "/", "-"), len(all))] = workflowOf(block)
				}
				open = ""
			case open != "":
				block += line
			}
		}
	}
	if len(all) < 3 {
		t.Fatalf("only %d workflows found", len(all))
	}
	return all
}

// workflowOf puts around a block what it leaves out.
func workflowOf(block string) string {
	if strings.HasPrefix(strings.TrimSpace(block), "- ") {
		indent := len(block) - len(strings.TrimLeft(block, " "))
		text := ""
		for line := range strings.Lines(block) {
			text += "      " + strings.TrimPrefix(line, strings.Repeat(" ", indent))
		}
		block = "jobs:\n  sql:\n    runs-on: ubuntu-latest\n    steps:\n" + text
	}
	if !strings.HasPrefix(block, "on:") && !strings.Contains(block, "\non:") {
		block = "on: push\n" + block
	}
	return block
}

func (f *formats) gitHubParser(t *testing.T) {
	dir := t.TempDir()
	faults := func(kind, text string) (all []string) {
		file := filepath.Join(dir, "x.yml")
		f.write(t, file, text)
		f.read(t, kind, file, &all)
		return all
	}
	if all := faults("action", f.repository(t, "action.yml")); len(all) > 0 {
		t.Errorf("action.yml: %q", all)
	}
	for name, text := range f.workflows(t) {
		if all := faults("workflow", text); len(all) > 0 {
			t.Errorf("%s: %q\n%s", name, all, text)
		}
	}
	if len(faults("action", "name: x\nruns: {}\n")) == 0 || len(faults("workflow", "on: push\njobs: {a: {}}\n")) == 0 {
		t.Error("the parser takes anything")
	}
}

// actionlint reads the workflows of the documents, with the action as one of
// their repository, so that its inputs are known.
func (f *formats) actionlint(t *testing.T) {
	dir := t.TempDir()
	f.run(t, dir, 0, "git", "init", "-q")
	f.write(t, filepath.Join(dir, "action.yml"), f.repository(t, "action.yml"))
	lint := func(name, text string, want int) {
		t.Helper()
		file := filepath.Join(dir, ".github", "workflows", name)
		f.write(t, file, strings.ReplaceAll(text, "ktxhq/ktx@main", "./"))
		stdout, stderr, code := f.try(t, dir, f.tool("actionlint"), "-shellcheck=", "-pyflakes=", file)
		if code != want {
			t.Errorf("%s: exit code %d, want %d: %s%s\n%s", name, code, want, stdout, stderr, text)
		}
	}
	for name, text := range f.workflows(t) {
		lint(name, text, 0)
	}
	var action struct{ Inputs map[string]any }
	if err := yaml.Unmarshal([]byte(f.repository(t, "action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	all := "- uses: ./\n  with:\n"
	for name := range action.Inputs {
		all += "    " + name + ": x\n"
	}
	lint("every-input.yml", workflowOf(all), 0)
	lint("no-input.yml", workflowOf(all+"    coffee: x\n"), 1)
}

// preCommit installs the hook of the last commit as pre-commit does, and runs
// it over the tree.
func (f *formats) preCommit(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f.write(t, filepath.Join(dir, "good.sql"), "-- ktx: dialect=postgres\nSELECT 1;\n")
	f.write(t, filepath.Join(dir, "bad.sql"), "-- ktx: dialect=postgres\nDROP TABLE t;\n")
	f.write(t, filepath.Join(dir, "x.txt"), "DROP TABLE t;\n")
	f.run(t, dir, 0, "git", "init", "-q")
	f.run(t, dir, 0, "git", "add", "-A")
	stdout, stderr, code := f.try(t, dir, f.tool("pre-commit"), "try-repo", root, "ktx-sql-check", "--ref", "HEAD", "--verbose", "--files", "good.sql", "bad.sql", "x.txt")
	if code != 1 || !strings.Contains(stdout, "bad.sql:2:1: ddl_statement") || !strings.Contains(stdout, "2 files, 2 statements: 1 refused") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}
