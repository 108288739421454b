package sqlguard

// ChainFor exposes the cap on chains for a thread's stack of that size.
func ChainFor(stack uint64) int { return limitsFor(DefaultMaxBytes, stack).Chain }

// Cached returns the number of verdicts that g keeps.
func (g *Guard) Cached() int { return g.cache.recent.Len() }
