package pgdb

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// roleName is the role that the script creates.
const roleName = "ktx_reader"

// everybody finds out what every role may do, for the comments in the script.
func (p *prober) everybody(ctx context.Context) error {
	grants, err := p.ask(ctx, "what was granted to every role", publicGrantsSQL)
	if err != nil {
		return err
	}
	for _, row := range grants {
		p.public = append(p.public, newRight(row))
	}
	functions, err := p.ask(ctx, "which functions every role may call", publicFunctionsSQL)
	for _, row := range functions {
		p.functions = append(p.functions, newFunction(row))
	}
	return err
}

// roleScript returns a psql script that creates a role which reads the
// connection's schemas and does nothing else. It may be run again. It takes no
// right from any other role: the rights that every role has and should not have
// are in comments.
func (p *prober) roleScript() string {
	database := p.facts[factDatabase]
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }

	line("-- A role that reads the database %s and does nothing else.", comment(quoteName(database)))
	line("-- Run it with psql as a superuser, or as the owner of the database who may also")
	line("-- create roles. It may be run again. The role gets no password: give it one with")
	line("--   \\password %s", roleName)
	line("-- which asks for it and sends only its hash.")
	if p.report.Replica {
		line("-- This server is a replica: run it on the server that it follows.")
	}
	line("\\set ON_ERROR_STOP on")
	line("BEGIN;")
	quote := "$ktx$"
	for n := 1; strings.Contains(database, quote); n++ {
		quote = fmt.Sprintf("$ktx%d$", n)
	}
	line("DO %s BEGIN", quote)
	line("  IF pg_catalog.current_database() OPERATOR(pg_catalog.<>) %s THEN", quoteText(database))
	line("    RAISE EXCEPTION 'this script is for another database: connect to it first';")
	line("  END IF;")
	line("  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) '%s') THEN", roleName)
	line("    CREATE ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;", roleName)
	line("  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) '%s'", roleName)
	line("      AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)) THEN")
	line("    RAISE EXCEPTION 'there is a role %s already, and it may do more than read';", roleName)
	line("  END IF;")
	line("END %s;", quote)
	line("ALTER ROLE %s SET default_transaction_read_only = on;", roleName)
	line("ALTER ROLE %s SET statement_timeout = '60s';", roleName)
	line("ALTER ROLE %s SET idle_in_transaction_session_timeout = '60s';", roleName)
	line("GRANT CONNECT ON DATABASE %s TO %s;", quoteName(database), roleName)
	for _, s := range p.schemas {
		if !p.whole(s.name) {
			p.scriptGrants(s.name, line)
			continue
		}
		line("GRANT USAGE ON SCHEMA %s TO %s;", quoteName(s.name), roleName)
		line("GRANT SELECT ON ALL TABLES IN SCHEMA %s TO %s;", quoteName(s.name), roleName)
	}
	line("COMMIT;")
	if len(p.schemas) == 0 {
		line("-- No schema holds a table yet. When one does, print this script again.")
	}
	for _, name := range p.db.path {
		if !slices.ContainsFunc(p.schemas, func(s schema) bool { return s.name == name }) {
			line("-- The schema %s does not exist.", comment(quoteName(name)))
		}
	}
	p.scriptDefaults(line)
	p.scriptPublic(line)
	return b.String()
}

// scriptDefaults lets the role read future tables of the roles that own tables
// now.
func (p *prober) scriptDefaults(line func(string, ...any)) {
	first := true
	for _, s := range p.schemas {
		if !p.whole(s.name) {
			continue
		}
		for _, maker := range s.makers {
			if first {
				line("")
				line("-- Tables that are made later. Only a superuser and members of the named roles")
				line("-- may say so; add the roles that will make tables and own none yet.")
				first = false
			}
			line("ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA %s GRANT SELECT ON TABLES TO %s;", maker, quoteName(s.name), roleName)
		}
	}
}

// scriptPublic lists the rights that the role has because every role has them.
func (p *prober) scriptPublic(line func(string, ...any)) {
	if len(p.public) == 0 && len(p.functions) == 0 {
		return
	}
	line("")
	line("-- What every role may do, this one included. These lines affect other roles, so")
	line("-- they are comments: grant each right to the roles that need it, then run the line.")
	for _, g := range p.public {
		line("-- REVOKE %s FROM PUBLIC;", comment(g.target()))
	}
	for _, f := range p.functions {
		if f.public {
			line("-- REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC; -- %s, owner %s", comment(f.name), reasonOfFunction(f), comment(f.owner))
		}
	}
}

func reasonOfFunction(f function) string {
	if f.reason == "definer" {
		return "SECURITY DEFINER"
	}
	return "language " + comment(f.reason)
}

// comment returns text for one line of a comment. A name may contain a line
// end, and psql would run the rest as a statement.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}

// quoteText returns text as a literal that does not depend on
// standard_conforming_strings.
func quoteText(text string) string {
	text = strings.ReplaceAll(text, "'", "''")
	if strings.Contains(text, `\`) {
		return "E'" + strings.ReplaceAll(text, `\`, `\\`) + "'"
	}
	return "'" + text + "'"
}
