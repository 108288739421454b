package sqlcheck

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ktxhq/ktx/sqlcheck/source"
)

// Input is a file to check.
type Input struct {
	Path  string
	Stdin bool // standard input; Path is only its name in reports
	Named bool // by an argument; not found in a folder or by a pattern
	// Problem says why the file cannot be read, if that is known already.
	Problem string

	// target is the file that a link leads to. The link was found in the tree
	// of an argument.
	target string

	// Was is the earlier path of a file that was renamed since the revision with
	// which it is compared.
	Was string

	// These are set if only changes are judged. object and staged are the git
	// objects of the earlier content and of the content in the index. Of a file
	// that is judged in part, only the statements that the change touches are
	// judged.
	object, staged  string
	before, content []byte
	partly          bool
}

// AsNew returns the input without its earlier content. All of it is judged.
func (in Input) AsNew() Input {
	in.Was, in.object, in.before, in.partly = "", "", nil, false
	return in
}

// Find expands arguments to files. An argument that is a file selects it,
// whatever its name. A folder selects the files with SQL in it, a pattern
// selects the files that match, and "-" selects standard input.
//
// A link that an argument names is followed. A link that was found in a folder
// or by a pattern is followed only to a file inside that folder. The folder of
// a pattern is the part before its first special character. A found link to a
// folder is not followed.
//
// An argument that matches nothing is an error. A file or folder that exists
// and cannot be read is an Input with a Problem.
func Find(args []string, stdinName string) ([]Input, error) {
	f := finder{seen: map[string]bool{}}
	stdin := false
	for _, arg := range args {
		if arg == "-" {
			if stdin {
				return nil, errors.New("standard input (-) is named twice")
			}
			stdin = true
			f.inputs = append(f.inputs, Input{Path: stdinName, Stdin: true})
			continue
		}
		if err := f.argument(arg); err != nil {
			return nil, err
		}
	}
	return f.inputs, nil
}

type finder struct {
	inputs   []Input
	projects dbtProjects
	seen     map[string]bool
}

func (f *finder) add(in Input) {
	if in.Path = filepath.Clean(in.Path); !f.seen[in.Path] {
		f.seen[in.Path] = true
		f.inputs = append(f.inputs, in)
	}
}

// name adds a file that an argument names itself.
func (f *finder) name(path, problem string) {
	f.add(Input{Path: path})
	path = filepath.Clean(path)
	for i := range f.inputs {
		if f.inputs[i].Path == path && !f.inputs[i].Stdin {
			f.inputs[i] = Input{Path: path, Problem: problem, Named: true}
		}
	}
}

func (f *finder) argument(arg string) error {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		before := len(f.inputs)
		if found := f.walk(arg); found == 0 && len(f.inputs) == before {
			return fmt.Errorf("%s has no SQL file (%s) and no source file in which ktx searches for SQL", arg, strings.Join(extensions, ", "))
		}
		return nil
	case err == nil:
		f.name(arg, "")
		return nil
	}
	if _, link := os.Lstat(arg); link == nil { // it exists and leads nowhere, or may not be read
		f.name(arg, unreadable(err))
		return nil
	}
	if strings.ContainsAny(arg, "*?[{") {
		return f.pattern(arg)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist", arg)
	}
	f.name(arg, unreadable(err))
	return nil
}

func (f *finder) pattern(arg string) error {
	if !doublestar.ValidatePattern(filepath.ToSlash(arg)) {
		return fmt.Errorf("%s is not a pattern: %w", arg, doublestar.ErrBadPattern)
	}
	base, pattern := doublestar.SplitPattern(filepath.ToSlash(arg))
	segments := strings.Split(pattern, "/")
	whole := strings.Contains(pattern, "{") // a group in braces may contain a separator
	root := filepath.Clean(filepath.FromSlash(base))
	tree, n := resolved(root), 0
	_ = filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		below, _ := filepath.Rel(root, path)
		below = filepath.ToSlash(below)
		matches, _ := doublestar.Match(pattern, below)
		switch {
		case errors.Is(err, fs.ErrNotExist) && below == ".": // nothing matches
		case err != nil:
			n++
			f.add(Input{Path: path, Problem: unreadable(err)})
		case d.IsDir():
			if below != "." && !whole && !leads(strings.Split(below, "/"), segments) {
				return filepath.SkipDir
			}
		case matches:
			n++
			f.add(found(path, tree))
		}
		return nil
	})
	if n == 0 {
		return fmt.Errorf("pattern %s matches no file", arg)
	}
	return nil
}

// leads reports whether something in a folder can match a pattern. Both are
// given as path segments.
func leads(folder, pattern []string) bool {
	for i, name := range folder {
		if i >= len(pattern)-1 {
			return false
		}
		if pattern[i] == "**" {
			return true
		}
		if ok, err := doublestar.Match(pattern[i], name); !ok || err != nil {
			return false
		}
	}
	return true
}

// resolved returns a folder with its links resolved, or unchanged if that
// fails.
func resolved(folder string) string {
	if abs, err := filepath.Abs(folder); err == nil {
		folder = abs
	}
	if target, err := filepath.EvalSymlinks(folder); err == nil {
		return target
	}
	return folder
}

// skipped are folders that hold no SQL written for the project.
var skipped = []string{".git", ".ktx", "node_modules", "vendor", ".venv"}

// extensions are the file name extensions of SQL files.
var extensions = []string{".sql", ".pgsql", ".psql", ".sqlite"}

// dialectExtensions follow .sql in the names of files that are for one dialect,
// such as full.sql.postgres.
var dialectExtensions = []string{".postgres", ".postgresql", ".pg", ".pgsql", ".sqlite", ".sqlite3", ".mysql", ".mariadb", ".mssql", ".sqlserver", ".tsql", ".clickhouse", ".duckdb"}

// isSQL reports whether a file found in a folder is checked: a file of SQL, or
// of a language in which SQL is searched for.
func isSQL(path string) bool {
	path = strings.ToLower(path)
	extension := filepath.Ext(path)
	return slices.Contains(extensions, extension) || source.Reads(path) ||
		filepath.Ext(strings.TrimSuffix(path, extension)) == ".sql" && slices.Contains(dialectExtensions, extension)
}

// isDatabase reports whether a file with the extension .sqlite is a database of
// SQLite.
func isDatabase(path string) bool {
	if !strings.EqualFold(filepath.Ext(path), ".sqlite") {
		return false
	}
	f, err := Input{Path: path}.open()
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, len(databaseHeader))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == databaseHeader
}

const databaseHeader = "SQLite format 3\x00"

// walk adds the files with SQL below root and returns how many there are. root
// may be a link, which the separator at its end resolves.
func (f *finder) walk(root string) int {
	n := 0
	tree := resolved(root)
	root = filepath.Clean(root) + string(filepath.Separator)
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			f.add(Input{Path: path, Problem: unreadable(err)})
		case d.IsDir():
			if path != root && (slices.Contains(skipped, d.Name()) || f.projects.generated(path)) {
				return filepath.SkipDir
			}
		case isSQL(path) && (!d.Type().IsRegular() || !isDatabase(path)):
			n++
			if d.Type().IsRegular() { // and no folder above it is a link
				f.add(Input{Path: path})
			} else {
				f.add(found(path, tree))
			}
		}
		return nil
	})
	return n
}

// found returns the Input of a file that no argument names, with the problem
// that keeps it from being read. A link may lead anywhere, and reading a pipe
// or a device may never end.
func found(path, tree string) Input {
	in := Input{Path: path}
	target, err := filepath.Abs(path)
	if err == nil {
		target, err = filepath.EvalSymlinks(target)
	}
	if err != nil {
		in.Problem = unreadable(err)
		return in
	}
	info, err := os.Stat(target)
	switch rel, outside := filepath.Rel(tree, target); {
	case err != nil:
		in.Problem = unreadable(err)
	case outside != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)):
		in.Problem = "it is a link that leads out of the folder of the argument; name it as an argument to read it"
	case info.IsDir():
		in.Problem = "it is a link to a folder, which is not followed"
	case !info.Mode().IsRegular():
		in.Problem = "it is not a regular file; name it as an argument to read it"
	default:
		in.target = target
	}
	return in
}

// unreadable returns the message of err without the path, because the finding
// has the path.
func unreadable(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if strings.Contains(err.Error(), "too many links") { // the error of EvalSymlinks
		err = syscall.ELOOP
	}
	return "the file cannot be read: " + err.Error()
}
