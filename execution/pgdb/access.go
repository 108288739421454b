package pgdb

import (
	"context"
	"errors"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/sqlguard"
)

// readableSQL returns the tables and views of the schemas that are not the server's own:
// schema, name, kind, columns, the columns that the role may read, and whether it may read
// a row of it. It is asked only when the connection has rules.
const readableSQL = `SELECT n.nspname, c.relname, c.relkind::pg_catalog.text,
	coalesce(pg_catalog.json_agg(a.attname ORDER BY a.attnum) FILTER (WHERE a.attname IS NOT NULL), '[]'),
	coalesce(pg_catalog.json_agg(a.attname ORDER BY a.attnum) FILTER (WHERE pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')), '[]'),
	pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,f}'::pg_catalog."char"[])
	AND n.nspname OPERATOR(pg_catalog.<>) 'information_schema' AND NOT pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_')
GROUP BY n.oid, n.nspname, c.oid, c.relname, c.relkind ORDER BY n.nspname, c.relname`

// definersSQL returns the functions that the role may call and that run with the rights of
// their owner, which is not the role: the whole name, and the name for GRANT.
const definersSQL = `SELECT pg_catalog.format('%I.%I', n.nspname, p.proname), pg_catalog.format('%I.%I(%s)', n.nspname, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid))
FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
WHERE p.prosecdef AND NOT pg_catalog.pg_has_role(p.proowner, 'USAGE')
	AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
	AND n.nspname OPERATOR(pg_catalog.<>) 'information_schema' AND NOT pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_')
ORDER BY 2`

// reads compares what the role may read with the rules of the connection.
func (p *prober) reads(ctx context.Context) error {
	rules := p.db.access
	if !rules.Restricts() {
		return nil
	}
	p.access.Rules = rules
	var definers [][]string
	err := p.db.interview(ctx, func(ask asker) error {
		var err error
		if definers, err = ask(definersSQL); err != nil {
			return err
		}
		rows, err := ask(readableSQL)
		if err != nil {
			return err
		}
		for _, row := range rows {
			r := probe.Relation{CatalogName: sqlguard.CatalogName{Schema: row[0], Name: row[1]}, View: row[2] == "v" || row[2] == "m", Rows: row[5] == "t"}
			if r.Columns, err = jsonList[string](row[3]); err != nil {
				return unreadable(err)
			}
			if r.Readable, err = jsonList[string](row[4]); err != nil {
				return unreadable(err)
			}
			p.access.Relations = append(p.access.Relations, r)
		}
		session, err := ask(catalogSQL)
		if err != nil {
			return err
		}
		c, err := sessionFacts(session)
		if err != nil {
			return err
		}
		facts, err := ask(factsSQL)
		if err != nil {
			return err
		}
		addFacts(c, facts)
		if c.Objects, err = loadObjects(ask, c.Major); err != nil {
			return err
		}
		p.access.Rules, p.access.Around, err = rules.Within(c)
		return err
	})
	if e, ok := errors.AsType[*execution.Error](err); ok && ctx.Err() == nil && e.Code == sqlguard.CodeDatabaseError {
		p.report.Warn(execution.TopicAccess, "let the role read the server's catalogue, as every role may by default", "what the role may read could not be compared with the rules of this connection: %s", e.Message)
		p.access = probe.Access{Rules: rules} // grants nothing
		return nil
	}
	if err != nil {
		return err
	}
	p.access.Excess(&p.report, func(r probe.Revocation) string {
		what := "SELECT"
		if r.Columns != nil {
			what += " (" + quoteNames(r.Columns) + ")"
		}
		return p.revoke(what+" ON "+quoteName(r.Schema)+"."+quoteName(r.Name), "")
	})
	if len(definers) > 0 {
		names := make([]string, len(definers))
		for i, row := range definers {
			names[i] = row[0]
		}
		p.report.Warn(execution.TopicAccess, p.revoke("EXECUTE ON FUNCTION "+definers[0][1], everyRole)+"; ktx refuses functions that functions.allow does not list",
			"the role may call %s, which may read what a rule of this connection denies: %s", probe.Several(len(definers), "a function that runs with the rights of its owner", "%d functions that run with the rights of their owners"), probe.Named(names))
	}
	return nil
}

// scriptGrants writes the grants on the tables and views of a schema that the rules permit.
func (p *prober) scriptGrants(schema string, line func(string, ...any)) {
	used := false
	for _, g := range p.access.Grants() {
		if g.Schema != schema {
			continue
		}
		if !used {
			used = true
			line("GRANT USAGE ON SCHEMA %s TO %s;", quoteName(schema), roleName)
		}
		what := "SELECT"
		if g.Columns != nil {
			what += " (" + quoteNames(g.Columns) + ")"
		}
		line("GRANT %s ON %s.%s TO %s;", what, quoteName(schema), quoteName(g.Name), roleName)
	}
	if used {
		line("-- Tables of %s that are made later need this script again: rules of the connection", comment(quoteName(schema)))
		line("-- permit only a part of the schema. A right of an earlier script stays until you revoke it.")
	}
}

func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quoteName(n)
	}
	return strings.Join(quoted, ", ")
}
