// Command relations measures the relationship finder.
//
//	relations -tables FILE   names alone, on a tables.json of Spider or BIRD
//
// Each measurement is made on two halves of the databases: constants are chosen on
// the half "tune" and read off on the half "held".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"os"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/scan/relate"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("relations: ")
	if err := command(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func command(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("relations", flag.ContinueOnError)
	tables := flags.String("tables", "", "a tables.json in the `FILE` layout of Spider and BIRD")
	keys := flags.Bool("keys", true, "keep the declared primary keys")
	show := flags.String("show", "", "print what is wrong and missed in the `HALF` tune or held")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *tables == "" {
		return errors.New("name the schemas with -tables FILE")
	}
	text, err := os.ReadFile(*tables)
	if err != nil {
		return err
	}
	databases, err := relatetest.ReadSpider(text)
	if err != nil {
		return err
	}
	scores := map[string]*relatetest.Score{"tune": {}, "held": {}}
	for _, db := range databases {
		if !*keys {
			for _, t := range db.Tables {
				for i := range t.Columns {
					t.Columns[i].PrimaryKey = false
				}
			}
		}
		got, err := relate.Find(ctx, relate.Input{Tables: db.Tables}, nil)
		if err != nil {
			return err
		}
		score, wrong, missed := relatetest.Compare(db.Truth, got)
		half := half(db.Name)
		scores[half].Add(score)
		if *show == half {
			print(out, db.Name+" wrong ", wrong)
			print(out, db.Name+" missed", missed)
		}
	}
	for _, name := range []string{"tune", "held"} {
		s := scores[name]
		fmt.Fprintf(out, "%s: %d relationships; accepted %d, precision %.3f, recall %.3f; with review %d, precision %.3f, recall %.3f\n",
			name, s.Truth, s.Accepted, s.Precision(), s.Recall(), s.Accepted+s.Review, s.PrecisionWithReview(), s.RecallWithReview())
	}
	return nil
}

// half assigns a database to a half by its name.
func half(name string) string {
	h := fnv.New32a()
	h.Write([]byte("relations/" + name))
	if h.Sum32()>>7&1 == 0 {
		return "tune"
	}
	return "held"
}

func print(out io.Writer, title string, list []catalog.Relationship) {
	for _, r := range list {
		fmt.Fprintf(out, "%s %s%v -> %s%v %.2f %v\n", title, r.From.Table.Name, r.From.Columns, r.To.Table.Name, r.To.Columns, r.Confidence, r.Evidence)
	}
}
