package expr

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// ParseTime reads a date (2024-01-31) or a timestamp (2024-01-31 10:00, with a space or
// T, with seconds and up to six digits of fractions or without) and returns it as an
// OpDate or an OpTimestamp. A time zone is no part of it.
func ParseTime(text string) (*Expr, bool) {
	date, clock, found := text, "", false
	if len(text) > 10 && (text[10] == ' ' || text[10] == 'T') {
		date, clock, found = text[:10], text[11:], true
	}
	if !shaped(date, "dddd-dd-dd") {
		return nil, false
	}
	if _, err := time.Parse(time.DateOnly, date); err != nil || date[:4] == "0000" {
		return nil, false
	}
	if !found {
		return &Expr{Op: OpDate, Text: date}, true
	}
	whole, fraction, dotted := strings.Cut(clock, ".")
	if dotted && (len(fraction) == 0 || len(fraction) > 6 || strings.Trim(fraction, "0123456789") != "" || len(whole) != 8) {
		return nil, false
	}
	if shaped(whole, "dd:dd") {
		whole += ":00"
	}
	if !shaped(whole, "dd:dd:dd") {
		return nil, false
	}
	if _, err := time.Parse(time.TimeOnly, whole); err != nil {
		return nil, false
	}
	value := date + " " + whole
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		value += "." + fraction
	}
	return &Expr{Op: OpTimestamp, Text: value}, true
}

// shaped says whether a text has the form of a pattern, in which d stands for a digit.
func shaped(text, pattern string) bool {
	if len(text) != len(pattern) {
		return false
	}
	for i := range len(text) {
		if pattern[i] == 'd' && !isDigit(text[i]) || pattern[i] != 'd' && pattern[i] != text[i] {
			return false
		}
	}
	return true
}

// intervalOf makes an interval of a number with an optional sign and a unit.
func intervalOf(pos int, number, unit string) (*Expr, *Error) {
	digits, negative := strings.CutPrefix(number, "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	u := strings.ToLower(unit)
	if !slices.Contains(intervals, u) {
		u = strings.TrimSuffix(u, "s")
	}
	if !slices.Contains(intervals, u) {
		return nil, refuse(pos, "write one number and one unit, such as INTERVAL '1 month'; units are "+strings.Join(intervals, ", "), "%q is not a unit of an interval", excerpt(unit, 30))
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || len(digits) > 7 {
		return nil, refuse(pos, "write a whole number and a unit, such as INTERVAL '1 month'", "%q is not the number of an interval", excerpt(number, 30))
	}
	e := &Expr{Op: OpNumber, Text: strconv.Itoa(n), Pos: pos}
	if negative && n > 0 {
		e = &Expr{Op: OpNeg, Args: []*Expr{e}, Pos: pos}
	}
	return &Expr{Op: OpInterval, Text: u, Args: []*Expr{e}, Pos: pos}, nil
}
