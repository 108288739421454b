package prove

import (
	"context"
	"time"

	"github.com/ktxhq/ktx/corpus"
)

// InsertEvidence is the rewriting of a class file's text.
var InsertEvidence = insertEvidence

// Fold gives observations that ended alike one entry.
var Fold = fold

// IsAddress tells what is refused as an argument.
var IsAddress = isAddress

// testLimit is long enough for every statement of the tests that ends.
const testLimit = 2 * time.Second

// Prove is Main on one dialect without private folders, with the class files
// that lie below dir. It returns the reports by ID.
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

// RunCases runs cases of the test's own.
func RunCases(ctx context.Context, dir, dialect string, cases ...corpus.Case) ([]Report, error) {
	e, err := start(ctx, options{corpus: dir, limit: testLimit}, dialect)
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
