package tdsserver

import (
	"encoding/binary"
	"unicode/utf8"
)

// The tokens of a reply ([MS-TDS] 2.2.4).
const (
	tokenReturnStatus = 0x79
	tokenColumns      = 0x81
	tokenOrder        = 0xA9
	tokenError        = 0xAA
	tokenInfo         = 0xAB
	tokenLoginAck     = 0xAD
	tokenFeatureAck   = 0xAE
	tokenRow          = 0xD1
	tokenNBCRow       = 0xD2
	tokenEnvChange    = 0xE3
	tokenDone         = 0xFD
	tokenDoneProc     = 0xFE
	tokenDoneInProc   = 0xFF
)

// The bits of DONE's status ([MS-TDS] 2.2.7.6).
const (
	DoneMore      = 0x001
	DoneError     = 0x002
	DoneInTran    = 0x004
	DoneCount     = 0x010
	DoneAttention = 0x020
	DoneServer    = 0x100 // the server has a fatal problem; the client discards the connection
)

const commandSelect = 0xC1 // CurCmd of a SELECT

// The kinds of ENVCHANGE ([MS-TDS] 2.2.7.9).
const (
	envDatabase   = 1
	envLanguage   = 2
	envPacketSize = 4
	envCollation  = 7
	envBegin      = 8
	envCommit     = 9
	envRollback   = 10
	envResetAck   = 18
	envRouting    = 20
)

// ServerError is the content of an ERROR token ([MS-TDS] 2.2.7.10).
type ServerError struct {
	Number    int32
	State     byte
	Class     byte // the severity
	Message   string
	Procedure string
	Line      int32

	ends bool // the error ends the batch
}

// Error returns the message.
func (e *ServerError) Error() string { return e.Message }

// appendShortText appends a B_VARCHAR ([MS-TDS] 2.2.5.2.2).
func appendShortText(b []byte, s string) []byte {
	return appendUTF16(append(b, byte(units(s))), s)
}

// appendLongText appends a US_VARCHAR.
func appendLongText(b []byte, s string) []byte {
	return appendUTF16(binary.LittleEndian.AppendUint16(b, uint16(units(s))), s)
}

// units counts the UTF-16 units of s.
func units(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// appendSized appends a token whose data begins with its length in two bytes.
func appendSized(b []byte, token byte, data []byte) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, token), uint16(len(data)))
	return append(b, data...)
}

// appendMessage appends ERROR or INFO ([MS-TDS] 2.2.7.10, 2.2.7.13).
func appendMessage(b []byte, token byte, server string, e *ServerError) []byte {
	data := binary.LittleEndian.AppendUint32(nil, uint32(e.Number))
	data = append(data, e.State, e.Class)
	data = appendLongText(data, e.Message)
	data = appendShortText(data, server)
	data = appendShortText(data, e.Procedure)
	data = binary.LittleEndian.AppendUint32(data, uint32(e.Line))
	return appendSized(b, token, data)
}

// appendDone appends DONE, DONEPROC or DONEINPROC ([MS-TDS] 2.2.7.6 to 8).
func appendDone(b []byte, token byte, status, command uint16, rows uint64) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, token), status)
	b = binary.LittleEndian.AppendUint16(b, command)
	return binary.LittleEndian.AppendUint64(b, rows)
}

// appendEnvText appends an ENVCHANGE with a new and an old string.
func appendEnvText(b []byte, kind byte, now, before string) []byte {
	return appendSized(b, tokenEnvChange, appendShortText(appendShortText([]byte{kind}, now), before))
}

// appendEnvBytes appends an ENVCHANGE with new and old bytes.
func appendEnvBytes(b []byte, kind byte, now, before []byte) []byte {
	data := append([]byte{kind, byte(len(now))}, now...)
	return appendSized(b, tokenEnvChange, append(append(data, byte(len(before))), before...))
}

// appendRouting appends the ENVCHANGE that redirects a client to another
// server.
func appendRouting(b []byte, host string, port uint16) []byte {
	to := binary.LittleEndian.AppendUint16([]byte{0}, port) // 0 means TCP
	to = appendLongText(to, host)
	data := binary.LittleEndian.AppendUint16([]byte{envRouting}, uint16(len(to)))
	return appendSized(b, tokenEnvChange, append(append(data, to...), 0, 0))
}

// appendLoginAck appends LOGINACK ([MS-TDS] 2.2.7.14).
func appendLoginAck(b []byte, tds uint32, program string, version [4]byte) []byte {
	data := binary.BigEndian.AppendUint32([]byte{1}, tds)
	data = appendShortText(data, program)
	return appendSized(b, tokenLoginAck, append(data, version[:]...))
}

// Column is one column of a result.
type Column struct {
	Name string
	Type Type
}

// The flags of a column ([MS-TDS] 2.2.7.4).
const columnNullable = 0x0001

// appendColumns appends COLMETADATA ([MS-TDS] 2.2.7.4).
func appendColumns(b []byte, columns []Column) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, tokenColumns), uint16(len(columns)))
	for _, c := range columns {
		var flags uint16
		if n, ok := c.Type.fixed(); !ok || n == 0 {
			flags = columnNullable
		}
		b = binary.LittleEndian.AppendUint32(b, c.Type.user)
		b = binary.LittleEndian.AppendUint16(b, flags)
		b = c.Type.append(b)
		switch c.Type.id {
		case typeText, typeNText, typeImage:
			b = appendLongText(append(b, 1), "items") // the table of the value
		}
		b = appendShortText(b, c.Name)
	}
	return b
}
