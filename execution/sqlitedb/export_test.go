package sqlitedb

// The lists that tests compare with the engine.
var (
	Functions        = functions
	RefusedFunctions = refusedFunctions
)

// MaxAbandoned is how many abandoned statements may be in flight.
const MaxAbandoned = maxAbandoned
