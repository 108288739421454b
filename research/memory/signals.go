package memory

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Signals say what kinds of knowledge a text seems to hold.
type Signals struct {
	Knowledge bool `json:"knowledge"` // a definition, a rule, a unit, a table, headings
	SL        bool `json:"sl"`        // something that a semantic layer defines
	Dialect   bool `json:"dialect"`   // something about the SQL of one engine
	// Reasons say what was found and where, and what became of the text.
	Reasons []string `json:"reasons"`
}

// A sign is one thing that says what a text is about.
type sign struct {
	kind    string // knowledge, sl or dialect
	what    string
	pattern *regexp.Regexp
	code    bool // looked for in fenced code only; else outside of it only
}

// signs are looked for in each line. Most commands need none of them, so they are made
// when they are first used.
var signs = sync.OnceValue(func() []sign {
	return []sign{
		{"knowledge", "a heading", regexp.MustCompile(`^ {0,3}#{1,6}\s+\S`), false},
		{"knowledge", "a definition", regexp.MustCompile(`(?i)\S\s+(means|is defined as|are defined as|stands for|is short for|refers to|denotes|is calculated as|is computed as|bedeutet|steht für|signifie|désigne|significa)\s+\S`), false},
		{"knowledge", "a definition", regexp.MustCompile(`(?i)^[\s>*_` + "`" + `"-]*[\p{L}][\p{L}\p{N}_ '` + "`" + `*/-]{0,60}\s(is|are)\s+(a|an|the|our|all|any|every|each|those|when|one|only|net|gross|total|number|sum|\d)\b`), false},
		{"knowledge", "a rule", regexp.MustCompile(`(?i)\b(always|never|excludes?|excluding|excluded|ignores?|treat(ed)?\b.{1,60}\bas|going forward|from now on|must|must not|do not|don't|should|only count|instead of|except)\b`), false},
		{"knowledge", "a unit", regexp.MustCompile(`(?i)\b(in|as)\s+(us\s+)?(cents?|pence|dollars?|euros?|pounds|thousands?|millions?|percent(age)?|basis points|bps|milliseconds|seconds|minutes|hours|days|utc|usd|eur|gbp|jpy|chf|kilograms?|grams?|kg|meters?|metres?|kilometers?|miles|bytes|kb|mb|gb)\b`), false},
		{"knowledge", "a table", regexp.MustCompile(`^\s*\|?\s*:?-{3,}:?\s*\|[\s:|-]*$`), false},
		{"sl", "an aggregate", regexp.MustCompile(`(?i)\b(sum|count|avg|min|max|median|stddev|approx_count_distinct|percentile_cont|count_distinct)\s*\(`), false},
		{"sl", "an aggregate in SQL", regexp.MustCompile(`(?i)\b(sum|count|avg|min|max|median|stddev|approx_count_distinct|percentile_cont|count_distinct)\s*\(`), true},
		{"sl", "measures or dimensions in YAML", regexp.MustCompile(`^\s*-?\s*(measures|dimensions|segments|metrics|semantic_models|entities)\s*:`), true},
		{"sl", "LookML", regexp.MustCompile(`^\s*(measure|dimension|dimension_group|view|explore)\s*:\s*\+?\w+\s*\{`), true},
		{"sl", "LookML", regexp.MustCompile(`^\s*(measure|dimension|dimension_group|view|explore)\s*:\s*\+?\w+\s*\{`), false},
		{"sl", "a dbt model", regexp.MustCompile(`\{\{\s*(ref|source)\s*\(`), true},
		{"sl", "a dbt model", regexp.MustCompile(`\{\{\s*(ref|source)\s*\(`), false},
		{"sl", "a dbt model", regexp.MustCompile(`^\s*(models|sources|exposures)\s*:\s*$`), true},
		{"dialect", "an engine", regexp.MustCompile(`(?i)\b(postgres(ql)?|mysql|mariadb|sqlite|sql server|t-sql|bigquery|snowflake|redshift|clickhouse|duckdb|databricks|trino|presto|athena|oracle|pl/?sql)\b`), false},
		{"dialect", "the SQL of one engine", regexp.MustCompile(`(?i)(\b(qualify|ilike|safe_divide|safe_cast|strftime|julianday|dateadd|datediff|datetrunc|date_trunc|getdate|ifnull|isnull|nvl|group_concat|string_agg|listagg|array_agg|unnest|lateral flatten|regexp_substr|to_char|date_format|str_to_date|generate_series)\s*\(|\bselect\s+top\s+\d|\w::\w|\bqualify\s+row_number\b|\bilike\b)`), true},
		{"dialect", "the SQL of one engine", regexp.MustCompile(`(?i)(\b(qualify|ilike|safe_divide|safe_cast|strftime|julianday|dateadd|datediff|datetrunc|date_trunc|getdate|ifnull|nvl|group_concat|string_agg|listagg|lateral flatten|regexp_substr|date_format|str_to_date|generate_series)\s*\(|\w::(date|int|integer|numeric|text|timestamp)\b)`), false},
	}
})

// sqlStart begins a line of SQL.
var sqlStart = lazily(`(?i)^\s*(select|with|from|where|join|left join|inner join|group by|having|order by|create (or replace )?view)\b`)

// Detect returns the signals of a text. Equal texts have equal signals.
func Detect(content string) Signals {
	s := Signals{Reasons: []string{}}
	seen := map[string]bool{}
	found := func(kind, what string, line int) {
		switch kind {
		case "knowledge":
			s.Knowledge = true
		case "sl":
			s.SL = true
		case "dialect":
			s.Dialect = true
		}
		if name := kind + ": " + what; !seen[name] {
			seen[name] = true
			s.Reasons = append(s.Reasons, fmt.Sprintf("%s (line %d)", name, line))
		}
	}
	for _, l := range textLines(content) {
		if l.code && l.language == "sql" && sqlStart().MatchString(l.text) {
			found("sl", "SQL", l.number)
		}
		for _, sign := range signs() {
			if sign.code == l.code && sign.pattern.MatchString(l.text) {
				found(sign.kind, sign.what, l.number)
			}
		}
	}
	slices.Sort(s.Reasons)
	return s
}

// textLine is a line of a text.
type textLine struct {
	text     string
	number   int
	code     bool   // in a fenced block, or one of its fences
	fence    bool   // one of its fences; text is empty
	language string // of the block, in lower case
}

// textLines returns the lines of a text.
func textLines(content string) []textLine {
	var out []textLine
	fence, language := "", ""
	n := 0
	for line := range strings.Lines(content) {
		n++
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		l := textLine{text: line, number: n, code: fence != "", language: language}
		switch {
		case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
			mark := trimmed[:1]
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, mark))]
			language, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(trimmed[len(fence):])), " ")
			l.code, l.fence, l.text = true, true, ""
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
			fence, language = "", ""
			l.fence, l.text = true, ""
		}
		out = append(out, l)
	}
	return out
}

// lazily returns a pattern that is compiled when it is first used: most commands use
// none of them.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
