package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// shape is a statement with n parts, whose planning takes long when n is large.
type shape struct {
	name string
	text func(n int) string
}

// repeated joins n parts.
func repeated(n int, separator string, part func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = part(i)
	}
	return strings.Join(parts, separator)
}

// chain is n common table expressions, each of which reads the one before.
func chain(n int, body string) string {
	return "WITH c0 AS (SELECT id FROM t), " + repeated(n-1, ", ", func(i int) string {
		return fmt.Sprintf("c%d AS (%s)", i+1, strings.NewReplacer("#", fmt.Sprintf("c%d", i)).Replace(body))
	}) + fmt.Sprintf(" SELECT * FROM c%d", n-1)
}

var shapes = []shape{
	{"joins on a key", func(n int) string {
		return "SELECT count(*) FROM t t0 " + repeated(n, " ", func(i int) string { return fmt.Sprintf("JOIN t t%d ON t%d.id = t%d.id", i+1, i+1, i) })
	}},
	{"joins on other columns", func(n int) string {
		return "SELECT count(*) FROM t t0 " + repeated(n, " ", func(i int) string { return fmt.Sprintf("JOIN t t%d ON t%d.id = t%d.v", i+1, i+1, i) })
	}},
	{"left joins", func(n int) string {
		return "SELECT count(*) FROM t t0 " + repeated(n, " ", func(i int) string { return fmt.Sprintf("LEFT JOIN t t%d ON t%d.id = t0.v", i+1, i+1) })
	}},
	{"expressions in a chain", func(n int) string { return chain(n, "SELECT # .id FROM #") }},
	{"expressions in a chain, with a join", func(n int) string { return chain(n, "SELECT # .id FROM # JOIN t ON t.id = # .id") }},
	{"expressions read twice", func(n int) string { return chain(n, "SELECT a.id FROM # a, # b WHERE a.id = b.id") }},
	{"UNION ALL", func(n int) string { return repeated(n, " UNION ALL ", func(int) string { return "SELECT id FROM t" }) }},
	{"UNION", func(n int) string { return repeated(n, " UNION ", func(int) string { return "SELECT id FROM t" }) }},
}

// plan prints how much processor time EXPLAIN takes for each shape. It stops at the
// first size that takes longer than most.
func plan(ctx context.Context, engine, url string, most time.Duration) error {
	for _, s := range shapes {
		if err := s.plan(ctx, engine, url, most); err != nil {
			return err
		}
	}
	return nil
}

// plan measures one shape over a connection of its own, because a server may not end
// a statement that it plans.
func (s shape) plan(ctx context.Context, engine, url string, most time.Duration) error {
	ask, end, err := connect(ctx, engine, url)
	if err != nil {
		return err
	}
	defer end()
	pid, err := processOf(ctx, engine, ask)
	if err != nil {
		return err
	}
	clock := cpuOf(pid)
	if engine == "sqlite" || s.name == shapes[0].name {
		for _, text := range []string{"DROP TABLE IF EXISTS t", "CREATE TABLE t (id INT PRIMARY KEY, v INT)"} {
			if _, err := ask(ctx, text); err != nil {
				return err
			}
		}
	}
	_, _ = fmt.Fprintf(os.Stdout, "%-38s", s.name)
	for _, n := range []int{10, 20, 40, 60, 80, 100, 120, 150, 200, 300, 400, 600, 800, 1200, 1600, 2000} {
		took, err := once(ctx, ask, clock, "EXPLAIN "+s.text(n))
		if err != nil {
			_, _ = fmt.Fprintf(os.Stdout, " %d: %.60s", n, strings.ReplaceAll(err.Error(), "\n", " "))
			break
		}
		_, _ = fmt.Fprintf(os.Stdout, " %d: %.2fs", n, took.Seconds())
		if took > most {
			break
		}
	}
	_, _ = fmt.Fprintln(os.Stdout)
	return nil
}
