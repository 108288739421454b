package console

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// OneOf returns an error of usage unless value is one of known.
func OneOf(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return Usage("%s %s: expected one of %s", flag, EscapeControls(value), strings.Join(known, ", "))
}

// DidYouMean returns the end of a message about an unknown name: the known name
// that is nearest, or a short list of all. It may be "".
func DidYouMean(name string, known []string) string {
	if near := execution.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	if len(known) == 0 || len(known) > 30 {
		return ""
	}
	return "; known: " + strings.Join(known, ", ")
}

// CodeNames returns the codes of all findings, for completion and messages.
func CodeNames() []string {
	var names []string
	for _, c := range sqlguard.Codes() {
		names = append(names, string(c.Code))
	}
	return names
}
