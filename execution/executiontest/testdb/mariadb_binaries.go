package testdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoMariaDB says that no MariaDB server programs were found.
var ErrNoMariaDB = errors.New("no MariaDB found: neither KTX_TEST_MARIADB_BIN, PATH, /usr/sbin nor /usr/local/sbin has mariadbd or mysqld (make test-deps installs them)")

// MariaDBBinaries returns the directory of the server program, mariadbd or
// mysqld, that a MariaDB server runs by default. This is KTX_TEST_MARIADB_BIN
// if it is set. Otherwise it is the first of the directories of PATH, /usr/sbin
// and /usr/local/sbin that contains the program. The error is [ErrNoMariaDB]
// when none does.
func MariaDBBinaries() (string, error) {
	if dir := os.Getenv("KTX_TEST_MARIADB_BIN"); dir != "" {
		if _, ok := mariadbServer(dir); !ok {
			return "", fmt.Errorf("KTX_TEST_MARIADB_BIN: %s has neither mariadbd nor mysqld", dir)
		}
		return filepath.Abs(dir)
	}
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		if _, ok := mariadbServer(dir); ok {
			return filepath.Abs(dir)
		}
	}
	return "", ErrNoMariaDB
}

// mariadbServer returns the server program in dir.
func mariadbServer(dir string) (string, bool) {
	for _, name := range []string{"mariadbd", "mysqld"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, true
		}
	}
	return "", false
}

// mariadbPrograms returns the directory of the server program, and the product.
// The directory is dir, or the one that [MariaDBBinaries] finds if dir is
// empty.
func mariadbPrograms(ctx context.Context, dir string) (bin string, s mariadbSystem, err error) {
	if dir == "" {
		dir, err = MariaDBBinaries()
	} else {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", s, err
	}
	program, ok := mariadbServer(dir)
	if !ok {
		return "", s, fmt.Errorf("%s has neither mariadbd nor mysqld", dir)
	}
	out, err := exec.CommandContext(ctx, program, "--no-defaults", "--version").CombinedOutput()
	if err != nil {
		return "", s, fmt.Errorf("%s --version: %w\n%s", program, err, out)
	}
	return dir, mariadbSystem{mysql: !strings.Contains(string(out), "MariaDB")}, nil
}

// installer returns the program that makes a data directory. It is in the
// server's directory, or in the bin directory next to that.
func installer(bin string) (string, error) {
	for _, dir := range []string{bin, filepath.Join(bin, "..", "bin"), filepath.Join(bin, "..", "scripts")} {
		for _, name := range []string{"mariadb-install-db", "mysql_install_db"} {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("no mariadb-install-db beside %s nor in the bin folder beside it", bin)
}
