package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/execution"
)

// annotationGroup marks commands that only hold others. They can be run only
// so that what follows them can be answered.
const annotationGroup = "group"

// usageTemplate is cobra's own, without the line of a group that suggests that
// the group alone does something.
func usageTemplate(c *cobra.Command) string {
	return strings.Replace(c.UsageTemplate(), "{{if .Runnable}}", `{{if and .Runnable (not (eq (index .Annotations "`+annotationGroup+`") "yes"))}}`, 1)
}

// group makes a command that only holds others; without one it is wrong usage.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short}
	makeGroup(c)
	c.AddCommand(children...)
	return c
}

func makeGroup(c *cobra.Command) {
	c.Args, c.ValidArgsFunction = cobra.ArbitraryArgs, cobra.NoFileCompletions
	c.Annotations = map[string]string{annotationGroup: "yes"}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s needs one of: %s", cmd.CommandPath(), strings.Join(childNames(cmd), ", "))
		}
		return unknownCommand(cmd, args[0])
	}
}

// completionGroup makes the library's completion command answer like a group.
func completionGroup(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		makeGroup(c)
	}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var out []string
			for _, c := range at.Commands() {
				if c.IsAvailableCommand() {
					out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usage("%v", err)
			}
			if len(rest) > 0 {
				return unknownCommand(at, rest[0])
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

func unknownCommand(c *cobra.Command, name string) error {
	near := suggestion(c, name)
	if near == "" {
		return usage("unknown command %q for %q; it has: %s", name, c.CommandPath(), strings.Join(childNames(c), ", "))
	}
	return usage("unknown command %q for %q; did you mean %s?", name, c.CommandPath(), near)
}

// suggestion names the command of c that was probably meant, or "".
func suggestion(c *cobra.Command, name string) string {
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

// flagError tells a fault of the flags. What stands before the flag may be the
// better explanation: a command that does not exist.
func (a *app) flagError(c *cobra.Command, err error) error {
	if f := c.Flag("json"); f != nil && f.Value.Type() == "bool" && slices.Contains(a.args, "--json") {
		a.json = true // it may stand behind the fault
	}
	if _, isGroup := c.Annotations[annotationGroup]; isGroup {
		if before := c.Flags().Args(); len(before) > 0 {
			return unknownCommand(c, before[0])
		}
	}
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if m := badValue.FindStringSubmatch(err.Error()); m != nil {
		return usage("--%s %s: expected %s", m[2], m[1], valueOf(c, m[2]))
	}
	if !unknown {
		return usage("%v; see %s --help", err, c.CommandPath())
	}
	if near := execution.Nearest(name, flagNames(c)); near != "" {
		return usage("unknown flag --%s for %q; did you mean --%s?", name, c.CommandPath(), near)
	}
	return usage("unknown flag --%s for %q; see %s --help", name, c.CommandPath(), c.CommandPath())
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
				return usage("%d is the wrong number of arguments; it is called as: %s", len(args), strings.TrimSuffix(cmd.UseLine(), " [flags]"))
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
