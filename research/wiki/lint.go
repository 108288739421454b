package wiki

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// longSummary is the length, in bytes, above which a summary is cut where it is
// shown.
const longSummary = 200

// Lint returns what is wrong with the pages of the project, ordered by file and
// line.
func (s *Store) Lint() ([]Problem, error) {
	snapshot, err := s.Snapshot()
	if err != nil {
		return nil, err
	}
	out, err := s.strangers()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var keys []string
	for _, f := range snapshot.files {
		known[f.key] = true
		keys = append(keys, f.key)
	}
	l := linter{known: known, keys: keys, titles: map[string]string{}, folded: map[string]string{}}
	for _, f := range snapshot.files {
		if f.page == nil {
			out = append(out, Problem{Path: s.Path(f.scope, f.key), Line: 1, Level: LevelError, Message: f.fault})
			continue
		}
		out = append(out, l.page(f.page)...)
	}
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Message, b.Message))
	})
	return out, nil
}

// strangers are files in the folders of pages that are no pages.
func (s *Store) strangers() ([]Problem, error) {
	var out []Problem
	for _, scope := range scopes {
		dir, err := s.root.Open(s.dir(scope))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the wiki: %w", err)
		}
		entries, err := dir.ReadDir(20 * MaxPages)
		_ = dir.Close()
		if err != nil && len(entries) > 0 {
			return nil, fmt.Errorf("read the wiki: %w", err)
		}
		for _, e := range entries {
			name := s.dir(scope) + "/" + e.Name()
			key, page := strings.CutSuffix(e.Name(), extension)
			switch {
			case strings.HasPrefix(e.Name(), "."):
			case e.IsDir():
				out = append(out, Problem{name, 1, LevelWarning, "folders of pages are flat; the pages in this folder are not read"})
			case !page:
				out = append(out, Problem{name, 1, LevelWarning, "only files whose name ends in .md are pages"})
			case !ValidKey(key):
				out = append(out, Problem{name, 1, LevelError, CheckKey(key).Error() + "; rename the file"})
			}
		}
	}
	return out, nil
}

// linter holds what is known of all pages.
type linter struct {
	known  map[string]bool
	keys   []string
	titles map[string]string // the first page with a title, by scope and title
	folded map[string]string // the first page with a key, by scope and key in lower case
}

func (l *linter) page(p *Page) []Problem {
	out := slices.Clone(p.Problems)
	add := func(line int, level Level, format string, args ...any) {
		if len(out) < 2*maxProblems {
			out = append(out, Problem{p.Path, line, level, fmt.Sprintf(format, args...)})
		}
	}
	switch broken := slices.ContainsFunc(p.Problems, func(p Problem) bool { return p.Level == LevelError }); {
	case p.Summary == "" && !broken:
		add(1, LevelWarning, "the page has no summary; write one sentence as summary in its head")
	case len(p.Summary) > longSummary:
		add(1, LevelWarning, "the summary has %d bytes; answers show at most %d characters", len(p.Summary), longSummary)
	}
	if strings.TrimSpace(p.Body) == "" {
		add(1, LevelWarning, "the page has no text")
	}
	for at := range links(p.Body) {
		switch {
		case l.known[at.key]:
		case !ValidKey(at.key):
			add(p.bodyLine+at.line, LevelError, "[[%s]] is no key%s", Excerpt(at.key, 40), didYouMean(Nearest(Slug(at.key), l.keys, 1)))
		default:
			add(p.bodyLine+at.line, LevelError, "[[%s]] leads to no page%s", Excerpt(at.key, 40), didYouMean(Nearest(at.key, l.keys, 1)))
		}
	}
	for _, ref := range p.Refs {
		if !l.known[ref] {
			add(1, LevelError, "refs names %q, which is no page%s", Excerpt(ref, 40), didYouMean(Nearest(ref, l.keys, 1)))
		}
	}
	name := string(p.Scope) + " " + strings.ToLower(p.Title)
	if first := l.titles[name]; first != "" && p.Searchable() {
		add(1, LevelWarning, "it has the title of %s; join the two, or give one another title", first)
	} else if p.Searchable() {
		l.titles[name] = p.Path
	}
	name = string(p.Scope) + " " + strings.ToLower(p.Key)
	if first := l.folded[name]; first != "" {
		add(1, LevelError, "its name differs from %s in case only, and some systems cannot hold both", first)
	} else {
		l.folded[name] = p.Path
	}
	return out
}

func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + near[0] + "?"
}
