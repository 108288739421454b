package mysql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// function is the tables' entry for one name.
type function struct {
	mysql, mariadb span
	code           sqlguard.Code // why it is refused, "" when it is allowed
	reason         string
	// most is the largest harmless number of arguments, or -1 when every number
	// is harmless.
	most int
}

// span is a range of releases, from since to before until. If until is 0, the range has no
// end. The zero value is empty: no release has the name.
type span struct {
	since, until release
	known        bool
}

func (s span) has(v release) bool {
	return s.known && v >= s.since && (s.until == 0 || v < s.until)
}

// parseSpan reads "" (never), "*" (always), "8.0.4" (since then), "* <8.0" and
// "5.7 <8.0" (until then).
func parseSpan(text string) span {
	if text == "" {
		return span{}
	}
	since, until, _ := strings.Cut(text, " <")
	s := span{known: true, until: tableRelease(until)}
	if since != "*" {
		s.since = tableRelease(since)
	}
	return s
}

// tableRelease reads a version as the tables write it, 0 for "".
func tableRelease(text string) release {
	v, parts := release(0), strings.Split(text, ".")
	for i := range 3 {
		v *= 100
		if i < len(parts) {
			n, _ := strconv.Atoi(parts[i])
			v += release(n)
		}
	}
	return v
}

// functions lists the servers' own functions, by name in lower case.
var functions = makeFunctions()

func makeFunctions() map[string]function {
	all := make(map[string]function, 800)
	for _, page := range functionPages {
		f := function{mysql: parseSpan(page.mysql), mariadb: parseSpan(page.mariadb), most: -1}
		for name := range strings.FieldsSeq(page.names) {
			all[name] = f
		}
	}
	for _, d := range deniedFunctions {
		always := span{known: true}
		f := function{mysql: always, mariadb: always, code: d.code, reason: d.reason, most: -1}
		for name := range strings.FieldsSeq(d.names) {
			all[name] = f
		}
	}
	for name, s := range settersByArgument {
		f := all[name]
		f.most, f.code, f.reason = s.most, s.code, s.reason
		all[name] = f
	}
	return all
}

// functionRuling decides on the call of a function by its name and the number of
// its arguments, which is -1 when the syntax is not that of a call. It reports
// whether the name belongs to the server, so that no policy can allow it. A name
// that the server's release does not have is a stored or loadable function and
// does not belong to the server. A name that is refused in any release of either
// product is refused in all.
//
// A name with a schema is a stored function, except in the schemas in which
// MariaDB keeps its own functions, and in sys.
func (d Dialect) functionRuling(schema, name string, args int) (ruling sqlguard.Ruling, builtin bool) {
	folded := foldName(name)
	switch s := foldName(schema); {
	case s == "":
	case nativeSchemas[s]:
		// Only MariaDB has these schemas. On another server their content is
		// unknown.
		if d.product != productMariaDB {
			if f := functions[folded]; f.code != "" {
				return f.ruling(args), true
			}
			return sqlguard.Ruling{Reason: "MariaDB keeps functions of its own in this schema"}, true
		}
	case systemSchema(s):
		r := sqlguard.Ruling{Code: sqlguard.CodeFunctionAdmin, Reason: "it belongs to a schema of the server's own"}
		if foldName(s) == "sys" {
			r.Reveal = revealedFunctions[folded]
		}
		return r, true
	default:
		if sequenceNames[folded] {
			return sqlguard.Ruling{Code: sqlguard.CodeFunctionSideEffect, Reason: "it moves a sequence"}, true
		}
		return sqlguard.Ruling{}, false
	}
	if ruling, own := d.profile.ruling(folded); own {
		return ruling, true
	}
	f, listed := functions[folded]
	if !listed {
		for _, p := range deniedPrefixes {
			if strings.HasPrefix(folded, p.prefix) {
				return sqlguard.Ruling{Code: p.code, Reason: p.reason}, true
			}
		}
		return sqlguard.Ruling{}, false
	}
	if f.code == "" && (!f.in(d) || !arity(folded, args)) {
		return sqlguard.Ruling{Reason: "this server has no built-in function of that name, so it is user-defined"}, false
	}
	return f.ruling(args), true
}

// in reports whether the server that d reads for has the function.
func (f *function) in(d Dialect) bool {
	if d.product == productMariaDB {
		return f.mariadb.has(d.release())
	}
	return f.mysql.has(d.release())
}

// arity reports whether a call with that many arguments calls the server's own function.
func arity(name string, args int) bool {
	bounds, bounded := arities[name]
	return !bounded || args < 0 || bounds.fewest <= args && args <= bounds.most
}

// ruling decides on a call with that many arguments.
func (f *function) ruling(args int) sqlguard.Ruling {
	if f.code == "" || f.most >= 0 && args >= 0 && args <= f.most {
		return sqlguard.Ruling{Allowed: true}
	}
	return sqlguard.Ruling{Code: f.code, Reason: f.reason}
}

// adherent reports whether the server reads name as its own function only if the bracket
// follows directly. With white space before the bracket, the statement calls a stored
// function of that name.
func (d Dialect) adherent(name string) bool {
	folded := foldName(name)
	if d.product != productMariaDB {
		return adherentNames[folded]
	}
	return adherentNames[folded] && folded != "sysdate" || mariadbAdherentNames[folded] ||
		earlyAdherentNames[folded] && d.release() < 1011_00
}

// wordOnly reports whether name is a function only as a word of a server's grammar. If the
// name is in quotes, the statement calls a stored function of that name.
func wordOnly(name string) bool {
	folded := foldName(name)
	return wordNames[folded] || adherentNames[folded] || mariadbAdherentNames[folded] || earlyAdherentNames[folded]
}

// argument has the visible facts about one argument of a call.
type argument struct {
	number *float64 // the value of a numeric literal with its sign
	bytes  int      // the length of a string literal, 1 for any other argument
}

// maxResultBytes bounds the length of the result that the literals of a call ask for.
const maxResultBytes = 16 << 20

// functionExcess returns the reason when the literals of a call ask the server for too
// much work, else "".
func functionExcess(name string, args []argument) string {
	count, unit := -1, 1
	switch foldName(name) {
	case "repeat":
		count = 1
		if len(args) > 0 {
			unit = max(args[0].bytes, 1)
		}
	case "lpad", "rpad", "lpad_oracle", "rpad_oracle":
		count = 1
	case "space":
		count = 0
	}
	if count < 0 || count >= len(args) || args[count].number == nil {
		return ""
	}
	if *args[count].number*float64(unit) > maxResultBytes {
		return fmt.Sprintf("it makes a string of more than %d MiB", maxResultBytes>>20)
	}
	return ""
}

// foldName folds the case of ASCII letters, as the servers do for their own names.
func foldName(name string) string {
	for i := range len(name) {
		if 'A' <= name[i] && name[i] <= 'Z' {
			b := []byte(name)
			for j := i; j < len(b); j++ {
				if 'A' <= b[j] && b[j] <= 'Z' {
					b[j] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return name
}
