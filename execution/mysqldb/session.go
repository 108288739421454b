package mysqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/mysqldb/wire"
)

// The constant statements that are sent before and after a statement.
const (
	beginSQL = "START TRANSACTION READ ONLY"
	// TiDB has no read-only transactions: what a statement changed is rolled back, and DDL
	// is stopped by the rights of the account alone. Its transactions that read the past
	// refuse DML, but end when a statement reads information_schema, and fail for its joins.
	beginTiDBSQL = "START TRANSACTION"
	rollbackSQL  = "ROLLBACK AND NO CHAIN NO RELEASE"

	// identifySQL asks for what must not change in a session: the database in
	// which names are looked up, the account and its role.
	identifySQL = "SELECT VERSION(), CONNECTION_ID(), DATABASE(), CURRENT_USER(), CURRENT_ROLE()"

	// uptimeSQL asks for how many seconds the server has run.
	uptimeSQL = "SHOW GLOBAL STATUS LIKE 'Uptime'"
)

// The oldest servers that are supported. From these versions on a session can
// be reset, and reports its role.
const (
	oldestMariaDB = 10.04
	oldestMySQL   = 8.00
)

// identity is the answer to identifySQL.
type identity struct {
	version  string
	id       string
	database string
	user     string
	role     string
}

// texts are the statements that a configuration sends to a session.
type texts struct{ pins []pin }

func newTexts(pins []pin) *texts { return &texts{pins: pins} }

// opening returns the statements that are sent before the caller's, and the
// pins that the last of them must return. They set the pins, begin a read-only
// transaction, and read back both together with the account and the database of
// the session.
func (t *texts) opening(c *conn, lim execution.Limits) (sqls []string, pins []pin) {
	pins = slices.Concat(t.pins, limited(c.flavour, lim))
	var set, ask strings.Builder
	set.WriteString("SET NAMES " + charset)
	ask.WriteString(identifySQL)
	for _, p := range pins {
		ask.WriteString(", @@")
		if !p.assert {
			set.WriteString(", " + p.assignment())
			ask.WriteString("SESSION.")
		}
		ask.WriteString(p.name)
	}
	begin := beginSQL
	if c.flavour == tidb {
		begin = beginTiDBSQL
	}
	return []string{set.String(), begin, ask.String()}, pins
}

// begin opens the read-only transaction of a statement. The server's error is a
// *wire.Error. A session whose state differs from the pins is a *mismatchError.
func (c *conn) begin(lim execution.Limits) error {
	sqls, pins := c.dialer.texts.opening(c, lim)
	if err := c.wire.SendQueries(sqls...); err != nil {
		return err
	}
	// All three answers are read, even when the first is an error, so that the
	// connection can be used again.
	var refused error
	for range 2 {
		a, err := c.wire.Answer()
		switch {
		case err != nil:
			return err
		case a.Columns != nil:
			return fmt.Errorf("%w: rows where none were asked for", wire.ErrFormat)
		case a.Err != nil && refused == nil:
			refused = a.Err
		}
	}
	got, status, err := c.one()
	switch e, isRefusal := errors.AsType[*wire.Error](err); {
	case err != nil && !isRefusal:
		return err
	case refused != nil:
		return refused
	case isRefusal:
		return e
	}
	return c.verify(got, status, pins)
}

// readOnly reports whether the server says that it is in the transaction of begin. TiDB
// does not say of a transaction that it is read-only.
func (c *conn) readOnly(status wire.Status) bool {
	if c.flavour == tidb {
		return status.Has(wire.InTransaction)
	}
	return status.Has(wire.InTransaction | wire.InReadOnlyTransaction)
}

// verify compares the state that the server reported for the session with the
// state that it must have.
func (c *conn) verify(got []string, status wire.Status, pins []pin) error {
	const own = 5
	if len(got) != own+len(pins) {
		return fmt.Errorf("%w: %d values where %d were asked for", wire.ErrFormat, len(got), own+len(pins))
	}
	if !c.readOnly(status) {
		return &mismatchError{"the transaction is not read-only"}
	}
	if now := newIdentity(got); now != c.self {
		return &mismatchError{"the session's database, user or role is another than at its log-in"}
	}
	for i, p := range pins {
		if p.name == "sql_mode" && status.Has(wire.NoBackslashEscapes) != slices.Contains(modes(p.value), "NO_BACKSLASH_ESCAPES") {
			return &mismatchError{"the server says of backslashes what its sql_mode does not"}
		}
		if value := got[own+i]; !same(p.name, value, p.value) {
			return &mismatchError{fmt.Sprintf("%s is %q, not %q", p.name, value, p.value)}
		}
	}
	return nil
}

func newIdentity(row []string) identity {
	return identity{version: row[0], id: row[1], database: row[2], user: row[3], role: row[4]}
}

// mismatchError says how a session differs from what it must be.
type mismatchError struct{ what string }

func (e *mismatchError) Error() string { return e.what }

// setUp asks the server of a new connection for its version, account and
// database.
func (c *conn) setUp(ctx context.Context) error {
	if err := c.wire.SetDeadline(time.Now().Add(c.dialer.target.connectTimeout)); err != nil {
		return connectError(ctx, err)
	}
	stop := context.AfterFunc(ctx, c.wire.Sever)
	err := c.identify()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = c.wire.SetDeadline(time.Time{})
	}
	if err != nil {
		return connectError(ctx, err)
	}
	return nil
}

func (c *conn) identify() error {
	if err := c.wire.SendQueries(identifySQL); err != nil {
		return err
	}
	row, _, err := c.one()
	if err != nil {
		return err
	}
	if len(row) != 5 {
		return fmt.Errorf("%w: %d values where 5 were asked for", wire.ErrFormat, len(row))
	}
	c.self = newIdentity(row)
	if flavourOf(c.self.version) != c.flavour {
		return &mismatchError{fmt.Sprintf("the server calls itself %q, and another in its greeting", c.self.version)}
	}
	if isTiDB := c.dialer.relative == relativeTiDB; isTiDB != (c.flavour == tidb) {
		if isTiDB {
			return &mismatchError{"the server does not call itself TiDB: set driver: mysql or mariadb in ktx.yaml"}
		}
		return &mismatchError{"the server is TiDB, whose session does not stop every write: set driver: mysql:tidb in ktx.yaml"}
	}
	if oldest := map[flavour]float64{mariadb: oldestMariaDB, mysqld: oldestMySQL, tidb: oldestMySQL}[c.flavour]; release(c.self.version) < oldest {
		return &mismatchError{fmt.Sprintf("the server is %s %s; MariaDB 10.4 or MySQL 8.0 is the oldest that is served", c.flavour, number(c.self.version))}
	}
	if !strings.EqualFold(c.self.database, c.dialer.target.database) {
		return &mismatchError{"the server selected another database than the url names"}
	}
	return nil
}

// kill ends the statement that runs on another connection.
func (c *conn) kill(id uint32) error {
	if err := c.wire.SendQueries("KILL QUERY " + strconv.FormatUint(uint64(id), 10)); err != nil {
		return err
	}
	a, err := c.wire.Answer()
	switch {
	case err != nil:
		return err
	case a.Err != nil && a.Err.Number != errNoSuchThread: // the statement's session has ended
		return a.Err
	default:
		return nil
	}
}

// close rolls back a statement and resets the session. The answers are read by
// settle.
func (c *conn) close() error {
	if err := c.wire.SendQueryAndReset(rollbackSQL); err != nil {
		return err
	}
	c.pending = true
	return nil
}

// question runs a query outside of a transaction and returns its first column.
func (c *conn) question(sql string) ([]string, error) {
	rows, err := c.questions(sql)
	column := make([]string, len(rows))
	for i, row := range rows {
		column[i] = row[0]
	}
	return column, err
}

// questions runs a query outside of a transaction and returns its rows.
func (c *conn) questions(sql string) ([][]string, error) {
	if err := c.wire.SendQueries(sql); err != nil {
		return nil, err
	}
	a, err := c.wire.Answer()
	switch {
	case err != nil:
		return nil, err
	case a.Err != nil:
		return nil, a.Err
	case a.Columns == nil:
		return nil, nil
	}
	row := wire.Row{Columns: len(a.Columns), Keep: len(a.Columns), CellBytes: 64 << 10, RowBytes: 64 << 10}
	var rows [][]string
	for {
		more, err := c.wire.Row(&row)
		switch {
		case err != nil:
			return nil, err
		case !more && row.Err != nil:
			return nil, row.Err
		case !more:
			return rows, nil
		case row.Cut != nil || len(rows) >= questionLimits.Rows:
			return nil, fmt.Errorf("%w: more than was asked for", wire.ErrFormat)
		}
		values := make([]string, len(row.Values))
		for i, v := range row.Values {
			values[i] = string(v)
		}
		rows = append(rows, values)
	}
}

// flavourOf returns the product that a version names.
func flavourOf(version string) flavour {
	version = strings.ToLower(version)
	switch {
	case strings.Contains(version, "mariadb"):
		return mariadb
	case strings.Contains(version, "-tidb-"):
		return tidb
	default:
		return mysqld
	}
}

// number returns the digits of a version: "10.11.6" of
// "5.5.5-10.11.6-MariaDB-0+deb12u1".
func number(version string) string {
	version = strings.TrimPrefix(version, "5.5.5-") // MariaDB before version 11 adds this for old replicas
	end := strings.IndexFunc(version, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end >= 0 {
		version = version[:end]
	}
	return strings.TrimRight(version, ".")
}

// release returns a version as a number that can be compared: 10.11 is more
// than 10.4.
func release(version string) float64 {
	parts := strings.SplitN(number(version), ".", 3)
	if len(parts) < 2 {
		return 0
	}
	major, errMajor := strconv.Atoi(parts[0])
	minor, errMinor := strconv.Atoi(parts[1])
	if errMajor != nil || errMinor != nil {
		return 0
	}
	return float64(major) + float64(minor)/100
}

// gone kills the connection held and reports whether it was over already. A server
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
