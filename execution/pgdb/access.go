package pgdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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

// giversSQL returns the roles that give the role SELECT on a relation or on a column of it, quoted
// for GRANT: the role itself, its groups, PUBLIC. It returns none when the role may read every
// table. The values are the schema and the relation.
const giversSQL = `SELECT DISTINCT CASE WHEN g.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(g.grantee)::pg_catalog.text) END
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
CROSS JOIN LATERAL (
	SELECT t.grantee, t.privilege_type FROM pg_catalog.aclexplode(coalesce(c.relacl, pg_catalog.acldefault('r', c.relowner))) AS t
	UNION ALL SELECT t.grantee, t.privilege_type FROM pg_catalog.pg_attribute AS a CROSS JOIN LATERAL pg_catalog.aclexplode(a.attacl) AS t
		WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid
) AS g
WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.text
	AND g.privilege_type OPERATOR(pg_catalog.=) 'SELECT'
	AND (g.grantee OPERATOR(pg_catalog.=) 0 OR pg_catalog.pg_has_role(g.grantee, 'USAGE'))
	AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolsuper AND r.rolname OPERATOR(pg_catalog.=) CURRENT_USER
		OR r.rolname OPERATOR(pg_catalog.=) 'pg_read_all_data' AND pg_catalog.pg_has_role(r.oid, 'USAGE'))
ORDER BY 1`

// outwardSQL returns the relations of schemas in which a table's rows come from another server:
// schema, name, and whether reading the relation reads such a table. So do the tables of which
// one is a part, and the views over them. A materialized view has rows of its own.
const outwardSQL = `WITH RECURSIVE reads (oid) AS (
	SELECT c.oid FROM pg_catalog.pg_class AS c WHERE c.relkind OPERATOR(pg_catalog.=) 'f'::pg_catalog."char"
	UNION SELECT n.reader FROM reads AS r JOIN (
		SELECT i.inhrelid AS source, i.inhparent AS reader FROM pg_catalog.pg_inherits AS i
		UNION ALL SELECT d.refobjid, w.ev_class FROM pg_catalog.pg_rewrite AS w
		JOIN pg_catalog.pg_depend AS d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.=) w.oid
			AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
		JOIN pg_catalog.pg_class AS v ON v.oid OPERATOR(pg_catalog.=) w.ev_class AND v.relkind OPERATOR(pg_catalog.<>) 'm'::pg_catalog."char"
	) AS n ON n.source OPERATOR(pg_catalog.=) r.oid
)
SELECT n.nspname, c.relname, c.oid OPERATOR(pg_catalog.=) ANY (SELECT r.oid FROM reads AS r)
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,f}'::pg_catalog."char"[])
	AND n.oid OPERATOR(pg_catalog.=) ANY (SELECT o.relnamespace FROM pg_catalog.pg_class AS o JOIN reads AS r ON r.oid OPERATOR(pg_catalog.=) o.oid)
	AND n.nspname OPERATOR(pg_catalog.<>) 'information_schema' AND NOT pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_')
ORDER BY n.nspname, c.relname`

// outside finds the relations whose rows come from other servers, which the script does not
// grant: with a catalogue, the guard refuses them.
func (p *prober) outside(ctx context.Context) error {
	rows, err := p.ask(ctx, "which tables are of other servers", outwardSQL)
	p.outward = map[string]map[string]bool{}
	for _, row := range rows {
		if p.outward[row[0]] == nil {
			p.outward[row[0]] = map[string]bool{}
		}
		p.outward[row[0]][row[1]] = row[2] == "t"
	}
	return err
}

// whole reports whether the script may grant all tables of a schema, also those that are made
// later.
func (p *prober) whole(schema string) bool {
	return len(p.outward[schema]) == 0 && p.access.Whole(schema)
}

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
		fix, failed := p.takeAway(ctx, r)
		err = cmp.Or(err, failed) // the first of the warnings' errors
		return fix
	})
	if err != nil {
		return err
	}
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

// takeAway returns the statements that take the right to read a relation, or some of its columns,
// from the roles that give it. The server would ignore the revocation of one column from a role
// that may read the table, so the table is revoked, and the other columns are granted.
func (p *prober) takeAway(ctx context.Context, r probe.Revocation) (string, error) {
	rows, err := p.ask(ctx, "who gives the right to read "+r.String(), giversSQL, []byte(r.Schema), []byte(r.Name))
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "take from the role what lets it read every table, such as SUPERUSER or pg_read_all_data", nil
	}
	givers := make([]string, len(rows))
	for i, row := range rows {
		givers[i] = row[0]
	}
	on := " ON " + quoteName(r.Schema) + "." + quoteName(r.Name)
	fix := "REVOKE SELECT" + on + " FROM " + strings.Join(givers, ", ")
	if len(r.Others) > 0 {
		fix += "; GRANT SELECT (" + quoteNames(r.Others) + ")" + on + " TO " + p.me()
	}
	return fix, nil
}

// scriptGrants writes the grants on the tables and views of a schema that the rules permit and
// that do not read other servers.
func (p *prober) scriptGrants(schema string, line func(string, ...any)) {
	outward := p.outward[schema]
	granted := p.access.Grants()
	if p.access.Whole(schema) {
		granted = nil
		for _, name := range slices.Sorted(maps.Keys(outward)) {
			granted = append(granted, probe.Grant{CatalogName: sqlguard.CatalogName{Schema: schema, Name: name}})
		}
	}
	used := false
	var left []string
	for _, g := range granted {
		if g.Schema != schema {
			continue
		}
		what := "SELECT"
		if g.Columns != nil {
			what += " (" + quoteNames(g.Columns) + ")"
		}
		grant := fmt.Sprintf("GRANT %s ON %s.%s TO %s;", what, quoteName(schema), quoteName(g.Name), roleName)
		if outward[g.Name] {
			left = append(left, grant)
			continue
		}
		if !used {
			used = true
			line("GRANT USAGE ON SCHEMA %s TO %s;", quoteName(schema), roleName)
		}
		line("%s", grant)
	}
	if used {
		line("-- Tables of %s that are made later need this script again: the role may read", comment(quoteName(schema)))
		line("-- only a part of the schema. A right of an earlier script stays until you revoke it.")
	}
	if len(left) > 0 {
		line("-- What reads tables of other servers runs statements there, and ktx refuses it with")
		line("-- guard.catalog: true. Without that, you may run these lines too:")
	}
	for _, grant := range left {
		line("-- %s", comment(grant))
	}
}

func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quoteName(n)
	}
	return strings.Join(quoted, ", ")
}
