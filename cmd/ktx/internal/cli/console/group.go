package console

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/execution"
)

// AnnotationGroup marks a command that only holds others. Cobra can run it, so
// that it can answer an unknown name behind it with a message of ours.
const AnnotationGroup = "group"

// Group returns a command that only holds others. To run it alone is an error of
// usage.
func Group(use, short string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short}
	MakeGroup(c)
	c.AddCommand(children...)
	return c
}

// MakeGroup makes c behave like a command of [Group].
func MakeGroup(c *cobra.Command) {
	c.Args, c.ValidArgsFunction = cobra.ArbitraryArgs, cobra.NoFileCompletions
	c.Annotations = map[string]string{AnnotationGroup: "yes"}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usage("%s needs one of: %s", cmd.CommandPath(), strings.Join(childNames(cmd), ", "))
		}
		return UnknownCommand(cmd, args[0])
	}
}

// UnknownCommand returns the error of usage for a name that is no command of c.
func UnknownCommand(c *cobra.Command, name string) error {
	near := Suggestion(c, name)
	if near == "" {
		return Usage("unknown command %q for %q; it has: %s", name, c.CommandPath(), strings.Join(childNames(c), ", "))
	}
	return Usage("unknown command %q for %q; did you mean %s?", name, c.CommandPath(), near)
}

// Suggestion returns the command of c that was probably meant, or "".
func Suggestion(c *cobra.Command, name string) string {
	if near := execution.Nearest(name, childNames(c)); near != "" {
		return near
	}
	c.SuggestionsMinimumDistance = 2
	return strings.Join(c.SuggestionsFor(name), " or ")
}

func childNames(c *cobra.Command) []string {
	var names []string
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return names
}

// OneText returns the check of arguments of a command that takes one text, such as a
// question, and has commands below it. Several arguments are a command that is
// misspelt, or a text without quotes. Noun is what messages call the text.
func OneText(noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < 2 {
			return nil
		}
		if near := Suggestion(cmd, args[0]); near != "" {
			return Usage("unknown command %q for %q; did you mean %s?", args[0], cmd.CommandPath(), near)
		}
		return Usage("expected the %s as one argument, got %d: put it in quotes", noun, len(args))
	}
}
