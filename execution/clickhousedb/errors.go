package clickhousedb

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb/wire"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/sqlguard"
)

// Codes of the server's errors (ClickHouse's src/Common/ErrorCodes.cpp).
const (
	codeTimeout    = "159"
	codeReadOnly   = "164"
	codeCancelled  = "394"
	codeConstraint = "452"
	codeSyntax     = "62"
	codeDenied     = "497"
)

// serverError is the error that the server sent instead of rows, or after some.
type serverError struct {
	code    string
	message string
}

func (e *serverError) Error() string { return e.message }

// causeOf returns e as an error, and nil when e is nil.
func causeOf(e *serverError) error {
	if e == nil {
		return nil
	}
	return e
}

// failureForm is the text of an error, of old and of new servers.
var failureForm = regexp.MustCompile(`(?s)Code: (\d+)[.,] (?:e\.displayText\(\) = )?DB::\w*Exception: (.*)`)

// failureTails are what follows the message.
var failureTails = regexp.MustCompile(`(?s)(?:, e\.what\(\) = DB::\w+.*| \(version [^()]*(?:\([^()]*\))?\).*|\s+\d+ [0-9a-z]{16}\s+__exception__.*)$`)

// maxMessage bounds the message of an error.
const maxMessage = 4 << 10

// parseFailure returns the error of the server in a text, or nil.
func parseFailure(raw []byte) *serverError {
	m := failureForm.FindSubmatch(raw)
	if m == nil {
		return nil
	}
	text := strings.ToValidUTF8(string(m[2][:min(len(m[2]), maxMessage)]), "\uFFFD")
	return &serverError{code: string(m[1]), message: strings.TrimSpace(failureTails.ReplaceAllString(text, ""))}
}

// readFailure reads the answer of a request that failed.
func readFailure(resp *http.Response) (*serverError, error) {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxFailure))
	if err == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxFailure))
	}
	if e := parseFailure(raw); e != nil {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	if code := resp.Header.Get("X-Clickhouse-Exception-Code"); code != "" {
		return &serverError{code: code, message: "the server refused the statement"}, nil
	}
	return nil, fmt.Errorf("%w: status %d, which is not of ClickHouse", errMalformed, resp.StatusCode)
}

const (
	hintRole  = "the role may not read this; the operator must grant it"
	hintLogin = "the operator must check the connection's url and login"
	hintLimit = "the operator's profile limits what a query may read; read less, for example fewer partitions or columns"
	hintOther = "another server of the cluster could not be reached; try again later"
)

var meanings = map[string]network.Meaning{
	"60": {Hint: "SHOW TABLES lists the tables"}, "47": {Hint: "DESCRIBE TABLE name lists the columns of a table"},
	codeDenied: {Hint: hintRole}, "291": {Hint: hintRole}, "192": {Hint: hintLogin}, "193": {Hint: hintLogin}, "194": {Hint: hintLogin},
	"195": {Hint: hintLogin}, "516": {Hint: hintLogin}, "81": {Hint: "the database is not there, or the role does not see it"},
	"158": {Hint: hintLimit}, "307": {Hint: hintLimit}, "160": {Hint: hintLimit}, "396": {Hint: hintLimit}, "241": {Hint: "the query needs more memory than it may use; read or group less"},
	"73":  {Hint: "this server is too old for ktx: it does not know the format in which ktx reads rows"},
	"202": {Code: sqlguard.CodeBusy}, "201": {Code: sqlguard.CodeBusy, Hint: "the quota of the role is used up for now"},
	"473": {Hint: "another statement holds a lock; try again later", Again: true}, "999": {Hint: hintOther, Again: true},
	"209": {Hint: hintOther, Again: true}, "210": {Hint: hintOther, Again: true}, "279": {Hint: hintOther, Again: true},
	codeReadOnly: {Hint: "statements that write, and some table functions, are refused: use SELECT"},
}

var position = regexp.MustCompile(`failed at position (\d+)`)

// suggestion is the part of a message that names other tables or columns, which a rule may deny,
// up to the code.
var suggestion = regexp.MustCompile(`(?is)[.,;]? (?:maybe you meant|there are columns|available columns)\b.*?( \(code \d+\))?$`)

// queryError turns the server's error into an error for the caller.
func queryError(e *serverError) *execution.Error {
	out := execution.NewError(sqlguard.CodeDatabaseError, fmt.Sprintf("%s (code %s)", cmp.Or(e.message, "the server refused the statement"), e.code), e)
	out.SQLState = e.code
	what := meanings[e.code]
	what.To(out)
	if m := position.FindStringSubmatch(e.message); m != nil && e.code == codeSyntax {
		out.Position, _ = strconv.Atoi(m[1])
	}
	return out
}

// faults are the errors of a connection.
var faults = network.Faults{
	OtherHost: "the operator must use a host name of the server's certificate in the url",
	Authority: "the operator must name the file of the server's certificate authority (ca in the url)",
	Own: func(err error) (reason, hint string) {
		if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
			return "it does not offer TLS on this port", "the operator must write the port of HTTPS into the url, or switch TLS on at the server"
		}
		return "", ""
	},
	Told: []error{errMalformed, wire.ErrNotHTTP, wire.ErrNoEnd, wire.ErrHeader},
}
