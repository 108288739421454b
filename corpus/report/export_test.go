package report

// Marked reports whether every finding of a reading is about a node of it.
func Marked(r Reading) bool {
	for _, f := range r.Verdict.Findings {
		if offending(r.Nodes, f, nil) == nil {
			return false
		}
	}
	return true
}
