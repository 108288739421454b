package sqlcheck

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlguard"
)

// notSQL are the codes of the guard that the profile for migrations keeps:
// they say that a text cannot be read, not what it does.
var notSQL = []sqlguard.Code{
	sqlguard.CodeEmptyStatement, sqlguard.CodeParseError, sqlguard.CodeInputTooLarge, sqlguard.CodeNestingTooDeep, sqlguard.CodeInvalidCharacters,
	sqlguard.CodeExecutableComment, sqlguard.CodeClientCommand, sqlguard.CodeUnsupportedDialect, sqlguard.CodeInternalError,
}

// migrates returns the options of a file that is a migration.
func (c *Checker) migrates(path string) (migration.Options, bool) {
	if c.Migrations == nil {
		return migration.Options{}, false
	}
	return c.Migrations(path)
}

// The comments with which tools divide a migration: goose, sql-migrate and dbmate run each
// half in a transaction of its own, unless the file says no; so does Atlas.
var (
	halves  = regexp.MustCompile(`(?im)^--\s*(?:\+(?:goose|migrate)\s+up|migrate:up)\b`)
	back    = regexp.MustCompile(`(?im)^--\s*(?:\+(?:goose|migrate)\s+down|migrate:down)\b`)
	outside = regexp.MustCompile(`(?im)^--\s*(?:\+goose\s+no\s+transaction\b|\+migrate\s+(?:up|down)\s+notransaction\b|migrate:(?:up|down)\s.*\btransaction:\s*false\b|atlas:txmode\s+none\b)`)
)

// migrator returns the judge of the statements of a migration, in their order. The guard
// reads each of them; what it would refuse on a connection that only reads does not count
// here. takenBack is to be called before the first statement behind down, where the half
// begins that takes the migration back.
func migrator(guard *sqlguard.Guard, o migration.Options, text string) (judge func(sql string) sqlguard.Verdict, takenBack func(), down int) {
	dialect := guard.Dialect()
	if !migration.Supports(dialect.Name()) {
		return func(sql string) sqlguard.Verdict {
			v := guard.CheckOnce(sql)
			v.Allowed, v.Code = false, sqlguard.CodeNotChecked
			v.Findings = []sqlguard.Finding{{Code: sqlguard.CodeNotChecked, Message: "the profile for migrations has no rules for " + dialect.Name(), Span: sqlguard.Span{End: len(sql)}}}
			return v
		}, func() {}, len(text)
	}
	o.Text = text
	o.Transaction = (o.Transaction || halves.MatchString(text)) && !outside.MatchString(text)
	if down = len(text); back.MatchString(text) {
		down = back.FindStringIndex(text)[0]
	}
	reader := migration.NewReader(dialect, o)
	return func(sql string) sqlguard.Verdict {
		v := newer(dialect, sql, func(sql string) sqlguard.Verdict { return guard.CheckFor(sql, notSQL) })
		findings := slices.Clone(v.Findings)
		sqlguard.WithTokens(dialect, sql, func(tokens sqlguard.Tokens) {
			findings = append(findings, reader.Statement(sql, tokens.List)...)
		})
		slices.SortStableFunc(findings, func(a, b sqlguard.Finding) int { return a.Span.Start - b.Span.Start })
		v.Findings, v.Allowed, v.Code = findings, len(findings) == 0, ""
		if len(findings) > 0 {
			v.Code = findings[0].Code
		}
		return v
	}, reader.TakesBack, down
}

// newer returns the verdict on a statement of PostgreSQL, which may have constraints of
// PostgreSQL 18 that its reader does not know: CONSTRAINT a NOT NULL b, as an element of a
// table. They are read as CHECK (b) in their place, which only a statement that changes
// the schema can have.
func newer(d sqlguard.Dialect, sql string, check func(string) sqlguard.Verdict) sqlguard.Verdict {
	v := check(sql)
	if d.Name() != "postgres" || !unparsed(v) || !notNull.MatchString(sql) {
		return v
	}
	out := []byte(sql)
	tokens := withoutComments(d.Lex(sql).List)
	word := func(i int, text string) bool {
		return i >= 0 && i < len(tokens) && tokens[i].Kind == sqlguard.TokenWord && strings.EqualFold(tokens[i].Text(sql), text)
	}
	name := func(i int) bool {
		return i >= 0 && i < len(tokens) && (tokens[i].Kind == sqlguard.TokenWord || tokens[i].Kind == sqlguard.TokenQuotedName)
	}
	for i := range tokens {
		if !word(i, "not") || !word(i+1, "null") || !name(i+2) || word(i+2, "deferrable") || word(i+2, "enforced") {
			continue
		}
		first := i - 1 // of the element
		if name(i-1) && word(i-2, "constraint") {
			first = i - 3
		}
		if first < 0 || !word(first, "add") && tokens[first].Kind != sqlguard.TokenComma && tokens[first].Kind != sqlguard.TokenOpen {
			continue
		}
		span := out[tokens[i].Start:tokens[i+2].End]
		for k := range span {
			span[k] = ' '
		}
		copy(span, "CHECK("+tokens[i+2].Text(sql)+")")
	}
	if read := string(out); read != sql {
		if w := check(read); !unparsed(w) && w.Verb != sqlguard.VerbSelect {
			w.Normalized = "" // it is not this statement
			return w
		}
	}
	return v
}

var notNull = regexp.MustCompile(`(?i)\bnot\s+null\s+["\pL_]`)

// readsTree reports whether the findings of a file depend on other files.
func (c *Checker) readsTree(path string) bool {
	o, ok := c.migrates(path)
	return ok && o.Reads != nil
}
