package mysqldb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ktxhq/ktx/execution/mysqldb/wire"
)

// uptimeSQL asks for how many seconds the server has run.
const uptimeSQL = "SHOW GLOBAL STATUS LIKE 'Uptime'"

// over reports which of the statements of cs are over. It sends a KILL for each:
// the server answers that there is no such connection when the statement is over.
func (d *DB) over(ctx context.Context, cs []*conn) ([]bool, error) {
	done := d.pool.Aside(ctx, nil)
	if done == nil {
		return nil, ctx.Err()
	}
	defer done()
	out := make([]bool, len(cs))
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
			out[j], err = k.gone(ctx, c)
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

// gone kills the connection c and reports whether it was over already. A server
// that has run for less time than the statement is another one, or was
// restarted, and may have given the number to another client.
func (c *conn) gone(ctx context.Context, held *conn) (bool, error) {
	stop := context.AfterFunc(ctx, c.wire.Sever)
	defer stop()
	if err := c.wire.SendQueries(uptimeSQL); err != nil {
		return false, err
	}
	values, _, err := c.one()
	if err != nil {
		return false, err
	}
	if len(values) != 2 {
		return false, fmt.Errorf("%w: %d values for 2", wire.ErrFormat, len(values))
	}
	up, err := strconv.ParseInt(values[1], 10, 64)
	if err != nil {
		return false, fmt.Errorf("%w: uptime %q", wire.ErrFormat, values[1])
	}
	if time.Duration(up+1)*time.Second < time.Since(held.begun) {
		return true, nil
	}
	if err := c.wire.SendQueries("KILL CONNECTION " + strconv.FormatUint(uint64(held.id), 10)); err != nil {
		return false, err
	}
	err = c.done()
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Number == errNoSuchThread {
		return true, nil
	}
	return false, err
}
