package rank_test

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/rank/packed"
)

var update = flag.Bool("update", false, "write concepts.txt.gz anew")

// TestConceptsArePacked: the table of the program is the one that people read.
func TestConceptsArePacked(t *testing.T) {
	text, err := os.ReadFile("concepts.txt")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		file, err := packed.Pack(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("concepts.txt.gz", file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile("concepts.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed.Unpack(file), text) {
		t.Error("concepts.txt.gz is not concepts.txt: go test ./research/rank -run TestConceptsArePacked -update")
	}
	for line := range strings.Lines(string(text)) {
		english, others, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok || english == "" || others == "" || strings.Contains(others, ":") {
			t.Errorf("%q is not English words, a colon, and words of other languages", line)
		}
	}
}

// TestOtherLanguages: a question finds a name that says the same in another language, and
// not one that says something else.
func TestOtherLanguages(t *testing.T) {
	for _, test := range []struct {
		question, found string
		names           []string
	}{
		{"Wie viele Kunden haben wir?", "customers", []string{"customers", "orders", "products"}},
		{"Welche Kundennummer hat die Bestellung?", "customer_number", []string{"customer_number", "customer_city", "price"}},
		{"Сколько заказов у клиентов?", "cust_orders", []string{"cust_orders", "employees", "city"}},
		{"orders of a customer", "zakazy_klienta", []string{"zakazy_klienta", "sotrudniki", "goroda"}},
		{"Сколько сотрудников?", "sotrudniki", []string{"zakazy", "sotrudniki", "goroda"}},
		{"salary of employees", "shain_kyuyo", []string{"shain_kyuyo", "kokyaku_jusho", "chumon"}},
		{"顧客の住所", "kokyaku_jusho", []string{"shain_kyuyo", "kokyaku_jusho", "chumon"}},
		{"how many orders", "dingdan", []string{"dingdan", "kehu", "yuangong"}},
		{"各部门有多少员工", "department_employees", []string{"department_employees", "customers", "orders"}},
		{"ما هي أسماء العملاء؟", "customer_name", []string{"customer_name", "order_date", "city"}},
		{"Müşterilerin şehirleri nelerdir?", "customer_city", []string{"customer_city", "order_date", "price"}},
		{"Có bao nhiêu khách hàng?", "clients", []string{"clients", "orders", "city"}},
		{"売上の金額", "sales_amount", []string{"sales_amount", "customers", "stores"}},
		{"how many customers are there", "kunden", []string{"kunden", "bestellung", "ort"}},
		{"how many customers are there", "客户", []string{"客户", "订单", "城市"}},
		{"price of the products", "precio_producto", []string{"precio_producto", "pedidos", "ciudad"}},
	} {
		b := rank.NewBuilder(rank.NewAnalyzer(nil), []rank.Field{{Name: "name", Weight: 1}})
		for _, name := range test.names {
			b.Add(rank.Text{Text: name})
		}
		q := rank.NewAnalyzer(nil).Query(test.question)
		hits := rank.Search(q, b.Index())
		if len(hits) == 0 || test.names[hits[0].Doc] != test.found {
			t.Errorf("%q: found %v, want %s first", test.question, hits, test.found)
			continue
		}
		if q.Mass(test.found) == 0 {
			if _, _, ok := q.Find(test.found); !ok {
				t.Errorf("%q: no word is told to be in %s", test.question, test.found)
			}
		}
	}
}

// TestEnglishStaysEnglish: a question in English does not find other English words for the
// same, nor words of other languages where an index has its own.
func TestEnglishStaysEnglish(t *testing.T) {
	names := []string{"customers", "clients", "kunden", "art"}
	b := rank.NewBuilder(rank.NewAnalyzer(nil), []rank.Field{{Name: "name", Weight: 1}})
	for _, name := range names {
		b.Add(rank.Text{Text: name})
	}
	x := b.Index()
	var found []string
	for _, question := range []string{"customers", "kind"} {
		for _, hit := range rank.Search(rank.NewAnalyzer(nil).Query(question), x) {
			found = append(found, names[hit.Doc])
		}
	}
	if want := []string{"customers"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
