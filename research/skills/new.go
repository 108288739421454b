package skills

import (
	"os"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/rootfile"
)

// NewOptions are what the head of a new skill says.
type NewOptions struct {
	Name        string
	Description string // a text that says what to write if it is empty
	Category    string
}

// InvalidError says that a skill cannot have what was asked for.
type InvalidError struct{ Problem Problem }

// Error is the problem without its place.
func (e *InvalidError) Error() string { return e.Problem.Message }

// newBody is the text of a new skill.
const newBody = `
# %NAME%

## When to use it

Say which tasks this is for, and which it is not for.

## Steps

1. Say what to do first, and which tool to call.
2. Say how to tell that a step went well.

## Example

Show one task with its result.
`

// New writes the SKILL.md of a new draft into a folder below root, and returns its path.
// If there is one, the error wraps [os.ErrExist].
func New(root *os.Root, folder string, o NewOptions) (path string, err error) {
	path = folder + "/" + o.Name + "/" + Main
	if reason := validName(o.Name); reason != "" {
		return path, &InvalidError{Problem{Path: path, Message: quoted(o.Name) + " is no name of a skill: " + reason}}
	}
	if o.Description == "" {
		o.Description = "Say what the skill does, and when an agent uses it: \"Use it when …\"."
	}
	head := "---\nname: " + o.Name + "\ndescription: " + strconv.Quote(o.Description) + "\nmetadata:\n  status: draft\n"
	if o.Category != "" {
		head += "  category: " + strconv.Quote(o.Category) + "\n"
	}
	text := []byte(head + "---\n" + strings.ReplaceAll(newBody, "%NAME%", o.Name))
	r := &reader{path: path, skill: &Skill{}}
	r.parse(o.Name, text)
	for _, p := range r.problems {
		if p.Level == LevelError {
			return path, &InvalidError{p}
		}
	}
	if err := root.MkdirAll(folder+"/"+o.Name, 0o750); err != nil {
		return path, err
	}
	return path, rootfile.Create(root, path, 0o644, rootfile.Bytes(text))
}
