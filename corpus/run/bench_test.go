package run_test

import (
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// BenchmarkAllowed judges all cases that are allowed, for each dialect.
func BenchmarkAllowed(b *testing.B) {
	texts := map[string][]string{}
	for _, c := range corpus.Cases() {
		if c.Expect == corpus.Allow {
			texts[c.Dialect] = append(texts[c.Dialect], c.SQL)
		}
	}
	for _, d := range dialects.All() {
		b.Run(d.Name(), func(b *testing.B) {
			guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for _, sql := range texts[d.Name()] {
					guard.CheckOnce(sql)
				}
			}
		})
	}
}
