package mcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/httpapi/pages"
)

// addPages adds the pages and the REST API to the configuration of a server. The
// function that it returns ends what they need.
func addPages(ctx context.Context, a *console.App, open *wiring.OpenProject, c *httpapi.Config) (stop func() error, err error) {
	dir := open.Project.Config.Audit.Dir(open.Project.Dir)
	x, remove, err := openIndex(ctx, dir, filepath.Join(open.Project.Dir, filepath.FromSlash(index.DefaultPath)))
	if err != nil {
		return nil, console.Failed("%w", err)
	}
	p := pages.New(pages.Config{
		Index: x, LogDir: dir, Version: a.Version, Logger: a.Logger(),
		Connections: func(ctx context.Context) []pages.Connection {
			var list []pages.Connection
			for _, info := range open.Gateway.Connections(ctx) {
				list = append(list, pages.Connection{ID: info.ID, Name: info.Name, Engine: info.Engine, Dialect: info.Dialect, Runs: info.Runs})
			}
			return list
		},
	})
	c.Routes, c.LoginPage = p.Routes(), p.Login
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() {
		x.Run(ctx, func(err error) { a.Logger().WarnContext(ctx, "the audit index cannot follow the log", "error", err) })
	})
	return func() error {
		cancel()
		wait.Wait()
		return errors.Join(x.Close(), remove())
	}, nil
}

// openIndex opens the project's index. When it cannot be written, one in the folder for
// temporary files takes its place.
func openIndex(ctx context.Context, dir, path string) (x *index.Index, remove func() error, err error) {
	x, err = index.Open(ctx, dir, path)
	if err == nil {
		return x, func() error { return nil }, nil
	}
	temp, tempErr := os.MkdirTemp("", "ktx-index-")
	if tempErr != nil {
		return nil, nil, errors.Join(err, tempErr)
	}
	remove = func() error { return os.RemoveAll(temp) }
	if x, tempErr = index.Open(ctx, dir, filepath.Join(temp, "index.db")); tempErr != nil {
		return nil, nil, errors.Join(err, tempErr, remove())
	}
	return x, remove, nil
}
