package clickhousedb

import (
	"context"
	"errors"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

// readableSQL returns the columns that the server shows the user. It shows those that the
// user may read, and those on which it has SHOW COLUMNS.
const readableSQL = "SELECT c.database, c.table, t.engine, c.name FROM (SELECT database, table, name, position FROM system.columns WHERE " + notOwn + ") AS c " +
	"ANY INNER JOIN (SELECT database, name AS table, engine FROM system.tables) AS t USING (database, table) ORDER BY c.database, c.table, c.position"

// reads compares what the role may read with the rules of the connection.
func (p *prober) reads(ctx context.Context) error {
	rules := p.db.access
	if !rules.Restricts() {
		return nil
	}
	rows, err := p.db.askAll(ctx, readableSQL)
	if e, ok := errors.AsType[*execution.Error](err); ok && ctx.Err() == nil && e.Code == sqlguard.CodeDatabaseError && e.SQLState != "" {
		p.report.Warn(execution.TopicAccess, "", "what the role may read could not be compared with the rules of this connection: %s", e.Message)
		p.access = probe.Access{Rules: rules} // grants nothing
		return nil
	}
	if err != nil {
		return err
	}
	for _, row := range rows {
		n := sqlguard.CatalogName{Schema: row[0], Name: row[1]}
		last := len(p.access.Relations) - 1
		if last < 0 || p.access.Relations[last].CatalogName != n {
			p.access.Relations = append(p.access.Relations, probe.Relation{CatalogName: n, View: !keepsRows(row[2]), Rows: true})
			last++
		}
		r := &p.access.Relations[last]
		r.Columns = append(r.Columns, row[3])
		r.Readable = append(r.Readable, row[3])
	}
	c, err := p.db.Catalog(ctx)
	if err != nil {
		return err
	}
	if p.access.Rules, p.access.Around, err = rules.Within(c); err != nil {
		return err
	}
	p.access.Excess(&p.report, func(r probe.Revocation) string {
		what := "SELECT"
		if r.Columns != nil {
			what += "(" + quoteNames(r.Columns) + ")"
		}
		return "REVOKE " + what + " ON " + rowset.Backquoted(r.Schema) + "." + rowset.Backquoted(r.Name) + " FROM " + rowset.Backquoted(p.db.target.options.User)
	})
	return nil
}
