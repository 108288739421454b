package clickhousedb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

// This file and session_probe.go contain every statement of the package's own that the
// server gets. They are constants, except for identifiers of queries that the package made
// and quoted names that the server gave.

// format is the format of every answer.
const format = "JSONCompactEachRowWithNamesAndTypes"

// pins are settings without which a statement does not run. A server that does not know
// one of them has no other behaviour than that of its value.
var pins = map[string]string{
	"readonly":        "1",
	"dialect":         "clickhouse",
	"implicit_select": "0",
}

// wanted are settings that are sent when the profile permits it: how values are written,
// and that the server ends a query whose client has left.
var wanted = map[string]string{
	"cancel_http_readonly_queries_on_client_close": "1",
	"http_write_exception_in_output_format":        "0",
	"send_progress_in_http_headers":                "0",
	"enable_http_compression":                      "0",
	"wait_end_of_query":                            "0",
	"extremes":                                     "0",
	"date_time_output_format":                      "simple",
	"output_format_write_statistics":               "0",
	"output_format_json_quote_64bit_integers":      "0",
	"output_format_json_quote_64bit_floats":        "0",
	"output_format_json_quote_decimals":            "0",
	"output_format_json_quote_denormals":           "1",
	"output_format_json_escape_forward_slashes":    "0",
	"output_format_json_named_tuples_as_objects":   "1",
	"output_format_json_map_as_array_of_tuples":    "0",
	"output_format_json_array_of_rows":             "0",
	"output_format_json_validate_utf8":             "0",
}

// Settings with a value of each statement.
const (
	settingTime = "max_execution_time"
	settingMode = "timeout_overflow_mode"
	settingLock = "lock_acquire_timeout"
	overflow    = "throw"
)

// session is what the server says about itself, its settings and the role.
type session struct {
	version  string
	settings map[string]setting
	readOnly bool // the profile of the user has readonly = 1 by itself
	asked    time.Time
}

type setting struct {
	value string
	fixed bool // a request cannot change it
}

// sessionFor is how long the answer about settings counts.
const sessionFor = time.Minute

// settingNames are all settings that a request may carry.
func settingNames() []string {
	names := []string{settingTime, settingMode, settingLock}
	for name := range pins {
		names = append(names, name)
	}
	for name := range wanted {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var (
	versionSQL = "SELECT version() AS version"
	// settingsSQL is sent without readonly=1, under which a server says of every setting
	// that it cannot be changed. On servers that know it, a column tells which can.
	settingsSQL = "SELECT * FROM system.settings WHERE name IN ('" + strings.Join(settingNames(), "', '") + "')"
)

// killSQL ends a query of this backend. It returns a row while the server knows the query.
func killSQL(id string) string { return "KILL QUERY WHERE query_id = '" + id + "' ASYNC" }

// newID returns an identifier that no other query has.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return "ktx-" + hex.EncodeToString(b[:])
}

// ownLimits bound the answers to the package's own statements.
var ownLimits = execution.Limits{Timeout: 10 * time.Second}.WithDefaults()

// errPin says that the profile fixes a setting to another value than that of a pin.
var errPin = errors.New("the profile of the user fixes a setting")

// base returns the parameters that every request has.
func (t *target) base(id string) url.Values {
	return url.Values{"query_id": {id}, "database": {t.database}, "default_format": {format}, "readonly": {pins["readonly"]}}
}

// parameters returns the parameters of a statement.
func (s *session) parameters(t *target, id string, lim execution.Limits) (url.Values, error) {
	out := t.base(id)
	for name, value := range pins {
		have, known := s.settings[name]
		switch {
		case name == "readonly", !known, have.value == value:
		case have.fixed:
			return nil, fmt.Errorf("%w: %s is %s, and must be %s", errPin, name, have.value, value)
		default:
			out.Set(name, value)
		}
	}
	send := func(name, value string) {
		if have, known := s.settings[name]; known && !have.fixed && have.value != value {
			out.Set(name, value)
		}
	}
	for name, value := range wanted {
		send(name, value)
	}
	// The backend ends the statement at the limit. The server's own limit counts in
	// seconds, and applies if the backend no longer can.
	send(settingTime, seconds(lim.Timeout+time.Second))
	send(settingMode, overflow)
	send(settingLock, seconds(lim.LockTimeout))
	return out, nil
}

// seconds returns d in seconds, rounded up.
func seconds(d time.Duration) string {
	return strconv.FormatInt(max(int64((d+time.Second-1)/time.Second), 1), 10)
}

// about returns what the server says about its settings, which it is asked for at most
// once a minute. When the role is checked, it is checked then.
func (d *DB) about(ctx context.Context) (*session, error) {
	d.mu.Lock()
	s := d.session
	d.mu.Unlock()
	if s != nil && time.Since(s.asked) < sessionFor {
		return s, nil
	}
	return d.renew(ctx)
}

// renew asks the server for its settings.
func (d *DB) renew(ctx context.Context) (*session, error) {
	s := &session{settings: map[string]setting{}, asked: time.Now()}
	version, err := d.own(ctx, versionSQL)
	if err != nil {
		return nil, err
	}
	if len(version.Rows) != 1 || len(version.Rows[0]) != 1 || version.Rows[0][0].Text == "" {
		return nil, network.Untrusted("the server does not say what it is", nil)
	}
	s.version = version.Rows[0][0].Text
	res, err := d.run(ctx, statement{text: settingsSQL, own: true, bare: true}, ownLimits)
	if err != nil {
		return nil, err
	}
	at := func(name string) int {
		return slices.IndexFunc(res.Columns, func(c execution.Column) bool { return c.Name == name })
	}
	name, value, fixed := at("name"), at("value"), at("readonly")
	if name < 0 || value < 0 {
		return nil, network.Untrusted("the server does not say which settings it has", nil)
	}
	for _, row := range res.Rows {
		s.settings[row[name].Text] = setting{value: row[value].Text, fixed: fixed >= 0 && row[fixed].Text == "1"}
	}
	switch own, known := s.settings["readonly"]; {
	case !known:
		return nil, network.Untrusted("the server does not say whether the profile is read-only", nil)
	case own.value == "1":
		s.readOnly = true
	case own.value != "0" || own.fixed:
		return nil, mismatch(fmt.Errorf("%w: readonly is %s, and must be 0 or 1", errPin, own.value))
	}
	if fixed < 0 && s.readOnly {
		for name, have := range s.settings {
			s.settings[name] = setting{have.value, true}
		}
	}
	if d.checks.Load() {
		if err := d.checkRole(ctx, s); err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	d.session = s
	d.mu.Unlock()
	return s, nil
}

// forget makes the next statement ask for the settings again.
func (d *DB) forget() {
	d.mu.Lock()
	d.session = nil
	d.mu.Unlock()
}

// own runs a statement of the package's own, with the values that the profile gives.
func (d *DB) own(ctx context.Context, sql string) (*execution.Result, error) {
	return d.run(ctx, statement{text: sql, own: true}, ownLimits)
}

// ask runs a statement of the package's own and returns its rows as texts; NULL is "".
func (d *DB) ask(ctx context.Context, sql string) ([][]string, error) {
	res, err := d.own(ctx, sql)
	if err != nil {
		return nil, err
	}
	if res.Truncated {
		return nil, execution.NewError(sqlguard.CodeDatabaseError, "the server's answer about its catalogue is too long", nil)
	}
	return rowset.Texts(res.Rows), nil
}

// kill sends one KILL QUERY and records whether the server knew the query.
func (r *running) kill(c *conn) error {
	known, err := r.db.kill(c, r.id)
	switch {
	case err != nil:
		return err
	case known:
		r.seen.Store(true)
	case r.seen.Load():
		r.gone.Store(true)
	}
	return nil
}

// kill sends one KILL QUERY, and reports whether the server knows the query.
func (d *DB) kill(c *conn, id string) (known bool, err error) {
	resp, err := c.Send(d.target.base(newID()), killSQL(id)) //nolint:bodyclose // it is read to its end, or the connection is closed
	if err != nil {
		return false, err
	}
	a := newAnswer(resp.Body, ownLimits, func(time.Duration) {})
	if resp.StatusCode != http.StatusOK {
		failed, err := readFailure(resp)
		return false, errors.Join(err, causeOf(failed))
	}
	if err := a.read(); err != nil {
		return false, err
	}
	if a.failed != nil {
		return false, a.failed
	}
	return len(a.rows.Texts()) > 0, nil
}
