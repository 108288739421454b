package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

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
func (a *app) reloadOn(ctx context.Context, signals <-chan os.Signal, d *door, prepare func(*project.Project) (apply func(), err error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				a.reload(ctx, d, prepare)
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
func (a *app) reload(ctx context.Context, d *door, prepare func(*project.Project) (apply func(), err error)) {
	p, err := loadProject(d.project.Dir)
	apply := func() {}
	if err == nil && prepare != nil {
		apply, err = prepare(p)
	}
	if err != nil {
		if invalid, ok := errors.AsType[*project.InvalidError](err); ok {
			invalid.File = display(invalid.File)
			for _, problem := range invalid.List {
				a.errorf("%s\n", escapeControls(problem.In(invalid.File)))
			}
		} else {
			a.errorf("ktx: %s\n", escapeControls(err.Error()))
		}
		a.errorf("ktx: the configuration is not valid: the one in force stays\n")
		if err := d.gateway.KeepConfiguration(ctx); err != nil {
			a.errorf("ktx: %s\n", escapeControls(err.Error()))
		}
		return
	}
	for _, w := range p.Warnings {
		a.errorf("%s\n", escapeControls(w.In(display(p.File))))
	}
	did, err := d.gateway.Reload(ctx, a.connections(p)...)
	if err != nil {
		a.errorf("ktx: %s: the configuration in force stays\n", escapeControls(err.Error()))
		return
	}
	a.errorf("ktx: the configuration is reloaded: %s\n", summary(did))
	for _, key := range fixed(d.project.Config.Audit, p.Config.Audit) {
		a.errorf("ktx: audit.%s changed, which takes effect at the next start\n", key)
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
	return strings.Join(append(parts, count(len(did.Kept), "connection")+" as before"), "; ")
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

// settings stands for everything that opening a connection depends on, what its
// secrets are included: a file that holds one and was written since makes
// another connection. It is kept in memory only.
func (a *app) settings(p *project.Project, c project.Connection) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q\n", p.Dir, describeConnection(c))
	for _, s := range []project.Secret{c.URL, c.Password} {
		path, file, err := s.File()
		if !file {
			var value string
			value, err = s.Resolve(a.lookup)
			_, _ = fmt.Fprintf(h, "%q %v\n", value, err)
			continue
		}
		// Its content is read when the connection opens.
		if info, failed := os.Stat(path); failed == nil && err == nil {
			_, _ = fmt.Fprintf(h, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		} else {
			_, _ = fmt.Fprintf(h, "%q %v %v\n", path, failed, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// describeConnection returns a connection as configured, without its secrets.
func describeConnection(c project.Connection) []byte {
	text, err := json.Marshal(c)
	if err != nil { // no field of it fails
		return []byte(err.Error())
	}
	return text
}
