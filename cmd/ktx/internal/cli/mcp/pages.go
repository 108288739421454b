package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/httpapi/pages"
	"github.com/ktxhq/ktx/research"
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
		Index: x, LogDir: dir, Version: a.Version, Logger: a.Logger(), Tools: &tools{a, open.Service},
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

// tools are the tools of the MCP server, for the REST API.
type tools struct {
	app     *console.App
	service *research.Service
}

// Tools implements pages.Tools.
func (t *tools) Tools() []pages.Tool {
	infos, err := t.service.Tools()
	if err != nil { // the server could not have started
		t.app.Logger().Error("the tools cannot be listed", "error", err)
	}
	list := make([]pages.Tool, len(infos))
	for i, info := range infos {
		list[i] = pages.Tool(info)
	}
	return list
}

// Call implements pages.Tools. The audit log names REST as the client.
func (t *tools) Call(ctx context.Context, name string, arguments json.RawMessage, progress func(float64, string)) (json.RawMessage, *pages.ToolError) {
	actor, _ := audit.ActorFrom(ctx)
	actor.Client.Name = cmp.Or(actor.Client.Name, "rest")
	answer, failed := t.service.Call(audit.WithActor(ctx, actor), name, arguments, progress)
	if failed == nil {
		return answer, nil
	}
	data, err := json.Marshal(failed)
	if err != nil { // it is made of texts and numbers
		data = json.RawMessage(`{"code":"internal_error","message":"the error cannot be shown","retryable":false}`)
	}
	return nil, &pages.ToolError{
		Code: failed.Code, Message: failed.Message, Hint: failed.Hint, Retryable: failed.Retryable, RetryAfterMs: failed.RetryAfterMs, Verdict: failed.Verdict, JSON: data,
	}
}
