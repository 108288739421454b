// Package executable gives tests the ktx program, built once.
//
//	func TestMain(m *testing.M) { os.Exit(executable.Run(m.Run)) }
//
//	func TestSomething(t *testing.T) {
//		out, err := exec.CommandContext(t.Context(), executable.KTX(t), "version").Output()
//		…
//	}
//
// scripts/suite builds the program once for all test binaries and names it in
// KTX_TEST_KTX. Without this variable each test binary builds the program at its
// first use, with the build settings of the environment (CGO_ENABLED). The
// program lies in a folder that every user can enter, because some tests run it
// as another user. The package is never part of the shipped binary.
package executable

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// KTX returns the path of the ktx program. A test fails when the program does
// not build.
func KTX(tb testing.TB) string {
	tb.Helper()
	built.once.Do(func() { built.path, built.err = build() })
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return built.path
}

func build() (string, error) {
	if path := os.Getenv("KTX_TEST_KTX"); path != "" {
		_, err := os.Stat(path)
		return path, err
	}
	var err error
	if built.dir, err = os.MkdirTemp("", "ktx-build-"); err != nil {
		return "", err
	}
	if err := os.Chmod(built.dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(built.dir, "ktx")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	out, err := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", path, "github.com/ktxhq/ktx/cmd/ktx").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build ktx: %w\n%s", err, out)
	}
	return path, nil
}

// Run calls tests, removes what KTX built and returns the exit code of tests.
func Run(tests func() int) int {
	code := tests()
	if built.dir == "" {
		return code
	}
	if err := os.RemoveAll(built.dir); err != nil {
		fmt.Fprintln(os.Stderr, "executable:", err)
		return max(code, 1)
	}
	return code
}
