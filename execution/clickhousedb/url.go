package clickhousedb

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb/wire"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	plainPort       = 8123
	securePort      = 8443
	defaultDatabase = "default"
	maxDialTimeout  = 120 // seconds
	exampleURL      = "clickhouse://user:password@host:8443/database"
	paramDatabase   = "database"
	paramSecure     = "secure"
	paramCA         = "ca"
	paramDial       = "dial_timeout"
)

var urlParameters = []string{paramCA, paramDatabase, paramDial, paramSecure}

// refusedParameters are parameters of other clients, each with what to do instead.
var refusedParameters = map[string]string{
	"username":             "write the user into the URL",
	"user":                 "write the user into the URL",
	"password":             "write the password into the URL",
	"readonly":             "it is always 1",
	"skip_verify":          "name the file of the certificate authority as ca, or permit it with tls: off in the entry of this connection",
	"compress":             "answers are read as the server writes them",
	"session_id":           "a statement leaves nothing for the next one",
	"max_execution_time":   "use the limits of the connection",
	"read_timeout":         "use the limits of the connection",
	"debug":                "statements and values are not logged",
	"alt_hosts":            "write one host into the URL",
	"http_proxy":           "connections are made directly",
	"connection_open_mode": "write one host into the URL",
}

var systemDatabases = []string{"system", "information_schema"}

// target is the server and the database that a URL names.
type target struct {
	options  wire.Options
	database string
	weak     string // what the transport leaves unprotected; "" means nothing
}

func notConfigured(format string, args ...any) error {
	return execution.NewError(sqlguard.CodeNotConfigured, fmt.Sprintf(format, args...), nil)
}

// target reads the URL. Errors contain no part of it except names of parameters, because
// what looks like a host may be a misplaced password.
func (c *Config) target() (*target, error) {
	text := c.URL.Reveal()
	scheme, _, found := strings.Cut(text, "://")
	if !found || !slices.Contains([]string{"clickhouse", "http", "https"}, scheme) {
		return nil, errors.New("the url must look like " + exampleURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("the url cannot be read: it must look like " + exampleURL + ", with special characters percent-encoded")
	}
	if strings.Contains(u.RawQuery, "@") {
		// A ? in a password would make the parameters start too early.
		return nil, errors.New("the url is ambiguous: write ? as %3F and @ as %40 in names, passwords and parameters")
	}
	params, err := parameters(u.RawQuery)
	if err != nil {
		return nil, err
	}
	t := &target{database: strings.Trim(u.Path, "/"), options: wire.Options{User: "default", Timeout: defaultConnectTimeout}}
	if u.User != nil {
		t.options.Password, _ = u.User.Password()
		if name := u.User.Username(); name != "" {
			t.options.User = name
		}
	}
	for _, header := range []string{t.options.User, t.options.Password} {
		if strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, errors.New("the url's user or password has a control character")
		}
	}
	if err := t.chooseDatabase(params); err != nil {
		return nil, err
	}
	if text, set := params[paramDial]; set {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxDialTimeout {
			return nil, fmt.Errorf("dial_timeout must be between 1 and %d seconds", maxDialTimeout)
		}
		t.options.Timeout = time.Duration(n) * time.Second
	}
	return t, c.secure(t, u, scheme, params)
}

// parameters parses the query part of the URL.
func parameters(query string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the url's parameters cannot be read")
	}
	params := make(map[string]string, len(values))
	for name, all := range values {
		if why, refused := refusedParameters[strings.ToLower(name)]; refused {
			return nil, fmt.Errorf("the url parameter %s is not accepted: %s", strings.ToLower(name), why)
		}
		if !slices.Contains(urlParameters, name) {
			return nil, fmt.Errorf("the url parameter %q is not accepted; known are %s", name, strings.Join(urlParameters, ", "))
		}
		if len(all) > 1 {
			return nil, fmt.Errorf("the url sets %s more than once", name)
		}
		params[name] = all[0]
	}
	return params, nil
}

func (t *target) chooseDatabase(params map[string]string) error {
	if name, set := params[paramDatabase]; set {
		if t.database != "" && t.database != name {
			return errors.New("the url names two databases")
		}
		t.database = name
	}
	switch {
	case t.database == "":
		t.database = defaultDatabase
	case strings.Contains(t.database, "/"):
		return errors.New("the url's path must be the name of a database")
	case slices.Contains(systemDatabases, strings.ToLower(t.database)):
		return notConfigured("%s is a database of the system's: connect to one of your own", strings.ToLower(t.database))
	}
	return nil
}

// secure sets the address and the transport security of t.
func (c *Config) secure(t *target, u *url.URL, scheme string, params map[string]string) error {
	host, port := u.Hostname(), u.Port()
	if host == "" {
		return errors.New("the url names no host")
	}
	relaxed := network.Local(host) || c.InsecureTLS
	plain := scheme == "http" || scheme == "clickhouse" && network.Local(host)
	if text, set := params[paramSecure]; set {
		secure, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("secure must be true or false")
		}
		if scheme == "http" && secure || scheme == "https" && !secure {
			return errors.New("the url's scheme and its parameter secure contradict each other")
		}
		plain = !secure
	}
	if params[paramCA] != "" && scheme == "clickhouse" && params[paramSecure] == "" {
		plain = false
	}
	switch {
	case plain && !relaxed:
		return errors.New("without TLS, statements, rows and the password are sent in the clear: use https, or permit it with tls: off in the entry of this connection")
	case plain && params[paramCA] != "":
		return errors.New("the url names a ca but no TLS")
	case plain && !network.Local(host):
		t.weak = "the connection is made without TLS"
	}
	switch {
	case port == "" && plain:
		port = strconv.Itoa(plainPort)
	case port == "":
		port = strconv.Itoa(securePort)
	case port == "9000" || port == "9440":
		return fmt.Errorf("port %s is that of the native protocol: write the port of the HTTP interface, usually %d or %d", port, plainPort, securePort)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return errors.New("the url's port is not between 1 and 65535")
	}
	t.options.Address = net.JoinHostPort(host, port)
	t.options.Host = t.options.Address
	if plain {
		return nil
	}
	secured := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if file := params[paramCA]; file != "" {
		raw, err := os.ReadFile(file) //nolint:gosec // the operator names it
		if err != nil {
			return fmt.Errorf("the url's ca cannot be read: %w", err)
		}
		secured.RootCAs = x509.NewCertPool()
		if !secured.RootCAs.AppendCertsFromPEM(raw) {
			return errors.New("the url's ca has no certificate in PEM")
		}
	} else if relaxed {
		secured.InsecureSkipVerify = true // permitted by the configuration, or on this machine
		if !network.Local(host) {
			t.weak = "the server's certificate is not verified"
		}
	}
	t.options.TLS = secured
	return nil
}
