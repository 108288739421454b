package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
)

// hangups returns the SIGHUP signals that the process receives until stop is
// called. Call it early at the start, because SIGHUP ends the process until then.
func hangups() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1) // keeps a signal that comes during a reload, for another reload
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// reloadOn reads the configuration again at every signal. The function that it
// returns ends this, and waits for a running reload. For each configuration that is
// read, reloadOn calls prepare, which may be nil. If prepare returns an error, the
// configuration is not valid. Otherwise reloadOn calls apply once the configuration
// is in force. A file without connections is refused while there are some, unless
// allowEmpty is set: an empty file is valid, and often a mistake.
func reloadOn(ctx context.Context, a *console.App, signals <-chan os.Signal, open *wiring.OpenProject, allowEmpty bool, prepare func(*project.Project) (apply func(), err error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	changes := changed(ctx, open)
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-changes:
				reload(ctx, a, open, allowEmpty, prepare)
			case <-signals:
				reload(ctx, a, open, allowEmpty, prepare)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// watchPause is how often the files of the configuration are looked at.
const watchPause = time.Second

// changed returns a channel that gets a value when ktx.yaml or a file that it imports
// has changed and was not written for a while. It is nil for a project without other MCP
// servers, which is reloaded by signals only.
func changed(ctx context.Context, open *wiring.OpenProject) <-chan struct{} {
	if open.Upstream == nil {
		return nil
	}
	c := make(chan struct{})
	go func() {
		tick := time.NewTicker(watchPause)
		defer tick.Stop()
		before := stamp(open.Project)
		last := before
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now := stamp(open.Project)
			if now == before || now != last {
				last = now
				continue
			}
			select {
			case c <- struct{}{}:
				before = now
			case <-ctx.Done():
				return
			}
		}
	}()
	return c
}

// stamp describes the files of a configuration: their sizes and times.
func stamp(p *project.Project) string {
	var b strings.Builder
	files := []string{filepath.Join(p.Dir, project.FileName)}
	for _, name := range p.Config.Upstreams.Import {
		if path, err := p.ImportPath(name); err == nil {
			files = append(files, path)
		}
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			_, _ = fmt.Fprintf(&b, "%s gone;", file)
			continue
		}
		_, _ = fmt.Fprintf(&b, "%s %d %d;", file, info.Size(), info.ModTime().UnixNano())
	}
	return b.String()
}

// reload reads ktx.yaml again. If it is valid, its connections replace the present
// ones; otherwise these stay. The gateway records either case, and reload prints it
// to standard error.
func reload(ctx context.Context, a *console.App, open *wiring.OpenProject, allowEmpty bool, prepare func(*project.Project) (apply func(), err error)) {
	p, err := wiring.ReadProject(open.Project.Dir)
	apply := func() {}
	if err == nil && len(p.Config.Connections) == 0 && len(open.Gateway.Connections(ctx)) > 0 && !allowEmpty {
		err = errors.New("ktx.yaml has no connections; that would remove all of them, which takes the flag --allow-empty at the start")
	}
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
		a.Errorf("ktx: the configuration is not valid; the present one stays in force\n")
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
		a.Errorf("ktx: %s; the present configuration stays in force\n", console.EscapeControls(err.Error()))
		return
	}
	open.Configure(a, p)
	a.Errorf("ktx: the configuration is reloaded: %s\n", summary(did))
	for _, key := range fixed(open.Project.Config.Audit, p.Config.Audit) {
		a.Errorf("ktx: audit.%s changed, which takes effect at the next start\n", key)
	}
	apply()
}

// summary returns what a reload did with the connections.
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

// fixed returns the keys of the block audit that changed although a running process
// cannot apply them. Otherwise events before and after the reload would be in
// different logs, or would be kept differently without a note in the log.
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
