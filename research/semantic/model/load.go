package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// The limits of a connection's folder. What is beyond them is a problem, never left out
// in silence.
const (
	maxFiles    = 10_000
	maxAuthored = 1 << 20   // bytes of a file that a person writes
	maxManifest = 8 << 20   // bytes of a file of _schema
	maxTotal    = 128 << 20 // bytes of all files
	maxValues   = 8 << 20   // values in all files
	maxSources  = 20_000
	maxAliases  = 2_000
	maxJoins    = 500     // of one source
	maxEdges    = 500_000 // of the model, those of aliases among them
)

// manifestFolder holds what a scan writes.
const manifestFolder = "_schema"

// Load reads and checks the model of one connection. fsys is its folder of the semantic
// layer; that of an os.Root cannot be left over symbolic links. Load never fails: what is
// wrong stands in the problems of the model, and a file that is wrong does not break the
// others. Judge is asked about the bodies of sources with sql; without one they are
// refused.
func Load(fsys fs.FS, connection string, judge Judge) *Model {
	return load(fsys, connection, judge, &restriction{})
}

// load is [Load] without what a restriction names. Without a restriction, a source whose
// query the rules deny is marked, and has no problem.
func load(fsys fs.FS, connection string, judge Judge, without *restriction) *Model {
	l := &loader{fsys: fsys, judge: judge, without: without, hash: sha256.New(), m: &Model{Connection: connection, broken: map[string]Problem{}}}
	l.read()
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
	fsys     fs.FS
	judge    Judge
	without  *restriction
	hash     hash.Hash
	m        *Model
	total    int
	manifest []*entry
	authored []*entry
	origins  []*origins // by source
	depends  []depends

	expressions int // bytes of the expressions that were read
	expanded    int // nodes that computed columns became
	values      int // values of all files
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

// item returns the place of an item of a list at a key.
func (o origin) item(key string, i int) origin {
	if list := o.v.list(key); i < len(list) {
		return origin{o.file, list[i]}
	}
	return o.at(key)
}

// read reads all files. They are parsed side by side, and what they say is taken over in
// their order.
func (l *loader) read() {
	var list []*document
	for _, dir := range []string{manifestFolder, "."} {
		limit := maxAuthored
		if dir == manifestFolder {
			limit = maxManifest
		}
		for _, name := range l.files(dir) {
			d := &document{name: name, manifest: dir == manifestFolder}
			d.text, d.why = l.content(name, limit)
			list = append(list, d)
		}
	}
	const few = 8
	if len(list) < few {
		for _, d := range list {
			d.parse()
		}
		l.takeAll(list)
		return
	}
	next := make(chan *document)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for d := range next {
				d.parse()
			}
		})
	}
	for _, d := range list {
		next <- d
	}
	close(next)
	group.Wait()
	l.takeAll(list)
}

// takeAll takes over what the files say.
func (l *loader) takeAll(list []*document) {
	for _, d := range list {
		if l.values += d.values; l.values > maxValues && d.why == "" {
			d.why, d.line = fmt.Sprintf("the files of the connection have more than %d values together", maxValues), 0
		}
		if d.manifest {
			l.takeManifest(d)
		} else {
			l.takeAuthored(d)
		}
	}
}

// document is one file.
type document struct {
	name     string
	manifest bool
	text     []byte
	why      string // it cannot be read
	line     int
	v        *value // nil if the file is empty
	reader   *reader
	values   int
}

// parse reads the YAML of the file and checks its keys.
func (d *document) parse() {
	if d.why != "" {
		return
	}
	root, line, err := parse(d.text)
	if err != nil {
		d.why, d.line = err.Error(), line
		return
	}
	if root == nil {
		return
	}
	d.values = countNodes(root)
	d.reader = &reader{file: d.name, bad: map[*value]bool{}}
	object := manifestObject
	if !d.manifest {
		object = sourceObject
		d.reader.source = cmp.Or(scalarAt(root, "name"), stem(d.name))
	}
	d.v = d.reader.object(root, object, nil, "", 0, root.Line)
	d.text = nil
}

func countNodes(n *yaml.Node) int {
	count := 1
	for _, c := range n.Content {
		count += countNodes(c)
	}
	return count
}

// files lists the YAML files of a folder.
func (l *loader) files(dir string) []string {
	list, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.unreadable("", dir, 0, "the folder cannot be read: "+reason(err))
		}
		return nil
	}
	var out []string
	for _, e := range list {
		ext := path.Ext(e.Name())
		if ext != ".yaml" && ext != ".yml" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := path.Join(dir, e.Name())
		if len(out) == maxFiles {
			l.unreadable(stem(name), name, 0, fmt.Sprintf("the folder has more than %d files; this one and those after it are not read", maxFiles))
			break
		}
		out = append(out, name)
	}
	return out
}

// reason writes an error of a file system without the path, which the problem has.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// content reads one file; why is empty if that is possible.
func (l *loader) content(name string, limit int) (text []byte, why string) {
	info, err := fs.Stat(l.fsys, name) // follows links, and a pipe would block
	switch {
	case err != nil:
		return nil, "the file cannot be read: " + reason(err)
	case !info.Mode().IsRegular():
		return nil, "it is not a regular file"
	case info.Size() > int64(limit):
		return nil, fmt.Sprintf("the file is larger than %d bytes", limit)
	}
	f, err := l.fsys.Open(name)
	if err != nil {
		return nil, "the file cannot be read: " + reason(err)
	}
	defer func() { _ = f.Close() }()
	text, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	switch {
	case err != nil:
		return nil, "the file cannot be read: " + reason(err)
	case len(text) > limit:
		return nil, fmt.Sprintf("the file is larger than %d bytes", limit)
	}
	if l.total += len(text); l.total > maxTotal {
		return nil, fmt.Sprintf("the files of the connection are larger than %d bytes together", maxTotal)
	}
	var size [16]byte
	binary.BigEndian.PutUint64(size[:8], uint64(len(name)))
	binary.BigEndian.PutUint64(size[8:], uint64(len(text)))
	_, _ = l.hash.Write(size[:])
	_, _ = l.hash.Write([]byte(name))
	_, _ = l.hash.Write(text)
	return text, ""
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

func scalarAt(n *yaml.Node, key string) string {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i+1].Kind == yaml.ScalarNode && n.Content[i+1].Tag != "!!null" {
			return strings.TrimSpace(n.Content[i+1].Value)
		}
	}
	return ""
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
	m.Hash = hex.EncodeToString(l.hash.Sum(nil))
}

func sorted(list []Problem) []Problem {
	slices.SortStableFunc(list, compareProblems)
	return slices.Compact(list)
}

func compareProblems(a, b Problem) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Path, b.Path),
		strings.Compare(string(a.Class), string(b.Class)), strings.Compare(a.Message, b.Message))
}
