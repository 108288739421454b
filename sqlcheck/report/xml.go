package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
)

// The JUnit report, as Jenkins, GitLab and others read it. It has a suite for
// each file, and in it a failed test for each finding, or one passed test.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		File    string       `xml:"file,attr"`
		Line    int          `xml:"line,attr,omitempty"`
		Failure *junitResult `xml:"failure,omitempty"`
		Error   *junitResult `xml:"error,omitempty"`
		Skipped *junitResult `xml:"skipped,omitempty"`
		Out     string       `xml:"system-out,omitempty"`
	}
	junitResult struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

func writeJUnit(w io.Writer, c *Check) error {
	all := junitSuites{Name: "ktx sql check"}
	for i := range c.Files {
		s := junitSuiteOf(&c.Files[i])
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
		all.Suites = append(all.Suites, s)
	}
	return writeXML(w, all)
}

func junitSuiteOf(file *File) junitSuite {
	name := printable(file.Path)
	s := junitSuite{Name: name}
	for i := range file.Findings {
		f := &file.Findings[i]
		place := fmt.Sprintf("%s:%d:%d", name, f.Line, f.Column)
		t := junitCase{Name: fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Code), Class: name, File: name, Line: f.Line}
		result := &junitResult{Message: printable(f.Message), Type: string(f.Code), Text: place + ": " + printable(f.advice())}
		switch {
		case !f.Counts():
			t.Skipped = &junitResult{Message: printable(f.Message + f.mark())}
			s.Skipped++
		case Unchecked(f.Code):
			t.Error = result
			s.Errors++
		case f.Severity == SeverityError:
			t.Failure = result
			s.Failures++
		default:
			t.Out = string(f.Severity) + ": " + result.Text
		}
		s.Cases = append(s.Cases, t)
	}
	if len(s.Cases) == 0 {
		s.Cases = []junitCase{{Name: fmt.Sprintf("%d statements", file.Judged), Class: name, File: name}}
	}
	s.Tests = len(s.Cases)
	return s
}

// The report of Checkstyle.
type (
	checkstyleReport struct {
		XMLName xml.Name         `xml:"checkstyle"`
		Version string           `xml:"version,attr"`
		Files   []checkstyleFile `xml:"file"`
	}
	checkstyleFile struct {
		Name   string            `xml:"name,attr"`
		Errors []checkstyleError `xml:"error"`
	}
	checkstyleError struct {
		Line     int    `xml:"line,attr"`
		Column   int    `xml:"column,attr"`
		Severity string `xml:"severity,attr"`
		Message  string `xml:"message,attr"`
		Source   string `xml:"source,attr"`
	}
)

func writeCheckstyle(w io.Writer, c *Check) error {
	report := checkstyleReport{Version: "4.3"}
	for i := range c.Files {
		file := &c.Files[i]
		out := checkstyleFile{Name: printable(file.Path)}
		for j := range file.Findings {
			f := &file.Findings[j]
			if !c.All && !f.Counts() {
				continue
			}
			severity := map[Severity]string{SeverityError: "error", SeverityWarning: "warning", SeverityNote: "info"}[f.Severity]
			out.Errors = append(out.Errors, checkstyleError{f.Line, f.Column, severity, printable(f.advice()), "ktx." + string(f.Code)})
		}
		report.Files = append(report.Files, out)
	}
	return writeXML(w, report)
}

func writeXML(w io.Writer, doc any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err //nolint:wrapcheck // Write says what it did
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err //nolint:wrapcheck // as above
	}
	// Two number signs occur in texts only. A log could read them as a command.
	text = append(bytes.ReplaceAll(text, []byte("##"), []byte("#&#35;")), '\n')
	_, err = w.Write(text)
	return err //nolint:wrapcheck // as above
}
