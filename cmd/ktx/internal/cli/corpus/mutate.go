package corpus

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/mutate"
)

// mutation puts mutants in the place of cases.
type mutation struct{ kinds []string }

// everyKind is --mutate without a value.
const everyKind = "all"

func (m *mutation) flags(c *cobra.Command) {
	c.Flags().StringSliceVar(&m.kinds, "mutate", nil,
		"the selected cases in other writings, instead of the cases: all kinds, or those that follow, as in --mutate=case,quote (kinds: "+strings.Join(mutationKinds(), ", ")+")")
	c.Flags().Lookup("mutate").NoOptDefVal = everyKind
	_ = c.RegisterFlagCompletionFunc("mutate", cobra.FixedCompletions(append([]string{everyKind}, mutationKinds()...), cobra.ShellCompDirectiveNoFileComp))
}

func mutationKinds() []string {
	var names []string
	for _, k := range mutate.Kinds() {
		names = append(names, string(k))
	}
	return names
}

// of returns the mutants of the cases, or the cases where none were asked for.
func (m *mutation) of(cases []corpus.Case) ([]corpus.Case, error) {
	if len(m.kinds) == 0 {
		return cases, nil
	}
	var kinds []mutate.Kind
	for _, name := range m.kinds {
		switch known := mutationKinds(); {
		case name == everyKind:
			kinds = append(kinds, mutate.Kinds()...)
		case slices.Contains(known, name):
			kinds = append(kinds, mutate.Kind(name))
		default:
			return nil, console.Usage("--mutate %s is not known%s", console.EscapeControls(name), console.DidYouMean(name, append(known, everyKind)))
		}
	}
	mutants := mutate.All(cases, kinds...)
	if len(mutants) == 0 {
		return nil, console.Usage("no selected case has such a mutant")
	}
	return mutants, nil
}
