// Package check judges the statements of files: it finds the files, settles
// the dialect and policy of each, splits them and asks the guard.
//
// A file that cannot be judged is a finding, never skipped in silence. The
// package holds no rule about SQL.
package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ktxhq/ktx/cmd/ktx/internal/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// maxFile bounds one file.
const maxFile = 64 << 20

// Input is a file to check.
type Input struct {
	Path  string
	Stdin bool // Path is then only a name
}

// Find expands arguments to files: a file counts whatever its name, a folder
// stands for the SQL files in it, a pattern for the files that match, "-" for
// standard input. An argument that matches nothing is an error.
func Find(args []string, stdinName string) ([]Input, error) {
	var out []Input
	seen := map[string]bool{}
	add := func(path string) {
		if path = filepath.Clean(path); !seen[path] {
			seen[path] = true
			out = append(out, Input{Path: path})
		}
	}
	for _, arg := range args {
		if arg == "-" {
			out = append(out, Input{Path: stdinName, Stdin: true})
			continue
		}
		info, err := os.Stat(arg)
		switch {
		case err == nil && info.IsDir():
			files, err := walk(arg)
			if err != nil {
				return nil, err
			}
			if len(files) == 0 {
				return nil, fmt.Errorf("%s holds no .sql file", arg)
			}
			for _, f := range files {
				add(f)
			}
		case err == nil:
			add(arg)
		case strings.ContainsAny(arg, "*?[{"):
			matches, err := doublestar.FilepathGlob(arg, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
			if err != nil {
				return nil, fmt.Errorf("pattern %s: %w", arg, err)
			}
			if len(matches) == 0 {
				return nil, fmt.Errorf("pattern %s matches no file", arg)
			}
			slices.Sort(matches)
			for _, m := range matches {
				add(m)
			}
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s does not exist", arg)
		default:
			return nil, fmt.Errorf("find files: %w", err)
		}
	}
	return out, nil
}

// skipped are folders that hold no SQL of the project's own.
var skipped = []string{".git", ".ktx", "node_modules", ".venv"}

func walk(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && slices.Contains(skipped, d.Name()):
			return filepath.SkipDir
		case d.Type().IsRegular() && sqlFile(path):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find files: %w", err)
	}
	return files, nil
}

func sqlFile(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".sql", ".psql", ".pgsql", ".sqlite":
		return true
	default:
		return false
	}
}

// Chooser settles which guard judges a file. text is the file without a byte
// order mark. Without a guard the reason is a finding of the file.
type Chooser func(path, text string) (*sqlguard.Guard, *sqlguard.Finding)

// Run judges inputs, several at a time, and returns them in order.
func Run(inputs []Input, stdin io.Reader, choose Chooser) ([]report.File, []string) {
	files := make([]report.File, len(inputs))
	texts := make([]string, len(inputs))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(inputs)) {
		wg.Go(func() {
			for i := range next {
				files[i], texts[i] = one(inputs[i], stdin, choose)
			}
		})
	}
	for i := range inputs {
		next <- i
	}
	close(next)
	wg.Wait()
	return files, texts
}

func one(in Input, stdin io.Reader, choose Chooser) (report.File, string) {
	file := report.File{Path: in.Path, Statements: []report.Statement{}, Findings: []sqlguard.Finding{}}
	text, err := read(in, stdin)
	if err != nil {
		file.Findings = append(file.Findings, notChecked(err.Error()))
		return file, ""
	}
	text = strings.TrimPrefix(text, "\uFEFF") // an encoding mark, not SQL
	guard, problem := choose(in.Path, text)
	if problem != nil {
		problem.Line, problem.Column = 1, 1
		file.Findings = append(file.Findings, *problem)
		return file, text
	}
	file.Dialect = guard.Dialect().Name()
	for _, span := range sqlguard.Split(guard.Dialect(), text) {
		v := guard.Check(text[span.Start:span.End])
		v.Findings = slices.Clone(v.Findings) // the guard keeps its own
		for i := range v.Findings {
			f := &v.Findings[i]
			f.Span.Start += span.Start
			f.Span.End += span.Start
			f.Line, f.Column = sqlguard.Position(text, f.Span.Start)
		}
		file.Statements = append(file.Statements, report.Statement{Span: span, Verdict: v})
	}
	return file, text
}

func notChecked(reason string) sqlguard.Finding {
	return sqlguard.Finding{Code: sqlguard.CodeNotChecked, Message: reason, Line: 1, Column: 1}
}

func read(in Input, stdin io.Reader) (string, error) {
	r := stdin
	if !in.Stdin {
		f, err := os.Open(in.Path)
		if err != nil {
			return "", fmt.Errorf("the file cannot be read: %w", err)
		}
		defer func() { _ = f.Close() }()
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the file cannot be read: %w", err)
	case len(text) > maxFile:
		return "", errors.New("the file is larger than 64 MiB")
	case !utf8.Valid(text):
		return "", errors.New("the file is not UTF-8")
	}
	return string(text), nil
}
