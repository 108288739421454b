package dictionary_test

import (
	"strings"
	"testing"
)

// list splits values at bars.
func list(text string) []string { return strings.Split(text, "|") }

// TestOfficeWords asks for values as people of an office call them, and for words that
// the database does not have.
func TestOfficeWords(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	set := setOf(t, root, scan(t, root, "c", "1",
		columnValues{ref("s", "lands"), "name", values(list("Germany|France|Ivory Coast|United States of America|Czech Republic|South Korea|Netherlands|Switzerland|Italy|Ukraine")...)},
		columnValues{ref("s", "lands"), "iso", values(list("DE|FR|CI|US|CZ|KR|NL|CH|IT|UA|AT")...)},
		columnValues{ref("s", "airports"), "code", values(list("ATL|LHR|CDG|FRA|JFK|LAX|MAD|FCO")...)},
		columnValues{ref("s", "states"), "name", values(list("California|Texas|New York|North Carolina|Pennsylvania")...)},
		columnValues{ref("s", "orders"), "status", values(list("paid|shipped|cancelled|returned|in transit|on hold|refunded")...)},
		columnValues{ref("s", "people"), "gender", values(list("M|F|U")...)},
		columnValues{ref("s", "goods"), "category", values(list("Electronics|Sporting Goods|Women's Clothing|Health and Beauty|Laptops|Mobile Phones")...)},
		columnValues{ref("s", "firms"), "name", values(list("Acme Corp.|Globex Corporation|Stark Industries, Inc.|Wayne Enterprises|JPMorgan Chase & Co.|Procter & Gamble|AT&T Inc.|International Business Machines Corp")...)},
		columnValues{ref("s", "people"), "name", values(list("Smith, John|García, María|O'Connor, Sinéad|Müller, Jürgen|van der Berg, Anna|Nguyễn Văn An|Иванов Иван Иванович|田中太郎|القاهرة الجديدة")...)},
		columnValues{ref("s", "people"), "department", values(list("HR|R&D|Finance Dept.|Sales - EMEA|Sales – APAC")...)},
		columnValues{ref("s", "shops"), "city", values(list("St. Louis|Saint Petersburg|Mt. Vernon|N. Las Vegas|Winston-Salem|New York City|San Francisco")...)},
	))
	for _, c := range []struct{ asked, want string }{
		{"USA", "lands.name"},
		{"Czechia", "lands.name"},
		{"korea", "lands.name"},
		{"N Carolina", "states.name"},
		{"canceled", "orders.status"},
		{"shipping", "orders.status"},
		{"clothes", "goods.category"},
		{"sport goods", "goods.category"},
		{"laptop computer", "goods.category"},
		{"health & beauty", "goods.category"},
		{"ACME Corporation", "firms.name"},
		{"JP Morgan", "firms.name"},
		{"Proctor and Gamble", "firms.name"},
		{"P&G", "firms.name"},
		{"ATT", "firms.name"},
		{"IBM", "firms.name"},
		{"Wayne Ent", "firms.name"},
		{"J. Smith", "people.name"},
		{"Sinead OConnor", "people.name"},
		{"Jurgen Mueller", "people.name"},
		{"Anna van den Berg", "people.name"},
		{"Van An Nguyen", "people.name"},
		{"Иван Иванов", "people.name"},
		{"田中 太郎", "people.name"},
		{"قاهره", "people.name"},
		{"finance department", "people.department"},
		{"research and development", "people.department"},
		{"H.R.", "people.department"},
		{"sales APAC", "people.department"},
		{"Saint Louis", "shops.city"},
		{"Mount Vernon", "shops.city"},
		{"NYC", "shops.city"},
		{"San Fransisco", "shops.city"},

		{"Atlantis", ""},
		{"Madagascar", ""},
		{"Narnia", ""},
		{"Smithsonian", ""},
		{"female", ""},
		{"quantum", ""},
		{"zebra", ""},
		{"draft", ""},
		{"Mali", ""},
		{"2024", ""},
		{"12345", ""},
		{"hello world", ""},
		{"大阪", ""},
		{"Минск", ""},
	} {
		got := ""
		if list := found(c.asked, set); len(list) > 0 {
			got, _, _ = strings.Cut(list[0], " ")
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q; %v", c.asked, got, c.want, found(c.asked, set))
		}
	}
}
