package ktx_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// document is one Markdown file of the repository.
type document struct {
	path   string // relative to the root, with slashes
	text   string
	fences []fence
	spans  []span // code in running text
	links  []span
	slugs  []string // of its headings
}

// fence is a fenced block of code.
type fence struct {
	info       string // the rest of the opening line
	text       string
	line       int // number of the first line of text
	start, end int // offsets of text in the document
}

// file returns the name of the file whose content the block shows, or "".
func (f fence) file() string {
	_, name, _ := strings.Cut(f.info, " ")
	return name
}

// span is a piece of one line.
type span struct {
	text string
	line int
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	linkSpan = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading  = regexp.MustCompile(`^#{1,6} +(.*)$`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// parseDocument reads the parts of Markdown that the tests need.
func parseDocument(path, text string) document {
	d := document{path: path, text: text}
	open, offset := false, 0
	var block fence
	number := 0
	for line := range strings.Lines(text) {
		number++
		start := offset
		offset += len(line)
		if mark, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); ok {
			if open {
				block.end = start
				block.text = text[block.start:block.end]
				d.fences = append(d.fences, block)
			} else {
				block = fence{info: mark, line: number + 1, start: offset}
			}
			open = !open
			continue
		}
		if open {
			continue
		}
		if m := heading.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			slug := notSlug.ReplaceAllString(strings.ToLower(m[1]), "")
			d.slugs = append(d.slugs, strings.ReplaceAll(slug, " ", "-"))
		}
		for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
			// A table escapes a bar with a backslash.
			d.spans = append(d.spans, span{strings.ReplaceAll(m[1], `\|`, "|"), number})
		}
		for _, m := range linkSpan.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			d.links = append(d.links, span{m[1], number})
		}
	}
	return d
}

// documents returns every Markdown file of the repository.
func documents(t *testing.T) []document {
	t.Helper()
	var all []document
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"bin", "node_modules", "testdata"}, entry.Name())):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		all = append(all, readDocument(t, name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d documents found", len(all))
	}
	return all
}

func readDocument(t *testing.T, name string) document {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return parseDocument(filepath.ToSlash(name), string(text))
}

// section compares the part of a document between two marks with want. With -update it
// replaces that part by want.
func section(t *testing.T, file, name, want string) {
	t.Helper()
	d := readDocument(t, file)
	begin, end := "<!-- "+name+": begin, written by a test -->\n", "<!-- "+name+": end, written by a test -->\n"
	before, rest, ok := strings.Cut(d.text, begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no lines %q and %q", file, begin, end)
	}
	if have == want {
		return
	}
	if !*update {
		t.Errorf("%s: the part %s is out of date; run make golden", file, name)
		return
	}
	if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// row renders one row of a table.
func row(cells ...string) string {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// tableHead renders the head of a table.
func tableHead(cells ...string) string {
	return row(cells...) + "|" + strings.Repeat("---|", len(cells)) + "\n"
}
