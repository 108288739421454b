package mysql

import (
	"fmt"
	"strconv"

	"github.com/ktxhq/ktx/sqlguard"
)

// rewritten lists the functions that the parser makes from syntax, with the words of that
// syntax.
var rewritten = map[string][]string{
	"'tidb`.(dateliteral":      {"date", "d"},
	"'tidb`.(timeliteral":      {"time", "t"},
	"'tidb`.(timestampliteral": {"timestamp", "ts"},
	"json_memberof":            {"member", "member"},
	"char_func":                {"char"},
	"insert_func":              {"insert"},
}

// synonyms are other names of an aggregate function that the parser gives this
// one.
func synonyms(name string) []string {
	switch foldName(name) {
	case "stddev_pop":
		return []string{"std", "stddev"}
	case "var_pop":
		return []string{"variance"}
	case "avg": // which stands for them
		return []string{"median", "percentile_cont", "percentile_disc"}
	default:
		return nil
	}
}

// excessive are the functions whose literals functionExcess judges.
var excessive = map[string]bool{"repeat": true, "lpad": true, "rpad": true, "lpad_oracle": true, "rpad_oracle": true, "space": true}

// excess refuses the call that was stated last if its literals ask for too much.
func (w *walker) excess(args []argument) {
	c := &w.st.Calls[len(w.st.Calls)-1]
	if reason := functionExcess(c.Name, args); reason != "" && c.Ruling.Allowed {
		c.Ruling = sqlguard.Ruling{Code: sqlguard.CodeFunctionNotAllowed, Reason: reason, Excess: true}
	}
}

// literalArgument returns the value of a literal, with the sign before it.
func literalArgument(value any, sign float64) argument {
	a := argument{bytes: 1}
	var number float64
	switch v := value.(type) {
	case int64:
		number = float64(v)
	case uint64:
		number = float64(v)
	case float64:
		number = v
	case string:
		a.bytes = len(v)
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return a
		}
		number = n
	case fmt.Stringer:
		n, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			return a
		}
		number = n
	default:
		return a
	}
	number *= sign
	a.number = &number
	return a
}
