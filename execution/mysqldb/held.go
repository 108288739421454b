package mysqldb

import (
	"context"

	"github.com/ktxhq/ktx/execution/pool"
)

// fates reports which of the statements of cs are over. It sends a KILL for each:
// the server answers that there is no such connection when the statement is over.
func (d *DB) fates(ctx context.Context, cs []*conn) ([]pool.Fate, error) {
	done := d.pool.Aside(ctx, nil)
	if done == nil {
		return nil, ctx.Err()
	}
	defer done()
	out := make([]pool.Fate, len(cs))
	asked := make([]bool, len(cs))
	for i, first := range cs {
		if asked[i] {
			continue
		}
		k, back, err := d.killer(ctx, first)
		if err != nil {
			return nil, err
		}
		for j, c := range cs {
			if c.at.String() != first.at.String() || err != nil {
				continue
			}
			asked[j] = true
			var gone bool
			if gone, err = k.gone(ctx, c); gone {
				out[j] = pool.Over
			}
		}
		back(err)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// killer returns a connection to the server of c: a new one or, when the server
// accepts none, an idle one of the pool. The caller gives it back.
func (d *DB) killer(ctx context.Context, c *conn) (k *conn, back func(error), err error) {
	k, err = d.dialer.connect(ctx, c.at)
	if err == nil {
		return k, func(error) { k.Bye() }, nil
	}
	l := d.pool.Idle()
	if l == nil {
		return nil, nil, err
	}
	if l.Conn.at.String() != c.at.String() || !l.Conn.Ready(ctx) {
		d.pool.Discard(l)
		return nil, nil, err
	}
	return l.Conn, func(err error) {
		if err != nil {
			d.pool.Discard(l)
		} else {
			d.pool.Release(l)
		}
	}, nil
}
