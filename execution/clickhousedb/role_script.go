package clickhousedb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// roleName is the user and the profile that the script creates.
const roleName = "ktx_reader"

// roleScript returns a script for clickhouse-client. It creates a user that can read the
// databases of the connection and nothing else, and a profile that is read-only. It can be
// run more than once.
func (p *prober) roleScript() string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }

	line("-- A user that reads the database %s and does nothing else.", comment(rowset.Backquoted(p.db.target.database)))
	line("-- Run it with clickhouse-client --multiquery as one who may manage access. It may be")
	line("-- run again. On a cluster add ON CLUSTER to each statement.")
	line("CREATE SETTINGS PROFILE OR REPLACE %s SETTINGS", roleName)
	line("  readonly = 1,")
	lim := p.db.limits.WithDefaults()
	line("  max_execution_time = %s MIN 1 MAX %s CHANGEABLE_IN_READONLY,", seconds(lim.Timeout), seconds(lim.Timeout+lim.Timeout/10+1))
	if _, known := p.session.settings[settingLock]; known {
		line("  %s = %s MIN 1 MAX 60 CHANGEABLE_IN_READONLY,", settingLock, seconds(lim.LockTimeout))
	}
	var names []string
	for name := range wanted {
		if _, known := p.session.settings[name]; known {
			names = append(names, name)
		}
	}
	for _, name := range []string{"dialect", "implicit_select"} {
		if _, known := p.session.settings[name]; known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value := wanted[name]
		if value == "" {
			value = pins[name]
		}
		if strings.Trim(value, "0123456789") != "" {
			value = "'" + value + "'"
		}
		line("  %s = %s,", name, value)
	}
	line("  %s = '%s';", settingMode, overflow)
	line("-- Other limits that suit the server: max_memory_usage, max_rows_to_read, max_threads.")
	line("-- Nobody can log in as the user before you give it a password:")
	line("--   ALTER USER %s IDENTIFIED BY '…' HOST ANY;", roleName)
	line("CREATE USER IF NOT EXISTS %s IDENTIFIED WITH sha256_password BY '' HOST NONE;", roleName)
	line("ALTER USER %s SETTINGS PROFILE '%s';", roleName, roleName)
	line("REVOKE ALL ON *.* FROM %s;", roleName)
	line("-- For numbers(), values() and generate_series(). A read-only profile makes no tables.")
	line("GRANT CREATE TEMPORARY TABLE ON *.* TO %s;", roleName)
	for _, s := range p.schemas {
		if p.access.Whole(s) {
			line("GRANT SELECT ON %s.* TO %s;", rowset.Backquoted(s), roleName)
		} else {
			p.scriptGrants(s, line)
		}
	}
	return b.String()
}

// scriptGrants writes the grants on the tables and views of a database that the rules permit.
func (p *prober) scriptGrants(database string, line func(string, ...any)) {
	line("-- Rules of the connection permit only a part of %s. Tables that are made later need", comment(rowset.Backquoted(database)))
	line("-- this script again.")
	for _, g := range p.access.Grants() {
		if g.Schema != database {
			continue
		}
		what := "SELECT"
		if g.Columns != nil {
			what += "(" + quoteNames(g.Columns) + ")"
		}
		line("GRANT %s ON %s.%s TO %s;", what, rowset.Backquoted(g.Schema), rowset.Backquoted(g.Name), roleName)
	}
}

func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = rowset.Backquoted(n)
	}
	return strings.Join(quoted, ", ")
}

// comment returns text as one line of a comment.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u0085' || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, text)
}
