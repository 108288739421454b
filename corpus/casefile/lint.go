package casefile

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// OwnPrefix begins the ids of the corpus. Cases of others have other ids.
const OwnPrefix = "KTX-"

// Lint returns the problems of all files, ordered by file and line. It checks the
// files of the corpus together, by the rules of the corpus, and all other files
// together, by weaker rules. Codes are the codes that a case may name.
func Lint(files []*File, codes []string) []Problem {
	type source struct {
		file  *File
		place place
	}
	var (
		ours, others         []corpus.Case
		ourSource, otherFrom []source
		problems             = []Problem{}
		unread               = map[string]bool{} // the ids of cases that could not be read
	)
	for _, f := range files {
		own := slices.ContainsFunc(f.Cases, func(c corpus.Case) bool { return strings.HasPrefix(c.ID, OwnPrefix) })
		if own && IsClassFile(f.name) {
			f.checkName()
		}
		problems = append(problems, f.problems...)
		for _, p := range f.problems {
			unread[p.ID] = true
		}
		for i, c := range f.Cases {
			if own {
				ours, ourSource = append(ours, c), append(ourSource, source{f, f.places[i]})
			} else {
				others, otherFrom = append(others, c), append(otherFrom, source{f, f.places[i]})
			}
		}
	}
	collect := func(found []corpus.Problem, from []source) {
		for _, p := range found {
			if (p.Field == "id" || p.Field == "benign_twin") && (unread[p.ID+"B"] || p.ID != "" && unread[strings.TrimSuffix(p.ID, "B")]) {
				continue // its twin exists, and has a problem of its own
			}
			s := from[p.Index]
			problems = append(problems, Problem{s.file.name, s.place.of(p.Field), p.ID, p.Field, p.Message})
		}
	}
	collect(corpus.Lint(ours, codes), ourSource)
	collect(corpus.LintOthers(others, codes), otherFrom)
	order := func(name string) int {
		return slices.IndexFunc(files, func(f *File) bool { return f.name == name })
	}
	slices.SortStableFunc(problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(order(x.File), order(y.File)), cmp.Compare(x.Line, y.Line))
	})
	return problems
}

// checkName reports a class file whose name or folder is not that of its class and
// dialect.
func (f *File) checkName() {
	if len(f.Cases) == 0 {
		return
	}
	c := f.Cases[0]
	name := filepath.ToSlash(f.name)
	if want := c.Class + ".yaml"; path.Base(name) != want {
		f.add(1, "", "", "contains the class %s, which belongs in %s/%s", c.Class, c.Dialect, want)
		return
	}
	folder := path.Base(path.Dir(name))
	if folder != c.Dialect && slices.Contains(dialectNames(), folder) {
		f.add(1, "", "", "contains cases of %s, which belong in %s/%s.yaml", c.Dialect, c.Dialect, c.Class)
	}
}
