// Package pool keeps the connections of a backend: at most so many, handed out
// in order of arrival, and closed when they have been idle or alive for long.
//
//	p := pool.New(10, dial)
//	lease, err := p.Acquire(ctx, limit)
//	…
//	p.Release(lease) // or p.Discard(lease)
//
// It also has the errors with which a statement ends before its end, and their
// codes ([Ended]), since who waits for a connection ends in the same ways as who
// uses one.
//
// The package knows no driver. It never looks into a connection.
package pool
