package rank_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/rank"
)

// shop returns an index of a few tables, with names and comments.
func shop(a *rank.Analyzer) *rank.Index {
	b := rank.NewBuilder(a, []rank.Field{{Name: "name", Weight: 3, B: 0.5}, {Name: "comment", Weight: 1, B: 0.75}})
	for _, doc := range [][2]string{
		{"customers", "People who bought something"},
		{"order_items", "Products of an order"},
		{"orders", "One row for each order"},
		{"productPrices", "What a product costs"},
		{"cust_addr", ""},
		{"顧客注文", ""},
	} {
		b.Add(rank.Text{Field: 0, Text: doc[0]}, rank.Text{Field: 1, Text: doc[1]})
	}
	return b.Index()
}

func TestSearch(t *testing.T) {
	a := rank.NewAnalyzer(map[string]string{"pp": "price"})
	x := shop(a)
	stored, err := x.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	restored, err := rank.ReadIndex(a, stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, question string
		want           []int // documents, best first
	}{
		{"a word", "orders", []int{2, 1}},
		{"an inflection", "Which customer was it?", []int{0, 4}},
		{"the parts of an identifier", "price of the product", []int{3, 1}},
		{"an abbreviation", "the address", []int{4}},
		{"an abbreviation of the user", "PP", []int{3}},
		{"a typing error", "custmoers", []int{0, 4}},
		{"an identifier in one word", "orderitems", []int{1}},
		{"a script without spaces", "注文の一覧", []int{5, 1, 2}},
		{"stop words alone", "the of", []int{1}},
		{"another language", "¿Cuál es el producto de los customeros?", []int{3, 0, 1, 4}},
		{"no word", " ? ", nil},
		{"nobody", "zebra", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := a.Query(c.question)
			var got []int
			hits := rank.Search(q, x)
			for _, h := range hits {
				got = append(got, h.Doc)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(hits, rank.Search(q, restored)); diff != "" {
				t.Errorf("the stored index differs: %s", diff)
			}
		})
	}
}

func TestReadIndexRefusesWhatIsForeign(t *testing.T) {
	a := rank.NewAnalyzer(nil)
	stored, err := shop(a).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rank.ReadIndex(rank.NewAnalyzer(map[string]string{"a": "b"}), stored); !errors.Is(err, rank.ErrForeign) {
		t.Errorf("of another analyzer: %v", err)
	}
	for n := range len(stored) {
		if _, err := rank.ReadIndex(a, stored[:n]); !errors.Is(err, rank.ErrForeign) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
}

// TestSimilarWordsCoverHalf: in an index that has only words like one of the question,
// documents cover half of what they cover in an index that has the word.
func TestSimilarWordsCoverHalf(t *testing.T) {
	a := rank.NewAnalyzer(nil)
	index := func(text string) *rank.Index {
		b := rank.NewBuilder(a, []rank.Field{{Name: "text", Weight: 1, B: 0.75}})
		b.Add(rank.Text{Text: text})
		b.Add(rank.Text{Text: "something else"})
		return b.Index()
	}
	exact, loose := index("about airships"), index("the country of a ship")
	q := a.Query("airships").Within(exact, loose)
	full, half := rank.Search(q, exact), rank.Search(q, loose)
	if len(full) != 1 || len(half) != 1 || full[0].Mass == 0 || half[0].Mass != full[0].Mass/2 {
		t.Errorf("got %+v and %+v, want half the mass for the similar word", full, half)
	}
	if sums := rank.Score(q, loose); sums[0].Mass[half[0].Doc] != half[0].Mass {
		t.Errorf("Score says %v, and Search %v", sums[0].Mass[half[0].Doc], half[0].Mass)
	}
}

// TestForeign tells questions in other languages from those in English.
func TestForeign(t *testing.T) {
	a := rank.NewAnalyzer(nil)
	for question, want := range map[string]bool{
		"Welche Kunden haben Rechnungen": true, "quels sont les clients": true, "¿Cuántos pedidos hay?": true, "какие клиенты": true, "kaç müşteri var": true,
		"ما هي الفواتير": true, "Which customers are in the list": false, "I need to find a cheap flight to New York": false, "orders": false,
		"share passed on to reinsurers": false, "How often do elections take place": false, "`la` de orders": false, "MLflow on an M1": false, "": false,
	} {
		if got := a.Query(question).Foreign(); got != want {
			t.Errorf("%q: %t, want %t", question, got, want)
		}
	}
}
