package corpus

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/mutate"
)

// mutation is the flag --mutate, which replaces cases by mutants.
type mutation struct{ kinds []string }

// everyKind is the value of --mutate without a value.
const everyKind = "all"

func (m *mutation) flags(c *cobra.Command) {
	c.Flags().StringSliceVar(&m.kinds, "mutate", nil,
		"use mutants of the selected cases instead, which say the same in other characters: of all kinds, or of some, as in --mutate=case,quote (kinds: "+strings.Join(mutationKinds(), ", ")+")")
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

// of returns the mutants of the cases, or the cases without --mutate.
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
		return nil, console.Usage("no selected case has a mutant of these kinds")
	}
	return mutants, nil
}
