package pgdb

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// SQLSTATEs that the package treats specially (PostgreSQL manual, appendix A).
const (
	stateReadOnly      = "25006"
	stateQueryCanceled = "57014"
	stateNoStatement   = "26000"
	stateTooMany       = "53300"
	stateLockTimeout   = "55P03"
	stateAdminShutdown = "57P01"
	stateCrashShutdown = "57P02"
	stateCannotConnect = "57P03"
	stateDatabaseGone  = "57P04"
	stateIdleTimeout   = "57P05"
	stateProtocol      = "08P01"
	stateOutOfMemory   = "53200"
	stateDiskFull      = "53100"
	stateBadText       = "22P02"
	stateNotUTF8       = "22021"
	stateSerialization = "40001"
	stateDeadlock      = "40P01"
	statePrivilege     = "42501"
	stateNoSetting     = "42704"
	stateBadSetting    = "22023"
	stateUnsupported   = "0A000"
	stateNoTable       = "42P01"
	stateNoColumn      = "42703"
	stateNoFunction    = "42883"
)

// serverError returns a server's error with all strings made valid UTF-8.
func serverError(msg *pgproto3.ErrorResponse) *pgconn.PgError {
	e := pgconn.ErrorResponseToPgError(msg)
	e.Message, e.Hint, e.Detail = valid(e.Message), valid(e.Hint), valid(e.Detail)
	return e
}

// valid returns s with invalid UTF-8 replaced: the text of an error is not
// data.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// queryError turns an error that the server reported for sql into an error for
// the caller.
func queryError(e *pgconn.PgError, sql string) *execution.Error {
	out := execution.NewError(sqlguard.CodeDatabaseError, e.Message, e)
	out.SQLState, out.ServerHint = e.Code, e.Hint
	out.Position = bytePosition(sql, int(e.Position))
	switch e.Code {
	case stateReadOnly:
		out.Hint = "the session is read-only: use SELECT"
	case stateLockTimeout:
		out.Retryable = true
		out.Hint = "another session holds a lock on a table of the statement; try again later"
	case stateSerialization, stateDeadlock:
		out.Retryable = true
		out.Hint = "try again"
	case stateNotUTF8:
		out.Hint = "a value holds bytes that are not UTF-8: read it as bytes with convert_to(column, 'SQL_ASCII')"
	case stateNoTable:
		out.Hint = "SELECT table_schema, table_name FROM information_schema.tables lists the tables"
	case stateNoColumn:
		out.Hint = "SELECT column_name FROM information_schema.columns WHERE table_name = 'name' lists the columns of a table"
	case statePrivilege:
		out.Hint = "the connection's role may not read this: ask the operator for the grant, or use another table"
	case stateTooMany:
		out.Code, out.Retryable, out.RetryAfter = sqlguard.CodeBusy, true, pool.BusyRetry
	case stateOutOfMemory, stateDiskFull:
		out.Retryable = true
		out.Hint = "the server ran out of memory or disk: narrow the query"
	case stateAdminShutdown, stateCrashShutdown, stateCannotConnect, stateDatabaseGone:
		out.Code, out.Retryable = sqlguard.CodeServerRestarted, true
	case stateIdleTimeout:
		out.Code, out.Retryable = sqlguard.CodeConnectionLost, true
	case stateProtocol:
		poolerError(out, e)
	}
	if hint := otherProduct(e.Code, sql, out.Position-1); hint != "" {
		out.Hint = hint
	}
	return out
}

// otherProduct says what to write instead of a name of another product that the server looked
// for at an offset of a statement, or "".
func otherProduct(state, sql string, at int) string {
	if at < 0 || at > len(sql) {
		return ""
	}
	end := at
	for end < len(sql) && (sql[end] == '_' || sql[end]|0x20 >= 'a' && sql[end]|0x20 <= 'z') {
		end++
	}
	name := strings.ToLower(sql[at:end])
	switch state {
	case stateNoTable, stateNoColumn:
		switch variable := strings.HasSuffix(sql[:at], "@@"); {
		case variable && name == "version":
			return "@@version is MySQL and SQL Server: write version(), or SHOW server_version"
		case variable:
			return "@@ before a setting is MySQL and SQL Server: write SHOW and the name of one setting, as in SHOW server_version"
		case name == "dual" && state == stateNoTable:
			return "DUAL is Oracle and MySQL: leave FROM dual out, as in SELECT 1"
		case name == "rownum":
			return "ROWNUM is Oracle: write LIMIT 10 at the end of the query, or row_number() OVER (ORDER BY x) to number the rows"
		case name == "sysdate":
			return "SYSDATE is Oracle: write now()"
		}
	case stateNoFunction:
		if name == "decode" {
			return "DECODE with values to compare is Oracle: write CASE x WHEN a THEN b ELSE c END; here decode(text, 'hex') makes bytes of a text"
		}
	}
	return ""
}

// poolerError classifies the error that a pooler sends before it closes a
// connection. PgBouncer uses one SQLSTATE for all such errors. Only the message
// shows whether it had no connection available
// (https://www.pgbouncer.org/config.html: max_client_conn, max_db_connections,
// query_wait_timeout).
func poolerError(out *execution.Error, e *pgconn.PgError) {
	if e.Severity != "FATAL" && e.SeverityUnlocalized != "FATAL" {
		return
	}
	out.Code, out.Retryable = sqlguard.CodeConnectionLost, true
	if strings.HasPrefix(e.Message, "no more connections allowed") || e.Message == "query_wait_timeout" {
		out.Code, out.RetryAfter = sqlguard.CodeBusy, pool.BusyRetry
	}
}

// refusesSetting reports whether the server or a pooler may have refused a setting
// of the first message. A pooler answers with a violation of the protocol
// (https://www.pgbouncer.org/config.html: ignore_startup_parameters).
func refusesSetting(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch e.Code {
	case stateProtocol, stateNoSetting, stateBadSetting, statePrivilege, stateUnsupported:
		return true
	default:
		return false
	}
}

// bytePosition turns the server's position, in characters from 1, into a byte
// offset plus one; 0 when there is none.
func bytePosition(sql string, chars int) int {
	if chars <= 0 {
		return 0
	}
	offset := 0
	for range chars - 1 {
		if offset >= len(sql) {
			return len(sql) + 1
		}
		_, n := utf8.DecodeRuneInString(sql[offset:])
		offset += n
	}
	return offset + 1
}

// mismatch returns the error for a pin that failed. When an assertion of the
// pins failed, the server's message contains its text.
func mismatch(e *pgconn.PgError) *execution.Error {
	what := e.Message
	if i := strings.Index(what, mismatchMark); i >= 0 && e.Code == stateBadText {
		what = strings.TrimRight(what[i+len(mismatchMark):], `"”»`)
	}
	out := execution.NewError(sqlguard.CodeSessionModeMismatch, "the statement was not run, since the session differs from what was judged: "+what, e)
	out.SQLState = e.Code
	out.Hint = "the server or the role has settings that cannot be overridden; tell the operator"
	return out
}

// lost returns the error for a connection that broke during a statement.
func lost(err error) *execution.Error {
	return network.Lost(&faults, err, func(e *pgconn.PgError) *execution.Error {
		e.Message, e.Hint = valid(e.Message), valid(e.Hint)
		return queryError(e, "")
	})
}

// connectError returns the error for a connection that could not be made. The
// cause, which names the host, is kept for logs.
func connectError(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*execution.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		e.Message, e.Hint = valid(e.Message), valid(e.Hint)
		out := queryError(e, "")
		out.Position = 0
		if out.Code == sqlguard.CodeDatabaseError {
			out.Message, out.Hint = "cannot connect: "+out.Message, "the operator must check the connection's url and role"
			out.Retryable = false
		}
		return out
	}
	return faults.Unconnected(ctx, withoutTLSRefusals(err))
}

// refusedTLS is in the driver's error for a server that takes no TLS.
const refusedTLS = "server refused TLS connection"

// withoutTLSRefusals returns the error of connecting without the attempts that a
// server refused because of TLS, when there were others. Where plain text may follow
// TLS, the later attempt says what is wrong.
func withoutTLSRefusals(err error) error {
	all, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(all.Unwrap()), func(e error) bool { return strings.Contains(e.Error(), refusedTLS) })
	if len(others) == 0 {
		return err
	}
	return errors.Join(others...)
}

// faults are the errors of a connection.
var faults = network.Faults{
	OtherHost: "the operator must use a host name of the server's certificate in the url, or give the server one for this name",
	Authority: "the operator must name the file of the server's certificate authority (sslrootcert in the url)",
	Own:       tlsFault,
	Told:      []error{errFrame},
}

// tlsFault says what is wrong with the transport security of a connection that
// could not be made, and what to do. Both are empty for any other error.
func tlsFault(err error) (reason, hint string) {
	switch text := err.Error(); {
	case strings.Contains(text, refusedTLS):
		return "it does not offer TLS", "the operator must switch TLS on at the server, or write tls: off for this connection where nobody else is on the network"
	case strings.Contains(text, "tls: "): // by the TLS library, not the end of a connection
		return "transport security failed", "the operator must check the server's TLS settings and the connection's sslrootcert, sslcert and sslkey"
	default:
		return "", ""
	}
}
