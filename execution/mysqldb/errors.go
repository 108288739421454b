package mysqldb

import (
	"context"
	"crypto/tls"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/mysqldb/wire"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// Numbers of the errors that this package treats in their own way (MySQL Server
// Error Message Reference; MariaDB Error Codes).
const (
	errDiskFull           = 1021
	errOutOfMemory        = 1037
	errSortMemory         = 1038
	errTooManyConnections = 1040
	errOutOfResources     = 1041
	errDatabaseDenied     = 1044
	errAccessDenied       = 1045
	errServerShutdown     = 1053
	errUnknownCommand     = 1047 // Galera Cluster: a node that has no quorum
	errNoColumn           = 1054
	errParse              = 1064
	errNoSuchThread       = 1094
	errRecordFileFull     = 1114
	errHostBlocked        = 1129
	errTableDenied        = 1142
	errColumnDenied       = 1143
	errNoTable            = 1146
	errPacketTooLarge     = 1153
	errTooManyOfUser      = 1203
	errLockWait           = 1205
	errDeadlock           = 1213
	errReadLock           = 1223
	errUserLimit          = 1226
	errPrivilege          = 1227
	errOptionPrevents     = 1290
	errInterrupted        = 1317
	errRoutineDenied      = 1370
	errReadOnly           = 1792
	errReadOnlyMode       = 1836
	errConnectionKilled   = 1927 // MariaDB
	errStatementTime      = 1969 // MariaDB
	errExecutionTime      = 3024 // MySQL
	errLockNoWait         = 3572
	errIdleTimeout        = 4031 // MySQL
)

// noQuorumRetry is how long a caller should wait for a cluster to come back.
const noQuorumRetry = 5 * time.Second

// interruption reports whether an error says that the statement was killed.
func interruption(number uint16) bool { return number == errInterrupted || timeLimit(number) }

// timeLimit reports whether an error says that the statement reached the
// server's own time limit.
func timeLimit(number uint16) bool { return number == errStatementTime || number == errExecutionTime }

// unknownColumn finds the last part of the name in the message about a missing column.
var unknownColumn = regexp.MustCompile(`^Unknown column '(?:[^']*\.)?([^'.]*)'`)

// otherProduct says what to write instead of what the server took for the name of a column,
// and another product does not, or "".
func otherProduct(message string) string {
	m := unknownColumn.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	digits := strings.TrimPrefix(m[1], "$")
	switch {
	case digits != m[1] && digits != "" && strings.Trim(digits, "0123456789") == "":
		return m[1] + " is a parameter of PostgreSQL, and nothing is bound to it: write the value as a literal, such as 42 or 'text'"
	case strings.EqualFold(m[1], "rownum"):
		return "ROWNUM is Oracle: write LIMIT 10 at the end of the query, or ROW_NUMBER() OVER (ORDER BY x) to number the rows"
	case strings.EqualFold(m[1], "sysdate"):
		return "SYSDATE without brackets is Oracle: write NOW()"
	}
	return ""
}

// queryError turns an error that the server reported for sql into an error for
// the caller.
func queryError(e *wire.Error, sql string) *execution.Error {
	out := execution.NewError(sqlguard.CodeDatabaseError, e.Message+" (error "+strconv.Itoa(int(e.Number))+")", e)
	out.SQLState = e.State
	if e.Number == errParse {
		out.Position = nearPosition(sql, e.Message)
	}
	switch e.Number {
	case errReadOnly, errReadOnlyMode, errReadLock, errOptionPrevents:
		out.Hint = "the session is read-only: use SELECT"
	case errLockWait, errLockNoWait:
		out.Retryable = true
		out.Hint = "another session holds a lock on a table of the statement; try again later"
	case errDeadlock:
		out.Retryable = true
		out.Hint = "try again"
	case errNoTable:
		out.Hint = "SHOW TABLES lists the tables"
	case errNoColumn:
		out.Hint = "SHOW COLUMNS FROM name lists the columns of a table"
		if hint := otherProduct(e.Message); hint != "" {
			out.Hint = hint
		}
	case errAccessDenied, errDatabaseDenied, errTableDenied, errColumnDenied, errPrivilege, errRoutineDenied:
		out.Hint = "the connection's account may not read this: ask the operator for the grant, or use another table"
	case errTooManyConnections, errTooManyOfUser, errUserLimit:
		out.Code, out.Retryable, out.RetryAfter = sqlguard.CodeBusy, true, pool.BusyRetry
	case errUnknownCommand:
		if !strings.Contains(e.Message, "WSREP") {
			break
		}
		out.Code, out.Retryable, out.RetryAfter = sqlguard.CodeBusy, true, noQuorumRetry
		out.Hint = "this node has lost its cluster, and answers again when it is back: ask again later"
	case errOutOfMemory, errSortMemory, errOutOfResources, errDiskFull, errRecordFileFull:
		out.Retryable = true
		out.Hint = "the server ran out of memory or disk: narrow the query"
	case errPacketTooLarge:
		out.Hint = "a value or row is longer than the server sends: select a part of it"
	case errServerShutdown:
		out.Code, out.Retryable = sqlguard.CodeServerRestarted, true
	case errConnectionKilled, errIdleTimeout:
		out.Code, out.Retryable = sqlguard.CodeConnectionLost, true
	}
	return out
}

// nearPosition returns the byte offset plus one at which the parser stopped, or
// 0 when the message does not identify one offset. The message quotes up to 80
// bytes of the statement from there on, and names the line.
func nearPosition(sql, message string) int {
	_, rest, found := strings.Cut(message, "near '")
	end := strings.LastIndex(rest, "' at line ")
	if !found || end <= 0 {
		return 0
	}
	near := rest[:end]
	line, err := strconv.Atoi(strings.TrimSpace(rest[end+len("' at line "):]))
	if err != nil {
		return 0
	}
	position := 0
	for from := 0; ; {
		i := strings.Index(sql[from:], near)
		if i < 0 {
			return position
		}
		from += i
		// A quotation that was not cut off extends to the end of the statement.
		if strings.Count(sql[:from], "\n")+1 == line && (len(near) >= 80 || from+len(near) == len(strings.TrimRight(sql, "; \t\r\n"))) {
			if position != 0 {
				return 0
			}
			position = from + 1
		}
		from++
	}
}

// mismatch returns the error for a session whose state differs from the pins.
func mismatch(e *mismatchError) *execution.Error {
	out := execution.NewError(sqlguard.CodeSessionModeMismatch, "the statement was not run, since the session differs from what was judged: "+e.what, e)
	out.Hint = "the server or the account has settings that cannot be overridden; tell the operator"
	return out
}

// lost returns the error for a connection that broke during a statement.
func lost(err error) *execution.Error {
	return network.Lost(&faults, err, func(e *wire.Error) *execution.Error { return queryError(e, "") })
}

// connectError returns the error for a connection that could not be made. The
// cause, which names the host, is kept for logs.
func connectError(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*execution.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		err = &wire.Error{Number: e.Number, State: string(e.SQLState[:]), Message: strings.ToValidUTF8(e.Message, "\uFFFD")}
	}
	if e, ok := errors.AsType[*mismatchError](err); ok {
		return mismatch(e)
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		out := queryError(e, "")
		if out.Code == sqlguard.CodeDatabaseError {
			out.Message, out.Hint = "cannot connect: "+out.Message, "the operator must check the connection's url and account"
			out.Retryable = false
		}
		return out
	}
	return faults.Unconnected(ctx, err)
}

// faults are the errors of a connection.
var faults = network.Faults{
	OtherHost: "the operator must use a host name of the server's certificate in the url, or give the server one for this name",
	Authority: "the operator must name the file of the server's certificate authority (ssl-ca in the url)",
	Own:       connectFault,
	Told:      []error{wire.ErrFormat},
}

// connectFault explains a failure to connect that another attempt would not
// change, and what to do about it. Both results are empty for other failures.
func connectFault(err error) (reason, hint string) {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "transport security failed", "the operator must check the server's TLS settings and the connection's ssl-ca"
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return "transport security failed", "the operator must check the server's TLS settings and the connection's ssl-ca, ssl-cert and ssl-key"
	}
	switch {
	case errors.Is(err, errNoTLS):
		return "it does not offer TLS", "the operator must switch TLS on at the server, or write tls: off for this connection where nobody else is on the network"
	case errors.Is(err, mysql.ErrUnknownPlugin), errors.Is(err, mysql.ErrCleartextPassword), errors.Is(err, mysql.ErrOldPassword):
		return "the account's authentication plugin is not one that is served", "the operator must give the account caching_sha2_password, mysql_native_password or ed25519"
	default:
		return "", ""
	}
}
