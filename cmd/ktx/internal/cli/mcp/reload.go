package mcp

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
)

// hangups listens for SIGHUP, so that it no longer ends the process, until stop
// is called. It is to be called before what takes long at the start.
func hangups() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1) // one that comes during a reload makes another
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// reloadOn reads the configuration again at every signal. It returns a function
// that ends this and waits for a reload under way. What else takes something of
// the configuration is prepared by prepare, if there is one: an error of it means
// that the configuration is not valid, and what it returns is called when the
// configuration is in force.
func reloadOn(ctx context.Context, a *console.App, signals <-chan os.Signal, open *wiring.OpenProject, prepare func(*project.Project) (apply func(), err error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				reload(ctx, a, open, prepare)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// reload reads ktx.yaml again. When it is valid, its connections take the place
// of those in force; else these stay. Either is recorded, and told on standard
// error.
func reload(ctx context.Context, a *console.App, open *wiring.OpenProject, prepare func(*project.Project) (apply func(), err error)) {
	p, err := wiring.ReadProject(open.Project.Dir)
	apply := func() {}
	if err == nil && prepare != nil {
		apply, err = prepare(p)
	}
	if err != nil {
		if invalid, ok := errors.AsType[*project.InvalidError](err); ok {
			invalid.File = console.DisplayPath(invalid.File)
			for _, problem := range invalid.List {
				a.Errorf("%s\n", console.EscapeControls(problem.In(invalid.File)))
			}
		} else {
			a.Errorf("ktx: %s\n", console.EscapeControls(err.Error()))
		}
		a.Errorf("ktx: the configuration is not valid: the one in force stays\n")
		if err := open.Gateway.KeepConfiguration(ctx); err != nil {
			a.Errorf("ktx: %s\n", console.EscapeControls(err.Error()))
		}
		return
	}
	for _, w := range p.Warnings {
		a.Errorf("%s\n", console.EscapeControls(w.In(console.DisplayPath(p.File))))
	}
	did, err := open.Gateway.Reload(ctx, wiring.Connections(a, p)...)
	if err != nil {
		a.Errorf("ktx: %s: the configuration in force stays\n", console.EscapeControls(err.Error()))
		return
	}
	a.Errorf("ktx: the configuration is reloaded: %s\n", summary(did))
	for _, key := range fixed(open.Project.Config.Audit, p.Config.Audit) {
		a.Errorf("ktx: audit.%s changed, which takes effect at the next start\n", key)
	}
	apply()
}

// summary says what became of the connections.
func summary(did execution.Reloaded) string {
	var parts []string
	for _, part := range []struct {
		what string
		ids  []string
	}{{"added", did.Added}, {"changed", did.Changed}, {"removed", did.Removed}} {
		if len(part.ids) > 0 {
			parts = append(parts, part.what+" "+strings.Join(part.ids, ", "))
		}
	}
	return strings.Join(append(parts, console.Count(len(did.Kept), "connection")+" as before"), "; ")
}

// fixed returns the keys of the audit log's block that a running process cannot
// change: events before and after would be in different logs, or kept
// differently without a word in the log.
func fixed(was, is audit.Config) []string {
	var keys []string
	for _, v := range []struct {
		key     string
		changed bool
	}{
		{"path", was.Path != is.Path},
		{"sql", was.SQL != is.SQL},
		{"onFailure", was.OnFailure != is.OnFailure},
		{"sync", was.Sync != is.Sync},
		{"rotateBytes", was.RotateBytes != is.RotateBytes},
	} {
		if v.changed {
			keys = append(keys, v.key)
		}
	}
	return keys
}
