package mysqldb

import (
	"slices"
	"strings"
)

// grant is one line of SHOW GRANTS.
type grant struct {
	privileges []string // in upper case, without columns; "ALL PRIVILEGES" is one
	object     string   // as the server writes it: *.*, `shop`.*, PROCEDURE `shop`.`p`, …
	role       string   // a granted role, instead of privileges
	to         string   // as the server writes it
	passes     bool     // WITH GRANT OPTION, or ADMIN OPTION of a role
}

// administers reports whether the grant makes the account an administrator of
// the server, such as root.
func (g *grant) administers() bool {
	return g.object == "*.*" && (g.passes || slices.Contains(g.privileges, "ALL PRIVILEGES") || slices.Contains(g.privileges, "SUPER"))
}

// parseGrant reads a line of SHOW GRANTS. For a line of another form ok is
// false. The caller must not treat such a line as one that grants nothing.
func parseGrant(line string) (g grant, ok bool) {
	rest, ok := strings.CutPrefix(line, "GRANT ")
	if !ok {
		return grant{}, false
	}
	what, rest, ok := cutWord(rest, " ON ")
	if !ok {
		return parseRole(what)
	}
	g.object, rest, ok = cutWord(rest, " TO ")
	if !ok {
		return grant{}, false
	}
	for _, p := range splitPrivileges(what) {
		if p == "" {
			return grant{}, false
		}
		g.privileges = append(g.privileges, p)
	}
	g.to = grantee(rest)
	g.passes = hasOption(rest, "GRANT OPTION")
	return g, g.to != "" && g.object != "" && len(g.privileges) > 0
}

// parseRole reads a line of the form "GRANT `role` TO …".
func parseRole(line string) (grant, bool) {
	role, rest, ok := cutWord(line, " TO ")
	if !ok || role == "" {
		return grant{}, false
	}
	g := grant{role: role, to: grantee(rest), passes: hasOption(rest, "ADMIN OPTION")}
	return g, g.to != ""
}

// cutWord cuts s around the first occurrence of word outside of quotes and
// brackets. Word begins with a space. When there is none, before is all of s.
func cutWord(s, word string) (before, after string, found bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '`', '\'', '"':
			end := closing(s[i:])
			if end < 0 {
				return s, "", false
			}
			i += end
		case '(':
			depth++
		case ')':
			depth--
		case ' ':
			if depth == 0 && strings.HasPrefix(s[i:], word) {
				return s[:i], s[i+len(word):], true
			}
		}
	}
	return s, "", false
}

// closing returns the index of the quote that ends the quoted string at the
// start of s. A doubled quote is part of the string. So is a quote after a
// backslash, except in a quoted name.
func closing(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote != '`':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}

// splitPrivileges splits "SELECT (`a`, `b`), INSERT" at its commas, and omits
// the columns.
func splitPrivileges(s string) []string {
	var all []string
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '`':
			end := closing(s[i:])
			if end < 0 {
				return nil
			}
			if depth == 0 { // a name where a privilege is expected
				return nil
			}
			i += end
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth > 0:
		case c == ',':
			all = append(all, strings.ToUpper(strings.TrimSpace(b.String())))
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	if depth != 0 {
		return nil
	}
	return append(all, strings.ToUpper(strings.TrimSpace(b.String())))
}

// grantee returns the account or role at the beginning of s. It keeps the
// quotes of the host, and drops what follows, such as the hash of a password.
func grantee(s string) string {
	to, _, _ := cutWord(s, " ")
	return to
}

// hasOption reports whether a grant ends in WITH and that option.
func hasOption(s, option string) bool {
	_, with, found := cutWord(s, " WITH ")
	return found && strings.Contains(with, option)
}

// deed is a class of rights beyond reading.
type deed struct {
	what       string // what the account may do
	privileges []string
}

// deeds are the classes. A privilege that is in none of them and not in
// harmless administers the server.
var deeds = []deed{
	{"do everything", []string{"ALL PRIVILEGES", "ALL"}},
	{"write rows", []string{"INSERT", "UPDATE", "DELETE", "DELETE HISTORY", "DELETE VERSIONING ROWS"}},
	{"make and remove tables, views, triggers, events and routines", []string{
		"CREATE", "DROP", "ALTER", "INDEX", "REFERENCES", "CREATE VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "TRIGGER", "EVENT", "CREATE TABLESPACE",
	}},
	{"make temporary tables", []string{"CREATE TEMPORARY TABLES"}},
	{"call routines, which may write with the rights of who made them", []string{"EXECUTE"}},
	{"lock tables", []string{"LOCK TABLES"}},
	{"read and write files of the server", []string{"FILE"}},
	{"read the statements of other sessions", []string{"PROCESS"}},
	{"act as another account", []string{"PROXY"}},
	{"give accounts and rights", []string{"CREATE USER", "CREATE ROLE", "DROP ROLE", "ROLE_ADMIN", "GRANT OPTION"}},
}

// harmless are the privileges that permit nothing except reading.
var harmless = []string{"USAGE", "SELECT", "SHOW VIEW", "SHOW CREATE ROUTINE", "SHOW DATABASES", "SHOW_ROUTINE"}

// deedsOf returns the classes of the privileges of a grant, in the order of
// deeds.
func deedsOf(privileges []string) []deed {
	var found []deed
	rest := slices.DeleteFunc(slices.Clone(privileges), func(p string) bool { return slices.Contains(harmless, p) })
	for _, d := range deeds {
		var have []string
		for _, p := range rest {
			if slices.Contains(d.privileges, p) {
				have = append(have, p)
			}
		}
		if len(have) > 0 {
			found = append(found, deed{d.what, have})
		}
		rest = slices.DeleteFunc(rest, func(p string) bool { return slices.Contains(have, p) })
	}
	if len(rest) > 0 {
		found = append(found, deed{"administer the server", rest})
	}
	return found
}

// databaseOfObject returns the database that the object of a grant is in, or
// that it is. The name is a LIKE pattern when pattern is set, and "*" for all
// databases.
func databaseOfObject(object string) (name string, pattern bool) {
	for _, kind := range []string{"PROCEDURE ", "FUNCTION ", "PACKAGE BODY ", "PACKAGE ", "TABLE "} {
		object = strings.TrimPrefix(object, kind)
	}
	database, rest, found := cutDot(object)
	switch {
	case !found:
		return "*", false
	case database == "*":
		return "*", false
	default:
		return unquoteName(database), rest == "*"
	}
}

// cutDot cuts a name at the first dot outside of quotes.
func cutDot(s string) (before, after string, found bool) {
	if strings.HasPrefix(s, "`") {
		end := closing(s)
		if end < 0 || end+1 >= len(s) || s[end+1] != '.' {
			return s, "", false
		}
		return s[:end+1], s[end+2:], true
	}
	return strings.Cut(s, ".")
}

func unquoteName(s string) string {
	if len(s) >= 2 && s[0] == '`' && s[len(s)-1] == '`' {
		return strings.ReplaceAll(s[1:len(s)-1], "``", "`")
	}
	return s
}

// likeName reports whether the pattern of a grant matches the name of a
// database. In the pattern _ and % are wildcards unless a backslash precedes
// them.
func likeName(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	switch c := pattern[0]; {
	case c == '%':
		for i := 0; i <= len(name); i++ {
			if likeName(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	case name == "":
		return false
	case c == '\\' && len(pattern) > 1:
		return strings.EqualFold(pattern[1:2], name[:1]) && likeName(pattern[2:], name[1:])
	case c == '_':
		return likeName(pattern[1:], name[1:])
	default:
		return strings.EqualFold(pattern[:1], name[:1]) && likeName(pattern[1:], name[1:])
	}
}
