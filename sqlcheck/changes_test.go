package sqlcheck_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck"
)

// repo is a git repository for a test.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	r := &repo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

// git runs a git command in the repository, without the user's configuration.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "x")
}

// found checks inputs and returns "path:line code" of every finding, and of
// each file without one "path: n judged".
func (r *repo) found(inputs []sqlcheck.Input) []string {
	r.t.Helper()
	c := sqlcheck.Checker{Choose: with(r.t, "sqlite"), Today: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
	files, err := c.Run(r.t.Context(), inputs)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		name, err := filepath.Rel(r.dir, filepath.FromSlash(f.Path))
		if err != nil {
			r.t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		if len(f.Findings) == 0 {
			out = append(out, fmt.Sprintf("%s: %d judged", name, f.Judged))
		}
		for _, found := range f.Findings {
			state := ""
			if found.State != "" {
				state = " " + string(found.State)
			}
			out = append(out, fmt.Sprintf("%s:%d %s%s", name, found.Line, found.Code, state))
		}
	}
	return out
}

func (r *repo) since(revision string, args ...string) []string {
	r.t.Helper()
	if len(args) == 0 {
		args = []string{r.dir}
	}
	inputs, err := sqlcheck.Find(args, "stdin")
	if err != nil {
		r.t.Fatal(err)
	}
	if inputs, err = sqlcheck.Since(r.t.Context(), r.dir, revision, args, inputs); err != nil {
		r.t.Fatal(err)
	}
	return r.found(inputs)
}

func (r *repo) staged() []string {
	r.t.Helper()
	inputs, err := sqlcheck.Staged(r.t.Context(), r.dir, []string{r.dir})
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range inputs {
		inputs[i].Path = filepath.Join(r.dir, inputs[i].Path)
		if inputs[i].Was != "" {
			inputs[i].Was = filepath.Join(r.dir, inputs[i].Was)
		}
	}
	return r.found(inputs)
}

// TestTouchedStatements: in a changed file, exactly the statements that the
// change touches are judged.
func TestTouchedStatements(t *testing.T) {
	t.Parallel()
	const drops = "DROP TABLE a;\nDROP TABLE b;\nDROP TABLE c;\n"
	const permit = "-- ktx:allow ddl_statement until=2027-01-31 reason=\"x\"\n"
	for _, test := range []struct {
		name, before, after string
		want                []string
	}{
		{"nothing", drops, drops, nil},
		{"one changed", drops, strings.Replace(drops, "b;", "bb;", 1), []string{"q.sql:2 ddl_statement"}},
		{"one added", drops, "DROP TABLE z;\n" + drops, []string{"q.sql:1 ddl_statement"}},
		{"one added at the end", drops, drops + "DROP TABLE z", []string{"q.sql:4 ddl_statement"}},
		{"one removed", drops, strings.Replace(drops, "DROP TABLE b;\n", "", 1), []string{"q.sql: 0 judged"}},
		{"added twice", drops, drops + "DROP TABLE a;\n", []string{"q.sql:4 ddl_statement"}},
		{"moved", drops, "DROP TABLE c;\nDROP TABLE a;\nDROP TABLE b;\n", []string{"q.sql:1 ddl_statement"}},
		{"another on its line", drops, strings.Replace(drops, "b;", "b; SELECT 1;", 1), []string{"q.sql:2 ddl_statement"}},
		{"its first line gone", "SELECT 1\nUNION\nDELETE FROM t;", "DELETE FROM t;", []string{"q.sql:1 write_statement"}},
		{"its last line gone", "DELETE FROM t\nWHERE a = 1;", "DELETE FROM t;", []string{"q.sql:1 write_statement"}},
		{"a line in it gone", "DELETE\nFROM t\n-- why\nWHERE a = 1;", "DELETE\nFROM t\nWHERE a = 1;", []string{"q.sql:1 write_statement"}},
		{"a terminator gone", "SELECT 1;\nDROP TABLE t", "SELECT 1\nDROP TABLE t", []string{"q.sql:2 parse_error"}},
		{"a comment elsewhere", drops, "-- all of them\n" + drops, []string{"q.sql: 0 judged"}},
		{"line ends", drops, strings.ReplaceAll(drops, "\n", "\r\n"), []string{"q.sql: 0 judged"}},
		{"line ends and one changed", drops, strings.ReplaceAll(strings.Replace(drops, "b;", "bb;", 1), "\n", "\r\n"), []string{"q.sql:2 ddl_statement"}},
		{"a mark of encoding", drops, "\ufeff" + drops, []string{"q.sql: 0 judged"}},
		{"a suppression gone", permit + drops, drops, []string{"q.sql:1 ddl_statement"}},
		{"a suppression new", drops, permit + drops, []string{"q.sql:2 ddl_statement suppressed"}},
		{"a suppression on another", permit + drops, permit + strings.Replace(drops, "c;", "cc;", 1), []string{"q.sql:4 ddl_statement"}},
		{"a suppression taken away", permit + drops, permit + "SELECT 1;\n" + drops, []string{"q.sql:1 suppression_unused", "q.sql:3 ddl_statement"}},
		{"a suppression taken over", permit + drops, permit + "DROP TABLE z;\n" + drops, []string{"q.sql:2 ddl_statement suppressed", "q.sql:3 ddl_statement"}},
		{"a suppression behind taken away", "DROP TABLE a; " + permit, "DROP TABLE a; SELECT 1; " + permit, []string{"q.sql:1 ddl_statement", "q.sql:1 suppression_unused"}},
		{"a suppression behind the next line", "DROP TABLE a; " + permit, "DROP TABLE a;\n" + permit, []string{"q.sql:1 ddl_statement"}},
		{"a suppression changed", permit + drops, strings.Replace(permit, `"x"`, `"y"`, 1) + drops, []string{"q.sql:2 ddl_statement suppressed"}},
		{"one of two alike loses it", permit + "DROP TABLE a;\nDROP TABLE a;\n", "DROP TABLE a;\nDROP TABLE a;\n", []string{"q.sql:2 ddl_statement"}},
		{"line ends of old", drops, strings.ReplaceAll(drops, "\n", "\r"), []string{"q.sql: 0 judged"}},
		{"a comment's end", "-- x\rDROP TABLE t;\nSELECT 1", "-- x\nDROP TABLE t;\nSELECT 1", []string{"q.sql:2 ddl_statement"}},
		{"not SQL before", "\xff\xfe", drops, []string{"q.sql:1 ddl_statement", "q.sql:2 ddl_statement", "q.sql:3 ddl_statement"}},
		{"not SQL any more", drops, "\xff\xfe", []string{"q.sql:1 not_checked"}},
		{"nothing before", "", drops, []string{"q.sql:1 ddl_statement", "q.sql:2 ddl_statement", "q.sql:3 ddl_statement"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.write("q.sql", test.before)
			r.write("other.sql", "DROP TABLE other")
			r.commit()
			r.write("q.sql", test.after)
			if diff := cmp.Diff(test.want, r.since("HEAD")); diff != "" {
				t.Errorf("since: %s", diff)
			}
			if got := r.staged(); got != nil {
				t.Errorf("staged before git add: %v", got)
			}
			r.git("add", "q.sql")
			r.write("q.sql", "ATTACH 'x' AS y")
			if diff := cmp.Diff(test.want, r.staged()); diff != "" {
				t.Errorf("staged: %s", diff)
			}
		})
	}
}

// TestTouchedTexts is the same for SQL in another language.
func TestTouchedTexts(t *testing.T) {
	t.Parallel()
	const permit = "# ktx:allow ddl_statement until=2027-01-31 reason=\"x\"\n"
	const a, b = "cur.executemany('DROP TABLE a')\n", "cur.executemany(\n  'DROP TABLE b')\n"
	for _, test := range []struct {
		name, before, after string
		want                []string
	}{
		{"nothing", a + b, a + b, nil},
		{"one changed", a + b, a + strings.Replace(b, "TABLE", "VIEW", 1), []string{"q.py:3 ddl_statement"}},
		{"a text defined elsewhere", "Q = 'SELECT 1'\n\ncur.execute(Q)\n", "Q = 'DROP TABLE x'\n\ncur.execute(Q)\n", []string{"q.py:1 ddl_statement"}},
		{"a suppression gone", permit + a + b, a + b, []string{"q.py:1 ddl_statement"}},
		{"a suppression taken away", permit + a + b, permit + "cur.executemany('SELECT 1')\n" + a + b, []string{"q.py:1 suppression_unused", "q.py:3 ddl_statement"}},
		{"before a call of several lines", a + b, a + permit + b, []string{"q.py:4 ddl_statement suppressed"}},
	} {
		r := newRepo(t)
		r.write("q.py", test.before)
		r.commit()
		r.write("q.py", test.after)
		if diff := cmp.Diff(test.want, r.since("HEAD")); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestChangedFiles(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if got := r.staged(); got != nil {
		t.Errorf("an empty repository: %v", got)
	}
	r.write("a.sql", "DROP TABLE a")
	r.git("add", "-A")
	if diff := cmp.Diff([]string{"a.sql:1 ddl_statement"}, r.staged()); diff != "" {
		t.Errorf("before the first commit: %s", diff)
	}
	r.write(".gitignore", "out/\n")
	r.write("deep/b.sql", "DROP TABLE b")
	r.commit()
	r.write("new.sql", "DROP TABLE new")
	r.write("out/c.sql", "DROP TABLE c")
	r.git("mv", "a.sql", "moved.sql")
	if diff := cmp.Diff([]string{"moved.sql: 0 judged", "new.sql:1 ddl_statement"}, r.since("HEAD")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"moved.sql: 0 judged"}, r.staged()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"out/c.sql:1 ddl_statement"}, r.since("HEAD", filepath.Join(r.dir, "out", "c.sql"))); diff != "" {
		t.Errorf("named itself: %s", diff)
	}
	r.commit()
	if got := r.since("HEAD"); got != nil {
		t.Errorf("after the commit: %v", got)
	}
	if diff := cmp.Diff([]string{"moved.sql: 0 judged", "new.sql:1 ddl_statement"}, r.since("HEAD~")); diff != "" {
		t.Error(diff)
	}
	outside := filepath.Join(t.TempDir(), "x.sql")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, err := sqlcheck.Since(t.Context(), r.dir, "HEAD", []string{r.dir}, []sqlcheck.Input{{Path: outside, Named: true}})
	if err != nil || len(inputs) != 1 || inputs[0].Problem == "" {
		t.Errorf("outside: %+v, %v", inputs, err)
	}
	for _, revision := range []string{"nothing", "--help", "-h", "", "HEAD:deep/b.sql"} {
		if _, err := sqlcheck.Since(t.Context(), r.dir, revision, []string{r.dir}, nil); err == nil || !strings.Contains(err.Error(), "is not a revision") {
			t.Errorf("%q: %v", revision, err)
		}
	}
	if _, err := sqlcheck.Since(t.Context(), t.TempDir(), "HEAD", []string{r.dir}, nil); err == nil {
		t.Error("no repository")
	}
}

// TestStagedNames: a file that an argument names is judged, or does not exist,
// or gets a finding.
func TestStagedNames(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("a.sql", "DROP TABLE a")
	r.write("kept.sql", "SELECT 1")
	r.write("notes.txt", "x")
	for link, target := range map[string]string{"inside.sql": "a.sql", "folder/up.sql": "../a.sql", "outside.sql": "../../x.sql", "absolute.sql": "/etc/hosts", "other.sql": "notes.txt", "old.sql": "nowhere"} {
		if err := os.MkdirAll(filepath.Join(r.dir, "folder"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(r.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	r.git("add", "old.sql", "kept.sql")
	r.git("commit", "-q", "-m", "x")
	r.git("add", "-A")
	want := []string{"a.sql:1 ddl_statement", "absolute.sql:1 not_checked", "other.sql:1 not_checked", "outside.sql:1 not_checked"}
	if diff := cmp.Diff(want, r.staged()); diff != "" {
		t.Error(diff)
	}
	for arg, there := range map[string]bool{"a.sql": true, "kept.sql": true, "folder": true, "nothing.sql": false, "folder/none.sql": false} {
		if _, err := sqlcheck.Staged(t.Context(), r.dir, []string{arg}); (err == nil) != there {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// canaries puts programs that git or a repository could run at the start of
// PATH. It returns the file in which they record that they ran.
func canaries(t *testing.T) (marker, script string) {
	t.Helper()
	dir := t.TempDir()
	marker = filepath.Join(dir, "ran")
	for _, name := range []string{"run.sh", "ssh", "less", "more", "vi", "editor", "git-remote-evil", "git-remote-ext", "git-upload-pack", "git-lfs", "gpg", "watchman", "git-credential-evil", "git-evil"} {
		text := "#!/bin/sh\necho \"$0 $*\" >>'" + marker + "'\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return marker, filepath.Join(dir, "run.sh")
}

// TestHostileRepository: ktx runs nothing that a repository configures.
func TestHostileRepository(t *testing.T) {
	marker, script := canaries(t)
	ran := func() {
		t.Helper()
		if text, err := os.ReadFile(marker); err == nil {
			t.Fatalf("the repository ran: %s", text)
		}
	}
	for _, remote := range []map[string]string{
		{"remote.origin.url": "ssh://example.invalid/x"},
		{"remote.origin.url": "ext::" + script + " %S"},
		{"remote.origin.url": "/nowhere", "remote.origin.uploadpack": script},
		{"remote.origin.url": "evil::x"},
		{"remote.origin.url": "x", "remote.origin.vcs": "evil"},
		{"remote.origin.url": "https://example.invalid/x", "credential.helper": script, "http.proxy": "http://127.0.0.1:1"},
	} {
		r := newRepo(t)
		r.write("a.sql", "DROP TABLE a;\n")
		r.commit()
		// git would fetch a missing object from the promisor remote.
		object := strings.TrimSpace(r.git("rev-parse", "HEAD:a.sql"))
		for key, value := range map[string]string{
			"core.fsmonitor": script, "core.hooksPath": filepath.Join(r.dir, "hooks"), "core.pager": script, "pager.ls-files": script, "pager.rev-parse": script, "core.sshCommand": script,
			"diff.external": script, "diff.evil.textconv": script, "diff.evil.command": script, "filter.evil.clean": script, "filter.evil.smudge": script, "filter.evil.process": script, "filter.evil.required": "true",
			"core.gitProxy": script, "core.askPass": script, "core.editor": script, "sequence.editor": script, "core.alternateRefsCommand": script, "gpg.program": script, "merge.evil.driver": script,
			"extensions.partialClone": "origin", "remote.origin.promisor": "true", "uploadpack.packObjectsHook": script, "submodule.recurse": "true", "protocol.ext.allow": "always", "protocol.file.allow": "always",
			"alias.ls-files": "!" + script, "alias.cat-file": "!" + script, "alias.rev-parse": "!" + script, "core.repositoryformatversion": "1", "core.untrackedCache": "true", "core.trustctime": "false",
		} {
			r.git("config", key, value)
		}
		for key, value := range remote {
			r.git("config", key, value)
		}
		for _, hook := range []string{"post-index-change", "pre-commit", "fsmonitor-watchman", "reference-transaction", "query-watchman", "post-checkout"} {
			for _, folder := range []string{"hooks/", ".git/hooks/"} {
				r.write(folder+hook, "#!/bin/sh\necho hook >>'"+marker+"'\n")
				if err := os.Chmod(filepath.Join(r.dir, folder, hook), 0o700); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.write(".gitattributes", "*.sql diff=evil filter=evil merge=evil\n")
		r.write("a.sql", "DROP TABLE a;\nDROP TABLE b;\n")
		if diff := cmp.Diff([]string{"a.sql:2 ddl_statement"}, r.since("HEAD")); diff != "" {
			t.Error(diff)
		}
		r.staged()
		ran()
		if err := os.Remove(filepath.Join(r.dir, ".git", "objects", object[:2], object[2:])); err != nil {
			t.Fatal(err)
		}
		inputs, err := sqlcheck.Find([]string{r.dir}, "stdin")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sqlcheck.Since(t.Context(), r.dir, "HEAD", []string{r.dir}, inputs); err == nil {
			t.Error("a missing object is no error")
		}
		ran()
	}
	// The programs do run if git is called without precautions.
	if err := exec.CommandContext(t.Context(), script).Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Error(err)
	}
}

// TestForgedRepository: a repository cannot make ktx judge another content, and
// cannot lead to a repository elsewhere.
func TestForgedRepository(t *testing.T) {
	t.Parallel()
	t.Run("replaced objects", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		r.write("a.sql", "SELECT 1;\n")
		r.commit()
		harmless := strings.TrimSpace(r.git("rev-parse", "HEAD:a.sql"))
		r.write("a.sql", "DROP TABLE a;\n")
		r.git("add", "a.sql")
		r.git("replace", "-f", strings.TrimSpace(r.git("rev-parse", ":a.sql")), harmless)
		if diff := cmp.Diff([]string{"a.sql:1 ddl_statement"}, r.staged()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("another work tree", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		r.write("a.sql", "SELECT 1;\n")
		r.commit()
		r.write("a.sql", "DROP TABLE a;\n")
		r.git("config", "core.worktree", filepath.Dir(r.dir))
		if diff := cmp.Diff([]string{"a.sql:1 ddl_statement"}, r.since("HEAD")); diff != "" {
			t.Error(diff)
		}
	})
	elsewhere := func(t *testing.T, link func(from, to string) error) {
		t.Helper()
		secret, r := newRepo(t), newRepo(t)
		secret.write("secret.sql", "DROP TABLE secret;\n")
		secret.git("add", "-A")
		if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
			t.Fatal(err)
		}
		if err := link(filepath.Join(secret.dir, ".git"), filepath.Join(r.dir, ".git")); err != nil {
			t.Fatal(err)
		}
		if inputs, err := sqlcheck.Staged(t.Context(), r.dir, []string{r.dir}); err == nil || !strings.Contains(err.Error(), "does not name this folder") {
			t.Errorf("%+v, %v", inputs, err)
		}
	}
	t.Run("a file .git", func(t *testing.T) {
		t.Parallel()
		elsewhere(t, func(from, to string) error { return os.WriteFile(to, []byte("gitdir: "+from+"\n"), 0o600) })
	})
	t.Run("a link .git", func(t *testing.T) {
		t.Parallel()
		elsewhere(t, os.Symlink)
	})
	t.Run("a folder like a repository", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		r.git("clone", "-q", "--bare", ".", "bare")
		r.write("bare/a.sql", "DROP TABLE a")
		r.git("-C", "bare", "config", "core.fsmonitor", "false")
		if inputs, err := sqlcheck.Since(t.Context(), filepath.Join(r.dir, "bare"), "HEAD", []string{r.dir}, nil); err == nil {
			t.Errorf("%+v", inputs)
		}
	})
	t.Run("linked work trees and submodules", func(t *testing.T) {
		t.Parallel()
		r, sub := newRepo(t), newRepo(t)
		for _, one := range []*repo{r, sub} {
			one.write("a.sql", "SELECT 1;\n")
			one.commit()
		}
		r.git("worktree", "add", "-q", "tree")
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
		for _, folder := range []string{"tree", "sub"} {
			r.write(folder+"/a.sql", "DROP TABLE a;\n")
			inputs, err := sqlcheck.Find([]string{filepath.Join(r.dir, folder)}, "stdin")
			if err != nil {
				t.Fatal(err)
			}
			inputs, err = sqlcheck.Since(t.Context(), filepath.Join(r.dir, folder), "HEAD", []string{filepath.Join(r.dir, folder)}, inputs)
			if diff := cmp.Diff([]string{folder + "/a.sql:1 ddl_statement"}, r.found(inputs)); diff != "" || err != nil {
				t.Errorf("%s: %s %v", folder, diff, err)
			}
		}
	})
}

// TestRenamedFiles: a file that was renamed is compared with what it was, unless
// nobody judged it before, or something else judges it now.
func TestRenamedFiles(t *testing.T) {
	t.Parallel()
	old := "DROP TABLE a;\nDROP TABLE b;\nDROP TABLE c;\nDROP TABLE d;\n"
	for _, test := range []struct {
		name, from, to, text string
		args                 []string // --diff
		want                 []string
	}{
		{"renamed only", "a.sql", "b/c.sql", old, nil, []string{"b/c.sql: 0 judged"}},
		{"and changed", "a.sql", "b.sql", old + "DELETE FROM e;\n", nil, []string{"b.sql:5 write_statement"}},
		{"out of a folder that is skipped", "vendor/a.sql", "a.sql", old, nil, []string{"a.sql:1 ddl_statement", "a.sql:2 ddl_statement", "a.sql:3 ddl_statement", "a.sql:4 ddl_statement"}},
		{"from no file of SQL", "a.txt", "a.sql", old, nil, []string{"a.sql:1 ddl_statement", "a.sql:2 ddl_statement", "a.sql:3 ddl_statement", "a.sql:4 ddl_statement"}},
		{"from another kind of file", "a.pgsql", "a.sql", old, nil, []string{"a.sql:1 ddl_statement", "a.sql:2 ddl_statement", "a.sql:3 ddl_statement", "a.sql:4 ddl_statement"}},
		{"from where no argument leads", "other/a.sql", "b/a.sql", old, []string{"b"}, []string{"b/a.sql:1 ddl_statement", "b/a.sql:2 ddl_statement", "b/a.sql:3 ddl_statement", "b/a.sql:4 ddl_statement"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.write(test.from, old)
			r.write("z.sql", "SELECT 1;\n")
			r.commit()
			r.git("rm", "-q", test.from)
			r.write(test.to, test.text)
			r.git("add", "-A")
			var args []string
			for _, arg := range test.args {
				args = append(args, filepath.Join(r.dir, arg))
			}
			if diff := cmp.Diff(test.want, r.since("HEAD", args...)); diff != "" {
				t.Errorf("--diff: %s", diff)
			}
			if test.args == nil {
				if diff := cmp.Diff(test.want, r.staged()); diff != "" {
					t.Errorf("--staged: %s", diff)
				}
			}
			r.git("commit", "-q", "-m", "y")
			if diff := cmp.Diff(test.want, r.since("HEAD~1", args...)); diff != "" {
				t.Errorf("--diff, committed: %s", diff)
			}
		})
	}
	t.Run("its constants are elsewhere", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		r.write("a/q.js", "export const q = 'SELECT 1'\n")
		r.write("b/q.js", "export const q = 'DROP TABLE t'\n")
		r.write("a/user.js", "import {q} from './q'\nexport const f = (db) => db.query(q)\n")
		r.commit()
		r.git("mv", "a/user.js", "b/user.js")
		if diff := cmp.Diff([]string{"b/user.js:1 ddl_statement"}, r.since("HEAD")); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSubmodules: files in a submodule are compared with the commit that the submodule
// had, and a commit that nobody has is not passed over.
func TestSubmodules(t *testing.T) {
	t.Parallel()
	inner, r := newRepo(t), newRepo(t)
	inner.write("old.sql", "DROP TABLE a;\n")
	inner.commit()
	r.write("own.sql", "SELECT 1;\n")
	r.commit()
	r.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.dir, "sub")
	if diff := cmp.Diff([]string{"sub/old.sql:1 ddl_statement"}, r.staged()); diff != "" {
		t.Error("a new submodule in the index: " + diff)
	}
	if diff := cmp.Diff([]string{"sub/old.sql:1 ddl_statement"}, r.since("HEAD")); diff != "" {
		t.Error("a new submodule: " + diff)
	}
	r.commit()
	if got := r.since("HEAD"); len(got) > 0 {
		t.Errorf("a submodule without changes: %v", got)
	}
	r.write("sub/old.sql", "DROP TABLE a;\nDROP TABLE b;\n")
	r.write("sub/new.sql", "DROP TABLE c;\n")
	changed := []string{"sub/new.sql:1 ddl_statement", "sub/old.sql:2 ddl_statement"}
	if diff := cmp.Diff(changed, r.since("HEAD")); diff != "" {
		t.Error("changes that are not committed: " + diff)
	}
	if got := r.staged(); len(got) > 0 {
		t.Errorf("the index has no change: %v", got)
	}
	r.git("-C", "sub", "add", "-A")
	r.git("-C", "sub", "commit", "-q", "-m", "x")
	r.git("add", "sub")
	if diff := cmp.Diff(changed, r.since("HEAD")); diff != "" {
		t.Error("another commit: " + diff)
	}
	if diff := cmp.Diff(changed, r.staged()); diff != "" {
		t.Error("another commit in the index: " + diff)
	}
	r.git("update-index", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	if diff := cmp.Diff([]string{"sub:1 not_checked"}, r.staged()); diff != "" {
		t.Error("a commit that nobody has: " + diff)
	}
	r.git("commit", "-q", "-m", "x")
	if diff := cmp.Diff([]string{"sub/new.sql:1 not_checked", "sub/old.sql:1 not_checked"}, r.since("HEAD")); diff != "" {
		t.Error("a commit that nobody has: " + diff)
	}
}
