package relate_test

import (
	"testing"

	"github.com/ktxhq/ktx/research/scan/relate"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
)

func BenchmarkFindInAWideSchema(b *testing.B) {
	tables := relatetest.Wide(1_000, 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := relate.Find(b.Context(), relate.Input{Tables: tables}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
