package emit

import (
	"strconv"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// callType is the type of a function's value.
func (w *writer) callType(e *expr.Expr) expr.Type {
	switch e.Func {
	case "coalesce":
		return w.domain(e.Args...)
	case "nullif":
		return w.typeOf(e.Args[0])
	case "concat", "lower", "substring", "trim", "upper":
		return expr.String
	case "current_date", "date_trunc", "now":
		return expr.Time
	case "abs", "ceil", "extract", "floor", "length", "round", "safe_divide":
		return expr.Number
	default:
		return expr.Unknown
	}
}

// call writes a function.
func (w *writer) call(e *expr.Expr, top bool) {
	switch e.Func {
	case "abs":
		w.function("ABS", e)
	case "ceil":
		if w.dialect == SQLServer {
			w.function("CEILING", e)
			return
		}
		w.function("CEIL", e)
	case "coalesce":
		if len(e.Args) == 1 {
			w.value(e.Args[0], top)
			return
		}
		r := w.mixture(e.Args)
		w.text("COALESCE(")
		for i, a := range e.Args {
			if i > 0 {
				w.text(", ")
			}
			w.mixed(a, r)
		}
		w.text(")")
	case "concat":
		w.concatenation(e, top)
	case "current_date":
		w.today()
	case "date_trunc":
		grain, ok := grains[e.Args[0].Text]
		if !ok {
			w.broken("date_trunc of %q", e.Args[0].Text)
			return
		}
		w.truncated(e.Args[1], grain)
	case "extract":
		w.part(e.Args[0].Text, e.Args[1])
	case "floor":
		w.function("FLOOR", e)
	case "length":
		w.length(e.Args[0], top)
	case "lower":
		w.ofText("LOWER", e)
	case "now":
		if w.dialect == ClickHouse {
			w.text("now()")
			return
		}
		if w.dialect == DuckDB { // where it has a zone
			w.text("CAST(CURRENT_TIMESTAMP AS timestamp)")
			return
		}
		w.text("CURRENT_TIMESTAMP")
	case "nullif":
		r := w.mixture(e.Args)
		w.text("NULLIF(")
		w.mixed(e.Args[0], r)
		w.text(", ")
		w.mixed(e.Args[1], r)
		w.text(")")
	case "round":
		w.round(e)
	case "safe_divide":
		w.quotient(e.Args[0], e.Args[1], top)
	case "substring":
		w.substring(e)
	case "trim":
		w.ofText("TRIM", e)
	case "upper":
		w.ofText("UPPER", e)
	default:
		w.fail(expr.UnsupportedInDialect, "", "the function %q cannot be written for %s", e.Func, products[w.dialect])
	}
}

// function writes a function that every engine calls the same.
func (w *writer) function(name string, e *expr.Expr) {
	w.text(name, "(")
	for i, a := range e.Args {
		if i > 0 {
			w.text(", ")
		}
		w.value(a, true)
	}
	w.text(")")
}

// ofText writes a function of a text. On ClickHouse, LOWER and UPPER know ASCII only.
func (w *writer) ofText(name string, e *expr.Expr) {
	if strictTexts[w.dialect] == "" {
		w.function(name, e)
		return
	}
	switch {
	case w.dialect == ClickHouse && name == "LOWER":
		name = "lowerUTF8"
	case w.dialect == ClickHouse && name == "UPPER":
		name = "upperUTF8"
	}
	w.text(name, "(")
	w.asText(e.Args[0], true)
	w.text(")")
}

// concatenation writes concat, for which NULL is the empty text. CONCAT of MySQL,
// ClickHouse and BigQuery is NULL if an argument is, and SQLite has it from 3.44 on.
func (w *writer) concatenation(e *expr.Expr, top bool) {
	orEmpty := len(e.Args) == 1 || w.dialect == MySQL || w.dialect == SQLite || w.dialect == ClickHouse || w.dialect == BigQuery
	argument := func(a *expr.Expr, top bool) {
		if !orEmpty || a.Op == expr.OpString {
			w.asText(a, top)
			return
		}
		w.text("COALESCE(")
		w.asText(a, true)
		w.text(", ")
		w.str("")
		w.text(")")
	}
	between := ", "
	switch {
	case len(e.Args) == 1:
		argument(e.Args[0], top)
		return
	case w.dialect == SQLite:
		between = " || "
		w.open(top)
	default:
		w.text("CONCAT(")
		top = false
	}
	for i, a := range e.Args {
		if i > 0 {
			w.text(between)
		}
		argument(a, w.dialect != SQLite)
	}
	w.close(top)
}

// length writes the number of characters.
func (w *writer) length(a *expr.Expr, top bool) {
	switch w.dialect {
	case SQLServer: // LEN does not count spaces at the end
		w.open(top)
		w.text("LEN(")
		w.asText(a, false)
		w.text(" + N'.') - 1")
		w.close(top)
		return
	case SQLite, DuckDB:
		w.text("LENGTH(")
	case Postgres, MySQL, BigQuery:
		w.text("CHAR_LENGTH(")
	case ClickHouse:
		w.text("lengthUTF8(")
	}
	w.asText(a, true)
	w.text(")")
}

// substring writes the characters from a position on, which counts from 1.
func (w *writer) substring(e *expr.Expr) {
	switch w.dialect {
	case SQLite, BigQuery:
		w.text("SUBSTR(")
	case ClickHouse:
		w.text("substringUTF8(")
	case Postgres, MySQL, SQLServer, DuckDB:
		w.text("SUBSTRING(")
	}
	w.asText(e.Args[0], true)
	for i, a := range e.Args[1:] {
		n, ok := integer(a)
		if !ok || n < 1-i { // engines disagree on positions below 1
			w.fail(expr.UnsafeExpression, "write positions from 1 on and lengths from 0 on as numbers, as substring(x, 1, 3)", "substring takes a position from 1 on and a length from 0 on")
			return
		}
		w.text(", ", strconv.Itoa(n))
	}
	if len(e.Args) == 2 && w.dialect == SQLServer {
		w.text(", 2147483647")
	}
	w.text(")")
}

// maxPlaces bounds the second argument of round.
const maxPlaces = 15

// round writes round with halves away from zero.
func (w *writer) round(e *expr.Expr) {
	places := 0
	if len(e.Args) == 2 {
		n, ok := integer(e.Args[1])
		if !ok || n < 0 || n > maxPlaces {
			w.fail(expr.UnsafeExpression, "write the number of places as a number, as round(x, 2)", "round takes a number of places from 0 to %d", maxPlaces)
			return
		}
		places = n
	}
	switch w.dialect {
	case Postgres: // a double would be rounded to even, and never to places
		w.text("ROUND(CAST(")
		w.value(e.Args[0], true)
		w.text(" AS numeric), ")
	case MySQL: // as above
		w.text("ROUND(CAST(")
		w.value(e.Args[0], true)
		w.text(" AS DECIMAL(65, 30)), ")
	case SQLite, SQLServer, BigQuery:
		w.text("ROUND(")
		w.value(e.Args[0], true)
		w.text(", ")
	case ClickHouse:
		w.roundClickHouse(e.Args[0], places)
		return
	case DuckDB:
		w.roundDuckDB(e.Args[0], places)
		return
	}
	w.text(strconv.Itoa(places), ")")
}

// cast writes a conversion to one of the four types.
func (w *writer) cast(a *expr.Expr, to expr.Type, top bool) {
	from := w.typeOf(a)
	if from == to && a.Op != expr.OpNull && to != expr.Time && to != expr.Number {
		w.value(a, top)
		return
	}
	as := func(name string) {
		w.text("CAST(")
		w.value(a, true)
		w.text(" AS ", name, ")")
	}
	switch to {
	case expr.Number:
		switch from {
		case expr.Boolean:
			w.bit(a, top)
		case expr.Time:
			w.fail(expr.UnsafeExpression, "use extract, as extract(year from x)", "a time cannot become a number")
		case expr.Unknown, expr.String, expr.Number:
			as(doubles[w.dialect])
		}
	case expr.String:
		w.castText(a, from, as)
	case expr.Boolean:
		w.castBoolean(a, from, top)
	case expr.Time:
		w.castTime(a, from, as)
	case expr.Unknown:
		w.broken("a cast to no type")
	}
}

func (w *writer) castText(a *expr.Expr, from expr.Type, as func(string)) {
	if from == expr.Boolean {
		w.text("CASE WHEN ")
		w.predicate(a, true)
		w.text(" THEN ")
		w.str("true")
		w.text(" WHEN NOT ")
		w.predicate(a, false)
		w.text(" THEN ")
		w.str("false")
		w.text(" END")
		return
	}
	switch w.dialect {
	case Postgres:
		as("text")
	case MySQL:
		as("CHAR")
	case SQLite:
		as("TEXT")
	case ClickHouse:
		as("Nullable(String)")
	case DuckDB:
		as("VARCHAR")
	case BigQuery:
		as("STRING")
	case SQLServer:
		if from != expr.Time {
			as("nvarchar(max)")
			return
		}
		w.text("CONVERT(nvarchar(40), ")
		w.value(a, true)
		w.text(", 121)") // yyyy-mm-dd hh:mi:ss.mmm
	}
}

// castBoolean writes whether a number is not 0, or a text says yes. Other texts than
// these give NULL.
func (w *writer) castBoolean(a *expr.Expr, from expr.Type, top bool) {
	switch from {
	case expr.Time:
		w.fail(expr.UnsafeExpression, "compare it with another time", "a time cannot become a boolean")
	case expr.Unknown:
		if w.dialect == Postgres || w.dialect == DuckDB {
			w.text("CAST(NULL AS boolean)")
			return
		}
		if w.dialect == BigQuery {
			w.text("CAST(NULL AS BOOL)")
			return
		}
		w.text("NULL")
	case expr.String:
		w.text("CASE WHEN LOWER(")
		w.value(a, true)
		w.text(") IN ('true', 't', 'yes', 'y', '1') THEN ")
		w.boolean("true")
		w.text(" WHEN LOWER(")
		w.value(a, true)
		w.text(") IN ('false', 'f', 'no', 'n', '0') THEN ")
		w.boolean("false")
		w.text(" END")
	case expr.Number:
		if w.dialect != SQLServer {
			w.open(top)
			w.value(a, false)
			w.text(" <> 0")
			w.close(top)
			return
		}
		w.text("CAST(")
		w.value(a, true)
		w.text(" AS bit)")
	case expr.Boolean:
		w.value(a, top)
	}
}

func (w *writer) castTime(a *expr.Expr, from expr.Type, as func(string)) {
	if a.Op == expr.OpString {
		m, ok := momentOf(a)
		if !ok {
			w.fail(expr.UnsafeExpression, "write it as '2024-01-31' or '2024-01-31 10:00:00'", "%q is neither a date nor a timestamp", a.Text)
			return
		}
		if m.date {
			m = moment{m.text + " 00:00:00", false}
		}
		w.time(m)
		return
	}
	if from == expr.Number || from == expr.Boolean {
		w.fail(expr.UnsafeExpression, "cast a text or a time", "a number or boolean cannot become a time")
		return
	}
	switch w.dialect {
	case Postgres, DuckDB:
		as("timestamp")
	case MySQL:
		as("DATETIME(6)")
	case SQLServer:
		as("datetime2")
	case SQLite:
		w.readable(func() { w.instant(a) })
	case ClickHouse:
		as("Nullable(DateTime64(6))")
	case BigQuery:
		as(bigDatetime)
	}
}
