package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ktxhq/ktx/cmd/ktx/internal/embedded"
)

// Input is a file to check.
type Input struct {
	Path  string
	Stdin bool // Path is then only a name
	Named bool // by an argument, not found by a folder or pattern
	// Problem says why the file cannot be read, when that is known already.
	Problem string

	// Where only what changed is judged: the names of the earlier content and
	// of that in the index, and both. Of a file that is partly judged, the
	// statements that the change touches are.
	object, staged  string
	before, content []byte
	partly          bool
}

// Find expands arguments to files: a file counts whatever its name, a folder
// stands for the SQL files in it, a pattern for the files that match, "-" for
// standard input. Links to files are followed, links to folders are not. An
// argument that matches nothing is an error; a file or folder that is there
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
	inputs []Input
	seen   map[string]bool
}

func (f *finder) add(path, problem string) {
	if path = filepath.Clean(path); !f.seen[path] {
		f.seen[path] = true
		f.inputs = append(f.inputs, Input{Path: path, Problem: problem})
	}
}

// name adds a file that an argument names itself.
func (f *finder) name(path, problem string) {
	f.add(path, problem)
	path = filepath.Clean(path)
	for i := range f.inputs {
		if f.inputs[i].Path == path && !f.inputs[i].Stdin {
			f.inputs[i].Named = true
		}
	}
}

func (f *finder) argument(arg string) error {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		before := len(f.inputs)
		if found := f.walk(arg); found == 0 && len(f.inputs) == before {
			return fmt.Errorf("%s holds no SQL file (%s), nor a source in which SQL is looked for", arg, strings.Join(extensions, ", "))
		}
		return nil
	case err == nil:
		f.name(arg, "")
		return nil
	}
	if _, link := os.Lstat(arg); link == nil { // it is there and leads nowhere, or may not be read
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
	matches, err := doublestar.FilepathGlob(arg, doublestar.WithFilesOnly(), doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	switch {
	case errors.Is(err, doublestar.ErrBadPattern):
		return fmt.Errorf("%s is not a pattern: %w", arg, err)
	case err != nil:
		f.add(arg, unreadable(err))
		return nil
	case len(matches) == 0:
		return fmt.Errorf("pattern %s matches no file", arg)
	}
	slices.Sort(matches)
	for _, m := range matches {
		f.add(m, special(m))
	}
	return nil
}

// skipped are folders that hold no SQL of the project's own.
var skipped = []string{".git", ".ktx", "node_modules", "vendor", ".venv"}

// extensions are those of SQL files.
var extensions = []string{".sql", ".pgsql", ".psql", ".sqlite"}

// isSQL reports whether a folder's file is one to check: a file of SQL, or of a
// language in which SQL is found.
func isSQL(path string) bool {
	return slices.Contains(extensions, strings.ToLower(filepath.Ext(path))) || embedded.Reads(path)
}

// walk adds the SQL files below root and returns how many there are. The root
// itself may be a link, which the separator behind it resolves.
func (f *finder) walk(root string) int {
	found := 0
	root = filepath.Clean(root) + string(filepath.Separator)
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			f.add(path, unreadable(err))
		case d.IsDir():
			if path != root && slices.Contains(skipped, d.Name()) {
				return filepath.SkipDir
			}
		case isSQL(path):
			found++
			f.add(path, special(path))
		}
		return nil
	})
	return found
}

// special says why a file that was not named itself is not opened: reading a
// pipe or a device could take forever.
func special(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return unreadable(err)
	case info.IsDir():
		return "it is a link to a folder, which is not followed"
	case !info.Mode().IsRegular():
		return "it is not a regular file; name it to read it all the same"
	default:
		return ""
	}
}

// unreadable is the reason in err without the path, which a finding has.
func unreadable(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return "the file cannot be read: " + err.Error()
}
