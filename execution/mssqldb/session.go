package mssqldb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

// This file and session_probe.go contain every batch of the package's own that
// the server gets. They are constants with numbers inserted. Values that a
// caller or an operator chose are only inserted as numbers.

// held are the session settings that a guard may assume, with their values.
var held = map[string]string{
	"QUOTED_IDENTIFIER":       "ON",
	"ANSI_NULLS":              "ON",
	"ANSI_PADDING":            "ON",
	"ANSI_WARNINGS":           "ON",
	"ARITHABORT":              "ON",
	"CONCAT_NULL_YIELDS_NULL": "ON",
	"XACT_ABORT":              "ON",
	"NUMERIC_ROUNDABORT":      "OFF",
	"IMPLICIT_TRANSACTIONS":   "OFF",
	"CURSOR_CLOSE_ON_COMMIT":  "OFF",
	"LANGUAGE":                "us_english",
	"DATEFORMAT":              "mdy",
	"DATEFIRST":               "7",
}

// pinsHead pins the session. SET LANGUAGE also sets the order of dates and the
// first day of the week, so it comes before them. The lock timeout follows.
const pinsHead = `SET QUOTED_IDENTIFIER, ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, ANSI_NULL_DFLT_ON, XACT_ABORT ON;
SET NUMERIC_ROUNDABORT, IMPLICIT_TRANSACTIONS, CURSOR_CLOSE_ON_COMMIT, ARITHIGNORE OFF;
SET NOCOUNT OFF;
SET NOEXEC OFF;
SET FMTONLY OFF;
SET ROWCOUNT 0;
SET TEXTSIZE 2147483647;
SET LANGUAGE us_english;
SET DATEFORMAT mdy;
SET DATEFIRST 7;
SET DEADLOCK_PRIORITY LOW;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET LOCK_TIMEOUT `

// pinnedOptions is the value of @@OPTIONS with these pins: ANSI_WARNINGS 8,
// ANSI_PADDING 16, ANSI_NULLS 32, ARITHABORT 64, QUOTED_IDENTIFIER 256,
// ANSI_NULL_DFLT_ON 1024, CONCAT_NULL_YIELDS_NULL 4096, XACT_ABORT 16384 (SQL
// Server's "Configure the user options Server Configuration Option"), and no
// other bit of the lowest 15.
const pinnedOptions = "21880"

// stateSQL reads back the pins that every login may read, and then whose
// session it is. A dateformat of 2 says that the second number of a date is the
// day.
const stateSQL = `@@TRANCOUNT AS transactions, @@OPTIONS & 32767 AS options, @@TEXTSIZE AS sizeoftexts, @@LANGUAGE AS language, @@DATEFIRST AS datefirst,
	DAY(CONVERT(datetime, '01/02/2003')) AS dateformat, @@LOCK_TIMEOUT AS locktimeout,
	DB_NAME() AS databasename, SUSER_SNAME() AS loginname, ORIGINAL_LOGIN() AS original, USER_NAME() AS username, SCHEMA_NAME() AS schemaname`

// opening returns the batch that pins the session, begins the transaction,
// reads the state back, and limits how many rows a statement returns.
func opening(lock time.Duration, rows int) string {
	return pinsHead + milliseconds(lock) + `;
BEGIN TRANSACTION;
SELECT 0 AS before, ` + stateSQL + `;
SET ROWCOUNT ` + strconv.Itoa(min(rows, 1<<31-2)+1)
}

const (
	// closingSQL rolls back the statement. Its first column is how many
	// transactions were open before.
	closingSQL = `SET ROWCOUNT 0;
DECLARE @before int = @@TRANCOUNT;
IF @before > 0 ROLLBACK TRANSACTION;
SELECT @before AS before, ` + stateSQL

	// resetSQL is the batch that is sent together with the reset of the
	// session.
	resetSQL = `SELECT @@TRANCOUNT`
)

// milliseconds returns d in milliseconds, at least 1. The server takes 0 as no
// wait at all, and -1 as a wait without limit.
func milliseconds(d time.Duration) string {
	return strconv.FormatInt(min(max(d.Milliseconds(), 1), 1<<31-1), 10)
}

// The columns of stateSQL. The number of open transactions before comes first.
const (
	stateBefore = iota
	stateTransactions
	stateOptions
	stateTextSize
	stateLanguage
	stateDateFirst
	stateDateFormat
	stateLockTimeout
	stateDatabase
	stateSchema  = stateDatabase + 4
	stateColumns = stateSchema + 1
)

// errState is the error of a session that is not as it was pinned.
var errState = errors.New("the session is not as it was pinned")

// checkState compares the state that a session reports with the pins. The
// session's user must be the one from when the connection was made.
func (c *conn) checkState(row []string, transactions, lock string) error {
	if len(row) != stateColumns {
		return fmt.Errorf("%w: the server did not say how it is", errState)
	}
	for _, pin := range []struct {
		what string
		at   int
		want string
	}{
		{"the number of open transactions", stateTransactions, transactions},
		{"the options", stateOptions, pinnedOptions},
		{"TEXTSIZE", stateTextSize, "2147483647"},
		{"LANGUAGE", stateLanguage, "us_english"},
		{"DATEFIRST", stateDateFirst, "7"},
		{"the day in a date of DATEFORMAT mdy", stateDateFormat, "2"},
		{"LOCK_TIMEOUT", stateLockTimeout, lock},
	} {
		if got := row[pin.at]; got != pin.want {
			return fmt.Errorf("%w: %s is %q", errState, pin.what, got)
		}
	}
	who := strings.Join(row[stateDatabase:], "\x00")
	if c.who == "" {
		c.who = who
	}
	if c.who != who {
		return fmt.Errorf("%w: it is another user's, or in another database", errState)
	}
	return nil
}

// ownLimits bound the answers to the package's own texts.
var ownLimits = execution.Limits{Timeout: 10 * time.Second}.WithDefaults()

// own sends a batch of the package's own and returns the rows of its answer as
// strings; NULL is "". It calls sent after the batch was sent.
func (c *conn) own(text string, sent func()) ([][]string, error) {
	r, err := c.wire.SendBatch(text, false)
	if err != nil {
		return nil, err
	}
	sent()
	return c.readOwn(r)
}

func (c *conn) readOwn(r *tds.Response) ([][]string, error) {
	a := answer{r: r, own: true, rows: newRowSet(ownLimits)}
	if err := a.read(); err != nil {
		return nil, err
	}
	switch {
	case len(a.errors) > 0:
		return nil, &serverError{a.errors, a.fatal}
	case a.acknowledged:
		return nil, errAcknowledged
	case a.strange != nil:
		return nil, a.strange
	case a.rows.Full():
		return nil, fmt.Errorf("%w: more rows than it was asked for", tds.ErrMalformed)
	}
	return a.rows.Texts(), nil
}

// open pins the session and begins the transaction.
func (c *conn) open(lim execution.Limits, at *home, k *call) error {
	rows, err := c.own(opening(lim.LockTimeout, lim.Rows), k.sent)
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return fmt.Errorf("%w: the server did not say how it is", errState)
	}
	if err := c.checkState(rows[0], "1", milliseconds(lim.LockTimeout)); err != nil {
		return err
	}
	if got := (home{rows[0][stateDatabase], rows[0][stateSchema]}); at != nil && got != *at {
		return fmt.Errorf("%w: it looks names up in the schema %q of the database %q", errState, got.schema, got.database)
	}
	if !c.wire.InTransaction() {
		return fmt.Errorf("%w: it has no transaction", errState)
	}
	return nil
}

// settleTimeout bounds the rollback and the reset after a statement.
const settleTimeout = 2 * time.Second

// close rolls back the statement. It returns how many transactions were open
// before.
func (c *conn) close(lock time.Duration) (before string, err error) {
	if err := c.wire.Deadline(time.Now().Add(settleTimeout)); err != nil {
		return "", err
	}
	rows, err := c.own(closingSQL, func() {})
	if err != nil {
		return "", err
	}
	if len(rows) != 1 || len(rows[0]) == 0 {
		return "", fmt.Errorf("%w: the server did not say how it is", errState)
	}
	before = rows[0][stateBefore]
	if c.wire.InTransaction() {
		return before, fmt.Errorf("%w: its transaction did not end", errState)
	}
	return before, c.checkState(rows[0], "0", milliseconds(lock))
}

// reset starts the reset of the session. Ready verifies it.
func (c *conn) reset() error {
	r, err := c.wire.SendBatch(resetSQL, true)
	if err != nil {
		return err
	}
	c.pending = r
	return c.wire.Deadline(time.Time{})
}

// Ready reports whether a connection that was idle can run a statement. It can
// if the session was reset after the last one. When ctx ends, Ready cuts the
// connection.
func (c *conn) Ready(ctx context.Context) bool {
	if c.pending == nil {
		return true
	}
	stop := context.AfterFunc(ctx, c.wire.Sever)
	ok := c.settle()
	return stop() && ok
}

func (c *conn) settle() bool {
	r := c.pending
	c.pending = nil
	if c.wire.Deadline(time.Now().Add(settleTimeout)) != nil {
		return false
	}
	rows, err := c.readOwn(r)
	if err != nil || len(rows) != 1 || len(rows[0]) != 1 || rows[0][0] != "0" {
		return false
	}
	return c.wire.Deadline(time.Time{}) == nil
}

// catalogSQL asks for the server's version and where it looks up names.
const catalogSQL = `SELECT CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')) AS version, DB_NAME() AS databasename, SCHEMA_NAME() AS schemaname`

// sessionSQL asks for the session with this number, for the asking session, and for
// whether the login may see the sessions of others.
func sessionSQL(number uint16) string {
	return `SELECT session_id AS id, CASE WHEN session_id = @@SPID THEN 1 ELSE 0 END AS own, CONVERT(varchar(27), login_time, 121) AS since, CONVERT(varchar(27), SYSDATETIME(), 121) AS now,
	CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') = 1 THEN 1 ELSE 0 END AS sees
FROM sys.dm_exec_sessions WHERE session_id IN (@@SPID, ` + strconv.Itoa(int(number)) + `)`
}
