package sqlcheck

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlcheck/source"
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
// here. takesBack says before a statement whether it takes the migration back, as all do
// behind down.
func migrator(guard *sqlguard.Guard, o migration.Options, text string) (judge func(sql string) sqlguard.Verdict, takesBack func(bool), down int) {
	dialect := guard.Dialect()
	if !migration.Supports(dialect.Name()) {
		return func(sql string) sqlguard.Verdict {
			v := guard.CheckOnce(sql)
			v.Allowed, v.Code = false, sqlguard.CodeNotChecked
			v.Findings = []sqlguard.Finding{{Code: sqlguard.CodeNotChecked, Message: "the profile for migrations has no rules for " + dialect.Name(), Span: sqlguard.Span{End: len(sql)}}}
			return v
		}, func(bool) {}, len(text)
	}
	o.Text = text
	o.Transaction = (o.Transaction || halves.MatchString(text)) && !outside.MatchString(text) && !autocommits.MatchString(text)
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

// autocommits is how a migration in a program says that it does not run in one
// transaction: for Alembic, Django, TypeORM and Knex.
var autocommits = regexp.MustCompile(`\bautocommit_block\(|(?m:^[ \t]+atomic[ \t]*=[ \t]*False\b)|\btransaction\b[^\n=:]*[:=]\s*false\b`)

// The functions of a migration in a program that apply it and that take it back.
var (
	appliesIt   = regexp.MustCompile(`(?m)^[ \t]*(?:def (?:upgrade|forwards?|apply)\b|(?:exports\.|module\.exports\.)up\b|(?:public |static |override |export |async |function |const )*up[ \t]*(?:\(|=|:))`)
	takesItBack = regexp.MustCompile(`(?m)^[ \t]*(?:def (?:downgrade|backwards?|rollback|reverse)\b|(?:exports\.|module\.exports\.)down\b|(?:public |static |override |export |async |function |const )*down[ \t]*(?:\(|=|:))`)
)

// direction returns what says to takesBack, before each text of a migration in a
// program, whether it takes the migration back.
func (r *reading) direction(body string, takesBack func(bool)) func(*source.Text) {
	apply, reverse := appliesIt.FindAllStringIndex(body, -1), takesItBack.FindAllStringIndex(body, -1)
	last := func(all [][]int, before int) int {
		at := -1
		for _, span := range all {
			if span[0] < before {
				at = span[0]
			}
		}
		return at
	}
	was := false
	return func(t *source.Text) {
		back := last(reverse, t.Span.Start) > last(apply, t.Span.Start)
		if t.Call < t.Span.Start && t.Call >= 0 { // RunSQL of Django
			back = back || strings.Contains(body[t.Call:t.Span.Start], "reverse_sql")
		}
		if back != was {
			was = back
			takesBack(back)
		}
	}
}

// schemaCall is a call with which a migration in a program changes the schema without
// a text of SQL: of Alembic, Django, Knex, Sequelize, TypeORM, node-pg-migrate and
// db-migrate.
var schemaCall = regexp.MustCompile(`\bop\.(?:(?:add|drop|alter)_column|(?:create|drop|rename)_table|(?:create|drop)_index|create_\w*(?:key|constraint)|drop_constraint|batch_alter_table)\(` +
	`|\bmigrations\.(?:(?:Add|Alter|Remove|Rename)Field|(?:Create|Delete|Rename)Model|(?:Add|Remove|Rename)Index|(?:Add|Remove)Constraint|AlterUniqueTogether|AlterIndexTogether|AlterModelTable)\(` +
	`|\b(?:knex|trx|db|k)\.schema\.(?:create|drop|alter|rename|table)\w*|\b(?:queryInterface|queryRunner|pgm|db)\.(?:(?:add|drop|remove|change|rename|alter)(?:Primary|Foreign|Unique|Check)?(?:Columns?|Table|Index|Indices|Constraint|Key|ForeignKeys?)|createTable|createIndex|createIndices|createForeignKeys?|createUniqueConstraint)\(`)

// schemaCalls reports that a migration in a program also changes the schema by calls
// without SQL, once for a file.
func (c *Checker) schemaCalls(in Input, body string, shift int, file *report.File) {
	if _, ok := c.migrates(in.Path); !ok {
		return
	}
	at := schemaCall.FindStringIndex(body)
	if at == nil {
		return
	}
	r := c.reading(file, body, shift)
	r.add(sqlguard.Finding{
		Code: migration.CodeNotJudged, Message: "calls such as " + strings.TrimSuffix(body[at[0]:at[1]], "(") + " change the schema without a text of SQL, so the profile cannot judge them",
		Hint: "check the SQL that the tool makes of the migration, such as that of alembic upgrade --sql or sqlmigrate", Retryable: true,
	}, sqlguard.Span{Start: at[0], End: at[1]}, -1, "")
}

// readsTree reports whether the findings of a file depend on other files.
func (c *Checker) readsTree(path string) bool {
	o, ok := c.migrates(path)
	return ok && o.Reads != nil
}
