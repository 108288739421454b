package postgres

import (
	"slices"
	"sort"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

//go:generate go run ../internal/gen/pgcatalog generate -facts ../internal/gen/pgcatalog/facts -out .

// functionClass is the table's class of a function. The zero value means unknown, which
// is refused.
type functionClass uint8

const (
	functionUnknown functionClass = iota
	functionDenied
	functionChecked // allowed with some arguments
	functionAllowed
)

// argumentCheck says what the arguments of a functionChecked name must be. A
// call that does not pass is refused with the function's Code and Reason.
type argumentCheck uint8

const (
	// checkNone is the check of every other name.
	checkNone argumentCheck = iota
	// checkSettingName: the first argument is a string literal that
	// settingAllowed accepts.
	checkSettingName
	// checkTypeName: the second argument is a string literal that
	// builtinTypeText accepts.
	checkTypeName
	// checkThreeArguments: the call has exactly three arguments.
	checkThreeArguments
	// checkRepeat: no visible literals make repeat(text, count) larger than
	// maxLiteralText.
	checkRepeat
	// checkPad: no visible literal makes lpad or rpad(text, length, …) larger
	// than maxLiteralText.
	checkPad
	// checkSRID: the call has exactly two arguments, and the second is not visibly of
	// a text type: no string literal, no cast to a text type, no ||.
	checkSRID
	// checkBand: the second argument, if there is one, is visibly no text.
	checkBand
	// checkTopology: the first argument is a string literal. The tables of the topology
	// of this name are noted as read.
	checkTopology
	// checkSeries: no visible literals make generate_series(start, stop, step)
	// longer than maxLiteralRows.
	checkSeries
)

// The bounds of pure but expensive calls with literal arguments. The limits of the
// connection bound values that are computed at run time.
const (
	maxLiteralText = 16 << 20
	maxLiteralRows = 10_000_000
)

// majorSet is a set of major versions: bit 0 is oldestMajor.
type majorSet uint16

// oldestMajor is the oldest major version whose catalogue was read.
const oldestMajor = 13

// allMajors holds every major version whose catalogue was read.
const allMajors majorSet = 1<<(newestMajor-oldestMajor+1) - 1

// has reports whether the set contains the server's major version. Major 0 means
// no server: every non-empty set contains it. A server newer than the newest
// catalogue is judged by that catalogue.
func (s majorSet) has(major int) bool {
	switch {
	case major == 0:
		return s != 0
	case major < oldestMajor:
		return false
	default:
		return s>>(min(major, newestMajor)-oldestMajor)&1 == 1
	}
}

// otherExtensions means the extensions for which the table has only refused names. These
// names come from the manuals of the extensions.
const otherExtensions = "other"

// toldExtensions are extensions whose functions pass only when the server has told that
// it has them. Without a server, names such as first and last may be anybody's.
var toldExtensions = []string{"h3", "h3_postgis", "hll", "postgis_raster", "postgis_topology", "tdigest", "timescaledb"}

// functionFacts is the table's entry for one name.
type functionFacts struct {
	Class     functionClass
	Code      sqlguard.Code // of the refusal; empty when allowed
	Reason    string        // completes a sentence that begins with the name
	Check     argumentCheck
	Extension string // empty for functions of the server itself, or otherExtensions
	majors    majorSet
}

// reasonID indexes functionReasons.
type reasonID uint8

type functionReason struct {
	code sqlguard.Code
	text string
}

// functionEntry is a row of the generated table.
type functionEntry struct {
	name        string
	extension   string
	majors      majorSet
	class       functionClass
	reason      reasonID
	check       argumentCheck
	oneArgument bool // denied or checked, and callable with one argument that SQL can produce
	syntax      bool // the grammar writes calls of it, qualified by pg_catalog, for every server
	opens       bool // reads the file or address that a value of the extension can name
}

// lookupFunction finds the facts about a function, by the decoded schema and name of a
// call. The second result is false when the name is not on the list. The caller then
// refuses the call with function_not_allowed.
//
// Functions of the server and of the reviewed extensions are found unqualified
// or in pg_catalog, and a few helpers in information_schema. A denied member of a
// reviewed extension is found in any schema, because an extension can be installed in
// any schema. A function of otherExtensions is found in public only.
func lookupFunction(schema, name string) (functionFacts, bool) {
	if schema == "information_schema" {
		if _, ok := slices.BinarySearch(informationSchemaFunctions[:], name); ok {
			return functionFacts{Class: functionAllowed, majors: allMajors}, true
		}
	}
	entry, ok := findFunction(name)
	if !ok {
		return lookupQualified(schema, name)
	}
	switch schema {
	case "", "pg_catalog":
	default:
		if facts, denied := lookupQualified(schema, name); denied {
			return facts, true
		}
		if entry.extension == "" || entry.class != functionDenied || entry.extension == otherExtensions && schema != "public" {
			return functionFacts{}, false
		}
	}
	if entry.syntax && schema == "pg_catalog" {
		entry.majors = allMajors
	}
	reason := functionReasons[entry.reason]
	return functionFacts{
		Class:     entry.class,
		Code:      reason.code,
		Reason:    reason.text,
		Check:     entry.check,
		Extension: entry.extension,
		majors:    entry.majors,
	}, true
}

// qualifiedDenial is a row of the generated table of names that are refused in
// one schema only.
type qualifiedDenial struct {
	schema, name string // name may end in a * for any ending
	reason       reasonID
}

// lookupQualified finds a function that is refused in its schema only.
func lookupQualified(schema, name string) (functionFacts, bool) {
	for i := range qualifiedDenials {
		d := &qualifiedDenials[i]
		if d.schema != schema {
			continue
		}
		if prefix, any := strings.CutSuffix(d.name, "*"); d.name == name || any && strings.HasPrefix(name, prefix) {
			reason := functionReasons[d.reason]
			return functionFacts{Class: functionDenied, Code: reason.code, Reason: reason.text, Extension: otherExtensions}, true
		}
	}
	return functionFacts{}, false
}

// oneArgumentDenied says whether a name that is written like a column or attribute may
// call a function that is not allowed. In PostgreSQL x.f and (x).f call f(x) when x has
// no such column. It is true for the denied and the checked names that take one argument
// which SQL can produce.
func oneArgumentDenied(name string) bool {
	entry, ok := findFunction(name)
	return ok && entry.oneArgument
}

func findFunction(name string) (functionEntry, bool) {
	i, ok := sort.Find(len(functionTable), func(i int) int { return strings.Compare(name, functionTable[i].name) })
	if !ok {
		return functionEntry{}, false
	}
	return functionTable[i], true
}
