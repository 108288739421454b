package mcp

// What tests see of the package.
var (
	PercentFor     = percentFor
	ContainerLimit = containerLimit
	TuneCollector  = tuneCollector
)
