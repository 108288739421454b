// Command relations measures the relationship finder.
//
//	relations                generated databases with rows, by habit of naming
//	relations -files DIR     SQLite files, whose declared foreign keys are hidden
//	relations -tables FILE   names alone, on a tables.json of Spider or BIRD
//	relations -write DIR     the generated databases as SQLite files, each with its truth
//	relations -wide N        time and memory for N tables of 20 columns
//
// Each measurement is made on two halves of the databases: constants are chosen on
// the half "tune" and read off on the half "held".
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("relations: ")
	var out strings.Builder
	err := command(context.Background(), os.Args[1:], &out)
	if err == nil {
		_, err = os.Stdout.WriteString(out.String())
	}
	if err != nil {
		log.Fatal(err)
	}
}

func command(ctx context.Context, args []string, out *strings.Builder) error {
	flags := flag.NewFlagSet("relations", flag.ContinueOnError)
	tables := flags.String("tables", "", "a tables.json in the `FILE` layout of Spider and BIRD")
	dir := flags.String("files", "", "a `DIRECTORY` of SQLite files; with -tables, its keys are true too")
	write := flags.String("write", "", "write the generated databases into an empty `DIRECTORY`")
	wide := flags.Int("wide", 0, "measure `N` tables of 20 columns")
	seeds := flags.Int("seeds", 3, "databases for each habit")
	first := flags.Int("first", 1, "the seed of the first of them")
	keys := flags.Bool("keys", true, "keep the declared primary keys")
	show := flags.String("show", "", "print what is wrong and missed in the `HALF` tune or held")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *write != "" {
		return files(*write, *first)
	}
	if *wide > 0 {
		return width(ctx, out, *wide)
	}
	if *dir != "" {
		return databases(ctx, out, *dir, *tables, *keys, *show)
	}
	if *tables == "" {
		return generated(ctx, out, *first, *seeds, *show)
	}
	return schemas(ctx, out, *tables, *keys, *show)
}

// generated measures databases with rows.
func generated(ctx context.Context, out *strings.Builder, first, seeds int, show string) error {
	scores := map[string]*relatetest.Score{"tune": {}, "held": {}}
	for _, h := range relatetest.Habits() {
		half := "tune"
		if h.Held {
			half = "held"
		}
		var sum relatetest.Score
		probes := 0
		for seed := range seeds {
			sample := relatetest.Generate(h, uint64(first+seed)) //nolint:gosec // a small number
			prober := &relatetest.Memory{Sample: sample}
			got, err := relate.Find(ctx, relate.Input{Tables: sample.Tables, Profile: sample.Profile()}, prober)
			if err != nil {
				return err
			}
			score, wrong, missed := relatetest.Compare(sample.Truth, got)
			sum.Add(score)
			probes += prober.Probes
			if show == half && seed == 0 {
				listed(out, h.Name+": wrong ", wrong)
				listed(out, h.Name+": missed", missed)
			}
		}
		scores[half].Add(sum)
		report(out, fmt.Sprintf("%-28s", h.Name), sum)
	}
	report(out, "tune", *scores["tune"])
	report(out, "held", *scores["held"])
	return nil
}

// files writes the database of each habit, and its true relationships as NAME.json.
func files(dir string, seed int) error {
	for _, h := range relatetest.Habits() {
		sample := relatetest.Generate(h, uint64(seed)) //nolint:gosec // a small number
		path := filepath.Join(dir, strings.ReplaceAll(h.Name, " ", "_"))
		if err := relatetest.WriteSQLite(path+".sqlite", sample); err != nil {
			return err
		}
		truth, err := json.MarshalIndent(sample.Truth, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(path+".json", truth, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// databases measures SQLite files.
func databases(ctx context.Context, out *strings.Builder, dir, tables string, keys bool, show string) error {
	var declared []relatetest.Database
	if tables != "" {
		var err error
		if declared, err = schemasOf(tables); err != nil {
			return err
		}
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.sqlite"))
	if err != nil {
		return err
	}
	scores := map[string]*relatetest.Score{"tune": {}, "held": {}}
	undeclared := map[string]int{}
	probes := 0
	for _, path := range paths {
		sample, err := relatetest.ReadSQLite(path, 20_000)
		if err != nil {
			return err
		}
		if !sample.HasRows() {
			continue
		}
		for _, d := range declared {
			if d.Name == sample.Name {
				sample.AddTruth(d.Truth)
			}
		}
		if !keys {
			hideKeys(sample.Tables)
		}
		prober := &relatetest.Memory{Sample: sample}
		got, err := relate.Find(ctx, relate.Input{Tables: sample.Tables, Profile: sample.Profile()}, prober)
		if err != nil {
			return err
		}
		probes += prober.Probes
		score, wrong, missed := relatetest.Compare(sample.Truth, got)
		half := half(sample.Name)
		scores[half].Add(score)
		for _, r := range wrong {
			if slices.ContainsFunc(got.Accepted, func(a catalog.Relationship) bool { return sameEnds(a, r) }) && plausible(r) {
				undeclared[half]++
			}
		}
		if show == half {
			listed(out, sample.Name+": wrong ", wrong)
			listed(out, sample.Name+": missed", because(missed, got.Rejected))
		}
	}
	for _, half := range []string{"tune", "held"} {
		s := *scores[half]
		report(out, half, s)
		fmt.Fprintf(out, "%s  %d accepted are not declared; %d of these fit in all values and have the name of the key\n", half, s.Accepted-s.AcceptedRight, undeclared[half])
	}
	fmt.Fprintf(out, "%d databases, %d probes\n", len(paths), probes)
	return nil
}

// plausible reports whether a relationship that nobody declared has all signs of one: a
// row of the target for every value, a key of the target that occurs once, and a column
// with the name of this key, alone or after a role. It tells of data sets that declare a
// part of their references only.
func plausible(r catalog.Relationship) bool {
	if v := r.Validation; v.Coverage == nil || *v.Coverage < 1 || v.TargetUnique == nil || !*v.TargetUnique {
		return false
	}
	for i := range r.From.Columns {
		if !strings.HasSuffix(strings.ToLower(r.From.Columns[i]), strings.ToLower(r.To.Columns[i])) {
			return false
		}
	}
	return true
}

func sameEnds(a, b catalog.Relationship) bool {
	return relatetest.Key(a.From, a.To) == relatetest.Key(b.From, b.To)
}

// width measures a wide schema.
func width(ctx context.Context, out *strings.Builder, tables int) error {
	list := relatetest.Wide(tables, 20)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	got, err := relate.Find(ctx, relate.Input{Tables: list}, nil)
	if err != nil {
		return err
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	fmt.Fprintf(out, "%d tables of 20 columns: %d accepted, %d review, %d rejected, %.1f s, %d MB allocated, %d MB from the system\n",
		tables, len(got.Accepted), len(got.Review), len(got.Rejected), took.Seconds(), (after.TotalAlloc-before.TotalAlloc)>>20, after.Sys>>20)
	return nil
}

func hideKeys(tables []*catalog.Table) {
	for _, t := range tables {
		for i := range t.Columns {
			t.Columns[i].PrimaryKey = false
		}
	}
}

// schemas measures names alone.
func schemas(ctx context.Context, out *strings.Builder, file string, keys bool, show string) error {
	databases, err := schemasOf(file)
	if err != nil {
		return err
	}
	scores := map[string]*relatetest.Score{"tune": {}, "held": {}}
	for _, db := range databases {
		if !keys {
			hideKeys(db.Tables)
		}
		got, err := relate.Find(ctx, relate.Input{Tables: db.Tables}, nil)
		if err != nil {
			return err
		}
		score, wrong, missed := relatetest.Compare(db.Truth, got)
		half := half(db.Name)
		scores[half].Add(score)
		if show == half {
			listed(out, db.Name+": wrong ", wrong)
			listed(out, db.Name+": missed", missed)
		}
	}
	report(out, "tune", *scores["tune"])
	report(out, "held", *scores["held"])
	return nil
}

func schemasOf(file string) ([]relatetest.Database, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the file that the caller names
	if err != nil {
		return nil, err
	}
	return relatetest.ReadSpider(text)
}

func report(out *strings.Builder, title string, s relatetest.Score) {
	fmt.Fprintf(out, "%s  %d relationships; accepted %d, precision %.3f, recall %.3f; with review %d, precision %.3f, recall %.3f\n",
		title, s.Truth, s.Accepted, s.Precision(), s.Recall(), s.Accepted+s.Review, s.PrecisionWithReview(), s.RecallWithReview())
}

// half names the half to which a database belongs.
func half(name string) string {
	if relatetest.Held(name) {
		return "held"
	}
	return "tune"
}

// because gives missed relationships the evidence by which they were rejected.
func because(missed, rejected []catalog.Relationship) []catalog.Relationship {
	for i := range missed {
		for _, r := range rejected {
			if relatetest.Key(r.From, r.To) == relatetest.Key(missed[i].From, missed[i].To) {
				missed[i] = r
			}
		}
	}
	return missed
}

func listed(out *strings.Builder, title string, list []catalog.Relationship) {
	for _, r := range list {
		fmt.Fprintf(out, "%s %s%v -> %s%v %.2f %v\n", title, r.From.Table.Name, r.From.Columns, r.To.Table.Name, r.To.Columns, r.Confidence, r.Evidence)
	}
}
