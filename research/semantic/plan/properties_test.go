package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/semantic/plan"
)

// pool is what random requests are made of.
var pool = struct{ measures, dimensions, filters, segments []string }{
	measures: words("orders.revenue; orders.net; orders.average_order; orders.largest; orders.paid_net; sessions.sessions; sessions.revenue_per_session; items.revenue; items.share_of_revenue; " +
		"balances.closing; balances.growth; customers.customers; customer_tags.tagged; products.products; weather.rain; employees.payroll; " +
		"sum(orders.amount) / count(sessions.session_id); max(items.price * products.product_id); count(distinct customers.region)"),
	dimensions: words("customers.region; customers.status; campaigns.channel; orders.status; orders.paid; orders.home_region; orders.ordered_on@month; order_day.weekday; ship_day.weekday; " +
		"products.category; details.colour; sessions.device; balances.day@year; manager.title; employees.title; weather.station; stores.city; tags.label"),
	filters: words("customers.status = 'new'; orders.revenue > 5; orders.amount > 1 AND customers.region <> 'x'; campaigns.channel IN ('mail', 'web'); products.category LIKE 'a%'; " +
		"sessions.sessions + orders.net > 3; orders.status = 'paid' OR orders.paid; count(items.line) FILTER (WHERE items.price > 1) = 2; details.weight IS NULL"),
	segments: words("orders.large; orders.recent; sessions.mobile; customers.european; employees.well_paid"),
}

// drawn makes a random request of distinct parts.
func drawn(t *rapid.T) plan.Request {
	some := func(list []string, most int, label string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(list), 0, most, rapid.ID[string]).Draw(t, label)
	}
	// The names of measures are fixed, so that their order is not part of the answer.
	r := ask(strings.Join(some(pool.measures, 3, "measures"), ";"), strings.Join(some(pool.dimensions, 3, "dimensions"), ";"))
	for i := range r.Measures {
		r.Measures[i].Name = fmt.Sprintf("m%d", slices.Index(pool.measures, r.Measures[i].Expr))
	}
	r.Filters = some(pool.filters, 2, "filters")
	r.Segments = some(pool.segments, 1, "segments")
	r.NoEmpty = rapid.Bool().Draw(t, "no empty")
	return r
}

// meaning writes a plan without regard to the order of its dimensions, measures,
// filters, legs, and joins.
func meaning(p *plan.Plan) string {
	var lines []string
	for _, d := range p.Dimensions {
		lines = append(lines, "dimension "+d.Name+" "+show(p, d.Expr)+" "+d.Grain.String())
	}
	atoms := make([]string, len(p.Atoms))
	for i, l := range p.Legs {
		var parts []string
		for _, j := range l.Joins {
			parts = append(parts, fmt.Sprint("join ", j.Edge))
		}
		for _, w := range l.Where {
			parts = append(parts, "where "+show(p, w))
		}
		for _, a := range l.Atoms {
			atom := p.Atoms[a]
			if atom.Leg != i || atom.Base != l.Base || atom.Semi != l.Semi && (atom.Semi == nil || l.Semi == nil || show(p, atom.Semi.Over) != show(p, l.Semi.Over)) {
				panic(fmt.Sprintf("atom %d is not of leg %d", a, i))
			}
			text := atom.Func + fmt.Sprint(atom.Distinct)
			for _, x := range atom.Args {
				text += " " + show(p, x)
			}
			if atom.Filter != nil {
				text += " filter " + show(p, atom.Filter)
			}
			atoms[a] = fmt.Sprintf("%s of %s", text, p.Model.Nodes[l.Base].Name)
			if l.Semi != nil {
				atoms[a] += fmt.Sprintf(" over %s %t %d", show(p, l.Semi.Over), l.Semi.First, len(l.Semi.Per))
			}
			parts = append(parts, atoms[a])
		}
		slices.Sort(parts)
		lines = append(lines, fmt.Sprintf("leg %s %t %s", p.Model.Nodes[l.Base].Name, l.Spine, strings.Join(parts, "; ")))
	}
	inAtoms := func(s string) string {
		for i, atom := range slices.Backward(atoms) {
			s = strings.ReplaceAll(s, fmt.Sprintf("#%d", i), "{"+atom+"}")
		}
		return s
	}
	for _, m := range p.Measures {
		lines = append(lines, "measure "+m.Name+" "+inAtoms(show(p, m.Expr)))
	}
	for _, h := range p.Having {
		lines = append(lines, "having "+inAtoms(show(p, h)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestTheOrderOfARequestDoesNotMatter(t *testing.T) {
	planned := 0
	rapid.Check(t, func(t *rapid.T) {
		r := drawn(t)
		p, err := plan.Build(shop(), r)
		shuffled := r
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffled.Dimensions, shuffled.Measures, shuffled.Filters = slices.Clone(r.Dimensions), slices.Clone(r.Measures), slices.Clone(r.Filters)
		random.Shuffle(len(r.Dimensions), func(i, j int) {
			shuffled.Dimensions[i], shuffled.Dimensions[j] = shuffled.Dimensions[j], shuffled.Dimensions[i]
		})
		random.Shuffle(len(r.Measures), func(i, j int) {
			shuffled.Measures[i], shuffled.Measures[j] = shuffled.Measures[j], shuffled.Measures[i]
		})
		random.Shuffle(len(r.Filters), func(i, j int) {
			shuffled.Filters[i], shuffled.Filters[j] = shuffled.Filters[j], shuffled.Filters[i]
		})
		q, err2 := plan.Build(shop(), shuffled)
		switch {
		case (err == nil) != (err2 == nil):
			t.Fatalf("%+v: %v\n%+v: %v", r, err, shuffled, err2)
		case err == nil:
			planned++
			if a, b := meaning(p), meaning(q); a != b {
				t.Fatalf("%+v\n%s\n\n%+v\n%s", r, a, shuffled, b)
			}
		}
	})
	if planned == 0 {
		t.Error("no random request was planned")
	}
}

func TestAMeasureMoreChangesNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawn(t)
		if len(r.Measures) < 2 {
			return
		}
		p, err := plan.Build(shop(), r)
		if err != nil {
			return
		}
		for i, m := range r.Measures {
			alone := r
			alone.Measures = []plan.MeasureRequest{m}
			q, err := plan.Build(shop(), alone)
			if err != nil {
				// A segment of the request may be about another measure.
				if len(r.Segments) == 0 {
					t.Fatalf("%+v: %v", alone, err)
				}
				continue
			}
			if a, b := outputMeaning(p, i), outputMeaning(q, 0); a != b {
				t.Fatalf("%+v\n%s\nalone\n%s", r, a, b)
			}
		}
	})
}

// outputMeaning is a measure of a plan with its aggregates written out, and the rows of
// the leg of each.
func outputMeaning(p *plan.Plan, i int) string {
	alone := *p
	alone.Measures = p.Measures[i : i+1]
	for line := range strings.SplitSeq(meaning(&alone), "\n") {
		if strings.HasPrefix(line, "measure ") {
			return line
		}
	}
	return ""
}

func TestEveryPlanHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawn(t)
		p, err := plan.Build(shop(), r)
		if err != nil {
			if err.Message == "" || err.Class == "" {
				t.Fatalf("%+v: %v", r, err)
			}
			return
		}
		names := map[string]bool{}
		for _, d := range p.Dimensions {
			names[d.Name] = true
		}
		for _, m := range p.Measures {
			names[m.Name] = true
		}
		if len(names) != len(p.Dimensions)+len(p.Measures) {
			t.Fatalf("%+v: names collide\n%s", r, dump(p))
		}
		if len(p.Order) < len(p.Dimensions) {
			t.Fatalf("%+v: the order leaves dimensions out\n%s", r, dump(p))
		}
		for _, l := range p.Legs {
			joined := map[int]bool{l.Base: true}
			for _, j := range l.Joins {
				e := p.Model.Edges[j.Edge]
				if !joined[e.From] || joined[e.To] {
					t.Fatalf("%+v: the joins of a leg are no tree\n%s", r, dump(p))
				}
				joined[e.To] = true
			}
			if len(l.Where) != len(p.Legs[0].Where) {
				t.Fatalf("%+v: a row filter does not hold for every leg\n%s", r, dump(p))
			}
		}
		if lines := strings.Count(p.Explain(), "\n"); lines > 15 {
			t.Fatalf("%+v: %d lines", r, lines)
		}
		p.Describe(nil)
	})
}
