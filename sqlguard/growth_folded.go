package sqlguard

import (
	"strconv"
	"strings"
)

// folded measures a call in a dialect where a lambda comes before the lists that it reads,
// and an aggregate can have parameters in brackets before its arguments.
func (m *meter) folded(name, open, stop int, inFrom bool) amount {
	kind, _ := m.growth.kind(m.name(name), m.text(name))
	type lambda struct{ at, from, to, body, end int }
	var args []amount
	var lambdas []lambda
	var lists amount
	counted := false // how many elements a list has is known
	m.split(open+1, stop, func(start, end int) {
		var a amount
		if from, to, body, ok := m.lambda(start, end); ok {
			lambdas = append(lambdas, lambda{len(args), from, to, body, end})
		} else {
			a = m.query(start, end)
			counted = counted || a.items > 0
			lists = lists.join(zipped([]amount{a}))
		}
		args = append(args, a)
	})
	for _, l := range lambdas {
		small := amount{} // what the lambda makes of a small element
		if kind == MakesEach && !counted && m.twice < maxTwice {
			m.twice++
			one := lists
			one.items, one.each = 1, 1
			m.parameters(l.from, l.to, one)
			small = m.query(l.body, l.end)
		}
		names := m.parameters(l.from, l.to, lists)
		args[l.at] = m.query(l.body, l.end)
		if small.size > 0 {
			// The elements together are as long as the list. What the kinds here make of a
			// text never grows more slowly than the text.
			_, n := lists.element()
			args[l.at].size += n * small.size
			args[l.at].items, args[l.at].each, args[l.at].text = 0, 0, true
			return m.made(name, open, stop, operand{}, args[l.at:l.at+1], inFrom)
		}
		if kind == MakesReduced && m.unbounded(names, l.from, l.body, l.end) {
			args[l.at].size, args[l.at].text = boundless, true
		}
	}
	if next := stop + 1; next < len(m.tokens) && m.tokens[next].Kind == TokenOpen && m.text(next) == "(" && !inFrom {
		// These were parameters. The arguments come first, as the kinds have them.
		own := m.folded0(next)
		m.given = len(args)
		args = append(own, args...)
		out := m.made(name, open, stop, operand{}, args, inFrom)
		m.given = 0
		return out
	}
	return m.made(name, open, stop, operand{}, args, inFrom)
}

// maxTwice is how many lambdas of a statement are measured twice.
const maxTwice = 64

// folded0 measures the arguments in the bracket at open.
func (m *meter) folded0(open int) (args []amount) {
	m.split(open+1, m.closing(open, len(m.tokens)), func(start, end int) { args = append(args, m.query(start, end)) })
	return args
}

// zipped joins lists that are read together: as many elements as the longest, each as large
// as those of all.
func zipped(lists []amount) (out amount) {
	for _, l := range lists {
		each, n := l.element()
		if l.items == 0 && !l.text {
			each, n = l, 1
		}
		out.items, out.each = max(out.items, n), out.each+each.size
		out.num, out.size, out.text = max(out.num, l.num), out.size+l.size, true
	}
	return out.bound()
}

// more measures the kinds that one dialect alone has.
func (m *meter) more(kind Maker, open, stop int, args []amount, all amount) amount {
	arg := func(i int) amount {
		if i < len(args) {
			return args[i]
		}
		return amount{}
	}
	const manyfold = 16
	switch kind { //nolint:exhaustive // the others are measured by the caller
	case MakesHeld:
		return all
	case MakesSlots:
		step := arg(2).num
		if len(args) < 3 {
			step = 1800
		}
		if step == 0 { // it is data
			step = 1
		}
		return amount{size: manyfold * (arg(1).count()/step + 2), num: arg(0).num + arg(1).num}
	case MakesRing:
		return amount{size: 24 * (arg(1).count() + 1) * (arg(1).count() + 1)}
	case MakesManyfold:
		return amount{size: manyfold * all.size, num: all.num, items: manyfold * all.items, each: all.each}
	case MakesScaled:
		n := 0.0
		for _, a := range args {
			if !a.text {
				n = max(n, a.count())
			}
		}
		return amount{size: manyfold * max(all.size, 1) * max(n, 1), num: all.num}
	case MakesKeys:
		return amount{size: manyfold * max(all.count(), 1), num: all.num}
	case MakesProduct:
		size := 1.0
		for _, a := range args {
			size = min(size*max(a.size, 1), boundless)
		}
		return amount{size: manyfold * size}
	case MakesCast:
		out := all
		if m.growth.Quotes && m.mayHide(open, stop) {
			out.size = all.quoted()
		}
		if out.size += m.fixed(open+1, stop, args); len(args) == 2 {
			out.num = arg(0).num
		}
		return out
	case MakesCells:
		if arg(0).num == 0 && arg(0).size == 0 {
			return amount{} // it is data
		}
		return amount{size: 8 * power(7, arg(1).count())}
	case MakesBox:
		share := 1.0 // of the map
		if n := m.numbers(open+1, stop); len(n) == 5 {
			share = min(1, max(n[2]-n[0], 0)*max(n[3]-n[1], 0)/(360*180))
		}
		if arg(4).num == 0 {
			return amount{}
		}
		return amount{size: 24 * (1 + share*power(32, arg(4).count()))}
	case MakesUnrolled:
		each, n := all.element()
		if all.items > 0 || all.size > numberSize {
			m.unrolled = min(m.unrolled*max(n, 1), boundless)
		}
		return each
	case MakesNumbers:
		n := arg(0).count()
		switch {
		case len(args) == 2:
			n = arg(1).count()
		case len(args) > 2:
			n = arg(1).count() / max(arg(2).num, 1)
		}
		return amount{num: all.num, rows: max(n, 1)}
	case MakesRandom:
		return amount{num: boundless, rows: boundless, size: max(arg(2).count(), 10) * max(arg(3).count(), 10), text: true}
	case MakesCopies:
		each := max(arg(1).size, 8)
		return amount{size: arg(0).count() * each, num: max(arg(0).num, arg(1).num), items: arg(0).count(), each: each}
	case MakesTop:
		rows := m.rows()
		switch {
		case m.given > 0:
			rows = min(rows, max(args[len(args)-m.given].count(), 1))
		case m.growth.Tops > 0:
			rows = min(rows, m.growth.Tops)
		}
		return amount{size: max(all.size, 20) * rows, num: all.num, items: rows, each: max(all.size, 20)}
	case MakesSome:
		rows := m.rows()
		if m.given > 0 {
			rows = min(rows, max(args[len(args)-m.given].count(), 1))
		}
		if rows > 1 {
			all.size = max(all.size, 20)
		}
		return amount{size: all.size * rows, num: all.num, items: rows, each: all.size}
	case MakesValue:
		return amount{num: all.num, size: min(all.size, numberSize)}.signs(all)
	case MakesTimes:
		n := 1.0
		for _, a := range args {
			n *= max(a.num, 1)
		}
		return amount{num: n, size: 20}.signs(all)
	case MakesShift:
		return amount{num: max(arg(0).num, 1) * power(2, arg(1).count()), size: max(20, arg(0).size)}.signs(all)
	case MakesRest:
		n, wild := arg(0).num, all.wild
		if by := arg(1); by.num > 0 {
			n, wild = min(n, by.num), by.wild
		}
		return amount{num: n, size: 20, wild: wild, tiny: all.tiny, negative: all.negative}
	case MakesDay, MakesMoment:
		const days, seconds = 120_530, 4.3e9 // of Date32, and of DateTime
		if len(args) > 0 && all.size == 0 && all.num == 0 {
			return amount{} // it is data
		}
		if kind == MakesDay {
			return amount{num: days, size: 20}
		}
		return amount{num: seconds, size: 20}
	case MakesSpan:
		return amount{num: m.span(open+1, stop, args), size: 20}
	}
	return all
}

// daysOf returns how many days a text says that has numbers and units, and false when it has
// no unit.
func daysOf(text string) (days float64, ok bool) {
	n := 1.0
	for field := range strings.FieldsSeq(strings.Trim(strings.ToLower(text), "' ")) {
		digits := strings.TrimLeft(field, "+-")
		word := strings.TrimLeft(digits, "0123456789.")
		if number := digits[:len(digits)-len(word)]; number != "" {
			n = numberOf(number)
		}
		for _, u := range units {
			if strings.HasPrefix(word, u.word) {
				days, ok, n = days+n*u.days, true, 1
				break
			}
		}
	}
	return days, ok
}

// times returns how many numbers there are between two dates, and false for a series of
// other numbers. A date that is no literal counts as the other one, but the present as a
// late one, and the intervals that are added to dates count together. The numbers count
// seconds unless the text names a unit.
func (m *meter) times(start, end int) (n float64, ok bool) {
	if !m.growth.Aliases {
		return 0, false
	}
	first, last, between, perDay, step := boundless, 0.0, 0.0, 0.0, 0.0
	argument := 0
	m.split(start, end, func(start, end int) {
		argument++
		add := func(days float64) {
			if ok = true; argument > 2 {
				step += days
			} else {
				between += days
			}
		}
		for i := start; i < end; i++ {
			text := m.text(i)
			if m.word(i-1) != "interval" && m.tokens[i-1].Kind == TokenOpen {
				if u, known := daysOf(text); known && u > 0 {
					perDay = max(perDay, 1/u)
					continue
				}
			}
			switch m.tokens[i].Kind { //nolint:exhaustive // the others are no dates
			case TokenString:
				if len(text) > 6 && text[5] == '-' {
					if year := numberOf(text[1:5]); year > 0 {
						first, last = min(first, year), max(last, year)
						continue
					}
				}
				if m.word(i-1) != "interval" {
					continue
				}
				length, isSpan := daysOf(text)
				if !isSpan {
					length = max(numberOf(strings.Trim(text, "' ")), 1)
					if u, known := daysOf(m.word(i + 1)); known {
						length *= u
					}
				}
				add(length)
			case TokenWord:
				switch m.word(i) {
				case "interval":
					ok = true
				case "now", "current_date", "current_timestamp", "localtimestamp", "clock_timestamp", "statement_timestamp", "transaction_timestamp":
					if last > 0 || first < boundless {
						last = max(last, endOfTime)
					}
				}
			case TokenNumber:
				if u, known := daysOf(m.word(i + 1)); known { // INTERVAL 1 DAY
					add(numberOf(text) * u)
				} else if year := numberOf(text); year > 0 && i >= start+2 && m.word(i-2) == "date" && m.tokens[i-1].Kind == TokenOpen { // DATE(2024, 1, 31)
					first, last = min(first, year), max(last, year)
				}
			}
		}
	})
	if !ok {
		return 0, false
	}
	if last > 0 {
		between += (last - first + 1) * 366
	}
	if perDay == 0 {
		perDay = 86400
	}
	if step == 0 {
		step = m.step(start, end) / perDay
	}
	return between/step + 1, true
}

// steps is how many numbers a series has: up to the only argument, or from the first to
// the second. Two literal times bound their difference.
func (m *meter) steps(start, end int, args []amount, step float64) (n float64) {
	for _, a := range args[:min(len(args), 2)] {
		n = max(n, a.count())
	}
	if literal := m.numbers(start, end); len(literal) == len(args) && len(args) > 1 {
		n = max(literal[1]-literal[0], literal[0]-literal[1])
	}
	if seconds, ok := m.between(start, end); ok && seconds > 0 {
		n = min(n, seconds+1)
	}
	return n/max(step, 1) + 1
}

// fixed is how long an argument, the name of a type, says that a text is. A name that is no
// literal may say any number in it, when it comes last.
func (m *meter) fixed(start, end int, args []amount) (most float64) {
	i := 0
	m.split(start, end, func(start, end int) {
		switch {
		case end > start+1 || m.tokens[start].Kind != TokenString:
			if i > 0 && i == len(args)-1 && args[i].text {
				most = max(most, args[i].num)
			}
		case strings.Contains(strings.ToLower(m.text(start)), "fixedstring"):
			most = max(most, args[i].num)
		}
		i++
	})
	return most
}

// rows is how many rows an aggregate reads.
func (m *meter) rows() float64 { return max(m.reading, 1) * m.unrolled }

// numbers returns the arguments as far as they are literal numbers.
func (m *meter) numbers(start, end int) (out []float64) {
	m.split(start, end, func(start, end int) {
		switch {
		case end == start+1 && m.tokens[start].Kind == TokenNumber:
			out = append(out, numberOf(m.text(start)))
		case end == start+2 && m.text(start) == "-" && m.tokens[start+1].Kind == TokenNumber:
			out = append(out, -numberOf(m.text(start+1)))
		}
	})
	return out
}

// between returns how many seconds lie between the literal times of some tokens, when there
// are two, and nothing that could make another one.
func (m *meter) between(start, end int) (seconds float64, ok bool) {
	first, last, n := 0.0, 0.0, 0
	for i := start; i < end; i++ {
		switch m.tokens[i].Kind { //nolint:exhaustive // the others are no values
		case TokenString:
			t, isTime := instant(strings.Trim(m.text(i), "'"))
			if !isTime {
				continue // a unit or a time zone
			}
			if n++; n == 1 {
				first, last = t, t
			}
			first, last = min(first, t), max(last, t)
		case TokenWord:
			if i+1 < end && m.tokens[i+1].Kind == TokenOpen && !converts[strings.ToLower(m.text(i))] {
				return 0, false
			}
		case TokenOperator:
			return 0, false
		}
	}
	return last - first, n > 1
}

// instant returns the seconds of a time such as 2024-01-31 or 2024-01-31 12:00:00. Each
// month counts as 31 days, so that a difference of two may be a few days too large.
func instant(text string) (seconds float64, ok bool) {
	date, clock, timed := strings.Cut(text, " ")
	scale := []float64{372 * 86400, 31 * 86400, 86400, 3600, 60, 1}
	fields := strings.Split(date, "-")
	if timed {
		fields = append(fields, strings.Split(clock, ":")...)
	}
	if len(fields) != 3 && len(fields) != 5 && len(fields) != len(scale) || len(fields[0]) != 4 {
		return 0, false
	}
	for i, f := range fields {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil || n < 0 {
			return 0, false
		}
		seconds += n * scale[i]
	}
	return seconds, true
}

// converts are functions that make a time from its text, or a number from a time.
var converts = map[string]bool{
	"todate": true, "todate32": true, "todatetime": true, "todatetime64": true, "touint32": true, "touint64": true, "toint32": true, "toint64": true,
	"tounixtimestamp": true, "tounixtimestamp64milli": true,
}

// span is how many units lie between two times.
func (m *meter) span(start, end int, args []amount) float64 {
	perDay := 1.0
	for i := start; i < min(start+1, end); i++ {
		for _, u := range units {
			if strings.Contains(strings.ToLower(m.text(i)), u.word) {
				perDay = max(perDay, 1/u.days)
				break
			}
		}
		if text := strings.ToLower(strings.Trim(m.text(i), "'")); text == "ns" || strings.Contains(text, "nano") {
			perDay = 86400e9
		} else if short, ok := map[string]float64{"s": 86400, "ss": 86400, "n": 1440, "mi": 1440, "hh": 24, "h": 24, "ms": 86400e3, "us": 86400e6}[text]; ok {
			perDay = max(perDay, short)
		}
	}
	if seconds, ok := m.between(start, end); ok {
		return (seconds/86400 + 1) * perDay
	}
	for i := 1; i < len(args); i++ {
		if args[i].num == 0 && args[i].size == 0 {
			return 0 // it is data
		}
	}
	const days = 120_530
	return days * perDay
}
