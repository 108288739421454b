package sqlcheck

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the name of an object in git, not a protection
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// Since returns the inputs that differ from a revision of the repository that
// holds dir. Files that git ignores are left out unless an argument names them.
// Only the statements that the change touches are judged. args are those that
// selected the inputs: a file that was renamed, and that they did not select
// before, is new.
func Since(ctx context.Context, dir, revision string, args []string, inputs []Input) ([]Input, error) {
	return since(ctx, dir, revision, args, inputs, false)
}

func since(ctx context.Context, dir, revision string, args []string, inputs []Input, apart bool) ([]Input, error) {
	r, err := openRepository(ctx, dir, apart)
	if err != nil {
		return nil, err
	}
	tree, err := r.tree(ctx, revision)
	if err != nil {
		return nil, err
	}
	old, err := r.blobs(ctx, tree)
	if err != nil {
		return nil, err
	}
	before := old.files
	now, err := r.staged(ctx)
	if err != nil {
		return nil, err
	}
	untracked, err := r.untracked(ctx)
	if err != nil {
		return nil, err
	}
	renamed, err := r.renames(ctx, tree, dir, args)
	if err != nil {
		return nil, err
	}
	var changed []Input
	below := map[string][]Input{} // by submodule
	for _, in := range inputs {
		if in.Stdin || in.Problem != "" {
			changed = append(changed, in)
			continue
		}
		name, ok := r.relative(in.Path)
		if !ok {
			in.Problem = "it is outside of the repository, so ktx cannot tell what changed in it"
			changed = append(changed, in)
			continue
		}
		if at := holder(name, now.submodules); at != "" {
			below[at] = append(below[at], in)
			continue
		}
		object, known := before[name]
		_, here := now.files[name]
		_, link := now.links[name]
		if !in.Named && !known && !here && !link && !untracked[name] {
			continue // ignored
		}
		if known && sameObject(in.Path, object) {
			continue
		}
		if in.object = object; !known {
			in.Was, in.object = renamed.of(name, before)
		}
		changed = append(changed, in)
	}
	if changed, err = r.withTexts(ctx, changed); err != nil {
		return nil, err
	}
	for _, at := range slices.Sorted(maps.Keys(below)) {
		changed = append(changed, r.inSubmodule(ctx, at, old.submodules[at], args, below[at])...)
	}
	return changed, nil
}

// holder returns the submodule that a file lies in, or "".
func holder(name string, submodules map[string]string) string {
	for at := path.Dir(name); len(submodules) > 0 && at != "."; at = path.Dir(at) {
		if submodules[at] != "" {
			return at
		}
	}
	return ""
}

// inSubmodule returns the inputs in a submodule that differ from the commit that it had, or
// all of them if it is new.
func (r *repository) inSubmodule(ctx context.Context, at, commit string, args []string, inputs []Input) []Input {
	if commit == "" {
		return inputs
	}
	changed, err := since(ctx, filepath.Join(r.top, filepath.FromSlash(at)), commit, args, inputs, true)
	if err != nil {
		for i := range inputs {
			inputs[i].Problem = "it is in the submodule " + at + ", in which ktx cannot tell what changed: " + err.Error()
		}
		return inputs
	}
	return changed
}

// renames are the files of the index that another path had before.
type renames struct {
	from   map[string]string // by path; both relative to the top
	wanted *selection
}

// renames returns the files of the index that have another path in a tree, and
// about as much of the content. Git compares objects only.
func (r *repository) renames(ctx context.Context, tree, dir string, args []string) (renames, error) {
	wanted, err := newSelection(r, dir, args)
	if err != nil || tree == "" {
		return renames{}, nil //nolint:nilerr // an argument leads out of the repository: every file counts as new
	}
	out, err := r.git(ctx, "-C", r.top, "diff-index", "--cached", "--raw", "-z", "-M", "--diff-filter=R", "--no-ext-diff", "--no-textconv", "--no-relative", tree)
	if err != nil {
		return renames{}, err
	}
	from := map[string]string{}
	fields := strings.Split(string(out), "\x00") // a head, the earlier path and the path, of each
	for ; len(fields) >= 3; fields = fields[3:] {
		from[fields[2]] = fields[1]
	}
	return renames{from, wanted}, nil
}

// of returns the path that a file had before, as reports show it, and the object
// with its content. There is none if the arguments did not select it there.
func (r renames) of(name string, before map[string]string) (path, object string) {
	was, ok := r.from[name]
	if !ok || before[was] == "" || !r.wanted.has(was) {
		return "", ""
	}
	return r.wanted.shown(was), before[was]
}

// Ignored knows what a repository ignores. It asks git once.
type Ignored struct {
	paths func() (*repository, map[string]bool)
}

// NewIgnored returns what the repository that holds dir ignores. Outside of a
// repository, and where git cannot be asked, that is nothing.
func NewIgnored(ctx context.Context, dir string) *Ignored {
	return &Ignored{sync.OnceValues(func() (*repository, map[string]bool) {
		r, err := openRepository(ctx, dir, false)
		if err != nil {
			return nil, nil
		}
		paths, err := r.ignored(ctx)
		if err != nil {
			return nil, nil
		}
		return r, paths
	})}
}

// Without returns the inputs without the files in folders and patterns that the
// repository ignores.
func (i *Ignored) Without(inputs []Input) []Input {
	if !slices.ContainsFunc(inputs, func(in Input) bool { return !in.Named && !in.Stdin }) {
		return inputs
	}
	r, ignored := i.paths()
	if len(ignored) == 0 {
		return inputs
	}
	return slices.DeleteFunc(inputs, func(in Input) bool {
		if in.Named || in.Stdin {
			return false
		}
		name, ok := r.relative(in.Path)
		for ok && name != "." && name != "" {
			if ignored[name] {
				return true
			}
			name = path.Dir(name)
		}
		return false
	})
}

// Staged returns the inputs whose content in the index differs from the last
// commit. The content in the index is what is judged.
func Staged(ctx context.Context, dir string, args []string) ([]Input, error) {
	r, err := openRepository(ctx, dir, false)
	if err != nil {
		return nil, err
	}
	head, err := r.head(ctx)
	if err != nil {
		return nil, err
	}
	was, err := r.blobs(ctx, head)
	if err != nil {
		return nil, err
	}
	now, err := r.staged(ctx)
	if err != nil {
		return nil, err
	}
	before, linked, after, links := was.files, was.links, now.files, now.links
	wanted, err := newSelection(r, dir, args)
	if err != nil {
		return nil, err
	}
	if err := wanted.exist(before, linked, after, links); err != nil {
		return nil, err
	}
	renamed, err := r.renames(ctx, head, dir, args)
	if err != nil {
		return nil, err
	}
	var changed []Input
	for name, object := range after {
		if before[name] == object || !wanted.has(name) {
			continue
		}
		in := Input{Path: wanted.shown(name), object: before[name], staged: object}
		if in.object == "" {
			in.Was, in.object = renamed.of(name, before)
		}
		changed = append(changed, in)
	}
	maps.DeleteFunc(links, func(name, object string) bool { return linked[name] == object || !wanted.has(name) })
	err = r.links(ctx, links, func(name, target string) {
		if _, here := after[target]; !here || !isSQL(target) {
			changed = append(changed, Input{Path: wanted.shown(name), Problem: "it is a link, and its target is not a file with SQL in the index"})
		}
	})
	if err != nil {
		return nil, err
	}
	if changed, err = r.withTexts(ctx, changed); err != nil {
		return nil, err
	}
	for at, commit := range now.submodules {
		if was.submodules[at] != commit && wanted.into(at) {
			changed = append(changed, r.movedSubmodule(ctx, at, was.submodules[at], commit, wanted)...)
		}
	}
	slices.SortFunc(changed, func(a, b Input) int { return strings.Compare(a.Path, b.Path) })
	return changed, nil
}

// movedSubmodule returns the files that the commit of a submodule in the index has changed
// since the commit before, which is empty for a new one.
func (r *repository) movedSubmodule(ctx context.Context, at, before, commit string, wanted *selection) []Input {
	unknown := func(why string) []Input {
		return []Input{{Path: wanted.shown(at), Problem: "it is a submodule of which ktx cannot tell what changed: " + why}}
	}
	folder := filepath.Join(r.top, filepath.FromSlash(at))
	sub, err := openRepository(ctx, folder, true)
	if err != nil {
		return unknown(err.Error())
	}
	if top, err := filepath.EvalSymlinks(folder); err != nil || top != sub.top {
		return unknown("it is not checked out")
	}
	var was objects
	if before != "" {
		if was, err = sub.blobs(ctx, before); err != nil {
			return unknown(err.Error())
		}
	}
	now, err := sub.blobs(ctx, commit)
	if err != nil {
		return unknown(err.Error())
	}
	var changed []Input
	for name, object := range now.files {
		if full := path.Join(at, name); was.files[name] != object && wanted.has(full) {
			changed = append(changed, Input{Path: wanted.shown(full), object: was.files[name], staged: object})
		}
	}
	if changed, err = sub.withTexts(ctx, changed); err != nil {
		return unknown(err.Error())
	}
	for name, inner := range now.submodules {
		if full := path.Join(at, name); was.submodules[name] != inner && wanted.into(full) {
			changed = append(changed, unknown("it lies in another one")...)
			changed[len(changed)-1].Path = wanted.shown(full)
		}
	}
	return changed
}

// links calls yield with the path and the target of each link in the index.
func (r *repository) links(ctx context.Context, links map[string]string, yield func(name, target string)) error {
	names := slices.Sorted(maps.Keys(links))
	objects := make([]string, len(names))
	for i, name := range names {
		objects[i] = links[name]
	}
	return r.contents(ctx, objects, func(i int, content []byte) {
		target := filepath.ToSlash(string(content))
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(names[i]), target)
		}
		yield(names[i], target)
	})
}

// withTexts reads the earlier content of the inputs, and their content in the
// index.
func (r *repository) withTexts(ctx context.Context, inputs []Input) ([]Input, error) {
	var objects []string
	var give []func([]byte)
	for i := range inputs {
		in := &inputs[i]
		if in.object != "" {
			objects = append(objects, in.object)
			give = append(give, func(content []byte) { in.before = content })
		}
		if in.staged != "" {
			objects = append(objects, in.staged)
			give = append(give, func(content []byte) {
				if in.content = content; content == nil {
					in.Problem = errTooLarge.Error()
				}
			})
		}
	}
	err := r.contents(ctx, objects, func(i int, content []byte) { give[i](content) })
	if err != nil {
		return nil, err
	}
	for i := range inputs {
		inputs[i].partly = inputs[i].before != nil
	}
	return inputs, nil
}

// relative returns the path of a file relative to the top of the work tree.
func (r *repository) relative(file string) (string, bool) {
	dir := filepath.Dir(file)
	folder, known := r.folders[dir]
	if !known {
		folder = folderIn(r.top, dir)
		if r.folders == nil {
			r.folders = map[string]string{}
		}
		r.folders[dir] = folder
	}
	if folder == "" {
		return "", false
	}
	return filepath.ToSlash(filepath.Join(folder, filepath.Base(file))), true
}

// folderIn returns a folder relative to the top, with links resolved, or "" if it
// lies outside.
func folderIn(top, dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	folder, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(top, folder)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}

// sameObject reports whether file is a regular file with the content of object.
func sameObject(file, object string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return false
	}
	content, err := os.ReadFile(file) //nolint:gosec // one of the files to check
	if err != nil {
		return false
	}
	named := append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...)
	if len(object) == hex.EncodedLen(sha256.Size) {
		sum := sha256.Sum256(named)
		return hex.EncodeToString(sum[:]) == object
	}
	sum := sha1.Sum(named) //nolint:gosec // as above
	return hex.EncodeToString(sum[:]) == object
}

// touched holds which parts of a text a change touches.
type touched struct {
	// before counts the statements of the earlier text. after lists those of
	// the new text. Each has the suppressions on it, and LF line ends.
	before map[string]int
	after  []string
	added  [][2]int // first and last line, from 1
	// removed are the lines behind which lines were deleted.
	removed []int
}

var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// unixLines returns text with LF for every line end.
func unixLines(text string) string { return lineEnds.Replace(text) }

// standing returns the statements of a text, each with the suppressions on it.
func standing(text string, d sqlguard.Dialect, named bool) []string {
	r := reading{file: &report.File{}, text: text, lines: lineIndex{text: text}, allowLines: lineIndex{text: text}}
	var all []string
	newSplitter(d, text, named).statements(text, func(span sqlguard.Span, _ bool) bool {
		if !separator(d.Name(), text, span) {
			span = withinLine(text, span)
			r.attach(span)
			r.file.Judged++
			all = append(all, unixLines(text[span.Start:span.End]))
		}
		return true
	}, r.comment)
	r.suppressions(sqlguard.Span{Start: len(text), End: len(text)}, true)
	for _, a := range r.allows {
		if a.Statement >= 0 {
			all[a.Statement] += "\x00" + unixLines(text[a.Span.Start:a.Span.End])
		}
	}
	return all
}

// alike reports whether a file that was renamed was judged before as it is now:
// by the same guard, read as the same, and with the same severities.
func (c *Checker) alike(in Input, body string) bool {
	was := in
	was.Path = in.Was
	if !strings.EqualFold(filepath.Ext(in.Was), filepath.Ext(in.Path)) || c.projects.of(filepath.Dir(in.Was)) != nil || c.projects.of(filepath.Dir(in.Path)) != nil {
		return false
	}
	before, problem := c.Choose(in.Was, strings.TrimPrefix(string(in.before), report.ByteOrderMark), Known{})
	if problem != nil {
		return false
	}
	guard, problem := c.Choose(in.Path, body, Known{})
	if problem != nil || guard.ID() != before.ID() || c.readsTree(in.Path) {
		return false
	}
	if c.Severities != nil && !maps.Equal(c.Severities(in.Was), c.Severities(in.Path)) {
		return false
	}
	return c.reads(was) == c.reads(in)
}

// compare compares two contents of a file. was and is are their statements.
// Different line ends do not count as a change.
func compare(before, after string, was, is []string) *touched {
	before, after = unixLines(before), unixLines(after)
	t := &touched{before: map[string]int{}, after: is}
	for _, statement := range was {
		t.before[statement]++
	}
	line, head := 0, true // the last line of after that was read; before the first hunk
	for text := range bytes.Lines(diff.Diff("a", []byte(before), "b", []byte(after))) {
		if at := hunkHead.FindSubmatch(text); at != nil {
			line, _ = strconv.Atoi(string(at[1]))
			if string(at[2]) != "0" {
				line--
			}
			head = false
			continue
		}
		switch {
		case head:
		case text[0] == ' ':
			line++
		case text[0] == '+':
			line++
			if n := len(t.added); n > 0 && t.added[n-1][1] == line-1 {
				t.added[n-1][1] = line
			} else {
				t.added = append(t.added, [2]int{line, line})
			}
		case text[0] == '-':
			t.removed = append(t.removed, line)
		}
	}
	return t
}

// statement reports whether the change touches the statement with that number,
// which is on the lines first to last. It does if one of these lines is new, if
// lines were deleted between two of them, or if the earlier text did not have
// the statement with the same suppressions. Calls must be in the order of the
// statements.
func (t *touched) statement(number, first, last int) bool {
	i, _ := slices.BinarySearchFunc(t.added, first, func(a [2]int, line int) int { return a[1] - line })
	if i < len(t.added) && t.added[i][0] <= last {
		return true
	}
	if j, _ := slices.BinarySearch(t.removed, first); j < len(t.removed) && t.removed[j] < last {
		return true
	}
	known := number < len(t.after) && t.before[t.after[number]] > 0
	if known {
		t.before[t.after[number]]--
	}
	return !known
}

// selection tells which files of the index the arguments select.
type selection struct {
	base     string   // from the top to the folder of the arguments
	paths    []string // files and folders, relative to the top of the work tree, with slashes
	named    []string // the same as names in the work tree
	patterns []string // relative to the folder of the arguments, with slashes
	folder   string   // of the arguments
	projects dbtProjects
}

func newSelection(r *repository, dir string, args []string) (*selection, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("find the folder: %w", err)
	}
	s := &selection{folder: abs}
	if s.base, err = filepath.Rel(r.top, abs); err != nil {
		return nil, fmt.Errorf("find the folder: %w", err)
	}
	for _, arg := range args {
		named := arg
		if !filepath.IsAbs(named) {
			named = filepath.Join(abs, named)
		} else if folder, err := filepath.EvalSymlinks(filepath.Dir(named)); err == nil {
			named = filepath.Join(folder, filepath.Base(named))
		}
		if _, err := os.Lstat(named); err != nil && strings.ContainsAny(arg, "*?[{") {
			pattern, err := filepath.Rel(abs, named)
			if err != nil || !doublestar.ValidatePattern(filepath.ToSlash(pattern)) {
				return nil, fmt.Errorf("%s is not a pattern", arg)
			}
			s.patterns = append(s.patterns, filepath.ToSlash(pattern))
			continue
		}
		rel, err := filepath.Rel(r.top, named)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil, fmt.Errorf("%s lies outside of the repository", arg)
		}
		s.paths, s.named = append(s.paths, filepath.ToSlash(rel)), append(s.named, named)
	}
	return s, nil
}

// exist returns an error if an argument names a file that is in none of files.
func (s *selection) exist(files ...map[string]string) error {
	for i, p := range s.paths {
		if _, err := os.Lstat(s.named[i]); err == nil || p == "." {
			continue
		}
		if !slices.ContainsFunc(files, func(known map[string]string) bool {
			for name := range known {
				if name == p || strings.HasPrefix(name, p+"/") {
					return true
				}
			}
			return false
		}) {
			return fmt.Errorf("%s does not exist", s.named[i])
		}
	}
	return nil
}

// shown returns a path of the index relative to the folder of the arguments.
func (s *selection) shown(indexed string) string {
	rel, err := filepath.Rel(s.base, filepath.FromSlash(indexed))
	if err != nil {
		return filepath.FromSlash(indexed)
	}
	return rel
}

// into reports whether files in a folder can be selected.
func (s *selection) into(folder string) bool {
	if slices.ContainsFunc(strings.Split(folder, "/"), func(name string) bool { return slices.Contains(skipped, name) }) {
		return false
	}
	return len(s.patterns) > 0 || slices.ContainsFunc(s.paths, func(p string) bool {
		return p == "." || p == folder || strings.HasPrefix(folder, p+"/") || strings.HasPrefix(p, folder+"/")
	})
}

func (s *selection) has(indexed string) bool {
	for _, p := range s.patterns {
		if ok, err := doublestar.Match(p, filepath.ToSlash(s.shown(indexed))); err == nil && ok {
			return true
		}
	}
	for _, p := range s.paths {
		if indexed == p {
			return true
		}
		below, ok := indexed, true
		if p != "." {
			below, ok = strings.CutPrefix(indexed, p+"/")
		}
		if ok && isSQL(below) && !slices.ContainsFunc(strings.Split(path.Dir(below), "/"), func(folder string) bool { return slices.Contains(skipped, folder) }) {
			return !s.projects.generated(filepath.Join(s.folder, s.shown(indexed)))
		}
	}
	return false
}
