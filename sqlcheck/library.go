package sqlcheck

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/sqlcheck/source"
)

// maxRead is the most bytes of a file that is read for its constants only.
const maxRead = 1 << 20

// neighbours reads the files to which a checked file refers. It stays in the
// repository of the checked file, or in the current folder, and follows no link
// out of it.
type neighbours struct {
	mu    sync.Mutex
	tops  map[string]string   // the top folder, by folder
	roots map[string]*os.Root // by top folder
	lists map[string][]string

	seen map[string]sight
}

// sight is what a file or folder was before it was read, and whether it would
// have been another after a write.
type sight struct {
	at      identity
	settled bool
}

func newNeighbours() *neighbours {
	return &neighbours{tops: map[string]string{}, roots: map[string]*os.Root{}, lists: map[string][]string{}, seen: map[string]sight{}}
}

var _ source.Files = (*neighbours)(nil)

// close closes the folders.
func (n *neighbours) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, root := range n.roots {
		if root != nil {
			_ = root.Close()
		}
	}
	n.roots, n.tops = map[string]*os.Root{}, map[string]string{}
}

// top returns the folder to which reading is limited for files in a folder.
func (n *neighbours) top(folder string) string {
	top, ok := n.tops[folder]
	if !ok {
		top = Tree(folder)
		n.tops[folder] = top
	}
	return top
}

// Tree returns the folder to which a folder belongs: the nearest one above with
// .git, else the current folder if it is above, else the folder itself.
func Tree(folder string) string {
	top := folder
	if current, err := os.Getwd(); err == nil && within(current, folder) {
		top = current
	}
	for at := folder; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			top = at
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return top
}

// within reports whether a path lies in a folder or is the folder.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// open opens a file in the tree to which it belongs.
func (n *neighbours) open(name string) *os.File {
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	top := n.top(filepath.Dir(name))
	root, known := n.roots[top]
	if !known {
		root, _ = os.OpenRoot(top)
		n.roots[top] = root
	}
	if root == nil {
		return nil
	}
	rel, err := filepath.Rel(top, name)
	if err != nil {
		return nil
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	return f
}

// see notes what a file or folder is before it is read for the first time.
func (n *neighbours) see(name string) {
	since := time.Now()
	at := identityOf(filepath.FromSlash(name))
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.seen[name]; !known {
		n.seen[name] = sight{at, at.settled(since)}
	}
}

// was returns what a file or folder was when it was read. It has not settled if a
// later write would not show.
func (n *neighbours) was(name string) (at identity, settled bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.seen[name]
	return s.at, s.settled
}

// Read returns the content of a file.
func (n *neighbours) Read(name string) (string, bool) {
	n.see(name)
	f := n.open(name)
	if f == nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRead {
		return "", false
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err != nil || len(text) > maxRead {
		return "", false
	}
	content, err := decode(text)
	return strings.TrimPrefix(content, "\uFEFF"), err == nil
}

// Folder reports whether there is a folder with that name.
func (n *neighbours) Folder(name string) bool {
	n.see(name)
	info, err := os.Stat(filepath.FromSlash(name))
	return err == nil && info.IsDir()
}

// Top returns the folder to which reading is limited for files in a folder.
func (n *neighbours) Top(folder string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return filepath.ToSlash(n.top(filepath.FromSlash(folder)))
}

// Names returns the names of the files in a folder.
func (n *neighbours) Names(folder string) []string {
	n.mu.Lock()
	list, known := n.lists[folder]
	n.mu.Unlock()
	if known {
		return list
	}
	n.see(folder)
	if f := n.open(folder); f != nil {
		entries, _ := f.ReadDir(-1)
		_ = f.Close()
		for _, e := range entries {
			if !e.IsDir() {
				list = append(list, e.Name())
			}
		}
		slices.Sort(list)
	}
	n.mu.Lock()
	n.lists[folder] = list
	n.mu.Unlock()
	return list
}
