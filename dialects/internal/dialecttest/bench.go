package dialecttest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// Bench has the benchmarks of a dialect.
type Bench struct {
	Dialect sqlguard.Dialect
	// Parse calls only the parser. It is nil when the dialect has its own parser.
	Parse func(sql string) error
	Texts []Text
}

// Text is a query that the default policy allows. It contains the number 4711, which the
// benchmarks replace, so that no verdict comes from the cache.
type Text struct{ Name, SQL string }

// Variants returns queries of equal length, more than fit into the verdict cache.
func (t Text) Variants() []string {
	out := make([]string, 5000)
	for i := range out {
		out[i] = strings.Replace(t.SQL, "4711", strconv.Itoa(1000+i), 1)
	}
	return out
}

func (x *Bench) each(b *testing.B, f func(b *testing.B, text Text)) {
	b.Helper()
	for _, text := range x.Texts {
		b.Run(text.Name, func(b *testing.B) {
			b.SetBytes(int64(len(text.SQL)))
			b.ReportAllocs()
			f(b, text)
		})
	}
}

// CheckWith measures whole verdicts of a guard: screen, parser, judgement and fingerprint.
func CheckWith(b *testing.B, g *sqlguard.Guard, text Text) {
	b.Helper()
	texts := text.Variants()
	for i := 0; b.Loop(); i++ {
		if v := g.Check(texts[i%len(texts)]); !v.Allowed {
			b.Fatal(v.Findings)
		}
	}
}

// Check measures whole verdicts.
func (x *Bench) Check(b *testing.B) {
	b.Helper()
	x.each(b, func(b *testing.B, text Text) {
		b.Helper()
		CheckWith(b, NewGuard(b, x.Dialect), text)
	})
}

// Cached measures a verdict that the cache has.
func (x *Bench) Cached(b *testing.B) {
	b.Helper()
	CheckWith(b, NewGuard(b, x.Dialect), Text{SQL: strings.Replace(x.Texts[1].SQL, "4711", "1", 1)})
}

// Analyze measures the parser and the walk over its tree.
func (x *Bench) Analyze(b *testing.B) {
	b.Helper()
	x.each(b, func(b *testing.B, text Text) {
		b.Helper()
		for b.Loop() {
			if _, err := x.Dialect.Analyze(text.SQL); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Lex measures the lexer.
func (x *Bench) Lex(b *testing.B) {
	b.Helper()
	x.each(b, func(b *testing.B, text Text) {
		b.Helper()
		for b.Loop() {
			if len(x.Dialect.Lex(text.SQL).List) == 0 {
				b.Fatal("no tokens")
			}
		}
	})
}

// BareParse measures the parser alone.
func (x *Bench) BareParse(b *testing.B) {
	b.Helper()
	x.each(b, func(b *testing.B, text Text) {
		b.Helper()
		for b.Loop() {
			if err := x.Parse(text.SQL); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Ratio reports the median time of a whole verdict, and that median divided by
// the median of the bare parser. It measures them in turn in one process, so that
// a busy machine slows them alike.
func (x *Bench) Ratio(b *testing.B) {
	b.Helper()
	analyze := func(sql string) error {
		_, err := x.Dialect.Analyze(sql)
		return err
	}
	x.each(b, func(b *testing.B, text Text) {
		b.Helper()
		g := NewGuard(b, x.Dialect)
		texts := text.Variants()
		var checks, analyses, parses []time.Duration
		for i := 0; b.Loop(); i++ {
			sql := texts[i%len(texts)]
			checks = append(checks, clock(func() {
				if v := g.Check(sql); !v.Allowed {
					b.Fatal(v.Findings)
				}
			}))
			if x.Parse != nil {
				parses = append(parses, clock(func() {
					if err := x.Parse(sql); err != nil {
						b.Fatal(err)
					}
				}))
			}
			analyses = append(analyses, clock(func() {
				if err := analyze(sql); err != nil {
					b.Fatal(err)
				}
			}))
		}
		check, analysis := median(checks), median(analyses)
		parse := analysis
		if x.Parse != nil {
			parse = median(parses)
			b.ReportMetric(analysis/parse, "analyze/parse")
		}
		b.ReportMetric(check/float64(time.Microsecond), "µs/median")
		b.ReportMetric(check/parse, "check/parse")
	})
}

func clock(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2])
}
