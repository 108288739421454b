// Package clickhousedb runs approved statements on ClickHouse through its HTTP interface.
//
// [Open] checks a configuration and returns a [DB], an [execution.Backend]. It
// connects when the first statement needs it:
//
//	db, err := clickhousedb.Open(ctx, clickhousedb.Config{URL: execution.NewSecret(url), Session: dialect.Session()}, guard.ID())
//	res, err := db.Query(ctx, approved, execution.Limits{Rows: 1000})
//
// # One statement
//
// A statement is one POST whose body is the approved statement, byte for byte. Its
// parameters are the database, an identifier of the query that the backend made, the
// format of the answer, and settings: readonly=1, the pins of the dialect, how values are
// written, and a time limit. A GET is never sent: the server gives it readonly=2, which
// lets a statement change its own settings. There is no session, so nothing of a
// statement is left for the next one.
//
// ClickHouse has no transaction that could be rolled back. readonly=1 refuses statements
// that write, and table functions that reach files and other servers. It does not refuse
// functions such as file() and dictGet(), and it does not hide what the user may read.
// [DB.Probe] therefore reports every right beyond reading.
//
// # Settings that a profile fixes
//
// A profile with readonly = 1 permits no setting in a request, except those that it marks
// as CHANGEABLE_IN_READONLY. The backend asks the server which settings may be changed,
// without readonly=1, under which none may, and sends only those. The statement does not run when the profile fixes a pin to another
// value, or has readonly = 2. Without the time limit of the server, the backend ends the
// statement itself.
//
// # Values
//
// The server writes the rows as JSONCompactEachRowWithNamesAndTypes: its own text of each
// value, in which NULL is not mistaken for a text. Arrays, tuples, maps and JSON keep the
// text that this format has for them. The answer is read while it arrives, and each value
// is bounded before it is kept. What is not a row after the first rows is the error that
// the server met there, and the rows are not returned.
//
// max_result_rows and max_result_bytes are not sent. With result_overflow_mode = 'break'
// the server says nothing when it leaves rows out, and with 'throw' there are no rows. The
// backend stops reading one row beyond the limit and ends the query.
//
// # Ending
//
// At the limit, or when the caller leaves, the backend sends KILL QUERY on a connection of
// its own until the server has ended the answer. Identifiers are used once, so a late KILL
// cannot reach another statement. When the server does not react, the backend closes the
// connection; cancel_http_readonly_queries_on_client_close then ends the query. The error
// says whether the end was confirmed.
//
// # Transport security
//
// The server's certificate and host name are verified, unless the host is a loopback
// address or [Config.InsecureTLS] permits less. User and password are sent as headers,
// never in an address, and redirects are not followed.
//
// The package never judges SQL, never rewrites it, and never prints its URL.
package clickhousedb
