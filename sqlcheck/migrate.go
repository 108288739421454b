package sqlcheck

import (
	"slices"

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

// migrator returns the judge of the statements of a migration, in their order.
// The guard reads each of them; what it would refuse on a connection that only
// reads does not count here.
func migrator(guard *sqlguard.Guard, o migration.Options) func(sql string) sqlguard.Verdict {
	dialect := guard.Dialect()
	if !migration.Supports(dialect.Name()) {
		return func(sql string) sqlguard.Verdict {
			v := guard.CheckOnce(sql)
			v.Allowed, v.Code = false, sqlguard.CodeNotChecked
			v.Findings = []sqlguard.Finding{{Code: sqlguard.CodeNotChecked, Message: "the profile for migrations has no rules for " + dialect.Name(), Span: sqlguard.Span{End: len(sql)}}}
			return v
		}
	}
	reader := migration.NewReader(dialect.Name(), o)
	return func(sql string) sqlguard.Verdict {
		v := guard.CheckFor(sql, notSQL)
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
	}
}

// readsTree reports whether the findings of a file depend on other files.
func (c *Checker) readsTree(path string) bool {
	o, ok := c.migrates(path)
	return ok && o.Reads != nil
}
