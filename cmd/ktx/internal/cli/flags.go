package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution"
)

// flagError tells a fault of the flags. What stands before the flag may be the
// better explanation: a command that does not exist.
func flagError(a *console.App, c *cobra.Command, err error) error {
	if f := c.Flag("json"); f != nil && f.Value.Type() == "bool" && slices.Contains(a.Args, "--json") {
		a.JSON = true // it may stand behind the fault
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

// badValue is the library's error of a value that cannot be read.
var badValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-., )?--([a-z-]+)" flag: `)

// valueOf says what the flag of c takes.
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

// countArgs lets every command below c say how it is called when it is given
// too many or too few arguments.
func countArgs(c *cobra.Command) {
	for _, child := range c.Commands() {
		countArgs(child)
	}
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && strings.HasPrefix(err.Error(), "accepts ") {
				return console.Usage("%d is the wrong number of arguments; it is called as: %s", len(args), strings.TrimSuffix(cmd.UseLine(), " [flags]"))
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
