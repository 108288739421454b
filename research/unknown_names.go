package research

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

// missingTable and missingColumn are the codes with which the servers say that a
// name of a statement is unknown: SQLSTATE of PostgreSQL (manual, appendix A) and
// of MySQL and MariaDB ("Server Error Message Reference": 1146, 1054), and the
// numbers of SQL Server ("Database Engine events and errors").
var (
	missingTable  = []string{"42P01", "42S02", "208"}
	missingColumn = []string{"42703", "42S22", "207"}
)

// SQLite has one code for every error of a statement, and says the rest in English
// only.
const (
	sqliteError  = "SQLITE_ERROR"
	sqliteTable  = "no such table: "
	sqliteColumn = "no such column: "
)

// DuckDB has a kind of error, and says the rest in English only.
const (
	duckCatalog = "Catalog"
	duckBinder  = "Binder"
	duckTable   = "Table with name "
)

// duckColumns are the messages about an unknown column.
var duckColumns = regexp.MustCompile(`^Referenced column |^Values list .* does not have a column named |^Table .* does not have a column named `)

// BigQuery has two reasons for many errors, and says the rest in English only.
const (
	bigQueryMissing = "notFound"
	bigQueryTable   = "Not found: Table "
	bigQueryInvalid = "invalidQuery"
	bigQueryColumn  = "Unrecognized name: "
)

// withNearNames adds to an error about an unknown table or column which names of
// the last scan are nearest. It returns err unchanged when it is about something
// else.
func (s *Service) withNearNames(ctx context.Context, connectionID, sql string, err error) error {
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || e.SQLState == "" || !hasCatalog(s) {
		return err
	}
	table := slices.Contains(missingTable, e.SQLState) || e.SQLState == sqliteError && strings.Contains(e.Message, sqliteTable) ||
		e.SQLState == duckCatalog && strings.HasPrefix(e.Message, duckTable) ||
		e.SQLState == bigQueryMissing && strings.HasPrefix(e.Message, bigQueryTable)
	column := slices.Contains(missingColumn, e.SQLState) || e.SQLState == sqliteError && strings.Contains(e.Message, sqliteColumn) ||
		e.SQLState == duckBinder && duckColumns.MatchString(e.Message) || e.SQLState == bigQueryInvalid && strings.HasPrefix(e.Message, bigQueryColumn)
	if !table && !column {
		return err
	}
	snapshot, failed := s.snapshot(ctx, s.stores.Load().Catalog, connectionID)
	var hint string
	switch {
	case errors.Is(failed, catalog.ErrNoScan):
		hint = "ktx has no scan of this connection to name the nearest ones; its owner can run: ktx scan " + connectionID
	case failed != nil:
		return err
	default:
		verdict, failed := s.gateway.Check(ctx, connectionID, sql)
		if failed != nil {
			return err
		}
		if table {
			hint = nearTables(snapshot, verdict.Relations)
		} else {
			hint = nearColumns(snapshot, verdict.Relations, e.Message)
		}
	}
	if hint == "" {
		return err
	}
	with := *e
	with.Hint = strings.TrimPrefix(with.Hint+"; "+hint, "; ")
	return &with
}

// nearTables names the nearest tables for each relation that the scan does not
// have.
func nearTables(snapshot *catalog.Snapshot, relations []sqlguard.VerdictRelation) string {
	var hints []string
	for _, r := range relations {
		ref := catalog.Ref{Catalog: r.Database, DB: r.Schema, Name: r.Name}
		_, err := snapshot.ResolveRef(ref)
		missing, ok := errors.AsType[*catalog.NotFoundError](err)
		if !ok {
			continue
		}
		if len(missing.Nearest) == 0 {
			hints = append(hints, fmt.Sprintf("the last scan has no table like %s; search with discover_data", snapshot.Display(ref)))
			continue
		}
		names := make([]string, len(missing.Nearest))
		for i, t := range missing.Nearest {
			names[i] = snapshot.Display(t.Ref())
		}
		hints = append(hints, fmt.Sprintf("the last scan has no table %s; the nearest are %s", snapshot.Display(ref), strings.Join(names, ", ")))
	}
	return strings.Join(hints, "; ")
}

// unknownColumn finds the column in the message of a server: of PostgreSQL (with
// quotes only if there is no qualifier), MySQL, SQLite, SQL Server, DuckDB and BigQuery.
var unknownColumn = regexp.MustCompile(`column "([^"]+)" |column ([^ "']+) does not exist|Unknown column '([^']+)'|no such column: (.+)$|Invalid column name '([^']+)'|does not have a column named "([^"]+)"|Unrecognized name: ([^ ;]+)`)

// nearColumns names tables beside those of the statement that have the column, and the
// nearest columns in the tables of the statement.
func nearColumns(snapshot *catalog.Snapshot, relations []sqlguard.VerdictRelation, message string) string {
	found := unknownColumn.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	name := strings.Join(found[1:], "") // one of them is not empty
	name = name[strings.LastIndexByte(name, '.')+1:]
	var there, near []string
	read := map[catalog.Ref]bool{}
	for _, r := range relations {
		t, err := snapshot.ResolveRef(catalog.Ref{Catalog: r.Database, DB: r.Schema, Name: r.Name})
		if err != nil {
			continue
		}
		read[t.Ref()] = true
		c, err := snapshot.ResolveColumn(t, name)
		missing, ok := errors.AsType[*catalog.ColumnError](err)
		if !ok { // the statement names it under another table, or where it cannot be seen
			there = append(there, snapshot.DisplayColumn(t.Ref(), c.Name))
			continue
		}
		for _, c := range missing.Nearest {
			near = append(near, snapshot.DisplayColumn(t.Ref(), c))
		}
	}
	if len(there) == 0 {
		there = columnsElsewhere(snapshot, read, name)
	}
	var hints []string
	if len(there) > 0 {
		hints = append(hints, "in the last scan it is "+strings.Join(there, ", or "))
	}
	if len(near) > 0 {
		hints = append(hints, "the nearest columns in the last scan are "+strings.Join(near[:min(len(near), catalog.MaxCandidates)], ", "))
	}
	return strings.Join(hints, "; ")
}

// maxElsewhere is how many tables with a missing column are named.
const maxElsewhere = 3

// columnsElsewhere names columns with this name in tables that a statement does not
// read. If any of these tables joins one that it reads, only such tables are named, each
// with its join.
func columnsElsewhere(snapshot *catalog.Snapshot, read map[catalog.Ref]bool, name string) []string {
	if len(read) == 0 {
		return nil
	}
	columns := map[catalog.Ref]string{}
	var all []string
	for _, t := range snapshot.Tables() {
		if read[t.Ref()] {
			continue
		}
		for i := range t.Columns {
			if c := t.Columns[i].Name; strings.EqualFold(c, name) {
				columns[t.Ref()] = c
				all = append(all, snapshot.DisplayColumn(t.Ref(), c))
				break
			}
		}
	}
	var joined []string
	for _, r := range snapshot.Relationships() {
		from, to := r.From, r.To
		if read[to.Table] {
			from, to = to, from
		}
		column, ok := columns[to.Table]
		if !ok || !read[from.Table] {
			continue
		}
		on := make([]string, len(from.Columns))
		for i := range on {
			on[i] = snapshot.DisplayColumn(from.Table, from.Columns[i]) + " = " + snapshot.DisplayColumn(to.Table, to.Columns[i])
		}
		joined = append(joined, snapshot.DisplayColumn(to.Table, column)+", joined on "+strings.Join(on, " AND "))
	}
	if len(joined) > 0 {
		all = joined
	}
	return all[:min(len(all), maxElsewhere)]
}
