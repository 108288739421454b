package expr

import (
	"cmp"
	"slices"
	"strings"
)

// Function is an entry of the closed list of functions.
type Function struct {
	Name      string // in lower case, as Expr.Func holds it
	Aggregate bool
	Min, Max  int    // number of arguments; Max -1: any number
	Args      []Type // what the arguments must be, the last entry also for all further ones; Unknown: any type
	Result    Type   // Unknown: the type of the arguments, which must be one
	Meaning   string // for the documentation, and where dialects differ for who emits it
}

// Functions is the closed list, sorted by name. A call of anything else is refused.
func Functions() []Function { return slices.Clone(functions) }

// The first argument of date_trunc and extract is always an OpString that stands in
// units or parts. The arguments of round and substring after the first one are always
// OpNumber and integers, as is what percentile has after its first one, from 0 to 1.
var functions = []Function{
	{Name: "abs", Min: 1, Max: 1, Args: []Type{Number}, Result: Number, Meaning: "the number without its sign"},
	{Name: "avg", Aggregate: true, Min: 1, Max: 1, Args: []Type{Number}, Result: Number, Meaning: "the mean, never cut to an integer"},
	{Name: "ceil", Min: 1, Max: 1, Args: []Type{Number}, Result: Number, Meaning: "the least integer that is not less"},
	{Name: "coalesce", Min: 1, Max: -1, Args: []Type{Unknown}, Result: Unknown, Meaning: "the first argument that is not NULL"},
	{Name: "concat", Min: 1, Max: -1, Args: []Type{String}, Result: String, Meaning: "the texts joined; NULL counts as the empty text"},
	{Name: "count", Aggregate: true, Min: 0, Max: 1, Args: []Type{Unknown}, Result: Number, Meaning: "the number of values that are not NULL; count(*) of rows; count(DISTINCT x), also count_distinct(x), of different values"},
	{Name: "current_date", Min: 0, Max: 0, Result: Time, Meaning: "the day of the server's clock, as a date"},
	{Name: "date_trunc", Min: 2, Max: 2, Args: []Type{String, Time}, Result: Time, Meaning: "the first instant of the year, quarter, month, week (Monday), day, or hour; CAST(x AS date) is date_trunc('day', x)"},
	{Name: "extract", Min: 2, Max: 2, Args: []Type{String, Time}, Result: Number, Meaning: "a whole number: year, quarter, month, week (ISO), day, dow (0 Sunday to 6 Saturday), doy, hour, minute, second"},
	{Name: "floor", Min: 1, Max: 1, Args: []Type{Number}, Result: Number, Meaning: "the greatest integer that is not greater"},
	{Name: "length", Min: 1, Max: 1, Args: []Type{String}, Result: Number, Meaning: "the number of characters, not bytes"},
	{Name: "lower", Min: 1, Max: 1, Args: []Type{String}, Result: String, Meaning: "the text in lower case"},
	{Name: "max", Aggregate: true, Min: 1, Max: 1, Args: []Type{Unknown}, Result: Unknown, Meaning: "the greatest value"},
	{Name: "median", Aggregate: true, Min: 1, Max: 1, Args: []Type{Number}, Result: Number, Meaning: "percentile(x, 0.5)"},
	{Name: "min", Aggregate: true, Min: 1, Max: 1, Args: []Type{Unknown}, Result: Unknown, Meaning: "the least value"},
	{Name: "now", Min: 0, Max: 0, Result: Time, Meaning: "the server's clock, as a timestamp"},
	{Name: "nullif", Min: 2, Max: 2, Args: []Type{Unknown}, Result: Unknown, Meaning: "NULL if both are equal, else the first"},
	{Name: "percentile", Aggregate: true, Min: 2, Max: 2, Args: []Type{Number, Number}, Result: Number, Meaning: "the value below which that part of the values lies, from 0 to 1, interpolated"},
	{Name: "round", Min: 1, Max: 2, Args: []Type{Number, Number}, Result: Number, Meaning: "to so many decimal places (none if left out), halves away from zero"},
	{Name: "safe_divide", Min: 2, Max: 2, Args: []Type{Number, Number}, Result: Number, Meaning: "exact division, NULL if the divisor is 0"},
	{Name: "substring", Min: 2, Max: 3, Args: []Type{String, Number, Number}, Result: String, Meaning: "from a position, which counts from 1, so many characters (to the end if left out)"},
	{Name: "sum", Aggregate: true, Min: 1, Max: 1, Args: []Type{Number}, Result: Number, Meaning: "the sum"},
	{Name: "trim", Min: 1, Max: 1, Args: []Type{String}, Result: String, Meaning: "without spaces at both ends"},
	{Name: "upper", Min: 1, Max: 1, Args: []Type{String}, Result: String, Meaning: "the text in upper case"},
}

func functionNamed(name string) (Function, bool) {
	i, ok := slices.BinarySearchFunc(functions, name, func(f Function, s string) int { return cmp.Compare(f.Name, s) })
	if !ok {
		return Function{}, false
	}
	return functions[i], true
}

// units are what date_trunc takes.
var units = []string{"year", "quarter", "month", "week", "day", "hour"}

// parts are what extract takes.
var parts = []string{"year", "quarter", "month", "week", "day", "dow", "doy", "hour", "minute", "second"}

// intervals are the units of an interval.
var intervals = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second"}

// spellings are further names of functions with the same meaning.
var spellings = map[string]string{
	"average":           "avg",
	"ceiling":           "ceil",
	"char_length":       "length",
	"character_length":  "length",
	"current_timestamp": "now",
	"date_part":         "extract",
	"ifnull":            "coalesce",
	"len":               "length",
	"nvl":               "coalesce",
	"substr":            "substring",
}

// windows are functions that mean nothing without OVER.
var windows = map[string]bool{
	"cume_dist": true, "dense_rank": true, "first_value": true, "lag": true, "last_value": true, "lead": true,
	"nth_value": true, "ntile": true, "percent_rank": true, "rank": true, "row_number": true,
}

// instead says what to write for functions that people know from SQL and that the list
// does not have.
var instead = map[string]string{
	"any":             "write IN (…) with the values",
	"array":           "write IN (…) with the values",
	"array_agg":       "ask for the column as a dimension",
	"count_if":        "write count(*) FILTER (WHERE …)",
	"countif":         "write count(*) FILTER (WHERE …)",
	"date":            "write CAST(x AS date), or DATE '2024-01-31' for a fixed day",
	"date_add":        "write x + INTERVAL '1 day'",
	"date_format":     "write date_trunc('month', x), or extract(month FROM x)",
	"date_sub":        "write x - INTERVAL '1 day'",
	"dateadd":         "write x + INTERVAL '1 day'",
	"datediff":        "compare with an interval: a > b + INTERVAL '7 days'; or declare a column for the difference in the source's sql",
	"datepart":        "write extract(month FROM x)",
	"decode":          "write CASE WHEN … THEN … ELSE … END",
	"getdate":         "write now()",
	"greatest":        "write CASE WHEN a > b THEN a ELSE b END",
	"group_concat":    "ask for the column as a dimension",
	"if":              "write CASE WHEN … THEN … ELSE … END",
	"iif":             "write CASE WHEN … THEN … ELSE … END",
	"isnull":          "write coalesce(a, b), or a IS NULL",
	"least":           "write CASE WHEN a < b THEN a ELSE b END",
	"left":            "write substring(x, 1, n)",
	"mid":             "write substring(x, start, length)",
	"mod":             "write a % b",
	"percentile_cont": "write percentile(x, 0.9)",
	"percentile_disc": "write percentile(x, 0.9)",
	"strftime":        "write date_trunc('month', x), or extract(month FROM x)",
	"string_agg":      "ask for the column as a dimension",
	"sumif":           "write sum(x) FILTER (WHERE …)",
	"sysdate":         "write now()",
	"to_char":         "write date_trunc('month', x), or extract(month FROM x)",
	"to_date":         "write CAST(x AS date)",
	"try_cast":        "write CAST(x AS numeric)",
}

// unknownFunction is the refusal of a function that the list does not have.
func unknownFunction(t token) *Error {
	if windows[t.lower] {
		return &Error{Class: WindowFunction, Message: "the window function " + t.lower + " is not part of expressions", Hint: "ask for measures by dimensions, with order_by and limit", Pos: t.pos}
	}
	e := refuse(t.pos, instead[t.lower], "the function %s is not known", excerpt(t.text, 40))
	names := []string{"count_distinct", "date_part", "year", "month", "day"}
	for _, f := range functions {
		names = append(names, f.Name)
	}
	e.Near = Near(t.lower, names)
	if e.Hint == "" {
		scalar, aggregate := []string{}, []string{}
		for _, f := range functions {
			if f.Aggregate {
				aggregate = append(aggregate, f.Name)
			} else {
				scalar = append(scalar, f.Name)
			}
		}
		e.Hint = "known are the aggregates " + strings.Join(aggregate, ", ") + " and the functions " + strings.Join(scalar, ", ")
	}
	return e
}
