package pgdb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/ending"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// catalogLimits bound each query about the objects of a database. A longer
// answer is an error, because a partial catalogue must not be used.
var catalogLimits = execution.Limits{
	Rows: 2_000_000, Bytes: 512 << 20, CellBytes: 16 << 20, Columns: 32,
	Timeout: time.Minute, LockTimeout: 5 * time.Second,
}

// catalogTries is how often the backend loads the objects of a database that
// changes all the time, before it gives up.
const catalogTries = 5

// catalogMemo is the last catalogue with objects and the versions that it was
// made from.
type catalogMemo struct {
	limits execution.Limits

	mu      sync.Mutex
	made    []string
	catalog *sqlguard.Catalog
}

func (m *catalogMemo) get(made []string) *sqlguard.Catalog {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.catalog == nil || !slices.Equal(m.made, made) {
		return nil
	}
	return m.catalog
}

func (m *catalogMemo) put(made []string, c *sqlguard.Catalog) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made, m.catalog = made, c
}

// Catalog returns the server's major version, the database's name, and the
// schemas in which the session resolves unqualified names. When
// [Config.Objects] is set, it also returns the objects of the database. As long
// as these have not changed, it returns the same value, which callers must not
// modify.
//
// The objects are consistent with each other. Catalog compares the system
// tables that they come from before and after the load, on one connection,
// because the server prints the definitions of views and functions with the
// names that are current at that time. When the objects change during every
// try, Catalog returns an error.
func (d *DB) Catalog(ctx context.Context) (*sqlguard.Catalog, error) {
	var c *sqlguard.Catalog
	err := d.interview(ctx, func(ask asker) error {
		session, err := ask(catalogSQL)
		if err != nil {
			return err
		}
		if !d.objects {
			if c, err = sessionFacts(session); err == nil {
				var facts [][]string
				if facts, err = ask(factsSQL); err == nil {
					addFacts(c, facts)
				}
			}
		} else {
			c, session, err = d.loadCatalog(ask, session)
		}
		if err == nil && len(d.path) == 0 {
			path := searchedSchemas(session)
			d.searched.Store(&path)
		}
		return err
	})
	return c, err
}

// sessionFacts returns the catalogue without objects.
func sessionFacts(rows [][]string) (*sqlguard.Catalog, error) {
	c := &sqlguard.Catalog{SearchPath: []string{}}
	for _, row := range rows {
		c.Database = row[0]
		number, err := strconv.Atoi(row[1])
		if err != nil {
			return nil, network.Untrusted("the server has no version", err)
		}
		c.Major = number / 10000
	}
	for _, s := range searchedSchemas(rows) {
		if s != "information_schema" {
			c.SearchPath = append(c.SearchPath, s)
		}
	}
	return c, nil
}

// searchedSchemas returns the schemas in which the session resolves names. It
// leaves out the server's schemas, which are always searched, and the session's
// temporary schemas.
func searchedSchemas(rows [][]string) []string {
	path := []string{}
	for _, row := range rows {
		if s := row[2]; s != "" && !strings.HasPrefix(s, "pg_") {
			path = append(path, s)
		}
	}
	return path
}

// loadCatalog loads the objects until nothing has changed during the load.
// session is the answer to catalogSQL. It returns the answer that belongs to
// the catalogue.
func (d *DB) loadCatalog(ask asker, session [][]string) (*sqlguard.Catalog, [][]string, error) {
	before, _, err := versionsOf(ask, session)
	if err != nil {
		return nil, nil, err
	}
	for range catalogTries {
		if last := d.catalog.get(before); last != nil {
			return last, session, nil
		}
		c, err := sessionFacts(session)
		if err != nil {
			return nil, nil, err
		}
		// An object that is dropped during the load can also cause an error.
		var failure error
		c.Objects, failure = loadObjects(ask, c.Major)
		if session, err = ask(catalogSQL); err != nil {
			return nil, nil, cmp.Or(failure, err)
		}
		after, facts, err := versionsOf(ask, session)
		if err != nil {
			return nil, nil, cmp.Or(failure, err)
		}
		if slices.Equal(before, after) {
			if failure != nil {
				return nil, nil, failure
			}
			addFacts(c, facts)
			d.catalog.put(before, c)
			return c, session, nil
		}
		before = after
	}
	e := execution.NewError(sqlguard.CodeDatabaseError, fmt.Sprintf("the catalogue of the database changed each of %d times that it was read", catalogTries), nil)
	e.Retryable = true
	e.Hint = "try again when fewer tables are being created and dropped"
	return nil, nil, e
}

// versionsOf returns strings that stay equal as long as session and objects do
// not change, and the answer to factsSQL.
func versionsOf(ask asker, session [][]string) (versions []string, facts [][]string, err error) {
	fingerprint, err := ask(fingerprintSQL)
	if err != nil {
		return nil, nil, err
	}
	if facts, err = ask(factsSQL); err != nil {
		return nil, nil, err
	}
	return slices.Concat(slices.Concat(session, fingerprint, facts)...), facts, nil
}

// addFacts adds the answer to factsSQL to a catalogue.
func addFacts(c *sqlguard.Catalog, rows [][]string) {
	c.Extensions, c.ExtensionSchemas = []string{}, map[string]string{}
	for _, row := range rows {
		if row[0] == "closed" {
			c.Closed = append(c.Closed, row[1])
			continue
		}
		if row[0] == "row" {
			c.RowFunctions = append(c.RowFunctions, row[1])
			continue
		}
		if row[0] == "extension" {
			c.Extensions = append(c.Extensions, row[1])
			c.ExtensionSchemas[row[1]] = row[2]
			continue
		}
		d := sqlguard.DerivedColumn{Table: sqlguard.CatalogName{Schema: row[1], Name: row[2]}, Column: row[3], From: []string{row[4]}}
		if last := len(c.Derived) - 1; last >= 0 && c.Derived[last].Table == d.Table && c.Derived[last].Column == d.Column {
			c.Derived[last].From = append(c.Derived[last].From, row[4])
			continue
		}
		c.Derived = append(c.Derived, d)
	}
}

// asker runs one constant of session_catalog.go and returns its rows; NULL is "".
type asker func(sql string) ([][]string, error)

// errAgain says that an interview may begin again: its first query met a pooler that the
// dialer did not know of, or the connection broke between two queries.
var errAgain = errors.New("the question was not run")

// interview runs several queries on one new connection. An old session does not
// know changed settings of the role. A new connection also reaches a new server
// behind the same address, not the previous one.
func (d *DB) interview(ctx context.Context, questions func(asker) error) error {
	err := d.interviewOnce(ctx, questions)
	if errors.Is(err, errAgain) {
		err = d.interviewOnce(ctx, questions)
	}
	return err
}

func (d *DB) interviewOnce(ctx context.Context, questions func(asker) error) error {
	if ctx.Err() != nil {
		return pool.Ended(context.Cause(ctx), nil, 0)
	}
	l, err := d.pool.Fresh(ctx)
	if err != nil {
		return err
	}
	c := l.Conn
	usable, first := true, true
	defer func() {
		if usable {
			d.pool.Release(l)
		} else {
			d.pool.Discard(l)
		}
	}()
	return questions(func(sql string) ([][]string, error) {
		if !usable || !first && !c.Ready(ctx) {
			usable = false
			return nil, errors.Join(errAgain, execution.NewError(sqlguard.CodeConnectionLost, "the connection to the server broke", nil))
		}
		usable = false // until the exchange says otherwise
		x := exchange{c: c, k: ending.New(c), s: statement{sql: sql}, lim: d.catalog.limits, alarm: &d.alarm}
		res, err := x.run(ctx, d.pool.OnClose)
		usable = x.keep
		if err != nil && x.again && first {
			return nil, errors.Join(errAgain, err)
		}
		first = false
		if err != nil {
			return nil, err
		}
		return textsOf(res)
	})
}

// textsOf returns the rows of a result as strings; NULL is "".
func textsOf(res *execution.Result) ([][]string, error) {
	if res.Truncated {
		return nil, execution.NewError(sqlguard.CodeDatabaseError, "the catalogue of the database is too large: "+res.Note, nil)
	}
	return rowset.Texts(res.Rows), nil
}

// loadObjects loads all objects. Their order does not depend on the server.
func loadObjects(ask asker, major int) (*sqlguard.Objects, error) {
	l := newObjectLoader()
	types, functions, parts := catalogTypesSQL, catalogFunctionsSQL, catalogPartsSQL
	if major < 14 {
		types, functions, parts = catalogTypesOldSQL, catalogFunctionsOldSQL, catalogPartsOldSQL
	}
	for _, part := range []struct {
		sql  string
		read func(row []string) error
	}{
		{types, l.typeFacts},
		{functions, l.function},
		{catalogOperatorsSQL, l.operator},
		{catalogCastsSQL, l.cast},
		{catalogRelationsSQL, l.relation},
		{catalogInheritsSQL, l.inherits},
		{parts, l.part},
		{catalogOrdersSQL, l.order},
	} {
		rows, err := ask(part.sql)
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			if err := part.read(row); err != nil {
				return nil, unreadable(err)
			}
			rows[i] = nil
		}
	}
	if err := l.finish(); err != nil {
		return nil, unreadable(err)
	}
	return l.out, nil
}

func unreadable(err error) error {
	return execution.NewError(sqlguard.CodeDatabaseError, "the catalogue of the database cannot be understood: "+err.Error(), err)
}

func compareNames(a, b sqlguard.CatalogName) int {
	return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
}

// jsonList reads the output of json_agg. An empty text is an empty list.
func jsonList[T any](text string) ([]T, error) {
	if text == "" {
		return nil, nil
	}
	var list []T
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("a list of the catalogue: %w", err)
	}
	return list, nil
}
