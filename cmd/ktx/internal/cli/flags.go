package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution"
)

// flagError returns the error of usage for a wrong flag. When a word before the
// flag is no command, it reports that instead.
func flagError(a *console.App, c *cobra.Command, err error) error {
	if f := c.Flag("json"); f != nil && f.Value.Type() == "bool" && slices.Contains(a.Args, "--json") {
		a.JSON = true // --json may stand after the wrong flag, and is not parsed then
	}
	if _, isGroup := c.Annotations[console.AnnotationGroup]; isGroup {
		if before := c.Flags().Args(); len(before) > 0 {
			return console.UnknownCommand(c, before[0])
		}
	}
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if m := badValue.FindStringSubmatch(err.Error()); m != nil {
		return console.Usage("--%s %s: expected %s", m[2], m[1], valueOf(c, m[2]))
	}
	if !unknown {
		return console.Usage("%v; see %s --help", err, c.CommandPath())
	}
	if near := execution.Nearest(name, flagNames(c)); near != "" {
		return console.Usage("unknown flag --%s for %q; did you mean --%s?", name, c.CommandPath(), near)
	}
	return console.Usage("unknown flag --%s for %q; see %s --help", name, c.CommandPath(), c.CommandPath())
}

// badValue matches the library's error for a value that it cannot read.
var badValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-., )?--([a-z-]+)" flag: `)

// valueOf returns what kind of value a flag of c takes.
func valueOf(c *cobra.Command, name string) string {
	if f := c.Flag(name); f != nil {
		switch f.Value.Type() {
		case "int", "int64":
			return "a whole number"
		case "float64":
			return "a number"
		case "duration":
			return "a time such as 15s"
		case "bool":
			return "true or false"
		}
	}
	return "another value"
}

// countArgs makes every command below c say how to call it when it gets too many
// or too few arguments.
func countArgs(c *cobra.Command) {
	for _, child := range c.Commands() {
		countArgs(child)
	}
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && strings.HasPrefix(err.Error(), "accepts ") {
				return console.Usage("wrong number of arguments: %d; usage: %s", len(args), strings.TrimSuffix(cmd.UseLine(), " [flags]"))
			}
			return err
		}
	}
}

// flagNames returns the names of the flags that c takes.
func flagNames(c *cobra.Command) []string {
	var names []string
	for line := range strings.Lines(c.Flags().FlagUsages()) {
		if _, rest, ok := strings.Cut(line, "--"); ok {
			names = append(names, strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\n' })[0])
		}
	}
	return names
}
