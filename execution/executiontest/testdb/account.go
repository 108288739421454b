package testdb

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that the server runs as. The zero value is the caller's
// own user.
type account struct {
	uid, gid uint32
	other    bool
}

// serverAccount chooses the user that the server runs as. Servers refuse to run
// as root. So when root runs the tests, the server runs as the product's own
// user, or as nobody if there is no such user.
func serverAccount(s system) (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	var errs []error
	for _, name := range s.accounts() {
		u, err := user.Lookup(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return account{}, fmt.Errorf("user %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return account{}, fmt.Errorf("group of user %s: %w", name, err)
		}
		return account{uid: uint32(uid), gid: uint32(gid), other: true}, nil
	}
	return account{}, fmt.Errorf("%s does not run as root and there is no user to run it as: %w", s.product(), errors.Join(errs...))
}

// attributes makes a child process run as a.
func (a account) attributes() *syscall.SysProcAttr {
	if !a.other {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: a.uid, Gid: a.gid}}
}

// own makes a the owner of path.
func (a account) own(path string) error {
	if !a.other {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// reaches reports whether a can enter dir. For another account that means that
// everyone can enter dir and all folders above it.
func (a account) reaches(dir string) bool {
	if !a.other {
		return true
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

// tempDir makes an empty directory that a owns, in a directory that a can
// reach. The path is short enough for a Unix socket inside.
func (a account) tempDir(s system) (string, error) {
	const longest = 50
	for _, base := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		base, err := filepath.EvalSymlinks(base)
		if err != nil || len(base) > longest || !a.reaches(base) {
			continue
		}
		dir, err := os.MkdirTemp(base, s.prefix())
		if err != nil {
			continue
		}
		if err := a.own(dir); err != nil {
			return "", errors.Join(err, os.Remove(dir))
		}
		return dir, nil
	}
	return "", fmt.Errorf("no temporary folder for %s: %s, /tmp and /var/tmp are missing, not writable or not open to its user", s.product(), os.TempDir())
}
