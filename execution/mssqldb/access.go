package mssqldb

import (
	"context"
	"errors"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/sqlguard"
)

// readableSQL returns each column of the tables and views that the user sees, and whether
// it may read it. HAS_PERMS_BY_NAME takes the name of a column without brackets.
const readableSQL = `SELECT s.name AS schemaname, o.name AS objectname, o.type AS kind, c.name AS columnname, c.column_id AS position,
	ISNULL(HAS_PERMS_BY_NAME(QUOTENAME(s.name) + N'.' + QUOTENAME(o.name), 'OBJECT', 'SELECT', c.name, 'COLUMN'), 0) AS readable
FROM sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id JOIN sys.columns AS c ON c.object_id = o.object_id
WHERE o.is_ms_shipped = 0 AND o.type IN ('U', 'V', 'ET')
ORDER BY schemaname, objectname, position`

// reads compares what the role may read with the rules of the connection.
func (p *prober) reads(ctx context.Context) error {
	rules := p.db.access
	if !rules.Restricts() {
		return nil
	}
	err := p.compare(ctx, rules)
	if e, ok := errors.AsType[*execution.Error](err); ok && ctx.Err() == nil && e.Code == sqlguard.CodeDatabaseError && e.SQLState != "" {
		p.report.Warn(execution.TopicAccess, "let the role read the server's catalogue views, as every role may by default", "what the role may read could not be compared with the rules of this connection: %s", e.Message)
		p.access = probe.Access{Rules: rules} // grants nothing
		return nil
	}
	return err
}

func (p *prober) compare(ctx context.Context, rules sqlguard.ReadRules) error {
	rows, err := p.db.askAll(ctx, readableSQL)
	if err != nil {
		return err
	}
	p.access.Rules = rules
	for _, row := range rows {
		n := sqlguard.CatalogName{Schema: row[0], Name: row[1]}
		last := len(p.access.Relations) - 1
		if last < 0 || p.access.Relations[last].CatalogName != n {
			p.access.Relations = append(p.access.Relations, probe.Relation{CatalogName: n, View: strings.TrimSpace(row[2]) == "V"})
			last++
		}
		r := &p.access.Relations[last]
		r.Columns = append(r.Columns, row[3])
		if row[5] == "1" {
			r.Readable, r.Rows = append(r.Readable, row[3]), true
		}
	}
	c, _, err := p.db.facts(ctx)
	if err != nil {
		return err
	}
	if c, err = p.db.describe(ctx, c, true, &catalogMemo{}); err != nil {
		return err
	}
	if p.access.Rules, p.access.Around, err = rules.Within(c); err != nil {
		return err
	}
	p.access.Excess(&p.report, func(r probe.Revocation) string {
		what := "SELECT ON OBJECT::" + quoteName(r.Schema) + "." + quoteName(r.Name)
		if r.Columns != nil {
			what += " (" + quoteNames(r.Columns) + ")"
		}
		return "DENY " + what + " TO " + quoteName(p.user)
	})
	return nil
}

// scriptGrants writes the grants on the tables and views of a schema that the rules permit.
func (p *prober) scriptGrants(schema string, line func(string, ...any)) {
	line("-- Rules of the connection permit only a part of %s. Tables that are made later need", comment(quoteName(schema)))
	line("-- this script again. A right of an earlier script stays until you revoke it.")
	for _, g := range p.access.Grants() {
		if g.Schema != schema {
			continue
		}
		on := "OBJECT::" + quoteName(schema) + "." + quoteName(g.Name)
		if g.Columns != nil {
			line("GRANT SELECT ON %s (%s) TO %s;", on, quoteNames(g.Columns), roleName)
		} else {
			line("GRANT SELECT ON %s TO %s;", on, roleName)
		}
		if g.View {
			line("GRANT VIEW DEFINITION ON %s TO %s;", on, roleName)
		}
	}
}

func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quoteName(n)
	}
	return strings.Join(quoted, ", ")
}
