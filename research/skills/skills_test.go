package skills_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/skills"
)

// head is a SKILL.md of a skill.
func head(name, description string, more ...string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n" + strings.Join(more, "") + "---\n\nDo it well.\n"
}

// write writes files below a folder, each after its folders.
func write(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// open returns the root of a folder.
func open(tb testing.TB, dir string) *os.Root {
	tb.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = root.Close() })
	return root
}

// catalog returns the catalogue of a project's folder skills.
func catalog(tb testing.TB, dir string, more ...skills.Source) *skills.Catalog {
	tb.Helper()
	root := open(tb, dir)
	return skills.NewCatalog(skills.CatalogOptions{
		Sources:  append([]skills.Source{{Name: "skills", Root: root, Folder: "skills", Optional: true}}, more...),
		Analyzer: rank.NewAnalyzer(nil), Now: time.Now, Cache: root,
	})
}

func names(tb testing.TB, c *skills.Catalog) string {
	tb.Helper()
	s, err := c.Snapshot()
	if err != nil {
		tb.Fatal(err)
	}
	var list []string
	for _, k := range s.Skills() {
		list = append(list, k.Name)
	}
	return strings.Join(list, " ")
}

// TestHeads checks one SKILL.md after the other: what check says, and whether the skill is
// published.
func TestHeads(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1025)
	for _, c := range []struct{ text, want string }{
		{head("a", "Does it."), ""},
		{strings.ReplaceAll(head("a", "Does it."), "\n", "\r\n"), ""},
		{"\uFEFF" + head("a", "Does it."), ""},
		{head("a", "Does it.", "license: MIT\ncompatibility: Needs git\nallowed-tools: Read Bash(git add *)\n"), ""},
		{head("a", "Does it.", "metadata:\n  version: 1.0\n  status: published\n"), ""},
		{head("a", "Does it.", "version: 2\n"), `skills/a/SKILL.md:4: warning: version is no key of the specification, which has name, description, license, compatibility, metadata, allowed-tools (key)`},
		{head("a", "Does it.", "category: x\n"), `skills/a/SKILL.md:4: warning: category is no key of the specification, which has name, description, license, compatibility, metadata, allowed-tools; ktx reads it below metadata (key)`},
		{"---\nname: a\ndescription: x\n---\n", "skills/a/SKILL.md:1: warning: there are no instructions after the head (body)"},
		{"no head", "!skills/a/SKILL.md:1: error: it has no head; begin the file with a line ---, the keys name and description, and a line --- (head)"},
		{"", "!skills/a/SKILL.md:1: error: it has no head; begin the file with a line ---, the keys name and description, and a line --- (head)"},
		{"---\nname: a\n", "!skills/a/SKILL.md:1: error: the head has no end; write a line --- after it (head)"},
		{"---\n---\nx", "!skills/a/SKILL.md:1: error: the head has no keys; it needs name and description (head)"},
		{"---\nname: a\n---\nx", "!skills/a/SKILL.md:1: error: description is missing; say what the skill does and when to use it (description)"},
		{"---\ndescription: a\n---\nx", "!skills/a/SKILL.md:1: error: name is missing; write name: a (name)"},
		{head("b", "x"), "!skills/a/SKILL.md:2: error: name is b, and the folder is a; they must be equal (name)"},
		{head("A", "x"), "!skills/a/SKILL.md:2: error: A is no name of a skill: only lower-case letters a to z, digits and hyphens are allowed (name)"},
		{head("a--b", "x"), "!skills/a/SKILL.md:2: error: a--b is no name of a skill: it has two hyphens in a row (name)"},
		{head("-a", "x"), "!skills/a/SKILL.md:2: error: -a is no name of a skill: it begins or ends with a hyphen (name)"},
		{head(`"a\u001b[31m"`, "x"), "!skills/a/SKILL.md:2: error: name has the control character U+001B (name)"},
		{head("a", "''"), "!skills/a/SKILL.md:3: error: description is empty; say what the skill does and when to use it (description)"},
		{head("a", long), "!skills/a/SKILL.md:3: error: description has 1025 characters; at most 1024 are allowed (description)"},
		{head("a", `"x\u202Ey"`), "!skills/a/SKILL.md:3: error: description has the control character U+202E (description)"},
		{head("a", "Use it: always"), "!skills/a/SKILL.md:3: error: the head is not YAML: mapping values are not allowed in this context; put a value that has a colon and a space in quotes (head)"},
		{head("a", "x") + "One\n\u202Etwo\n", "!skills/a/SKILL.md:8: error: the instructions have the control character U+202E, which can hide text (body)"},
		{head("a", "x") + "One\u200D\ttwo\r\n", ""},
		{head("a", "[x]"), "!skills/a/SKILL.md:3: error: description is not a text (description)"},
		{head("a", "x", "name: a\n"), "!skills/a/SKILL.md:4: error: the key name is given twice (key)"},
		{head("a", "&d x", "license: *d\n"), "!skills/a/SKILL.md:3: error: anchors and aliases (&a, *a) are not allowed; write the value out (head)"},
		{head("a", "!!str x"), "!skills/a/SKILL.md:3: error: YAML tags (!…) are not allowed; put a value that begins with ! in quotes (head)"},
		{head("a", "x", "metadata: {a: {b: c}}\n"), "!skills/a/SKILL.md:4: error: metadata.a is not a text; metadata is a map of texts (metadata)"},
		{head("a", "x", "metadata:\n  status: hidden\n"), "!skills/a/SKILL.md:5: error: metadata.status is hidden; write draft or published (metadata)"},
		{head("a", "x", "metadata:\n  forked-from: A b\n"), `!skills/a/SKILL.md:5: error: metadata.forked-from is "A b", which is no name of a skill: only lower-case letters a to z, digits and hyphens are allowed (metadata)`},
		{head("a", "x", "n: .inf\n"), "!skills/a/SKILL.md:4: error: .inf is a number that JSON does not have; put it in quotes (head)"},
		{head("a", "x", "x: "+strings.Repeat("[", 5000)+"\n"), "!skills/a/SKILL.md:"},
		{"---\n" + strings.Repeat("# x\n", 5000) + "---\n", "!skills/a/SKILL.md:1: error: the head has more than 16 KiB, or no line --- after it (head)"},
		{"---\nname: a\ndescription: \xff\n---\nx", "!skills/a/SKILL.md:1: error: it is not UTF-8 text (file)"},
		{head("a", "x") + strings.Repeat("x", 10<<20), "!skills/a/SKILL.md:1: error: it has 10485"},
		{head("a", "x", "metadata:\n  status: draft\n"), "!"},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"skills/a/SKILL.md": c.text})
		problems, published, err := catalog(t, dir).Check()
		if err != nil {
			t.Fatal(err)
		}
		want, hidden := strings.CutPrefix(c.want, "!")
		var got []string
		for _, p := range problems {
			if hidden || p.Level == skills.LevelError || len(problems) == 1 {
				got = append(got, p.String())
			}
		}
		if text := strings.Join(got, "\n"); (want == "") != (text == "") || !strings.Contains("\n"+text, "\n"+want) {
			t.Errorf("%.80q:\n%s\nwant\n%s", c.text, text, want)
		}
		if published != map[bool]int{true: 0, false: 1}[hidden] {
			t.Errorf("%.80q: %d skills are published", c.text, published)
		}
	}
}

// TestFolders: what is in the folder of a skill and must not be.
func TestFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{"secret.txt": "s3cret", "other/SKILL.md": head("outside", "x")}
	for _, name := range []string{"good", "leaves", "folder-link", "inside", "archive", "control", "many", "deep", "large"} {
		files["skills/"+name+"/SKILL.md"] = head(name, "Does it.")
	}
	files["skills/inside/real.md"] = "text"
	files["skills/good/.env"] = "PASSWORD=x"
	files["skills/good/.git/config"] = "x"
	files["skills/good/scripts/run.sh"] = "#!/bin/sh\ntouch /tmp/ran\n"
	files["skills/archive/x.tar.gz"] = "x"
	files["skills/control/a\x1b[31mb.md"] = "x"
	files["skills/no-main/readme.md"] = "x"
	files["skills/wrong-case/skill.md"] = head("wrong-case", "x")
	files["skills/README.md"] = "no skill"
	files["skills/packed.zip"] = "PK"
	files["skills/bad\nname/SKILL.md"] = head("a", "x")
	files["skills/Upper/SKILL.md"] = head("upper", "x")
	files["skills/deep/"+strings.Repeat("d/", 9)+"x.md"] = "x"
	for i := range 600 {
		files[fmt.Sprintf("skills/many/f/%d.md", i)] = "x"
	}
	write(t, dir, files)
	at := func(name string) string { return filepath.Join(dir, "skills", filepath.FromSlash(name)) }
	for _, err := range []error{
		os.Symlink("../../secret.txt", at("leaves/secret.txt")),
		os.Symlink(filepath.Join(dir, "other"), at("outside")),
		os.Symlink("..", at("folder-link/up")),
		os.Symlink("real.md", at("inside/link.md")),
		os.WriteFile(at("large/big.bin"), make([]byte, 17<<20), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := catalog(t, dir)
	problems, published, err := c.Check()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	want := []string{
		`skills/Upper/SKILL.md:2: error: name is upper, and the folder is Upper; they must be equal (name)`,
		`skills/archive/x.tar.gz:1: error: archives are not unpacked, so nobody sees what is in them; put the files themselves here (archive)`,
		`skills/bad\nname:1: error: the name has the control character U+000A, so it is no skill (file-name)`,
		`skills/control/a\x1b[31mb.md:1: error: the name has the control character U+001B (file-name)`,
		`skills/deep/d/d/d/d/d/d/d/d/d:1: error: the folder is deeper than 8 levels (limits)`,
		`skills/folder-link/up:1: error: the symbolic link leads out of the skill or nowhere; put the file itself here (link)`,
		`skills/large/SKILL.md:1: error: the files have 17825847 bytes together; at most 16777216 are allowed (limits)`,
		`skills/leaves/secret.txt:1: error: the symbolic link leads out of the skill or nowhere; put the file itself here (link)`,
		`skills/many/SKILL.md:1: error: the skill has more than 512 files (limits)`,
		`skills/no-main/SKILL.md:1: error: the folder has no SKILL.md (file)`,
		`skills/outside:1: error: the symbolic link leads out of skills or nowhere; put the folder itself here, or add its folder to skills.folders (link)`,
		`skills/packed.zip:1: error: archives are not unpacked; unpack it into a folder of the name of its skill (archive)`,
		`skills/wrong-case/SKILL.md:1: error: the folder has no SKILL.md; rename skill.md (file)`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("check says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := names(t, c); got != "good inside" || published != 2 {
		t.Errorf("%d skills are published: %s", published, got)
	}
	s, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range s.Skill("good").Files {
		paths = append(paths, f.Path)
	}
	if strings.Join(paths, " ") != "SKILL.md scripts/run.sh" {
		t.Errorf("the files are %q; those that begin with a dot are no part of the skill", paths)
	}
	for _, file := range []string{"../leaves/secret.txt", ".env", "/etc/passwd", "scripts", ""} {
		if b, err := s.Read(s.Skill("good"), file); err == nil {
			t.Errorf("%q is read: %q", file, b)
		}
	}
	if b, err := s.Read(s.Skill("inside"), "link.md"); err != nil || string(b) != "text" {
		t.Errorf("a link within the skill: %q, %v", b, err)
	}
}

// TestFreshness: every call sees the files as they are.
func TestFreshness(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := catalog(t, dir)
	if got := names(t, c); got != "" {
		t.Errorf("a project without skills has %q", got)
	}
	old := time.Now().Add(-time.Hour)
	put := func(name, text string) { // a file that changed long ago
		write(t, dir, map[string]string{name: text})
		old = old.Add(time.Second)
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(want string) {
		t.Helper()
		if got := names(t, c); got != want {
			t.Errorf("the skills are %q, want %q", got, want)
		}
	}
	put("skills/a/SKILL.md", head("a", "One."))
	put("skills/b/SKILL.md", head("b", "Two."))
	wants("a b")
	put("skills/b/SKILL.md", head("b", "Two.", "metadata: {status: draft}\n"))
	wants("a")
	put("skills/b/SKILL.md", head("b", "Two."))
	wants("a b")
	if err := os.RemoveAll(filepath.Join(dir, "skills", "a")); err != nil {
		t.Fatal(err)
	}
	wants("b")
	// A file beside SKILL.md is looked at when the skill is.
	put("skills/b/more.md", "one")
	s, err := c.Fresh("b")
	if err != nil {
		t.Fatal(err)
	}
	before, ok := s.Skill("b").File("more.md")
	put("skills/b/more.md", "two")
	if _, err := s.Read(s.Skill("b"), "more.md"); err == nil {
		t.Error("a file is read that is not the one with the digest")
	}
	if s, err = c.Fresh("b"); err != nil {
		t.Fatal(err)
	}
	after, _ := s.Skill("b").File("more.md")
	if b, err := s.Read(s.Skill("b"), "more.md"); !ok || before == after || err != nil || string(b) != "two" {
		t.Errorf("%v, %v, %q, %v", before, after, b, err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "skills", "b", "passwd")); err != nil {
		t.Fatal(err)
	}
	if s, err = c.Fresh("b"); err != nil || s.Skill("b") != nil {
		t.Errorf("a skill with a link out of it is published: %v", err)
	}
	// A file that is written twice within one tick of the clock.
	write(t, dir, map[string]string{"skills/c/SKILL.md": head("c", "One.")})
	wants("c")
	info, err := os.Stat(filepath.Join(dir, "skills/c/SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"skills/c/SKILL.md": head("d", "One.")})
	if err := os.Chtimes(filepath.Join(dir, "skills/c/SKILL.md"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	wants("")
}

// TestSources: of skills with one name, that of the first folder counts.
func TestSources(t *testing.T) {
	t.Parallel()
	dir, team := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"skills/a/SKILL.md": head("a", "Ours."), "skills/c/SKILL.md": head("c", "x", "metadata: {status: draft}\n")})
	write(t, team, map[string]string{"a/SKILL.md": head("a", "Theirs."), "b/SKILL.md": head("b", "Theirs.", "metadata: {forked-from: zz}\n"), "c/SKILL.md": head("c", "Theirs.")})
	c := catalog(t, dir, skills.Source{Name: "../team", Folder: team}, skills.Source{Name: "gone", Folder: filepath.Join(team, "gone")})
	problems, _, err := c.Check()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"../team/a/SKILL.md:1: warning: the skill is hidden by skills/a/SKILL.md, which has the same name (hidden)",
		"../team/b/SKILL.md:1: warning: metadata.forked-from names zz, which is no skill here (metadata)",
		"gone:1: error: the folder of skills cannot be read: no such file or directory (folder)",
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	if !slices.Equal(got, want) || names(t, c) != "a b c" {
		t.Errorf("%s\n%s", strings.Join(got, "\n"), names(t, c))
	}
	s, err := c.Snapshot()
	if err != nil || s.Skill("a").Description != "Ours." || s.Skill("c").Description != "Theirs." {
		t.Errorf("%v, %v", s.Skill("a"), err)
	}
}

// TestFrontmatter: the head as JSON is what a YAML 1.2 reader makes of it.
func TestFrontmatter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"skills/a/SKILL.md": "---\nname: a\ndescription: >\n  Two\n  lines <b>\nmetadata:\n  version: 1.10\n  date: 2026-01-31\n" +
		"yes-no: yes\nflag: True\nnone: ~\nempty:\nn: 007\nhex: 0xfF\noct: 0o17\nbig: 123456789012345678901234567890\nf: 1.50\nexp: 1e3\nq: '12'\nlist: [1, a, {b: false}]\nu: 1_000\n---\nx\n"})
	s, err := catalog(t, dir).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"a","description":"Two lines <b>\n","metadata":{"version":1.1,"date":"2026-01-31"},"yes-no":"yes","flag":true,"none":null,"empty":null,` +
		`"n":7,"hex":255,"oct":15,"big":123456789012345678901234567890,"f":1.5,"exp":1000,"q":"12","list":[1,"a",{"b":false}],"u":"1_000"}`
	if got := string(s.Skill("a").Frontmatter); got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
}

// TestCache: another process takes what one has read, and sees what changed since.
func TestCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{".ktx/x": ""}
	for i := range 60 {
		name := fmt.Sprintf("s%d", i)
		files["skills/"+name+"/SKILL.md"] = head(name, "Counts <i>things</i> of kind "+name+".")
	}
	write(t, dir, files)
	old := time.Now().Add(-time.Hour)
	for name := range files {
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := func() *skills.Snapshot {
		t.Helper()
		s, err := catalog(t, dir).Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	same := func(a, b *skills.Snapshot) {
		t.Helper()
		if len(a.Skills()) != len(b.Skills()) {
			t.Fatalf("%d skills, and %d", len(a.Skills()), len(b.Skills()))
		}
		for i, k := range a.Skills() {
			if got, want := fmt.Sprintf("%+v", *b.Skills()[i]), fmt.Sprintf("%+v", *k); got != want {
				t.Errorf("\n%s\n%s", got, want)
			}
		}
	}
	cold := snapshot()
	file := filepath.Join(dir, ".ktx", "skills", "catalog.bin")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	same(cold, snapshot())
	write(t, dir, map[string]string{"skills/s7/SKILL.md": head("s7", "Changed.", "metadata: {status: draft}\n")})
	if s := snapshot(); len(s.Skills()) != 59 || s.Skill("s7") != nil {
		t.Errorf("%d skills after one became a draft", len(s.Skills()))
	}
	write(t, dir, map[string]string{"skills/s7/SKILL.md": files["skills/s7/SKILL.md"]})
	for _, damaged := range [][]byte{nil, text[:len(text)/2], []byte("x"), append(slices.Clone(text[:len(text)-1]), text[len(text)-1]^1)} {
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		same(cold, snapshot())
	}
}

// FuzzCheck: no SKILL.md makes the reader panic, and what is published keeps the rules.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{head("a", "x"), "---\n", "---\nname: a\ndescription: &x\n---", head("a", "x", "metadata: {a: b}\n"), "---\n? [a]\n: b\n---\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := skills.NewCatalog(skills.CatalogOptions{Builtins: []skills.Builtin{{Name: "a", Text: text}}, Analyzer: rank.NewAnalyzer(nil)})
		problems, published, err := c.Check()
		if err != nil {
			t.Fatal(err)
		}
		bad := slices.ContainsFunc(problems, func(p skills.Problem) bool { return p.Level == skills.LevelError })
		if published == 1 && bad || published > 1 {
			t.Errorf("%d skills are published, with %v", published, problems)
		}
		s, err := c.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range s.Skills() {
			if k.Name != "a" || k.Description == "" || len([]rune(k.Description)) > 1024 || len(k.Frontmatter) == 0 {
				t.Errorf("%+v", k)
			}
		}
	})
}
