package pgdb

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/pool"
)

// said is what identifies a statement among those that the server runs when a
// pooler hides which of its processes has it.
type said struct {
	text string // its first characters
	at   time.Time
}

// headBytes bounds said.text. The server shows the first 1,024 bytes of a
// statement unless track_activity_query_size is lower, which is 100 at least.
const headBytes = 99

// head returns the beginning of a statement.
func head(sql string) string {
	if len(sql) > headBytes {
		sql = sql[:headBytes]
	}
	return strings.Clone(strings.ToValidUTF8(sql, ""))
}

// hold says in the answer to a statement that it may still run.
func hold(h *execution.Held, res *execution.Result, err error) error {
	if res != nil {
		res.Held = h
	}
	if e, ok := err.(*execution.Error); ok { //nolint:errorlint // made by this package and not wrapped
		e.Held = h
	}
	return err
}

// overSQL returns which of some statements the server still runs, and asks it
// again to end them. Its parameters are arrays: the process IDs, for how many
// seconds each statement has run at least, the beginnings of their texts, and
// whether a pooler hides the process.
//
// A process with one of the IDs that is younger than the statement is another
// client's: the server uses the IDs again. Behind a pooler, a statement is
// recognized by its text and age, and it is not ended again, because its process
// may already serve another client.
const overSQL = `SELECT coalesce(pg_catalog.string_agg(CAST(h.n AS pg_catalog.text), ','), ''),
	pg_catalog.count(CASE WHEN NOT h.pooled THEN pg_catalog.pg_terminate_backend(a.pid) END)
FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.int4[]), pg_catalog.unnest($2::pg_catalog.float8[]), pg_catalog.unnest($3::pg_catalog.text[]), pg_catalog.unnest($4::pg_catalog.bool[]))
	WITH ORDINALITY AS h (pid, age, head, pooled, n)
JOIN pg_catalog.pg_stat_activity AS a ON CASE WHEN h.pooled
	THEN a.usename OPERATOR(pg_catalog.=) session_user AND a.state OPERATOR(pg_catalog.=) 'active' AND pg_catalog.starts_with(a.query, h.head)
		AND a.xact_start OPERATOR(pg_catalog.<=) (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) pg_catalog.make_interval(secs => h.age))
		AND a.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
	ELSE a.pid OPERATOR(pg_catalog.=) h.pid
		AND a.backend_start OPERATOR(pg_catalog.<=) (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) pg_catalog.make_interval(secs => h.age)) END`

// fates reports which of the statements of cs are over.
func (d *DB) fates(ctx context.Context, cs []*conn) ([]pool.Fate, error) {
	out := make([]pool.Fate, len(cs))
	var servers []net.Addr
	for _, c := range cs {
		at := c.pg.Conn().RemoteAddr()
		if !slices.ContainsFunc(servers, func(s net.Addr) bool { return s.String() == at.String() }) {
			servers = append(servers, at)
		}
	}
	for _, at := range servers {
		if err := d.fatesAt(ctx, at, cs, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fatesAt is fates for the connections to one server.
func (d *DB) fatesAt(ctx context.Context, at net.Addr, cs []*conn, out []pool.Fate) error {
	var places []int
	var pids, ages, heads, pooled []string
	for i, c := range cs {
		if c.pg.Conn().RemoteAddr().String() != at.String() {
			continue
		}
		places = append(places, i)
		pids = append(pids, strconv.Itoa(int(int32(c.pg.PID())))) //nolint:gosec // a process ID of a pooler may have any 32 bits
		ages = append(ages, strconv.FormatFloat(time.Since(c.said.at).Seconds(), 'f', 3, 64))
		heads = append(heads, c.said.text)
		pooled = append(pooled, strconv.FormatBool(c.pooled))
	}
	row, err := d.askAt(ctx, at, arrayLiteral(pids), arrayLiteral(ages), arrayLiteral(heads), arrayLiteral(pooled))
	if err != nil {
		return err
	}
	for _, i := range places {
		out[i] = pool.Over
	}
	for n := range strings.SplitSeq(row, ",") {
		if n == "" {
			continue
		}
		i, err := strconv.Atoi(n)
		if err != nil || i < 1 || i > len(places) {
			return fmt.Errorf("%w: statement number %q", errFrame, n)
		}
		out[places[i-1]] = pool.Runs
	}
	return nil
}

// askAt runs overSQL on a new connection, or, when the server accepts none, on an
// idle connection of the pool.
func (d *DB) askAt(ctx context.Context, at net.Addr, values ...[]byte) (string, error) {
	done := d.pool.Aside(ctx, nil)
	if done == nil {
		return "", ctx.Err()
	}
	defer done()
	c, err := d.dialer.dialAt(ctx, at)
	if err == nil {
		defer c.Bye()
		return c.askOver(ctx, values)
	}
	l := d.pool.Idle()
	if l == nil || l.Conn.pg.Conn().RemoteAddr().String() != at.String() || !l.Conn.Ready(ctx) {
		if l != nil {
			d.pool.Discard(l)
		}
		return "", err
	}
	row, err := l.Conn.askOver(ctx, values)
	if err != nil {
		d.pool.Discard(l)
		return "", err
	}
	d.pool.Release(l)
	return row, nil
}

// askOver runs overSQL and returns its first column.
func (c *conn) askOver(ctx context.Context, values [][]byte) (string, error) {
	stop := context.AfterFunc(ctx, c.Sever)
	defer stop()
	row, err := c.question(overSQL, values...)
	switch {
	case err != nil:
		return "", err
	case len(row) != 2:
		return "", fmt.Errorf("%w: %d values for 2", errFrame, len(row))
	}
	return row[0], nil
}
