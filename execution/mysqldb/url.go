package mysqldb

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
)

// defaultConnectTimeout bounds the time until a connection is authenticated.
const defaultConnectTimeout = 10 * time.Second

// urlParameters are the parameters that a URL may carry.
var urlParameters = []string{"connect-timeout", "program-name", "socket", "ssl-ca", "ssl-cert", "ssl-key", "ssl-mode"}

// refusedParameters are parameters that people use with other clients, each
// with what to do instead.
var refusedParameters = map[string]string{
	"multiStatements":          "a call runs one statement",
	"allowMultiQueries":        "a call runs one statement",
	"allowAllFiles":            "no file of this machine is ever sent",
	"allowLoadLocalInfile":     "no file of this machine is ever sent",
	"local_infile":             "no file of this machine is ever sent",
	"local-infile":             "no file of this machine is ever sent",
	"allowCleartextPasswords":  "passwords are not sent in clear text",
	"allowOldPasswords":        "give the account a current authentication plugin",
	"allowNativePasswords":     "it is always permitted",
	"allowFallbackToPlaintext": "use ssl-mode",
	"allowPublicKeyRetrieval":  "use ssl-mode",
	"tls":                      "use ssl-mode",
	"ssl":                      "use ssl-mode",
	"sslmode":                  "use ssl-mode",
	"useSSL":                   "use ssl-mode",
	"serverPubKey":             "use ssl-mode",
	"interpolateParams":        "statements have no parameters",
	"parseTime":                "values are the server's own text",
	"loc":                      "sessions are in UTC; use CONVERT_TZ in the statement",
	"timeTruncate":             "values are the server's own text",
	"charset":                  "the character set is always utf8mb4",
	"collation":                "write COLLATE into the statement",
	"clientFoundRows":          "no statement changes rows",
	"columnsWithAlias":         "columns are named as in the result",
	"compress":                 "the protocol is not compressed",
	"compression":              "the protocol is not compressed",
	"connectionAttributes":     "use program-name",
	"maxAllowedPacket":         "set the limits of the connection",
	"readTimeout":              "set the limits of the connection",
	"writeTimeout":             "set the limits of the connection",
	"timeout":                  "use connect-timeout",
	"rejectReadOnly":           "every statement runs in a read-only transaction",
	"checkConnLiveness":        "connections are always checked",
	"autocommit":               "every statement is rolled back",
	"sql_mode":                 "the session's settings are pinned",
	"sql-mode":                 "the session's settings are pinned",
	"init_command":             "the session's settings are pinned",
	"init-command":             "the session's settings are pinned",
	"time_zone":                "sessions are in UTC; use CONVERT_TZ in the statement",
	"transaction_isolation":    "the server's own is used",
	"tx_isolation":             "the server's own is used",
	"transaction_read_only":    "every statement runs in a read-only transaction",
	"tx_read_only":             "every statement runs in a read-only transaction",
	"sql_select_limit":         "set the limits of the connection",
	"max_execution_time":       "set the limits of the connection",
	"max_statement_time":       "set the limits of the connection",
	"lock_wait_timeout":        "set the limits of the connection",
	"innodb_lock_wait_timeout": "set the limits of the connection",
}

// systemDatabases are the servers' own databases. When one of them is selected,
// unqualified names refer to the server's tables.
var systemDatabases = []string{"information_schema", "mysql", "performance_schema", "sys", "ndbinfo", "metrics_schema"}

// target is the server and the database that a URL names.
type target struct {
	network, address string // network is "tcp" or "unix"
	user             string
	password         execution.Secret
	database         string
	program          string
	connectTimeout   time.Duration
	mode             sslMode
	tls              *tls.Config // nil when mode is disabled
}

// sslMode is how a connection is secured, named as in MySQL's clients.
type sslMode string

const (
	sslDisabled       sslMode = "DISABLED"
	sslPreferred      sslMode = "PREFERRED"
	sslRequired       sslMode = "REQUIRED"
	sslVerifyCA       sslMode = "VERIFY_CA"
	sslVerifyIdentity sslMode = "VERIFY_IDENTITY"
)

var errURL = errors.New("the url must look like mysql://user:password@host:3306/database, with special characters percent-encoded")

// target reads the URL. No part of the URL appears in an error, because what
// looks like a host may be a misplaced password.
func (c *Config) target() (*target, error) {
	text := c.URL.Reveal()
	if !strings.HasPrefix(text, "mysql://") && !strings.HasPrefix(text, "mariadb://") {
		return nil, errURL
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Fragment != "" || u.RawFragment != "" || strings.Contains(text, "#") {
		return nil, errURL
	}
	if question := strings.IndexByte(text, '?'); question >= 0 && strings.LastIndexByte(text, '@') > question {
		// A ? in a password would make the parameters start too early.
		return nil, errors.New("the url is ambiguous: write ? as %3F and @ as %40 in names, passwords and parameters")
	}
	params, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the url's parameters cannot be read")
	}
	if err := checkParameters(params); err != nil {
		return nil, err
	}
	t := &target{program: "ktx", connectTimeout: defaultConnectTimeout, user: u.User.Username()}
	password, _ := u.User.Password()
	t.password = execution.NewSecret(password)
	if t.user == "" {
		return nil, errors.New("the url names no user")
	}
	if t.database, err = databaseOf(u); err != nil {
		return nil, err
	}
	if params.Has("program-name") {
		t.program = params.Get("program-name")
		if strings.ContainsAny(t.program, ",:\x00") || t.program == "" {
			return nil, errors.New("program-name must not be empty or have a comma or colon")
		}
	}
	if params.Has("connect-timeout") {
		seconds, err := strconv.Atoi(params.Get("connect-timeout"))
		if err != nil || seconds < 1 || seconds > 3600 {
			return nil, errors.New("connect-timeout must be a number of seconds from 1 to 3600")
		}
		t.connectTimeout = time.Duration(seconds) * time.Second
	}
	host, err := t.locate(u, params)
	if err != nil {
		return nil, err
	}
	return t, c.secure(t, host, params)
}

func checkParameters(params url.Values) error {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range params {
			if !yield(name) {
				return
			}
		}
	}) {
		if why, ok := refusedParameters[name]; ok {
			return fmt.Errorf("the url parameter %s is not accepted: %s", name, why)
		}
		if !slices.Contains(urlParameters, name) {
			return fmt.Errorf("the url parameter %q is not accepted; known are %s", name, strings.Join(urlParameters, ", "))
		}
		if len(params[name]) > 1 {
			return fmt.Errorf("the url parameter %s is given more than once", name)
		}
	}
	return nil
}

// databaseOf returns the database that a URL names.
func databaseOf(u *url.URL) (string, error) {
	name := strings.TrimPrefix(u.Path, "/")
	if err := checkDatabase(name); err != nil {
		return "", err
	}
	return name, nil
}

// checkDatabase returns an error if the name is not one of a database that can
// be served.
func checkDatabase(name string) error {
	switch {
	case name == "":
		return errors.New("the url names no database: write it behind the host, as in mysql://user:password@host:3306/database")
	case strings.ContainsAny(name, "/\x00") || strings.TrimSpace(name) != name:
		return errURL
	case slices.ContainsFunc(systemDatabases, func(s string) bool { return strings.EqualFold(s, name) }):
		return errors.New("the url names a database of the server itself; name one of yours")
	}
	return nil
}

// locate sets the address of the server. It returns the name that the server's
// certificate must have, or "" for a socket.
func (t *target) locate(u *url.URL, params url.Values) (host string, err error) {
	host, port := u.Hostname(), u.Port()
	if params.Has("socket") {
		path := params.Get("socket")
		if path == "" || strings.ContainsRune(path, 0) || host != "" && !local(host) {
			return "", errors.New("a url with a socket has the socket's path and no other host than this machine")
		}
		t.network, t.address = "unix", path
		return "", nil
	}
	if host == "" || strings.ContainsAny(host, ",/ \x00") {
		return "", errURL
	}
	if port == "" {
		port = "3306"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errURL
	}
	t.network, t.address = "tcp", net.JoinHostPort(host, port)
	return host, nil
}

// secure sets the transport security of t.
func (c *Config) secure(t *target, host string, params url.Values) error {
	isLocal := t.network == "unix" || local(host)
	t.mode = sslVerifyIdentity
	switch {
	case params.Has("ssl-mode"):
		t.mode = sslMode(strings.ToUpper(params.Get("ssl-mode")))
	case t.network == "unix", isLocal && !params.Has("ssl-ca"):
		t.mode = sslDisabled
	case c.InsecureTLS:
		t.mode = sslPreferred
	}
	switch t.mode {
	case sslVerifyIdentity:
	case sslVerifyCA:
		if !isLocal && !c.InsecureTLS && !params.Has("ssl-ca") {
			return errors.New("ssl-mode VERIFY_CA needs ssl-ca, or use VERIFY_IDENTITY")
		}
	case sslDisabled, sslPreferred, sslRequired:
		if !isLocal && !c.InsecureTLS {
			return fmt.Errorf("ssl-mode=%s does not verify the server: use ssl-mode=VERIFY_IDENTITY, with ssl-ca when the certificate authority is a private one, or permit it with tls: off in the entry of this connection", t.mode)
		}
	default:
		return errors.New("ssl-mode is one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY")
	}
	if t.mode == sslDisabled {
		for _, name := range []string{"ssl-ca", "ssl-cert", "ssl-key"} {
			if params.Has(name) {
				return fmt.Errorf("%s has no use without TLS", name)
			}
		}
		return nil
	}
	if t.network == "unix" && t.mode == sslVerifyIdentity {
		host = "localhost"
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if params.Has("ssl-ca") {
		pem, err := os.ReadFile(params.Get("ssl-ca"))
		if err != nil {
			return fmt.Errorf("the url cannot be used: unable to read ssl-ca: %w", withoutPath(err))
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return errors.New("the url cannot be used: ssl-ca has no certificate")
		}
	}
	if params.Has("ssl-cert") != params.Has("ssl-key") {
		return errors.New("the url cannot be used: both ssl-cert and ssl-key are needed")
	}
	if params.Has("ssl-cert") {
		pair, err := tls.LoadX509KeyPair(params.Get("ssl-cert"), params.Get("ssl-key"))
		if err != nil {
			return fmt.Errorf("the url cannot be used: unable to read ssl-cert and ssl-key: %w", withoutPath(err))
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	switch t.mode {
	case sslPreferred, sslRequired:
		conf.InsecureSkipVerify = true
	case sslVerifyCA:
		// The standard library verifies the chain only together with the host
		// name, so the chain alone is verified here.
		conf.InsecureSkipVerify = true
		roots := conf.RootCAs
		conf.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, roots) }
	case sslDisabled, sslVerifyIdentity:
	}
	t.tls = conf
	return nil
}

// verifyChain verifies a server's certificate without its host name.
func verifyChain(s tls.ConnectionState, roots *x509.CertPool) error {
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, cert := range s.PeerCertificates[1:] {
		options.Intermediates.AddCert(cert)
	}
	_, err := s.PeerCertificates[0].Verify(options)
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
	}
	return nil
}

// withoutPath returns the cause of an error about a file.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// local reports whether a host is this machine.
func local(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// weakness says what transport security does not protect, or "" when it
// protects everything.
func (t *target) weakness() string {
	host, _, err := net.SplitHostPort(t.address)
	if t.network == "unix" || err == nil && local(host) {
		return ""
	}
	switch t.mode {
	case sslVerifyIdentity, sslVerifyCA:
		return ""
	case sslRequired:
		return "the server's certificate is not verified"
	case sslDisabled, sslPreferred:
		return "the connection may be made without TLS"
	default:
		return "the connection may be made without TLS"
	}
}
