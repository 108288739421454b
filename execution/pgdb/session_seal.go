package pgdb

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// seal is the state of a session whose settings were set at login. Such a session
// needs no pins: ROLLBACK returns to the settings of the login, so one comparison
// before the statement shows that they are in force, that the transaction is
// read-only, and that the server's own schema is searched first. When it fails, the
// statement does not run, and the connection uses the pins from then on.
//
// The same comparison after the statement shows that the transaction is still there,
// and that the statement has changed none of these. Then the rollback undoes all that
// a statement can leave (manual, SET, LISTEN and DECLARE), except for advisory locks
// of the session, which this comparison releases. When it fails, nobody gets the
// result, and the connection is closed.
type seal struct {
	enter, leave  constant
	state         string // what the comparison must find, up to the search path
	timeout, lock time.Duration
	setsPath      bool // the search path is set by the comparison
}

// sealSeparator separates the values of a state. A state in which a value contains
// it is no seal, so no two lists of values have the same state.
const sealSeparator = "\x1f"

// The choices of dialer.login, by how many were refused.
const (
	loginAll  = iota // every setting
	loginTime        // only that no time limit of the role ends what opens the session
	loginBare        // none
)

// shortestAtLogin is the shortest time limit that is set at login. The statements
// that open a session have it too.
const shortestAtLogin = time.Second

// login returns the settings for the first message of a connection. RESET ALL
// returns to them.
func (d *dialer) login(refused int) map[string]string {
	if refused >= loginBare {
		return nil
	}
	out := map[string]string{timeoutSetting: "0"}
	if refused >= loginTime || d.pooler == PoolerOn || d.found.Load() {
		return out
	}
	for _, p := range d.texts.settings {
		if !p.assert && !slices.Contains(notAtLogin, strings.ToLower(p.name)) {
			out[p.name] = p.value
		}
	}
	if d.usual.Timeout >= shortestAtLogin {
		out[timeoutSetting] = string(milliseconds(d.usual.Timeout))
	}
	out[lockSetting] = string(milliseconds(d.usual.LockTimeout))
	out[idleSetting] = idleTimeout
	out[checkInterval] = checkIntervalValue
	return out
}

// notAtLogin are the names that are not settings in a first message (manual, section
// 55.7, StartupMessage), and DateStyle: at login it would also replace the role's
// order of day and month, which is not pinned.
var notAtLogin = []string{"user", "database", "options", "replication", "datestyle"}

// wanted is what the settings of a session must be for a seal.
type wanted struct {
	settings []pin
	setsPath bool
}

// names returns the expressions that read the settings, and the role, which is the one
// of the login.
func (w wanted) names() []string {
	out := make([]string, 0, len(w.settings)+1)
	for _, p := range w.settings {
		out = append(out, "pg_catalog.current_setting('"+p.name+"')") // settingName permits no quotes
	}
	return append(out, "pg_catalog.current_setting('role')")
}

// wantSeal returns what a seal of c has to show.
func (c *conn) wantSeal() wanted {
	w := wanted{setsPath: true, settings: []pin{
		{name: timeoutSetting, value: unit(c.dialer.usual.Timeout)},
		{name: lockSetting, value: unit(c.dialer.usual.LockTimeout)},
		{name: idleSetting, value: idleTimeout},
	}}
	if c.interval {
		w.settings = append(w.settings, pin{name: checkInterval, value: checkIntervalValue})
	}
	for _, p := range c.dialer.texts.settings {
		w.setsPath = w.setsPath && !strings.EqualFold(p.name, pathSetting)
		if !strings.EqualFold(p.name, readOnlySetting) || p.value != "on" { // compared in any case
			w.settings = append(w.settings, p)
		}
	}
	return w
}

// learnSeal reads the answers to askSeal. When the settings are other ones, the
// connection has no seal, and the pins say what differs. An error means that the
// connection is broken.
func (c *conn) learnSeal(w wanted) error {
	_, unprepared := c.collect()
	got, unanswered := c.collect()
	if c.pg.IsClosed() {
		return errors.Join(unprepared, unanswered)
	}
	if unprepared == nil && unanswered == nil && w.met(got) {
		texts := sealTexts(w)
		c.seal = &seal{
			enter: texts[0], leave: texts[1], timeout: c.dialer.usual.Timeout, lock: c.dialer.usual.LockTimeout, setsPath: w.setsPath,
			state: strings.Join(append(got, "on"), sealSeparator) + sealSeparator,
		}
	}
	return nil
}

// met reports whether the values of the settings are the wanted ones.
func (w wanted) met(got []string) bool {
	if len(got) != len(w.settings)+1 {
		return false
	}
	for i, p := range w.settings {
		if !p.holds(got[i]) {
			return false
		}
	}
	return !slices.ContainsFunc(got, func(v string) bool { return strings.Contains(v, sealSeparator) })
}

// serverSchema is the schema that must be searched first.
const serverSchema = "pg_catalog"

// sealTexts returns the comparisons before and after the statement. Their first
// parameter is the state. The second one of the former is the search path, if the
// comparison sets it. As the pins do, they raise an error by a cast when the state is
// another one.
func sealTexts(w wanted) [2]constant {
	compare := func(path, told string) string {
		values := append(w.names(), "pg_catalog.current_setting('"+readOnlySetting+"')")
		if w.setsPath {
			values = append(values, path)
		}
		values = append(values, "(pg_catalog.current_schemas(true))[1]")
		return "SELECT CAST(CASE WHEN pg_catalog.concat_ws('" + sealSeparator + "', " + strings.Join(values, ", ") + ")\n\t" +
			"OPERATOR(pg_catalog.=) $1::pg_catalog.text THEN '1' ELSE '" + mismatchMark + told + "' END AS pg_catalog.int4)"
	}
	return [2]constant{
		{"ktx_seal", compare("pg_catalog.set_config('"+pathSetting+"', $2, true)", "the session is not as it was at its login")},
		{"ktx_leave", compare("pg_catalog.current_setting('"+pathSetting+"')", "the statement changed the session") + ", pg_catalog.pg_advisory_unlock_all()"},
	}
}

// sealed returns the parameters of the comparison for a statement, and whether it
// can take the place of the pins.
func (c *conn) sealed(timeout, lockTimeout time.Duration, settings *pinned) ([][]byte, bool) {
	s := c.seal
	switch {
	case s == nil || !c.prepared || timeout != s.timeout || lockTimeout != s.lock:
		return nil, false
	case !s.setsPath:
		return [][]byte{[]byte(s.state + serverSchema)}, settings == c.dialer.texts.pins
	case settings.path == "" || strings.Contains(settings.path, sealSeparator):
		return nil, false
	default:
		return [][]byte{[]byte(s.state + settings.path + sealSeparator + serverSchema), []byte(settings.path)}, true
	}
}

// breakSeal makes the connection use the pins from then on. It reports whether the
// last statement was not preceded by them.
func (c *conn) breakSeal() bool {
	if !c.openSealed {
		return false
	}
	c.seal, c.open, c.openSealed = nil, nil, false
	return true
}

// holds reports whether got is what current_setting returns when p is in force. It
// permits what pinHolds permits.
func (p pin) holds(got string) bool {
	switch p.name {
	case "DateStyle":
		return got == p.value || strings.HasPrefix(got, p.value+",")
	case "TimeZone":
		return strings.EqualFold(got, p.value)
	default:
		return got == p.value
	}
}

// unit returns d as the server shows a setting in milliseconds: in the largest unit
// of which it is a multiple.
func unit(d time.Duration) string {
	n, err := strconv.ParseInt(string(milliseconds(d)), 10, 64)
	if err != nil {
		return ""
	}
	for _, u := range []struct {
		name string
		size int64
	}{{"d", 24 * 60 * 60 * 1000}, {"h", 60 * 60 * 1000}, {"min", 60 * 1000}, {"s", 1000}} {
		if n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "ms"
}
