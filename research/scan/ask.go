package scan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// Gateway runs statements. [execution.Gateway] is one.
type Gateway interface {
	Query(ctx context.Context, request execution.Request) (*execution.Result, error)
}

// statementBytes bounds the values of one answer, so that the memory of a scan does
// not depend on the size of the texts in the database.
const statementBytes = 32 << 20

// catalogPage is how many rows of a catalogue are read by one statement.
const catalogPage = 5000

// asker sends the statements of one connection.
type asker struct {
	gateway    Gateway
	connection execution.ConnectionInfo
	turns      chan struct{} // one element for each statement that may run at once
}

func newAsker(g Gateway, c execution.ConnectionInfo, concurrency int) *asker {
	return &asker{gateway: g, connection: c, turns: make(chan struct{}, max(1, concurrency))}
}

// ask runs one statement. Its rows end at the limits of the connection and at
// statementBytes.
func (a *asker) ask(ctx context.Context, sql string) (*execution.Result, error) {
	return a.askWithin(ctx, sql, 0)
}

// askWithin is ask with a time limit, if it is lower than that of the connection.
func (a *asker) askWithin(ctx context.Context, sql string, timeout time.Duration) (*execution.Result, error) {
	select {
	case a.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-a.turns }()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	res, err := a.gateway.Query(ctx, execution.Request{
		ConnectionID: a.connection.ID, SQL: sql, Limits: execution.Limits{Bytes: statementBytes, Timeout: timeout},
	})
	if err != nil && ctx.Err() != nil { // whatever the server says to a statement that was ended
		return nil, ctx.Err()
	}
	return res, err
}

// page returns how many rows of a catalogue one statement asks for.
func (a *asker) page() int { return max(1, min(catalogPage, a.connection.Limits.Rows)) }

// pages reads all rows of a catalogue. Statement returns the text that reads the rows
// after a row, nil for the beginning, in an order that these values define.
func (a *asker) pages(ctx context.Context, statement func(after []string, limit int) string, each func(row []string, null []bool)) error {
	var after []string
	for {
		res, err := a.ask(ctx, statement(after, a.page()))
		if err != nil {
			return err
		}
		for _, row := range res.Rows {
			texts, null := make([]string, len(row)), make([]bool, len(row))
			for i, v := range row {
				texts[i], null[i] = v.Text, v.Kind == execution.Null
			}
			each(texts, null)
			after = texts
		}
		switch {
		case len(res.Rows) == 0 && res.Truncated:
			return fmt.Errorf("read the catalogue: a row is larger than the connection's limits: %s", res.Note)
		case len(res.Rows) < a.page() && !res.Truncated:
			return nil
		}
	}
}

// lost reports whether an error ends the scan, because the next statement would fail
// too: the connection, the audit log and the configuration.
func lost(err error) bool {
	switch execution.CodeOf(err) { //nolint:exhaustive // the other codes are about one statement
	case sqlguard.CodeConnectionLost, sqlguard.CodeServerRestarted, sqlguard.CodeAuditUnavailable, sqlguard.CodeNotConfigured, sqlguard.CodeNoBackend,
		sqlguard.CodeUnknownConnection, sqlguard.CodeCancelled, sqlguard.CodeBusy:
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
