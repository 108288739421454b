package pgdb

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// texts are the statements and settings of a session, made from a
// configuration.
type texts struct {
	begin    constant
	settings []pin
	pins     *pinned // the pins of settings
	// reported are the pinned settings that the server reports when they
	// change. The values are lower-case prefixes.
	reported map[string]string
}

// pin is one setting of the session.
type pin struct {
	name, value string
	assert      bool // only read back, because a session cannot set it
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// reportedSettings are the settings that every supported server reports when
// they change, in the server's spelling.
var reportedSettings = []string{"client_encoding", "DateStyle", "IntervalStyle", "standard_conforming_strings", "TimeZone"}

// fixedSettings cannot be set in a session.
var fixedSettings = []string{
	"block_size", "integer_datetimes", "lc_collate", "lc_ctype", "max_identifier_length", "server_encoding", "server_version",
	"server_version_num", "transaction_read_only",
}

// texts builds the statements and settings of the session.
func (c *Config) texts() (*texts, error) {
	t := &texts{reported: map[string]string{}}
	switch c.Isolation {
	case "":
		t.begin = constant{"ktx_begin", "BEGIN READ ONLY"}
	case ReadCommitted:
		t.begin = constant{"ktx_begin", "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"}
	case RepeatableRead:
		t.begin = constant{"ktx_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}
	case Serializable:
		t.begin = constant{"ktx_begin", "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY"}
	default:
		return nil, fmt.Errorf("isolation %q is not one of %q, %q, %q", c.Isolation, ReadCommitted, RepeatableRead, Serializable)
	}
	switch c.Pooler {
	case PoolerAuto, PoolerOn, PoolerOff:
	default:
		return nil, fmt.Errorf("pooler %q is not one of on, off", c.Pooler)
	}
	var err error
	if t.settings, err = c.pins(); err != nil {
		return nil, err
	}
	for _, p := range t.settings {
		if i := slices.IndexFunc(reportedSettings, func(n string) bool { return strings.EqualFold(n, p.name) }); i >= 0 {
			t.reported[reportedSettings[i]] = strings.ToLower(p.value)
		}
	}
	t.pins = newPinned(t.settings)
	return t, nil
}

// pinned are the parameters of the pins after the two timeouts: names, values,
// and whether each setting is only read back.
type pinned struct {
	arrays [3][]byte
	path   string // the search path, when it is not one of the session's own settings
}

func newPinned(settings []pin) *pinned {
	var names, values, fixed []string
	for _, p := range settings {
		names, values, fixed = append(names, p.name), append(values, p.value), append(fixed, strconv.FormatBool(p.assert))
	}
	return &pinned{arrays: [3][]byte{arrayLiteral(names), arrayLiteral(values), arrayLiteral(fixed)}}
}

// on returns the pins with path as the search path, unless they have one.
func (t *texts) on(path []string) *pinned {
	if slices.ContainsFunc(t.settings, func(p pin) bool { return strings.EqualFold(p.name, "search_path") }) {
		return t.pins
	}
	quoted := make([]string, 0, len(path)+1)
	for _, s := range path {
		quoted = append(quoted, quoteName(s))
	}
	value := searchPath(quoted)
	p := newPinned(append(slices.Clone(t.settings), pin{name: "search_path", value: value}))
	p.path = value
	return p
}

// arrayLiteral returns texts as an array literal (manual, section 8.15.2).
func arrayLiteral(texts []string) []byte {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	b := []byte{'{'}
	for i, t := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), escape.Replace(t)...), '"')
	}
	return append(b, '}')
}

// pins lists the settings of the session. Settings of the dialect take
// precedence over this package's own values.
func (c *Config) pins() ([]pin, error) {
	zone := c.Timezone
	if zone == "" {
		zone = DefaultTimezone
	}
	pins := []pin{
		{name: "client_encoding", value: "UTF8"},
		{name: "standard_conforming_strings", value: "on"},
		{name: "DateStyle", value: "ISO"},
		{name: "IntervalStyle", value: "postgres"},
		{name: "bytea_output", value: "hex"},
		{name: "extra_float_digits", value: "1"},
		{name: "quote_all_identifiers", value: "off"}, // changes the text of reg* types
		{name: "TimeZone", value: zone},
	}
	if len(c.SearchPath) > 0 {
		path, err := quotePath(c.SearchPath)
		if err != nil {
			return nil, err
		}
		pins = append(pins, pin{name: "search_path", value: path})
	}
	for _, s := range c.Session {
		if !settingName.MatchString(s.Name) {
			return nil, fmt.Errorf("session setting %q is not a name", s.Name)
		}
		own := pin{name: s.Name, value: s.Value, assert: slices.Contains(fixedSettings, strings.ToLower(s.Name))}
		i := slices.IndexFunc(pins, func(p pin) bool { return strings.EqualFold(p.name, s.Name) })
		switch {
		case i < 0:
			pins = append(pins, own)
		case strings.EqualFold(pins[i].name, "search_path") && pins[i].value != s.Value:
			return nil, errors.New("the search path is pinned twice")
		default:
			pins[i].value = s.Value
		}
	}
	return pins, nil
}

// quotePath returns schemas as a value of search_path.
func quotePath(schemas []string) (string, error) {
	quoted := make([]string, 0, len(schemas))
	for _, s := range schemas {
		if s == "" || strings.ContainsRune(s, 0) {
			return "", errors.New("search path: a schema without a name")
		}
		if strings.HasPrefix(s, "pg_") {
			return "", fmt.Errorf("search path: %q belongs to the server, which always searches pg_catalog first", s)
		}
		quoted = append(quoted, `"`+strings.ReplaceAll(s, `"`, `""`)+`"`)
	}
	return searchPath(quoted), nil
}

// searchPath returns a value of search_path. In a session shared by a pooler,
// another client may have created temporary tables. The server searches those
// first, unless the value names pg_temp elsewhere (manual, section 20.11.1).
func searchPath(quoted []string) string { return strings.Join(append(quoted, "pg_temp"), ", ") }
