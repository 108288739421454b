package testdb

import "context"

// Picking returns o with another choice of ports.
func (o Options) Picking(pick func(ctx context.Context) (int, error)) Options {
	o.pick = pick
	return o
}

// FindTool is Tool without a test to fail.
var FindTool = findTool

// FreePort is the choice of ports that a server makes without Picking.
var FreePort = freePort
