package prove

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ktxhq/ktx/corpus"
)

// InsertEvidence rewrites the text of a class file.
var InsertEvidence = insertEvidence

// Fold joins observations with the same result to one entry.
var Fold = fold

// IsAddress reports whether an argument is refused as an address.
var IsAddress = isAddress

// testLimit is the time limit of a statement: long enough for every statement
// of the tests that ends by itself, on a slow machine too.
const testLimit = 8 * time.Second

// Prove does what Main does on one dialect, without private folders, with the
// class files below dir. It returns the reports by ID.
func Prove(ctx context.Context, dir, dialect, bin string, ids ...string) (map[string]Report, error) {
	o := options{corpus: dir, bin: bin, limit: testLimit}
	files, err := readClassFiles(dir, dialect)
	if err != nil {
		return nil, err
	}
	e, err := start(ctx, o, dialect)
	if err != nil {
		return nil, err
	}
	reports := map[string]Report{}
	r := runner{engine: e}
	for _, f := range files {
		for _, c := range f.cases {
			for _, id := range ids {
				if c.ID != id {
					continue
				}
				if reports[id], err = r.run(ctx, c); err != nil {
					return nil, err
				}
			}
		}
	}
	return reports, e.close()
}

// RunCases runs the given cases.
func RunCases(ctx context.Context, dir, dialect string, cases ...corpus.Case) ([]Report, error) {
	return RunCasesWithin(ctx, testLimit, dir, dialect, cases...)
}

// RunCasesWithin is RunCases with another time limit for a statement.
func RunCasesWithin(ctx context.Context, limit time.Duration, dir, dialect string, cases ...corpus.Case) ([]Report, error) {
	e, err := start(ctx, options{corpus: dir, limit: limit}, dialect)
	if err != nil {
		return nil, err
	}
	r := runner{engine: e}
	var reports []Report
	for _, c := range cases {
		report, err := r.run(ctx, c)
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, e.close()
}

// ReadOnly runs cases as administrator, each in its own read-only transaction.
// It does not look at what they change, and returns the error of each. It
// leaves out cases of other versions or products.
func ReadOnly(ctx context.Context, dir, dialect string, cases []corpus.Case) (_ map[string]error, err error) {
	e, err := start(ctx, options{corpus: dir, limit: testLimit}, dialect)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	run, begin := func(text string) error {
		return failure(e.try(ctx, Attempt{Role: e.roles()[0], ReadOnly: true}, corpus.Case{SQL: text}))
	}, ""
	switch e := e.(type) {
	case *postgres:
		begin = "BEGIN READ ONLY"
		conn, err := e.connect(ctx, database, "", nil)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, conn.Close(ctx)) }()
		run = func(text string) error { _, err := pgRows(ctx, conn, text); return err }
	case *mariadb:
		begin = "START TRANSACTION READ ONLY"
		s, err := e.connect(ctx, database, "")
		if err != nil {
			return nil, err
		}
		defer s.close()
		run = func(text string) error { _, err := myRows(ctx, s.conn, text); return err }
		for _, set := range e.settings {
			if err := run("SET SESSION " + set.Name + " = '" + set.Value + "'"); err != nil {
				return nil, err
			}
		}
	}
	r := runner{engine: e}
	outcomes := map[string]error{}
	for _, c := range cases {
		if r.skip(c) != "" {
			continue
		}
		if begin == "" {
			outcomes[c.ID] = run(c.SQL)
			continue
		}
		if err := run(begin); err != nil {
			return nil, fmt.Errorf("before %s: %w", c.ID, err)
		}
		outcomes[c.ID] = run(c.SQL)
		if err := run("ROLLBACK"); err != nil {
			return nil, fmt.Errorf("after %s: %w", c.ID, err)
		}
	}
	return outcomes, nil
}

func failure(o Outcome, err error) error {
	if err == nil && o.Result != Executed {
		err = errors.New(o.Text())
	}
	return err
}
