package wiring

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// Connections returns the connections of a project in the form that the gateway
// takes. A connection that cannot run statements says why in Unavailable. When
// a connection opens, its probe warns on standard error and is remembered.
func Connections(a *console.App, p *project.Project) []execution.Connection {
	var out []execution.Connection
	for _, id := range slices.Sorted(maps.Keys(p.Config.Connections)) {
		c := p.Config.Connections[id]
		guard := p.Config.GuardOf(id)
		c.Guard = guard
		conn := execution.Connection{
			ID: id, Name: c.Name, Description: c.Description, Engine: strings.ToUpper(c.Driver), Policy: c.Policy(guard),
			Concurrency: c.Limits.Concurrency,
			OnProbe: func(id string, report execution.ProbeReport) {
				warnOfRole(a, id, report)
				RememberProbe(p, id, report)
			},
			Limits: limits(c),
		}
		e, ok := engineOf(c.Driver)
		if !ok {
			conn.Unavailable = execution.NewError(sqlguard.CodeNoBackend, "this version runs no statements on "+c.Driver, nil)
			out = append(out, conn)
			continue
		}
		conn.Engine, conn.Dialect, conn.Policy, conn.RefuseWritableRole = e.name, e.reader(p, c), e.policy(c, guard), e.refusesRole(guard)
		// More statements at once than connections would wait a second time,
		// for a connection, and there principals do not take turns.
		conn.Concurrency = min(cmp.Or(conn.Concurrency, execution.DefaultConcurrency), cmp.Or(c.MaxConnections, e.connections))
		conn.Objects = e.objects && guard.Catalog != nil && *guard.Catalog
		open, err := e.opener(a, p, c)
		if err == nil {
			if err = denyFiles(p, c, &conn.Policy); err != nil {
				open = nil
			}
		}
		if err != nil {
			conn.Unavailable = execution.NewError(sqlguard.CodeNotConfigured, "connection "+id+": "+err.Error(), err)
		}
		conn.Open, conn.Settings = open, settings(a, p, c)
		out = append(out, conn)
	}
	return out
}

// limits returns the limits of a connection.
func limits(c project.Connection) execution.Limits {
	return execution.Limits{
		Rows: c.Limits.Rows, Bytes: int64(c.Limits.Bytes), CellBytes: int64(c.Limits.CellBytes), Columns: c.Limits.Columns,
		Timeout: time.Duration(c.Limits.Timeout), LockTimeout: time.Duration(c.Limits.LockTimeout), Temp: int64(c.Limits.Temp),
		ScanBytes: int64(c.Limits.ScanBytes),
	}
}

// warnOfRole warns the operator when the role of a connection can do more than
// read. It is called once for each connection that opens. What the role may read
// beside the rules is left to ktx doctor: the guard applies the rules.
func warnOfRole(a *console.App, id string, report execution.ProbeReport) {
	for _, f := range report.Findings {
		if f.Level == execution.ProbeWarning && f.Topic != execution.TopicAccess {
			a.Errorf("warning: connection %s: %s (see ktx doctor)\n", id, console.EscapeControls(f.Message))
		}
	}
}

// settings returns a hash of everything that opening a connection depends on,
// the values of its secrets included. For a secret in a file it takes the size
// and the time of the file, so that a file that was written again changes the
// hash. The hash is kept in memory only.
func settings(a *console.App, p *project.Project, c project.Connection) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q\n", p.Dir, describeConnection(c))
	for _, s := range []project.Secret{c.URL, c.Password} {
		path, file, err := s.File()
		if !file {
			var value string
			value, err = s.Resolve(p.Environment(a.Lookup))
			_, _ = fmt.Fprintf(h, "%q %v\n", value, err)
			continue
		}
		// The backend reads the file's content when it opens the connection.
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

// RefusesRole reports whether the gateway refuses statements on a connection
// whose role can do more than read.
func RefusesRole(p *project.Project, id string) bool {
	e, _ := engineOf(p.Config.Connections[id].Driver)
	return e.refusesRole(p.Config.GuardOf(id))
}
