package sqlcheck_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"a.sql", "b.SQL", "c.txt", "sub/d.pgsql", "sub/deeper/e.sqlite", "sub/deeper/f.psql", ".git/g.sql", ".ktx/h.sql",
		"node_modules/i.sql", ".venv/j.sql", "sub/.git/k.sql", "none/l.txt", "odd[1].sql", ".hidden/m.sql", ".n.sql",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("SELECT 1"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "data.sqlite"), []byte("SQLite format 3\x00\x10"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link.sql": "a.sql", "dangling.sql": "nowhere", "folder.sql": "sub", "folder": "sub", "loop.sql": "loop.sql"} {
		if err := os.MkdirAll(filepath.Join(dir, "links"), 0o700); err != nil {
			t.Fatal(err)
		}
		if target != "nowhere" && target != link {
			target = filepath.Join("..", target)
		}
		if err := os.Symlink(target, filepath.Join(dir, "links", link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	const follow = "! it is a link to a folder, which is not followed"
	for _, test := range []struct {
		args []string
		want []string // paths, with a problem after "!"
		err  string
	}{
		{args: []string{"a.sql"}, want: []string{"a.sql"}},
		{args: []string{"c.txt", "./a.sql", "a.sql"}, want: []string{"c.txt", "a.sql"}},
		{args: []string{"sub"}, want: []string{"sub/d.pgsql", "sub/deeper/e.sqlite", "sub/deeper/f.psql"}},
		{args: []string{"sub/../sub/deeper", "sub/deeper/e.sqlite"}, want: []string{"sub/deeper/e.sqlite", "sub/deeper/f.psql"}},
		{args: []string{"."}, want: []string{
			".hidden/m.sql", ".n.sql", "a.sql", "b.SQL",
			"links/dangling.sql! the file cannot be read: no such file or directory", "links/folder.sql" + follow, "links/link.sql",
			"links/loop.sql! the file cannot be read: too many levels of symbolic links", "odd[1].sql",
			"sub/d.pgsql", "sub/deeper/e.sqlite", "sub/deeper/f.psql",
		}},
		{args: []string{".git"}, want: []string{".git/g.sql"}},
		{args: []string{"**/*.{psql,sqlite}"}, want: []string{"sub/data.sqlite", "sub/deeper/e.sqlite", "sub/deeper/f.psql"}},
		{args: []string{"*.sql", "a.sql"}, want: []string{".n.sql", "a.sql", "odd[1].sql"}},
		{args: []string{"odd[1].sql"}, want: []string{"odd[1].sql"}},
		{args: []string{"links/folder"}, want: []string{"links/folder/d.pgsql", "links/folder/deeper/e.sqlite", "links/folder/deeper/f.psql"}},
		{args: []string{"links/dangling.sql"}, want: []string{"links/dangling.sql! the file cannot be read: no such file or directory"}},
		{args: []string{"-", "a.sql"}, want: []string{"stdin", "a.sql"}},
		{args: []string{"-", "-"}, err: "standard input (-) is named twice"},
		{args: []string{"a.sql", "none"}, err: "none has no SQL file (.sql, .pgsql, .psql, .sqlite) and no source file in which ktx searches for SQL"},
		{args: []string{"x.sql"}, err: "x.sql does not exist"},
		{args: []string{"*.nope"}, err: "pattern *.nope matches no file"},
		{args: []string{"nope/**/*.sql"}, err: "pattern nope/**/*.sql matches no file"},
		{args: []string{"sub/*/*.psql"}, want: []string{"sub/deeper/f.psql"}},
		{args: []string{"{sub/deeper,none}/*.psql"}, want: []string{"sub/deeper/f.psql"}},
		{args: []string{"sub/*.psql"}, err: "pattern sub/*.psql matches no file"},
		{args: []string{"[a"}, err: "[a is not a pattern: syntax error in pattern"},
	} {
		inputs, err := sqlcheck.Find(test.args, "stdin")
		if test.err != "" {
			if err == nil || err.Error() != test.err {
				t.Errorf("%v: %v, want %s", test.args, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", test.args, err)
			continue
		}
		var got []string
		for _, in := range inputs {
			line := filepath.ToSlash(in.Path)
			if in.Problem != "" {
				line += "! " + in.Problem
			}
			if in.Stdin != strings.HasPrefix(line, "stdin") {
				t.Errorf("%+v", in)
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v: %s", test.args, diff)
		}
	}
}
