package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// errNotOurs means that a session leads to a server that this package did not
// start.
var errNotOurs = errors.New("the server does not live where this program started one")

// stopper is a server that can be stopped and started.
type stopper interface {
	Stop(ctx context.Context, mode testdb.StopMode) error
	Restart(ctx context.Context, mode testdb.StopMode) error
}

// pristine is the data directory of a server, and a copy of it with nothing but
// the fixture.
type pristine struct {
	dir    string
	server stopper
}

func (p pristine) copied() string { return p.dir + ".pristine" }

// keep makes the copy and restarts the server.
func (p pristine) keep(ctx context.Context) error {
	if err := p.server.Stop(ctx, testdb.Fast); err != nil {
		return err
	}
	if err := copyTree(ctx, p.dir, p.copied()); err != nil {
		return err
	}
	return p.server.Restart(ctx, testdb.Fast)
}

// restore stops the server, if it runs, and starts it with the content of the
// copy.
func (p pristine) restore(ctx context.Context) error {
	if err := p.server.Stop(ctx, testdb.Immediate); err != nil {
		return err
	}
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("remove what the statement left: %w", err)
	}
	if err := copyTree(ctx, p.copied(), p.dir); err != nil {
		return err
	}
	return p.server.Restart(ctx, testdb.Fast)
}

// copyTree copies a directory with its owners and modes, which cp does.
func copyTree(ctx context.Context, from, to string) error {
	out, err := exec.CommandContext(ctx, "cp", "-a", "--", from, to).CombinedOutput() //nolint:gosec // both are this program's own directories
	if err != nil {
		return fmt.Errorf("copy the data directory: %w\n%s", err, out)
	}
	return nil
}
