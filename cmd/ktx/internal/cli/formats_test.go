package cli_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestFormats has the reports of the built program, the action and the hook
// read by tools that others wrote. scripts/test-formats installs them.
func TestFormats(t *testing.T) {
	tools := os.Getenv("KTX_TEST_FORMATS")
	if tools == "" {
		t.Skip("KTX_TEST_FORMATS is not set; make test-formats sets it")
	}
	f := &formats{tools: tools, tree: t.TempDir(), out: t.TempDir()}
	f.reports(t)
	t.Run("the schema of SARIF", f.sarifSchema)
	t.Run("SARIF Multitool validate", f.sarifMultitool)
	t.Run("SARIF Multitool match-results-forward", f.sarifMatches)
	t.Run("JUnit", f.junit)
	t.Run("Checkstyle", f.checkstyle)
	t.Run("GitLab", f.gitlab)
	t.Run("act reads the commands back", f.actCommands)
	t.Run("act runs the action", f.actAction)
	t.Run("act builds the action's own ktx", f.actBuilds)
	t.Run("GitHub's parser", f.gitHubParser)
	t.Run("actionlint", f.actionlint)
	t.Run("pre-commit try-repo", f.preCommit)
	t.Run("OpenAPI", f.openAPI)
}

// openAPI has the description of the REST API read by a validator, and used by a client
// that is generated from it.
func (f *formats) openAPI(t *testing.T) {
	dir := shop(t)
	t.Setenv("KTX_MCP_TOKEN", "token-of-the-test")
	origin := strings.TrimSuffix(serverOf(t, dir).URL, "/mcp")
	out, err := exec.CommandContext(t.Context(), "node", filepath.Join(f.tools, "openapi.mjs"), origin, "token-of-the-test").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// formats is a tree, and what ktx reports of it.
type formats struct {
	tools, tree, out string
	files            []reportedFile
}

type reportedFile struct {
	Path       string
	Statements []struct{}
	Findings   []reportedFinding
}

type reportedFinding struct {
	Code, Message, Severity, State   string
	Line, Column, EndLine, EndColumn int
}

// oddName is a name that a reader of some format may act upon. act drops a
// property with an equals sign in it, and takes back escapes of escapes.
const oddName = "odd ::error file,line::%20[x](y)<b>&'\"#é😀?.sql"

// formatTree has findings of each severity, permitted ones and known ones,
// files that cannot be checked, and every way to write lines and characters.
func formatTree() map[string]string {
	until := time.Now().AddDate(0, 0, 30).Format(time.DateOnly)
	return map[string]string{
		"clean.sql":         "SELECT id, total FROM orders WHERE id = 7;\n",
		"crlf.sql":          "\ufeffSELECT '😀', pg_sleep(1);\r\n\tDELETE FROM \"täble\"\r\nWHERE id = 1;\r\n",
		"no-newline.sql":    "SELECT 1;\nDROP TABLE t",
		"warning.sql":       "-- ktx:allow write_statement until=" + until + " reason=\"nothing\"\nSELECT 1;\n",
		"permitted.sql":     "-- ktx:allow write_statement until=" + until + " reason=\"[x](y) {0} ::error::<b>\"\nDELETE FROM t;\n",
		"old/known.sql":     "UPDATE t SET a = 1;\n",
		"commands.sql":      "SELECT \":::error file=x::y\"(1), \"\n::set-output name=a::b\"(2), \"%0A::stop-commands::x\"(3), \"]]></failure>\"(4), \"{0} [a](b) \\\"(5);\n",
		"broken.sql":        "SELECT FROM WHERE ::warning::;\n",
		"bytes.sql":         "SELECT '\xff';\n",
		"src/note.go":       "package p\n\nfunc f() {\n\tx.Query(\"SELECT * FROM \" + table)\n\tdb.ExecContext(ctx, `DELETE\n\tFROM t`)\n}\n",
		"src/broken.py":     "x = 'no end\n",
		oddName:             "TRUNCATE t;\n",
		"a b/ü/white s.sql": "DROP VIEW v;\n",
	}
}

// reports makes the tree and its reports.
func (f *formats) reports(t *testing.T) {
	t.Helper()
	for name, text := range formatTree() {
		f.write(t, filepath.Join(f.tree, filepath.FromSlash(name)), text)
	}
	known := filepath.Join(f.out, "known.json")
	f.run(t, f.tree, 0, f.tool("ktx"), "sql", "check", "--dialect=postgres", "--no-cache", "--baseline="+known, "--update-baseline", "old")
	arguments := []string{"sql", "check", "--dialect=postgres", "--no-cache", "--baseline=" + known, "--format=json"}
	for _, format := range []string{"sarif", "junit", "checkstyle", "gitlab", "github"} {
		arguments = append(arguments, "--output="+format+"="+f.report(format))
	}
	var all struct{ Files []reportedFile }
	stdout := f.run(t, f.tree, 3, f.tool("ktx"), append(arguments, ".")...)
	if err := json.Unmarshal([]byte(stdout), &all); err != nil {
		t.Fatal(err)
	}
	f.files = all.Files
	kinds := map[string]int{}
	for _, file := range f.files {
		for _, found := range file.Findings {
			kinds[found.Severity+found.State]++
		}
	}
	for _, kind := range []string{"error", "warning", "note", "errorsuppressed", "errorbaseline"} {
		if kinds[kind] == 0 {
			t.Errorf("the tree has no finding that is %s: %v", kind, kinds)
		}
	}
	if len(f.files) != len(formatTree()) {
		t.Errorf("%d files are reported of %d", len(f.files), len(formatTree()))
	}
}

// counting are the findings that count.
func (f *formats) counting(file reportedFile) []reportedFinding {
	return slices.DeleteFunc(slices.Clone(file.Findings), func(r reportedFinding) bool { return r.State != "" })
}

func (f *formats) tool(name string) string     { return filepath.Join(f.tools, name) }
func (f *formats) report(format string) string { return filepath.Join(f.out, "report."+format) }

func (f *formats) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs a program in a folder and wants its exit code. It returns what the
// program prints.
func (f *formats) run(t *testing.T, dir string, want int, name string, args ...string) string {
	t.Helper()
	stdout, stderr, code := f.try(t, dir, name, args...)
	if code != want {
		t.Fatalf("%s %q: exit code %d, want %d\n%s%s", name, args, code, want, stdout, stderr)
	}
	return stdout
}

func (f *formats) try(t *testing.T, dir, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &errs
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(f.tools, "cache"), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1",
		"PRE_COMMIT_HOME="+filepath.Join(f.out, "pre-commit"), "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	// What the hook and the action build finds what other builds have left, wherever
	// it lies, and asks no network for anything.
	c.Env = append(c.Env, "GOFLAGS=-trimpath", "GOPROXY=off", "GOTOOLCHAIN=local", "GOMODCACHE="+os.Getenv("KTX_TEST_GOMODCACHE"), "GOCACHE="+os.Getenv("KTX_TEST_GOCACHE"))
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out.String(), errs.String(), 0
}

// sarifSchema validates the log, formats of strings included.
func (f *formats) sarifSchema(t *testing.T) {
	schema := f.schema(t, f.tool("node_modules/@microsoft/sarif-multitool-linux/sarif-2.1.0.json"))
	log := f.decode(t, f.report("sarif"))
	if err := schema.Validate(log); err != nil {
		t.Error(err)
	}
	if schema.Validate(map[string]any{"version": "2.1.0", "runs": []any{map[string]any{}}}) == nil {
		t.Error("the schema takes a run without a tool")
	}
}

func (f *formats) schema(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func (f *formats) decode(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sarifLog is what the tests read of a log.
type sarifLog struct {
	Runs []struct {
		Results []struct {
			RuleID, Level, BaselineState string
			Message                      struct {
				Text, ID  string
				Arguments []string
			}
			Locations []struct {
				PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
			}
		}
		Invocations []struct {
			ExecutionSuccessful        bool
			ToolExecutionNotifications []struct{ Level string }
		}
	}
}

// validate asks the Multitool, with the rules of the standard and of GitHub, and
// returns how many results have each level and rule. It ends with 0 on errors,
// too.
func (f *formats) validate(t *testing.T, log string) map[string]int {
	t.Helper()
	out := filepath.Join(t.TempDir(), "validation.sarif")
	f.run(t, f.out, 0, f.multitool(), "validate", log, "--rule-kind", "Sarif;Ghas", "--output", out, "--log", "ForceOverwrite")
	v := f.sarif(t, out)
	if len(v.Runs) != 1 || len(v.Runs[0].Invocations) != 1 || !v.Runs[0].Invocations[0].ExecutionSuccessful {
		t.Fatalf("the validation itself went wrong: %+v", v)
	}
	counts := map[string]int{}
	for _, r := range v.Runs[0].Results {
		if r.Level == "" {
			r.Level = "warning"
		}
		t.Logf("%s %s %s %q", r.Level, r.RuleID, r.Message.ID, r.Message.Arguments)
		counts[r.Level+" "+r.RuleID]++
	}
	return counts
}

func (f *formats) multitool() string {
	return f.tool("node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool")
}

func (f *formats) sarif(t *testing.T, file string) sarifLog {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &log); err != nil {
		t.Fatal(err)
	}
	return log
}

func (f *formats) sarifMultitool(t *testing.T) {
	counts := f.validate(t, f.report("sarif"))
	delete(counts, "warning SARIF2005") // a build of the tree has no number
	if len(counts) > 0 {
		t.Errorf("%v", counts)
	}
	bad := filepath.Join(t.TempDir(), "bad.sarif")
	f.write(t, bad, strings.Replace(f.text(t, "sarif"), `"startLine": 2`, `"startLine": 0`, 1))
	counts = f.validate(t, bad)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(counts)), func(k string) bool { return strings.HasPrefix(k, "error ") }) {
		t.Errorf("line 0 is no error: %v", counts)
	}
}

func (f *formats) text(t *testing.T, format string) string {
	t.Helper()
	text, err := os.ReadFile(f.report(format))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sarifMatches moves statements and changes others: what the Multitool takes
// for new, gone and unchanged is what our fingerprints say.
func (f *formats) sarifMatches(t *testing.T) {
	dir := t.TempDir()
	states := func(name, text string) map[string]int {
		f.write(t, filepath.Join(dir, "a.sql"), text)
		log := filepath.Join(dir, name+".sarif")
		f.run(t, dir, 1, f.tool("ktx"), "sql", "check", "--dialect=postgres", "--no-cache", "--format=compact", "--output=sarif="+log, "a.sql")
		matched := filepath.Join(dir, name+"-matched.sarif")
		args := []string{"match-results-forward", log, "--output-file-path", matched, "--log", "ForceOverwrite"}
		if name != "first" {
			args = append(args, "--previous", filepath.Join(dir, "first-matched.sarif"))
		}
		f.run(t, dir, 0, f.multitool(), args...)
		got := map[string]int{}
		for _, r := range f.sarif(t, matched).Runs[0].Results {
			got[r.BaselineState+" "+r.RuleID]++
		}
		return got
	}
	states("first", "DELETE FROM t WHERE id = 1;\nDROP TABLE u;\nSELECT 1;\n")
	got := states("second", "SELECT 1;\n\nSELECT 2;\n\nDELETE\n  FROM t\n  WHERE id = 1;\nSELECT pg_sleep(1);\n")
	same := got["unchanged write_statement"] + got["updated write_statement"]
	if same != 1 || got["absent ddl_statement"] != 1 || got["new function_sleep"] != 1 || got["new write_statement"] != 0 {
		t.Errorf("%v", got)
	}
}

// junit compares what a reader of JUnit finds with the findings.
func (f *formats) junit(t *testing.T) {
	type result struct{ Message, Type, Inner string }
	type test struct {
		Failure, Error, Skipped []result
	}
	var all struct {
		Tests, Failures, Errors, Skipped int
		Testsuite                        []struct {
			Name     string
			Testcase []test
		}
	}
	f.read(t, "junit", f.report("junit"), &all)
	got, want := map[string][4]int{}, map[string][4]int{}
	for _, s := range all.Testsuite {
		var n [4]int
		for _, c := range s.Testcase {
			n[0]++
			n[1] += len(c.Failure)
			n[2] += len(c.Error)
			n[3] += len(c.Skipped)
		}
		got[s.Name] = n
	}
	var sum [4]int
	for _, file := range f.files {
		n := [4]int{max(len(file.Findings), 1)}
		for _, found := range file.Findings {
			switch {
			case found.State != "":
				n[3]++
			case found.Code == "not_checked":
				n[2]++
			case found.Severity == "error":
				n[1]++
			}
		}
		want[file.Path] = n
		for i := range sum {
			sum[i] += n[i]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(sum, [4]int{all.Tests, all.Failures, all.Errors, all.Skipped}); diff != "" {
		t.Error(diff)
	}
}

// read has a file read by a parser of tools/formats.
func (f *formats) read(t *testing.T, kind, file string, into any) {
	t.Helper()
	stdout := f.run(t, f.tools, 0, "node", "read.mjs", kind, file)
	if err := json.Unmarshal([]byte(stdout), into); err != nil {
		t.Fatalf("%s: %v", stdout, err)
	}
}

func (f *formats) checkstyle(t *testing.T) {
	var all struct {
		File []struct {
			Name  string `xml:"name,attr"`
			Error []struct {
				Line     int    `xml:"line,attr"`
				Column   int    `xml:"column,attr"`
				Severity string `xml:"severity,attr"`
				Source   string `xml:"source,attr"`
			} `xml:"error"`
		} `xml:"file"`
	}
	if err := xml.Unmarshal([]byte(f.text(t, "checkstyle")), &all); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range all.File {
		for _, e := range file.Error {
			got = append(got, fmt.Sprint(file.Name, e.Line, " ", e.Column, e.Severity, e.Source))
		}
	}
	var want []string
	for _, file := range f.files {
		for _, found := range f.counting(file) {
			severity := map[string]string{"error": "error", "warning": "warning", "note": "info"}[found.Severity]
			want = append(want, fmt.Sprint(file.Path, found.Line, " ", found.Column, severity, "ktx."+found.Code))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// gitlab holds the report to what GitLab documents of it: the members that an
// issue must have, their types and words, fingerprints that are unique, and
// paths from the root of the repository.
func (f *formats) gitlab(t *testing.T) {
	const rules = `{"type": "array", "items": {
		"type": "object", "required": ["description", "check_name", "fingerprint", "severity", "location"],
		"properties": {
			"description": {"type": "string", "minLength": 1}, "check_name": {"type": "string", "minLength": 1},
			"fingerprint": {"type": "string", "minLength": 1},
			"severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
			"location": {"type": "object", "required": ["path"], "properties": {
				"path": {"type": "string", "pattern": "^[^/.]"},
				"lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
				"positions": {"type": "object", "required": ["begin"], "properties": {
					"begin": {"type": "object", "required": ["line"], "properties": {"line": {"type": "integer", "minimum": 1}}}}}
			}, "oneOf": [{"required": ["lines"]}, {"required": ["positions"]}]}
		}}}`
	file := filepath.Join(t.TempDir(), "gitlab.json")
	f.write(t, file, rules)
	schema := f.schema(t, file)
	if err := schema.Validate(f.decode(t, f.report("gitlab"))); err != nil {
		t.Error(err)
	}
	var issues []struct {
		Fingerprint string
		Location    struct{ Path string }
	}
	if err := json.Unmarshal([]byte(f.text(t, "gitlab")), &issues); err != nil {
		t.Fatal(err)
	}
	seen, want := map[string]bool{}, 0
	for _, issue := range issues {
		if seen[issue.Fingerprint] {
			t.Errorf("two issues have the fingerprint %s", issue.Fingerprint)
		}
		seen[issue.Fingerprint] = true
		if _, err := os.Stat(filepath.Join(f.tree, issue.Location.Path)); errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is no file", issue.Location.Path)
		}
	}
	for _, file := range f.files {
		want += len(f.counting(file))
	}
	if len(issues) != want {
		t.Errorf("%d issues, %d findings count", len(issues), want)
	}
}
