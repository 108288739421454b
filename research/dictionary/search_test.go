package dictionary_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/dictionary"
)

// TestMatchTypes: each way in which a value may resemble the one that is asked for.
func TestMatchTypes(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	set := setOf(t, root, scan(t, root, "c", "1",
		columnValues{ref("public", "cities"), "name", values("Straßburg", "München", "ŁÓDŹ", "İzmir", "Ὀδυσσεύς", "Санкт-Петербург", "東京都", "New York City", "Saint Étienne", "São Paulo", "กรุงเทพมหานคร", "القاهرة", "תל אביב–יפו")},
		columnValues{ref("public", "firms"), "name", values("Acme Corporation", "United Parcel Service", "Müller & Söhne GmbH", "Deutsche Bank AG", "O'Brien Ltd", "International Business Machines")},
		columnValues{ref("public", "items"), "sku", values("AB-12/3", "X 9000", "ab\u00a012\u20114  ", "00-77")},
	))
	for _, c := range []struct {
		value string
		want  string // of the first match
	}{
		{"strassburg", "cities.name Straßburg exact"},
		{"MUNCHEN", "cities.name München exact"},
		{"lodz", "cities.name ŁÓDŹ exact"},
		{"izmir", "cities.name İzmir exact"},
		{"IZMIR", "cities.name İzmir exact"},
		{"ὀδυσσευσ", "cities.name Ὀδυσσεύς exact"},
		{"санкт–петербург", "cities.name Санкт-Петербург exact"},
		{"Санкт Петербург", "cities.name Санкт-Петербург code"},
		{"東京", "cities.name 東京都 prefix"},
		{"京都", "cities.name 東京都 substring"},
		{"york", "cities.name New York City word"},
		{"ork", "cities.name New York City substring"},
		{"saint\tetienne ", "cities.name Saint Étienne exact"},
		{"กรุงเทพ", "cities.name กรุงเทพมหานคร prefix"},
		{"القاهره", "cities.name القاهرة fuzzy"},
		{"תל אביב-יפו", "cities.name תל אביב–יפו exact"},
		{"ab123", "items.sku AB-12/3 code"},
		{"ab 12-4", "items.sku ab\u00a012\u20114   exact"},
		{"x9000", "items.sku X 9000 code"},
		{"Acme Corp", "firms.name Acme Corporation prefix"},
		{"acme corp.", "firms.name Acme Corporation fuzzy"},
		{"ACME Coporation", "firms.name Acme Corporation fuzzy"},
		{"UPS", "firms.name United Parcel Service fuzzy"},
		{"I.B.M.", "firms.name International Business Machines fuzzy"},
		{"bank deutsche", "firms.name Deutsche Bank AG fuzzy"},
		{"Intl Business Machines", "firms.name International Business Machines fuzzy"},
		{"Muller und Sohne", "firms.name Müller & Söhne GmbH fuzzy"},
		{"Mueller", "firms.name Müller & Söhne GmbH fuzzy"},
		{"the Deutsche Bank AG in Frankfurt", "firms.name Deutsche Bank AG fuzzy"},
		{"東京都庁", "cities.name 東京都 fuzzy"},
		{"obrien ltd", "firms.name O'Brien Ltd code"},
		{"Петербрг", "cities.name Санкт-Петербург fuzzy"},
		{"Atlantis", ""},
		{"2023", ""},
		{"", ""},
		{" \x00\n", ""},
		{"-", "items.sku 00-77 substring"},
		{strings.Repeat("long ", 10000), ""},
		{"\xff\xfe", ""},
	} {
		got := ""
		if list := found(c.value, set); len(list) > 0 {
			got = list[0]
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.value, got, c.want)
		}
	}
}

// TestOrder: type, then one value of each column, then shorter values, then columns
// with fewer values, then names.
func TestOrder(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	many := values("paid twice", "paid late", "paid", "unpaid", "paid in full", "pre-paid", "paid by card", "Paid by check")
	a := setOf(t, root, scan(t, root, "a", "1",
		columnValues{ref("s", "orders"), "note", many},
		columnValues{ref("s", "orders"), "status", values("PAID", "open")},
		columnValues{ref("z", "orders"), "status", values("paid", "open")},
	))
	b := setOf(t, root, scan(t, root, "b", "1", columnValues{ref("", "bills"), "state", values("paid", "void")}))
	c := setOf(t, root, scan(t, root, "c", "1", columnValues{ref("", "x"), "y", values("nothing")}))
	results := dictionary.Search([]string{"paid", "OPEN"}, a, b, c, dictionary.Unscanned("d"))
	var got []string
	for _, m := range results[0].Matches {
		got = append(got, m.ConnectionID+" "+m.TableRef.DB+"."+m.SourceName+"."+m.ColumnName+" "+m.MatchedValue+" "+string(m.MatchType))
	}
	want := []string{
		"a z.orders.status paid exact",
		"b .bills.state paid exact",
		"a s.orders.note paid exact",
		"a s.orders.status PAID exact",
		"a s.orders.note paid late prefix",
		"a s.orders.note paid twice prefix",
		"a s.orders.note paid by card prefix",
		"a s.orders.note paid in full prefix",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if results[0].Omitted != 3 {
		t.Errorf("%d are omitted, want 3", results[0].Omitted)
	}
	if d := cmp.Diff([]dictionary.Miss{{ConnectionID: "c", Reason: dictionary.ReasonNotInSample}, {ConnectionID: "d", Reason: dictionary.ReasonNoProfile}}, results[0].Misses); d != "" {
		t.Error(d)
	}
	if len(results[1].Misses) != 3 {
		t.Errorf("the misses of the second value are %v", results[1].Misses)
	}
}

// TestFuzzyOnly: a fuzzy match is only looked for when no connection has another.
func TestFuzzyOnly(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	a := setOf(t, root, scan(t, root, "a", "1", columnValues{ref("", "t"), "c", values("Berlin")}))
	b := setOf(t, root, scan(t, root, "b", "1", columnValues{ref("", "t"), "c", values("Berlim")}))
	if d := cmp.Diff([]string{"t.c Berlin exact"}, found("berlin", a, b)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"t.c Berlin fuzzy", "t.c Berlim fuzzy"}, found("berlix", a, b)); d != "" {
		t.Error(d)
	}
}
