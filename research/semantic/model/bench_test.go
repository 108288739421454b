package model_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ktxhq/ktx/research/semantic/model"
)

// star makes n sources of about twenty columns; every one joins three others.
func star(n int) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "name: t%d\ntable: public.t%d\ndescriptions: {user: The table of number %d}\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n", i, i, i)
		for c := range 16 {
			fmt.Fprintf(&b, "  - name: c%d\n    type: %s\n    descriptions:\n      ai: Column %d of the table\n", c, []string{"number", "string", "time", "boolean"}[c%4], c)
		}
		fmt.Fprintf(&b, "  - {name: net%d, type: number, expr: \"c0 * (1 - c4) - coalesce(c8, 0)\"}\n  - {name: label%d, type: string, expr: \"upper(c1) || '-' || lower(c5)\"}\n", i, i)
		b.WriteString("joins:\n")
		for k := range 3 {
			if to := i*3 + k + 1; to < n {
				fmt.Fprintf(&b, "  - {to: t%d, on: c%d = t%d.id, relationship: many_to_one}\n", to, k*4, to)
			}
		}
		if i*3+1 >= n {
			b.WriteString("  []\n")
		}
		fmt.Fprintf(&b, "measures:\n  - {name: rows%d, expr: count(*)}\n  - {name: total%d, expr: sum(net%d), filter: c3 AND c1 <> 'x'}\n  - {name: rate%d, expr: total%d / rows%d}\n", i, i, i, i, i, i)
		fmt.Fprintf(&b, "segments:\n  - {name: recent, expr: c2 >= '2024-01-01' AND c3}\n")
		fsys[fmt.Sprintf("t%d.yaml", i)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return fsys
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{16, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			fsys := star(n)
			b.ReportAllocs()
			for b.Loop() {
				m := model.Load(fsys, "warehouse", nil)
				if len(m.Problems) > 0 || len(m.Sources) != n {
					b.Fatal(len(m.Sources), len(m.Problems))
				}
			}
		})
	}
}

func BenchmarkPath(b *testing.B) {
	m := model.Load(star(1000), "warehouse", nil)
	from, err := m.Node("t0")
	if err != nil {
		b.Fatal(err)
	}
	to, err := m.Node("t999")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if edges, _, err := m.Path(from, to); err != nil || len(edges) == 0 {
			b.Fatal(err)
		}
	}
}
