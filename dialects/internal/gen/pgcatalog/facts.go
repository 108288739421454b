package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// oldestMajor is the first PostgreSQL major version whose facts are kept.
const oldestMajor = 13

// factFiles are the files of facts/, in the order in which they are read. Each
// line of a file is one fact: fields separated by tabs. The last field lists the
// major versions that have the fact.
var factFiles = []string{
	"servers.tsv",    // major, server version
	"extensions.tsv", // name, version
	"functions.tsv",  // origin, name, kind, arguments, result, flags
	"operators.tsv",  // origin, name, left type, right type, function
	"casts.tsv",      // origin, source type, target type, function
	"types.tsv",      // origin, name, kind
	"settings.tsv",   // name, context, value type, flags
	"relations.tsv",  // origin, name, kind, flags, columns
}

// majorSet is a set of major versions: bit 0 is oldestMajor.
type majorSet uint16

func (s majorSet) has(major int) bool { return s&bitOf(major) != 0 }

func bitOf(major int) majorSet { return 1 << (major - oldestMajor) }

// Facts has the facts that the harvested servers reported. Each file has its facts, and
// each fact has the major versions for which it is true.
type Facts struct {
	newest int
	files  map[string]map[string]majorSet
}

// ReadFacts reads the facts of a directory. A file that does not exist is
// empty.
func ReadFacts(dir string) (*Facts, error) {
	f := &Facts{newest: oldestMajor - 1, files: map[string]map[string]majorSet{}}
	raw := map[string][]byte{}
	for _, name := range factFiles {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("read facts: %w", err)
		}
		raw[name] = data
		f.files[name] = map[string]majorSet{}
	}
	for line := range strings.Lines(string(raw["servers.tsv"])) {
		major, err := strconv.Atoi(strings.SplitN(line, "\t", 2)[0])
		if err != nil {
			return nil, fmt.Errorf("read servers.tsv: %w", err)
		}
		f.newest = max(f.newest, major)
	}
	for _, name := range factFiles {
		scan := bufio.NewScanner(bytes.NewReader(raw[name]))
		scan.Buffer(nil, 1<<20)
		for n := 1; scan.Scan(); n++ {
			i := strings.LastIndexByte(scan.Text(), '\t')
			if i < 0 {
				return nil, fmt.Errorf("read %s:%d: no majors", name, n)
			}
			majors, err := parseMajors(scan.Text()[i+1:], f.newest)
			if err != nil {
				return nil, fmt.Errorf("read %s:%d: %w", name, n, err)
			}
			f.files[name][scan.Text()[:i]] = majors
		}
		if err := scan.Err(); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return f, nil
}

// Replace makes the facts of one major exactly those of seen, and leaves the
// facts of the other majors alone.
func (f *Facts) Replace(major int, seen map[string][]string) {
	f.newest = max(f.newest, major)
	for _, name := range factFiles {
		file := f.files[name]
		for fact := range file {
			file[fact] &^= bitOf(major)
		}
		for _, fact := range seen[name] {
			file[fact] |= bitOf(major)
		}
	}
}

// Write writes the facts to a directory, sorted. It leaves out facts that are true for no
// major version.
func (f *Facts) Write(dir string) error {
	for _, name := range factFiles {
		var lines []string
		for fact, majors := range f.files[name] {
			if majors != 0 {
				lines = append(lines, fact+"\t"+formatMajors(majors, f.newest)+"\n")
			}
		}
		slices.Sort(lines)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "")), 0o600); err != nil {
			return fmt.Errorf("write facts: %w", err)
		}
	}
	return nil
}

// each calls yield for every fact of a file, in the order of the file.
func (f *Facts) each(name string, yield func(fields []string, majors majorSet)) {
	type entry struct {
		fact   string
		majors majorSet
	}
	var all []entry
	for fact, majors := range f.files[name] {
		all = append(all, entry{fact, majors})
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.fact, b.fact) })
	for _, e := range all {
		yield(strings.Split(e.fact, "\t"), e.majors)
	}
}

// majors lists the harvested major versions, oldest first.
func (f *Facts) majors() []int {
	var out []int
	f.each("servers.tsv", func(_ []string, majors majorSet) {
		for m := oldestMajor; m <= f.newest; m++ {
			if majors.has(m) {
				out = append(out, m)
			}
		}
	})
	slices.Sort(out)
	return out
}

// formatMajors writes a set as comma-separated ranges. A range that reaches
// the newest harvested major is open ("16-"), so that a new major leaves the
// lines of what it keeps unchanged.
func formatMajors(s majorSet, newest int) string {
	var parts []string
	for m := oldestMajor; m <= newest; m++ {
		if !s.has(m) {
			continue
		}
		first := m
		for m < newest && s.has(m+1) {
			m++
		}
		switch m {
		case newest:
			parts = append(parts, fmt.Sprintf("%d-", first))
		case first:
			parts = append(parts, strconv.Itoa(first))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", first, m))
		}
	}
	return strings.Join(parts, ",")
}

func parseMajors(text string, newest int) (majorSet, error) {
	var s majorSet
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			return 0, fmt.Errorf("majors %q: %w", text, err)
		}
		last := first
		switch {
		case ranged && to == "":
			last = newest
		case ranged:
			if last, err = strconv.Atoi(to); err != nil {
				return 0, fmt.Errorf("majors %q: %w", text, err)
			}
		}
		if first < oldestMajor || last < first || last > newest {
			return 0, fmt.Errorf("majors %q: outside %d to %d", text, oldestMajor, newest)
		}
		for m := first; m <= last; m++ {
			s |= bitOf(m)
		}
	}
	return s, nil
}
