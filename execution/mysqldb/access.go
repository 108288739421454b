package mysqldb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/sqlguard"
)

// reads compares what the account may read with the rules of the connection.
func (p *prober) reads(ctx context.Context) error {
	rules := p.db.access
	if !rules.Restricts() {
		return nil
	}
	p.access.Rules = rules
	err := p.db.interview(ctx, func(self identity, ask asker) error {
		in := p.db.databases(self)
		relations, err := ask(relationsSQL + in + relationsOrder)
		if err != nil {
			return err
		}
		columns, err := ask(privilegesSQL + in + columnsOrder)
		if err != nil {
			return err
		}
		p.access.Relations = readable(relations, columns)
		answers, _, err := p.db.catalogAnswers(self, ask, true)
		if err != nil {
			return err
		}
		c, err := p.db.newCatalog(self, answers, true)
		if err != nil {
			return err
		}
		p.access.Rules, p.access.Around, err = rules.Within(c)
		return err
	})
	if e, ok := errors.AsType[*execution.Error](err); ok && ctx.Err() == nil && e.Code == sqlguard.CodeDatabaseError {
		p.report.Warn(execution.TopicAccess, "", "what the account may read could not be compared with the rules of this connection: %s", e.Message)
		p.access = probe.Access{Rules: rules} // grants nothing
		return nil
	}
	if err != nil {
		return err
	}
	p.access.Excess(&p.report, func(probe.Revocation) string {
		return "give the account SELECT only on the tables and columns that the rules permit"
	})
	return nil
}

// readable makes a list from the answers to relationsSQL and privilegesSQL.
func readable(relations, columns [][]string) []probe.Relation {
	list := make([]probe.Relation, len(relations))
	at := make(map[sqlguard.CatalogName]int, len(relations))
	for i, row := range relations {
		list[i] = probe.Relation{CatalogName: sqlguard.CatalogName{Schema: row[0], Name: row[1]}, View: strings.HasSuffix(row[relationType], "VIEW")}
		at[list[i].CatalogName] = i
	}
	for _, row := range columns {
		i, ok := at[sqlguard.CatalogName{Schema: row[0], Name: row[1]}]
		if !ok {
			continue
		}
		r := &list[i]
		r.Columns = append(r.Columns, row[2])
		if slices.Contains(strings.Split(row[3], ","), "select") {
			r.Readable, r.Rows = append(r.Readable, row[2]), true
		}
	}
	return list
}

// scriptGrants writes the grants on the tables and views of a database that the rules
// permit.
func (p *prober) scriptGrants(database string, line func(string, ...any)) {
	line("-- Rules of the connection permit only a part of %s. Tables that are made later need", comment(quoteName(database)))
	line("-- this script again. It lists what the account of the connection sees.")
	for _, g := range p.access.Grants() {
		if g.Schema != database {
			continue
		}
		what := "SELECT"
		if g.Columns != nil {
			quoted := make([]string, len(g.Columns))
			for i, c := range g.Columns {
				quoted[i] = quoteName(c)
			}
			what += " (" + strings.Join(quoted, ", ") + ")"
		}
		if g.View {
			what += ", SHOW VIEW"
		}
		line("GRANT %s ON %s.%s TO %s;", what, quoteName(database), quoteName(g.Name), accountName)
	}
}
