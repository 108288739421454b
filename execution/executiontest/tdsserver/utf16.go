package tdsserver

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
)

// fromUTF16 decodes UTF-16LE, the encoding of a client's text ([MS-TDS]
// 2.2.5.2.1). Half a surrogate pair becomes U+FFFD. Message.Raw has the
// original bytes.
func fromUTF16(b []byte) (string, error) {
	if len(b)%2 != 0 {
		return "", fmt.Errorf("%w: text of %d bytes, half a character", errProtocol, len(b))
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units)), nil
}

// appendUTF16 appends s as UTF-16LE.
func appendUTF16(b []byte, s string) []byte {
	for _, r := range s {
		if r > 0xFFFF {
			hi, lo := utf16.EncodeRune(r)
			b = binary.LittleEndian.AppendUint16(b, uint16(hi))
			b = binary.LittleEndian.AppendUint16(b, uint16(lo))
			continue
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(r))
	}
	return b
}

// UTF16 returns s as UTF-16LE, the bytes of an nvarchar.
func UTF16(s string) []byte { return appendUTF16(nil, s) }
