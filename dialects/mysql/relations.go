package mysql

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// systemSchema reports whether a schema is one of the server's own. A name that differs
// from such a name only in letters beyond ASCII counts too.
func systemSchema(schema string) bool {
	for _, s := range systemSchemas {
		if resembles(schema, s) {
			return true
		}
	}
	return false
}

// relationRuling decides on a relation by its name and reports whether it belongs
// to the server. A name without a schema lies in the connection's own database.
func relationRuling(schema, name string) (system bool, ruling sqlguard.Ruling) {
	refuse := func(code sqlguard.Code, reason string) (bool, sqlguard.Ruling) {
		return true, sqlguard.Ruling{Code: code, Reason: reason}
	}
	if strings.HasPrefix(schema, "#") || strings.HasPrefix(name, "#sql") || strings.HasPrefix(foldName(name), "#mysql50#") {
		return refuse(sqlguard.CodeRelationNotAllowed, "a name of this form is the server's own for files")
	}
	if madeRows(foldName(name)) > maxMadeRows {
		return true, sqlguard.Ruling{Code: sqlguard.CodeRelationNotAllowed, Reason: "it makes more than 10 million rows", Excess: true}
	}
	if !systemSchema(schema) {
		return false, sqlguard.Ruling{Allowed: true}
	}
	folded := foldName(name)
	if counterRelations[foldName(schema)][folded] {
		return true, sqlguard.Ruling{Allowed: true}
	}
	if holdsSecrets(foldName(schema), folded) {
		return true, sqlguard.Ruling{
			Code: sqlguard.CodeCredentialRelation, Reason: "it holds secrets, values of tables, or statements of other sessions",
			Reveal: revealedGroup(foldName(schema), folded), Samples: lockedRows[folded],
		}
	}
	if foldName(schema) == "information_schema" && informationSchema[folded] || foldName(schema) == "mysql" && timeZones[folded] {
		return true, sqlguard.Ruling{Allowed: true}
	}
	return true, sqlguard.Ruling{
		Code: sqlguard.CodeRelationNotAllowed, Reason: "not on the list of system relations that may be read",
		Reveal: revealedGroup(foldName(schema), folded),
	}
}

// holdsSecrets reports whether a relation of a system schema is known to hold
// secrets, values of user's tables or the text of other sessions.
func holdsSecrets(schema, name string) bool {
	if schema == "sys" {
		name = strings.TrimPrefix(name, "x$")
	}
	secret := secretRelations[schema]
	if secret.names[name] {
		return true
	}
	for _, prefix := range secret.prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// maxMadeRows bounds the number of rows that the name of a sequence table asks for.
const maxMadeRows = 10_000_000

// madeRows returns how many rows MariaDB makes for a table of that name. Every schema has
// virtual tables seq_FROM_to_TO and seq_FROM_to_TO_step_STEP. It returns 0 for other
// names.
func madeRows(name string) uint64 {
	rest, ok := strings.CutPrefix(name, "seq_")
	if !ok {
		return 0
	}
	from, rest, ok := strings.Cut(rest, "_to_")
	if !ok {
		return 0
	}
	to, step, stepped := strings.Cut(rest, "_step_")
	if !stepped {
		step = "1"
	}
	var bounds [3]uint64
	for i, text := range []string{from, to, step} {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0
		}
		bounds[i] = n
	}
	return (max(bounds[0], bounds[1]) - min(bounds[0], bounds[1])) / max(bounds[2], 1)
}

// resembles reports whether the server could treat a name as a given lower-case name. It
// ignores the case of letters, and a character beyond ASCII matches any character.
func resembles(name, lower string) bool {
	i := 0
	for _, r := range name {
		if i == len(lower) {
			return false
		}
		if r < utf8.RuneSelf {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			if r != rune(lower[i]) {
				return false
			}
		}
		i++
	}
	return i == len(lower)
}
