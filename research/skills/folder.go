package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/rootfile"
)

// settled is the age from which the time of a file tells whether it changed. Before
// that, a file may be written twice within one tick of the file system's clock.
const settled = 2 * time.Second

// A Source is a folder with one folder for each skill.
type Source struct {
	// Name is what people know the folder by, such as skills.
	Name string
	// Root and Folder are the folder. If Root is nil, Folder is a path of the file
	// system.
	Root   *os.Root
	Folder string
	// Optional says that the folder may be missing.
	Optional bool
}

// A Builtin is a skill that comes with the program: its name, and its SKILL.md.
type Builtin struct {
	Name string
	Text []byte
}

// open opens the folder of a source. The caller closes it.
func (s *Source) open() (*rootfile.Folder, error) {
	if s.Root != nil {
		return rootfile.OpenFolder(s.Root, s.Folder)
	}
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return rootfile.OpenFolder(root, ".")
}

// A node is a file of a skill as the file system describes it.
type node struct {
	Path string `json:"p"`
	Size int64  `json:"s"`
	Time int64  `json:"t"` // of the last change, in nanoseconds
}

// entry is what the catalogue remembers of one folder. It does not change once it is
// in a snapshot.
type entry struct {
	source int // of the catalogue; -1 for those that come with the program
	folder string
	main   node // SKILL.md when it was listed; no Path if there was none
	tree   []node
	// again says that the folder must be looked at again at the next call: a file had
	// just changed when it was read, or SKILL.md is a link.
	again    bool
	skill    *Skill // nil if the skill is not published and no draft
	problems []Problem
}

// published returns the skill if it may be shown.
func (e *entry) published() *Skill {
	if e.skill == nil || e.skill.draft {
		return nil
	}
	return e.skill
}

// failed reports whether a problem keeps the skill from being published.
func failed(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Level == LevelError })
}

// archives are the endings of files that hold other files.
var archives = []string{".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".skill", ".jar", ".whl"}

// isArchive reports whether a file is an archive by its name.
func isArchive(name string) bool {
	return slices.Contains(archives, strings.ToLower(path.Ext(name)))
}

// walker reads the tree of one skill.
type walker struct {
	reader
	root  *os.Root
	label string // the folder as people know it
	files []node
	seen  int // names that were read
	links bool
}

// maxNames bounds the names of a skill that are read, with those that begin with a dot
// and those of folders.
const maxNames = 4 * MaxFiles

// errEnough ends a walk that has found a reason not to publish the skill.
var errEnough = errors.New("enough")

func (w *walker) at(file string) string { return w.label + "/" + printable(file) }

// refuse reports an error about a file of the skill.
func (w *walker) refuse(file string, rule Rule, format string, args ...any) {
	if len(w.problems) < maxProblems {
		w.problems = append(w.problems, Problem{Path: w.at(file), Line: 1, Rule: rule, Level: LevelError, Message: fmt.Sprintf(format, args...)})
	}
}

// walk lists the files of a skill, sorted by path. What is wrong with them is in the
// problems.
func (w *walker) walk() {
	if err := w.folder(".", 0); err != nil && !errors.Is(err, errEnough) {
		w.fault(1, RuleFolder, "the folder cannot be read: %s", reason(err))
	}
	slices.SortFunc(w.files, func(a, b node) int { return strings.Compare(a.Path, b.Path) })
}

func (w *walker) folder(dir string, depth int) error {
	if depth > maxDepth {
		w.refuse(dir, RuleLimits, "the folder is deeper than %d levels", maxDepth)
		return errEnough
	}
	d, err := w.root.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	for {
		names, err := d.Readdirnames(256)
		for _, name := range names {
			if w.seen++; w.seen > maxNames {
				w.fault(1, RuleLimits, "the skill has more than %d files and folders; at most %d files are allowed", maxNames, MaxFiles)
				return errEnough
			}
			if strings.HasPrefix(name, ".") {
				continue // no part of the skill
			}
			if err := w.name(path.Join(dir, name), depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// name looks at one file or folder.
func (w *walker) name(file string, depth int) error {
	if reason := badFileName(file); reason != "" {
		w.refuse(file, RuleFileName, "%s", reason)
		return nil
	}
	info, err := w.root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed since it was listed
	}
	if err != nil {
		return err
	}
	modified := info.ModTime()
	if info.Mode()&fs.ModeSymlink != 0 {
		w.links = w.links || file == Main
		target, err := w.root.Stat(file)
		switch {
		case err != nil:
			w.refuse(file, RuleLink, "the symbolic link leads out of the skill or nowhere; put the file itself here")
			return nil //nolint:nilerr // the problem says it
		case target.IsDir():
			w.refuse(file, RuleLink, "a symbolic link to a folder is not followed; put the folder itself here")
			return nil
		}
		info, modified = target, target.ModTime()
	}
	switch {
	case info.IsDir():
		return w.folder(file, depth+1)
	case !info.Mode().IsRegular():
		w.refuse(file, RuleFile, "it is not a regular file")
		return nil
	case isArchive(file):
		w.refuse(file, RuleArchive, "archives are not unpacked, so nobody sees what is in them; put the files themselves here")
		return nil
	}
	w.files = append(w.files, node{file, info.Size(), modified.UnixNano()})
	if len(w.files) > MaxFiles {
		w.fault(1, RuleLimits, "the skill has more than %d files", MaxFiles)
		return errEnough
	}
	return nil
}

// badFileName says why a file of this name is not served, or "".
func badFileName(file string) string {
	switch {
	case !utf8.ValidString(file):
		return "the name is not UTF-8 text"
	case len(file) > maxPath:
		return fmt.Sprintf("the path has more than %d bytes", maxPath)
	case strings.ContainsRune(file, '\\'):
		return "the name has a backslash"
	}
	for _, c := range file {
		if unicode.IsControl(c) || hidesText(c) {
			return fmt.Sprintf("the name has the control character %U", c)
		}
	}
	return ""
}

// printable returns a path that a terminal can show.
func printable(name string) string {
	if badFileName(name) == "" {
		return name
	}
	q := fmt.Sprintf("%+q", excerpt(name, 80))
	return q[1 : len(q)-1]
}

// load reads the skill of a folder. It takes the digests of files that have not changed
// from before, which may be nil.
func load(root *os.Root, label, folder string, before *entry, now time.Time) (e *entry, body string) {
	skill := &Skill{Path: label + "/" + Main}
	w := &walker{reader: reader{path: label + "/" + Main, skill: skill}, root: root, label: label}
	w.walk()
	e = &entry{folder: folder, tree: w.files, again: w.links}
	total := int64(0)
	for _, f := range w.files {
		total += f.Size
		e.again = e.again || now.Sub(time.Unix(0, f.Time)) < settled
	}
	if total > MaxBytes {
		w.fault(1, RuleLimits, "the files have %d bytes together; at most %d are allowed", total, MaxBytes)
	}
	i, found := slices.BinarySearchFunc(w.files, Main, func(n node, name string) int { return strings.Compare(n.Path, name) })
	switch {
	case !found:
		if !failed(w.problems) {
			near := ""
			for _, f := range w.files {
				if strings.EqualFold(f.Path, Main) {
					near = "; rename " + f.Path
				}
			}
			w.fault(1, RuleFile, "the folder has no %s%s", Main, near)
		}
	case w.files[i].Size > MaxText:
		w.fault(1, RuleFile, "it has %d bytes; at most %d are allowed, so move details into files beside it", w.files[i].Size, MaxText)
	default:
		text, err := readFile(root, Main, MaxText)
		if err != nil {
			w.fault(1, RuleFile, "it cannot be read: %s", reason(err))
			break
		}
		body = w.parse(folder, text)
		skill.Files = append(skill.Files, File{Main, digestOf(text), int64(len(text))})
	}
	e.problems = w.problems
	if failed(w.problems) {
		return e, ""
	}
	for _, f := range w.files {
		if f.Path == Main {
			continue
		}
		file, err := digestFile(root, f, before)
		if err != nil {
			w.refuse(f.Path, RuleFile, "it cannot be read: %s", reason(err))
			e.problems = w.problems
			return e, ""
		}
		skill.Files = append(skill.Files, file)
	}
	slices.SortFunc(skill.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	skill.Text = textHash(skill, body)
	e.skill = skill
	return e, body
}

// digestFile returns a file of a skill with its digest.
func digestFile(root *os.Root, f node, before *entry) (File, error) {
	if before != nil && before.skill != nil && !before.again && slices.Contains(before.tree, f) {
		if known, ok := before.skill.File(f.Path); ok && known.Size == f.Size {
			return known, nil
		}
	}
	file, err := openRegular(root, f.Path)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, MaxBytes+1))
	if err == nil && n > MaxBytes {
		err = fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	return File{f.Path, "sha256:" + hex.EncodeToString(h.Sum(nil)), n}, err
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// openRegular opens a regular file. A named pipe would block a plain open.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return root.Open(name)
}

// readFile reads a regular file of at most so many bytes.
func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}

// reason returns the message of an error without the path of the project.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
