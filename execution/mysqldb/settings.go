package mysqldb

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
)

// pin is one setting of the session.
type pin struct {
	name, value string
	assert      bool // only read back, because a session cannot set it
}

var (
	settingName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	settingValue = regexp.MustCompile(`^[A-Za-z0-9_,+:./ -]*$`)
	bareValue    = regexp.MustCompile(`^(-?[0-9]+(\.[0-9]+)?|ON|OFF)$`)
)

// charset is the character set of statements and values. SET NAMES sets all
// three variables. It also sets the collation of literals to the server's own
// for this character set. An assignment of character_set_connection would set
// that collation to a fixed one.
const charset = "utf8mb4"

// ownSettings are the settings that this package pins for itself, by the names
// of both servers. The settings of each single statement are in limited.
var ownSettings = []pin{
	{name: "autocommit", value: "1"},
	{name: "character_set_client", value: charset, assert: true},
	{name: "character_set_connection", value: charset, assert: true},
	{name: "character_set_results", value: charset, assert: true},
	{name: "sql_auto_is_null", value: "0"},
	{name: "time_zone", value: "+00:00"},
}

// reservedSettings are settings that the dialect may not change.
var reservedSettings = []string{
	"autocommit", "character_set_client", "character_set_connection", "character_set_results", "innodb_lock_wait_timeout", "lock_wait_timeout", "max_execution_time",
	"max_statement_time", "sql_auto_is_null", "sql_select_limit", "transaction_read_only", "tx_read_only",
}

// fixedSettings cannot be set in a session.
var fixedSettings = []string{"lower_case_table_names", "version", "version_comment"}

// pins lists the settings of the session.
func (c *Config) pins() ([]pin, error) {
	pins := slices.Clone(ownSettings)
	for _, s := range c.Session {
		name := strings.ToLower(s.Name)
		i := slices.IndexFunc(pins, func(p pin) bool { return p.name == name })
		switch {
		case !settingName.MatchString(s.Name):
			return nil, fmt.Errorf("session setting %q is not a name", s.Name)
		case !settingValue.MatchString(s.Value):
			return nil, fmt.Errorf("session setting %s cannot have the value %q", s.Name, s.Value)
		case slices.Contains(reservedSettings, name) && (i < 0 || !same(name, pins[i].value, s.Value)):
			return nil, fmt.Errorf("session setting %s is this package's own", s.Name)
		case i >= 0:
			pins[i].value = s.Value
		default:
			pins = append(pins, pin{name: name, value: s.Value, assert: slices.Contains(fixedSettings, name)})
		}
	}
	return pins, nil
}

// limited are the settings that bound one statement.
func limited(f flavour, lim execution.Limits) []pin {
	wait := strconv.FormatInt(int64(math.Ceil(lim.LockTimeout.Seconds())), 10)
	pins := []pin{
		{name: "lock_wait_timeout", value: wait},
		{name: "innodb_lock_wait_timeout", value: wait},
		{name: "sql_select_limit", value: strconv.FormatInt(int64(lim.Rows)+1, 10)},
	}
	switch f {
	case mariadb:
		seconds := max(lim.Timeout.Round(time.Millisecond), time.Millisecond).Seconds()
		pins = append(pins, pin{name: "max_statement_time", value: strconv.FormatFloat(seconds, 'f', 3, 64)}, pin{name: "tx_read_only", value: "1"})
	case tidb:
		pins = append(pins, pin{name: "max_execution_time", value: strconv.FormatInt(max(lim.Timeout.Milliseconds(), 1), 10)})
	case mysqld:
		pins = append(pins, pin{name: "max_execution_time", value: strconv.FormatInt(max(lim.Timeout.Milliseconds(), 1), 10)}, pin{name: "transaction_read_only", value: "1"})
	}
	return pins
}

// assignment renders a pin as part of SET.
func (p pin) assignment() string {
	value := p.value
	if !bareValue.MatchString(value) {
		value = "'" + value + "'" // settingValue has no quote and no backslash
	}
	return "SESSION " + p.name + " = " + value
}

// same reports whether two strings are the same value of a setting.
func same(name, a, b string) bool {
	if name == "sql_mode" {
		return slices.Equal(modes(a), modes(b))
	}
	if strings.EqualFold(a, b) {
		return true
	}
	x, errX := strconv.ParseFloat(flag(a), 64)
	y, errY := strconv.ParseFloat(flag(b), 64)
	return errX == nil && errY == nil && x == y
}

// flag returns a boolean setting as the server prints it.
func flag(s string) string {
	switch strings.ToUpper(s) {
	case "ON", "TRUE":
		return "1"
	case "OFF", "FALSE":
		return "0"
	default:
		return s
	}
}

// modes returns the parts of an sql_mode in a fixed order.
func modes(s string) []string {
	parts := slices.DeleteFunc(strings.Split(strings.ToUpper(s), ","), func(m string) bool { return m == "" })
	slices.Sort(parts)
	return slices.Compact(parts)
}
