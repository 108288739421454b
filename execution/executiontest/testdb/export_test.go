package testdb

import "context"

// Picking returns o with another way to choose ports.
func (o Options) Picking(pick func(ctx context.Context) (int, error)) Options {
	o.pick = pick
	return o
}

// FindTool is Tool without a test to fail.
var FindTool = findTool

// FreePort chooses a port as a server without Picking does.
var FreePort = freePort
