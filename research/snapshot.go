package research

import (
	"context"
	"errors"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

// snapshot returns what the latest scan of a connection found, as far as the
// connection's access rules permit it. The error is that of
// [execution.Gateway.Connection] if the caller has no such connection, and wraps
// [catalog.ErrNoScan] if it has no scan.
func (s *Service) snapshot(ctx context.Context, store *catalog.Store, connectionID string) (*catalog.Snapshot, error) {
	readable, err := s.gateway.Readable(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	found, err := store.Snapshot(ctx, connectionID, readable)
	switch {
	case err == nil:
		s.logWarnings(ctx, found)
		return found, nil
	case errors.Is(err, catalog.ErrNoScan):
		return nil, err
	case ctx.Err() != nil:
		return nil, execution.NewError(sqlguard.CodeCancelled, "cancelled while the scan was read", err)
	default:
		return nil, execution.NewError(sqlguard.CodeInternalError, "the scan of "+connectionID+" cannot be read", err)
	}
}

// logWarnings tells the operator which files of a scan cannot be used, once for each
// snapshot. The names of files may be those of tables that the caller may not see, so
// no answer has them.
func (s *Service) logWarnings(ctx context.Context, found *catalog.Snapshot) {
	before, _ := s.warned.Swap(found.ConnectionID(), found.Identity())
	if before == found.Identity() {
		return
	}
	const most = 10
	for i, w := range found.Warnings() {
		if i == most {
			s.logger.WarnContext(ctx, "more files of the scan cannot be used", "connection", found.ConnectionID(), "files", len(found.Warnings())-most)
			break
		}
		s.logger.WarnContext(ctx, "a file of the scan cannot be used", "connection", found.ConnectionID(), "scan", found.SyncID(), "problem", w.Message)
	}
}
