package project

import (
	"fmt"
	"strings"
)

// Problem is one error or warning about the file.
type Problem struct {
	Path    string `json:"path"` // dotted, such as connections.shop.port
	Line    int    `json:"line"`
	Message string `json:"message"`
	Warning bool   `json:"warning,omitempty"`
}

// In returns the problem on one line that begins with the name of the file.
func (p Problem) In(file string) string {
	kind := ""
	if p.Warning {
		kind = "warning: "
	}
	if p.Path == FileName { // the problem is about the file as a whole
		return fmt.Sprintf("%s:%d: %s%s", file, p.Line, kind, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s%s: %s", file, p.Line, kind, p.Path, p.Message)
}

// String returns the problem on one line.
func (p Problem) String() string { return p.In(FileName) }

// maxProblems bounds the number of problems that are reported for one file.
const maxProblems = 100

// InvalidError is the error of a configuration file that is not valid.
type InvalidError struct {
	File string
	List []Problem // warnings included
}

// Error lists the errors, one on each line.
func (e *InvalidError) Error() string {
	var lines []string
	for _, problem := range e.List {
		if !problem.Warning {
			lines = append(lines, problem.In(e.File))
		}
	}
	return strings.Join(lines, "\n")
}
