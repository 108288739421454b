package execution

import (
	"context"

	"github.com/ktxhq/ktx/sqlguard"
)

// Lister is a [Backend] that lists the names of the objects in its database.
type Lister interface {
	Inventory(ctx context.Context) (sqlguard.Inventory, error)
}

// Unmatched opens the connection and returns the names in its policy that match
// nothing in its database. It asks the database only when the policy has names
// and the backend is a [Lister].
func (g *Gateway) Unmatched(ctx context.Context, connectionID string) ([]sqlguard.UnmatchedName, error) {
	d, done, err := g.enter(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	defer done()
	p := &d.Policy
	if len(p.Schemas.Allow)+len(p.Schemas.Deny)+len(p.Tables.Allow)+len(p.Tables.Deny)+len(p.Functions.Allow)+len(p.Functions.Deny)+len(p.Columns) == 0 {
		return nil, nil
	}
	s, err := d.ready(ctx, g.log)
	if err != nil {
		return nil, err
	}
	lister, ok := s.backend.(Lister)
	if !ok {
		return nil, nil
	}
	in, err := lister.Inventory(ctx)
	if err != nil {
		return nil, err
	}
	return sqlguard.Unmatched(d.Dialect, d.Policy, in), nil
}
