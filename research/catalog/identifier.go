package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxParts is how many parts of a path are told apart; a table has three, and a
// column one more.
const maxParts = 8

// quotes are the characters that begin a quoted identifier of a dialect. The first
// is the one that the dialect prints.
func quotes(driver string) string {
	switch d := strings.ToLower(driver); {
	case strings.HasPrefix(d, "mysql"), strings.HasPrefix(d, "mariadb"):
		return "`\""
	case strings.HasPrefix(d, "bigquery"), strings.HasPrefix(d, "databricks"), strings.HasPrefix(d, "spark"), strings.HasPrefix(d, "hive"):
		return "`"
	case strings.HasPrefix(d, "clickhouse"):
		return "`\""
	case strings.HasPrefix(d, "sqlserver"), strings.HasPrefix(d, "mssql"):
		return "[\""
	case isSQLite(d):
		return "\"`["
	default:
		return "\""
	}
}

// anyQuotes are those of all dialects.
const anyQuotes = "\"`["

// split returns the parts of a dotted path whose parts may be quoted. A quote
// within a quoted part is doubled. ok is false when a quoted part does not end, or
// something follows it, or there are too many parts.
func split(path, opening string) (parts []string, ok bool) {
	for {
		part, rest, ok := cutPart(path, opening)
		if !ok || len(parts) == maxParts {
			return nil, false
		}
		parts = append(parts, part)
		if rest == "" {
			return parts, true
		}
		path = rest[1:] // the dot
	}
}

// cutPart returns the first part of a path, and the rest, which is "" or begins
// with a dot.
func cutPart(path, opening string) (part, rest string, ok bool) {
	if path == "" || !strings.ContainsRune(opening, rune(path[0])) || path[0] >= utf8.RuneSelf {
		if dot := strings.IndexByte(path, '.'); dot >= 0 {
			return path[:dot], path[dot:], true
		}
		return path, "", true
	}
	closing := path[0]
	if closing == '[' {
		closing = ']'
	}
	var b strings.Builder
	for i := 1; i < len(path); i++ {
		if path[i] != closing {
			b.WriteByte(path[i])
			continue
		}
		if i+1 < len(path) && path[i+1] == closing {
			b.WriteByte(closing)
			i++
			continue
		}
		rest = path[i+1:]
		return b.String(), rest, rest == "" || rest[0] == '.'
	}
	return "", "", false
}

// quote returns a part of a path so that split gives it back. A plain name is
// returned as it is.
func quote(name, driver string) string {
	if plain(name) {
		return name
	}
	opening := quotes(driver)[:1]
	closing := opening
	if opening == "[" {
		closing = "]"
	}
	return opening + strings.ReplaceAll(name, closing, closing+closing) + closing
}

// plain reports whether a name needs no quotes in a path.
func plain(name string) bool {
	if name == "" || name[0] == '{' || strings.TrimFunc(name, unicode.IsSpace) != name {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return strings.ContainsRune(".\"`[]'", r) || unicode.IsControl(r)
	})
}

// own returns the parts of a table's name: those that it has, and an empty one for
// each that is missing between two others.
func (r Ref) own() []string {
	switch {
	case r.Catalog != "":
		return []string{r.Catalog, r.DB, r.Name}
	case r.DB != "":
		return []string{r.DB, r.Name}
	default:
		return []string{r.Name}
	}
}

// Display returns the name of a table for people and for [Snapshot.Resolve]: its
// parts with dots between. A part that holds a dot or a quote is quoted as the
// connection's dialect does it.
func (s *Snapshot) Display(r Ref) string { return display(r.own(), s.driver) }

// DisplayColumn is [Snapshot.Display] for a column of a table.
func (s *Snapshot) DisplayColumn(r Ref, column string) string {
	parts := append(r.own(), column)
	// A table of three parts may have the same name as a column of a table of
	// fewer. Empty parts at the front say which is meant.
	for s.hasOwn(parts) {
		parts = append([]string{""}, parts...)
	}
	return display(parts, s.driver)
}

// hasOwn reports whether a table has exactly these parts.
func (s *Snapshot) hasOwn(parts []string) bool {
	n := len(parts)
	if n > 3 {
		return false
	}
	full := append(make([]string, 3-n, 3), parts...)
	return s.Table(Ref{Catalog: full[0], DB: full[1], Name: full[2]}) != nil
}

func display(parts []string, driver string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		quoted[i] = quote(p, driver)
	}
	return strings.Join(quoted, ".")
}

// foldName returns a form that is equal for names that differ in case only.
func foldName(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return unicode.ToLower(least)
	}, s)
}
