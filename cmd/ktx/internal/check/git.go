package check

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// repository asks git about a repository that nobody needs to trust. The
// commands are plumbing that reads objects and the index: none of them looks at
// the content of the work tree, so that no filter, text conversion or external
// diff of the repository's configuration runs.
type repository struct {
	dir string // where git is run
	top string // the top of the work tree, links resolved
}

// gitConfig overrides what a repository could make git run while it reads.
var gitConfig = []string{"--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false"}

// gitEnvironment keeps git from asking anybody and from fetching what a
// partial clone lacks.
var gitEnvironment = []string{"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}

func openRepository(ctx context.Context, dir string) (*repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git is not installed, which finds out what changed")
	}
	r := &repository{dir: dir}
	out, err := r.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	top := strings.TrimRight(string(out), "\r\n")
	if r.top, err = filepath.EvalSymlinks(filepath.FromSlash(top)); err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	return r, nil
}

func (r *repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, gitConfig...), args...)...) //nolint:gosec // the arguments are constants, object names and one revision behind --end-of-options
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), gitEnvironment...)
	return cmd
}

// git returns what a command prints. The error has what git says of it.
func (r *repository) git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := r.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if said := strings.TrimSpace(stderr.String()); said != "" {
			return nil, fmt.Errorf("git %s: %s", args[0], said)
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// tree returns the object name of a revision's tree.
func (r *repository) tree(ctx context.Context, revision string) (string, error) {
	out, err := r.git(ctx, "rev-parse", "--verify", "--end-of-options", revision+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("%s is no revision of this repository: %w", revision, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// head returns the tree of the last commit, or "" before the first.
func (r *repository) head(ctx context.Context) (string, error) {
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{tree}")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find the last commit: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// blobs returns the files of a tree: path, with slashes, to object name. Links
// and submodules are left out.
func (r *repository) blobs(ctx context.Context, tree string) (map[string]string, error) {
	if tree == "" {
		return map[string]string{}, nil
	}
	out, err := r.git(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	return entries(out, 0, 2), nil
}

// staged returns the files of the index as blobs does.
func (r *repository) staged(ctx context.Context) (map[string]string, error) {
	out, err := r.git(ctx, "-C", r.top, "ls-files", "-s", "-z", "--full-name")
	if err != nil {
		return nil, err
	}
	return entries(out, 0, 1), nil
}

// untracked returns the files that git does not track and is not told to
// ignore.
func (r *repository) untracked(ctx context.Context) (map[string]bool, error) {
	out, err := r.git(ctx, "-C", r.top, "ls-files", "-o", "-z", "--exclude-standard", "--full-name")
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for path := range strings.SplitSeq(string(out), "\x00") {
		paths[path] = true
	}
	return paths, nil
}

// entries reads lines "mode … object …\tpath" with a NUL behind each.
func entries(out []byte, mode, object int) map[string]string {
	files := map[string]string{}
	for line := range strings.SplitSeq(string(out), "\x00") {
		facts, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(facts)
		if !ok || len(fields) <= object || !strings.HasPrefix(fields[mode], "100") {
			continue
		}
		files[path] = fields[object]
	}
	return files
}

// contents calls yield with the content of each object, in order. An object
// that is larger than a file may be has no content and is nil.
func (r *repository) contents(ctx context.Context, objects []string, yield func(i int, content []byte)) error {
	if len(objects) == 0 {
		return nil
	}
	cmd := r.command(ctx, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(strings.Join(objects, "\n") + "\n")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	err = readBatch(bufio.NewReader(pipe), objects, yield)
	if err != nil {
		_, _ = io.Copy(io.Discard, pipe)
	}
	if waiting := cmd.Wait(); err == nil && waiting != nil {
		err = waiting
	}
	if err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	return nil
}

// readBatch reads the answers of git cat-file --batch: a line "object type
// size", the content, a line end.
func readBatch(in *bufio.Reader, objects []string, yield func(int, []byte)) error {
	for i, object := range objects {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read %s: %w", object, err)
		}
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[1] != "blob" {
			return fmt.Errorf("%s: it is not there (a partial clone, or a damaged one)", object)
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil || size < 0 {
			return fmt.Errorf("%s has no size", object)
		}
		if size > maxFile {
			if _, err := in.Discard(int(size)); err != nil {
				return fmt.Errorf("read %s: %w", object, err)
			}
			yield(i, nil)
		} else {
			content := make([]byte, size)
			if _, err := io.ReadFull(in, content); err != nil {
				return fmt.Errorf("read %s: %w", object, err)
			}
			yield(i, content)
		}
		if _, err := in.ReadByte(); err != nil {
			return fmt.Errorf("read %s: %w", object, err)
		}
	}
	return nil
}
