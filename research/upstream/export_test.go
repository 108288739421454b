package upstream

// StandingOf is what rules say about a tool.
func StandingOf(rules []Rule, server, tool string, readOnly bool) (Standing, error) {
	compiled, err := compileRules(rules)
	if err != nil {
		return Standing{}, err
	}
	return standing(compiled, server, tool, readOnly), nil
}
