package testdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// ErrNoBinaries says that no PostgreSQL server programs were found.
var ErrNoBinaries = errors.New("no PostgreSQL found: neither KTX_TEST_POSTGRES_BIN, PATH nor /usr/lib/postgresql/*/bin has initdb and postgres (make test-deps installs them)")

// Binaries returns the directory of the PostgreSQL server programs that a
// cluster runs by default: KTX_TEST_POSTGRES_BIN when set, else the first
// directory of PATH that leads to them, else the newest
// /usr/lib/postgresql/*/bin. The error is [ErrNoBinaries] when there are none.
func Binaries() (string, error) {
	if dir := os.Getenv("KTX_TEST_POSTGRES_BIN"); dir != "" {
		bin, ok := serverPrograms(dir)
		if !ok {
			return "", fmt.Errorf("KTX_TEST_POSTGRES_BIN: %s does not have initdb and postgres", dir)
		}
		return bin, nil
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if bin, ok := serverPrograms(dir); ok {
			return bin, nil
		}
	}
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", fmt.Errorf("list PostgreSQL versions: %w", err)
	}
	newest, found := 0, ""
	for _, dir := range dirs {
		major, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err != nil || major <= newest {
			continue
		}
		if bin, ok := serverPrograms(dir); ok {
			newest, found = major, bin
		}
	}
	if found == "" {
		return "", ErrNoBinaries
	}
	return found, nil
}

// postgresPrograms returns the directory of initdb and postgres: dir, or the
// one that [Binaries] finds if dir is empty.
func postgresPrograms(dir string) (string, error) {
	if dir == "" {
		return Binaries()
	}
	bin, ok := serverPrograms(dir)
	if !ok {
		return "", fmt.Errorf("%s does not have initdb and postgres", dir)
	}
	return bin, nil
}

// serverPrograms resolves dir to the real directory of initdb and postgres,
// because the server finds its shared files relative to it.
func serverPrograms(dir string) (string, bool) {
	initdb, err := exec.LookPath(filepath.Join(dir, "initdb"))
	if err != nil {
		return "", false
	}
	if initdb, err = filepath.Abs(initdb); err != nil {
		return "", false
	}
	if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
		return "", false
	}
	bin := filepath.Dir(initdb)
	if _, err := exec.LookPath(filepath.Join(bin, "postgres")); err != nil {
		return "", false
	}
	return bin, true
}

// copyInstallation copies the installation around bin to dir, and returns the
// directory of its programs there.
func copyInstallation(bin, dir string, owner account) (string, error) {
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(bin))); err != nil {
		return "", fmt.Errorf("copy the installation of %s: %w", bin, err)
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return owner.own(path)
	})
	if err != nil {
		return "", fmt.Errorf("hand over the installation: %w", err)
	}
	return filepath.Join(dir, filepath.Base(bin)), nil
}
