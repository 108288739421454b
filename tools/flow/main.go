// Command flow measures how much of the SQL in other people's programs the check of
// files finds. Parsers of others list the calls that take SQL (tools/flow/golang,
// tools/flow/python.py and tools/flow/typescript); this command compares their lists
// with what package source finds in the same files, and prints a table.
//
//	go run ./tools/flow NAME=FOLDER=LIST...
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlcheck/source"
)

// place is a call that takes SQL, as an oracle lists it.
type place struct {
	File  string `json:"file"`
	Start int    `json:"start"` // of the argument, in bytes
	End   int    `json:"end"`
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	SQL   string `json:"sql"`
}

// kinds are the kinds of arguments, in the order of the table.
var kinds = []string{"literal", "constant", "once", "built", "elsewhere"}

// score is how many calls with a kind of argument there are, and how the check
// found them: the whole text, a text that is known in part, or a note that
// there is SQL of which nothing is known.
type score struct{ calls, found, noted int }

// folder reads the files of a repository.
type folder string

// Read implements source.Files.
func (f folder) Read(name string) (string, bool) {
	content, err := os.ReadFile(filepath.Join(string(f), name)) //nolint:gosec // a file of the repository
	return string(content), err == nil
}

// Names implements source.Files.
func (f folder) Names(name string) (out []string) {
	entries, err := os.ReadDir(filepath.Join(string(f), name))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// Folder implements source.Files.
func (f folder) Folder(name string) bool {
	info, err := os.Stat(filepath.Join(string(f), name))
	return err == nil && info.IsDir()
}

// Top implements source.Files.
func (f folder) Top(string) string { return "/" }

func main() {
	log.SetFlags(0)
	missed := flag.Bool("missed", false, "print the calls that the check did not find")
	sinks := flag.String("sinks", "", "functions that take SQL in these repositories, separated by commas")
	flag.Parse()
	_, _ = fmt.Fprintln(os.Stdout, "| repository | literals | constants | names assigned once | built up | of them with a known part | whole statement elsewhere, noted |")
	_, _ = fmt.Fprintln(os.Stdout, "|---|---:|---:|---:|---:|---:|---:|")
	total := map[string]score{}
	for _, arg := range flag.Args() {
		parts := strings.SplitN(arg, "=", 3)
		if len(parts) != 3 {
			log.Fatalf("%s is not NAME=FOLDER=LIST", arg)
		}
		scores := compare(parts[1], parts[2], strings.FieldsFunc(*sinks, func(r rune) bool { return r == ',' }), *missed)
		_, _ = fmt.Fprintln(os.Stdout, row(parts[0], scores))
		for kind, s := range scores {
			t := total[kind]
			total[kind] = score{t.calls + s.calls, t.found + s.found, t.noted + s.noted}
		}
	}
	_, _ = fmt.Fprintln(os.Stdout, row("all", total))
}

func row(name string, scores map[string]score) string {
	cells := []string{name}
	for _, kind := range kinds {
		s := scores[kind]
		switch {
		case s.calls == 0:
			cells = append(cells, "–")
		case kind == "built":
			cells = append(cells, share(s.found+s.noted, s.calls))
		case kind == "elsewhere":
			cells = append(cells, share(s.found+s.noted, s.calls))
			continue
		default:
			cells = append(cells, share(s.found, s.calls))
		}
		if kind == "built" {
			cells = append(cells, share(s.found, s.calls))
		}
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

func share(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", n, of, 100*float64(n)/float64(of))
}

// compare reads the list of an oracle and compares it with what the check finds.
func compare(root, list string, sinks []string, missed bool) map[string]score {
	scores := map[string]score{}
	library := source.NewLibrary(folder(root))
	var found *source.Source
	current := ""
	text, err := os.ReadFile(list) //nolint:gosec // named by who runs this
	if err != nil {
		log.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var p place
		if err := json.Unmarshal(line, &p); err != nil {
			log.Fatal(err)
		}
		if p.File != current {
			current = p.File
			content, ok := folder(root).Read(p.File)
			if !ok {
				log.Fatalf("%s: not there", p.File)
			}
			if found, err = source.Find(path.Base(p.File), content, source.Options{Path: "/" + p.File, Library: library, Sinks: sinks}); err != nil {
				log.Printf("%s: %v", p.File, err)
				found = &source.Source{}
			}
		}
		s := scores[p.Kind]
		s.calls++
		switch answer(found, p) {
		case "found":
			s.found++
		case "noted":
			s.noted++
			if missed && p.Kind != "elsewhere" {
				_, _ = fmt.Fprintf(os.Stdout, "noted  %s %s:%d %s %.80q\n", p.Kind, p.File, p.Start, p.Name, p.SQL)
			}
		default:
			if missed {
				_, _ = fmt.Fprintf(os.Stdout, "missed %s %s:%d %s %.80q\n", p.Kind, p.File, p.Start, p.Name, p.SQL)
			}
		}
		scores[p.Kind] = s
	}
	return scores
}

// answer says what the check found of a call: its text, or a part of it where the
// oracle knows no more; only that there is one; or nothing.
func answer(found *source.Source, p place) string {
	result := "missed"
	for _, t := range found.Texts {
		if t.Span.Start <= p.Start && p.End <= t.Span.End && p.SQL != "" && same(t, p.SQL) { // execute(text("…")): the check lists the outer call only
			return "found"
		}
		if t.Span.Start < p.Start || t.Span.End > p.End {
			continue
		}
		switch {
		case strings.TrimSpace(t.SQL()) == "":
			result = "noted"
		case p.SQL == "" || same(t, p.SQL):
			return "found"
		}
	}
	return result
}

// same reports whether a text is the one that an oracle knows. Where the text has
// a hole, a driver inserts a parameter.
func same(t *source.Text, sql string) bool {
	known := t.SQL()
	if len(t.Holes) == 0 {
		return normal(known) == normal(sql)
	}
	rest := sql
	from := 0
	ends := make([]int, 0, len(t.Holes)+1)
	for _, h := range t.Holes {
		ends = append(ends, h.At)
	}
	for _, end := range slices.Concat(ends, []int{len(known)}) {
		i := strings.Index(rest, known[from:end])
		if i < 0 {
			return false
		}
		rest = rest[i+end-from:]
		from = end
	}
	return true
}

// normal is a text without the differences of line ends.
func normal(sql string) string {
	return strings.TrimSpace(strings.ReplaceAll(sql, "\r\n", "\n"))
}
