package kit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
)

// A measured is a database whose scan is compared with the truth.
type measured struct {
	id     string
	held   bool
	sample *relatetest.Sample
}

// relationshipBars are what is required of relationships: of the accepted ones, and of
// these together with those to review.
type relationshipBars struct{ precision, recall, reviewPrecision, reviewRecall float64 }

var (
	rowsBars  = relationshipBars{0.97, 0.85, 0.80, 0.95}
	namesBars = relationshipBars{precision: 0.80, recall: 0.65}
)

// mostRows is how many rows of a table of Spider are copied.
const mostRows = 20_000

// relationships measures what ktx scan finds.
func (k *kit) relationships(ctx context.Context) error {
	var generated []measured
	for _, h := range relatetest.Habits() {
		for seed := 1; seed <= k.seeds; seed++ {
			generated = append(generated, measured{fmt.Sprintf("generated%d", len(generated)), h.Held, relatetest.Generate(h, uint64(seed))})
		}
	}
	if err := k.related(ctx, "generated databases", generated, rowsBars); err != nil {
		return err
	}
	if !k.has("spider") {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(k.data, "spider", "tables.json")) // #nosec G304 -- the folder is an argument of the developer
	if err != nil {
		return err
	}
	schemas, err := relatetest.ReadSpider(text)
	if err != nil {
		return err
	}
	var names []measured
	for _, db := range schemas {
		// SQLite makes such tables itself and lets nobody else do so.
		db.Tables = slices.DeleteFunc(db.Tables, func(t *catalog.Table) bool { return strings.HasPrefix(strings.ToLower(t.Name), "sqlite_") })
		names = append(names, measured{db.Name, relatetest.Held(db.Name), &relatetest.Sample{Database: db}})
	}
	if err := k.related(ctx, "Spider, names alone", names, namesBars, "--no-profile"); err != nil {
		return err
	}
	real, err := k.spiderRows(schemas)
	if err != nil || len(real) == 0 {
		return err
	}
	return k.related(ctx, "Spider, with rows", real, rowsBars)
}

// spiderRows reads the files of Spider that have a row.
func (k *kit) spiderRows(schemas []relatetest.Database) ([]measured, error) {
	files, err := filepath.Glob(filepath.Join(k.data, "spider", "database", "*", "*.sqlite"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		k.report.Notes = append(k.report.Notes, fmt.Sprintf("Relationships of Spider with rows were not measured: %s has no SQLite files.", filepath.Join(k.data, "spider", "database")))
	}
	var out []measured
	for _, file := range files {
		s, err := relatetest.ReadSQLite(file, mostRows)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(schemas, func(d relatetest.Database) bool { return d.Name == s.Name }); i >= 0 && s.HasRows() {
			s.AddTruth(schemas[i].Truth)
			out = append(out, measured{s.Name, relatetest.Held(s.Name), s})
		}
	}
	return out, nil
}

// related writes the databases without foreign keys, scans them, and compares what the
// scans found with the truth.
func (k *kit) related(ctx context.Context, data string, list []measured, required relationshipBars, options ...string) error {
	p, err := k.project(strings.NewReplacer(" ", "-", ",", "").Replace(data))
	if err != nil {
		return err
	}
	for _, m := range list {
		p.connect(m.id, m.id+".sqlite")
		if err := relatetest.WriteSQLite(filepath.Join(p.dir, m.id+".sqlite"), m.sample); err != nil {
			return err
		}
	}
	if err := p.configure(); err != nil {
		return err
	}
	if err := k.scan(ctx, "scan of "+data, p, options...); err != nil {
		return err
	}
	scores := map[bool]*relatetest.Score{false: {}, true: {}}
	for _, m := range list {
		got, err := p.relationships(m.id)
		if err != nil {
			return err
		}
		score, _, _ := relatetest.Compare(inFile(m.sample.Truth), got)
		scores[m.held].Add(score)
	}
	for _, held := range []bool{false, true} {
		s, question := scores[held], "relationships, "+half(held)
		k.report.atLeast(required.precision, data, question, "accepted: precision", s.Precision(), s.Accepted)
		k.report.atLeast(required.recall, data, question, "accepted: recall", s.Recall(), s.Truth)
		k.report.atLeast(required.reviewPrecision, data, question, "with review: precision", s.PrecisionWithReview(), s.Accepted+s.Review)
		k.report.atLeast(required.reviewRecall, data, question, "with review: recall", s.RecallWithReview(), s.Truth)
	}
	return nil
}

// inFile returns relationships as they are in the file of [relatetest.WriteSQLite].
func inFile(list []catalog.Relationship) []catalog.Relationship {
	out := slices.Clone(list)
	for i := range out {
		out[i].From.Table = relatetest.InSQLite(out[i].From.Table)
		out[i].To.Table = relatetest.InSQLite(out[i].To.Table)
	}
	return out
}
