package rootfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lstat asks the kernel for a name of the folder itself. [os.Root.Lstat] takes half as
// long again, and folders of a project have tens of thousands of files that each call
// looks at. A name without a slash cannot leave the folder, and no link is followed.
func (f *Folder) lstat(name string) (Info, error) {
	var stat unix.Stat_t
	for {
		err := unix.Fstatat(int(f.self.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case err == nil:
			return Info{Mode: typeOf(stat.Mode), Size: stat.Size, Modified: time.Unix(stat.Mtim.Unix())}, nil
		case !errors.Is(err, syscall.EINTR):
			return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
		}
	}
}

// typeOf returns the type of a file of the kernel's mode.
func typeOf(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return os.ModeDir
	case unix.S_IFLNK:
		return os.ModeSymlink
	case unix.S_IFIFO:
		return os.ModeNamedPipe
	case unix.S_IFSOCK:
		return os.ModeSocket
	case unix.S_IFCHR:
		return os.ModeDevice | os.ModeCharDevice
	case unix.S_IFBLK:
		return os.ModeDevice
	}
	return os.ModeIrregular
}
