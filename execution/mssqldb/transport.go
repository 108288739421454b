package mssqldb

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

// transport holds the TLS parameters of a URL.
type transport struct {
	plain    bool // encrypt=false
	explicit bool // encrypt=true or strict
	strict   bool // TDS 8.0
	trust    bool // trustServerCertificate=true
	insecure bool
	name     string // of the certificate; "" means the host's
	roots    *x509.CertPool
}

// secure sets the transport security of t. It refuses the parameters that leave
// the server unverified, and names them, unless the host is local or
// InsecureTLS is set.
func (c *Config) secure(t *target, params map[string]string) error {
	way := transport{insecure: c.InsecureTLS, name: params[paramHostName]}
	switch value, set := params[paramEncrypt]; strings.ToLower(value) {
	case "true", "mandatory", "yes", "1", "t":
		way.explicit = true
	case "false", "optional", "no", "0", "f", "disable":
		way.plain = true
	case "strict":
		way.explicit, way.strict = true, true
	default:
		if set {
			return errors.New("encrypt must be true, strict or false")
		}
	}
	if value, set := params[paramTrust]; set {
		trust, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			return errors.New("trustServerCertificate must be true or false")
		}
		way.trust = trust
	}
	relaxed := network.Local(t.options.Host) || c.InsecureTLS
	switch {
	case way.plain && !relaxed:
		return errors.New("encrypt=false sends statements, rows and the password in the clear: use encrypt=true, or permit it with tls: off in the entry of this connection")
	case way.trust && way.strict:
		return errors.New("encrypt=strict always verifies the server: remove trustServerCertificate")
	case way.trust && !relaxed:
		return errors.New("trustServerCertificate=true does not verify the server: name the file of its certificate authority as certificate, or permit it with tls: off in the entry of this connection")
	}
	if file := params[paramCA]; file != "" {
		roots, err := readRoots(file)
		if err != nil {
			return err
		}
		way.roots = roots
	}
	t.options.TLS = way.to
	switch answer := way.to(t.options.Host); {
	case network.Local(t.options.Host) || answer.Verified:
	case answer.Config == nil:
		t.weak = "the connection is made without TLS"
	default:
		t.weak = "the server's certificate is not verified"
	}
	return nil
}

// to returns how a connection to host is protected. A host to which a server
// redirects the connection is judged like the host of the URL.
func (w *transport) to(host string) tds.Transport {
	relaxed := network.Local(host) || w.insecure
	if w.plain && relaxed {
		return tds.Transport{}
	}
	name := w.name
	if name == "" {
		name = host
	}
	// Except with TDS 8.0, the protocol does not support TLS 1.3. The server
	// wants each packet in one record.
	conf := &tls.Config{ //nolint:gosec // no newer version is there
		ServerName: name, RootCAs: w.roots, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12,
		DynamicRecordSizingDisabled: true,
	}
	if relaxed && (w.trust || !w.explicit && w.roots == nil) {
		conf.InsecureSkipVerify = true // permitted by the configuration, or on this machine
		return tds.Transport{Config: conf}
	}
	if w.strict {
		conf.MaxVersion = 0 // TLS 1.3
	}
	return tds.Transport{Config: conf, Strict: w.strict, Verified: true}
}

// readRoots reads certificates, in PEM or one in DER.
func readRoots(file string) (*x509.CertPool, error) {
	raw, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("the url's certificate cannot be read: %w", err)
	}
	roots := x509.NewCertPool()
	if roots.AppendCertsFromPEM(raw) {
		return roots, nil
	}
	one, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, errors.New("the url's certificate is neither PEM nor DER")
	}
	roots.AddCert(one)
	return roots, nil
}
