package pages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution/audit/index"
)

// chart is the time line as bars, for an SVG of 600 by 120 units.
type chart struct {
	Bars    []bar
	Allowed string // the paths of all bars
	Refused string
	Periods []index.Period
	Highest int64
	From    time.Time
	Until   time.Time
}

// trend is one small chart of the periods.
type trend struct {
	Title string
	Note  string // what the highest place means
	Lines []line
}

// line is the path of one figure over time, and what it is.
type line struct{ Class, Label, Path string }

const (
	trendHeight = 60
	// maxKinds is how many codes have a colour of their own.
	maxKinds = 5
)

// trends draws refusals by code, the time of decisions and of executions, and rows. Those
// without a value are left out.
func trends(periods []index.Period) []trend {
	list := []trend{refusals(periods)}
	for _, of := range []struct {
		title, unit string
		middle      func(index.Period) index.Middle
	}{
		{"Time of a decision", "µs", func(p index.Period) index.Middle { return p.LatencyUS }},
		{"Time of an execution", "ms", func(p index.Period) index.Middle { return p.ExecMS }},
	} {
		highest := 0.0
		for _, p := range periods {
			highest = max(highest, of.middle(p).P95)
		}
		list = append(list, trend{of.title, "The highest place is " + decimal(highest) + " " + of.unit + ".", []line{
			{"p50", "p50", path(periods, highest, func(p index.Period) float64 { return of.middle(p).P50 })},
			{"p95", "p95", path(periods, highest, func(p index.Period) float64 { return of.middle(p).P95 })},
		}})
	}
	most := int64(0)
	for _, p := range periods {
		most = max(most, p.Rows)
	}
	list = append(list, trend{"Rows", "The highest place is " + group(most) + ".", []line{
		{"p50", "rows", path(periods, float64(most), func(p index.Period) float64 { return float64(p.Rows) })},
	}})
	return slices.DeleteFunc(list, func(t trend) bool {
		return !slices.ContainsFunc(t.Lines, func(l line) bool { return l.Path != "" })
	})
}

// path draws a line over the periods with statements. It is blank when all values are 0.
func path(periods []index.Period, highest float64, value func(index.Period) float64) string {
	if highest <= 0 {
		return ""
	}
	var b strings.Builder
	step, drawing := float64(chartWidth)/float64(len(periods)), false
	for i, p := range periods {
		if p.Allowed+p.Refused == 0 {
			drawing = false
			continue
		}
		x, y := place(step*(float64(i)+0.5)), place(trendHeight-2-(trendHeight-4)*value(p)/highest)
		if drawing {
			b.WriteString("L" + x + " " + y)
		} else {
			b.WriteString("M" + x + " " + y + "h0") // a point, when the line ends here
		}
		drawing = true
	}
	return b.String()
}

// refusals stacks the refused statements by their first code: the most frequent codes, and
// all others together.
func refusals(periods []index.Period) trend {
	sums := map[string]int64{}
	highest := int64(0)
	for _, p := range periods {
		for _, c := range p.Codes {
			sums[c.Value] += c.Statements
		}
		highest = max(highest, p.Refused)
	}
	codes := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
	kinds := codes[:min(len(codes), maxKinds)]
	t := trend{Title: "Refused, by code", Note: "The highest bar is " + group(highest) + "."}
	paths := make([]strings.Builder, maxKinds+1)
	step := float64(chartWidth) / float64(max(len(periods), 1))
	for i, p := range periods {
		counts := map[int]int64{}
		for _, c := range p.Codes {
			kind := slices.Index(kinds, c.Value)
			if kind < 0 {
				kind = maxKinds
			}
			counts[kind] += c.Statements
		}
		y := float64(trendHeight)
		for kind := range paths {
			n := counts[kind]
			if n == 0 {
				continue
			}
			h := trendHeight * float64(n) / float64(highest)
			y -= h
			paths[kind].WriteString(column(step*float64(i), y, max(0.5, step-1), h))
		}
	}
	for kind := range paths {
		l := line{Class: "kind" + strconv.Itoa(kind+1), Label: "others", Path: paths[kind].String()}
		if kind < len(kinds) {
			l.Label = kinds[kind]
		}
		if l.Path != "" {
			t.Lines = append(t.Lines, l)
		}
	}
	return t
}

// bar is one period.
type bar struct {
	X, Width float64
	Title    string
	Href     string // shows the statements of the period
}

// column returns the path of a part of a bar.
func column(x, y, width, height float64) string {
	if height <= 0 {
		return ""
	}
	return "M" + place(x) + " " + place(y) + "h" + place(width) + "v" + place(height) + "h-" + place(width) + "z"
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
	var below, above strings.Builder // the refused statements stand on the allowed ones
	for i, p := range periods {
		allowed, refused := chartHeight*float64(p.Allowed)/float64(c.Highest), chartHeight*float64(p.Refused)/float64(c.Highest)
		b := bar{
			X: step * float64(i), Width: max(0.5, step-1),
			Href:  "/audit" + q.with("since", p.From.Format(time.RFC3339)).with("until", p.Until.Format(time.RFC3339)).address(),
			Title: fmt.Sprintf("%s: %d allowed, %d refused", p.From.Format("2006-01-02 15:04 MST"), p.Allowed, p.Refused),
		}
		c.Bars = append(c.Bars, b)
		below.WriteString(column(b.X, chartHeight-allowed, b.Width, allowed))
		above.WriteString(column(b.X, chartHeight-allowed-refused, b.Width, refused))
	}
	c.Allowed, c.Refused = below.String(), above.String()
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
