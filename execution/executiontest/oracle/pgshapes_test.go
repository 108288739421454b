package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// pgShapes are further values, like pgValues: geometric shapes, text search,
// ranges.
var pgShapes = map[string]values{
	"point": {edges: []string{"(1.5,-2)", "(NaN,Infinity)", "(1e300,0)", "(-0,0)", "(0.1,1e-5)"}, random: randomPoint},
	"line":  {edges: []string{"{1,2,3}", "{0,-1,0}", "{1,0,-0}"}, random: func(r *rand.Rand) string { return "{" + randomFinite(r) + ",1," + randomFinite(r) + "}" }},
	"lseg":  {edges: []string{"[(0,0),(1,1)]"}, random: func(r *rand.Rand) string { return "[" + points(r, 2) + "]" }},
	"box":   {edges: []string{"(1,1),(0,0)", "(0,0),(-1,5)"}, random: func(r *rand.Rand) string { return points(r, 2) }},
	"path": {edges: []string{"[(0,0),(1,1)]", "((0,0),(1,1))", "[(1,2)]"}, random: func(r *rand.Rand) string {
		if r.IntN(2) == 0 {
			return "[" + points(r, 1+r.IntN(4)) + "]"
		}
		return "(" + points(r, 1+r.IntN(4)) + ")"
	}},
	"polygon": {edges: []string{"((0,0),(1,1),(1,0))", "((1,2))"}, random: func(r *rand.Rand) string { return "(" + points(r, 1+r.IntN(5)) + ")" }},
	"circle": {edges: []string{"<(0,0),1>", "<(1.5,-2),0>"}, random: func(r *rand.Rand) string {
		return "<" + points(r, 1) + "," + strings.TrimPrefix(randomFinite(r), "-") + ">"
	}},

	"tsvector": {edges: []string{"a:1A b:2,3", "", `'it''s':1 'a\\b' ' '`, "x:16383"}, random: func(r *rand.Rand) string {
		return strings.Join(list(r, 5, func(r *rand.Rand) string {
			return lexeme(r) + pick(r, "", ":1", ":2A,7B", ":"+strconv.Itoa(1+r.IntN(16383))+pick(r, "", "A", "B", "C", "D"))
		}), " ")
	}},
	"tsquery": {edges: []string{"a & !b | (c <-> d)", "", "'it''s':*AB", "!!a", "a <3> b"}, random: func(r *rand.Rand) string { return randomQuery(r, 3) }},

	"int4range": {edges: []string{"empty", "[1,5)", "(,5]", "[1,)", "(,)", "[-2147483648,2147483646]"}, random: ranges(func(r *rand.Rand) string { return randomInteger(r, 31) }, byNumber)},
	"int8range": {edges: []string{"empty", "[9007199254740993,9007199254740994]", "(,)"}, random: ranges(func(r *rand.Rand) string { return randomInteger(r, 63) }, byNumber)},
	"numrange":  {edges: []string{"[1.10,2.0)", "(,)", "[NaN,NaN]", "(-1e50,1e-50]"}, random: ranges(func(r *rand.Rand) string { return sign(r) + digits(r, 1+r.IntN(15)) + "." + digits(r, 6) }, byNumber)},
	"tsrange": {
		edges:  []string{"[2024-01-01 00:00:00,infinity)", `["2024-01-01 12:00",)`, "[-infinity,infinity]", `("4713-01-01 00:00 BC",0001-01-01]`},
		random: ranges(func(r *rand.Rand) string { return randomYears(r) + " " + randomClock(r) }, strings.Compare),
	},
	"tstzrange": {
		edges:  []string{"[2024-01-01 00:00:00+00,infinity)", `["2024-01-01 12:00+02",)`, "empty"},
		random: ranges(func(r *rand.Rand) string { return randomYears(r) + " " + randomClock(r) + "+00" }, strings.Compare),
	},
	"daterange": {edges: []string{"[2024-01-01,2024-01-31]", "empty", "[infinity,infinity]", "(,-infinity]", `["0044-03-15 BC",)`}, random: ranges(randomYears, strings.Compare)},

	"int4multirange": {edges: []string{"{}", "{[1,2),[5,6),(100,)}", "{(,)}"}, random: multi(ranges(func(r *rand.Rand) string { return randomInteger(r, 31) }, byNumber))},
	"int8multirange": {edges: []string{"{}", "{[9007199254740993,9007199254740995)}"}, random: multi(ranges(func(r *rand.Rand) string { return randomInteger(r, 63) }, byNumber))},
	"nummultirange":  {edges: []string{"{}", "{[1.10,2.0),(3,]}"}, random: multi(ranges(func(r *rand.Rand) string { return digits(r, 3) + "." + digits(r, 3) }, byNumber))},
	"tsmultirange":   {edges: []string{"{}", `{["2024-01-01 00:00","2024-02-01 00:00"),[infinity,]}`}, random: multi(ranges(func(r *rand.Rand) string { return randomYears(r) + " " + randomClock(r) }, strings.Compare))},
	"tstzmultirange": {edges: []string{"{}", `{["2024-01-01 00:00+05","2024-02-01 00:00+00")}`}, random: multi(ranges(func(r *rand.Rand) string { return randomYears(r) + " " + randomClock(r) + "+00" }, strings.Compare))},
	"datemultirange": {edges: []string{"{}", "{[2024-01-01,2024-01-31],empty,[2025-01-01,)}"}, random: multi(ranges(randomYears, strings.Compare))},
}

func randomPoint(r *rand.Rand) string {
	return "(" + randomFloat(r, 64) + "," + randomFloat(r, 64) + ")"
}

func points(r *rand.Rand, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "(" + randomFinite(r) + "," + randomFinite(r) + ")"
	}
	return strings.Join(list, ",")
}

// lexeme quotes a word in the syntax of tsvector and tsquery.
func lexeme(r *rand.Rand) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(randomWord(r)) + "'"
}

func randomQuery(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return lexeme(r) + pick(r, "", "", ":*", ":A", ":*BCD")
	}
	if r.IntN(4) == 0 {
		return "!(" + randomQuery(r, depth-1) + ")"
	}
	return "(" + randomQuery(r, depth-1) + ")" + pick(r, " & ", " | ", " <-> ", " <"+strconv.Itoa(r.IntN(16384))+"> ") + "(" + randomQuery(r, depth-1) + ")"
}

func randomYears(r *rand.Rand) string {
	return fmt.Sprintf("%04d-%02d-%02d", 1+r.IntN(9999), 1+r.IntN(12), 1+r.IntN(28))
}

func byNumber(a, b string) int {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	default:
		return 0
	}
}

// ranges makes ranges of two values in their order. If two numbers are too
// close for a float, both bounds are the same number.
func ranges(one func(*rand.Rand) string, order func(a, b string) int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		if r.IntN(12) == 0 {
			return "empty"
		}
		ends := []string{one(r), one(r)}
		slices.SortFunc(ends, order)
		if order(ends[0], ends[1]) == 0 {
			ends[1] = ends[0]
		}
		low, high := `"`+ends[0]+`"`, `"`+ends[1]+`"`
		if r.IntN(8) == 0 {
			low = ""
		}
		if r.IntN(8) == 0 {
			high = ""
		}
		return pick(r, "[", "(") + low + "," + high + pick(r, "]", ")")
	}
}

func multi(one func(*rand.Rand) string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return "{" + strings.Join(list(r, 4, one), ",") + "}" }
}
