package scan

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// engine is what differs between database systems.
type engine interface {
	// structure reads the tables of a scope. A part of the catalogue that may not be
	// read is a warning.
	structure(ctx context.Context, a *asker, scope scope) (*structure, error)
	// quote writes a name as an identifier.
	quote(name string) string
	// prefix is the text of an expression, cut after n characters. length is the
	// number of its characters.
	prefix(expression string, n int) string
	length(expression string) string
	// exact is a text expression that is equal to another one only if both have the
	// same characters.
	exact(expression string) string
	// absent is 1 where the expression is null, else 0.
	absent(expression string) string
	// text is any value as a text, for comparing values of different types.
	text(expression string) string
	// rows is a statement that reads at most n rows of a source.
	rows(columns string, src source, n int) string
	// spread returns a source with about the wanted number of a table's rows, taken
	// across the table. It returns false if the engine has no way to do so.
	spread(ctx context.Context, a *asker, t *table, want, total int64) (source, bool, error)
}

// engines are the engines by the name of their dialect.
var engines = map[string]engine{
	"postgres":   postgres{},
	"mysql":      mysql{},
	"mariadb":    mysql{},
	"sqlite":     sqlite{},
	"sqlserver":  sqlserver{},
	"bigquery":   bigquery{},
	"clickhouse": clickhouse{},
	"duckdb":     duckdb{},
}

// scope says which schemas are scanned.
type scope struct {
	schemas   []string // none means all, or the connection's own database
	databases []string // to scan beside the connection's own database
}

// structure is what introspection found.
type structure struct {
	tables   []*table
	warnings []catalog.Warning
	scope    map[string][]string // what was looked at: the scope of connection.json
}

// warn adds a warning.
func (s *structure) warn(code string, ref *catalog.Ref, format string, args ...any) {
	w := catalog.Warning{Code: code, Message: fmt.Sprintf(format, args...), Recoverable: true}
	if ref != nil {
		w.Table = display(*ref)
	}
	s.warnings = append(s.warnings, w)
}

// maxNamed bounds how many names one warning lists.
const maxNamed = 20

// warnUnreadable warns of tables that the role may not read.
func (s *structure) warnUnreadable(names []string) {
	if len(names) == 0 {
		return
	}
	s.warn("permission_denied", nil, "the role may not read these tables, so they are not in the scan (%d): %s. Grant SELECT on them and scan again", len(names), list(names))
}

// list writes names for a warning, not too many of them.
func list(names []string) string {
	slices.Sort(names)
	shown := names[:min(len(names), maxNamed)]
	text := strings.Join(shown, ", ")
	if len(names) > len(shown) {
		text += fmt.Sprintf(" and %d more", len(names)-len(shown))
	}
	return text
}

// source is what follows FROM in a statement.
type source struct {
	from  string // the table, with its clause for a sample
	where string // a condition, or ""
}

// sql writes the source with further conditions.
func (s source) sql(conditions ...string) string {
	if s.where != "" {
		conditions = append([]string{"(" + s.where + ")"}, conditions...)
	}
	if len(conditions) == 0 {
		return s.from
	}
	return s.from + " WHERE " + strings.Join(conditions, " AND ")
}

// name writes the name of a table as a statement has it.
func name(e engine, ref catalog.Ref) string {
	parts := make([]string, 0, 3)
	for _, p := range []string{ref.Catalog, ref.DB, ref.Name} {
		if p != "" {
			parts = append(parts, e.quote(p))
		}
	}
	return strings.Join(parts, ".")
}

// limited is a statement with LIMIT.
func limited(columns string, src source, n int) string {
	return fmt.Sprintf("SELECT %s FROM %s LIMIT %d", columns, src.sql(), n)
}

// names writes texts as a list of literals.
func names(texts []string, quote func(string) string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = quote(t)
	}
	return strings.Join(out, ", ")
}

// maxComment bounds the length of a comment, in characters.
const maxComment = 4000

// from returns a value of the row after which a page begins, or start for the first
// page.
func from(after []string, i int, start string) string {
	if after == nil {
		return start
	}
	return after[i]
}

// comment returns nil for a comment that is missing or blank.
func comment(text string, null bool) *string {
	if null {
		return nil
	}
	return optional(strings.TrimSpace(text))
}

// number returns nil for a count that is not known.
func number(text string, null bool) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if null || err != nil || n < 0 {
		return nil
	}
	return &n
}
