package mssqldb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

var errAcknowledged = errors.New("an attention ended a text of the backend's own")

// fatalClass is the lowest severity at which the server ends the connection
// (SQL Server's "Database Engine error severities").
const fatalClass = 20

// serverError holds the errors that the server sent instead of rows.
type serverError struct {
	messages []tds.Message
	fatal    bool
}

// Error returns the first message, because it is the cause of the others.
func (e *serverError) Error() string { return e.first().Text }

func (e *serverError) first() tds.Message { return e.messages[0] }

// serverCause returns messages as an error, or nil.
func serverCause(messages []tds.Message) error {
	if len(messages) == 0 {
		return nil
	}
	return &serverError{messages: messages}
}

// meaning says how to report an error number to the caller (SQL Server's
// "Database Engine events and errors").
type meaning struct {
	code  sqlguard.Code // "" means a database error
	hint  string
	again bool // a retry may succeed although nothing was changed
	never bool // nothing that the caller does helps
}

const (
	hintRole    = "the role may not read this; the operator must grant it"
	hintOffline = "the database cannot be used now; try again later"
)

var meanings = map[int32]meaning{
	1222: {hint: "another session holds a lock on a table of the statement; try again later", again: true},
	1205: {hint: "the server ended the statement to resolve a deadlock; try again", again: true},
	3960: {hint: "another session changed the data; try again", again: true},
	3906: {hint: "the database is read-only: use SELECT", never: true},
	3908: {hint: "the database is in recovery; try again later", again: true},

	207: {hint: "SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'name' lists the columns of a table"},
	208: {hint: "SELECT TABLE_SCHEMA, TABLE_NAME FROM INFORMATION_SCHEMA.TABLES lists the tables"},

	229: {hint: hintRole}, 230: {hint: hintRole}, 297: {hint: hintRole}, 300: {hint: hintRole}, 262: {hint: hintRole},
	916: {hint: hintRole}, 15247: {hint: hintRole}, 371: {hint: hintRole},

	701: {code: sqlguard.CodeBusy}, 802: {code: sqlguard.CodeBusy}, 8645: {code: sqlguard.CodeBusy}, 8651: {code: sqlguard.CodeBusy},
	10928: {code: sqlguard.CodeBusy}, 10929: {code: sqlguard.CodeBusy}, 17809: {code: sqlguard.CodeBusy},
	40501: {code: sqlguard.CodeBusy}, 49918: {code: sqlguard.CodeBusy}, 49919: {code: sqlguard.CodeBusy}, 49920: {code: sqlguard.CodeBusy},

	596: {code: sqlguard.CodeConnectionLost}, 233: {code: sqlguard.CodeConnectionLost}, 10054: {code: sqlguard.CodeConnectionLost},
	976: {code: sqlguard.CodeConnectionLost, hint: hintOffline}, 978: {code: sqlguard.CodeConnectionLost, hint: hintOffline},
	979: {code: sqlguard.CodeConnectionLost, hint: hintOffline}, 983: {code: sqlguard.CodeConnectionLost, hint: hintOffline},
	40613: {code: sqlguard.CodeConnectionLost, hint: hintOffline}, 40197: {code: sqlguard.CodeConnectionLost, hint: hintOffline},
	6005: {code: sqlguard.CodeServerRestarted}, 6001: {code: sqlguard.CodeServerRestarted}, 17142: {code: sqlguard.CodeServerRestarted},
	17147: {code: sqlguard.CodeServerRestarted},
}

// queryError turns the server's errors into an error for the caller.
func queryError(e *serverError) *execution.Error {
	m := e.first()
	out := execution.NewError(sqlguard.CodeDatabaseError, fmt.Sprintf("%s (error %d, state %d, line %d)", strings.TrimSpace(m.Text), m.Number, m.State, m.Line), e)
	out.SQLState = strconv.Itoa(int(m.Number))
	what, known := meanings[m.Number]
	if !known && m.Class >= fatalClass {
		what.code = sqlguard.CodeConnectionLost
	}
	if what.code != "" {
		info, _ := sqlguard.LookupCode(what.code)
		out.Code, out.Retryable = what.code, info.Retryable
	}
	if what.code == sqlguard.CodeBusy {
		out.RetryAfter = pool.BusyRetry
	}
	if what.hint != "" {
		out.Hint = what.hint
	}
	if m.Number == 1205 || m.Number == 1222 { // chosen as the victim of a deadlock; a lock was not granted in time
		out.Retryable = true
	}
	if what.never {
		out.Retryable = false
	}
	return out
}

// mismatch returns the error for a session whose state differs from the pins.
func mismatch(err error) *execution.Error {
	out := execution.NewError(sqlguard.CodeSessionModeMismatch, "the statement was not run: "+err.Error(), err)
	out.Hint = "the server or the role has settings that cannot be overridden; tell the operator"
	return out
}

// lost returns the error for a connection that broke.
func lost(err error) *execution.Error {
	return network.Lost(&faults, err, queryError)
}

// connectError returns the error for a connection that could not be made. The
// cause, which names the host, is kept for logs.
func connectError(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*tds.LoginError](err); ok {
		out := queryError(&serverError{messages: e.Messages})
		out.Message = "cannot connect: " + out.Message
		if out.Code == sqlguard.CodeDatabaseError {
			out.Hint, out.Retryable = "the operator must check the connection's url and login", false
		}
		return out
	}
	return faults.Unconnected(ctx, err)
}

// faults are the errors of a connection.
var faults = network.Faults{
	OtherHost: "the operator must use a host name of the server's certificate in the url, or name it as hostNameInCertificate",
	Authority: "the operator must name the file of the server's certificate authority (certificate in the url)",
	Own:       tlsFault,
	Told:      []error{tds.ErrMalformed, tds.ErrRouted},
}

// tlsFault explains a failure to connect that has to do with transport
// security, and what to do about it. Both results are empty for other failures.
func tlsFault(err error) (reason, hint string) {
	switch {
	case errors.Is(err, tds.ErrNoTLS):
		return "it does not offer TLS", "the operator must switch TLS on at the server, or write tls: off for this connection where nobody else is on the network"
	case errors.Is(err, tds.ErrNeedTLS):
		return "it wants TLS, which the url switches off", "the operator must remove encrypt from the url"
	case errors.Is(err, tds.ErrTLS):
		return "transport security failed", "the operator must check the server's TLS settings; TLS 1.2 is needed"
	default:
		return "", ""
	}
}
