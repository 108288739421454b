package sqlcheck_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/report"
)

// kinds are ways to create a file in a tree, and whether the file is judged if
// it is found in a folder. secret is a file outside of the tree.
var kinds = []struct {
	name   string
	judged bool
	make   func(t *testing.T, path, secret string)
}{
	{"plain", true, put("DROP TABLE t")},
	{"empty", true, put("")},
	{"UTF-16", false, put("\xff\xfeS\x00")},
	{"binary", false, put("\x7fELF\x02\x01\x01\x00\xff\xfe\x80")},
	{"Latin 1", false, put("SELECT '\xe9'")},
	{"NUL", true, put("SELECT \x00")},
	{"not readable", false, func(t *testing.T, path, _ string) {
		t.Helper()
		put("SELECT 1")(t, path, "")
		if os.Geteuid() == 0 { // root can read every file
			link(path, path)(t)
			return
		}
		must(t, os.Chmod(path, 0))
	}},
	{"too large", false, func(t *testing.T, path, _ string) {
		t.Helper()
		put("")(t, path, "")
		must(t, os.Truncate(path, 64<<20+1))
	}},
	{"dangling", false, func(t *testing.T, path, _ string) { t.Helper(); link("nowhere", path)(t) }},
	{"loop", false, func(t *testing.T, path, _ string) { t.Helper(); link(filepath.Base(path), path)(t) }},
	{"outside", false, func(t *testing.T, path, secret string) { t.Helper(); link(secret, path)(t) }},
	{"outside by ..", false, func(t *testing.T, path, secret string) {
		t.Helper()
		rel, err := filepath.Rel(filepath.Dir(path), secret)
		must(t, err)
		link(rel, path)(t)
	}},
	{"outside through a folder", false, func(t *testing.T, path, secret string) {
		t.Helper()
		link(filepath.Dir(secret), path+".d")(t)
		link(filepath.Join(filepath.Base(path)+".d", filepath.Base(secret)), path)(t)
	}},
	{"inside", true, func(t *testing.T, path, _ string) {
		t.Helper()
		put("SELECT 1")(t, path+".txt", "")
		link(filepath.Base(path)+".txt", path)(t)
	}},
	{"a folder", false, func(t *testing.T, path, _ string) {
		t.Helper()
		must(t, os.Mkdir(path+".d", 0o700))
		link(filepath.Base(path)+".d", path)(t)
	}},
	{"the root", false, func(t *testing.T, path, _ string) { t.Helper(); link("/", path)(t) }},
	{"a device", false, func(t *testing.T, path, _ string) { t.Helper(); link(os.DevNull, path)(t) }},
	{"a socket", false, func(t *testing.T, path, _ string) {
		t.Helper()
		short, err := os.MkdirTemp("", "s") //nolint:usetesting // t.TempDir has a longer name, and a socket's has about 100 bytes
		must(t, err)
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(short, "s"))
		must(t, err)
		t.Cleanup(func() { _, _ = l.Close(), os.RemoveAll(short) })
		must(t, os.Rename(filepath.Join(short, "s"), path))
	}},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(text string) func(*testing.T, string, string) {
	return func(t *testing.T, path, _ string) {
		t.Helper()
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

func link(target, path string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		_ = os.Remove(path)
		must(t, os.Symlink(target, path))
	}
}

// oddNames are names that a report or a shell could misread.
var oddNames = []string{"a", "é😀", "new\nline", "\x1b[2J", "\u202e", "::error ::x", "-rf", "a b", "[x]{y}*?", "%0A", "\xff\xfe", "'\"`$(x)", strings.Repeat("n", 200)}

// TestEveryFileIsTold creates random trees. Each file with SQL in them is
// judged or gets the finding not_checked, and nothing outside of a tree is
// read.
func TestEveryFileIsTold(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links and sockets are made otherwise there")
	}
	seeds := uint64(3)
	if os.Getenv("KTX_TEST_FULL") == "1" {
		seeds = 12
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			outside, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			secret := filepath.Join(outside, "secret.sql")
			must(t, os.WriteFile(secret, []byte("DROP TABLE secret"), 0o600))
			root, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			want := map[string]bool{}
			folder := root
			for i := range 60 {
				switch r.IntN(6) {
				case 0:
					folder = filepath.Join(folder, fmt.Sprint(i, oddNames[r.IntN(5)]))
					must(t, os.Mkdir(folder, 0o700))
				case 1:
					folder = root
				}
				kind := kinds[(i+int(seed))%len(kinds)]
				name := fmt.Sprint(oddNames[r.IntN(len(oddNames))], i, ".sql")
				if r.IntN(4) == 0 {
					must(t, os.WriteFile(filepath.Join(folder, name+".md"), []byte("DROP TABLE no_sql"), 0o600))
				}
				kind.make(t, filepath.Join(folder, name), secret)
				want[filepath.Join(folder, name)] = kind.judged
			}
			for _, args := range [][]string{{root}, {root, root + "/."}, {filepath.Join(root, "**", "*.sql")}, {root, filepath.Join(root, "**", "*.sql")}} {
				inputs, err := sqlcheck.Find(args, "stdin")
				must(t, err)
				c := sqlcheck.Checker{Choose: with(t, "sqlite")}
				files, err := c.Run(t.Context(), inputs)
				must(t, err)
				told(t, args, want, files)
			}
		})
	}
}

// told compares the files of a check with those of the tree.
func told(t *testing.T, args []string, want map[string]bool, files []report.File) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range files {
		path := filepath.FromSlash(f.Path)
		judged, known := want[path]
		if !known || seen[path] {
			t.Errorf("%q: %q is told twice, or is no file of the tree", args, path)
		}
		seen[path] = true
		if f.Unchecked() == judged {
			t.Errorf("%q: %q: judged should be %t: %+v", args, path, judged, f.Findings)
		}
		if strings.Contains(f.Text, "secret") || !judged && f.Judged > 0 {
			t.Errorf("%q: %q: %q was read", args, path, f.Text)
		}
	}
	if len(seen) != len(want) {
		for path := range want {
			if !seen[path] {
				t.Errorf("%q: nothing is told of %q", args, path)
			}
		}
	}
}

// TestFilesThatChange: a file may have changed between being found and being
// read.
func TestFilesThatChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var inputs []sqlcheck.Input
	for _, name := range []string{"gone.sql", "folder.sql", "kept.sql"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("SELECT 1"), 0o600))
	}
	inputs, err := sqlcheck.Find([]string{dir}, "stdin")
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, "gone.sql")))
	must(t, os.Remove(filepath.Join(dir, "folder.sql")))
	must(t, os.Mkdir(filepath.Join(dir, "folder.sql"), 0o700))
	c := sqlcheck.Checker{Choose: with(t, "sqlite")}
	files, err := c.Run(t.Context(), inputs)
	must(t, err)
	told(t, []string{dir}, map[string]bool{filepath.Join(dir, "gone.sql"): false, filepath.Join(dir, "folder.sql"): false, filepath.Join(dir, "kept.sql"): true}, files)
}

// TestNamedLinks: a link that an argument names is followed, even if a folder
// contains it too.
func TestNamedLinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "x.sql"), []byte("SELECT 1"), 0o600))
	name := filepath.Join(dir, "link.sql")
	link(filepath.Join(outside, "x.sql"), name)(t)
	for _, args := range [][]string{{name}, {dir, name}, {name, dir}} {
		inputs, err := sqlcheck.Find(args, "stdin")
		must(t, err)
		c := sqlcheck.Checker{Choose: with(t, "sqlite")}
		files, err := c.Run(t.Context(), inputs)
		must(t, err)
		told(t, args, map[string]bool{name: true}, files)
	}
}

// TestDeepTree: a path may be longer than the system accepts, which is 4,096
// bytes on Linux.
func TestDeepTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	const levels = 2200
	at := root
	for i := range levels {
		must(t, at.Mkdir("d", 0o700))
		if i%500 == 0 || i == levels-1 {
			must(t, at.WriteFile("x.sql", []byte("SELECT 1"), 0o600))
		}
		next, err := at.OpenRoot("d")
		must(t, err)
		must(t, at.Close())
		at = next
	}
	must(t, at.Close())
	inputs, err := sqlcheck.Find([]string{dir}, "stdin")
	must(t, err)
	c := sqlcheck.Checker{Choose: with(t, "sqlite")}
	files, err := c.Run(t.Context(), inputs)
	must(t, err)
	judged := 0
	for _, f := range files {
		if f.Judged == 1 {
			judged++
		}
	}
	if judged == 0 || !slices.ContainsFunc(files, func(f report.File) bool { return f.Unchecked() }) && judged != levels/500+1 {
		t.Errorf("%d of %d files are judged, and nothing is said of the others", judged, len(files))
	}
}
