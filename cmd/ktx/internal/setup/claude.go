package setup

import (
	"os"
	"path/filepath"
	"strings"
)

// claudeProject returns the folder with which Claude Code identifies a project,
// with links resolved: the root of the git repository, or of its first worktree
// if there are several. Without a repository, it is the project folder itself.
func claudeProject(m Machine) string {
	project := m.Project
	if dir, err := filepath.EvalSymlinks(project); err == nil {
		project = dir
	}
	for dir := project; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(filepath.Join(dir, ".git"))
		switch {
		case err == nil && info.IsDir():
			return dir
		case err == nil:
			return firstWorktree(dir)
		case dir == filepath.Dir(dir):
			return project
		}
	}
}

// firstWorktree returns the worktree that contains the repository of the
// worktree dir. A submodule, whose .git is a file too, has its own repository.
func firstWorktree(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, ".git")) //nolint:gosec // where git keeps it
	if err != nil {
		return dir
	}
	own, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return dir
	}
	own = from(dir, own)
	text, err = os.ReadFile(filepath.Join(own, "commondir")) //nolint:gosec // the same
	if err != nil {
		return dir
	}
	if common := from(own, strings.TrimSpace(string(text))); filepath.Base(common) == ".git" {
		return filepath.Dir(common)
	}
	return dir
}

// from returns a path relative to a folder.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
