package mysqldb

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/ending"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// catalogLimits bound each query about the objects of the databases. A longer answer is
// an error, because a partial catalogue must not be used.
var catalogLimits = execution.Limits{
	Rows: 2_000_000, Bytes: 512 << 20, CellBytes: 16 << 20, Columns: 32,
	Timeout: time.Minute, LockTimeout: 5 * time.Second,
}

// catalogTries is how often the backend reads a catalogue that changes all the time,
// before it gives up.
const catalogTries = 5

// catalogMemo is the last catalogue, and a hash of the answers that it was made from.
type catalogMemo struct {
	mu      sync.Mutex
	made    [sha256.Size]byte
	catalog *sqlguard.Catalog
}

// Catalog returns the server's product and version, the connection's own database, its
// views and its generated columns, as a new connection reports them. When
// [Config.Objects] is set, it also returns the objects of the databases that statements
// may name, as far as the account may see them. MySQL's schemas are its databases, and
// the server looks up unqualified names in the connection's own.
//
// The server answers each question at another time. So Catalog asks until two rounds of
// answers are equal. As long as they equal those of the last call, it returns the same
// value, which callers must not modify.
func (d *DB) Catalog(ctx context.Context) (*sqlguard.Catalog, error) {
	var c *sqlguard.Catalog
	err := d.interview(ctx, func(self identity, ask asker) error {
		var before [sha256.Size]byte
		for n := range catalogTries {
			answers, made, err := d.catalogAnswers(self, ask, d.objects)
			if err != nil {
				return err
			}
			d.catalog.mu.Lock()
			last, known := d.catalog.catalog, d.catalog.catalog != nil && d.catalog.made == made
			d.catalog.mu.Unlock()
			switch {
			case known:
				c = last
				return nil
			case n == 0 || made != before:
				before = made
				continue
			}
			if c, err = d.newCatalog(self, answers, d.objects); err != nil {
				return err
			}
			d.catalog.mu.Lock()
			d.catalog.made, d.catalog.catalog = made, c
			d.catalog.mu.Unlock()
			return nil
		}
		e := execution.NewError(sqlguard.CodeDatabaseError, fmt.Sprintf("the catalogue of the database changed each of %d times that it was read", catalogTries), nil)
		e.Retryable = true
		e.Hint = "try again when fewer tables are being created and dropped"
		return e
	})
	return c, err
}

// catalogAnswers asks the questions of a catalogue, and returns the answers with a hash
// of them.
func (d *DB) catalogAnswers(self identity, ask asker, objects bool) (answers [][][]string, made [sha256.Size]byte, err error) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q\n", self.version, self.database)
	for _, question := range d.catalogQuestions(self, objects) {
		rows, err := ask(question)
		if err != nil {
			return nil, made, err
		}
		for _, row := range rows {
			_, _ = fmt.Fprintf(h, "%q\n", row)
		}
		_, _ = fmt.Fprintln(h)
		answers = append(answers, rows)
	}
	return answers, [sha256.Size]byte(h.Sum(nil)), nil
}

// catalogQuestions returns the questions in the order of the answers to newCatalog.
func (d *DB) catalogQuestions(self identity, objects bool) []string {
	in := d.databases(self)
	questions := []string{namesFoldSQL, relationsSQL + in + relationsOrder}
	if !objects {
		return append(questions, generatedSQL+in+columnsOrder)
	}
	return append(questions, columnsSQL+in+columnsOrder, viewsSQL+in+relationsOrder, routinesSQL+routinesIn(in), parametersSQL+parametersIn(in))
}

// databases returns a list of the databases that statements may name, as SQL.
func (d *DB) databases(self identity) string {
	var list []string
	for _, name := range append([]string{self.database}, d.others...) {
		list = append(list, quoteText(name))
	}
	slices.Sort(list)
	return "(" + strings.Join(slices.Compact(list), ", ") + ")"
}

// newCatalog makes a catalogue from the answers to catalogQuestions.
func (d *DB) newCatalog(self identity, answers [][][]string, objects bool) (*sqlguard.Catalog, error) {
	c := &sqlguard.Catalog{
		Product: flavourOf(self.version).product(), Version: number(self.version),
		Database: self.database, SearchPath: []string{self.database}, Views: []sqlguard.CatalogName{},
	}
	major, _, _ := strings.Cut(c.Version, ".")
	var err error
	if c.Major, err = strconv.Atoi(major); err != nil {
		return nil, mismatch(&mismatchError{"the server's version has no number"})
	}
	folds, relations, columns := answers[0], answers[1], answers[2]
	if len(folds) != 1 {
		return nil, network.Untrusted("the server does not say how it compares names", nil)
	}
	for _, row := range relations {
		if strings.HasSuffix(row[relationType], "VIEW") {
			c.Views = append(c.Views, sqlguard.CatalogName{Schema: row[0], Name: row[1]})
		}
	}
	if !objects {
		c.Derived = derivedOf(columns)
		return c, nil
	}
	c.Objects, err = objectsOf(relations, columns, answers[3], answers[4], answers[5])
	if err != nil {
		return nil, execution.NewError(sqlguard.CodeDatabaseError, "the catalogue of the database cannot be understood: "+err.Error(), err)
	}
	c.Objects.FoldsNames = folds[0][0] != "0"
	c.Derived = derivedOf(columns)
	return c, nil
}

// asker runs one question and returns its rows; NULL is "".
type asker func(sql string) ([][]string, error)

// interview runs several questions on one new connection, each in a read-only session of
// its own. An old session does not know changed rights of the account, and a new
// connection reaches a new server behind the same address.
func (d *DB) interview(ctx context.Context, questions func(identity, asker) error) error {
	if ctx.Err() != nil {
		return pool.Ended(context.Cause(ctx), nil, 0)
	}
	l, err := d.pool.Fresh(ctx)
	if err != nil {
		return err
	}
	usable, first := true, true
	defer func() {
		if usable {
			d.pool.Release(l)
		} else {
			d.pool.Discard(l)
		}
	}()
	return questions(l.Conn.self, func(sql string) ([][]string, error) {
		if !usable || !first && !l.Conn.Ready(ctx) {
			usable = false
			return nil, execution.NewError(sqlguard.CodeConnectionLost, "the connection to the server broke", nil)
		}
		usable, first = false, false // until the exchange says otherwise
		x := exchange{c: l.Conn, k: ending.New(&running{c: l.Conn, pool: d.pool}), sql: sql, lim: catalogLimits}
		res, err := x.run(ctx, d.pool.OnClose)
		usable = x.keep
		if err != nil {
			return nil, err
		}
		return textsOf(res)
	})
}
