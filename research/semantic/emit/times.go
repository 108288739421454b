package emit

import (
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

var grains = map[string]plan.Grain{"hour": plan.Hour, "day": plan.Day, "week": plan.Week, "month": plan.Month, "quarter": plan.Quarter, "year": plan.Year}

// around writes e, as a time, between two texts.
func (w *writer) around(before string, e *expr.Expr, after string) {
	w.text(before)
	w.in(e, expr.Time, true)
	w.text(after)
}

// truncated writes the first instant of the bucket of e: a timestamp for hours, else a
// date.
func (w *writer) truncated(e *expr.Expr, g plan.Grain) {
	switch w.dialect {
	case Postgres, DuckDB:
		w.truncatedPostgres(e, g)
	case MySQL:
		w.truncatedMySQL(e, g)
	case SQLite:
		w.truncatedSQLite(e, g)
	case SQLServer:
		w.truncatedSQLServer(e, g)
	case ClickHouse:
		w.truncatedClickHouse(e, g)
	case BigQuery:
		w.truncatedBigQuery(e, g)
	}
}

// truncatedPostgres makes a timestamp without zone of e first, so that neither dates nor
// timestamps with a zone are truncated in another zone than the session's.
func (w *writer) truncatedPostgres(e *expr.Expr, g plan.Grain) {
	var unit string
	switch g {
	case plan.Hour:
		w.around("DATE_TRUNC('hour', CAST(", e, " AS timestamp))")
		return
	case plan.Day:
		w.around("CAST(", e, " AS date)")
		return
	case plan.Week:
		unit = "week"
	case plan.Month:
		unit = "month"
	case plan.Quarter:
		unit = "quarter"
	case plan.Year:
		unit = "year"
	case plan.NoGrain:
		w.broken("no granularity")
	}
	w.text("CAST(DATE_TRUNC('", unit)
	w.around("', CAST(", e, " AS timestamp)) AS date)")
}

func (w *writer) truncatedMySQL(e *expr.Expr, g plan.Grain) {
	switch g {
	case plan.Hour:
		w.around("CAST(DATE_FORMAT(", e, ", '%Y-%m-%d %H:00:00') AS DATETIME)")
	case plan.Day:
		w.around("CAST(", e, " AS DATE)")
	case plan.Week:
		w.around("DATE_SUB(CAST(", e, " AS DATE), ")
		w.around("INTERVAL WEEKDAY(", e, ") DAY)")
	case plan.Month:
		w.around("CAST(DATE_FORMAT(", e, ", '%Y-%m-01') AS DATE)")
	case plan.Quarter:
		w.around("CAST(CONCAT(DATE_FORMAT(", e, ", '%Y-'), ")
		w.around("LPAD(QUARTER(", e, ") * 3 - 2, 2, '0'), '-01') AS DATE)")
	case plan.Year:
		w.around("CAST(DATE_FORMAT(", e, ", '%Y-01-01') AS DATE)")
	case plan.NoGrain:
		w.broken("no granularity")
	}
}

func (w *writer) truncatedSQLite(e *expr.Expr, g plan.Grain) {
	switch g {
	case plan.Hour:
		w.around("STRFTIME('%Y-%m-%d %H:00:00', ", e, ")")
	case plan.Day:
		w.around("DATE(", e, ")")
	case plan.Week: // the Sunday on or after it, and back to Monday
		w.around("DATE(", e, ", 'weekday 0', '-6 days')")
	case plan.Month:
		w.around("DATE(", e, ", 'start of month')")
	case plan.Quarter:
		w.around("DATE(", e, ", 'start of month', ")
		w.around("'-' || ((STRFTIME('%m', ", e, ") - 1) % 3) || ' months')")
	case plan.Year:
		w.around("DATE(", e, ", 'start of year')")
	case plan.NoGrain:
		w.broken("no granularity")
	}
}

// monday is a Monday, from which weeks are counted. Nothing is before it.
const monday = "CAST('0001-01-01' AS date)"

func (w *writer) truncatedSQLServer(e *expr.Expr, g plan.Grain) {
	switch g {
	case plan.Hour:
		w.around("DATEADD(hour, DATEPART(hour, CAST(", e, " AS datetime2)), ")
		w.around("CAST(CAST(", e, " AS date) AS datetime2(0)))")
	case plan.Day:
		w.around("CAST(", e, " AS date)")
	case plan.Week: // whatever DATEFIRST is
		w.around("DATEADD(day, -(DATEDIFF(day, "+monday+", ", e, ") % 7), ")
		w.around("CAST(", e, " AS date))")
	case plan.Month:
		w.around("DATEFROMPARTS(YEAR(", e, "), ")
		w.around("MONTH(", e, "), 1)")
	case plan.Quarter:
		w.around("DATEFROMPARTS(YEAR(", e, "), ")
		w.around("DATEPART(quarter, ", e, ") * 3 - 2, 1)")
	case plan.Year:
		w.around("DATEFROMPARTS(YEAR(", e, "), 1, 1)")
	case plan.NoGrain:
		w.broken("no granularity")
	}
}

// partForms are what is written around the time, for each dialect. DuckDB's are those of
// PostgreSQL.
var partForms = map[string]map[Dialect][2]string{
	"year": {
		Postgres:  {"CAST(EXTRACT(YEAR FROM ", ") AS integer)"},
		MySQL:     {"YEAR(", ")"},
		SQLite:    {"CAST(STRFTIME('%Y', ", ") AS INTEGER)"},
		SQLServer: {"YEAR(", ")"}, ClickHouse: {"toYear(", ")"}, BigQuery: {"EXTRACT(YEAR FROM CAST(", " AS DATETIME))"},
	},
	"quarter": {
		Postgres:  {"CAST(EXTRACT(QUARTER FROM ", ") AS integer)"},
		MySQL:     {"QUARTER(", ")"},
		SQLite:    {"((STRFTIME('%m', ", ") + 2) / 3)"},
		SQLServer: {"DATEPART(quarter, ", ")"}, ClickHouse: {"toQuarter(", ")"}, BigQuery: {"EXTRACT(QUARTER FROM CAST(", " AS DATETIME))"},
	},
	"month": {
		Postgres:  {"CAST(EXTRACT(MONTH FROM ", ") AS integer)"},
		MySQL:     {"MONTH(", ")"},
		SQLite:    {"CAST(STRFTIME('%m', ", ") AS INTEGER)"},
		SQLServer: {"MONTH(", ")"}, ClickHouse: {"toMonth(", ")"}, BigQuery: {"EXTRACT(MONTH FROM CAST(", " AS DATETIME))"},
	},
	"week": { // of the year that has its Thursday
		Postgres:  {"CAST(EXTRACT(WEEK FROM ", ") AS integer)"},
		MySQL:     {"WEEK(", ", 3)"},
		SQLite:    {"((STRFTIME('%j', ", ", '-3 days', 'weekday 4') - 1) / 7 + 1)"},
		SQLServer: {"DATEPART(iso_week, ", ")"}, ClickHouse: {"toISOWeek(", ")"}, BigQuery: {"EXTRACT(ISOWEEK FROM CAST(", " AS DATETIME))"},
	},
	"day": {
		Postgres:  {"CAST(EXTRACT(DAY FROM ", ") AS integer)"},
		MySQL:     {"DAYOFMONTH(", ")"},
		SQLite:    {"CAST(STRFTIME('%d', ", ") AS INTEGER)"},
		SQLServer: {"DAY(", ")"}, ClickHouse: {"toDayOfMonth(", ")"}, BigQuery: {"EXTRACT(DAY FROM CAST(", " AS DATETIME))"},
	},
	"dow": {
		Postgres:  {"CAST(EXTRACT(DOW FROM ", ") AS integer)"},
		MySQL:     {"(DAYOFWEEK(", ") - 1)"},
		SQLite:    {"CAST(STRFTIME('%w', ", ") AS INTEGER)"},
		SQLServer: {"((DATEDIFF(day, " + monday + ", ", ") + 1) % 7)"}, ClickHouse: {"(toDayOfWeek(", ") % 7)"}, BigQuery: {"(EXTRACT(DAYOFWEEK FROM CAST(", " AS DATETIME)) - 1)"},
	},
	"doy": {
		Postgres:  {"CAST(EXTRACT(DOY FROM ", ") AS integer)"},
		MySQL:     {"DAYOFYEAR(", ")"},
		SQLite:    {"CAST(STRFTIME('%j', ", ") AS INTEGER)"},
		SQLServer: {"DATEPART(dayofyear, ", ")"}, ClickHouse: {"toDayOfYear(", ")"}, BigQuery: {"EXTRACT(DAYOFYEAR FROM CAST(", " AS DATETIME))"},
	},
	"hour": {
		Postgres:  {"CAST(EXTRACT(HOUR FROM CAST(", " AS timestamp)) AS integer)"},
		MySQL:     {"EXTRACT(HOUR FROM CAST(", " AS DATETIME(6)))"},
		SQLite:    {"CAST(STRFTIME('%H', ", ") AS INTEGER)"},
		SQLServer: {"DATEPART(hour, CAST(", " AS datetime2))"}, ClickHouse: {"toHour(CAST(", " AS Nullable(DateTime64(6))))"}, BigQuery: {"EXTRACT(HOUR FROM CAST(", " AS DATETIME))"},
	},
	"minute": {
		Postgres:  {"CAST(EXTRACT(MINUTE FROM CAST(", " AS timestamp)) AS integer)"},
		MySQL:     {"EXTRACT(MINUTE FROM CAST(", " AS DATETIME(6)))"},
		SQLite:    {"CAST(STRFTIME('%M', ", ") AS INTEGER)"},
		SQLServer: {"DATEPART(minute, CAST(", " AS datetime2))"}, ClickHouse: {"toMinute(CAST(", " AS Nullable(DateTime64(6))))"}, BigQuery: {"EXTRACT(MINUTE FROM CAST(", " AS DATETIME))"},
	},
	"second": {
		Postgres:  {"CAST(FLOOR(EXTRACT(SECOND FROM CAST(", " AS timestamp))) AS integer)"},
		MySQL:     {"EXTRACT(SECOND FROM CAST(", " AS DATETIME(6)))"},
		SQLite:    {"CAST(STRFTIME('%S', ", ") AS INTEGER)"},
		SQLServer: {"DATEPART(second, CAST(", " AS datetime2))"}, ClickHouse: {"toSecond(CAST(", " AS Nullable(DateTime64(6))))"}, BigQuery: {"EXTRACT(SECOND FROM CAST(", " AS DATETIME))"},
	},
}

// part writes a part of a time as an integer.
func (w *writer) part(name string, e *expr.Expr) {
	d := w.dialect
	if d == DuckDB {
		d = Postgres
	}
	form, ok := partForms[name][d]
	if !ok {
		w.broken("extract of %q", name)
		return
	}
	w.around(form[0], e, form[1])
}

func (w *writer) today() {
	switch w.dialect {
	case SQLServer:
		w.text("CAST(CURRENT_TIMESTAMP AS date)")
	case ClickHouse:
		w.text("today()")
	case Postgres, MySQL, SQLite, DuckDB, BigQuery:
		w.text("CURRENT_DATE")
	}
}

// instantForm is the form in which SQLite compares times.
const instantForm = "'%Y-%m-%d %H:%M:%f'"

// instant writes a time of SQLite in the one form in which times can be compared as texts.
func (w *writer) instant(e *expr.Expr) {
	if (e.Op == expr.OpAdd || e.Op == expr.OpSub) && w.typeOf(e) == expr.Time {
		a, b := e.Args[0], e.Args[1]
		if a.Op == expr.OpInterval && e.Op == expr.OpAdd {
			a, b = b, a
		}
		w.shiftedInstant(a, b, e.Op == expr.OpSub)
		return
	}
	if m, ok := momentOf(e); ok {
		switch {
		case m.date:
			w.text("'", m.text, " 00:00:00.000'")
			return
		case len(m.text) == len("2006-01-02 15:04:05"):
			w.text("'", m.text, ".000'")
			return
		}
	}
	w.around("STRFTIME("+instantForm+", ", e, ")")
}

// readable writes an instant without fractions of 0.
func (w *writer) readable(instant func()) {
	w.text("RTRIM(RTRIM(")
	instant()
	w.text(", '0'), '.')")
}

// maxShift bounds the number of an interval.
const maxShift = 1_000_000

// steps are the units of SQL that the units of an interval are written in.
var steps = map[string]struct {
	n    int
	unit string
}{
	"year": {1, "year"}, "quarter": {3, "month"}, "month": {1, "month"}, "week": {7, "day"},
	"day": {1, "day"}, "hour": {1, "hour"}, "minute": {1, "minute"}, "second": {1, "second"},
}

// interval returns the steps of an interval.
func (w *writer) interval(i *expr.Expr, minus bool) (n int, unit string, ok bool) {
	step, known := steps[i.Text]
	if !known || len(i.Args) != 1 {
		w.broken("an interval of %q", i.Text)
		return 0, "", false
	}
	n, whole := integer(i.Args[0])
	if !whole || n < -maxShift || n > maxShift {
		w.fail(expr.UnsafeExpression, "write it as interval '1 month'", "an interval takes a whole number from %d to %d", -maxShift, maxShift)
		return 0, "", false
	}
	if minus {
		n = -n
	}
	return n * step.n, step.unit, true
}

// shifted writes a time plus or minus an interval.
func (w *writer) shifted(e, i *expr.Expr, minus, top bool) {
	n, unit, ok := w.interval(i, minus)
	if !ok {
		return
	}
	if e.Op == expr.OpInterval || w.typeOf(e) != expr.Time && e.Op != expr.OpString && e.Op != expr.OpNull {
		w.fail(expr.UnsafeExpression, "add the interval to a time", "an interval is added to something that is no time")
		return
	}
	sign, count := " + ", strconv.Itoa(n)
	if n < 0 {
		sign, count = " - ", strconv.Itoa(-n)
	}
	switch w.dialect {
	case Postgres, DuckDB:
		w.open(top)
		w.in(e, expr.Time, false)
		w.text(sign, "INTERVAL '", count, " ", unit, "'")
		w.close(top)
	case MySQL:
		w.open(top)
		w.in(e, expr.Time, false)
		w.text(sign, "INTERVAL ", count, " ", strings.ToUpper(unit))
		w.close(top)
	case SQLServer:
		after := ")"
		w.text("DATEADD(", unit, ", ", strconv.Itoa(n), ", ")
		if unit == "hour" || unit == "minute" || unit == "second" { // a date takes none of them
			w.text("CAST(")
			after = " AS datetime2))"
		}
		w.in(e, expr.Time, true)
		w.text(after)
	case SQLite:
		w.readable(func() { w.shiftedInstant(e, i, minus) })
	case ClickHouse:
		w.open(top)
		w.roomy(e, unit)
		w.text(sign, "INTERVAL ", count, " ", strings.ToUpper(unit))
		w.close(top)
	case BigQuery:
		w.bigShift(e, n, unit)
	}
}

// shiftedInstant writes a time of SQLite plus or minus an interval. SQLite takes the 31st
// of a shorter month for a day of the next one. Going back by the number of that day gives
// the last day of the month, as the other engines do.
func (w *writer) shiftedInstant(e, i *expr.Expr, minus bool) {
	n, unit, ok := w.interval(i, minus)
	if !ok {
		return
	}
	step := "'" + strconv.Itoa(n) + " " + unit + "s'"
	if n >= 0 {
		step = "'+" + step[1:]
	}
	w.around("STRFTIME("+instantForm+", ", e, ", "+step)
	if unit == "month" || unit == "year" {
		w.around(", CASE WHEN STRFTIME('%d', ", e, ") = ")
		w.around("STRFTIME('%d', ", e, ", "+step+") THEN '+0 days' ELSE ")
		w.around("'-' || STRFTIME('%d', ", e, ", "+step+") || ' days' END")
	}
	w.text(")")
}
