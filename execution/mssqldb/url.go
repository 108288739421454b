package mssqldb

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	defaultPort     = 1433
	maxDialTimeout  = 120 // seconds
	maxPacketSize   = 32767
	minPacketSize   = 512
	exampleURL      = "sqlserver://user:password@host:1433?database=name"
	paramDatabase   = "database"
	paramEncrypt    = "encrypt"
	paramTrust      = "trustservercertificate"
	paramCA         = "certificate"
	paramHostName   = "hostnameincertificate"
	paramApp        = "app name"
	paramIntent     = "applicationintent"
	paramDial       = "dial timeout"
	paramPacketSize = "packet size"
)

// urlParameters are the parameters that a URL may carry, in lower case.
var urlParameters = []string{
	paramApp, paramIntent, paramCA, paramDatabase, paramDial, paramEncrypt, paramHostName, paramPacketSize, paramTrust,
}

// refusedParameters are parameters that people use with other clients, each
// with what to do instead.
var refusedParameters = map[string]string{
	"log":                 "the driver would log statements and their values",
	"failoverpartner":     "write the host that takes read-only connections into the URL",
	"failoverport":        "write the host that takes read-only connections into the URL",
	"failoverpartnerspn":  "only logins of the server's own are supported",
	"protocol":            "connections are made over TCP",
	"pipe":                "connections are made over TCP",
	"server":              "write the host into the URL",
	"port":                "write the port into the URL",
	"user id":             "write the user into the URL",
	"password":            "write the password into the URL",
	"change password":     "a connection changes nothing",
	"connection timeout":  "use dial timeout, and the limits of the connection",
	"timezone":            "times are returned as the server has them",
	"guid conversion":     "a uniqueidentifier is returned as the server prints it",
	"columnencryption":    "encrypted columns are returned encrypted",
	"disableretry":        "a statement is never sent twice",
	"multisubnetfailover": "the addresses of a host are tried one after the other",
	"keepalive":           "connections are kept alive every 30 seconds",
	"tlsmin":              "TLS 1.2 is used, and 1.3 with encrypt=strict",
	"servercertificate":   "use certificate",
	"authenticator":       "only logins of the server's own are supported",
	"fedauth":             "only logins of the server's own are supported",
	"serverspn":           "only logins of the server's own are supported",
	"epa enabled":         "only logins of the server's own are supported",
	"workstation id":      "the name of this machine is sent",
	"notraceid":           "a trace ID is always sent",
	"sessioninitsql":      "the session's settings are pinned",
}

// systemDatabases are the system databases. A connection may not use them,
// because the guard refuses what is read there.
var systemDatabases = []string{"master", "model", "msdb", "tempdb", "resource", "mssqlsystemresource", "distribution"}

// target is the server and the database that a URL names.
type target struct {
	options tds.Options
	timeout time.Duration
	weak    string // what the transport leaves unprotected; "" means nothing
}

// notConfigured returns the error for a URL that can be parsed but is not
// accepted.
func notConfigured(format string, args ...any) error {
	return execution.NewError(sqlguard.CodeNotConfigured, fmt.Sprintf(format, args...), nil)
}

// target reads the URL and sets the transport security. Errors contain no part
// of the URL except names of parameters, because what looks like a host may be
// a misplaced password.
func (c *Config) target() (*target, error) {
	text := c.URL.Reveal()
	if !strings.HasPrefix(text, "sqlserver://") {
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
	if path := strings.Trim(u.Path, "/"); path != "" {
		return nil, errors.New("named instances are not looked up: write the port of the instance into the url, and its database as ?database=name")
	}
	params, err := parameters(u.RawQuery)
	if err != nil {
		return nil, err
	}
	t := &target{timeout: defaultConnectTimeout}
	if err := t.login(u, params); err != nil {
		return nil, err
	}
	if err := t.tuning(params); err != nil {
		return nil, err
	}
	return t, c.secure(t, params)
}

// parameters parses the query part of the URL.
func parameters(query string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the url's parameters cannot be read")
	}
	params := make(map[string]string, len(values))
	for name, all := range values {
		lower := strings.ToLower(name)
		if why, refused := refusedParameters[lower]; refused {
			return nil, fmt.Errorf("the url parameter %s is not accepted: %s", lower, why)
		}
		if strings.HasPrefix(lower, "krb5-") {
			return nil, fmt.Errorf("the url parameter %s is not accepted: only logins of the server's own are supported", lower)
		}
		if !slices.Contains(urlParameters, lower) {
			return nil, fmt.Errorf("the url parameter %q is not accepted; known are %s", name, strings.Join(urlParameters, ", "))
		}
		if _, twice := params[lower]; twice || len(all) > 1 {
			return nil, fmt.Errorf("the url sets %s more than once", lower)
		}
		params[lower] = all[0]
	}
	return params, nil
}

// login sets the server, the login and the database.
func (t *target) login(u *url.URL, params map[string]string) error {
	o := &t.options
	o.Host, o.Port, o.Application = u.Hostname(), defaultPort, "ktx"
	if o.Host == "" {
		return errors.New("the url names no host")
	}
	if port := u.Port(); port != "" {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return errors.New("the url's port is not between 1 and 65535")
		}
		o.Port = n
	}
	if u.User != nil {
		o.User = u.User.Username()
		o.Password, _ = u.User.Password()
	}
	switch {
	case o.User == "":
		return errors.New("the url names no user: only logins of the server's own are supported, not those of Windows or Microsoft Entra")
	case strings.Contains(o.User, `\`):
		return errors.New(`the url's user has a \: only logins of the server's own are supported, not those of Windows`)
	}
	o.Database = params[paramDatabase]
	if o.Database == "" {
		return notConfigured("the url names no database: add ?database=name")
	}
	if slices.ContainsFunc(systemDatabases, func(s string) bool { return strings.EqualFold(s, strings.TrimSpace(o.Database)) }) {
		return notConfigured("%s is a database of the system's: connect to one of your own", strings.ToLower(strings.TrimSpace(o.Database)))
	}
	if intent, set := params[paramIntent]; set && !strings.EqualFold(intent, "ReadOnly") {
		return errors.New("applicationIntent is always ReadOnly")
	}
	if name, set := params[paramApp]; set {
		o.Application = name
	}
	for _, text := range []string{o.User, o.Password, o.Database, o.Application} {
		// LOGIN7 counts the length of each field in units of UTF-16 (MS-TDS
		// 2.2.6.4).
		if len(text) > 128 || strings.ContainsRune(text, 0) {
			return errors.New("the url's user, password, database or application name is longer than 128 bytes")
		}
	}
	return nil
}

// tuning sets the numeric parameters.
func (t *target) tuning(params map[string]string) error {
	if text, set := params[paramDial]; set {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxDialTimeout {
			return fmt.Errorf("dial timeout must be between 1 and %d seconds", maxDialTimeout)
		}
		t.timeout = time.Duration(n) * time.Second
	}
	if text, set := params[paramPacketSize]; set {
		n, err := strconv.Atoi(text)
		if err != nil || n < minPacketSize || n > maxPacketSize {
			return fmt.Errorf("packet size must be between %d and %d", minPacketSize, maxPacketSize)
		}
		t.options.PacketSize = n
	}
	return nil
}
