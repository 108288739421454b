package mssqldb

import (
	"context"
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/execution"
)

// roleName is the login and the user that the script creates.
const roleName = "ktx_reader"

// schemasToRead finds out which schemas the script grants access to.
func (p *prober) schemasToRead(ctx context.Context) error {
	rows, err := p.ask(ctx, execution.TopicServer, "which schemas hold tables", schemasSQL, 1)
	for _, row := range rows {
		p.schemas = append(p.schemas, row[0])
	}
	return err
}

// roleScript returns a script for sqlcmd. It creates a login and a user that
// can read the schemas of the database and nothing else. It can be run more
// than once, and revokes no right of other accounts.
func (p *prober) roleScript() string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }

	line("-- A role that reads the database %s and does nothing else.", comment(quoteName(p.database)))
	line("-- Run it with sqlcmd as one who may make logins and users. It may be run again. Put")
	line("-- a password of your own in the place of the empty one, which no server takes.")
	if p.report.Replica {
		line("-- This database is read-only here: run it on the server that it follows. The")
		line("-- login must have the same SID on every replica.")
	}
	line(":on error exit")
	if p.contained {
		line("-- Run it in that database: a connection of this service cannot change to it.")
		line("IF DATABASE_PRINCIPAL_ID(N'%s') IS NULL", roleName)
		line("  CREATE USER %s WITH PASSWORD = N'', DEFAULT_SCHEMA = dbo;", roleName)
	} else {
		line("USE master;")
		line("GO")
		line("IF NOT EXISTS (SELECT 1 FROM sys.sql_logins WHERE name = N'%s')", roleName)
		line("  CREATE LOGIN %s WITH PASSWORD = N'';", roleName)
		line("GO")
		line("USE %s;", quoteName(p.database))
		line("GO")
		line("IF DATABASE_PRINCIPAL_ID(N'%s') IS NULL", roleName)
		line("  CREATE USER %s FOR LOGIN %s WITH DEFAULT_SCHEMA = dbo;", roleName, roleName)
	}
	line("GO")
	line("GRANT CONNECT TO %s;", roleName)
	for _, s := range p.schemas {
		if !p.access.Whole(s) {
			p.scriptGrants(s, line)
			continue
		}
		if p.db.objects { // so that the guard knows the text of views
			line("GRANT VIEW DEFINITION ON SCHEMA::%s TO %s;", quoteName(s), roleName)
		}
		line("GRANT SELECT ON SCHEMA::%s TO %s;", quoteName(s), roleName)
	}
	if len(p.schemas) == 0 {
		line("-- No schema that this role sees holds a table. GRANT SELECT ON SCHEMA::name TO %s;", roleName)
	}
	line("-- What a role that everybody is a member of may have been granted.")
	line("DENY INSERT, UPDATE, DELETE, EXECUTE, ALTER, TAKE OWNERSHIP TO %s;", roleName)
	line("DENY CREATE TABLE, CREATE VIEW, CREATE PROCEDURE, CREATE FUNCTION, CREATE SCHEMA, CREATE TYPE, CREATE SYNONYM TO %s;", roleName)
	line("GO")
	return b.String()
}

// comment returns text as one line of a comment. A name may contain a line end,
// and sqlcmd would run what follows it.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u0085' || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, text)
}
