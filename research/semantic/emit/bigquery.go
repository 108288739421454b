package emit

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// This file has what only BigQuery needs. DATE, DATETIME and TIMESTAMP are types that it
// neither compares nor mixes, so times of different types are cast to DATETIME, which for a
// TIMESTAMP is that of UTC. A column that is compared with its own type stays as it is,
// because BigQuery reads all partitions of a column that is cast.

// The forms of times, which are the names of BigQuery's types. "" is unknown.
const (
	bigDate      = "DATE"
	bigDatetime  = "DATETIME"
	bigTimestamp = "TIMESTAMP"
)

// bigForm returns the form of a time.
func (w *writer) bigForm(e *expr.Expr) string {
	switch e.Op { //nolint:exhaustive // the form of the others is unknown
	case expr.OpDate, expr.OpString:
		if m, ok := momentOf(e); ok && m.date {
			return bigDate
		}
		return bigDatetime
	case expr.OpTimestamp:
		return bigDatetime
	case expr.OpField, expr.OpPresent:
		switch native := strings.ToUpper(w.native(e)); native {
		case bigDate, bigDatetime, bigTimestamp:
			return native
		}
	case expr.OpAtom:
		if a := &w.plan.Atoms[e.Index]; len(a.Args) > 0 && (a.Func == "min" || a.Func == "max") {
			return w.bigForm(a.Args[0])
		}
	case expr.OpCast:
		return bigDatetime
	case expr.OpCase:
		var results [8]*expr.Expr
		return w.bigCommon(caseResults(e, results[:0]))
	case expr.OpAdd, expr.OpSub:
		a, b := e.Args[0], e.Args[1]
		if a.Op == expr.OpInterval {
			a, b = b, a
		}
		if b.Op == expr.OpInterval {
			return bigShifted(w.bigForm(a), steps[b.Text].unit)
		}
	case expr.OpCall:
		switch e.Func {
		case "current_date":
			return bigDate
		case "now":
			return bigTimestamp
		case "date_trunc":
			if grains[e.Args[0].Text] == plan.Hour {
				return bigDatetime
			}
			return bigDate
		case "coalesce", "nullif":
			if len(e.Args) == 1 {
				return w.bigForm(e.Args[0])
			}
			return w.bigCommon(e.Args) // as mixture has it
		}
	default:
	}
	return ""
}

// bigShifted is the form of a time plus steps of a unit. A DATE takes no hours, and a
// TIMESTAMP no months.
func bigShifted(form, unit string) string {
	hours := unit == "hour" || unit == "minute" || unit == "second"
	if form == bigDate && !hours || form == bigTimestamp && (hours || unit == "day") {
		return form
	}
	return bigDatetime
}

// bigCommon returns the form in which all times of a list can be written.
func (w *writer) bigCommon(args []*expr.Expr) string {
	form, first := "", true
	for _, a := range args {
		if _, literal := momentOf(a); literal || a.Op == expr.OpNull {
			continue
		}
		if f := w.bigForm(a); first {
			form, first = f, false
		} else if f != form {
			return bigDatetime
		}
	}
	for _, a := range args {
		m, literal := momentOf(a)
		if literal && form == bigDate && !m.midnight() || literal && first && !m.date {
			return bigDatetime
		}
	}
	switch {
	case form != "":
		return form
	case first:
		return bigDate // literals alone
	default:
		return bigDatetime
	}
}

// bigIn writes a time in a form.
func (w *writer) bigIn(e *expr.Expr, form string, top bool) {
	m, literal := momentOf(e)
	switch {
	case e.Op == expr.OpNull:
		w.text("CAST(NULL AS ", form, ")")
	case literal && form == bigDate:
		w.text("DATE '", m.text[:10], "'")
	case literal:
		text := m.text
		if m.date {
			text += " 00:00:00"
		}
		if form == bigTimestamp {
			text += "+00"
		}
		w.text(form, " '", text, "'")
	case e.Op == expr.OpString || w.bigForm(e) == form:
		w.in(e, expr.Time, top)
	default:
		w.text("CAST(")
		w.in(e, expr.Time, true)
		w.text(" AS ", form, ")")
	}
}

func (w *writer) truncatedBigQuery(e *expr.Expr, g plan.Grain) {
	unit := ""
	switch g {
	case plan.Hour:
		w.text("DATETIME_TRUNC(")
		w.bigIn(e, bigDatetime, true)
		w.text(", HOUR)")
		return
	case plan.Day:
		w.bigDay(e)
		return
	case plan.Week:
		unit = "ISOWEEK"
	case plan.Month:
		unit = "MONTH"
	case plan.Quarter:
		unit = "QUARTER"
	case plan.Year:
		unit = "YEAR"
	case plan.NoGrain:
		w.broken("no granularity")
	}
	w.text("DATE_TRUNC(")
	w.bigDay(e)
	w.text(", ", unit, ")")
}

// bigDay writes the day of a time.
func (w *writer) bigDay(e *expr.Expr) {
	if w.bigForm(e) == bigDate {
		w.in(e, expr.Time, true)
		return
	}
	w.around("CAST(", e, " AS DATE)")
}

// bigShift writes a time plus n steps of a unit.
func (w *writer) bigShift(e *expr.Expr, n int, unit string) {
	form := bigShifted(w.bigForm(e), unit)
	w.text(form, "_ADD(")
	w.bigIn(e, form, true)
	w.text(", INTERVAL ", strconv.Itoa(n), " ", strings.ToUpper(unit), ")")
}

// bigNamed reports whether BigQuery can have a name. In a table's name a dot begins another
// part, and a star stands for many tables. Reference: Flexible column names.
func bigNamed(s string) bool {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return true // another error says so
	}
	return !strings.ContainsAny(s, "!\"$()*,./;?@[\\]^`{}~") && !strings.ContainsFunc(s, unicode.IsControl)
}

// bigString writes a literal, in which a backslash has a meaning and quotes are not doubled.
func (w *writer) bigString(s string) {
	w.b = append(w.b, '\'')
	for i := range len(s) {
		switch c := s[i]; c {
		case '\'', '\\':
			w.b = append(w.b, '\\', c)
		case '\n':
			w.b = append(w.b, '\\', 'n')
		case '\r':
			w.b = append(w.b, '\\', 'r')
		default:
			w.b = append(w.b, c)
		}
	}
	w.b = append(w.b, '\'')
}

// bigAliases returns names for the columns of the result. Those of BigQuery have letters,
// digits and underscores, and differ in more than the case of letters.
func bigAliases(p *plan.Plan) []string {
	var out []string
	used := map[string]bool{}
	add := func(name string) {
		plain := strings.Map(func(r rune) rune {
			if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return '_'
		}, name)
		const longest = 200 // of 300, with room for a number
		if plain = plain[:min(len(plain), longest)]; plain == "" || plain[0] >= '0' && plain[0] <= '9' || strings.HasPrefix(plain, "_") {
			plain = "c" + plain
		}
		unique := plain
		for n := 2; used[strings.ToLower(unique)]; n++ {
			unique = plain + "_" + strconv.Itoa(n)
		}
		used[strings.ToLower(unique)] = true
		out = append(out, unique)
	}
	for i := range p.Dimensions {
		add(p.Dimensions[i].Name)
	}
	for i := range p.Measures {
		add(p.Measures[i].Name)
	}
	return out
}

// resultName writes the name of a column of the result, the nth.
func (w *writer) resultName(n int, name string) {
	if w.dialect != BigQuery {
		w.name(name)
		return
	}
	if w.results == nil {
		w.results = bigAliases(w.plan)
	}
	w.name(w.results[n])
}
