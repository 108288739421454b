package fresh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
)

// demoPrefix begins the names of the temporary folders of demos.
const demoPrefix = "ktx-demo-"

// Demo makes a project with the demo shop in a temporary folder that only this user
// can read, with duckDB as files for DuckDB. The caller calls remove at the end.
func Demo(ctx context.Context, a *console.App, duckDB bool) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", demoPrefix); err != nil {
		return "", nil, fmt.Errorf("make demo project: %w", err)
	}
	remove = func() error { return RemoveDemo(dir) }
	if _, err := Make(ctx, a, dir, Content{Demo: true, DuckDB: duckDB}); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// RemoveDemo removes a folder that [Demo] made. It refuses any other folder.
func RemoveDemo(dir string) error {
	if filepath.Dir(dir) != filepath.Clean(os.TempDir()) || !strings.HasPrefix(filepath.Base(dir), demoPrefix) {
		return fmt.Errorf("remove %s: it is not a temporary demo", console.DisplayPath(dir))
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the demo: %w", err)
	}
	return nil
}
