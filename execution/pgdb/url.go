package pgdb

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ktxhq/ktx/execution/internal/network"
)

// urlParameters are the parameters that a URL may carry.
var urlParameters = []string{
	"application_name", "channel_binding", "connect_timeout", "database", "dbname", "host", "max_protocol_version",
	"min_protocol_version", "passfile", "password", "port", "require_auth", "sslcert", "sslcertmode", "sslkey", "sslmode",
	"sslnegotiation", "sslpassword", "sslrootcert", "sslsni", "target_session_attrs", "user",
}

// refusedParameters are refused parameters that people use, each with what to
// do instead.
var refusedParameters = map[string]string{
	"default_query_exec_mode":       "statements always use the extended protocol",
	"statement_cache_capacity":      "statements of users are not cached",
	"statement_cache_mode":          "statements of users are not cached",
	"description_cache_capacity":    "statements of users are not cached",
	"prefer_simple_protocol":        "statements always use the extended protocol",
	"pool_max_conns":                "set maxConnections",
	"pool_min_conns":                "set maxConnections",
	"pool_max_conn_lifetime":        "set maxConnections",
	"pool_max_conn_idle_time":       "set maxConnections",
	"pool_health_check_period":      "set maxConnections",
	"options":                       "the session's settings are pinned; for the search path set schemas on the connection",
	"search_path":                   "set the schemas of the connection",
	"timezone":                      "sessions are in UTC; use AT TIME ZONE in the statement",
	"statement_timeout":             "set the limits of the connection",
	"lock_timeout":                  "set the limits of the connection",
	"default_transaction_read_only": "every statement runs in a read-only transaction",
	"client_encoding":               "the encoding is always UTF8",
	"service":                       "write the host, user and database into the URL",
	"servicefile":                   "write the host, user and database into the URL",
	"ssl":                           "use sslmode",
	"hostaddr":                      "write the address into the URL",
	"gssencmode":                    "use sslmode",
}

// connection parses the URL and decides about transport security.
func (c *Config) connection() (*pgconn.Config, error) {
	text := c.URL.Reveal()
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return nil, errors.New("the url must look like postgres://user:password@host:5432/database")
	}
	question := strings.IndexByte(text, '?')
	if question >= 0 && strings.LastIndexByte(text, '@') > question {
		// A ? in a password would move the start of the parameters.
		return nil, errors.New("the url is ambiguous: write ? as %3F and @ as %40 in names, passwords and parameters")
	}
	params := url.Values{}
	separator := "?"
	if question >= 0 {
		var err error
		if params, err = url.ParseQuery(text[question+1:]); err != nil {
			return nil, errors.New("the url's parameters cannot be read")
		}
		if separator = "&"; strings.HasSuffix(text, "?") || strings.HasSuffix(text, "&") {
			separator = ""
		}
	}
	for name := range params {
		if slices.Contains(urlParameters, name) {
			continue
		}
		if why, ok := refusedParameters[name]; ok {
			return nil, fmt.Errorf("the url parameter %s is not accepted: %s", name, why)
		}
		return nil, fmt.Errorf("the url parameter %q is not accepted; known are %s", name, strings.Join(urlParameters, ", "))
	}
	options := pgconn.ParseConfigOptions{ConnStringAllowedKeys: urlParameters}

	// Parse the URL first to find the hosts, which decide about sslmode. Parse
	// it again with sslmode written out, so that the environment cannot change
	// it.
	hosts, err := pgconn.ParseConfigWithOptions(text+separator+"sslmode=disable", options)
	if err != nil {
		return nil, parseError(err)
	}
	mode, err := c.sslmode(params, !slices.ContainsFunc(addresses(hosts), func(a address) bool { return !local(a.host) }))
	if err != nil {
		return nil, err
	}
	conf, err := pgconn.ParseConfigWithOptions(text+separator+"sslmode="+mode, options)
	if err != nil {
		return nil, parseError(err)
	}
	if !c.InsecureTLS {
		for _, a := range addresses(conf) {
			if !local(a.host) && !a.verified() {
				return nil, errors.New("the connection would not verify the server's certificate")
			}
		}
	}
	name := conf.RuntimeParams["application_name"]
	if !params.Has("application_name") {
		name = "ktx"
	}
	conf.RuntimeParams = map[string]string{"client_encoding": "UTF8", "application_name": name}
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = defaultConnectTimeout
	}
	return conf, nil
}

// parseError says why a URL cannot be used, without any part of the URL: what
// looks like a host or a port may be part of a password.
func parseError(err error) error {
	if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		if inner := errors.Unwrap(err); inner != nil && (strings.HasPrefix(inner.Error(), "unable to") || strings.HasPrefix(inner.Error(), "both ")) {
			return fmt.Errorf("the url cannot be used: %w", inner) // errors about certificate files
		}
	}
	return errors.New("the url cannot be read: it must look like postgres://user:password@host:5432/database, with special characters percent-encoded")
}

// sslmode returns the mode to connect with. Every mode that does not verify the
// server is refused by name, unless all hosts are local or InsecureTLS is set.
func (c *Config) sslmode(params url.Values, allLocal bool) (string, error) {
	given := params.Get("sslmode")
	if n := len(params["sslmode"]); n > 1 {
		return "", errors.New("the url sets sslmode more than once")
	}
	switch given {
	case "":
		if allLocal || c.InsecureTLS {
			return "prefer", nil
		}
		return "verify-full", nil
	case "verify-full":
		return given, nil
	case "verify-ca":
		// Without sslrootcert, this mode accepts every public certificate.
		if params.Get("sslrootcert") != "" || allLocal || c.InsecureTLS {
			return given, nil
		}
		return "", errors.New("sslmode=verify-ca needs sslrootcert, or use sslmode=verify-full")
	case "disable", "allow", "prefer", "require":
		if allLocal || c.InsecureTLS {
			return given, nil
		}
		return "", fmt.Errorf("sslmode=%s does not verify the server: use sslmode=verify-full, with sslrootcert when the certificate authority is a private one, or permit it with tls: off in the entry of this connection", given)
	default:
		return "", errors.New("sslmode must be one of verify-full, verify-ca, require, prefer, allow, disable")
	}
}

// address is one network address to connect to.
type address struct {
	host string
	conf *pgconn.FallbackConfig
}

func addresses(c *pgconn.Config) []address {
	all := []address{{c.Host, &pgconn.FallbackConfig{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}}
	for _, f := range c.Fallbacks {
		all = append(all, address{f.Host, f})
	}
	return all
}

// verified reports whether a connection checks the server's certificate.
func (a address) verified() bool {
	t := a.conf.TLSConfig
	return t != nil && (!t.InsecureSkipVerify || t.VerifyPeerCertificate != nil)
}

// local reports whether host is this machine: a Unix socket, localhost or a
// loopback address.
func local(host string) bool {
	kind, _ := pgconn.NetworkAddress(host, 0)
	return kind == "unix" || network.Local(host)
}

// weakness describes what transport security does not verify; "" when it
// verifies everything.
func weakness(c *pgconn.Config) string {
	for _, a := range addresses(c) {
		switch {
		case local(a.host) || a.verified():
		case a.conf.TLSConfig == nil:
			return "the connection may be made without TLS"
		default:
			return "the server's certificate is not verified"
		}
	}
	return ""
}
