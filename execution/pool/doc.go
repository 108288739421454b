// Package pool keeps the connections of a backend: up to a maximum number,
// handed out in order of arrival, and closed when they were idle or open too
// long.
//
//	p := pool.New(10, dial)
//	lease, err := p.Acquire(ctx, limit)
//	…
//	p.Release(lease) // or p.Discard(lease)
//
// [Ended] makes the error of a statement that is ended early. A call that waits
// for a connection can end in the same ways as a call that uses one, so both
// get their errors from Ended.
//
// The package knows no driver. It never looks into a connection.
package pool
