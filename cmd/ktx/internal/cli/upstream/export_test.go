package upstream

// What a test in the package upstream_test uses.
var (
	Listen = listen
	Wait   = (*callback).wait
	Close  = (*callback).close
	Pasted = pasted
)

// Address is the address to which the browser returns.
func (b *callback) Address() string { return b.address }
