//go:build !cgo

package postgres_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestNestedErrors: a text that the parser would read again and again at every level is
// refused before. Without that, none of these ends.
func TestNestedErrors(t *testing.T) {
	t.Parallel()
	const levels = 100
	for name, parts := range map[string][4]string{
		"VALUES":      {"SELECT ", "(VALUES (", "1 2", "))"},
		"SELECT":      {"SELECT ", "((SELECT ", "1 2 3", "))"},
		"expression":  {"SELECT ", "((SELECT ", "1", ") + 1)"},
		"IN":          {"SELECT 1 WHERE 1 IN ", "((SELECT 1 WHERE 1 IN ", "(1 2 3)", "))"},
		"FROM":        {"SELECT 1 FROM ", "((SELECT 1 FROM ", "t t t", ") AS q)"},
		"ANY":         {"SELECT ", "1 = ANY /* c */ ((SELECT ", "1 2", "))"},
		"open":        {"SELECT ", "(VALUES (", "1", ""},
		"closed":      {"SELECT ", "(VALUES (", "1", ")))"},
		"write":       {"SELECT ", "(WITH a AS (SELECT 1) DELETE FROM t WHERE a IN ", "(1)", ")"},
		"overlay":     {"SELECT ", "overlay(", "1 2", ")"},
		"substring":   {"SELECT ", "substring(", "1 2", ")"},
		"json_object": {"SELECT ", "JSON_OBJECT -- c\n(", "1 2", ")"},
	} {
		sql := parts[0] + strings.Repeat(parts[1], levels) + parts[2] + strings.Repeat(parts[3], levels)
		g, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if v := g.CheckOnce(sql); v.Allowed || v.Code != sqlguard.CodeParseError {
			t.Errorf("%s: %v %s %+v", name, v.Allowed, v.Code, v.Findings)
		}
	}
}

// TestNestedReads: what people nest passes, also with much in it.
func TestNestedReads(t *testing.T) {
	t.Parallel()
	columns := strings.TrimSuffix(strings.Repeat("coalesce(a, b) AS c, ", 400), ", ")
	for name, sql := range map[string]string{
		"90 queries in SELECT":     "SELECT " + strings.Repeat("(SELECT ", 90) + "1" + strings.Repeat(")", 90),
		"90 queries in FROM":       strings.Repeat("SELECT * FROM (", 90) + "VALUES (1)" + strings.Repeat(") AS q", 90),
		"8 queries in FROM":        strings.Repeat("SELECT * FROM (", 8) + "SELECT " + columns + " FROM t" + strings.Repeat(") AS q", 8),
		"12 queries in IN":         strings.Repeat("SELECT a FROM t WHERE a IN (", 12) + "1" + strings.Repeat(")", 12),
		"12 calls of substring":    "SELECT " + strings.Repeat("substring(", 12) + "a" + strings.Repeat(", 1, 20)", 12) + " FROM t",
		"60 brackets":              "SELECT " + strings.Repeat("(", 60) + "a" + strings.Repeat(")", 60) + " FROM t",
		"60 queries named by WITH": "WITH q0 AS (SELECT 1 AS a)" + ctes(60) + " SELECT a FROM q60",
	} {
		g, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if v := g.CheckOnce(sql); !v.Allowed {
			t.Errorf("%s: %s %+v", name, v.Code, v.Findings)
		}
	}
}

// ctes returns n common table expressions, each of which reads the one before.
func ctes(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(", q" + strconv.Itoa(i+1) + " AS (SELECT a FROM q" + strconv.Itoa(i) + ")")
	}
	return b.String()
}
