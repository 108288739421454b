package model

import (
	"cmp"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// The limits of a model. What is beyond them is a problem, never left out in silence.
const (
	maxSources = 20_000
	maxAliases = 2_000
	maxJoins   = 500     // of one source
	maxEdges   = 500_000 // of the model, those of aliases among them
)

// Load reads and checks the model of one connection. fsys is its folder of the semantic
// layer; that of an os.Root cannot be left over symbolic links. Load never fails: what is
// wrong stands in the problems of the model, and a file that is wrong does not break the
// others. Judge is asked about the bodies of sources with sql; without one they are
// refused.
func Load(fsys fs.FS, connection string, judge Judge) *Model {
	return readFolder(fsys).Load(connection, judge)
}

// Load checks the model that the files say, as the function [Load] does.
func (f *Folder) Load(connection string, judge Judge) *Model {
	return f.load(connection, judge, &restriction{})
}

// load is [Folder.Load] without what a restriction names. Without a restriction, a source
// whose query the rules deny is marked, and has no problem.
func (f *Folder) load(connection string, judge Judge, without *restriction) *Model {
	l := &loader{judge: judge, without: without, m: &Model{Connection: connection, Hash: f.hash, broken: map[string]Problem{}}}
	for _, p := range f.unread {
		l.unreadable(p.Source, p.File, p.Line, p.Message)
	}
	for _, d := range f.documents {
		if d.manifest {
			l.takeManifest(d)
		} else {
			l.takeAuthored(d)
		}
	}
	l.assemble()
	l.m.search = &search{paths: map[[2]int]bool{}}
	l.resolveJoins()
	l.connect()
	l.resolveColumns()
	l.resolveSegments()
	l.resolveMeasures()
	l.finish()
	l.m.search = nil
	return l.m
}

// loader builds one model.
type loader struct {
	judge    Judge
	without  *restriction
	m        *Model
	manifest []*entry
	authored []*entry
	origins  []*origins // by source
	depends  []depends

	expressions int // bytes of the expressions that were read
	expanded    int // nodes that computed columns became
}

// entry is what a file says of one source.
type entry struct {
	file string
	v    *value
	bad  bool
}

// place of a value in a file, for problems.
type origin struct {
	file string
	v    *value
}

// origins are the values that the parts of a source come from, by index.
type origins struct {
	self     origin
	table    origin
	grain    origin
	columns  []origin
	joins    []origin
	measures []origin
	segments []origin
}

// depends says that an expression of a source needs another source.
type depends struct {
	source, on int
	at         origin
}

// report adds a problem of a source. It makes the source invalid.
func (l *loader) report(s *Source, at origin, class expr.Class, hint, format string, args ...any) {
	s.Invalid = true
	l.add(s, at, class, hint, fmt.Sprintf(format, args...), false)
}

// refuse adds an error of an expression as a problem of a source.
func (l *loader) refuse(s *Source, at origin, class expr.Class, err *expr.Error) {
	s.Invalid = true
	l.add(s, at, class, err.Hint, err.Message, false)
}

func (l *loader) add(s *Source, at origin, class expr.Class, hint, message string, warning bool) {
	if !warning {
		s.problems++
	}
	switch {
	case s.problems == maxProblems && !warning:
		class, hint, message = expr.InvalidSource, "correct the others first", "the source has more problems, which are not listed"
	case s.problems > maxProblems:
		return
	}
	p := Problem{Source: s.Name, File: at.file, Class: class, Message: message, Hint: hint, Warning: warning}
	if at.v != nil {
		p.Path, p.Line = at.v.path(), at.v.line
	}
	l.m.Problems = append(l.m.Problems, p)
}

// at returns the place of a key of a value, or of the value itself if it has no such key.
func (o origin) at(key string) origin {
	if v := o.v.at(key); v != nil {
		return origin{o.file, v}
	}
	return o
}

// place returns the place as others may see it.
func (o origin) place() Place {
	p := Place{File: o.file, Path: o.v.path()}
	if o.v != nil {
		p.Line = o.v.line
	}
	return p
}

// item returns the place of an item of a list at a key.
func (o origin) item(key string, i int) origin {
	if list := o.v.list(key); i < len(list) {
		return origin{o.file, list[i]}
	}
	return o.at(key)
}

// unreadable reports a file that gives no source. A source of that name that comes from
// elsewhere must not be used without what the file says about it.
func (l *loader) unreadable(source, file string, line int, message string) {
	p := Problem{Source: source, File: file, Line: line, Class: expr.InvalidSource, Message: message}
	l.m.Problems = append(l.m.Problems, p)
	l.breaks(source, p)
}

// breaks notes the name of a source that a file was to define and does not.
func (l *loader) breaks(source string, p Problem) {
	folded := strings.ToLower(source)
	if _, ok := l.m.broken[folded]; !ok && source != "" {
		l.m.broken[folded] = p
	}
}

func (l *loader) takeManifest(d *document) {
	if d.why != "" {
		l.unreadable("", d.name, d.line, d.why)
		return
	}
	if d.v == nil {
		return
	}
	l.take(d.reader)
	for _, t := range d.v.list("tables") {
		l.manifest = append(l.manifest, &entry{d.name, t, d.reader.bad[t]})
	}
}

var nameLine = regexp.MustCompile(`(?m)^name:[ \t]*["']?([^"'\[\]{}&*!|>\r\n#]+)`)

func (l *loader) takeAuthored(d *document) {
	if d.why == "" && d.v == nil {
		d.why, d.line = "the file is empty; it needs the keys of a source, such as name and table", 1
	}
	if d.why != "" {
		source := stem(d.name)
		if d.reader != nil {
			source = d.reader.source
		} else if m := nameLine.FindSubmatch(d.text); m != nil {
			source = strings.ToValidUTF8(strings.TrimSpace(string(m[1])), "")
		}
		l.unreadable(source, d.name, d.line, d.why)
		l.breaks(stem(d.name), l.m.Problems[len(l.m.Problems)-1])
		return
	}
	l.take(d.reader)
	if d.v.word("name") == "" {
		l.breaks(d.reader.source, d.reader.problems[0]) // the name is missing, so there is one
		return
	}
	l.authored = append(l.authored, &entry{d.name, d.v, d.reader.bad[d.v]})
}

// take takes over the problems of a file.
func (l *loader) take(r *reader) {
	l.m.Problems = append(l.m.Problems, r.problems...)
	if r.more > 0 {
		last := r.problems[len(r.problems)-1]
		l.m.Problems = append(l.m.Problems, Problem{
			Source: last.Source, File: r.file, Line: last.Line, Class: expr.InvalidSource, Message: fmt.Sprintf("the file has %d more problems like these", r.more),
		})
	}
}

// finish marks what depends on invalid sources, sorts the problems, and makes the
// refusals of requests.
func (l *loader) finish() {
	m := l.m
	for _, s := range m.Sources {
		if _, ok := m.broken[strings.ToLower(s.Name)]; ok {
			s.Invalid = true
		}
	}
	m.Problems = sorted(m.Problems)
	first := map[string]Problem{} // by source
	for _, p := range m.Problems {
		if _, ok := first[p.Source]; !ok && !p.Warning {
			first[p.Source] = p
		}
	}
	m.refusals = make([]*expr.Error, len(m.Sources))
	var invalid []int
	for i, s := range m.Sources {
		if s.Invalid {
			p, ok := first[s.Name]
			if !ok {
				p = m.broken[strings.ToLower(s.Name)]
			}
			m.refusals[i] = refusalOf(p)
			invalid = append(invalid, i)
		}
	}
	needs := map[int][]depends{}
	for _, d := range l.depends {
		needs[d.on] = append(needs[d.on], d)
	}
	for len(invalid) > 0 {
		on := invalid[0]
		invalid = invalid[1:]
		for _, d := range needs[on] {
			s := m.Sources[d.source]
			if s.Invalid {
				continue
			}
			l.report(s, d.at, m.refusals[on].Class, "correct "+m.Sources[on].Name+" first", "it needs the source %s, which is not valid", m.Sources[on].Name)
			m.refusals[d.source] = refusalOf(m.Problems[len(m.Problems)-1])
			invalid = append(invalid, d.source)
		}
	}
	m.Problems = sorted(m.Problems)
}

func sorted(list []Problem) []Problem {
	slices.SortStableFunc(list, compareProblems)
	return slices.Compact(list)
}

func compareProblems(a, b Problem) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Path, b.Path),
		strings.Compare(string(a.Class), string(b.Class)), strings.Compare(a.Message, b.Message))
}
