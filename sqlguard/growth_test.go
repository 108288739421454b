package sqlguard_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestWhatIsNotMeasuredIsSmall: the guard measures no statement that has nothing to grow from.
// In none of these would the meter find anything: the statements of the corpus, and their parts
// in each other with larger numbers.
func TestWhatIsNotMeasuredIsSmall(t *testing.T) {
	t.Parallel()
	number, call := regexp.MustCompile(`\b[0-9]+\b`), regexp.MustCompile(`\b[A-Za-z_0-9]+\([^()]*\)`)
	for _, d := range dialects.All() {
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var texts, calls []string
			for _, c := range corpus.Cases() {
				if c.Dialect == d.Name() {
					texts = append(texts, c.SQL)
					calls = append(calls, call.FindAllString(c.SQL, -1)...)
				}
			}
			random := rand.New(rand.NewPCG(1, 2)) // the same texts each time
			for range 4_000 {
				part := calls[random.IntN(len(calls))]
				for range random.IntN(4) { // a call in a call
					part = call.ReplaceAllStringFunc(calls[random.IntN(len(calls))], func(text string) string {
						name, arguments, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
						values := strings.Split(arguments, ",")
						values[random.IntN(len(values))] = part
						return name + "(" + strings.Join(values, ",") + ")"
					})
				}
				if random.IntN(2) == 0 {
					part = number.ReplaceAllString(part, []string{"7", "70000", "700000000"}[random.IntN(3)])
				}
				switch random.IntN(3) {
				case 0:
					texts = append(texts, "SELECT "+part+" FROM orders")
				case 1:
					texts = append(texts, "SELECT x, "+part+" AS y FROM (SELECT "+part+" AS x) AS q")
				default:
					texts = append(texts, "WITH q AS (SELECT "+part+" AS x) SELECT x || x FROM q")
				}
			}
			told := 0
			for _, sql := range texts {
				if found := g.Overlooked(sql); found != "" {
					if told++; told < 10 {
						t.Errorf("%.300s\nis not measured, and the meter says: %s", sql, found)
					}
				}
			}
		})
	}
}
