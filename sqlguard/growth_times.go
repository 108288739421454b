package sqlguard

import (
	"strconv"
	"strings"
)

// units are the words for spans of time, in days: at most and at least. A unit that has a
// longer one in its name stands before it.
var units = []struct {
	word        string
	days, least float64
}{
	{"microsecond", 1.0 / 86400e6, 1.0 / 86400e6},
	{"millisecond", 1.0 / 86400e3, 1.0 / 86400e3},
	{"second", 1.0 / 86400, 1.0 / 86400},
	{"sec", 1.0 / 86400, 1.0 / 86400},
	{"minute", 1.0 / 1440, 1.0 / 1440},
	{"min", 1.0 / 1440, 1.0 / 1440},
	{"hour", 1.0 / 24, 1.0 / 24},
	{"day", 1, 1},
	{"week", 7, 7},
	{"quarter", 92, 90},
	{"month", 31, 28},
	{"mon", 31, 28},
	{"year", 366, 365},
	{"decade", 3660, 3650},
	{"century", 36600, 36500},
	{"centuries", 36600, 36500},
	{"millennium", 366000, 365000},
	{"millennia", 366000, 365000},
}

// shortUnits are the other spellings of units (manual of PostgreSQL, section 8.5.4).
var shortUnits = map[string]string{
	"us": "microsecond", "usec": "microsecond", "usecs": "microsecond", "usecond": "microsecond", "useconds": "microsecond", "microsecon": "microsecond",
	"ms": "millisecond", "msec": "millisecond", "msecs": "millisecond", "msecond": "millisecond", "mseconds": "millisecond", "millisecon": "millisecond",
	"s": "second", "m": "minute", "h": "hour", "hr": "hour", "hrs": "hour", "d": "day", "w": "week", "qtr": "quarter", "y": "year", "yr": "year", "yrs": "year",
	"dec": "decade", "decs": "decade", "c": "century", "cent": "century", "mil": "millennium", "mils": "millennium",
}

// unitOf returns how long a unit is, at most and at least, in days.
func unitOf(word string) (days, least float64, ok bool) {
	if long, short := shortUnits[word]; short {
		word = long
	}
	for _, u := range units {
		if strings.HasPrefix(word, u.word) {
			return u.days, u.least, true
		}
	}
	return 0, 0, false
}

// instantOf is the shortest time that a server tells from none, in days. It stands for a
// step that no literal says.
const instantOf = 1.0 / 86400e6

// The years that count for the present and for a time that comes from data, when a series
// goes from there to a date.
const (
	startOfNow, endOfTime = 2020, 2100
	startOfData           = 1970
)

// yearDays is how many days the year of instant has.
const yearDays = 372

// length is how long an interval is, in days: at most and at least, whatever its sign is.
type length struct{ most, least float64 }

// readInterval reads the text of an interval. sure says that it is nothing else, so that a
// number may lack its unit.
func readInterval(text string, sure bool) (l length, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if body, iso := strings.CutPrefix(text, "p"); iso && body != "" && (body[0] == 't' || isDigit(body[0])) {
		return readISO(body)
	}
	signs, named := "", false
	add := func(most, least float64, sign string) {
		l.most, l.least, ok = l.most+most, l.least+least, true
		if !strings.Contains(signs, sign) {
			signs += sign
		}
	}
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == ' ' || c == '\t' || c == '@' || c == ',':
			at++
		case isDigit(c) || c == '.' || c == '-' || c == '+':
			sign := "+"
			if c == '-' || c == '+' {
				sign = string(c)
				at++
			}
			from := at
			for at < len(text) && (isDigit(text[at]) || text[at] == '.' || text[at] == ':' || text[at] == '-' && at > from) {
				at++
			}
			field := text[from:at]
			for at < len(text) && text[at] == ' ' {
				at++
			}
			word := letters(text[at:])
			switch parts := strings.FieldsFunc(field, func(r rune) bool { return r == ':' || r == '-' }); {
			case len(parts) == 0:
				return length{}, false
			case strings.Contains(field, ":"):
				if !sure && !named {
					return length{}, false
				}
				h, minutes, s := numberOf(parts[0]), 0.0, 0.0
				if len(parts) > 1 {
					minutes = numberOf(parts[1])
				}
				if len(parts) > 2 {
					s = numberOf(parts[2])
				}
				least := h/24 + minutes/1440 + s/86400
				if len(parts) == 2 { // or minutes and seconds
					least = h/1440 + minutes/86400
				}
				add(h/24+minutes/1440+s/86400, least, sign)
			case len(parts) == 2 && sure && !strings.Contains(field, "."):
				add(numberOf(parts[0])*366+numberOf(parts[1])*31, numberOf(parts[0])*365+numberOf(parts[1])*28, sign)
			case len(parts) > 1:
				return length{}, false
			case word == "":
				// The last number counts seconds, one before a time of the day counts days.
				if !sure && !named {
					return length{}, false
				}
				n := numberOf(field)
				add(n, n/86400, sign)
			default:
				days, least, known := unitOf(word)
				if !known {
					return length{}, false
				}
				at += len(word)
				named = true
				add(numberOf(field)*days, numberOf(field)*least, sign)
			}
		default:
			word := letters(text[at:])
			days, least, known := unitOf(word)
			switch {
			case word == "ago":
			case !known:
				return length{}, false
			default:
				named = true
				add(days, least, "+")
			}
			at += max(len(word), 1)
		}
	}
	if len(signs) > 1 { // the parts may be nearly nothing together
		l.least = instantOf
	}
	l.least = max(l.least, instantOf)
	return l, ok
}

// readISO reads an interval such as P1Y2M3DT4H5M6S, without its first letter.
func readISO(text string) (l length, ok bool) {
	clock := false
	for at := 0; at < len(text); {
		if text[at] == 't' {
			clock = true
			at++
			continue
		}
		from := at
		for at < len(text) && (isDigit(text[at]) || text[at] == '.') {
			at++
		}
		if at == from || at == len(text) { // the other form of ISO 8601, or a sign
			return length{most: boundless, least: instantOf}, true
		}
		word := text[at : at+1]
		switch {
		case word == "m" && !clock:
			word = "month"
		case word == "h" || word == "m" || word == "s" || word == "d" || word == "w" || word == "y":
		default:
			return length{}, false
		}
		days, least, _ := unitOf(word)
		l.most, l.least, ok = l.most+numberOf(text[from:at])*days, l.least+numberOf(text[from:at])*least, true
		at++
	}
	l.least = max(l.least, instantOf)
	return l, ok
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// letters returns the word at the beginning of a text.
func letters(text string) string {
	for i := range len(text) {
		if c := text[i]; c < 'a' || c > 'z' {
			return text[:i]
		}
	}
	return text
}

// moment is what a bound or the step of a series says.
type moment struct {
	first, last float64 // of its literal dates, in days of instant
	dated       bool    // it has literal dates
	now         bool    // it has the present
	data        bool    // it has something that no literal says
	spans       length  // of its intervals
	interval    bool    // it has an interval
	blurred     bool    // something changes the intervals that is not read
}

// date takes a date that is written as a literal.
func (o *moment) date(first, last float64) {
	if !o.dated {
		o.first, o.last, o.dated = first, last, true
		return
	}
	o.first, o.last = min(o.first, first), max(o.last, last)
}

func (o *moment) year(n float64) { o.date(n*yearDays, (n+1)*yearDays) }

// dates reads the dates of a text. It knows years by their digits, however the rest of the
// date is written.
func (o *moment) dates(text string) {
	text = strings.ToLower(strings.TrimSpace(text))
	plain := strings.TrimSuffix(text, "z")
	if len(plain) > 10 && plain[10] == 't' {
		plain = plain[:10] + " " + plain[11:]
	}
	if seconds, ok := instant(plain); ok {
		o.date(seconds/86400, seconds/86400)
		return
	}
	switch {
	case strings.Contains(text, "infinity"):
		o.date(0, boundless)
		return
	case strings.Contains(text, "epoch"):
		o.year(startOfData)
	case text == "now" || text == "today" || text == "tomorrow" || text == "yesterday":
		o.now = true
	}
	clock := false
	for at := 0; at < len(text); {
		if !isDigit(text[at]) {
			clock = clock || text[at] == ':'
			at++
			continue
		}
		from := at
		for at < len(text) && isDigit(text[at]) {
			at++
		}
		before, digits := byte(' '), text[from:at]
		if from > 0 {
			before = text[from-1]
		}
		switch {
		case before == 'j': // a Julian day, from the year 4713 before Christ
			o.year(numberOf(digits)/365 - 4714)
			continue
		case len(digits) < 3, before == '.', before == ':', before == '+', before == '-' && clock: // or the offset of a time zone
			continue
		case len(digits) >= 8:
			o.year(numberOf(digits[:len(digits)-4]))
		default:
			o.year(numberOf(digits))
		}
		if strings.HasSuffix(text, "bc") {
			o.date(-numberOf(digits)*yearDays, 0)
		}
	}
}

// presents are the words for the present.
var presents = words("now current_date current_timestamp localtimestamp clock_timestamp statement_timestamp transaction_timestamp today current_datetime get_current_timestamp current_localtimestamp")

// constructs are functions that make a date of the numbers that stand in them, the year
// first; the others here keep the date that they get, or read it.
var (
	constructs = words("make_date make_timestamp make_timestamptz date datetime timestamp datefromparts datetimefromparts datetime2fromparts")
	keeps      = words("cast try_cast date_trunc date_add date_sub timestamp_add timestamp_sub timestamp_trunc datetime_add datetime_sub datetime_trunc to_timestamp to_date make_interval interval timestamptz timezone coalesce greatest least parse_date parse_timestamp timestamp_seconds justify_days justify_hours justify_interval")
)

// intervalParts are the arguments of make_interval in their order.
var intervalParts = []string{"year", "month", "week", "day", "hour", "min", "sec"}

// moment reads a bound of a series, or its step. num is a bound for the numbers in it.
func (m *meter) moment(start, end int, step bool, num float64) moment {
	var o moment
	type call struct {
		name     string
		argument int
	}
	calls := []call{{}}
	scale, plus, times, joined := 1.0, false, false, false
	factor := 1.0 // of what is multiplied
	add := func(l length) {
		o.spans.most, o.spans.least, o.interval = min(o.spans.most+l.most, boundless), o.spans.least+l.least, true
	}
	for i := start; i < end; i++ {
		in := &calls[len(calls)-1]
		before := ""
		if i > start {
			before = m.text(i - 1)
		}
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others say nothing
		case TokenOpen:
			name := ""
			if i > start && m.isName(i-1) {
				name = m.name(i - 1)
			}
			calls = append(calls, call{name: name})
		case TokenClose:
			if len(calls) > 1 {
				calls = calls[:len(calls)-1]
			}
		case TokenComma:
			in.argument++
		case TokenString:
			text := t.Text(m.sql)
			body := bodyOf(text)
			if strings.Contains(body, `\`) || m.isText(i+1) { // digits as escapes, or in two parts
				o.blurred, o.spans.most = true, boundless
			}
			l, ok := readInterval(body, step || m.inInterval(i))
			if days, least, known := unitOf(m.word(i + 1)); known && m.word(i-1) == "interval" { // INTERVAL '1' DAY
				if n, err := strconv.ParseFloat(strings.TrimSpace(body), 64); err == nil {
					l, ok = length{max(n, -n) * days, max(n, -n) * least}, true
				} else {
					l.most, l.least = max(l.most, numberIn(body)*days), instantOf
				}
			}
			switch {
			case ok:
				add(l)
			case step:
				o.blurred = true
			default:
				o.dates(body)
			}
		case TokenNumber:
			n := numberOf(t.Text(m.sql))
			factor = min(factor*max(n, 1), boundless)
			days, least, known := unitOf(m.word(i + 1))
			if named, l, ok := unitOf(m.word(i - 2)); !known && ok && (before == "=>" || before == ":=") {
				days, least, known = named, l, true
			}
			if !known && in.name == "make_interval" && in.argument < len(intervalParts) {
				days, least, known = unitOf(intervalParts[in.argument])
			}
			if unit, made := strings.CutPrefix(in.name, "to_"); !known && made { // to_seconds(1)
				days, least, known = unitOf(unit)
			}
			switch next := m.operatorAt(i + 1); {
			case known:
				add(length{n * days, n * least})
			case constructs[in.name]:
				if in.argument == 0 {
					o.year(n)
				}
			case in.name == "to_timestamp" || in.name == "timestamp_seconds":
				years := startOfData + n/86400/365
				o.date(years*yearDays, years*yearDays)
			case before == "*" || next == "*":
				times, scale = true, scale*n
			case before == "/":
				times, scale = true, scale/max(n, instantOf)
			case !step: // a date and so many days
				o.spans.most += n
			default:
				o.blurred = true
			}
		case TokenOperator:
			switch text := t.Text(m.sql); text {
			case "::", "=>", ":=":
			case "*", "/":
				times = true
			case "+", "-":
				if i > start && m.tokens[i-1].Kind != TokenOperator && m.tokens[i-1].Kind != TokenOpen && m.tokens[i-1].Kind != TokenComma && m.word(i-1) != "interval" {
					plus = true
				}
			case "||":
				joined = true
			default:
				o.blurred = true
			}
		case TokenWord, TokenQuotedName, TokenQuotedText:
			word := m.word(i)
			isCall := i+1 < end && m.tokens[i+1].Kind == TokenOpen
			_, _, unit := unitOf(word)
			unit = unit && i > start && (m.tokens[i-1].Kind == TokenNumber || m.tokens[i-1].Kind == TokenString) || m.operatorAt(i+1) == "=>"
			switch {
			case before == "::" || m.word(i-1) == "as":
				if step && word != "interval" {
					o.blurred = true
				}
			case word == "interval":
				o.interval = true
			case presents[word]:
				o.now = true
			case isCall && (keeps[word] || constructs[word] || strings.HasPrefix(word, "to_") && unitName(word[len("to_"):])):
			case !isCall && (unit || word == "as" || word == "at" || word == "time" || word == "zone" || word == "with" || word == "without" || word == "to" || word == "date" || word == "timestamp" || word == "timestamptz" || word == "datetime"):
			case isCall && m.text(i+1) == "(" && !expressionWord(word):
				o.data, factor = true, max(factor, num)
			default:
				o.data = true
				if t.Kind != TokenWord || !expressionWord(word) {
					factor = min(factor*max(m.named(m.name(i)).num, 1), boundless)
				}
			}
		}
	}
	if times && !step {
		o.spans.most = min(o.spans.most*max(factor, scale), boundless)
	}
	if joined && !o.data {
		o.spans.most = boundless
	}
	o.spans.least *= scale
	if o.data || plus || joined || o.blurred || o.spans.least <= 0 {
		o.spans.least = instantOf
	}
	return o
}

// unitName reports whether a word names a unit.
func unitName(word string) bool {
	_, _, ok := unitOf(word)
	return ok
}

// isText reports whether there is a string at i.
func (m *meter) isText(i int) bool { return i < len(m.tokens) && m.tokens[i].Kind == TokenString }

// operatorAt returns the operator at i, or "".
func (m *meter) operatorAt(i int) string {
	if i < len(m.tokens) && m.tokens[i].Kind == TokenOperator {
		return m.text(i)
	}
	return ""
}

// inInterval reports whether the string at i is written as an interval.
func (m *meter) inInterval(i int) bool {
	switch {
	case m.word(i-1) == "interval":
		return true
	case i > 3 && m.tokens[i-1].Kind == TokenClose && m.word(i-4) == "interval": // interval(3) '1'
		return true
	case i+2 >= len(m.tokens):
		return false
	default:
		return m.word(i+2) == "interval" && (m.text(i+1) == "::" || m.word(i+1) == "as")
	}
}

// bodyOf returns what stands between the quotes of a string.
func bodyOf(text string) string {
	open := strings.IndexAny(text, `'"`)
	if strings.HasPrefix(text, "$") {
		open = strings.IndexByte(text[1:], '$') + 1
		return strings.TrimSuffix(text[open+1:], text[:open+1])
	}
	if open < 0 {
		return text
	}
	return text[open+1 : max(len(text)-1, open+1)]
}

// moments returns how many values a series has, by the numbers in it or as one of times:
// between its first two arguments in steps of the third. A bound without a literal date
// counts as the other one, unless that is far from the times that data have, and the
// intervals that are added to the bounds count together. A step that is not read counts as
// the shortest. days says that the series is one of times, whose step is a day unless an
// interval says otherwise.
func (m *meter) moments(start, end int, of operand, args []amount, days bool, numbers float64) float64 {
	var bounds []moment
	step := moment{spans: length{least: 1}}
	read := func(start, end int, argument int) {
		num := 0.0
		if argument < len(args) {
			num = args[argument].count()
		}
		isStep := argument == 2 || days && argument == 1 && m.word(start) == "interval"
		if !isStep && argument > 2 {
			return // a time zone
		}
		o := m.moment(start, end, isStep, num)
		if isStep {
			step = o
			return
		}
		bounds = append(bounds, o)
	}
	argument := 0
	if of.end > of.start {
		read(of.start, of.end, argument)
		argument++
	}
	m.split(start, end, func(start, end int) {
		read(start, end, argument)
		argument++
	})
	var both moment
	between := 0.0
	for _, o := range bounds {
		between = min(between+o.spans.most, boundless)
		if o.dated {
			both.date(o.first, o.last)
		}
	}
	certain := days || step.interval && !step.data
	if !certain && !step.interval && !both.dated {
		return numbers
	}
	for _, o := range bounds {
		switch {
		case !both.dated:
		case o.now:
			both.date(startOfNow*yearDays, (endOfTime+1)*yearDays)
		case !o.dated:
			both.first, both.last = min(both.first, endOfTime*yearDays), max(both.last, startOfData*yearDays)
		}
	}
	between += both.last - both.first
	n := between/step.spans.least + 1
	if !certain {
		n = max(n, numbers)
	}
	return min(n, boundless)
}
