package wiring

import (
	"context"
	"os"
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/sqlguard"
)

// noGuard is the ID of no guard: no approval has it, so no statement runs on what is
// opened with it.
var noGuard = sqlguard.ID{1}

// Refused returns a problem for each connection to a server that could not be opened
// because of its configuration, such as one whose URL switches TLS off towards another
// machine. It connects to nothing. It says nothing about a connection whose secret is
// not there, which another machine may have, nor about a file of a database.
func Refused(ctx context.Context, a *console.App, p *project.Project) []project.Problem {
	var list []project.Problem
	for _, conn := range Connections(a, p) {
		c := p.Config.Connections[conn.ID]
		if e, ok := engineOf(c.Driver); !ok || e.driver == "sqlite" || e.driver == "duckdb" {
			continue
		}
		if _, err := c.URL.Resolve(p.Environment(a.Lookup)); err != nil && c.URL.Set() {
			continue
		}
		if _, err := c.Password.Resolve(p.Environment(a.Lookup)); err != nil && c.Password.Set() {
			continue
		}
		if conn.Unavailable != nil || conn.Open == nil {
			list = append(list, problemOf(p, conn.ID, conn.Unavailable))
			continue
		}
		// Opening makes the pool of connections, and connects at the first use.
		db, err := conn.Open(ctx, noGuard)
		if err != nil {
			list = append(list, problemOf(p, conn.ID, err))
			continue
		}
		_ = db.Close() // nothing is open
	}
	return list
}

func problemOf(p *project.Project, id string, err error) project.Problem {
	said := strings.TrimPrefix(err.Error(), string(sqlguard.CodeNotConfigured)+": ")
	return project.Problem{Path: "connections." + id, Line: lineOf(p.File, id), Message: strings.TrimPrefix(said, "connection "+id+": ")}
}

// connectionsKey is where the connections of the file begin.
var connectionsKey = regexp.MustCompile(`(?m)^["']?connections["']?[ \t]*:`)

// lineOf returns the line of the first key id among the connections of a file, 1 when
// there is none.
func lineOf(file, id string) int {
	text, err := os.ReadFile(file) //nolint:gosec // the project's configuration
	if err != nil {
		return 1
	}
	begin := connectionsKey.FindIndex(text)
	if begin == nil {
		return 1
	}
	key := regexp.MustCompile(`(?m)^[ \t]+["']?` + regexp.QuoteMeta(id) + `["']?[ \t]*:|\{[ \t]*["']?` + regexp.QuoteMeta(id) + `["']?[ \t]*:`)
	at := key.FindIndex(text[begin[0]:])
	if at == nil {
		return 1
	}
	return 1 + strings.Count(string(text[:begin[0]+at[0]]), "\n")
}
