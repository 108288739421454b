package tdsserver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Login is the content of a LOGIN7 message ([MS-TDS] 2.2.6.4).
type Login struct {
	TDSVersion     uint32
	PacketSize     uint32
	ReadOnlyIntent bool // fReadOnlyIntent of TypeFlags: ApplicationIntent=ReadOnly
	ODBC           bool // fODBC of OptionFlags2
	HostName       string
	User           string
	Password       string
	AppName        string
	ServerName     string
	Library        string
	Language       string
	Database       string
	Features       map[byte][]byte // by ID, from the FeatureExt block
	// Encryption is the encryption that PRELOGIN negotiated. TLS says whether
	// the login was encrypted.
	Encryption Encryption
	TLS        bool
}

// The offsets of the fields of LOGIN7 that are read.
const (
	loginFixed   = 94
	loginVersion = 4
	loginPacket  = 8
	loginFlags2  = 25
	loginType    = 26
	loginFlags3  = 27
)

const (
	flagODBC           = 0x02 // OptionFlags2
	flagReadOnlyIntent = 0x20 // TypeFlags
	flagExtension      = 0x10 // OptionFlags3
)

// readLogin reads a LOGIN7 message.
func readLogin(b []byte) (*Login, error) {
	if len(b) < loginFixed || int(binary.LittleEndian.Uint32(b)) != len(b) {
		return nil, fmt.Errorf("%w: a login of %d bytes that states another length", errProtocol, len(b))
	}
	l := &Login{
		TDSVersion:     binary.LittleEndian.Uint32(b[loginVersion:]),
		PacketSize:     binary.LittleEndian.Uint32(b[loginPacket:]),
		ODBC:           b[loginFlags2]&flagODBC != 0,
		ReadOnlyIntent: b[loginType]&flagReadOnlyIntent != 0,
	}
	var password []byte
	for _, f := range []struct {
		at  int
		set func([]byte) error
	}{
		{36, text(&l.HostName)},
		{40, text(&l.User)},
		{44, func(p []byte) error { password = p; return nil }},
		{48, text(&l.AppName)},
		{52, text(&l.ServerName)},
		{60, text(&l.Library)},
		{64, text(&l.Language)},
		{68, text(&l.Database)},
	} {
		start, units := int(binary.LittleEndian.Uint16(b[f.at:])), int(binary.LittleEndian.Uint16(b[f.at+2:]))
		if units == 0 {
			continue
		}
		if start < loginFixed || start+2*units > len(b) {
			return nil, fmt.Errorf("%w: a field of the login that lies outside it", errProtocol)
		}
		if err := f.set(b[start : start+2*units]); err != nil {
			return nil, err
		}
	}
	if err := text(&l.Password)(reveal(password)); err != nil {
		return nil, err
	}
	if b[loginFlags3]&flagExtension == 0 {
		return l, nil
	}
	var err error
	l.Features, err = readFeatures(b)
	return l, err
}

// text returns a function that decodes UTF-16 into s.
func text(s *string) func([]byte) error {
	return func(b []byte) error {
		var err error
		*s, err = fromUTF16(b)
		return err
	}
}

// reveal decodes a password. A client swaps the halves of each byte and then
// XORs it with A5 ([MS-TDS] 2.2.6.4, Password).
func reveal(b []byte) []byte {
	b = bytes.Clone(b)
	for i := range b {
		b[i] = bits.RotateLeft8(b[i]^0xA5, 4)
	}
	return b
}

// readFeatures reads the FeatureExt block. The field ibExtension points to it
// through one more offset ([MS-TDS] 2.2.6.4).
func readFeatures(b []byte) (map[byte][]byte, error) {
	outside := fmt.Errorf("%w: features that lie outside the login", errProtocol)
	pointer := int(binary.LittleEndian.Uint16(b[56:]))
	if pointer < loginFixed || pointer+4 > len(b) {
		return nil, outside
	}
	start := binary.LittleEndian.Uint32(b[pointer:])
	if start < loginFixed || uint64(start) >= uint64(len(b)) {
		return nil, outside
	}
	features := make(map[byte][]byte)
	for rest := b[start:]; ; {
		if len(rest) == 0 {
			return nil, outside
		}
		if rest[0] == 0xFF {
			return features, nil
		}
		if len(rest) < 5 {
			return nil, outside
		}
		size := binary.LittleEndian.Uint32(rest[1:])
		if uint64(size) > uint64(len(rest)-5) {
			return nil, outside
		}
		features[rest[0]] = bytes.Clone(rest[5 : 5+size])
		rest = rest[5+size:]
	}
}
