package sqlguard

// ChainFor exposes the cap on chains for a thread's stack of that size.
func ChainFor(stack uint64) int { return limitsFor(DefaultMaxBytes, stack).Chain }

// Cached returns the number of verdicts that g keeps.
func (g *Guard) Cached() int { return g.cache.recent.Len() }

// Overlooked returns what the meter finds in a statement that the guard does not measure, or
// "".
func (g *Guard) Overlooked(sql string) string {
	tokens := g.lex(sql, nil)
	most := float64(g.policy.MaxConstant)
	if most == 0 {
		most = DefaultMaxConstant
	}
	if g.growth == nil || g.growth.concerns(sql, tokens.List, most) {
		return ""
	}
	v := Verdict{}
	m := meter{growth: g.growth, sql: sql, v: &v, most: most, unrolled: 1}
	m.statement(tokens.List)
	for _, f := range v.Findings {
		return f.Message
	}
	return ""
}
