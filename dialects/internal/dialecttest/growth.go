package dialecttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// Hang is far longer than any statement takes, so that no test fails on a slow machine.
const Hang = 2 * time.Minute

// Shape is a statement that grows with n: Before, n times Middle, Core, n times Closing,
// After. Text replaces %d in Middle by the number of the copy.
type Shape struct{ Name, Before, Middle, Core, Closing, After string }

// Shapes names the columns of a table of shapes.
func Shapes(rows [][6]string) []Shape {
	out := make([]Shape, 0, len(rows))
	for _, r := range rows {
		out = append(out, Shape{Name: r[0], Before: r[1], Middle: r[2], Core: r[3], Closing: r[4], After: r[5]})
	}
	return out
}

// Text returns the statement with n copies.
func (s Shape) Text(n int) string {
	var b strings.Builder
	b.WriteString(s.Before)
	numbered := strings.Contains(s.Middle, "%d")
	for i := range n {
		if numbered {
			fmt.Fprintf(&b, s.Middle, i)
		} else {
			b.WriteString(s.Middle)
		}
	}
	b.WriteString(s.Core)
	b.WriteString(strings.Repeat(s.Closing, n))
	b.WriteString(s.After)
	return b.String()
}

// most returns how many copies fit into that many bytes.
func (s Shape) most(bytes int) int {
	return (bytes - len(s.Before) - len(s.Core) - len(s.After)) / (len(s.Middle) + len(s.Closing))
}

// Growth tests a dialect with statements that grow.
type Growth struct {
	Shapes []Shape
	Copies []int            // numbers of copies of Middle
	More   []int            // also tested with [Full]
	Also   func(sql string) // called with every statement when it is not nil
}

// Check judges every shape with each number of copies, with as many copies as fit into the
// largest statement that a policy can permit, and with as many as fit without Closing. The
// dialect may not fail on any of them.
func (x *Growth) Check(t *testing.T, d sqlguard.Dialect) {
	t.Helper()
	policy := sqlguard.DefaultPolicy()
	policy.MaxBytes = sqlguard.CeilingMaxBytes
	g, err := sqlguard.New(d, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	copies := x.Copies
	if Full() {
		copies = slices.Concat(copies, x.More)
	}
	for _, s := range x.Shapes {
		most := s.most(sqlguard.CeilingMaxBytes)
		sizes := []int{most}
		if s.Closing != "" {
			sizes = append(sizes, sqlguard.CeilingMaxBytes/len(s.Middle))
		}
		for _, n := range copies {
			if n < most {
				sizes = append(sizes, n)
			}
		}
		for _, n := range sizes {
			text := s.Text(n)
			text = text[:min(len(text), sqlguard.CeilingMaxBytes)]
			start := time.Now()
			v := g.Check(text)
			if x.Also != nil {
				x.Also(text)
			}
			if took := time.Since(start); took > Hang {
				t.Errorf("%s, %d times: took %v, %s", s.Name, n, took, v.Code)
			} else if testing.Verbose() && took > 100*time.Millisecond {
				t.Logf("%s, %d times: took %v, %q", s.Name, n, took, v.Code)
			}
			if v.Code == sqlguard.CodeInternalError {
				t.Errorf("%s, %d times: %s", s.Name, n, v.Findings[0].Message)
			}
		}
	}
}
