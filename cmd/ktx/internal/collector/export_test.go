package collector

// StartAgain starts the delay anew.
func StartAgain() { late = start() }
