package audit

import (
	"errors"
	"regexp"
	"strconv"
	"time"
)

// maxAgo bounds how long ago a time may be.
const maxAgo = 100 * 365 * 24 * time.Hour

var agoPattern = regexp.MustCompile(`^(\d{1,9})([dw])(.*)$`)

// The errors of [ParseTime].
var (
	errMoment  = errors.New("expected a time such as 2026-03-01T12:00:00Z or 2026-03-01, or how long ago, such as 90s, 1h, 2d or 1w")
	errLongAgo = errors.New("more than 100 years ago")
)

// ParseTime reads a time as people write it: RFC 3339, a date, which stands for its
// beginning in UTC, or how long before now, where d is 24 hours and w is 7 d.
func ParseTime(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	ago, rest := time.Duration(0), text
	for m := agoPattern.FindStringSubmatch(rest); m != nil; m = agoPattern.FindStringSubmatch(rest) {
		n, _ := strconv.ParseInt(m[1], 10, 64) // at most nine digits
		unit := 24 * time.Hour
		if m[2] == "w" {
			unit *= 7
		}
		if n > int64(maxAgo/unit) {
			return time.Time{}, errLongAgo
		}
		ago, rest = ago+time.Duration(n)*unit, m[3]
	}
	if rest != "" || text == "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || rest[0] == '+' {
			return time.Time{}, errMoment
		}
		ago += d
	}
	if ago > maxAgo || ago < 0 {
		return time.Time{}, errLongAgo
	}
	return now.Add(-ago), nil
}
