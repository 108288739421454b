package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Workflow commands of GitHub Actions are lines "::name key=value,…::message".
// A value must not contain a character that ends the line, a property or the
// list of properties. The runner decodes these escapes.
var (
	gitHubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	gitHubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub writes a workflow command for each finding. GitHub shows it
// beside the line in a pull request.
func writeGitHub(w io.Writer, c *Check) error {
	var b bytes.Buffer
	c.shown(func(file *File, f *Finding) {
		level := map[Severity]string{SeverityError: "error", SeverityWarning: "warning", SeverityNote: "notice"}[f.Severity]
		place := fmt.Sprintf("file=%s,line=%d,endLine=%d", gitHubProperty.Replace(quiet(printable(file.Path))), f.Line, f.EndLine)
		if f.Line == f.EndLine { // columns are valid on one line only; the last one is included
			place += fmt.Sprintf(",col=%d,endColumn=%d", f.Column, max(f.Column, f.EndColumn-1))
		}
		fmt.Fprintf(&b, "::%s %s,title=ktx %s::%s\n", level, place, f.Code, gitHubMessage(f.advice()))
	})
	_, err := b.WriteTo(w)
	return err //nolint:wrapcheck // Write says what it did
}

// gitHubMessage returns text as the message of a command. GitHub's runner takes
// the first "::" as the end of the properties, and act takes the last. Neither
// decodes an escape for it in a message, so the message has none.
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
