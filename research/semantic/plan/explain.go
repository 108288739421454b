package plan

import (
	"fmt"
	"strings"
)

// maxLines is how many lines Explain writes at most.
const maxLines = 15

// Explain writes the plan in at most 15 lines: what is grouped, what is aggregated over
// which joins, and what happens then.
func (p *Plan) Explain() string {
	var lines []string
	if len(p.Dimensions) > 0 {
		var parts []string
		for _, d := range p.Dimensions {
			text := fieldName(p.Model, d.Field)
			if d.Grain != NoGrain {
				text += " by " + d.Grain.String()
			}
			parts = append(parts, text)
		}
		lines = append(lines, "group by "+upTo(12, parts))
	} else {
		lines = append(lines, "one row for everything")
	}
	var measures []string
	for _, m := range p.Measures {
		measures = append(measures, fmt.Sprintf("measure %s = %s", m.Name, clip(readable(p.Model, p, m.Expr, -1), 160)))
	}
	d := p.Describe(nil)
	var groups []string
	for _, g := range d.Groups {
		parts := []string{"rows of " + g.Base}
		for _, j := range g.Joins {
			parts = append(parts, fmt.Sprintf("left join %s on %s (%s)", j.To, j.On, j.Relationship))
		}
		text := strings.Join(parts, ", ")
		if len(g.Filters) > 0 {
			text += " where " + strings.Join(g.Filters, " and ")
		}
		if g.SemiAdditive != "" {
			text += ", " + g.SemiAdditive
		}
		groups = append(groups, clip(text, 400))
	}
	var rest []string
	if len(d.Spine) > 0 {
		rest = append(rest, "add groups of "+list(d.Spine, "and")+" without rows")
	}
	if len(d.MeasureFilters) > 0 {
		rest = append(rest, "keep groups where "+clip(strings.Join(d.MeasureFilters, " and "), 400))
	}
	if len(p.Order) > 0 {
		rest = append(rest, "order by "+p.orderText())
	}
	if p.Limit >= 0 {
		rest = append(rest, fmt.Sprintf("at most %d rows", p.Limit))
	}
	// Measures and legs may be many; the notes take what is left.
	free := maxLines - len(lines) - len(rest)
	lines = append(lines, capped(measures, max(free/2, free-len(groups)), "measures")...)
	lines = append(lines, capped(groups, maxLines-len(lines)-len(rest), "aggregations")...)
	lines = append(lines, rest...)
	if left := maxLines - len(lines); left > 0 {
		var notes []string
		for _, n := range p.Notes {
			notes = append(notes, "note: "+n)
		}
		lines = append(lines, capped(notes, left, "notes")...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// capped shortens a list to at most n lines, the last of which counts what is left out.
func capped(lines []string, n int, what string) []string {
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n-1:n-1], fmt.Sprintf("and %d more %s", len(lines)-n+1, what))
}

func (p *Plan) orderText() string {
	var parts []string
	for _, k := range p.Order {
		text := p.outputName(k)
		if k.Desc {
			text += " desc"
		}
		parts = append(parts, text)
	}
	return upTo(12, parts)
}
