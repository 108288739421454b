package sqlcheck_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/report"
)

// generated is a file with known findings.
type generated struct {
	name, text string
	want       []placed
}

// TestPlaces compares the positions of findings, in every format, with the
// positions that the generator of the files knows. It generates every
// combination of a language, a form of its literals, line ends, a byte order
// mark and the end of the last line. KTX_TEST_PLACES sets how many random files
// each combination gets.
func TestPlaces(t *testing.T) {
	t.Parallel()
	rounds := 1
	if text := os.Getenv("KTX_TEST_PLACES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	for _, dialect := range []string{"postgres", "mysql", "mariadb", "sqlite", "sqlserver"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			files := generate(dialect, rounds)
			kinds := map[string]int{}
			dir := t.TempDir()
			inputs := make([]sqlcheck.Input, len(files))
			for i, f := range files {
				inputs[i] = sqlcheck.Input{Path: filepath.Join(dir, f.name)}
				if err := os.WriteFile(inputs[i].Path, []byte(f.text), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, p := range f.want {
					kinds[p.Code]++
				}
			}
			for _, code := range []string{"write_statement", "ddl_statement", "function_not_allowed", "client_command", "dynamic_sql_unprovable"} {
				if kinds[code] < 10 {
					t.Errorf("only %d findings are %s: %v", kinds[code], code, kinds)
				}
			}
			c := sqlcheck.Checker{Choose: with(t, dialect), Today: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
			found, err := c.Run(t.Context(), inputs)
			if err != nil {
				t.Fatal(err)
			}
			failures := 0
			for i := range found {
				found[i].Path = files[i].name
				if wrong := differences(files[i].want, readSpans(found[i])); wrong != nil {
					if failures++; failures <= 3 {
						t.Errorf("%s: %s\n%q", files[i].name, strings.Join(wrong, "\n"), files[i].text)
					}
				}
			}
			if failures > 0 {
				t.Fatalf("%d of %d files", failures, len(files))
			}
			whole := &report.Check{Files: found, Summary: report.Summarize(found), Version: "1"}
			for _, format := range report.Formats() {
				readPlaces(t, format, whole, files)
			}
		})
	}
}

// generate returns files of every kind.
func generate(dialect string, rounds int) []generated {
	kinds := []struct {
		extension string
		forms     []string
		make      func(*writer) marked
	}{
		{".sql", []string{""}, (*writer).file},
		{".go", []string{"interpreted", "raw", "concatenated", "constant", "formatted"}, (*writer).goFile},
		{".py", []string{"single", "triple", "raw", "formatted", "joined", "constant"}, (*writer).python},
		{".js", []string{"quoted", "template", "joined", "constant"}, (*writer).javaScript},
		{".ts", []string{"template"}, (*writer).javaScript},
		{".ipynb", []string{"string", "lines"}, (*writer).notebook},
	}
	var files []generated
	for _, kind := range kinds {
		for _, form := range kind.forms {
			for _, eol := range []string{"\n", "\r\n", "\r"} {
				if kind.extension == ".go" && eol == "\r" {
					continue // CR ends no line in Go
				}
				for _, mark := range []string{"", report.ByteOrderMark} {
					for _, last := range []string{"", "\n", "\n\n"} {
						n := rounds
						if kind.extension == ".sql" {
							n *= 5 // SQL has only one form
						}
						for round := range n {
							n := len(files)
							w := &writer{rand.New(rand.NewPCG(uint64(n), uint64(round))), dialect, eol, form, kind.extension == ".sql" && eol == "\r"}
							m := kind.make(w)
							m.write(w.lines(last))
							f := generated{fmt.Sprintf("%04d-%s%s", n, cmp.Or(form, "sql"), kind.extension), mark + string(m.text), m.places(mark)}
							slices.SortFunc(f.want, byPlace)
							files = append(files, f)
						}
					}
				}
			}
		}
	}
	return files
}

// differences returns the positions that only one of the lists has.
func differences(want, got []placed) []string {
	counts := map[placed]int{}
	for _, p := range want {
		counts[p]++
	}
	for _, p := range got {
		counts[p]--
	}
	var all []string
	for p, n := range counts {
		if n != 0 {
			all = append(all, fmt.Sprintf("%s: %+v", map[bool]string{true: "is not found", false: "is wrong"}[n > 0], p))
		}
	}
	slices.Sort(all)
	return all
}

func byPlace(a, b placed) int {
	return cmp.Or(a.Start-b.Start, a.End-b.End, strings.Compare(a.Code, b.Code))
}

// readSpans returns the findings of a file from the check.
func readSpans(f report.File) []placed {
	var all []placed
	for _, found := range f.Findings {
		all = append(all, placed{string(found.Code), found.Span.Start, found.Span.End, found.Line, found.Column, found.EndLine, found.EndColumn})
	}
	slices.SortFunc(all, byPlace)
	return all
}

// readPlaces reads a report back and compares the positions that the format
// has.
func readPlaces(t *testing.T, format string, c *report.Check, files []generated) {
	t.Helper()
	var b bytes.Buffer
	parts := []*report.Check{c}
	if format == report.FormatHuman { // it groups the findings of many files
		parts = nil
		for i := range c.Files {
			parts = append(parts, &report.Check{Files: c.Files[i : i+1], Summary: c.Summary, Version: c.Version})
		}
	}
	for _, part := range parts {
		if err := report.Write(&b, format, part); err != nil {
			t.Fatal(err)
		}
	}
	read, keep := readers[format], keeps[format]
	if read == nil || keep == nil {
		t.Fatalf("no reader for %s", format)
	}
	got := read(t, b.String(), c)
	shown := 0
	for _, f := range files {
		var want []placed
		for _, p := range f.want {
			if shown++; format != report.FormatMarkdown || shown <= 200 {
				want = append(want, keep(p))
			}
		}
		slices.SortFunc(want, inReport)
		slices.SortFunc(got[f.name], inReport)
		if wrong := differences(want, got[f.name]); wrong != nil {
			t.Fatalf("%s: %s: %s\n%q", format, f.name, strings.Join(wrong, "\n"), f.text)
		}
	}
}

func inReport(a, b placed) int {
	return cmp.Or(a.Line-b.Line, a.Column-b.Column, a.EndLine-b.EndLine, a.EndColumn-b.EndColumn, a.Start-b.Start, strings.Compare(a.Code, b.Code))
}

// keeps reduces a position to what a format has.
var keeps = map[string]func(placed) placed{
	report.FormatHuman:      beginning,
	report.FormatCompact:    beginning,
	report.FormatJUnit:      beginning,
	report.FormatCheckstyle: beginning,
	report.FormatMarkdown:   beginning,
	report.FormatJSON:       func(p placed) placed { return p },
	report.FormatJSONL:      func(p placed) placed { return p },
	report.FormatSARIF:      linesAndColumns,
	report.FormatGitLab:     linesAndColumns,
	report.FormatGitHub: func(p placed) placed { // columns on one line only; the last one is included
		p = linesAndColumns(p)
		if p.Line != p.EndLine {
			p.Column, p.EndColumn = 0, 0
		} else {
			p.EndColumn--
		}
		return p
	},
}

func beginning(p placed) placed {
	return placed{Code: p.Code, Line: p.Line, Column: p.Column}
}

func linesAndColumns(p placed) placed {
	p.Start, p.End = 0, 0
	return p
}

type reader func(t *testing.T, text string, c *report.Check) map[string][]placed

var readers = map[string]reader{
	report.FormatHuman: func(t *testing.T, text string, _ *report.Check) map[string][]placed {
		t.Helper()
		return readLines(t, text, regexp.MustCompile(`(?m)^(\d{4}-[^:\n]+):(\d+):(\d+): (\w+): `))
	},
	report.FormatCompact: func(t *testing.T, text string, _ *report.Check) map[string][]placed {
		t.Helper()
		return readLines(t, text, regexp.MustCompile(`(?m)^([^:\n]+):(\d+):(\d+): \w+: .* \[(\w+)\]$`))
	},
	report.FormatMarkdown: func(t *testing.T, text string, _ *report.Check) map[string][]placed {
		t.Helper()
		return readLines(t, html.UnescapeString(text), regexp.MustCompile(`(?m)^\| \w+ \| <code>([^:\n]+):(\d+):(\d+)</code> \| <code>(\w+)</code> \| `))
	},
	report.FormatGitHub:     readGitHub,
	report.FormatJSON:       readJSON,
	report.FormatJSONL:      readJSONL,
	report.FormatSARIF:      readSARIF,
	report.FormatGitLab:     readGitLab,
	report.FormatJUnit:      readJUnit,
	report.FormatCheckstyle: readCheckstyle,
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func readLines(t *testing.T, text string, line *regexp.Regexp) map[string][]placed {
	t.Helper()
	all := map[string][]placed{}
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		all[m[1]] = append(all[m[1]], placed{Code: m[4], Line: number(t, m[2]), Column: number(t, m[3])})
	}
	return all
}

func readGitHub(t *testing.T, text string, _ *report.Check) map[string][]placed {
	t.Helper()
	all := map[string][]placed{}
	for line := range strings.Lines(text) {
		properties, _, ok := strings.Cut(line[strings.IndexByte(line, ' ')+1:], "::")
		if !ok {
			t.Fatalf("%q is no command", line)
		}
		values := map[string]string{}
		for p := range strings.SplitSeq(properties, ",") {
			key, value, _ := strings.Cut(p, "=")
			values[key] = value
		}
		p := placed{Code: strings.TrimPrefix(values["title"], "ktx "), Line: number(t, values["line"]), EndLine: number(t, values["endLine"])}
		if values["col"] != "" {
			p.Column, p.EndColumn = number(t, values["col"]), number(t, values["endColumn"])
		}
		all[values["file"]] = append(all[values["file"]], p)
	}
	return all
}

type jsonFinding struct {
	File                             string
	Code                             string
	Span                             struct{ Start, End int }
	Line, Column, EndLine, EndColumn int
}

func (f jsonFinding) placed() placed {
	return placed{f.Code, f.Span.Start, f.Span.End, f.Line, f.Column, f.EndLine, f.EndColumn}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

func readJSON(t *testing.T, text string, _ *report.Check) map[string][]placed {
	t.Helper()
	var doc struct {
		Files []struct {
			Path     string
			Findings []jsonFinding
		}
	}
	decode(t, text, &doc)
	all := map[string][]placed{}
	for _, file := range doc.Files {
		for _, f := range file.Findings {
			all[file.Path] = append(all[file.Path], f.placed())
		}
	}
	return all
}

func readJSONL(t *testing.T, text string, _ *report.Check) map[string][]placed {
	t.Helper()
	all := map[string][]placed{}
	for line := range strings.Lines(text) {
		var f jsonFinding
		decode(t, line, &f)
		if f.Code != "" {
			all[f.File] = append(all[f.File], f.placed())
		}
	}
	return all
}

// readSARIF also compares the snippet with the text at the position.
func readSARIF(t *testing.T, text string, c *report.Check) map[string][]placed {
	t.Helper()
	var doc struct {
		Runs []struct {
			ColumnKind string
			Results    []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct {
							StartLine, StartColumn, EndLine, EndColumn int
							Snippet                                    struct{ Text string }
						}
					}
				}
			}
		}
	}
	decode(t, text, &doc)
	if doc.Runs[0].ColumnKind != "unicodeCodePoints" {
		t.Errorf("columns are %s", doc.Runs[0].ColumnKind)
	}
	texts := map[string]string{}
	for _, f := range c.Files {
		texts[f.Path] = strings.TrimPrefix(f.Text, report.ByteOrderMark)
	}
	all := map[string][]placed{}
	for _, r := range doc.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		region := at.Region
		all[at.ArtifactLocation.URI] = append(all[at.ArtifactLocation.URI], placed{
			Code: r.RuleID, Line: region.StartLine, Column: region.StartColumn, EndLine: region.EndLine, EndColumn: region.EndColumn,
		})
		if got := cut(texts[at.ArtifactLocation.URI], region.StartLine, region.StartColumn, region.EndLine, region.EndColumn); got != region.Snippet.Text {
			t.Errorf("%s: the snippet is %q, at the place stands %q", at.ArtifactLocation.URI, region.Snippet.Text, got)
		}
	}
	return all
}

// cut returns the text between two positions, as a viewer would find it.
func cut(text string, line, column, endLine, endColumn int) string {
	var b strings.Builder
	l, c := 1, 1
	for i, r := range text {
		if (l > line || l == line && c >= column) && (l < endLine || l == endLine && c < endColumn) {
			b.WriteRune(r)
		}
		c++
		if r == '\n' || r == '\r' && !strings.HasPrefix(text[i+1:], "\n") {
			l, c = l+1, 1
		}
	}
	return b.String()
}

func readGitLab(t *testing.T, text string, _ *report.Check) map[string][]placed {
	t.Helper()
	var issues []struct {
		CheckName string `json:"check_name"`
		Location  struct {
			Path      string
			Positions struct{ Begin, End struct{ Line, Column int } }
		}
	}
	decode(t, text, &issues)
	all := map[string][]placed{}
	for _, i := range issues {
		p := i.Location.Positions
		all[i.Location.Path] = append(all[i.Location.Path], placed{Code: i.CheckName, Line: p.Begin.Line, Column: p.Begin.Column, EndLine: p.End.Line, EndColumn: p.End.Column})
	}
	return all
}

func readJUnit(t *testing.T, text string, _ *report.Check) map[string][]placed {
	t.Helper()
	var doc struct {
		Suites []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				File    string `xml:"file,attr"`
				Line    int    `xml:"line,attr"`
				Failure struct {
					Text string `xml:",chardata"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string][]placed{}
	name := regexp.MustCompile(`^(\d+):(\d+) (\w+)$`)
	for _, suite := range doc.Suites {
		for _, one := range suite.Cases {
			m := name.FindStringSubmatch(one.Name)
			if m == nil {
				continue
			}
			p := placed{Code: m[3], Line: number(t, m[1]), Column: number(t, m[2])}
			if one.Line != p.Line || one.Failure.Text != "" && !strings.HasPrefix(one.Failure.Text, fmt.Sprintf("%s:%d:%d: ", one.File, p.Line, p.Column)) {
				t.Errorf("%+v", one)
			}
			all[one.File] = append(all[one.File], p)
		}
	}
	return all
}

func readCheckstyle(t *testing.T, text string, _ *report.Check) map[string][]placed {
	t.Helper()
	var doc struct {
		Files []struct {
			Name   string `xml:"name,attr"`
			Errors []struct {
				Line   int    `xml:"line,attr"`
				Column int    `xml:"column,attr"`
				Source string `xml:"source,attr"`
			} `xml:"error"`
		} `xml:"file"`
	}
	if err := xml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string][]placed{}
	for _, f := range doc.Files {
		for _, e := range f.Errors {
			all[f.Name] = append(all[f.Name], placed{Code: strings.TrimPrefix(e.Source, "ktx."), Line: e.Line, Column: e.Column})
		}
	}
	return all
}
