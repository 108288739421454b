package pgdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// This file holds every SQL statement that this package itself sends to a
// server. They are constants; values from a caller or an operator are bind
// parameters. Names are qualified, because the search path of a role is not
// trusted.

// constant is one SQL statement and the name under which it is prepared.
type constant struct{ name, sql string }

var (
	rollback = constant{"ktx_rollback", "ROLLBACK"}

	// resets undo what a rollback leaves; see the package documentation.
	resets = []constant{
		{"ktx_reset_user", "SET SESSION AUTHORIZATION DEFAULT"},
		{"ktx_reset_settings", "RESET ALL"},
		{"ktx_reset_cursors", "CLOSE ALL"},
		{"ktx_reset_channels", "UNLISTEN *"},
		{"ktx_reset_locks", "SELECT pg_catalog.pg_advisory_unlock_all()"},
	}
)

// The statements that a new connection runs once.
const (
	identifySQL = "SELECT pg_catalog.pg_backend_pid(), pg_catalog.current_setting('server_version_num')"
	// Servers before version 14 do not have the setting, and some platforms
	// refuse it.
	intervalSQL = "SELECT pg_catalog.set_config('" + checkInterval + "', '" + checkIntervalValue + "', true)"
)

// The settings pinned for every statement in addition to those of the dialect.
const (
	timeoutSetting     = "statement_timeout"
	lockSetting        = "lock_timeout"
	idleSetting        = "idle_in_transaction_session_timeout"
	readOnlySetting    = "transaction_read_only"
	pathSetting        = "search_path"
	checkInterval      = "client_connection_check_interval"
	checkIntervalValue = "500ms" // the server ends a statement this long after its client has gone
	idleTimeout        = "10s"   // this package always closes its transactions at once
)

// mismatchMark begins the text of a failed assertion, so that it can be found
// in the server's message in any language.
const mismatchMark = "ktx: "

// The pins. The parameters are the statement and lock timeouts in milliseconds
// and three arrays: the names of the settings, their values, and whether each
// is fixed. A setting that already has its value is not set again, because that
// would cost the server time, and again at the rollback.
//
// When a condition does not hold, the pins raise an error: they cast a text to
// an integer, and the text names the first setting that differs, otherwise the
// first condition that fails. A condition that is NULL does not hold. All
// conditions call functions that are not immutable, so the server evaluates
// none of them before the statement runs. The answer is one digit, which fits
// every limit of a call.
//
// The unqualified names of functions and operators in a statement mean the
// server's own only when the server's schema is searched first. A temporary
// schema may come before it, because functions and operators are not searched
// there.
const (
	pinsHead = `SELECT CAST(coalesce((
	SELECT pg_catalog.concat('` + mismatchMark + `', n, ' is ', pg_catalog.current_setting(n))
	FROM ROWS FROM (pg_catalog.unnest($3::pg_catalog.text[]), pg_catalog.unnest($4::pg_catalog.text[]), pg_catalog.unnest($5::pg_catalog.bool[])) AS p (n, v, fixed)
	WHERE (` + pinHolds + ` OR NOT fixed AND pg_catalog.set_config(n, v, true) IS NOT NULL AND (` + pinHolds + `)) IS NOT TRUE LIMIT 1
), CASE
	WHEN (pg_catalog.set_config('statement_timeout', $1, true) IS NOT NULL
		AND pg_catalog.set_config('lock_timeout', $2, true) IS NOT NULL
		AND pg_catalog.set_config('idle_in_transaction_session_timeout', '` + idleTimeout + `', true) IS NOT NULL`
	pinsInterval = `
		AND pg_catalog.set_config('` + checkInterval + `', '` + checkIntervalValue + `', true) IS NOT NULL`
	pinsTail = `) IS NOT TRUE THEN '` + mismatchMark + `the time limits are not set'
	WHEN (pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'on') IS NOT TRUE THEN '` + mismatchMark + `the transaction is not read-only'
	WHEN ((pg_catalog.current_schemas(true))[1] OPERATOR(pg_catalog.=) 'pg_catalog'
		OR (pg_catalog.current_schemas(true))[2] OPERATOR(pg_catalog.=) 'pg_catalog'
		AND pg_catalog.starts_with(CAST((pg_catalog.current_schemas(true))[1] AS pg_catalog.text), 'pg_temp_')) IS NOT TRUE
		THEN pg_catalog.concat('` + mismatchMark + `search_path has schemas before pg_catalog: ', pg_catalog.current_setting('search_path'))
	ELSE '1' END) AS pg_catalog.int4)`

	// When read back, DateStyle also has the order of day and month, which is
	// not pinned, and TimeZone has the server's spelling.
	pinHolds = `pg_catalog.current_setting(n) OPERATOR(pg_catalog.=) v
		OR n OPERATOR(pg_catalog.=) 'DateStyle' AND pg_catalog.starts_with(pg_catalog.current_setting(n), pg_catalog.concat(v, ','))
		OR n OPERATOR(pg_catalog.=) 'TimeZone' AND pg_catalog.lower(pg_catalog.current_setting(n)) OPERATOR(pg_catalog.=) pg_catalog.lower(v)`
)

var (
	pins         = constant{"ktx_pins", pinsHead + pinsTail}
	pinsChecking = constant{"ktx_pins", pinsHead + pinsInterval + pinsTail}
)

// opening returns the messages before the statement: BEGIN and the pins of
// settings, or in place of the pins the question whether the session is sealed.
func (c *conn) opening(timeout, lockTimeout time.Duration, settings *pinned) (raw, error) {
	if c.open != nil && c.openTimeout == timeout && c.openLock == lockTimeout && c.openPins == settings {
		return c.open, nil
	}
	var e encoder
	e.run(c.dialer.texts.begin, c.prepared)
	var leave encoder
	values, sealed := c.sealed(timeout, lockTimeout, settings)
	if sealed {
		e.run(c.seal.enter, true, values...)
		leave.run(c.seal.leave, true, values[0])
		leave.run(rollback, true)
		leave.add(&pgproto3.Sync{})
	} else {
		e.run(c.pins(), c.prepared, append([][]byte{milliseconds(timeout), milliseconds(lockTimeout)}, settings.arrays[:]...)...)
	}
	if err := errors.Join(e.err, leave.err); err != nil {
		return nil, err
	}
	c.openSealed, c.leave = sealed, leave.b
	c.open, c.openTimeout, c.openLock, c.openPins = e.b, timeout, lockTimeout, settings
	return c.open, nil
}

// milliseconds returns d as a setting in milliseconds, at least 1, because 0
// would mean no limit.
func milliseconds(d time.Duration) []byte {
	return strconv.AppendInt(nil, min(max(d.Milliseconds(), 1), 1<<31-1), 10)
}

func (c *conn) pins() constant {
	if c.interval {
		return pinsChecking
	}
	return pins
}

// closing returns the messages after the statement's Sync: ROLLBACK and the
// reset, with their own Sync. An error in the statement does not make the
// server skip them. A sealed session needs them only after an error.
func (c *conn) closing() (raw, error) {
	if c.close != nil {
		return c.close, nil
	}
	var e encoder
	e.run(rollback, c.prepared)
	for _, r := range resets {
		e.run(r, c.prepared)
	}
	e.add(&pgproto3.Sync{})
	if e.err != nil {
		return nil, e.err
	}
	c.close = e.b
	return c.close, nil
}

// setUp asks a new connection about its server and prepares the constants,
// unless a pooler is in front of the server.
func (c *conn) setUp(ctx context.Context) error {
	if err := c.pg.Conn().SetDeadline(time.Now().Add(c.dialer.conf.ConnectTimeout)); err != nil {
		return connectError(ctx, err)
	}
	stop := context.AfterFunc(ctx, c.Sever)
	err := c.ask(ctx)
	if !stop() && err == nil {
		err = connectError(ctx, ctx.Err())
	}
	if err != nil {
		return err
	}
	return c.pg.Conn().SetDeadline(time.Time{})
}

func (c *conn) ask(ctx context.Context) error {
	c.user = c.pg.ParameterStatus("session_authorization")
	row, err := c.question(identifySQL)
	if err != nil {
		return connectError(ctx, err)
	}
	if len(row) != 2 {
		return connectError(ctx, fmt.Errorf("%w: %d values for 2", errFrame, len(row)))
	}
	pid, err := strconv.ParseUint(row[0], 10, 32)
	if err != nil {
		return connectError(ctx, fmt.Errorf("%w: process ID %q", errFrame, row[0]))
	}
	if c.version, err = strconv.Atoi(row[1]); err != nil {
		return connectError(ctx, fmt.Errorf("%w: version %q", errFrame, row[1]))
	}
	switch _, err := c.question(intervalSQL); {
	case err == nil:
		c.interval = true
	case c.pg.IsClosed():
		return connectError(ctx, err)
	}
	switch c.dialer.pooler {
	case PoolerOn:
		c.pooled = true
	case PoolerOff:
	case PoolerAuto:
		c.pooled = uint32(pid) != c.pg.PID() || c.dialer.found.Load()
	}
	if c.pooled {
		return nil
	}
	return c.prepare(ctx)
}

// question runs a constant outside of a transaction and returns its last row.
func (c *conn) question(sql string, values ...[]byte) ([]string, error) {
	var e encoder
	e.run(constant{sql: sql}, false, values...)
	e.add(&pgproto3.Sync{})
	if e.err != nil {
		return nil, e.err
	}
	f := c.pg.Frontend()
	f.Send(raw(e.b))
	if err := f.Flush(); err != nil {
		return nil, err
	}
	return c.collect()
}

// prepare prepares the constants under their names. When the server refuses,
// the connection sends them unnamed.
func (c *conn) prepare(ctx context.Context) error {
	f := c.pg.Frontend()
	for _, t := range append([]constant{c.dialer.texts.begin, c.pins(), rollback}, resets...) {
		f.SendParse(&pgproto3.Parse{Name: t.name, Query: t.sql})
	}
	f.SendSync(&pgproto3.Sync{})
	want := c.askSeal(f)
	if err := f.Flush(); err != nil {
		return connectError(ctx, err)
	}
	_, err := c.collect()
	if !c.pg.IsClosed() {
		if sealErr := c.learnSeal(want); sealErr != nil {
			err = sealErr
		}
	}
	switch {
	case err == nil:
		c.prepared = true
	case c.pg.IsClosed():
		return connectError(ctx, err)
	default:
		// The names are taken. So this server connection belonged to another
		// client, and there is a pooler, whatever the configuration says.
		c.dialer.found.Store(true)
		c.pooled = true
	}
	return nil
}

// askSeal prepares the comparisons, and asks a new connection for the settings of its
// session. It returns what learnSeal has to find.
func (c *conn) askSeal(f *pgproto3.Frontend) wanted {
	w := c.wantSeal()
	for _, t := range sealTexts(w) {
		f.SendParse(&pgproto3.Parse{Name: t.name, Query: t.sql})
	}
	f.SendSync(&pgproto3.Sync{})
	f.SendParse(&pgproto3.Parse{Query: "SELECT " + strings.Join(w.names(), ", ")})
	f.SendBind(&pgproto3.Bind{})
	f.SendExecute(&pgproto3.Execute{})
	f.SendSync(&pgproto3.Sync{})
	return w
}

// collect reads to the next ReadyForQuery and returns the last row.
func (c *conn) collect() (row []string, err error) {
	for {
		msg, fatal := c.pg.ReceiveMessage(context.Background())
		if fatal != nil {
			return nil, fatal
		}
		switch msg := msg.(type) {
		case *pgproto3.DataRow:
			row = row[:0]
			for _, v := range msg.Values {
				row = append(row, string(v))
			}
		case *pgproto3.ErrorResponse:
			err = serverError(msg)
		case *pgproto3.ReadyForQuery:
			if msg.TxStatus != 'I' {
				return nil, fmt.Errorf("%w: status %q outside of a transaction", errFrame, msg.TxStatus)
			}
			return row, err
		}
	}
}

// The queries that the backend itself sends. They run as approved statements
// do: in a read-only transaction with the pins.
const (
	catalogSQL = `SELECT pg_catalog.current_database(), pg_catalog.current_setting('server_version_num'), s
FROM (SELECT NULL::pg_catalog.name AS s UNION ALL SELECT pg_catalog.unnest(pg_catalog.current_schemas(false))) AS path`

	typeNamesSQL = `SELECT t.oid, CASE WHEN e.typarray OPERATOR(pg_catalog.=) t.oid THEN pg_catalog.concat(e.typname, '[]') ELSE t.typname::pg_catalog.text END
FROM pg_catalog.pg_type AS t LEFT JOIN pg_catalog.pg_type AS e ON e.oid OPERATOR(pg_catalog.=) t.typelem
WHERE t.oid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[])`
)
