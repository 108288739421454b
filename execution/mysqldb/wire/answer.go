package wire

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Status is the state of the session that the server sends with an answer
// (include/mysql_com.h, SERVER_STATUS_*).
type Status uint16

// The flags of a Status.
const (
	InTransaction         Status = 0x0001
	Autocommit            Status = 0x0002
	MoreResults           Status = 0x0008
	DatabaseDropped       Status = 0x0100
	NoBackslashEscapes    Status = 0x0200
	InReadOnlyTransaction Status = 0x2000
)

// Has reports whether all flags are set.
func (s Status) Has(flags Status) bool { return s&flags == flags }

// Error is an error that the server reported. Its strings are valid UTF-8.
type Error struct {
	Number  uint16
	State   string // SQLSTATE
	Message string
}

// Error returns number, state and message.
func (e *Error) Error() string { return fmt.Sprintf("%d (%s): %s", e.Number, e.State, e.Message) }

// Column describes one column of a result.
type Column struct {
	Name     string
	Type     Type
	Charset  uint16 // number of the collation; Binary for bytes
	Length   uint32 // of the longest value, in bytes
	Flags    Flags
	Decimals byte
	// Format and Extended describe the type further when the server is MariaDB,
	// for example "json" for Format, and "uuid", "inet6" or "point" for
	// Extended.
	Format, Extended string
}

// Binary is the collation number of bytes.
const Binary = 63

// Answer is the beginning of the answer to one command.
type Answer struct {
	// Columns describe the rows that follow; nil when none follow.
	Columns []Column
	// Status is the status of an answer without rows. An answer with rows has
	// its status after them, in [Row.Status].
	Status Status
	// Err is the server's error, if it refused the command.
	Err *Error
}

// The first bytes of packets.
const (
	packetOK    = 0x00
	packetFile  = 0xfb // a request for a local file
	packetEnd   = 0xfe
	packetError = 0xff
)

// maxColumns bounds the columns of a result. The servers' own bound is 4,096.
const maxColumns = 4096

// Answer reads the beginning of the answer to the next command. An error of the
// server is part of the answer. If the server sent it out of turn, it is the
// error of the call, and the connection has ended.
func (c *Conn) Answer() (Answer, error) {
	if c.inRows {
		return Answer{}, fmt.Errorf("%w: rows were not read", ErrFormat)
	}
	c.seq = 1
	inTurn, err := c.packet()
	if err != nil {
		return Answer{}, err
	}
	first, err := c.append(nil, 1)
	if err != nil {
		return Answer{}, err
	}
	if !inTurn && first[0] != packetError {
		return Answer{}, fmt.Errorf("%w: out of turn", ErrFormat)
	}
	switch first[0] {
	case packetError:
		e, err := c.refusal()
		if err == nil && !inTurn {
			err = e
		}
		return Answer{Err: e}, err
	case packetFile:
		return Answer{}, fmt.Errorf("%w: it asks for a local file", ErrFormat)
	case packetOK:
		b, err := c.short(nil)
		if err != nil {
			return Answer{}, err
		}
		p := parser{b: b}
		p.number() // affected rows
		p.number() // last insert ID
		status := Status(p.u16())
		if p.bad {
			return Answer{}, fmt.Errorf("%w: an OK that is too short", ErrFormat)
		}
		return Answer{Status: status}, nil
	default:
		b, err := c.short(first)
		if err != nil {
			return Answer{}, err
		}
		p := parser{b: b}
		n := p.number()
		if p.bad || len(p.b) > 0 || n == 0 || n > maxColumns {
			return Answer{}, fmt.Errorf("%w: an answer of %d columns", ErrFormat, n)
		}
		columns, err := c.columns(int(n))
		return Answer{Columns: columns}, err
	}
}

// columns reads n column definitions and the packet that ends them.
func (c *Conn) columns(n int) ([]Column, error) {
	columns := make([]Column, n)
	for i := range columns {
		if err := c.inTurn(); err != nil {
			return nil, err
		}
		b, err := c.short(c.names[:0])
		if err != nil {
			return nil, err
		}
		c.names = b
		if columns[i], err = c.column(b); err != nil {
			return nil, err
		}
	}
	if err := c.inTurn(); err != nil {
		return nil, err
	}
	b, err := c.short(nil)
	if err != nil {
		return nil, err
	}
	if len(b) != 5 || b[0] != packetEnd {
		return nil, fmt.Errorf("%w: column definitions without an end", ErrFormat)
	}
	c.inRows = true
	return columns, nil
}

// inTurn begins the next packet, which must have the expected number.
func (c *Conn) inTurn() error {
	ok, err := c.packet()
	if err == nil && !ok {
		err = fmt.Errorf("%w: out of turn", ErrFormat)
	}
	return err
}

// column reads a column definition (protocol 4.1).
func (c *Conn) column(b []byte) (Column, error) {
	p := parser{b: b}
	for range 4 { // catalogue, schema, table, original table
		p.text()
	}
	col := Column{Name: string(p.text())}
	p.text() // original name
	if c.extended {
		for ext := (parser{b: p.text()}); len(ext.b) > 0 && !ext.bad; {
			kind := ext.u8()
			switch value := string(ext.text()); kind {
			case 0:
				col.Extended = value
			case 1:
				col.Format = value
			}
		}
	}
	fixed := parser{b: p.text()}
	col.Charset = fixed.u16()
	col.Length = fixed.u32()
	col.Type = Type(fixed.u8())
	col.Flags = Flags(fixed.u16())
	col.Decimals = fixed.u8()
	if p.bad || fixed.bad {
		return Column{}, fmt.Errorf("%w: a column definition that is too short", ErrFormat)
	}
	return col, nil
}

// refusal reads the rest of an error packet.
func (c *Conn) refusal() (*Error, error) {
	var b []byte
	for len(b) < textMax && !c.atEnd() { // a longer message is cut
		part, err := c.next(textMax - len(b))
		if err != nil {
			return nil, err
		}
		b = append(b, part...)
	}
	if err := c.skip(-1); err != nil {
		return nil, err
	}
	p := parser{b: b}
	e := &Error{Number: p.u16(), State: "HY000"}
	if p.bad {
		return nil, fmt.Errorf("%w: an error that is too short", ErrFormat)
	}
	if len(p.b) >= 6 && p.b[0] == '#' {
		e.State = valid(string(p.b[1:6]))
		p.b = p.b[6:]
	}
	e.Message = valid(string(p.b))
	return e, nil
}

// valid returns s with invalid UTF-8 replaced. An error's message is not data,
// so nothing is lost.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// parser takes fields from the front of b. It sets bad when a field is missing.
type parser struct {
	b   []byte
	bad bool
}

var zeros [8]byte

func (p *parser) take(n uint64) []byte {
	if p.bad || n > uint64(len(p.b)) {
		p.bad, p.b = true, nil
		if n <= uint64(len(zeros)) {
			return zeros[:n]
		}
		return nil
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *parser) u8() byte    { return p.take(1)[0] }
func (p *parser) u16() uint16 { return binary.LittleEndian.Uint16(p.take(2)) }
func (p *parser) u32() uint32 { return binary.LittleEndian.Uint32(p.take(4)) }

// number reads a length-encoded integer.
func (p *parser) number() uint64 {
	switch first := p.u8(); first {
	case 0xfc:
		return uint64(p.u16())
	case 0xfd:
		b := p.take(3)
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	case 0xfe:
		return binary.LittleEndian.Uint64(p.take(8))
	case packetFile, packetError:
		p.bad = true
		return 0
	default:
		return uint64(first)
	}
}

// text reads a length-encoded string.
func (p *parser) text() []byte { return p.take(p.number()) }
