package relate

import (
	"fmt"

	"github.com/ktxhq/ktx/research/catalog"
)

// What the score of the names and the counts must reach.
const (
	acceptNames  = 0.68 // names alone are certain enough to join by
	reviewNames  = 0.55 // names alone are worth a look
	strongNames  = 0.74 // with data: names that dirty data do not refute
	enoughNames  = 0.48 // with data: names that full coverage confirms
	leastNames   = 0.30 // below that a proposal is not looked at
	emptyNames   = 0.90 // names that are accepted without a value to compare
	fullCoverage = 0.99
	someCoverage = 0.90
	fewKeys      = 3 // fewer different integers than that are in every small table
)

// verdict is where a proposal goes.
type verdict int

const (
	rejected verdict = iota
	review
	accepted
)

// byNamesAlone judges a proposal that was not probed.
func (p *proposal) byNamesAlone() (verdict, string) {
	many := len(p.columns) > 1 && !p.named && !p.own
	switch {
	case p.score < reviewNames, many && p.score < acceptNames:
		return rejected, "the names alone are too weak"
	case p.score < acceptNames, p.mismatch, p.implied, !p.byName, many:
		return review, "not compared with data"
	}
	return accepted, "not compared with data"
}

// byData judges a proposal by the counts of a probe.
func (p *proposal) byData(o Overlap) (verdict, string) {
	if o.TargetUnique != nil && !*o.TargetUnique {
		if p.score >= strongNames && o.coverage() >= someCoverage {
			return review, "the target has a key twice"
		}
		return rejected, "the target has a key twice"
	}
	if (o.Distinct == 0 || o.TargetRows == 0) && len(p.columns) > 1 && !p.named && !p.own {
		return rejected, "there is no value to compare, and the names alone are too weak"
	}
	switch {
	case p.valued && (o.Distinct == 0 || o.TargetRows == 0 || o.coverage() < someCoverage):
		return rejected, "the values do not confirm it"
	case o.Distinct == 0:
		switch {
		case p.score >= emptyNames && !p.mismatch && !p.implied:
			return accepted, "there is no value to compare"
		case p.score >= enoughNames:
			return review, "there is no value to compare"
		}
		return rejected, "there is no value to compare, and the names alone are too weak"
	case o.TargetRows == 0:
		if p.score >= enoughNames {
			return review, "the target has no rows"
		}
		return rejected, "the target has no rows"
	}
	reason := fmt.Sprintf("%d of %d different keys are in the target", o.Found, o.Distinct)
	coverage := o.coverage()
	switch {
	case p.mismatch && (coverage >= someCoverage || p.score >= strongNames && o.Found > 0 || p.score >= emptyNames):
		return review, reason
	case coverage >= fullCoverage && p.lead != noLead:
		return review, reason // if it tells, see onlyOne
	case coverage >= fullCoverage:
		few := o.Distinct < fewKeys && p.columnsAre(integer)
		if len(p.columns) > 1 && !p.named {
			return p.byDensity(o, reason)
		}
		if p.score < enoughNames && o.Distinct < 2*fewKeys {
			return rejected, reason + ", which says little"
		}
		if p.implied || p.score < enoughNames || few && p.score < strongNames || !p.byName && o.Distinct < 2*fewKeys {
			return review, reason
		}
		return accepted, reason
	case coverage >= someCoverage && p.score >= enoughNames,
		o.Distinct-o.Found == 1 && o.Distinct >= fewKeys && p.score >= strongNames:
		return review, reason
	}
	return rejected, reason
}

// byDensity judges a composite key that all values have and that no name tells of.
// Two tables often have the same dimensions, such as a year and a region. One refers to
// the other if the target has few of the combinations that there might be.
func (p *proposal) byDensity(o Overlap, reason string) (verdict, string) {
	once := o.Distinct == o.Rows-o.NullRows || p.oneToOne()
	if p.own && !once {
		return accepted, reason
	}
	if once {
		reason += ", and each key occurs once on both sides"
		if p.own || p.extended {
			return review, reason
		}
		return rejected, reason
	}
	combinations := 1.0
	for _, c := range p.targets {
		combinations *= float64(max(p.to.columns[c].distinct, 1))
	}
	if o.Distinct >= 10 && float64(o.TargetRows) <= combinations/2 {
		return accepted, reason
	}
	return review, reason + ", which says little about columns that many tables have"
}

func (p *proposal) columnsAre(k kind) bool {
	for _, c := range p.columns {
		if p.from.columns[c].kind != k {
			return false
		}
	}
	return true
}

func (o Overlap) coverage() float64 {
	if o.Distinct <= 0 {
		return 0
	}
	return float64(o.Found) / float64(o.Distinct)
}

// validation returns what the counts say, for the artifact.
func (o Overlap) validation() catalog.Validation {
	v := catalog.Validation{TargetUnique: o.TargetUnique}
	if o.Distinct > 0 && o.TargetRows > 0 {
		coverage := round(o.coverage())
		if o.Found < o.Distinct {
			coverage = min(coverage, 0.999)
		}
		v.Coverage = &coverage
	}
	if o.Rows > 0 {
		rate := round(float64(o.NullRows) / float64(o.Rows))
		v.NullRate = &rate
	}
	return v
}

// confidence weighs the names and the counts.
func (p *proposal) confidence(v verdict, o *Overlap) float64 {
	c := p.score
	if o != nil && o.Distinct > 0 && o.TargetRows > 0 {
		c = (p.score + o.coverage()) / 2
	}
	if v == review {
		c *= 0.8
	}
	if v == rejected {
		c *= 0.3
	}
	return round(c)
}
