package bigquerydb

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb/login"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/sqlguard"
)

// Reasons of the service's errors. Reference: Error messages.
const (
	reasonBytes   = "bytesBilledLimitExceeded"
	reasonStopped = "stopped"
	reasonDenied  = "accessDenied"
	reasonTimeout = "timeout"
	reasonMissing = "notFound"
	reasonInvalid = "invalidQuery"
)

const (
	hintLogin = "the operator must check the credentials of the connection"
	hintBytes = "read fewer columns or partitions; the operator can raise limits.scanBytes of the connection"
	hintLater = "the service is at fault; try again later"
)

var meanings = map[string]network.Meaning{
	reasonDenied: {Hint: "the role may not read this; the operator must grant it roles/bigquery.dataViewer on the dataset"}, "forbidden": {Hint: "the operator must grant the role roles/bigquery.jobUser on the project"},
	"authError": {Hint: hintLogin}, "unauthorized": {Hint: hintLogin}, "required": {Hint: hintLogin},
	reasonBytes: {Hint: hintBytes}, "billingTierLimitExceeded": {Hint: "compute less: aggregate or join fewer rows"},
	"billingNotEnabled": {Hint: "the operator must enable billing for the project"},
	"quotaExceeded":     {Code: sqlguard.CodeBusy, Hint: "a quota of the project is used up for now"},
	"rateLimitExceeded": {Code: sqlguard.CodeBusy}, "jobRateLimitExceeded": {Code: sqlguard.CodeBusy},
	"backendError": {Hint: hintLater, Again: true}, "jobBackendError": {Hint: hintLater, Again: true}, "internalError": {Hint: hintLater, Again: true}, "jobInternalError": {Hint: hintLater, Again: true},
	"tableUnavailable":  {Hint: hintLater, Again: true},
	"resourcesExceeded": {Hint: "the query needs more memory than it may use: read, sort or group less"}, "responseTooLarge": {Hint: "select fewer rows or columns"},
	reasonTimeout: {Code: sqlguard.CodeTimeout},
}

var (
	missingTable  = regexp.MustCompile(`Not found: (?:Table|Dataset)|must be qualified with a dataset`)
	missingColumn = regexp.MustCompile(`^Unrecognized name|Name \S+ not found inside|Field name \S+ does not exist`)
	place         = regexp.MustCompile(`\[(\d+):(\d+)\]`)
)

// hintTables is the statement that lists the tables of the connection's dataset.
func (d *DB) hintTables() string {
	return "SELECT table_name FROM " + d.target.dataset + ".INFORMATION_SCHEMA.TABLES lists the tables"
}

func (d *DB) hintColumns() string {
	return "SELECT table_name, column_name FROM " + d.target.dataset + ".INFORMATION_SCHEMA.COLUMNS lists the columns of a table"
}

// suggestion is the part of a message that names another column, which a rule may deny.
var suggestion = regexp.MustCompile(`; Did you mean [^?]*\?`)

// queryError turns an error of the service into one for the caller.
func (d *DB) queryError(e *wire.ServiceError, sql string) *execution.Error {
	reason, message := cmp.Or(e.Reason, "status "+strconv.Itoa(e.Status)), e.Message
	if d.access.Restricts() {
		message = suggestion.ReplaceAllString(message, "")
	}
	out := execution.NewError(sqlguard.CodeDatabaseError, message+" ("+reason+")", e)
	out.SQLState = reason
	what := meanings[e.Reason]
	switch {
	case what.Code != "":
	case e.Status == 401:
		what.Hint = hintLogin
	case e.Status == 429:
		what.Code = sqlguard.CodeBusy
	case e.Status >= 500:
		what = network.Meaning{Hint: hintLater, Again: true}
	case e.Reason == reasonMissing && missingTable.MatchString(e.Message), e.Reason == "invalid" && missingTable.MatchString(e.Message):
		what.Hint = d.hintTables()
	case e.Reason == reasonInvalid && missingTable.MatchString(e.Message):
		what.Hint = d.hintTables()
	case e.Reason == reasonInvalid && missingColumn.MatchString(e.Message):
		what.Hint = d.hintColumns()
	}
	what.To(out)
	if m := place.FindStringSubmatch(e.Message); m != nil && e.Reason == reasonInvalid {
		out.Position = positionOf(sql, m[1], m[2])
	}
	return out
}

// positionOf returns the byte offset plus one of a line and a column of the service, or 0.
// A column counts characters, and a tab reaches to the next multiple of eight.
func positionOf(sql, line, column string) int {
	row, err := strconv.Atoi(line)
	want, err2 := strconv.Atoi(column)
	if err != nil || err2 != nil || row < 1 || want < 1 {
		return 0
	}
	at := 0
	for ; row > 1; row-- {
		n := strings.IndexAny(sql[at:], "\r\n")
		if n < 0 {
			return 0
		}
		if at += n + 1; sql[at-1] == '\r' && at < len(sql) && sql[at] == '\n' {
			at++
		}
	}
	for col := 1; at < len(sql); {
		if col >= want {
			return at + 1
		}
		r, n := utf8.DecodeRuneInString(sql[at:])
		if at += n; r == '\t' {
			col += 8 - (col-1)%8
		} else {
			col++
		}
	}
	return len(sql) + 1
}

// broken returns the error for a request that had no answer, or one that cannot be used.
func (d *DB) broken(err error, sql string) *execution.Error {
	if e, ok := errors.AsType[*wire.ServiceError](err); ok {
		return d.queryError(e, sql)
	}
	if e, ok := errors.AsType[*login.Error](err); ok {
		out := execution.NewError(sqlguard.CodeConnectionLost, e.Message, nil)
		if !e.Again {
			out.Code, out.Retryable, out.Hint = sqlguard.CodeNotConfigured, false, hintLogin
		}
		return out
	}
	if errors.Is(err, wire.ErrMalformed) {
		return network.Untrusted("the answer is not what the API of BigQuery documents", err)
	}
	out := faults.Unconnected(context.Background(), err)
	out.Message = strings.Replace(out.Message, "cannot connect to the server", "the service cannot be reached", 1)
	return out
}

// faults are the errors of a connection.
var faults = network.Faults{
	OtherHost: "the operator must check endpoint in the url, and proxies of this machine",
	Authority: "the operator must add the certificate authority of the proxy to those of this machine",
	Own:       func(error) (reason, hint string) { return "", "" },
	Told:      []error{wire.ErrMalformed},
}
