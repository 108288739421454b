package relate_test

import (
	"fmt"
	"testing"

	"github.com/ktxhq/ktx/research/scan/relate"
)

// TestBrokenPlurals: an Arabic table in a broken plural is found by a column with the
// singular, with and without the article.
func TestBrokenPlurals(t *testing.T) {
	for _, w := range [][2]string{
		{"عملاء", "عميل"},
		{"فواتير", "فاتورة"},
		{"عقود", "عقد"},
		{"أقسام", "قسم"},
		{"كتب", "كتاب"},
		{"مدن", "مدينة"},
		{"مخازن", "مخزن"},
		{"صناديق", "صندوق"},
		{"مشاريع", "مشروع"},
		{"رسائل", "رسالة"},
		{"وثائق", "وثيقة"},
		{"أجهزة", "جهاز"},
		{"أطباء", "طبيب"},
		{"طلاب", "طالب"},
		{"قوائم", "قائمة"},
		{"أبواب", "باب"},
		{"هدايا", "هدية"},
		{"مرضى", "مريض"},
		{"تقارير", "تقرير"},
		{"دول", "دولة"},
		{"غرف", "غرفة"},
		{"فروع", "فرع"},
		{"بنود", "بند"},
		{"أسعار", "سعر"},
		{"شوارع", "شارع"},
		{"متاجر", "متجر"},
		{"مدارس", "مدرسة"},
	} {
		for _, article := range []string{"", "ال"} {
			schema := fmt.Sprintf("%s%s(معرف*, اسم text); حركات(معرف*, معرف_%s, تاريخ date)", article, w[0], w[1])
			got := find(t, relate.Input{Tables: tables(t, schema)}, nil)
			if want := []string{fmt.Sprintf("حركات.معرف_%s > %s%s.معرف", w[1], article, w[0])}; !equal(arrows(got.Accepted), want) {
				t.Errorf("%s: want %q, got\n%s", w[0], want, lists(got))
			}
		}
	}
}

// TestOtherPlurals: words of one root are not forms of one word.
func TestOtherPlurals(t *testing.T) {
	for _, schema := range []string{
		"أعمال(معرف*, اسم text); حركات(معرف*, معرف_عميل)",  // works; client
		"كتب(معرف*, اسم text); حركات(معرف*, معرف_مكتب)",    // books; office
		"مكاتب(معرف*, اسم text); حركات(معرف*, معرف_كتاب)",  // offices; book
		"أسعار(معرف*, اسم text); حركات(معرف*, معرف_مشعر)",  // prices; another root
		"مخازن(معرف*, اسم text); حركات(معرف*, معرف_خزينة)", // warehouses; treasury
	} {
		if got := find(t, relate.Input{Tables: tables(t, schema)}, nil); len(got.Accepted) > 0 {
			t.Errorf("%s: got\n%s", schema, lists(got))
		}
	}
}
