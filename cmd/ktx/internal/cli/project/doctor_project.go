package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution/audit"
)

const (
	// chainTime is the time limit of the check of the chain, which reads the whole
	// log.
	chainTime = 30 * time.Second
	// clockTolerance is how far in the future the time of an event may be.
	clockTolerance = 5 * time.Second
	// Less free space than this on the disk of the log is a warning or an error,
	// in bytes. A statement whose decision cannot be recorded does not run.
	littleSpace, noSpace = 1 << 30, 16 << 20
)

func (e *examination) logDir() string { return e.project.Config.Audit.Dir(e.project.Dir) }

// configuration checks what can be checked without opening a connection or the
// log.
func (e *examination) configuration() {
	config := &e.project.Config
	add := func(level, message, fix string) {
		e.add(finding{Group: groupConfiguration, Level: level, Message: message, Fix: fix})
	}
	add(levelOK, e.project.Dir, "")
	for _, w := range e.project.Warnings {
		add(levelWarning, w.In(e.project.File), "correct or remove the key")
	}
	file := filepath.Join(e.project.Dir, project.FileName)
	if mode, ok := modeOf(file); ok && mode&0o002 != 0 {
		add(levelWarning, fmt.Sprintf("other users may write %s, and so change what it permits (mode %04o)", e.project.File, mode), "chmod o-w "+e.project.File)
	}
	for _, c := range wiring.Connections(e.app, e.project) {
		if e.only != "" && e.only != c.ID {
			continue
		}
		add := func(level, message, fix string) {
			e.add(finding{Group: groupConnection, Connection: c.ID, Level: level, Message: message, Fix: fix})
		}
		if why := artifactOnly(c); why != "" {
			add(levelNote, why, "")
		}
		configured := config.Connections[c.ID]
		if configured.Password.Literal() || configured.URL.LiteralPassword() {
			message := e.project.File + " contains a password"
			if mode, ok := modeOf(file); ok && mode&0o004 != 0 {
				message += fmt.Sprintf(", and other users may read the file (mode %04o)", mode)
			}
			add(levelWarning, message, "move it to an environment variable (env:NAME) or a file (file:/path)")
		}
		for _, s := range []project.Secret{configured.URL, configured.Password} {
			path, ok, err := s.File()
			if mode, known := modeOf(path); ok && err == nil && known && mode&0o077 != 0 {
				level, who := levelNote, "the file's group"
				if mode&0o007 != 0 {
					level, who = levelWarning, "every user of this machine"
				}
				add(level, fmt.Sprintf("%s may read or write the secret in %s (mode %04o)", who, path, mode), "chmod 600 "+path)
			}
		}
		if configured.TLS == "off" {
			add(levelWarning, "TLS is off: statements, rows and the password travel in clear text", "remove tls: off")
		}
	}
	if config.Audit.OnFailure == audit.FailDegrade {
		e.add(finding{Group: groupAudit, Level: levelWarning, Message: "statements run even if they cannot be recorded (onFailure: degrade)", Fix: "remove audit.onFailure"})
	}
	if config.Audit.SQL == audit.SQLFull {
		e.add(finding{Group: groupAudit, Level: levelNote, Message: "the log has the statements with their literals (sql: full)"})
	}
}

// modeOf returns the permissions of a file, if the system has them.
func modeOf(path string) (fs.FileMode, bool) {
	if runtime.GOOS == "windows" || path == "" {
		return 0, false
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Mode().Perm(), true
}

// auditFiles checks the files of the log before an event is written to it.
func (e *examination) auditFiles(ctx context.Context) {
	dir := e.logDir()
	add := func(level, message, fix string) {
		e.add(finding{Group: groupAudit, Level: level, Message: message, Fix: fix})
	}
	if free, ok := e.app.FreeSpace(existing(dir)); ok {
		text := fmt.Sprintf("its disk has %d MiB free", free>>20)
		switch {
		case free < noSpace:
			add(levelError, text+"; statements that cannot be recorded do not run", "free space")
		case free < littleSpace:
			add(levelWarning, text, "free space: statements that cannot be recorded do not run")
		default:
			add(levelOK, text, "")
		}
	}
	if mode, ok := modeOf(dir); ok && mode&0o077 != 0 {
		add(levelWarning, fmt.Sprintf("other users may enter its folder (mode %04o)", mode), "chmod 700 "+dir)
	}
	var open []string
	files, _ := os.ReadDir(dir) // opening the log reports what cannot be read
	for _, f := range files {
		if mode, ok := modeOf(filepath.Join(dir, f.Name())); ok && mode&0o077 != 0 {
			open = append(open, f.Name())
		}
	}
	if len(open) > 0 {
		add(levelWarning, "other users may read or write its files: "+strings.Join(open[:min(len(open), 3)], ", "), "chmod 600 the files")
	}
	if last, ok := newestTime(ctx, dir); ok {
		if ahead := time.Until(last); ahead > clockTolerance {
			add(levelWarning, fmt.Sprintf("the time of its last event is %s in the future: the clock of this machine was ahead then, or is behind now", ahead.Round(time.Second)), "set the clock")
		}
	}
}

// existing returns path or the nearest folder above it that exists.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil {
			return path
		}
		parent := filepath.Dir(path)
		if parent == path {
			return path
		}
		path = parent
	}
}

// newestTime returns the time of the last event.
func newestTime(ctx context.Context, dir string) (time.Time, bool) {
	r, err := audit.OpenReader(dir)
	if err != nil {
		return time.Time{}, false
	}
	defer func() { _ = r.Close() }()
	for rec, err := range r.Newest(ctx) {
		return rec.Event.Time, err == nil
	}
	return time.Time{}, false
}

// chain checks the hashes of the log.
func (e *examination) chain(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, chainTime)
	defer cancel()
	rep, err := audit.Verify(limited, e.logDir())
	f := finding{Group: groupAudit}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		f.Level, f.Message, f.Fix = levelNote, "its chain is too long to check here", "run ktx audit verify"
	case err != nil:
		f.Level, f.Message, f.Fix = levelError, err.Error(), "run ktx audit verify"
	case !rep.OK:
		f.Level, f.Message, f.Fix = levelError, "its chain is broken: "+rep.Problems[0].String(), "run ktx audit verify"
	default:
		f.Level, f.Message = levelOK, "its chain of "+console.Count(int(rep.Events), "event")+" is whole"
	}
	e.add(f)
}

// tools asks the MCP server for its tools, as a client does.
func (e *examination) tools(ctx context.Context, open *wiring.OpenProject) {
	names, err := e.listTools(ctx, open)
	if err != nil {
		e.add(finding{Group: groupMCP, Level: levelError, Message: "the server does not list its tools: " + err.Error(), Fix: "report this with the output of ktx version"})
		return
	}
	e.add(finding{Group: groupMCP, Level: levelOK, Message: console.Count(len(names), "tool") + ": " + strings.Join(names, ", ")})
}

func (e *examination) listTools(ctx context.Context, open *wiring.OpenProject) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	server, err := open.Service.Server(e.app.Version)
	if err != nil {
		return nil, err
	}
	near, far := mcp.NewInMemoryTransports()
	session, err := server.Connect(ctx, far, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "ktx doctor", Version: e.app.Version}, nil).Connect(ctx, near, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	list, err := client.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}
