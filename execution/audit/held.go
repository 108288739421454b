package audit

import (
	"context"
	"errors"
	"slices"
	"time"
)

// HeldStatement is a statement that the server was asked to end, and whose end it has not
// confirmed.
type HeldStatement struct {
	QueryID    string    `json:"queryId"`
	Connection string    `json:"-"`
	Dialect    string    `json:"-"`
	Asked      time.Time `json:"askedToEnd"` // when its caller got the answer
}

// HeldStatements returns the statements in dir that may still run at their server although
// their callers have the answer, oldest first. It looks at the events since that time.
// Statements of a process that has ended are not among them: the server ends them with
// their connection.
func HeldStatements(ctx context.Context, dir string, since time.Time) ([]HeldStatement, error) {
	r, err := OpenReader(dir)
	if err != nil {
		return nil, err
	}
	list, err := heldStatements(ctx, r, since)
	return list, errors.Join(err, r.Close())
}

func heldStatements(ctx context.Context, r *Reader, since time.Time) ([]HeldStatement, error) {
	var list []HeldStatement
	over, gone := map[string]bool{}, map[string]bool{} // statements, and runs of processes
	open := map[string]HeldStatement{}                 // those whose decision was not met yet
	for rec, err := range r.Newest(ctx) {
		if _, bad := errors.AsType[*LineError](err); bad {
			continue
		}
		if err != nil {
			return nil, err
		}
		e := rec.Event
		if e.Time.Before(since) && len(open) == 0 {
			break
		}
		switch e.Type { //nolint:exhaustive // the other events say nothing of it
		case GatewayStop, GatewayCrashed:
			gone[e.Process.Run] = true
		case QueryEnded:
			over[e.QueryID] = true
		case QueryFinished, QueryCancelled:
			if e.Result.Ended == EndedUnconfirmed && !over[e.QueryID] && !e.Time.Before(since) {
				open[e.QueryID] = HeldStatement{QueryID: e.QueryID, Connection: e.Connection.ID, Dialect: e.Connection.Dialect, Asked: e.Time}
			}
		case QueryDecision:
			if h, ok := open[e.QueryID]; ok && !gone[e.Process.Run] {
				h.Connection, h.Dialect = e.Connection.ID, e.Connection.Dialect
				list = append(list, h)
			}
			delete(open, e.QueryID)
		}
	}
	for _, h := range open { // whose decisions are in an archive
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b HeldStatement) int { return a.Asked.Compare(b.Asked) })
	return list, nil
}
