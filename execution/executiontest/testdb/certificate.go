package testdb

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path/filepath"

	"github.com/ktxhq/ktx/execution/executiontest/selfsigned"
)

func (c *cluster) certificateFile() string { return filepath.Join(c.dir, "server.crt") }
func (c *cluster) keyFile() string         { return filepath.Join(c.dir, "server.key") }

// writeCertificate writes a self-signed certificate and its key.
func (c *cluster) writeCertificate() error {
	certificate, text, err := selfsigned.Certificate("testdb")
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		return fmt.Errorf("encode the key: %w", err)
	}
	if err := c.write(c.certificateFile(), text); err != nil {
		return err
	}
	return c.write(c.keyFile(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}
