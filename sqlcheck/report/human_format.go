package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// many is the number of findings from which the report for people begins with
// their counts, and shows equal findings once.
const many = 20

// maxPlaces is the most places that are listed of equal findings.
const maxPlaces = 6

// one is a finding with its file.
type one struct {
	file *File
	*Finding
}

func (o one) place() string { return fmt.Sprintf("%s:%d:%d", shownPath(o.file.Path), o.Line, o.Column) }

// writeHuman writes every finding with its excerpt, for people.
func writeHuman(w io.Writer, c *Check) error {
	var all []one
	c.each(func(file *File, f *Finding) { all = append(all, one{file, f}) })
	style := Style{Color: c.Color}
	groups := make([][]one, len(all))
	for i := range all {
		groups[i] = all[i : i+1]
	}
	var b bytes.Buffer
	if len(all) > many {
		overview(&b, c)
		groups = grouped(all)
	}
	hidden := 0
	if c.Max > 0 && len(groups) > c.Max {
		for _, g := range groups[c.Max:] {
			hidden += len(g)
		}
		groups = groups[:c.Max]
	}
	given := map[string]bool{}
	for _, g := range groups {
		g[0].write(&b, style, len(all) <= many || !given[g[0].Hint])
		given[g[0].Hint] = true
		also(&b, g)
		if b.Len() > flushAt {
			if _, err := b.WriteTo(w); err != nil {
				return err //nolint:wrapcheck // Write says what it did
			}
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "%s not shown; --max 0 shows all\n", plural(hidden, "more finding"))
	}
	_, err := b.WriteTo(w)
	return err //nolint:wrapcheck // as above
}

// write writes a finding with its excerpt.
func (o one) write(b *bytes.Buffer, style Style, hint bool) {
	message := o.Message + o.mark()
	if o.Severity != SeverityError {
		message = string(o.Severity) + ": " + message
	}
	fmt.Fprintf(b, "%s: %s: %s\n", style.paint("1", o.place()), style.paint("31", string(o.Code)), quiet(printable(message)))
	switch {
	case o.file.Text != "":
		caret(b, quote(o.file.Text, o.Span), o.Line, style)
	case o.Quoted != nil:
		caret(b, *o.Quoted, o.Line, style)
	}
	if hint && o.Hint != "" {
		fmt.Fprintf(b, "  hint: %s\n", quiet(printable(o.Hint)))
	}
}

// also lists the other places of equal findings.
func also(b *bytes.Buffer, group []one) {
	if len(group) < 2 {
		return
	}
	last := group[0].file
	var places []string
	for _, o := range group[1:min(len(group), maxPlaces+1)] {
		if o.file == last {
			places = append(places, fmt.Sprintf("%d:%d", o.Line, o.Column))
		} else {
			places = append(places, o.place())
		}
		last = o.file
	}
	more := ""
	if n := len(group) - 1 - len(places); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(b, "  also at %s%s\n", strings.Join(places, ", "), more)
}

// grouped groups findings with the same message: those of one file, those of the
// same statement in several files, and those about files themselves.
func grouped(all []one) [][]one {
	type key struct {
		code                sqlguard.Code
		severity            Severity
		state               State
		message, path, same string
	}
	at := map[key]int{}
	var groups [][]one
	for _, o := range all {
		here := key{o.Code, o.Severity, o.State, o.Message, o.file.Path, ""}
		same := key{o.Code, o.Severity, o.State, o.Message, "", o.Fingerprint}
		i, found := at[here]
		if !found {
			i, found = at[same]
		}
		if !found {
			i = len(groups)
			groups = append(groups, nil)
			at[here] = i
		}
		if _, known := at[same]; !known {
			at[same] = i
		}
		groups[i] = append(groups[i], o)
	}
	return groups
}

// overview writes the counts of the findings by code and by folder.
func overview(b *bytes.Buffer, c *Check) {
	s := Count(c)
	fmt.Fprintf(b, "%s in %s\n", plural(s.Findings, "finding"), plural(s.Files, "file"))
	table(b, s)
	fmt.Fprintln(b)
}

// Statistics counts the findings that a report shows.
type Statistics struct {
	Findings int      `json:"findings"`
	Files    int      `json:"files"` // with findings
	Codes    []Counts `json:"codes"`
	Folders  []Counts `json:"folders"`
}

// Counts are those of the findings of a code with one severity, or in a folder.
type Counts struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity,omitempty"` // of a code
	Findings int      `json:"findings"`
	Files    int      `json:"files"`
	// Codes are those of a folder, the most frequent first.
	Codes []sqlguard.Code `json:"codes,omitempty"`
}

// maxFolders is the most folders that are counted on their own.
const maxFolders = 12

// Count counts the findings of a check by code and by folder. Folders are
// divided as long as there are few of them.
func Count(c *Check) Statistics {
	s := Statistics{Codes: []Counts{}, Folders: []Counts{}}
	byFile := map[*File]map[sqlguard.Code]int{}
	type kind struct { // a code can have another severity in some folders, or for some statements
		code     sqlguard.Code
		severity Severity
	}
	kinds := map[kind]*Counts{}
	last := map[kind]*File{} // in which it was found
	c.each(func(file *File, f *Finding) {
		s.Findings++
		if byFile[file] == nil {
			byFile[file] = map[sqlguard.Code]int{}
		}
		byFile[file][f.Code]++
		k := kind{f.Code, f.Severity}
		if kinds[k] == nil {
			kinds[k] = &Counts{Name: string(f.Code), Severity: f.Severity}
		}
		if kinds[k].Findings++; last[k] != file {
			kinds[k].Files++
		}
		last[k] = file
	})
	s.Files = len(byFile)
	for _, n := range kinds {
		s.Codes = append(s.Codes, *n)
	}
	most := func(x, y Counts) int {
		return cmp.Or(y.Findings-x.Findings, strings.Compare(x.Name, y.Name), strings.Compare(string(x.Severity), string(y.Severity)))
	}
	slices.SortFunc(s.Codes, most)

	depth := 1
	for deeper := true; deeper && depth < 16; {
		names := map[string]bool{}
		deeper = false
		for file := range byFile {
			name, more := upTo(file.Path, depth+1)
			names[name], deeper = true, deeper || more
		}
		if len(names) > maxFolders {
			break
		}
		depth++
	}
	folders := map[string]map[sqlguard.Code]int{}
	files := map[string]int{}
	for file, found := range byFile {
		name, _ := upTo(file.Path, depth)
		if folders[name] == nil {
			folders[name] = map[sqlguard.Code]int{}
		}
		files[name]++
		for code, n := range found {
			folders[name][code] += n
		}
	}
	for name, found := range folders {
		n := Counts{Name: name, Files: files[name]}
		for code, times := range found {
			n.Findings += times
			n.Codes = append(n.Codes, code)
		}
		slices.SortFunc(n.Codes, func(x, y sqlguard.Code) int {
			return cmp.Or(found[y]-found[x], strings.Compare(string(x), string(y)))
		})
		s.Folders = append(s.Folders, n)
	}
	slices.SortFunc(s.Folders, most)
	return s
}

// upTo returns the folder of a path, cut to its first folders, and whether the
// path has more of them.
func upTo(name string, depth int) (string, bool) {
	folder := path.Dir(name)
	parts := strings.Split(folder, "/")
	if len(parts) <= depth {
		return folder, false
	}
	return strings.Join(parts[:depth], "/"), true
}

// WriteStatistics writes the counts for people.
func WriteStatistics(w io.Writer, s Statistics) error {
	var b bytes.Buffer
	table(&b, s)
	_, err := b.WriteTo(w)
	return err //nolint:wrapcheck // the caller says what it wrote
}

func table(b *bytes.Buffer, s Statistics) {
	for _, n := range s.Codes {
		fmt.Fprintf(b, "%7d  %-8s %-24s %s\n", n.Findings, n.Severity, n.Name, plural(n.Files, "file"))
	}
	if len(s.Folders) < 2 {
		return
	}
	for _, n := range s.Folders[:min(len(s.Folders), maxFolders)] {
		shown := n.Codes[:min(len(n.Codes), 3)]
		names := make([]string, len(shown))
		for i, code := range shown {
			names[i] = string(code)
		}
		more := ""
		if len(n.Codes) > len(shown) {
			more = ", …"
		}
		fmt.Fprintf(b, "%7d  %s (%s%s)\n", n.Findings, shownPath(n.Name), strings.Join(names, ", "), more)
	}
	if rest := s.Folders[min(len(s.Folders), maxFolders):]; len(rest) > 0 {
		n := 0
		for _, folder := range rest {
			n += folder.Findings
		}
		fmt.Fprintf(b, "%7d  in %d more folders\n", n, len(rest))
	}
}

// writeCompact writes one line for each finding, as compilers do.
func writeCompact(w io.Writer, c *Check) error {
	var b bytes.Buffer
	c.shown(func(file *File, f *Finding) {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s [%s]\n", shownPath(file.Path), f.Line, f.Column, f.Severity, quiet(printable(f.advice())), f.Code)
	})
	_, err := b.WriteTo(w)
	return err //nolint:wrapcheck // Write says what it did
}
