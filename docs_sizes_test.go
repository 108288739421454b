package ktx_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sizedRooms are the rows of the table of sizes in ARCHITECTURE.md. A file
// belongs to the room with the longest path that is a prefix of its folder.
// "." holds the files of the root alone.
var sizedRooms = []string{
	"sqlguard",
	"dialects", "dialects/postgres", "dialects/mysql", "dialects/sqlite", "dialects/sqlserver", "dialects/clickhouse",
	"execution", "execution/audit", "execution/pgdb", "execution/mysqldb", "execution/mssqldb", "execution/clickhousedb", "execution/duckdbdb", "execution/sqlitedb", "execution/executiontest",
	"research", "httpapi",
	"corpus", "corpus/run", "corpus/report",
	"sqlcheck", "sqlcheck/source", "sqlcheck/report",
	"cmd/ktx", "cmd/ktx/internal/cli", "cmd/ktx/internal/setup", "cmd/ktx-prove",
	"tools", ".",
}

// sizedRoom returns the room of a folder, or "" when no row covers it.
func sizedRoom(dir string) string {
	if dir == "." {
		return "."
	}
	found := ""
	for _, room := range sizedRooms {
		if (dir == room || strings.HasPrefix(dir, room+"/")) && len(room) > len(found) {
			found = room
		}
	}
	return found
}

// roomSize is what the table says about one room. Tests do not count in lines,
// files and functions.
type roomSize struct {
	lines, testLines int
	files, functions map[string]int // lines by name; by receiver and name
}

// measure counts a hand-written file of the room.
func (s *roomSize) measure(name string, text []byte, set *token.FileSet, file *ast.File) {
	lines := strings.Count(string(text), "\n")
	if strings.HasSuffix(name, "_test.go") {
		s.testLines += lines
		return
	}
	s.lines += lines
	s.files[name] = max(s.files[name], lines)
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		title := f.Name.Name
		if f.Recv != nil {
			title = receiver(f) + "." + title
		}
		length := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
		s.functions[title] = max(s.functions[title], length)
	}
}

// roomSizes measures every hand-written Go file of the module. Generated files
// and folders named testdata are left out.
func roomSizes(t *testing.T) map[string]*roomSize {
	t.Helper()
	sizes := map[string]*roomSize{}
	for _, room := range sizedRooms {
		sizes[room] = &roomSize{files: map[string]int{}, functions: map[string]int{}}
	}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		size := sizes[sizedRoom(dir)]
		if size == nil {
			t.Errorf("%s belongs to no room of the table of sizes", name)
			return nil
		}
		size.measure(filepath.Base(name), text, set, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes
}

// near reports whether a number in the document is within a fifth of the number in the
// code. Such a number stays, so that small changes of the code do not change the
// document.
func near(told, truth int) bool { return told*5 >= truth*4 && told*5 <= truth*6 }

// toldLines returns the number that the table shows: the one in the document when it
// is near, otherwise the number in the code, rounded to hundreds.
func toldLines(told string, truth int) string {
	if n, err := strconv.Atoi(strings.ReplaceAll(told, ",", "")); err == nil && near(n, truth) {
		return told
	}
	rounded := max((truth+50)/100*100, min(truth, 100))
	if rounded >= 1000 {
		return fmt.Sprintf("%d,%03d", rounded/1000, rounded%1000)
	}
	return strconv.Itoa(rounded)
}

var longestCell = regexp.MustCompile("^`([^`]+)` ([0-9]+)$")

// toldLongest returns the name and the length of the longest file or function that the
// table shows. It keeps those of the document when the name still exists, its length
// is near, and no other is much longer.
func toldLongest(told string, lengths map[string]int) string {
	longest := ""
	for name, n := range lengths {
		if longest == "" || n > lengths[longest] || n == lengths[longest] && name < longest {
			longest = name
		}
	}
	if longest == "" {
		return "–"
	}
	if m := longestCell.FindStringSubmatch(told); m != nil {
		if n, err := strconv.Atoi(m[2]); err == nil && near(n, lengths[m[1]]) && near(n, lengths[longest]) {
			return told
		}
	}
	return fmt.Sprintf("`%s` %d", longest, lengths[longest])
}

// sizeTable renders the table of sizes, and keeps the cells of the document
// that are still near.
func sizeTable(t *testing.T, document string) string {
	t.Helper()
	told := map[string][]string{}
	for line := range strings.Lines(document) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) == 5 {
			told[cells[0]] = cells
		}
	}
	sizes := roomSizes(t)
	out := tableHead("room", "lines", "lines of tests", "longest file", "longest function")
	for _, room := range sizedRooms {
		size := sizes[room]
		if size.lines+size.testLines == 0 {
			t.Errorf("the room %s has no lines", room)
		}
		title := "`" + room + "`"
		old := told[title]
		if old == nil {
			old = make([]string, 5)
		}
		out += row(title, toldLines(old[1], size.lines), toldLines(old[2], size.testLines), toldLongest(old[3], size.files), toldLongest(old[4], size.functions))
	}
	return out
}

// TestSizesFollowTheCode shows when a cell of the table of sizes stays and when
// it changes.
func TestSizesFollowTheCode(t *testing.T) {
	for _, c := range []struct {
		told  string
		truth int
		want  string
	}{
		{"1,000", 1150, "1,000"},
		{"1,000", 850, "1,000"},
		{"1,000", 1260, "1,300"},
		{"1,000", 820, "800"},
		{"", 12345, "12,300"},
		{"", 40, "40"},
		{"", 0, "0"},
	} {
		if got := toldLines(c.told, c.truth); got != c.want {
			t.Errorf("%q lines in the document and %d in the code: %q, want %q", c.told, c.truth, got, c.want)
		}
	}
	lengths := map[string]int{"a.go": 100, "b.go": 110}
	for told, want := range map[string]string{
		"`a.go` 105":    "`a.go` 105",
		"`gone.go` 105": "`b.go` 110",
		"`a.go` 200":    "`b.go` 110",
		"":              "`b.go` 110",
	} {
		if got := toldLongest(told, lengths); got != want {
			t.Errorf("%q in the document: %q, want %q", told, got, want)
		}
	}
	for dir, want := range map[string]string{
		".": ".", "sqlguard": "sqlguard", "sqlguardian": "", "new": "",
		"dialects/internal/gen": "dialects", "cmd/ktx/internal/cli/deeper": "cmd/ktx/internal/cli", "cmd/ktx-prove/internal/prove": "cmd/ktx-prove",
	} {
		if got := sizedRoom(dir); got != want {
			t.Errorf("the folder %s is in the room %q, want %q", dir, got, want)
		}
	}
}

// The bounds of the pages in docs, in bytes. Pages in docs/evidence have none.
const (
	maxPage  = 12 << 10
	maxPages = 200_000
)

// pageFaults says which pages of docs are too long, and whether all pages together are
// too long.
func pageFaults(pages map[string]int) []string {
	var faults []string
	total := 0
	for name, size := range pages {
		if path, ok := strings.CutPrefix(name, "docs/"); !ok || strings.HasPrefix(path, "evidence/") {
			continue
		}
		total += size
		if size > maxPage {
			faults = append(faults, fmt.Sprintf("%s has %d bytes, and a page has at most %d: split it or cut it", name, size, maxPage))
		}
	}
	if total > maxPages {
		faults = append(faults, fmt.Sprintf("the pages in docs have %d bytes together, and may have %d", total, maxPages))
	}
	return faults
}

// TestPagesAreShort checks that the pages in docs stay short, and that one page links
// all pages of evidence.
func TestPagesAreShort(t *testing.T) {
	pages := map[string]int{}
	for _, d := range documents(t) {
		pages[d.path] = len(d.text)
	}
	for _, fault := range pageFaults(pages) {
		t.Error(fault)
	}
	index := readDocument(t, "docs/evidence/README.md")
	for name := range pages {
		page, ok := strings.CutPrefix(name, "docs/evidence/")
		if ok && page != "README.md" && !index.linksTo(page) {
			t.Errorf("%s does not link %s", index.path, page)
		}
	}
	if readme := readDocument(t, "README.md"); !readme.linksTo(index.path) {
		t.Errorf("README.md does not link %s", index.path)
	}

	planted := map[string]int{"docs/evidence/long.md": 1 << 20, "ARCHITECTURE.md": 1 << 20, "docs/short.md": maxPage}
	if faults := pageFaults(planted); len(faults) > 0 {
		t.Errorf("pages of the right size: %q", faults)
	}
	planted["docs/long.md"] = maxPage + 1
	if faults := pageFaults(planted); len(faults) != 1 {
		t.Errorf("one page that is too long: %q", faults)
	}
	for i := range maxPages / maxPage {
		planted[fmt.Sprintf("docs/page%d.md", i)] = maxPage
	}
	if faults := pageFaults(planted); len(faults) != 2 {
		t.Errorf("too many pages: %q", faults)
	}
}

// linksTo reports whether a document links a file, with or without a heading.
func (d document) linksTo(target string) bool {
	for _, l := range d.links {
		if path, _, _ := strings.Cut(l.text, "#"); path == target {
			return true
		}
	}
	return false
}
