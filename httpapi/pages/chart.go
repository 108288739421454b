package pages

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ktxhq/ktx/execution/audit/index"
)

// chart is the time line as bars, for an SVG of 600 by 120 units.
type chart struct {
	Bars    []bar
	Periods []index.Period
	Highest int64
	From    time.Time
	Until   time.Time
}

// bar is one period. The refused statements stand on the allowed ones.
type bar struct {
	X, Width           float64
	AllowedY, AllowedH float64
	RefusedY, RefusedH float64
	Title              string
	Href               string // shows the statements of the period
}

const (
	chartWidth  = 600
	chartHeight = 120
)

func newChart(periods []index.Period, q query) chart {
	c := chart{Periods: periods}
	for _, p := range periods {
		c.Highest = max(c.Highest, p.Allowed+p.Refused)
	}
	if len(periods) == 0 || c.Highest == 0 {
		return chart{}
	}
	c.From, c.Until = periods[0].From, periods[len(periods)-1].Until
	step := float64(chartWidth) / float64(len(periods))
	for i, p := range periods {
		allowed, refused := chartHeight*float64(p.Allowed)/float64(c.Highest), chartHeight*float64(p.Refused)/float64(c.Highest)
		c.Bars = append(c.Bars, bar{
			X: step * float64(i), Width: max(0.5, step-1), AllowedY: chartHeight - allowed, AllowedH: allowed, RefusedY: chartHeight - allowed - refused, RefusedH: refused,
			Href:  "/audit" + q.with("since", p.From.Format(time.RFC3339)).with("until", p.Until.Format(time.RFC3339)).address(),
			Title: fmt.Sprintf("%s: %d allowed, %d refused", p.From.Format("2006-01-02 15:04 MST"), p.Allowed, p.Refused),
		})
	}
	return c
}

// maxShown is how many characters of a text a list shows. The page of a statement shows
// all of them.
const maxShown = 300

func short(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxShown {
			return text[:i] + "…"
		}
	}
	return text
}

// count writes a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return group(int64(n)) + " " + thing
}

// group writes a number with a separator between thousands.
func group[T ~int64](n T) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
