package corpus

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/corpus"
	corpusrun "github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
)

// Command returns the command ktx corpus.
func Command(a *console.App) *cobra.Command {
	return console.Group("corpus", "The statements that a read-only guard must refuse or allow", listCommand(a), showCommand(a), runCommand(a), diffCommand(a), reportCommand(a), lintCommand(a), newCommand(a), exportCommand(a))
}

// caseFilter selects cases.
type caseFilter struct{ dialect, class, expect string }

var expectations = []string{string(corpus.Reject), string(corpus.Allow), string(corpus.Policy)}

func (f *caseFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.dialect, "dialect", "", "only cases of this dialect")
	c.Flags().StringVar(&f.class, "class", "", "only cases of this class")
	c.Flags().StringVar(&f.expect, "expect", "", "only cases with this expectation: reject, allow or policy")
	for flag, values := range map[string][]string{"dialect": dialectNames(), "class": classNames(), "expect": expectations} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

func dialectNames() []string {
	var names []string
	for _, d := range corpus.Dialects() {
		names = append(names, d.Name)
	}
	return names
}

func classNames() []string {
	var names []string
	for _, c := range corpus.Classes() {
		names = append(names, c.Name)
	}
	return names
}

// of returns the cases that the filter selects. An unknown name is an error of
// usage, because a run without cases must not look like a success.
func (f *caseFilter) of(cases []corpus.Case, classes []string) ([]corpus.Case, error) {
	for _, flag := range []struct {
		name, value string
		known       []string
	}{{"--dialect", f.dialect, dialectNames()}, {"--class", f.class, classes}, {"--expect", f.expect, expectations}} {
		if flag.value != "" && !slices.Contains(flag.known, flag.value) {
			return nil, console.Usage("%s %s is not known%s", flag.name, console.EscapeControls(flag.value), console.DidYouMean(flag.value, flag.known))
		}
	}
	return slices.DeleteFunc(slices.Clone(cases), func(c corpus.Case) bool {
		return f.dialect != "" && c.Dialect != f.dialect || f.class != "" && c.Class != f.class || f.expect != "" && string(c.Expect) != f.expect
	}), nil
}

// classesOf returns the classes of the cases, each once.
func classesOf(cases []corpus.Case) []string {
	var names []string
	for _, c := range cases {
		if !slices.Contains(names, c.Class) {
			names = append(names, c.Class)
		}
	}
	return names
}

// caseEntry is a case in the output of ktx corpus list.
type caseEntry struct {
	ID         string        `json:"id"`
	Class      string        `json:"class"`
	Dialect    string        `json:"dialect"`
	Flavour    string        `json:"flavour,omitempty"`
	Title      string        `json:"title"`
	Expect     corpus.Expect `json:"expect"`
	Codes      []string      `json:"codes"`
	BenignTwin string        `json:"benign_twin,omitempty"`
}

func listCommand(a *console.App) *cobra.Command {
	var (
		filter caseFilter
		output string
	)
	c := &cobra.Command{
		Use:   "list",
		Short: "List the cases",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			cases, err := filter.of(corpus.Cases(), classNames())
			if err != nil {
				return err
			}
			if format == console.FormatJSON {
				list := []caseEntry{}
				for _, c := range cases {
					list = append(list, caseEntry{c.ID, c.Class, c.Dialect, c.Flavour, c.Title, c.Expect, append([]string{}, c.Codes...), c.BenignTwin})
				}
				a.PrintJSON(console.NewDocument("ktx-corpus-list/1").With("version", corpus.Version()).With("cases", list))
				return nil
			}
			var rows [][]console.Cell
			for _, c := range cases {
				rows = append(rows, console.Texts(c.ID, c.Class, string(c.Expect), strings.Join(c.Codes, ","), c.Title))
			}
			a.Table(format, []string{"id", "class", "expect", "codes", "title"}, rows)
			return nil
		},
	}
	filter.flags(c)
	console.OutputFlag(c, &output)
	return c
}

func showCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Print one case, and the answer of the built-in guard",
		Args:  cobra.ExactArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
			for _, c := range corpus.Cases() {
				if len(args) == 0 {
					ids = append(ids, cobra.CompletionWithDesc(c.ID, c.Title))
				}
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cases := corpus.Cases()
			i := slices.IndexFunc(cases, func(c corpus.Case) bool { return strings.EqualFold(c.ID, args[0]) })
			if i < 0 {
				var ids []string
				for _, c := range cases {
					ids = append(ids, c.ID)
				}
				return console.Usage("no case has the id %q%s", args[0], console.DidYouMean(args[0], ids))
			}
			guard, err := corpusrun.NewBuiltin(a.Version, dialects.All())
			if err != nil {
				return err
			}
			results, err := corpusrun.Run(cmd.Context(), guard, cases[i:i+1], nil)
			if err != nil {
				return err
			}
			if a.JSON {
				a.PrintJSON(console.NewDocument("ktx-corpus-case/1").With("version", corpus.Version()).With("case", cases[i]).With("answer", results[0]))
				return nil
			}
			c := cases[i]
			a.Printf("%s  %s\n", a.Paint(a.Out, console.StyleBold, c.ID), c.Title)
			a.Printf("dialect  %s, class %s\nexpect   %s\n", c.Dialect, c.Class, strings.TrimSpace(string(c.Expect)+" "+strings.Join(c.Codes, ", ")))
			if c.BenignTwin != "" {
				a.Printf("twin     %s\n", c.BenignTwin)
			}
			for _, line := range about(c) {
				a.Printf("%-8s %s\n", line[0], console.EscapeControls(line[1]))
			}
			a.Printf("answer   %s\n\n%s\n", strings.TrimSpace(string(results[0].Decision)+" "+string(results[0].Code)), caseText(c.SQL))
			return nil
		},
	}
}

// about returns what a case says of the engine, of its effect and of its
// evidence and sources, a line each.
func about(c corpus.Case) (lines [][2]string) {
	add := func(name, text string) { lines = append(lines, [2]string{name, text}) }
	if e := c.Engine; e != nil {
		text := e.Name
		if e.Min != "" {
			text += " from " + e.Min
		}
		if e.Max != "" {
			text += " up to " + e.Max
		}
		if len(e.Needs) > 0 {
			text += ", needs " + strings.Join(e.Needs, ", ")
		}
		add("engine", text)
	}
	if c.Setup != nil {
		for _, text := range slices.Concat(c.Setup.Database, c.Setup.Session) {
			add("setup", text)
		}
	}
	if e := c.Effect; e != nil {
		text := e.Kind
		if e.ContainedByReadOnlyTx != nil && *e.ContainedByReadOnlyTx {
			text += "; a read-only transaction alone stops it"
		} else if e.ContainedByReadOnlyTx != nil {
			text += "; a read-only transaction alone does not stop it"
		}
		add("effect", text)
	}
	for _, e := range c.Evidence {
		if e.Source != "" {
			add("evidence", e.Source+" "+e.Ref)
			continue
		}
		text := e.Engine + " " + e.Version + ", " + e.Role + ", transaction " + e.Tx + ": " + e.Outcome
		if e.Probe != "" {
			text += "; " + e.Probe
		}
		add("evidence", text+" ("+e.Date+")")
	}
	if c.NotShown != nil {
		add("not shown", c.NotShown.Kind+": "+c.NotShown.Text)
	}
	for _, source := range slices.Concat(c.Refs.CWE, c.Refs.CVE, c.Refs.URLs) {
		add("source", source)
	}
	add("since", c.Since)
	return lines
}

// caseText returns the statement of a case for people: control characters are
// escaped and long lines are cut.
func caseText(sql string) string {
	lines := strings.Split(console.EscapeLines(sql), "\n")
	for i := range lines {
		lines[i] = console.Shorten(lines[i], 2000)
	}
	return strings.Join(lines, "\n")
}
