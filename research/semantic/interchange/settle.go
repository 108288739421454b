package interchange

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// maxRounds is how often the model is loaded to find what it refuses. What is still
// refused after that is left out with its source.
const maxRounds = 40

// settle writes the sources, loads the model with them, and leaves out what it refuses,
// until nothing is refused.
func (im *importer) settle() (*Result, error) {
	for round := 0; ; round++ {
		files, bySource, err := im.files()
		if err != nil {
			return nil, err
		}
		added := map[string][]byte{}
		for _, f := range files {
			added[f.Name] = f.Content
		}
		m := im.Load(added)
		var problems, foreign []model.Problem
		for _, p := range m.Problems {
			switch {
			case bySource[p.File] != nil:
				problems = append(problems, p)
			case !p.Warning && !slices.ContainsFunc(im.base.Problems, func(o model.Problem) bool { return o.File == p.File && o.Path == p.Path && o.Class == p.Class }):
				foreign = append(foreign, p)
			}
		}
		if len(problems) == 0 && len(foreign) == 0 {
			return &Result{Files: files, Exists: im.exists, Left: im.left, Notes: im.relevant()}, nil
		}
		if len(problems) == 0 {
			im.dropReplacing(foreign[0], files)
			continue
		}
		im.drop(problems, bySource, round >= maxRounds)
	}
}

// files renders the sources that are not left out.
func (im *importer) files() ([]File, map[string]*source, error) {
	used := map[string]bool{}
	bySource := map[string]*source{}
	files := []File{}
	for _, s := range im.sources {
		if s.left {
			continue
		}
		content, err := im.render(s)
		if err != nil {
			return nil, nil, err
		}
		f := File{Source: s.name, Name: im.fileName(s, used), Measures: []string{}, Content: content}
		for _, m := range s.measures {
			f.Measures = append(f.Measures, m.name)
		}
		bySource[f.Name] = s
		files = append(files, f)
	}
	return files, bySource, nil
}

var itemPath = regexp.MustCompile(`^(columns|joins|measures)\[(\d+)\]`)

// drop leaves out what problems name.
func (im *importer) drop(problems []model.Problem, files map[string]*source, whole bool) {
	// A source that needs an invalid one is invalid only until the cause is gone.
	direct := slices.DeleteFunc(slices.Clone(problems), func(p model.Problem) bool { return strings.HasPrefix(p.Message, "it needs the source ") })
	if len(direct) > 0 {
		problems = direct
	}
	type item struct {
		s     *source
		list  string
		index int
	}
	seen := map[item]bool{}
	var columns []*column
	var joins []*join
	var measures []*measure
	var owners []*source
	for _, p := range problems {
		s := files[p.File]
		reason := p.Message
		if p.Hint != "" {
			reason += "; " + p.Hint
		}
		at := itemPath.FindStringSubmatch(p.Path)
		if at == nil || whole {
			if p.Path == "default_time_dimension" && s.defaultTime != "" && !whole {
				im.lose(origin{"default time dimension", s.defaultTime}, s.name, "%s", reason)
				s.defaultTime = ""
				continue
			}
			im.dropSource(s, reason)
			continue
		}
		n, _ := strconv.Atoi(at[2])
		if seen[item{s, at[1], n}] {
			continue
		}
		seen[item{s, at[1], n}] = true
		switch {
		case at[1] == "columns" && n < len(s.columns):
			columns, owners = append(columns, s.columns[n]), append(owners, s)
			im.lose(s.columns[n].origin, s.name, "%s", reason)
		case at[1] == "joins" && n < len(s.joins):
			joins = append(joins, s.joins[n])
			im.lose(s.joins[n].origin, s.name, "%s", reason)
		case at[1] == "measures" && n < len(s.measures):
			measures = append(measures, s.measures[n])
			im.loseMeasure(s.measures[n], s, reason)
		default:
			im.dropSource(s, reason)
		}
	}
	for i, c := range columns {
		im.dropColumn(owners[i], c)
	}
	for _, s := range im.sources {
		s.joins = slices.DeleteFunc(s.joins, func(j *join) bool { return slices.Contains(joins, j) })
	}
	im.dropNeeding()
}

func (im *importer) dropSource(s *source, reason string) {
	if s.left {
		return
	}
	s.left = true
	im.lose(origin{s.kind, s.name}, "", "%s", reason)
	for _, m := range s.measures {
		im.loseMeasure(m, s, "its "+s.kind+" was left out")
	}
}

func (im *importer) loseMeasure(m *measure, s *source, reason string) {
	if !m.left {
		m.left = true
		im.lose(m.origin, s.name, "%s", reason)
	}
}

// dropColumn takes a column out, with what is made of it: without it, its name could mean
// a column of another source.
func (im *importer) dropColumn(s *source, c *column) {
	s.columns = slices.DeleteFunc(s.columns, func(o *column) bool { return o == c })
	delete(s.index, c.name)
	reads := func(tree *expr.Expr) bool {
		found := false
		names(tree, func(n expr.Name) { found = found || n.Qualifier == "" && n.Leaf == c.name })
		return found
	}
	if s.defaultTime == c.name {
		s.defaultTime = ""
	}
	for _, o := range slices.Clone(s.columns) {
		if reads(o.tree) && slices.Contains(s.columns, o) {
			im.lose(o.origin, s.name, "it is made of the column %s, which was left out", shorten(c.name))
			im.dropColumn(s, o)
		}
	}
	s.joins = slices.DeleteFunc(s.joins, func(j *join) bool {
		gone := slices.ContainsFunc(j.pairs, func(p [2]string) bool { return p[0] == c.name })
		if gone {
			im.lose(j.origin, s.name, "it needs the column %s, which was left out", shorten(c.name))
		}
		return gone
	})
	for _, m := range s.measures {
		inside := false
		expr.Walk(m.tree, func(e *expr.Expr) bool {
			inside = inside || e.Op == expr.OpAggregate && reads(e)
			return true
		})
		if inside || reads(m.filter) || m.semi != nil && (m.semi.Over == c.name || slices.Contains(m.semi.Per, c.name)) {
			im.loseMeasure(m, s, "it needs the column "+shorten(c.name)+", which was left out")
		}
	}
}

// dropNeeding takes out the measures that are lost, with those made of them, and the
// joins to sources that are not there.
func (im *importer) dropNeeding() {
	users := map[*measure][]*measure{}
	owner := map[*measure]*source{}
	var queue []*measure
	for _, s := range im.sources {
		for _, m := range s.measures {
			owner[m] = s
			if m.left {
				queue = append(queue, m)
			}
			for _, n := range m.needs {
				users[n] = append(users[n], m)
				if n.left && !slices.Contains(s.measures, n) {
					queue = append(queue, n)
				}
			}
		}
	}
	for len(queue) > 0 {
		gone := queue[0]
		queue = queue[1:]
		for _, m := range users[gone] {
			if !m.left {
				im.loseMeasure(m, owner[m], "it is made of "+gone.kind+" "+shorten(gone.name)+", which was left out")
				queue = append(queue, m)
			}
		}
	}
	exists := func(s *source) bool {
		return !s.left || slices.ContainsFunc(im.exists, func(e Exists) bool { return strings.EqualFold(e.Source, s.name) })
	}
	for _, s := range im.sources {
		s.measures = slices.DeleteFunc(s.measures, func(m *measure) bool { return m.left })
		s.joins = slices.DeleteFunc(s.joins, func(j *join) bool {
			if !exists(j.to) && !s.left {
				im.lose(j.origin, s.name, "%s was left out", shorten(j.to.name))
			}
			return !exists(j.to)
		})
	}
}

// dropReplacing leaves out the sources that take the place of what a scan found, because
// with them a file that was there before is no longer valid.
func (im *importer) dropReplacing(p model.Problem, files []File) {
	reason := "with it, " + cmp.Or(p.File, "the model") + " would not be valid: " + p.Message
	replaced := false
	for _, s := range im.sources {
		if at, ok := im.base.Source(s.name); ok && !s.left && im.base.Sources[at].Form == model.Manifest {
			im.dropSource(s, reason)
			replaced = true
		}
	}
	for _, s := range im.sources {
		if !replaced && slices.ContainsFunc(files, func(f File) bool { return f.Source == s.name }) {
			im.dropSource(s, reason)
		}
	}
	im.dropNeeding()
}

// relevant are the notes on what is written.
func (im *importer) relevant() []Note {
	out := []Note{}
	for _, n := range im.notes {
		fits := n.Source == ""
		for _, s := range im.sources {
			if s.left || shorten(s.name) != n.Source {
				continue
			}
			fits = n.Name == "" || slices.ContainsFunc(s.measures, func(m *measure) bool { return shorten(m.name) == n.Name })
		}
		if fits {
			out = append(out, n)
		}
	}
	return out
}
