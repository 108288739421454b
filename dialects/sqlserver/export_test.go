package sqlserver

import (
	"maps"
	"slices"

	"github.com/ktxhq/ktx/sqlguard"
)

// KnownWord reports whether the grammar can see that word.
func KnownWord(text string) bool { return lookupWord(text) != nil }

// ReservedWord reports whether a word can be a name only in quotes.
func ReservedWord(text string) bool {
	w := lookupWord(text)
	return w != nil && w.reserved
}

// WordsOfContext returns the words that are names in most places.
func WordsOfContext() []string {
	var out []string
	for text, w := range words {
		if !w.reserved {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// LongestWord is the length of the longest word.
const LongestWord = maxWord

// StatementKeywords returns the leading keywords that are refused.
func StatementKeywords() []string { return slices.Sorted(maps.Keys(statementRules)) }

// Skeleton is the folded form by which system names are recognised.
var Skeleton = skeleton

// Pages returns the page of the reference for each function, own and sys.
func Pages() (own, system map[string]string) {
	own, system = map[string]string{}, map[string]string{}
	for name, fn := range functions {
		own[name] = fn.page
	}
	for name, fn := range systemFunctions {
		system[name] = fn.page
	}
	return own, system
}

// AllowedFunctions returns the functions that may be called by a bare name.
func AllowedFunctions() []string {
	var out []string
	for name, fn := range functions {
		if !fn.denied() {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// ODBCFunctions maps the functions of ODBC to the server's own.
var ODBCFunctions = odbcFunctions

// ForeignFunctions maps functions of other languages to their replacements.
var ForeignFunctions = foreignFunctions

// FunctionListed reports whether a function is in the tables.
func FunctionListed(name string) bool { return functions[name] != nil }

// RefusedConstructs returns the names of constructs that no query may have.
func RefusedConstructs() []string { return slices.Sorted(maps.Keys(constructs)) }

// ConstructCode is the code of a construct's refusal.
func ConstructCode(name string) sqlguard.Code { return constructs[name].code }

// TableHint reports whether a word is a hint of a table.
func TableHint(word string) bool { return tableHintUses[word] != 0 }

// TableWords returns the words that the tables of hints and statements hold.
func TableWords() []string {
	out := slices.Sorted(maps.Keys(tableHintUses))
	for _, list := range plainQueryHints {
		out = append(out, list...)
	}
	// Words that a switch on the text of a word names.
	return append(out, "current_timestamp", "next", "update", "identity")
}

// Instead are the functions of other servers with what to write instead.
func Instead() map[string]string { return wording.Functions }
