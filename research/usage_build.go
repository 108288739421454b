package research

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/usage"
	"github.com/ktxhq/ktx/sqlguard"
)

// UsageInput is the input of [Service.Usage].
type UsageInput struct {
	// ConnectionID limits the count to one connection; "" counts all that the
	// caller may use.
	ConnectionID string
	// Statements are those of the audit log.
	Statements iter.Seq2[audit.Statement, error]
	// Dialect returns the reader of a dialect by its name.
	Dialect func(name string) (sqlguard.Dialect, bool)
	Now     time.Time
}

// Usage is what statements of the audit log read.
type Usage struct {
	Files   []*usage.File `json:"files"`   // one for each connection that was counted, by id
	Skipped []UsageSkip   `json:"skipped"` // the other connections
	// Damaged counts places in the log that could not be read.
	Damaged int `json:"damaged"`
}

// UsageSkip is a connection whose statements were not counted.
type UsageSkip struct {
	ConnectionID string `json:"connectionId"`
	Reason       string `json:"reason"`
}

// Usage counts what the accepted statements of the audit log read. It counts
// tables and columns of the last scan only, and none that the rules of the
// connection deny.
func (s *Service) Usage(ctx context.Context, in UsageInput) (Usage, error) {
	connections := s.gateway.Connections(ctx)
	if in.ConnectionID != "" {
		one, err := s.gateway.Connection(ctx, in.ConnectionID)
		if err != nil {
			return Usage{}, err
		}
		connections = []execution.ConnectionInfo{one}
	}
	out := Usage{Files: []*usage.File{}, Skipped: []UsageSkip{}}
	builders := map[string]*usage.Builder{}
	var counted []string
	for _, c := range connections {
		d, ok := in.Dialect(c.Dialect)
		if !ok {
			out.Skipped = append(out.Skipped, UsageSkip{c.ID, "this version has no reader for its SQL"})
			continue
		}
		readable, err := s.gateway.Readable(ctx, c.ID)
		if err != nil {
			return Usage{}, err
		}
		snapshot, err := s.stores.Load().Catalog.Snapshot(ctx, c.ID, readable)
		switch {
		case errors.Is(err, catalog.ErrNoScan):
			out.Skipped = append(out.Skipped, UsageSkip{c.ID, "it has no scan; run: ktx scan " + c.ID})
			continue
		case err != nil:
			return Usage{}, err
		}
		builders[c.ID] = usage.NewBuilder(c.ID, d, snapshot.Tables())
		counted = append(counted, c.ID)
	}
	out.Damaged = usage.Collect(in.Statements, builders)
	if err := ctx.Err(); err != nil {
		return Usage{}, err
	}
	for _, id := range counted {
		out.Files = append(out.Files, builders[id].File(in.Now))
	}
	return out, nil
}
