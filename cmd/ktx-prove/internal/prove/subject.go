package prove

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"github.com/ktxhq/ktx/corpus"
)

// subject is the database that an MCP server is given.
type subject struct {
	engine
	dialect string
	// server is the address of the database server, and empty for SQLite.
	server string
	// url returns the URL of the database for a user, "" for the administrator.
	url func(user string) string
	// locks returns the locks that a session of the MCP server holds.
	locks func(ctx context.Context, session uint32) (State, error)
	// session reads the state of a session with queries in it.
	session func(ask func(sql string) ([][]string, error)) (State, error)
	// dir is where the MCP server must run, or "" if that does not matter.
	dir string
}

// openSubject starts the database of a dialect, with the fixture in it.
func openSubject(ctx context.Context, dialect, bin string, limit time.Duration) (*subject, error) {
	fixture, err := fs.ReadFile(corpus.Files(), "fixtures/"+dialect+".sql")
	if err != nil {
		return nil, fmt.Errorf("read the fixture: %w", err)
	}
	switch dialect {
	case "mysql":
		m, err := startMariaDB(ctx, bin, string(fixture), nil, limit)
		if err != nil {
			return nil, err
		}
		return &subject{
			engine: m, dialect: dialect, server: m.server.Addr(),
			url: func(user string) string { return m.server.URL(database, user) },
			locks: func(ctx context.Context, session uint32) (State, error) {
				return m.locks(ctx, fmt.Sprint(session), false)
			},
			session: func(ask func(sql string) ([][]string, error)) (State, error) {
				return m.sessionState(ask)
			},
		}, nil
	case "sqlite":
		l, err := startSQLite(string(fixture), limit)
		if err != nil {
			return nil, err
		}
		return &subject{engine: l, dialect: dialect, dir: l.dir, url: func(string) string { return "sqlite://" + l.path() }}, nil
	default:
		p, err := startPostgres(ctx, bin, string(fixture), nil, limit)
		if err != nil {
			return nil, err
		}
		return &subject{
			engine: p, dialect: dialect, server: p.server.Addr(),
			url:   func(user string) string { return p.server.URL(database, user) },
			locks: p.locks,
			session: func(ask func(sql string) ([][]string, error)) (State, error) {
				rows, err := ask(pgSessionQuery)
				return sessionState(rows), err
			},
		}, nil
	}
}

// place is where an MCP server finds its database: what the placeholders in its
// command stand for, and the variables of its environment.
type place struct {
	placeholders []string // by turns a placeholder and its value
	env          []string
}

// place returns it for a user, "" for the administrator, behind the tap's address,
// which is empty for SQLite.
func (s *subject) place(user, tap string) (place, error) {
	address := s.url(user)
	if s.server == "" {
		file := filepath.Join(s.dir, liteFile)
		return place{
			placeholders: []string{"{url}", address, "{file}", file},
			env:          []string{"DATABASE_URL=" + address, "SQLITE_DATABASE=" + file},
		}, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return place{}, fmt.Errorf("read the server's own URL: %w", err)
	}
	u.Host = tap
	host, port, err := net.SplitHostPort(tap)
	if err != nil {
		return place{}, fmt.Errorf("read the address of the tap: %w", err)
	}
	password, _ := u.User.Password()
	p := place{placeholders: []string{
		"{url}", u.String(), "{host}", host, "{port}", port, "{user}", u.User.Username(), "{password}", password, "{database}", database,
	}}
	prefix, names := "PG", [5]string{"HOST", "PORT", "USER", "PASSWORD", "DATABASE"}
	if s.dialect == "mysql" {
		prefix = "MYSQL_"
		// Servers differ in how they call these two.
		p.env = append(p.env, "MYSQL_PASS="+password, "MYSQL_DB="+database)
	} else {
		p.env = append(p.env, "PGSSLMODE=disable")
	}
	for i, value := range []string{host, port, u.User.Username(), password, database} {
		p.env = append(p.env, prefix+names[i]+"="+value)
	}
	p.env = append(p.env, "DATABASE_URL="+u.String())
	return p, nil
}
