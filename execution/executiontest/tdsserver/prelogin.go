package tdsserver

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Encryption is a value of the ENCRYPTION option ([MS-TDS] 2.2.6.5).
type Encryption byte

// The values of ENCRYPTION. A server with [EncryptStrict] supports only TDS
// 8.0, in which TLS begins before the first packet. Every other server accepts
// such a connection too.
const (
	EncryptOff          Encryption = 0 // only the login is encrypted
	EncryptOn           Encryption = 1
	EncryptNotSupported Encryption = 2
	EncryptRequired     Encryption = 3
	EncryptStrict       Encryption = 4
)

// The options of PRELOGIN that the server reads or sends ([MS-TDS] 2.2.6.5).
const (
	preloginVersion    = 0
	preloginEncryption = 1
	preloginInstance   = 2
	preloginThread     = 3
	preloginMARS       = 4
	preloginTerminator = 0xFF
)

// readPrelogin returns the options of a PRELOGIN message.
func readPrelogin(b []byte) (map[byte][]byte, error) {
	options := make(map[byte][]byte)
	for i := 0; ; i += 5 {
		if i >= len(b) {
			return nil, fmt.Errorf("%w: options of PRELOGIN without an end", errProtocol)
		}
		if b[i] == preloginTerminator {
			return options, nil
		}
		if i+5 > len(b) {
			return nil, fmt.Errorf("%w: half an option of PRELOGIN", errProtocol)
		}
		start, size := int(binary.BigEndian.Uint16(b[i+1:])), int(binary.BigEndian.Uint16(b[i+3:]))
		if start+size > len(b) {
			return nil, fmt.Errorf("%w: an option of PRELOGIN that lies outside the message", errProtocol)
		}
		if _, again := options[b[i]]; again {
			return nil, fmt.Errorf("%w: option %d of PRELOGIN twice", errProtocol, b[i])
		}
		options[b[i]] = bytes.Clone(b[start : start+size])
	}
}

// preloginAnswer returns the server's PRELOGIN: its version, the encryption
// that was negotiated, and no multiple active result sets.
func preloginAnswer(version [4]byte, encryption Encryption) []byte {
	options := []struct {
		token byte
		data  []byte
	}{
		{preloginVersion, []byte{version[0], version[1], version[2], version[3], 0, 0}},
		{preloginEncryption, []byte{byte(encryption)}},
		{preloginInstance, []byte{0}},
		{preloginThread, nil},
		{preloginMARS, []byte{0}},
	}
	var head, data []byte
	start := 5*len(options) + 1
	for _, o := range options {
		head = append(head, o.token)
		head = binary.BigEndian.AppendUint16(head, uint16(start+len(data)))
		head = binary.BigEndian.AppendUint16(head, uint16(len(o.data)))
		data = append(data, o.data...)
	}
	return append(append(head, preloginTerminator), data...)
}

// agree returns the server's answer to the client's ENCRYPTION, and whether the
// connection continues. It follows the table of [MS-TDS] 2.2.6.5.
func agree(client, server Encryption) (answer Encryption, goOn bool) {
	switch server {
	case EncryptNotSupported:
		return EncryptNotSupported, client == EncryptNotSupported || client == EncryptOff
	case EncryptOn, EncryptRequired:
		switch client {
		case EncryptOn, EncryptRequired:
			return EncryptOn, true
		case EncryptOff:
			return EncryptRequired, true
		case EncryptNotSupported, EncryptStrict:
			return EncryptRequired, false
		}
	case EncryptOff:
		switch client {
		case EncryptOn, EncryptRequired:
			return EncryptOn, true
		case EncryptOff:
			return EncryptOff, true
		case EncryptNotSupported:
			return EncryptNotSupported, true
		case EncryptStrict:
			return EncryptOff, false
		}
	case EncryptStrict:
	}
	return EncryptStrict, false
}
