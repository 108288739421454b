package sqlcheck

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
	"slices"
	"strconv"
	"strings"
)

// repository asks git about a repository that the user may not trust. It runs
// only git commands that read objects and the index. None of them reads file
// contents in the work tree, so no filter, text conversion or external diff
// from the configuration of the repository runs.
type repository struct {
	dir string // the working folder of git
	top string // the top of the work tree, with links resolved
	env []string
	// apart says that what a hook says about its repository is not about this one.
	apart bool

	folders map[string]string // from folders of inputs to folders relative to the top
}

// gitConfig overrides settings with which a repository could make git run a
// program, read other files, or take one object for another while it reads.
// With it, git does not take a folder of the tree for a bare repository.
var gitConfig = []string{
	"--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
	"-c", "core.excludesFile=" + os.DevNull, "-c", "core.attributesFile=" + os.DevNull, "-c", "safe.bareRepository=explicit",
}

// gitEnvironment keeps git from asking for a password and from fetching objects
// that a partial clone lacks.
var gitEnvironment = []string{"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}

// ofHook are the variables in which git tells a hook about the repository that runs it.
var ofHook = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE"}

// openRepository opens the repository that holds dir. A submodule is apart from the
// repository that holds it.
func openRepository(ctx context.Context, dir string, apart bool) (*repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git is not installed; ktx needs it to find what changed")
	}
	r := &repository{dir: dir, env: gitEnvironment, apart: apart}
	_, tree := os.LookupEnv("GIT_WORK_TREE")
	_, hook := os.LookupEnv("GIT_DIR") // in a hook, the caller says where the repository is
	given := !apart && (tree || hook)
	if !given {
		top, err := workTree(dir)
		if err != nil {
			return nil, err
		}
		// The repository's own core.worktree could name any folder.
		r.env = append([]string{"GIT_WORK_TREE=" + top}, gitEnvironment...)
	}
	out, err := r.git(ctx, "rev-parse", "--show-toplevel", "--absolute-git-dir")
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	top, store, _ := strings.Cut(strings.TrimRight(string(out), "\r\n"), "\n")
	if r.top, err = filepath.EvalSymlinks(filepath.FromSlash(top)); err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	if !given && !r.owns(ctx, filepath.FromSlash(strings.TrimRight(store, "\r"))) {
		return nil, fmt.Errorf("find the repository: %s leads to a repository that does not name this folder as its work tree", filepath.Join(top, ".git"))
	}
	return r, nil
}

// workTree returns the folder at or above dir that holds a repository.
func workTree(dir string) (string, error) {
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("find the repository: %s is not in one", dir)
		}
		at = filepath.Dir(at)
	}
}

// owns reports whether the object store belongs to the work tree. It does if it
// lies in the work tree, or if it names the work tree, as that of a linked work
// tree or a submodule does.
func (r *repository) owns(ctx context.Context, store string) bool {
	if target, err := filepath.EvalSymlinks(store); err == nil {
		store = target
	}
	own := filepath.Join(r.top, ".git")
	if store == own {
		return true
	}
	if back, err := os.ReadFile(filepath.Join(store, "gitdir")); err == nil && len(back) < 1<<16 { //nolint:gosec // a file of git's own
		if folder, err := filepath.EvalSymlinks(filepath.Dir(strings.TrimSpace(string(back)))); err == nil && folder == r.top {
			return true
		}
	}
	out, err := r.git(ctx, "config", "--file", filepath.Join(store, "config"), "--no-includes", "core.worktree")
	if err != nil {
		return false
	}
	named := filepath.FromSlash(strings.TrimRight(string(out), "\r\n"))
	if !filepath.IsAbs(named) {
		named = filepath.Join(store, named)
	}
	folder, err := filepath.EvalSymlinks(named)
	return err == nil && folder == r.top
}

func (r *repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, gitConfig...), args...)...) //nolint:gosec // the arguments are constants, object names and one revision behind --end-of-options
	cmd.Dir = r.dir
	env := os.Environ()
	if r.apart {
		env = slices.DeleteFunc(env, func(e string) bool {
			name, _, _ := strings.Cut(e, "=")
			return slices.Contains(ofHook, name)
		})
	}
	cmd.Env = slices.Concat(env, r.env)
	return cmd
}

// git returns the output of a git command. The error contains the message of
// git.
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

// tree returns the object name of the tree of a revision.
func (r *repository) tree(ctx context.Context, revision string) (string, error) {
	out, err := r.git(ctx, "rev-parse", "--verify", "--end-of-options", revision+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("%s is not a revision of this repository: %w", revision, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// head returns the tree of the last commit, or "" if there is no commit.
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

// objects are what a tree or the index has, each as a map from path (with slashes) to
// object name.
type objects struct {
	files, links, submodules map[string]string
}

// blobs returns what a tree has.
func (r *repository) blobs(ctx context.Context, tree string) (objects, error) {
	if tree == "" {
		return objects{files: map[string]string{}}, nil
	}
	out, err := r.git(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return objects{}, err
	}
	return objects{entries(out, regularFile, 2), entries(out, symbolicLink, 2), entries(out, submodule, 2)}, nil
}

// staged returns what the index has.
func (r *repository) staged(ctx context.Context) (objects, error) {
	out, err := r.git(ctx, "-C", r.top, "ls-files", "-s", "-z", "--full-name")
	if err != nil {
		return objects{}, err
	}
	return objects{entries(out, regularFile, 1), entries(out, symbolicLink, 1), entries(out, submodule, 1)}, nil
}

// ignored returns the files and folders that git ignores and does not track.
func (r *repository) ignored(ctx context.Context) (map[string]bool, error) {
	out, err := r.git(ctx, "-C", r.top, "ls-files", "-o", "-i", "-z", "--exclude-standard", "--directory", "--full-name")
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for path := range strings.SplitSeq(string(out), "\x00") {
		if path != "" {
			paths[strings.TrimSuffix(path, "/")] = true
		}
	}
	return paths, nil
}

// untracked returns the files that git neither tracks nor ignores.
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

// The first digits of the modes of files in git.
const (
	regularFile  = "100"
	symbolicLink = "120"
	submodule    = "160"
)

// entries parses records "mode … object …\tpath", each followed by NUL.
func entries(out []byte, mode string, object int) map[string]string {
	files := map[string]string{}
	for line := range strings.SplitSeq(string(out), "\x00") {
		facts, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(facts)
		if !ok || len(fields) <= object || !strings.HasPrefix(fields[0], mode) {
			continue
		}
		files[path] = fields[object]
	}
	return files
}

// contents calls yield with the content of each object, in order. The content
// is nil for an object that is larger than a file may be.
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

// readBatch reads the output of git cat-file --batch: for each object a line
// "object type size", the content, and a line end.
func readBatch(in *bufio.Reader, objects []string, yield func(int, []byte)) error {
	for i, object := range objects {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read %s: %w", object, err)
		}
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[1] != "blob" {
			return fmt.Errorf("%s: the object is missing (the clone is partial or damaged)", object)
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
