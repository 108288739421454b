package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/research/rank"
)

// MaxSkills is how many folders of a source are read. Further ones, by name, are left
// out with a problem.
const MaxSkills = 20_000

// Catalog reads the skills of some folders. It is safe for concurrent use.
type Catalog struct {
	sources  []Source
	builtins []*entry
	texts    map[string]string // of the skills that come with the program, by name
	analyzer *rank.Analyzer
	now      func() time.Time
	cache    *os.Root

	building sync.Mutex // one build at a time
	current  atomic.Pointer[Snapshot]
	unsaved  int // entries that are not as the cache has them
	looked   atomic.Pointer[look]
}

// look is when the folders were listed, and what that took.
type look struct {
	snapshot *Snapshot
	at       time.Time
	took     time.Duration
}

// The folders of a large catalogue are not listed at each call: a list is used for longer
// than it takes to make it.
const (
	cheap   = 5 * time.Millisecond // what takes less is done at each call
	lasting = 25                   // times what it took
)

// recent returns the present snapshot if the folders have just been listed.
func (c *Catalog) recent() *Snapshot {
	l := c.looked.Load()
	if l == nil || l.took < cheap || time.Since(l.at) > lasting*l.took || c.current.Load() != l.snapshot {
		return nil
	}
	return l.snapshot
}

// CatalogOptions are the settings of a [Catalog].
type CatalogOptions struct {
	// Sources are the folders. Of skills with one name, that of the first counts.
	Sources []Source
	// Builtins come with the program. Skills of the folders hide them.
	Builtins []Builtin
	// Analyzer divides texts and questions into words.
	Analyzer *rank.Analyzer
	// Now tells the time.
	Now func() time.Time
	// Cache is the folder of the project. If it has a folder .ktx, the index of a large
	// catalogue is kept there, so that the next process need not read all files. It may
	// be nil.
	Cache *os.Root
}

// NewCatalog returns a catalogue. It opens no file.
func NewCatalog(o CatalogOptions) *Catalog {
	c := &Catalog{sources: o.Sources, analyzer: o.Analyzer, now: o.Now, cache: o.Cache, texts: map[string]string{}}
	if c.now == nil {
		c.now = time.Now
	}
	for _, b := range o.Builtins {
		e := &entry{source: -1, folder: b.Name}
		r := &reader{path: b.Name + "/" + Main, skill: &Skill{Path: "built-in " + b.Name}}
		body := r.parse(b.Name, b.Text)
		e.problems = r.problems
		if !failed(r.problems) {
			r.skill.Files = []File{{Main, digestOf(b.Text), int64(len(b.Text))}}
			r.skill.Text = textHash(r.skill, body)
			e.skill = r.skill
		}
		c.texts[b.Name] = string(b.Text)
		c.builtins = append(c.builtins, e)
	}
	return c
}

// found is a folder of a source, and what its SKILL.md looks like.
type found struct {
	source int
	folder string
	main   node
}

// listing is what all sources hold at one time.
type listing struct {
	found    []found // by source and name
	problems []Problem
}

// list looks at the folders of all sources, without reading files.
func (c *Catalog) list() (*listing, error) {
	l := &listing{}
	for i := range c.sources {
		if err := c.listSource(l, i); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (c *Catalog) listSource(l *listing, i int) error {
	s := &c.sources[i]
	problem := func(file string, rule Rule, format string, args ...any) {
		where := s.Name
		if file != "" {
			where += "/" + printable(file)
		}
		l.problems = append(l.problems, Problem{Path: where, Line: 1, Rule: rule, Level: LevelError, Message: fmt.Sprintf(format, args...)})
	}
	folder, err := s.open()
	if errors.Is(err, fs.ErrNotExist) && s.Optional {
		return nil
	}
	if err != nil {
		problem("", RuleFolder, "the folder of skills cannot be read: %s", reason(err))
		return nil
	}
	defer func() { _ = folder.Close() }()
	dir, err := folder.Root().Open(".")
	if err != nil {
		return fmt.Errorf("read %s: %w", s.Name, err)
	}
	defer func() { _ = dir.Close() }()
	var names []string
	for {
		some, err := dir.Readdirnames(1024)
		names = append(names, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read %s: %s", s.Name, reason(err))
		}
		if len(names) > 2*MaxSkills {
			break
		}
	}
	slices.Sort(names)
	folders := 0
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			continue
		}
		if reason := badFileName(name); reason != "" {
			problem(name, RuleFileName, "%s, so it is no skill", reason)
			continue
		}
		f := found{source: i, folder: name}
		info, err := folder.LstatIn(name, Main)
		if err == nil {
			f.main = node{Main, info.Size, info.Modified.UnixNano()}
		} else if isArchive(name) {
			problem(name, RuleArchive, "archives are not unpacked; unpack it into a folder of the name of its skill")
			continue
		} else if about, err := folder.Lstat(name); err != nil || !about.Mode.IsDir() && about.Mode&fs.ModeSymlink == 0 {
			continue // a file, such as README.md
		}
		if folders++; folders > MaxSkills {
			problem("", RuleLimits, "the folder has more than %d skills; the first %d by name are read", MaxSkills, MaxSkills)
			break
		}
		l.found = append(l.found, f)
	}
	return nil
}

// Snapshot returns the skills as they are now, or in a catalogue of thousands, as they
// were less than a second ago. It reads only what changed since the call before. One call
// at a time reads; the others wait for it.
func (c *Catalog) Snapshot() (*Snapshot, error) {
	if now := c.recent(); now != nil {
		return now, nil
	}
	start := time.Now()
	l, err := c.list()
	if err != nil {
		return nil, err
	}
	if now := c.current.Load(); now != nil && now.of(l) {
		c.looked.Store(&look{now, start, time.Since(start)})
		return now, nil
	}
	c.building.Lock()
	defer c.building.Unlock()
	if l, err = c.list(); err != nil {
		return nil, err
	}
	before := c.current.Load()
	if before == nil {
		before = c.readCache()
	}
	if before != nil && before.of(l) { // another call, or another process, has built it
		c.current.Store(before)
		return before, nil
	}
	next := &Snapshot{catalog: c, problems: l.problems}
	bodies := map[*entry]string{}
	changed := 0
	for i := 0; i < len(l.found); {
		last := i
		for last < len(l.found) && l.found[last].source == l.found[i].source {
			last++
		}
		folder, err := c.sources[l.found[i].source].open()
		if err != nil {
			return nil, fmt.Errorf("read %s: %s", c.sources[l.found[i].source].Name, reason(err))
		}
		for _, f := range l.found[i:last] {
			known := before.entry(f.source, f.folder)
			if known != nil && known.main == f.main && !known.again {
				next.entries = append(next.entries, known)
				continue
			}
			e, body := c.load(folder.Root(), f.source, f.folder, known)
			changed++
			e.main = f.main
			e = same(known, e)
			if body != "" {
				bodies[e] = body
			}
			next.entries = append(next.entries, e)
		}
		_ = folder.Close()
		i = last
	}
	next.finish(before, bodies)
	c.current.Store(next)
	if c.unsaved += changed; before == nil || c.unsaved > len(next.entries)/100 {
		c.writeCache(next)
		c.unsaved = 0
	}
	return next, nil
}

// same returns what is known of a folder if it has not changed, so that what was made of
// it can be kept.
func same(known, now *entry) *entry {
	if known != nil && known.skill != nil && now.skill != nil && known.skill.draft == now.skill.draft && known.skill.Path == now.skill.Path &&
		slices.Equal(known.skill.Files, now.skill.Files) {
		now.skill = known.skill
	}
	return now
}

// load reads one folder of a source.
func (c *Catalog) load(source *os.Root, i int, folder string, before *entry) (*entry, string) {
	label := c.sources[i].Name + "/" + printable(folder)
	root, err := source.OpenRoot(folder)
	if err != nil {
		rule, message := RuleFolder, "the folder cannot be read: "+reason(err)
		if info, err := source.Lstat(folder); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			rule, message = RuleLink, "the symbolic link leads out of "+c.sources[i].Name+" or nowhere; put the folder itself here, or add its folder to skills.folders"
		}
		return &entry{source: i, folder: folder, problems: []Problem{{label, 1, rule, LevelError, message}}}, ""
	}
	defer func() { _ = root.Close() }()
	e, body := load(root, label, folder, before, c.now())
	e.source = i
	return e, body
}

// Fresh returns a snapshot in which these skills are as they are now, with all of their
// files. [Catalog.Snapshot] looks at SKILL.md alone.
func (c *Catalog) Fresh(names ...string) (*Snapshot, error) {
	s, err := c.Snapshot()
	if err != nil {
		return nil, err
	}
	return c.fresh(s, names)
}

// fresh is Fresh for a snapshot that the caller has just got.
func (c *Catalog) fresh(s *Snapshot, names []string) (*Snapshot, error) {
	changed := map[*entry]bool{}
	for _, name := range names {
		if e := s.byName(name); e != nil && !c.unchanged(e) {
			changed[e] = true
		}
	}
	if len(changed) == 0 {
		return s, nil
	}
	c.building.Lock()
	defer c.building.Unlock()
	before := c.current.Load()
	next := &Snapshot{catalog: c, problems: before.problems, entries: slices.Clone(before.entries)}
	bodies := map[*entry]string{}
	for i, e := range next.entries {
		if !changed[e] {
			continue
		}
		folder, err := c.sources[e.source].open()
		if err != nil {
			return nil, fmt.Errorf("read %s: %s", c.sources[e.source].Name, reason(err))
		}
		now, body := c.load(folder.Root(), e.source, e.folder, e)
		_ = folder.Close()
		now.main = e.main
		now = same(e, now)
		if body != "" {
			bodies[now] = body
		}
		next.entries[i] = now
	}
	next.finish(before, bodies)
	c.current.Store(next)
	return next, nil
}

// unchanged reports whether the files of a skill look as they did.
func (c *Catalog) unchanged(e *entry) bool {
	if e.source < 0 {
		return true
	}
	if e.again {
		return false
	}
	folder, err := c.sources[e.source].open()
	if err != nil {
		return false
	}
	defer func() { _ = folder.Close() }()
	root, err := folder.Root().OpenRoot(e.folder)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	w := &walker{reader: reader{skill: &Skill{}}, root: root}
	w.walk()
	return !failed(w.problems) && slices.Equal(w.files, e.tree)
}

// Read returns a file of a skill of the snapshot. If it is no longer the file of the
// snapshot, the error wraps [ErrChanged].
func (s *Snapshot) Read(skill *Skill, file string) ([]byte, error) {
	f, ok := skill.File(file)
	if !ok {
		return nil, fs.ErrNotExist
	}
	e := s.byName(skill.Name)
	if e == nil || e.skill != skill {
		return nil, fs.ErrNotExist
	}
	if e.source < 0 {
		return []byte(s.catalog.texts[e.folder]), nil
	}
	folder, err := s.catalog.sources[e.source].open()
	if err != nil {
		return nil, errors.New(reason(err))
	}
	defer func() { _ = folder.Close() }()
	root, err := folder.Root().OpenRoot(e.folder)
	if err != nil {
		return nil, errors.New(reason(err))
	}
	defer func() { _ = root.Close() }()
	text, err := readFile(root, file, MaxBytes)
	if err != nil {
		return nil, errors.New(reason(err))
	}
	if digestOf(text) != f.Digest {
		return nil, fmt.Errorf("%s of the skill %s: %w", file, skill.Name, ErrChanged)
	}
	return text, nil
}

// ErrChanged says that a file changed while it was read.
var ErrChanged = errors.New("the file has just changed")

// Body returns the instructions of a skill: SKILL.md without its head.
func (s *Snapshot) Body(skill *Skill) (string, error) {
	text, err := s.Read(skill, Main)
	if err != nil {
		return "", err
	}
	_, body, _, err := cutHead(strings.TrimPrefix(string(text), "\uFEFF"))
	return body, err
}

// Check returns what is wrong with the skills, drafts included, ordered by file and line,
// and how many skills are published.
func (c *Catalog) Check() (problems []Problem, published int, err error) {
	s, err := c.Snapshot()
	if err != nil {
		return nil, 0, err
	}
	if s, err = c.fresh(s, s.names()); err != nil {
		return nil, 0, err
	}
	problems = slices.Clone(s.problems)
	holders := map[string]*entry{}
	for _, e := range slices.Concat(s.entries, c.builtins) {
		problems = append(problems, e.problems...)
		skill := e.published()
		if skill == nil {
			continue
		}
		if first := holders[skill.Name]; first != nil && e.source >= 0 {
			problems = append(problems, Problem{skill.Path, 1, RuleHidden, LevelWarning, "the skill is hidden by " + first.skill.Path + ", which has the same name"})
		} else if first == nil {
			holders[skill.Name] = e
		}
	}
	for _, skill := range s.skills {
		if skill.ForkedFrom != "" && s.Skill(skill.ForkedFrom) == nil {
			problems = append(problems, Problem{skill.Path, 1, RuleMetadata, LevelWarning, "metadata.forked-from names " + skill.ForkedFrom + ", which is no skill here"})
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Message, b.Message))
	})
	return problems, len(s.skills), nil
}
