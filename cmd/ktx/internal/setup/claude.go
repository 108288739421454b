package setup

import (
	"os"
	"path/filepath"
	"strings"
)

// claudeProject is the folder by which Claude Code knows a project, without
// links: the root of its git repository, of the first worktree where it has
// several, else the folder itself.
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

// firstWorktree is the worktree that the repository of another one lies in. A
// submodule, whose .git is a file too, has a repository of its own.
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

// from is a path as it is seen from a folder.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
