package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Workflow commands of GitHub Actions are lines "::name key=value,…::message".
// A value must not end the line, a property or the list of them; the runner
// turns these escapes back, each in its part of the line.
var (
	gitHubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	gitHubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub is a workflow command for each finding, which GitHub shows beside
// the line in a pull request.
func writeGitHub(w io.Writer, c *Check) error {
	var b bytes.Buffer
	c.shown(func(file *File, f *Finding) {
		level := map[Severity]string{SeverityError: "error", SeverityWarning: "warning", SeverityNote: "notice"}[f.Severity]
		place := fmt.Sprintf("file=%s,line=%d,endLine=%d", gitHubProperty.Replace(quiet(printable(file.Path))), f.Line, f.EndLine)
		if f.Line == f.EndLine { // columns make sense on one line only; the last is included
			place += fmt.Sprintf(",col=%d,endColumn=%d", f.Column, max(f.Column, f.EndColumn-1))
		}
		fmt.Fprintf(&b, "::%s %s,title=ktx %s::%s\n", level, place, f.Code, gitHubMessage(f.advice()))
	})
	_, err := b.WriteTo(w)
	return err //nolint:wrapcheck // Write says what it did
}

// gitHubMessage is a text as the message of a command. GitHub's runner takes the
// first "::" for the end of the properties and act the last, and neither knows
// an escape for it in a message, so that there is none.
func gitHubMessage(text string) string {
	text = gitHubData.Replace(quiet(printable(text)))
	if strings.HasPrefix(text, ":") {
		text = " " + text
	}
	for strings.Contains(text, "::") {
		text = strings.ReplaceAll(text, "::", ": :")
	}
	return text
}
